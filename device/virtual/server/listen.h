/* listen.h - sockets to accept from. Both return a listening descriptor or -errno (logged). */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

int listen_tcp(const char *where);
int listen_unix(const char *path);

#endif
