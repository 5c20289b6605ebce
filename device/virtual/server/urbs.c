/* urbs.c - transfers: queue them, offer them to the enclosure, answer them. The enclosure moves
 * only when it is called, so every message offers all queues again until none gets further.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/virtual/server/session_priv.h"

#define WAITS (-EAGAIN)

int urb_new(struct session *s, const uint8_t *header, struct urb **out)
{
	uint32_t len = get_be32(header + URB_LENGTH), direction = get_be32(header + URB_DIRECTION);
	uint32_t packets = get_be32(header + URB_PACKETS);
	bool in = direction == USBIP_DIR_IN;

	if (direction > USBIP_DIR_IN || (packets != 0 && packets != UINT32_MAX))
		return rx_fail("usbip", -EPROTO, "%s: no such direction, or isochronous", s->peer);
	if (len > MAX_URB_BYTES || s->queued >= MAX_QUEUED ||
	        (!in && s->queued_bytes + len > MAX_QUEUED_BYTES))
		return rx_fail("usbip", -EPROTO, "%s: a transfer of %u bytes, %u waiting: too much",
		        s->peer, len, s->queued);
	struct urb *u = malloc(sizeof(*u) + (in ? 0 : len));

	if (!u)
		return -ENOMEM;
	*u = (struct urb){.seqnum = get_be32(header + URB_SEQNUM),
	        .flags = get_be32(header + URB_FLAGS),
	        .endpoint = get_be32(header + URB_ENDPOINT),
	        .len = len,
	        .in = in};
	memcpy(u->setup, header + URB_SETUP, sizeof(u->setup));
	*out = u;
	return 0;
}

static struct urb_queue *queue_of(struct session *s, const struct urb *u)
{
	if (u->endpoint == 0)
		return &s->queue[0];
	/* bridge.md 1.2: IN pipes have odd numbers, OUT pipes even ones */
	if (u->endpoint >= QUEUES || u->in != (u->endpoint & 1))
		return NULL;
	return &s->queue[u->endpoint];
}

/* answer - write the RET_SUBMIT whose IN data, if any, is already behind @to. */
static void answer(struct session *s, const struct urb *u, uint8_t *to, int result)
{
	uint32_t actual = result > 0 ? (uint32_t)result : 0;
	int status = result < 0 ? result : 0;

	if (!status && u->in && actual < u->len && u->flags & USBIP_URB_SHORT_NOT_OK)
		status = -EREMOTEIO;
	memset(to, 0, URB_HEADER_BYTES);
	put_be32(to + URB_COMMAND, USBIP_RET_SUBMIT);
	put_be32(to + URB_SEQNUM, u->seqnum);
	put_be32(to + URB_STATUS, (uint32_t)status);
	put_be32(to + URB_ACTUAL, actual);
	session_used(s, URB_HEADER_BYTES + (u->in ? actual : 0));
}

static bool is_port_reset(const struct urb *u)
{
	return u->setup[0] == PORT_REQUEST_TYPE && u->setup[1] == PORT_SET_FEATURE &&
	       get_le16(u->setup + 2) == PORT_RESET;
}

/* Linux's vhci-hcd resets its port without telling the server (drivers/usb/usbip/vhci_hcd.c,
 * vhci_hub_control()), but always asks this next: a device descriptor of 64 or 8 bytes, while
 * everybody who knows the device already asks for 18 (drivers/usb/core/hub.c, hub_port_init()). */
static bool follows_port_reset(const struct urb *u)
{
	static const uint8_t get_device[6] = {0x80, 6, 0, 1, 0, 0}; /* USB 2.0 9.4.3 */
	uint16_t len = get_le16(u->setup + 6);

	return !memcmp(u->setup, get_device, sizeof(get_device)) && (len == 64 || len == 8);
}

static int control(struct session *s, struct urb *u, uint8_t *data)
{
	uint16_t len = get_le16(u->setup + 6);

	if (is_port_reset(u)) {
		venc_port_reset(s->export->enclosure);
		return 0;
	}
	if (follows_port_reset(u))
		venc_port_reset(s->export->enclosure);
	if (len && (u->setup[0] & 0x80) != (u->in ? 0x80 : 0)) /* USB 2.0 9.3.1 */
		return -EPIPE;
	len = (uint16_t)MIN(len, u->len);
	int n = venc_control(s->export->enclosure, u->setup[0], u->setup[1], get_le16(u->setup + 2),
	        get_le16(u->setup + 4), u->in ? data : u->data, len);

	return n < 0 || u->in ? n : len;
}

/* offer - the URB at the head of a queue, to the enclosure. Return: bytes, -errno for the client,
 * or WAITS: a device that does not answer is an URB that stays. */
static int offer(struct session *s, struct urb *u, uint8_t *data)
{
	struct venc *e = s->export->enclosure;
	uint8_t endpoint = (uint8_t)(u->endpoint | (u->in ? 0x80 : 0));
	int n;

	if (u->endpoint == 0)
		n = control(s, u, data);
	else if (u->in)
		n = venc_pipe_in(e, endpoint, data, u->len);
	else
		n = venc_pipe_out(e, endpoint, u->data, u->len);
	return n == -ETIMEDOUT ? WAITS : n;
}

static void forget(struct session *s, struct urb *u)
{
	s->queued--;
	s->queued_bytes -= u->in ? 0 : u->len;
	free(u);
}

/* advance - answer the head of @q if it can be. Return: 1 it was, 0 it waits, -ENOMEM. */
static int advance(struct session *s, struct urb_queue *q)
{
	struct urb *u = q->head;

	if (!u)
		return 0;
	uint8_t *to = session_room(s, URB_HEADER_BYTES + (u->in ? u->len : 0));

	if (!to)
		return -ENOMEM;
	int result = offer(s, u, to + URB_HEADER_BYTES);

	if (result == WAITS)
		return 0;
	answer(s, u, to, result);
	q->head = u->next;
	forget(s, u);
	return 1;
}

static int advance_all(struct session *s)
{
	bool moved;

	do {
		moved = false;
		for (int i = 0; i < QUEUES; i++) {
			int rc = advance(s, &s->queue[i]);

			if (rc < 0)
				return rc;
			moved |= rc > 0;
		}
	} while (moved);
	return 0;
}

static int refuse(struct session *s, struct urb *u, int status)
{
	uint8_t *to = session_room(s, URB_HEADER_BYTES);

	if (to)
		answer(s, u, to, status);
	free(u);
	return to ? 0 : -ENOMEM;
}

int urb_submit(struct session *s, struct urb *u)
{
	struct urb_queue *q = queue_of(s, u);

	if (!q)
		return refuse(
		        s, u, -ENOENT); /* as usb_submit_urb() for an endpoint that is not there */
	if (q->head)
		q->tail->next = u;
	else
		q->head = u;
	q->tail = u;
	s->queued++;
	s->queued_bytes += u->in ? 0 : u->len;
	return advance_all(s);
}

static bool remove_from(struct session *s, struct urb_queue *q, uint32_t seqnum)
{
	struct urb *before = NULL;

	for (struct urb *u = q->head; u; before = u, u = u->next) {
		if (u->seqnum != seqnum)
			continue;
		*(before ? &before->next : &q->head) = u->next;
		if (q->tail == u)
			q->tail = before;
		forget(s, u);
		return true;
	}
	return false;
}

int urb_unlink(struct session *s, const uint8_t *header)
{
	uint32_t victim = get_be32(header + URB_UNLINK_SEQNUM);
	uint8_t *to = session_room(s, URB_HEADER_BYTES);
	bool found = false;

	if (!to)
		return -ENOMEM;
	for (int i = 0; i < QUEUES && !found; i++)
		found = remove_from(s, &s->queue[i], victim);
	memset(to, 0, URB_HEADER_BYTES);
	put_be32(to + URB_COMMAND, USBIP_RET_UNLINK);
	put_be32(to + URB_SEQNUM, get_be32(header + URB_SEQNUM));
	/* 0: it had been answered before */
	put_be32(to + URB_STATUS, found ? (uint32_t)-ECONNRESET : 0);
	session_used(s, URB_HEADER_BYTES);
	return advance_all(s); /* what stood behind it */
}

void urb_free_all(struct session *s)
{
	for (int i = 0; i < QUEUES; i++) {
		while (s->queue[i].head) {
			struct urb *u = s->queue[i].head;

			s->queue[i].head = u->next;
			forget(s, u);
		}
	}
	free(s->incoming);
}
