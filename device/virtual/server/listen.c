/* listen.c - see listen.h. USB/IP knows no passwords, so the defaults reach no further than this
 * machine and this user.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "device/err.h"
#include "device/virtual/server/listen.h"

#define BACKLOG 8

/* is_port - a name, or a number that is one: getaddrinfo takes the lower half of any. */
static bool is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return text[0] && (text[digits] || (digits <= 5 && atoi(text) <= UINT16_MAX));
}

/* split - "HOST:PORT" or "[V6]:PORT" */
static int split(const char *where, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(where, ':');
	size_t len = colon ? (size_t)(colon - where) : 0;

	if (len >= 2 && where[0] == '[' && where[len - 1] == ']') {
		where++;
		len -= 2;
	}
	if (!len || len >= size || !is_port(colon + 1))
		return -EINVAL;
	memcpy(host, where, len);
	host[len] = 0;
	*port = colon + 1;
	return 0;
}

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(
		        &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
}

static void say_where(int fd)
{
	struct sockaddr_storage a;
	socklen_t len = sizeof(a);
	char host[64], port[16];

	if (getsockname(fd, (struct sockaddr *)&a, &len) ||
	        getnameinfo((struct sockaddr *)&a, len, host, sizeof(host), port, sizeof(port),
	                NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	rx_log(LOG_INFO, "usbip", "listening on %s port %s", host, port);
	if (!is_loopback((struct sockaddr *)&a))
		rx_log(LOG_WARN, "usbip",
		        "USB/IP knows no passwords: whoever reaches this port can use the card");
}

static int try_tcp(const struct addrinfo *a)
{
	int one = 1;
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, BACKLOG)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

int listen_tcp(const char *where)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *list;
	char host[256];
	const char *port;

	if (split(where, host, sizeof(host), &port))
		return rx_fail("usbip", -EINVAL, "\"%s\" is not HOST:PORT", where);
	int gai = getaddrinfo(host, port, &hints, &list);

	if (gai)
		return rx_fail("usbip", -EINVAL, "\"%s\": %s", where, gai_strerror(gai));
	int fd = try_tcp(list);

	freeaddrinfo(list);
	if (fd < 0)
		return rx_fail("usbip", fd, "cannot listen on %s: %s", where, strerror(-fd));
	say_where(fd);
	return fd;
}

/* is_dead - whether @a is a socket file that nobody serves any more. */
static bool is_dead(const struct sockaddr_un *a)
{
	struct stat st;

	if (lstat(a->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return false;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool dead = fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof(*a)) &&
	            errno == ECONNREFUSED;

	if (fd >= 0)
		close(fd);
	return dead;
}

static int bind_private(int fd, const struct sockaddr_un *a)
{
	mode_t mask = umask(0177);
	int err = bind(fd, (const struct sockaddr *)a, sizeof(*a)) ? -errno : 0;

	umask(mask);
	return err;
}

int listen_unix(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (!*path || strlen(path) >= sizeof(a.sun_path))
		return rx_fail("usbip", -ENAMETOOLONG, "\"%s\": a socket's path has 1 to %zu bytes",
		        path, sizeof(a.sun_path) - 1);
	strcpy(a.sun_path, path);
	if (is_dead(&a))
		unlink(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? -errno : bind_private(fd, &a);

	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (err) {
		if (fd >= 0)
			close(fd);
		return rx_fail("usbip", err, "cannot listen on %s: %s", path, strerror(-err));
	}
	rx_log(LOG_INFO, "usbip", "listening on %s", path);
	return fd;
}
