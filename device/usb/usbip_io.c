/* usbip_io.c - whole messages over a stream socket, each with a deadline. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/usb/usbip_priv.h"

#define MAX_PIECES 2

static int wait_for(int fd, short events, uint64_t deadline_ns)
{
	for (;;) {
		uint64_t now = now_ns();
		bool late = now >= deadline_ns;
		uint64_t left_ms = late ? 0 : (deadline_ns - now + 999999) / 1000000;
		struct pollfd p = {.fd = fd, .events = events};
		int n = poll(&p, 1, (int)MIN(left_ms, (uint64_t)INT32_MAX));

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -EIO;
		if (late)
			return -ETIMEDOUT;
	}
}

int usbip_wait(int fd, uint64_t deadline_ns)
{
	return wait_for(fd, POLLIN, deadline_ns);
}

static int socket_error(void)
{
	return errno == ECONNRESET || errno == EPIPE || errno == ENOTCONN ? -ENODEV : -EIO;
}

static void skip(struct msghdr *m, size_t n)
{
	while (m->msg_iovlen && n >= m->msg_iov->iov_len) {
		n -= m->msg_iov->iov_len;
		m->msg_iov++;
		m->msg_iovlen--;
	}
	if (m->msg_iovlen) {
		m->msg_iov->iov_base = (uint8_t *)m->msg_iov->iov_base + n;
		m->msg_iov->iov_len -= n;
	}
}

int usbip_send(int fd, const struct iovec *data, unsigned n, uint64_t deadline_ns)
{
	struct iovec left[MAX_PIECES];
	struct msghdr m = {.msg_iov = left, .msg_iovlen = MIN(n, MAX_PIECES)};

	memcpy(left, data, m.msg_iovlen * sizeof(*left));
	skip(&m, 0);
	while (m.msg_iovlen) {
		ssize_t sent = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent >= 0) {
			skip(&m, (size_t)sent);
			continue;
		}
		int err = errno == EAGAIN || errno == EINTR ? wait_for(fd, POLLOUT, deadline_ns)
		                                            : socket_error();

		if (err)
			return err;
	}
	return 0;
}

int usbip_receive(int fd, void *data, size_t len, uint64_t deadline_ns)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = recv(fd, (uint8_t *)data + at, len - at, MSG_DONTWAIT);

		if (n == 0)
			return -ENODEV;
		if (n > 0) {
			at += (size_t)n;
			continue;
		}
		int err = errno == EAGAIN || errno == EINTR ? wait_for(fd, POLLIN, deadline_ns)
		                                            : socket_error();

		if (err)
			return err;
	}
	return 0;
}
