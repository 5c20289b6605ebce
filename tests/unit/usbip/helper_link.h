/* helper_link.h - a server in a thread of this process, clients over socket pairs. */
#ifndef HELPER_LINK_H
#define HELPER_LINK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/usb/usbip.h"
#include "device/usb/usbip_wire.h"
#include "device/virtual/server/server.h"

#define LINK_MS 60000 /* for what must happen, on a busy machine */

struct cable {
	struct server *server;
	pthread_t thread;
	bool running;
	char folder[32];
	char path[64];  /* the Unix socket it listens on, in it */
	char where[80]; /* the same for usb_usbip_open */
};

/* link_start - a server with a small card, running. link_pause: it stops in place, so that a test
 * may touch its enclosure; link_resume lets it go on. */
void link_start(struct cable *l, bool super_speed);
void link_pause(struct cable *l);
void link_resume(struct cable *l);
void link_stop(struct cable *l);

/* link_connect - a raw connection. link_open: an attached pipe. */
int link_connect(struct cable *l);
struct usb_pipe *link_open(struct cable *l);
/* link_wait_free - until nobody has the device any more. */
void link_wait_free(struct cable *l);

/* Raw messages, for what the client never does. */
void raw_send(int fd, const void *data, size_t len);
void raw_receive(int fd, void *data, size_t len);
bool raw_closed(int fd); /* within LINK_MS */
void raw_op(int fd, uint32_t code, const char *busid);
void raw_import(int fd);
void raw_submit(int fd, uint32_t seqnum, uint32_t endpoint, bool in, const uint8_t setup[8],
        const void *data, uint32_t len);
void raw_unlink(int fd, uint32_t seqnum, uint32_t victim);
/* raw_answer - the next answer must have this command and number; @status is its status, the return
 * value its length, the data of an IN in @data. */
int raw_answer(int fd, uint32_t command, uint32_t seqnum, bool in, void *data, int *status);

/* A CBW, ready to send. */
void make_cbw(uint8_t cbw[31], const uint8_t *cdb, size_t cdb_len, uint32_t len, bool in);

#endif
