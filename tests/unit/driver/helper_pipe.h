/* helper_pipe.h - usb_pipes for tests: one that plays a script, and one that stands in front of the
 * virtual enclosure to record command blocks and to break things.
 */
#ifndef HELPER_PIPE_H
#define HELPER_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/usb/usb.h"

/* ---- a script: what the far side does at each call, in order ---- */

enum step_call {
	CALL_OUT,
	CALL_IN,
	CALL_CLEAR_OUT,
	CALL_CLEAR_IN,
	CALL_CLASS_RESET,
	CALL_PORT_RESET
};

struct step {
	enum step_call call; /* what the driver must do now */
	int result;          /* bytes, or -errno */
	/* for CALL_IN: the bytes. A CSW gets the tag of the last command block unless @stale */
	uint8_t data[64];
	bool csw, stale;
};

struct script {
	struct usb_pipe pipe;
	const struct step *step;
	size_t n, at;
	uint8_t cbw[31];    /* the last command block */
	char mismatch[128]; /* empty when every call was the expected one */
	bool closed;
};

void script_init(struct script *s, const struct step *steps, size_t n);

/* ---- in front of the virtual enclosure ---- */

struct tap {
	struct usb_pipe pipe;
	struct usb_pipe *inner;
	uint8_t (*cdb)[16]; /* every CDB sent while recording */
	size_t ncdb, max;
	bool recording, unplugged;
	/* called for every command block before it goes out; may change it */
	void (*on_cbw)(void *ctx, uint8_t cbw[31]);
	/* called for the data of a command on its way out; may change it */
	void (*on_out)(void *ctx, const uint8_t cbw[31], uint8_t *data, size_t len);
	/* called for the answer (data or CSW) on its way in; may change it. Return: the length to
	 * report, or -errno */
	int (*on_in)(void *ctx, const uint8_t cbw[31], uint8_t *data, int n);
	/* called instead of a bulk transfer, a class or a port reset, which they may make with
	 * @inner or not; none of the above is called then */
	int (*on_bulk)(void *ctx, bool in, void *data, size_t len);
	int (*on_reset)(void *ctx, enum step_call call);
	void *ctx;
	uint8_t cbw[31];
};

/* tap_open - in front of a fresh virtual card, posted unless @options say cold; asserts on failure.
 * Freed by its close operation. */
struct tap *tap_open(const char *options);
void tap_record(struct tap *t, bool on); /* on: forgets what was recorded */

#endif
