/* enclosure.h - the virtual USB-NVMe enclosure: USB device, Bulk-Only target, RTL921x vendor
 * command set, root port, link model. A bulk transfer goes in, bytes and handshakes come out. It
 * owns its card. Facts: bridge.md 1, 2, 5. Calls may come from any thread, one at a time.
 */
#ifndef VENC_H
#define VENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct venc;

struct venc_options {
	bool realtime;       /* sleep for the modelled wire time */
	unsigned threads;    /* passed to the card */
	uint64_t vram_bytes; /* passed to the card */
	/* defects and dialects, bridge.md 5.3; defaults (0) are what 1.32.87 does */
	bool stray_store_hangs; /* a dword E3/33, E3/34 store to an unmapped CPU address hangs the
	                           bridge */
	bool start_unpowered;   /* no card behind the bridge: BB says FF */
	void (*log)(void *ctx, bool guest_error, const char *line);
	void *log_ctx;
};

int venc_new(struct venc **out, const struct venc_options *opt);
void venc_free(struct venc *e);

/* Bulk transfers. Return: bytes moved; -EPIPE endpoint halted; -ETIMEDOUT the device does not
 * answer (hung bridge, or IN with nothing to send); -ENODEV unplugged. */
int venc_bulk_out(struct venc *e, const void *data, size_t len);
int venc_bulk_in(struct venc *e, void *data, size_t len);

/* venc_control - one control transfer on endpoint 0. Return: data bytes; -EPIPE request refused;
 * -ENODEV. */
int venc_control(struct venc *e, uint8_t request_type, uint8_t request, uint16_t value,
        uint16_t index, void *data, uint16_t len);
/* venc_port_reset - USB bus reset: endpoints and BOT state cleared, the lock of bridge.md 2.7 kept.
 */
void venc_port_reset(struct venc *e);
/* venc_unplug - surprise removal: everything answers -ENODEV from now on. */
void venc_unplug(struct venc *e);

/* Counted from the CBWs and TLPs that arrive; modelled time per architecture.md, "The link is the
 * scarcest resource". */
struct venc_stats {
	uint64_t commands, bytes, tlps;
	uint64_t model_ns;     /* 250 us a command + 5 us a TLP + 27 ns a byte */
	uint64_t guest_errors; /* the enclosure's own plus the card's */
	uint64_t dispatches, instructions;
};
void venc_read_stats(struct venc *e, struct venc_stats *out);

#endif
