/* load.c - a plan's program to the card, in pieces between which others have their turn: code of
 * its kernels, then the image, packed for the link and unpacked by the card (docs/plan-format.md
 * 7). */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/plan/pack.h"
#include "device/plan/plan_priv.h"

#define UNPACK_MS 20000 /* 100,000 dwords take a virtual card under a sanitizer a second */
#define MORE      1

struct plan_load {
	uint32_t *image; /* as it will lie in VRAM */
	size_t dwords;
	size_t packed_to;   /* dwords of the image that are in the stream so far */
	size_t unpacked;    /* and on the card */
	uint32_t *stream;   /* of [unpacked, packed_to): at most the block of the records */
	size_t words, sent; /* dwords, bytes */
	void *work;         /* plan_pack */
	size_t piece;
	unsigned module; /* next one to look at */
};

void plan_load_free(struct plan_load *l)
{
	if (!l)
		return;
	free(l->image);
	free(l->stream);
	free(l->work);
	free(l);
}

/* What plans/NAME/pm4.* show. */
static int keep_packets(struct plan *p, const uint8_t *image)
{
	uint8_t *out = malloc((HEAD_DW + p->l.body_dw + TAIL_DW) * 4);

	if (!out)
		return -ENOMEM;
	memcpy(out, image + p->l.heads, HEAD_DW * 4);
	memcpy(out + HEAD_DW * 4, image + p->l.body, p->l.body_dw * 4);
	memcpy(out + (HEAD_DW + p->l.body_dw) * 4, image + p->l.tail, TAIL_DW * 4);
	p->packets = (uint32_t *)(void *)out;
	return 0;
}

int plan_load_start(struct plan *p)
{
	struct plan_load *l = p->load = calloc(1, sizeof(*l));
	struct rx_info info;

	if (!l)
		return -ENOMEM;
	rx_read_info(p->rx, &info);
	l->piece = rx_piece(&info);
	l->image = calloc(1, p->l.fuse);
	l->stream = malloc(PLAN_RECORDS * RECORD_BYTES);
	l->work = malloc(PACK_WORK_BYTES);
	if (!l->image || !l->stream || !l->work)
		return -ENOMEM;
	int err = plan_encode(p, (uint8_t *)l->image);

	l->dwords = p->l.body / 4 + p->l.body_dw;
	return err ? err : keep_packets(p, (const uint8_t *)l->image);
}

/* Return: MORE; 0 all code is there. */
static int send_code(struct plan *p)
{
	struct rx_module *m;

	while ((m = plan_next_module(p, p->load->module)) != NULL) {
		int left = rx_module_send(m, p->load->piece);

		if (left)
			return left < 0 ? left : MORE;
		p->load->module++;
	}
	return 0;
}

static int run_on_card(struct plan *p, const struct plan_dispatch *d)
{
	uint32_t dw[64];
	struct pm4 b;
	int err = rx_vram_write_raw(
	        p->rx, p->l.base + d->args_offset, d->args, d->kernel->kernarg_size);

	pm4_init(&b, dw, ARRAY_SIZE(dw));
	plan_put_direct(p, &b, d);
	if (b.overflow)
		return -E2BIG;
	return err ? err : rx_service_submit(p->rx, dw, b.n, UNPACK_MS);
}

/* The stream is in the block of the records: let the card unpack it. */
static int unpack(struct plan *p)
{
	struct plan_load *l = p->load;
	uint64_t base = p->fb + p->l.base;

	plan_set_arg(&p->unpack, "packed", base + p->l.records);
	plan_set_arg(&p->unpack, "out", base + 4 * l->unpacked);
	plan_set_arg(&p->unpack, "words", l->words);
	plan_set_arg(&p->unpack, "room", l->packed_to - l->unpacked);
	int err = run_on_card(p, &p->unpack);

	l->unpacked = l->packed_to;
	l->words = l->sent = 0;
	return err;
}

static void pack_more(struct plan_load *l)
{
	size_t taken;

	l->words = plan_pack(l->image + l->unpacked, l->dwords - l->unpacked, l->stream,
	        PLAN_RECORDS * RECORD_BYTES / 4, &taken, l->work);
	l->packed_to = l->unpacked + taken;
}

/* Return: MORE; 0 the image is on the card. */
static int send_image(struct plan *p)
{
	struct plan_load *l = p->load;

	if (l->unpacked == l->dwords)
		return 0;
	if (!l->words)
		pack_more(l);
	size_t n = MIN(l->words * 4 - l->sent, l->piece);
	int err = rx_vram_write_raw(
	        p->rx, p->l.base + p->l.records + l->sent, (uint8_t *)l->stream + l->sent, n);

	l->sent += n;
	if (!err && l->sent == l->words * 4)
		err = unpack(p);
	return err ? err : MORE;
}

/* What lies in VRAM is what was meant, whatever happened on the way. */
static int check_image(struct plan *p)
{
	struct plan_load *l = p->load;
	uint64_t base = p->fb + p->l.base;
	uint32_t want = plan_checksum((const uint8_t *)l->image, l->dwords * 4);
	uint8_t raw[4];

	plan_set_arg(&p->sum, "words", base);
	plan_set_arg(&p->sum, "n", l->dwords);
	plan_set_arg(&p->sum, "result", base + p->l.sum);
	int err = run_on_card(p, &p->sum);

	if (!err)
		err = rx_vram_read(p->rx, p->l.base + p->l.sum, raw, sizeof(raw));
	if (!err && get_le32(raw) != want)
		return rx_fail("plan", -EIO,
		        "%s: checksum of the loaded packets: expected %08x, the card found %08x; "
		        "load it again",
		        p->name, want, get_le32(raw));
	return err;
}

int plan_load_more(struct plan *p)
{
	if (!p->load)
		return 0;
	int err = send_code(p);

	if (!err)
		err = send_image(p);
	if (!err)
		err = check_image(p);
	/* the rest holds no program: zeroed on the card, which costs the link nothing */
	if (!err)
		err = rx_vram_fill(p->rx, p->l.base + p->l.fuse, 0, p->l.bytes - p->l.fuse);
	if (err)
		return err;
	plan_load_free(p->load);
	p->load = NULL;
	plan_publish(p);
	return 0;
}
