/* usb_control REQUEST [ARGUMENT] - control.h for shell tests: prints what the host returns. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "tests/usb/control.h"

static const struct {
	const char *name;
	enum control request;
} requests[] = {
        {"inject", CONTROL_INJECT},
        {"unplug", CONTROL_UNPLUG},
        {"guest-errors", CONTROL_GUEST_ERRORS},
        {"driver", CONTROL_DRIVER},
};

int main(int argc, char **argv)
{
	int fd = open(CONTROL_NODE, O_RDWR);
	unsigned long arg = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;

	for (size_t i = 0; fd >= 0 && argc > 1 && i < sizeof(requests) / sizeof(requests[0]); i++)
		if (!strcmp(argv[1], requests[i].name)) {
			int n = ioctl(fd, requests[i].request, arg);

			printf("%d\n", n);
			return n < 0;
		}
	fprintf(stderr, "usage: usb_control REQUEST [ARGUMENT], below usb_host\n");
	return 2;
}
