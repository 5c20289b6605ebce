/* server.h - the virtual enclosure behind sockets: listens, keeps connections, one of which may
 * have the enclosure, or this machine's kernel has it; the enclosure and its card outlive them all.
 * One thread runs it; server_tell may be called from anywhere.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "device/virtual/enclosure/enclosure.h"

struct server;

/* server_new - @opt: of the enclosure; its log is set here. Return: 0; -errno (logged). */
int server_new(struct server **out, const struct venc_options *opt);
void server_free(struct server *s); /* NULL is fine; removes the Unix socket it listens on */

/* server_listen_tcp - @where: "HOST:PORT", "[V6]:PORT"; port 0 takes a free one (logged).
 * server_listen_unix - @path: only this user may connect; a socket file nobody serves is replaced.
 * Return: 0; -EINVAL, -EADDRINUSE, what bind says (logged). */
int server_listen_tcp(struct server *s, const char *where);
int server_listen_unix(struct server *s, const char *path);

/* server_adopt - serve a connected stream socket; takes @fd in any case. Before server_run. */
int server_adopt(struct server *s, int fd);

/* server_attach_vhci - plug the enclosure into this machine's own kernel, now and at each
 * SERVER_PLUG. Return: 0; see vhci_attach. */
int server_attach_vhci(struct server *s);

/* server_run - until SERVER_STOP. Return: 0; -errno (logged). */
int server_run(struct server *s);

/* Surprise removal closes the client's connection and exports nothing; plugging in again is a power
 * cycle of the enclosure and its card. Asynchronous-signal-safe. */
enum server_order { SERVER_STOP = 's', SERVER_UNPLUG = 'u', SERVER_PLUG = 'p' };
void server_tell(struct server *s, enum server_order order);

/* server_enclosure - for tests that inject faults while the server runs nothing. */
struct venc *server_enclosure(struct server *s);

#endif
