/* helper.h - the test's side of control.h. */
#ifndef USB_TEST_HELPER_H
#define USB_TEST_HELPER_H

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/log.h"
#include "tests/usb/control.h"

/* control - one request to the host; what it returns, -1 when it failed. */
static inline int control(enum control request, unsigned long arg)
{
	int fd = open(CONTROL_NODE, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	int n = ioctl(fd, request, arg);

	close(fd);
	return n;
}

static inline void inject(unsigned fault, unsigned count)
{
	assert_int_equal(control(CONTROL_INJECT, (unsigned long)fault << 16 | count), 0);
}

/* said - the newest error must contain @words. */
static inline void said(const char *words)
{
	char line[512];

	rx_log_last_error(line, sizeof(line));
	if (!strstr(line, words))
		fail_msg("expected an error with \"%s\", got \"%s\"", words, line);
}

#endif
