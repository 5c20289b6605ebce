/* fuzz_usbip_reply.c - libFuzzer entry: an arbitrary USB/IP server. The input is everything it will
 * ever send; the client attaches and then reads, writes and resets. Any documented error is right;
 * a transfer never gives more than its buffer.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/log.h"
#include "device/usb/usbip.h"

#define LARGEST_INPUT (64u << 10) /* less than a socket holds */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(int n, int room)
{
	if (n > room || (n < 0 && n != -EPIPE && n != -ETIMEDOUT && n != -EOVERFLOW &&
	                        n != -ENODEV && n != -EIO))
		abort();
}

static void use(struct usb_pipe *p)
{
	uint8_t buf[64];

	promise(p->ops->bulk_out(p, buf, 31, 0), 31);
	promise(p->ops->bulk_in(p, buf, sizeof(buf), 0), sizeof(buf));
	promise(p->ops->clear_halt_in(p), 0);
	promise(p->ops->bulk_in(p, buf, 13, 0), 13);
	promise(p->ops->class_reset(p), 0);
	promise(p->ops->port_reset(p), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usb_pipe *p;
	int fd[2];

	if (size > LARGEST_INPUT)
		return 0;
	rx_log_set_stderr(false);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) || write(fd[1], data, size) != (ssize_t)size ||
	        shutdown(fd[1], SHUT_WR))
		abort();
	if (!usb_usbip_attach(&p, fd[0], "1-1")) {
		use(p);
		p->ops->close(p);
	}
	close(fd[1]);
	return 0;
}
