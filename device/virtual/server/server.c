/* server.c - one poll loop over listeners, connections and orders. What the bytes mean is
 * session.c. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/virtual/server/listen.h"
#include "device/virtual/server/server.h"
#include "device/virtual/server/session.h"
#include "device/virtual/server/vhci.h"

#define MAX_CONNECTIONS 16
#define MAX_LISTENERS   4
#define READ_BYTES      (64u << 10)
#define ASK_MS          10000 /* a connection that has not imported by then is closed */

struct connection {
	int fd; /* -1: free */
	struct session *session;
	uint64_t ask_deadline;
	unsigned poll_at; /* index in server.polls of this round */
};

struct server {
	struct venc *enclosure;
	struct usbip_export export;
	int orders[2]; /* a pipe: server_tell writes, the loop reads */
	int listener[MAX_LISTENERS];
	unsigned listeners;
	char *unix_path;
	struct connection connection[MAX_CONNECTIONS];
	struct pollfd polls[1 + MAX_LISTENERS + MAX_CONNECTIONS];
	unsigned npolls;
	bool vhci; /* plugged into this kernel, again and again */
	bool stop;
};

static void enclosure_log(void *ctx, bool guest_error, const char *line)
{
	(void)ctx;
	rx_log(guest_error ? LOG_WARN : LOG_DEBUG, "virtual", "%s%s",
	        guest_error ? "guest error: " : "", line);
}

int server_new(struct server **out, const struct venc_options *opt)
{
	struct venc_options mine = *opt;
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	mine.log = enclosure_log;
	for (int i = 0; i < MAX_CONNECTIONS; i++)
		s->connection[i].fd = -1;
	int err = pipe2(s->orders, O_CLOEXEC | O_NONBLOCK) ? -errno : 0;

	if (err) {
		free(s);
		return err;
	}
	err = venc_new(&s->enclosure, &mine);
	if (err) {
		server_free(s);
		return rx_fail("usbip", err, "the virtual card does not start: %s", strerror(-err));
	}
	s->export =
	        (struct usbip_export){.enclosure = s->enclosure, .super_speed = mine.super_speed};
	*out = s;
	return 0;
}

static void hang_up(struct connection *c)
{
	session_free(c->session);
	c->session = NULL;
	close(c->fd);
	c->fd = -1;
}

void server_free(struct server *s)
{
	if (!s)
		return;
	for (int i = 0; i < MAX_CONNECTIONS; i++)
		if (s->connection[i].fd >= 0)
			hang_up(&s->connection[i]);
	for (unsigned i = 0; i < s->listeners; i++)
		close(s->listener[i]);
	if (s->unix_path)
		unlink(s->unix_path);
	free(s->unix_path);
	venc_free(s->enclosure);
	close(s->orders[0]);
	close(s->orders[1]);
	free(s);
}

struct venc *server_enclosure(struct server *s)
{
	return s->enclosure;
}

static int add_listener(struct server *s, int fd)
{
	if (fd < 0)
		return fd;
	if (s->listeners == MAX_LISTENERS) {
		close(fd);
		return rx_fail(
		        "usbip", -ENOSPC, "at most %d addresses to listen on", MAX_LISTENERS);
	}
	s->listener[s->listeners++] = fd;
	return 0;
}

int server_listen_tcp(struct server *s, const char *where)
{
	return add_listener(s, listen_tcp(where));
}

int server_listen_unix(struct server *s, const char *path)
{
	if (s->unix_path)
		return rx_fail("usbip", -EINVAL, "one Unix socket is enough");
	int err = add_listener(s, listen_unix(path));

	if (!err) {
		s->unix_path = strdup(path);
		err = s->unix_path ? 0 : -ENOMEM;
	}
	return err;
}

static void name_peer(int fd, char *peer, size_t size)
{
	struct sockaddr_storage a;
	socklen_t len = sizeof(a);
	struct ucred cred;
	socklen_t cred_len = sizeof(cred);

	snprintf(peer, size, "client");
	if (getpeername(fd, (struct sockaddr *)&a, &len))
		return;
	if (a.ss_family == AF_UNIX) {
		if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len))
			snprintf(peer, size, "process %ld", (long)cred.pid);
	} else {
		getnameinfo(
		        (struct sockaddr *)&a, len, peer, (socklen_t)size, NULL, 0, NI_NUMERICHOST);
	}
}

static struct connection *free_connection(struct server *s)
{
	for (int i = 0; i < MAX_CONNECTIONS; i++)
		if (s->connection[i].fd < 0)
			return &s->connection[i];
	return NULL;
}

/* adopt - Return: 0, @out filled; -errno (logged), @fd closed. */
static int adopt(struct server *s, int fd, const char *peer, struct connection **out)
{
	struct connection *c = free_connection(s);
	int one = 1;

	if (!c || fcntl(fd, F_SETFL, O_NONBLOCK)) {
		close(fd);
		return rx_fail("usbip", -EMFILE, "%s: too many connections", peer);
	}
	/* only TCP knows these: a command is three small messages, and a lost host must be noticed
	 */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	int err = session_new(&c->session, &s->export, peer);

	if (err) {
		close(fd);
		return err;
	}
	c->fd = fd;
	c->ask_deadline = deadline_in_ms(ASK_MS);
	*out = c;
	return 0;
}

int server_adopt(struct server *s, int fd)
{
	struct connection *c;
	char peer[64];

	name_peer(fd, peer, sizeof(peer));
	return adopt(s, fd, peer, &c);
}

int server_attach_vhci(struct server *s)
{
	struct connection *c = NULL;
	char peer[64];
	int port, fd;

	s->vhci = true;
	if (s->export.owner)
		return rx_fail("usbip", -EBUSY, "another client has the enclosure");
	fd = vhci_attach(s->export.super_speed, EXPORT_DEVID, &port);
	if (fd < 0)
		return fd;
	snprintf(peer, sizeof(peer), "vhci port %d", port);
	int err = adopt(s, fd, peer, &c);

	return err ? err : session_import(c->session);
}

void server_tell(struct server *s, enum server_order order)
{
	char byte = (char)order;
	int saved = errno;
	ssize_t n = write(s->orders[1], &byte, 1);

	(void)n; /* full: it has enough to do */
	errno = saved;
}

/* ---- one round ---- */

static unsigned add_poll(struct server *s, int fd, short events)
{
	s->polls[s->npolls] = (struct pollfd){.fd = fd, .events = events};
	return s->npolls++;
}

/* gather - what to wait for. Return: poll's timeout. */
static int gather(struct server *s)
{
	int timeout = -1;

	s->npolls = 0;
	add_poll(s, s->orders[0], POLLIN);
	for (unsigned i = 0; i < s->listeners; i++)
		add_poll(s, s->listener[i], POLLIN);
	for (int i = 0; i < MAX_CONNECTIONS; i++) {
		struct connection *c = &s->connection[i];
		size_t pending;

		if (c->fd < 0)
			continue;
		session_output(c->session, &pending);
		short in = session_full(c->session) || session_finished(c->session) ? 0 : POLLIN;

		c->poll_at = add_poll(s, c->fd, (short)(in | (pending ? POLLOUT : 0)));
		if (!session_imported(c->session))
			timeout = 1000;
	}
	return timeout;
}

static void unplug(struct server *s)
{
	rx_log(LOG_WARN, "usbip", "the enclosure is unplugged");
	for (int i = 0; i < MAX_CONNECTIONS; i++)
		if (s->connection[i].fd >= 0 && session_imported(s->connection[i].session))
			hang_up(&s->connection[i]);
	venc_unplug(s->enclosure);
	s->export.unplugged = true;
}

static void plug(struct server *s)
{
	if (!s->export.unplugged)
		return;
	rx_log(LOG_INFO, "usbip", "the enclosure is plugged in again");
	venc_power_cycle(s->enclosure);
	s->export.unplugged = false;
	if (s->vhci)
		server_attach_vhci(s); /* has said why not; SERVER_UNPLUG and another try */
}

static void take_orders(struct server *s)
{
	char order;

	while (read(s->orders[0], &order, 1) == 1) {
		switch (order) {
		case SERVER_STOP: s->stop = true; break;
		case SERVER_UNPLUG: unplug(s); break;
		case SERVER_PLUG: plug(s); break;
		default: break;
		}
	}
}

static void take_client(struct server *s, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		server_adopt(s, fd);
	else if (errno != EAGAIN && errno != ECONNABORTED)
		sleep_us(10000); /* out of descriptors: it stays readable, do not spin */
}

/* send_some - Return: 0, -errno the client is gone. */
static int send_some(struct connection *c)
{
	size_t len;
	const uint8_t *data = session_output(c->session, &len);

	if (!len)
		return 0;
	ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	session_sent(c->session, (size_t)n);
	return 0;
}

static int receive_some(struct connection *c)
{
	static uint8_t buf[READ_BYTES];
	ssize_t n = recv(c->fd, buf, sizeof(buf), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return n ? session_input(c->session, buf, (size_t)n) : -ECONNRESET;
}

static bool out_of_time(const struct connection *c)
{
	return !session_imported(c->session) && deadline_passed(c->ask_deadline);
}

static void serve(struct connection *c, short events)
{
	size_t left;
	int err = 0;

	if (events & POLLIN)
		err = receive_some(c);
	else if (events & (POLLHUP | POLLERR))
		err = -ECONNRESET;
	if (!err)
		err = send_some(c);
	session_output(c->session, &left);
	if (err || out_of_time(c) || (session_finished(c->session) && !left))
		hang_up(c);
}

static void serve_all(struct server *s)
{
	if (s->polls[0].revents)
		take_orders(s);
	for (int i = 0; i < MAX_CONNECTIONS; i++)
		if (s->connection[i].fd >= 0)
			serve(&s->connection[i], s->polls[s->connection[i].poll_at].revents);
	for (unsigned i = 0; i < s->listeners; i++)
		if (s->polls[1 + i].revents)
			take_client(s, s->listener[i]);
}

int server_run(struct server *s)
{
	s->stop = false;
	while (!s->stop) {
		int timeout = gather(s);
		int n = poll(s->polls, s->npolls, timeout);

		if (n < 0 && errno != EINTR)
			return rx_fail("usbip", -errno, "poll: %s", strerror(errno));
		if (n >= 0)
			serve_all(s);
	}
	return 0;
}
