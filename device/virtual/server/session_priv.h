/* session_priv.h - what session.c (messages) and urbs.c (transfers) share. */
#ifndef SERVER_SESSION_PRIV_H
#define SERVER_SESSION_PRIV_H

#include "device/usb/usbip_wire.h"
#include "device/virtual/server/session.h"

#define MAX_URB_BYTES    (1u << 20)  /* the kernel's largest: usb-testing.md, SG_IO at SuperSpeed */
#define MAX_QUEUED       1024u       /* URBs waiting on all endpoints */
#define MAX_QUEUED_BYTES (16u << 20) /* of data in OUT URBs waiting */
#define OUTPUT_FULL      (4u << 20)

struct urb {
	struct urb *next;
	uint32_t seqnum, flags, endpoint, len;
	bool in;
	uint8_t setup[8];
	uint8_t data[]; /* OUT only */
};

struct urb_queue {
	struct urb *head, *tail;
};

#define QUEUES 5 /* by endpoint number, which no two pipes of bridge.md 1.2 share */

enum session_state { WANT_OP, WANT_BUSID, WANT_URB, WANT_DATA, FINISHED };

struct session {
	struct usbip_export *export;
	enum session_state state;
	char peer[64];
	/* the message being received: its fixed part, then straight into the URB's data */
	uint8_t header[URB_HEADER_BYTES];
	uint8_t *into;
	size_t have, want;
	struct urb *incoming;
	/* URBs not answered yet */
	struct urb_queue queue[QUEUES];
	unsigned queued;
	size_t queued_bytes;
	/* what the client has not read yet: [start, end) of @out */
	uint8_t *out;
	size_t start, end, size;
};

/* session.c: room for @len bytes of output, NULL when memory is out; then how many were used. */
uint8_t *session_room(struct session *s, size_t len);
void session_used(struct session *s, size_t len);

/* urbs.c */
/* urb_new - from a SUBMIT header. Return: 0; -EPROTO beyond a limit (logged); -ENOMEM. */
int urb_new(struct session *s, const uint8_t *header, struct urb **out);
int urb_submit(struct session *s, struct urb *u);         /* complete; 0 or -ENOMEM */
int urb_unlink(struct session *s, const uint8_t *header); /* 0 or -ENOMEM */
void urb_free_all(struct session *s);

#endif
