/* session.h - one USB/IP connection as a machine: bytes in, bytes out, no socket in it. First the
 * operations of usbip_protocol.rst (list, import), after an import URBs: one queue for each
 * endpoint, an IN waits until the enclosure has something to say. Called on one thread.
 */
#ifndef SERVER_SESSION_H
#define SERVER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/virtual/enclosure/enclosure.h"

#define EXPORT_BUSID "1-1"
#define EXPORT_DEVID 0x10002u /* busnum << 16 | devnum */

struct session;

/* The enclosure, as all sessions see it. */
struct usbip_export {
	struct venc *enclosure; /* borrowed */
	bool super_speed;
	bool unplugged;        /* nothing is exported */
	struct session *owner; /* who imported it */
};

/* session_new - a connection before its first byte. @peer is copied, for the log. Return: 0;
 * -ENOMEM. */
int session_new(struct session **out, struct usbip_export *x, const char *peer);
/* session_import - as if the client had asked for the enclosure: URBs follow. Return: 0; -EBUSY,
 * -ENODEV. */
int session_import(struct session *s);
/* session_free - the connection is over. Gives the device back with a port reset, as Linux
 * stub_dev.c does; what is in the card stays. */
void session_free(struct session *s);

/* session_input - bytes from the client. Return: 0; -EPROTO it does not speak USB/IP, or asks for
 * more than the limits (logged): close the connection; -ENOMEM likewise. */
int session_input(struct session *s, const uint8_t *data, size_t len);
/* session_output - what to send; valid until the next call. session_sent: that many bytes went out.
 */
const uint8_t *session_output(const struct session *s, size_t *len);
void session_sent(struct session *s, size_t n);

bool session_full(const struct session *s);     /* take no more input before output has gone */
bool session_finished(const struct session *s); /* close when the output has gone */
bool session_imported(const struct session *s);

#endif
