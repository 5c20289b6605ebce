/* helper_board.c - see helper_board.h. */
#include "helper_board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/usb/usb.h"

static bool play_a_board;
static char home[sizeof("/tmp/rx580fs-test-XXXXXX")];

bool __wrap_backend_is_hardware(const char *kind);
bool __wrap_backend_is_hardware(const char *kind)
{
	(void)kind;
	return play_a_board;
}

int board_setup(void **state)
{
	(void)state;
	strcpy(home, "/tmp/rx580fs-test-XXXXXX");
	if (!mkdtemp(home) || setenv("XDG_STATE_HOME", home, 1) ||
	        setenv("XDG_CACHE_HOME", home, 1))
		return -1;
	play_a_board = true;
	return 0;
}

int board_teardown(void **state)
{
	char command[64];

	(void)state;
	play_a_board = false;
	snprintf(command, sizeof(command), "rm -r '%s'", home);
	return system(command);
}

const char *board_folder(void)
{
	return home;
}

void board_store(const char *card, const struct abilities *proven)
{
	struct usb_identity usb;
	struct usb_pipe *p;

	assert_int_equal(usb_virtual_open(&p, card), 0);
	p->ops->identity(p, &usb);
	p->ops->close(p);
	const struct abilities_board b = {.vid = usb.vid,
	        .pid = usb.pid,
	        .bcd_device = usb.bcd_device,
	        .family = "rtl921x",
	        .firmware = "1.32.87",
	        .card_id = 0x67DF1002};

	assert_int_equal(abilities_store(&b, proven), 0);
}
