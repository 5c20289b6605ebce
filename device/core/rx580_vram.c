/* rx580_vram.c - bytes of VRAM: through the window where the host sees them, through staging and
 * the service queue above it; copies and fills on the card; who owns what.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/cp/pm4_build.h"
#include "device/err.h"

#define DMA_BYTES   (1u << 20) /* a packet; the field ends at 2 MiB: polaris.md 7.3 */
#define DMA_PACKETS 256        /* a submission */
#define DMA_DWORDS  (7 * DMA_PACKETS)
/* Deadline of a submission: this, plus the time its bytes would take at 8 MB/s, which is slower
 * than any card */
#define BASE_MS      2000
#define BYTES_PER_MS 8192

static int check_range(struct rx580 *rx, uint64_t offset, uint64_t len)
{
	return range_ok(offset, len, rx->info.vram_total) ? rx_alive(rx) : -EINVAL;
}

int rx_hdp_flush(struct rx580 *rx)
{
	int err = rx_alive(rx);

	return err ? err : rx_done(rx, gmc_hdp_flush(rx->gmc));
}

int rx_hdp_invalidate(struct rx580 *rx)
{
	int err = rx_alive(rx);

	return err ? err : rx_done(rx, gmc_hdp_invalidate(rx->gmc));
}

int rx_vram_read_raw(struct rx580 *rx, uint64_t offset, void *buf, size_t len)
{
	int err = check_range(rx, offset, len);

	return err ? err : rx_done(rx, gmc_window_read(rx->gmc, offset, buf, len));
}

int rx_vram_write_raw(struct rx580 *rx, uint64_t offset, const void *buf, size_t len)
{
	int err = check_range(rx, offset, len);

	return err ? err : rx_done(rx, gmc_window_write(rx->gmc, offset, buf, len));
}

/* ---- on the card ---- */

static unsigned dma_deadline(uint64_t len)
{
	return BASE_MS + (unsigned)(len / BYTES_PER_MS);
}

/* dma - copy (@src not NULL) or fill in packets of DMA_BYTES, DMA_PACKETS at a time. */
static int dma(struct rx580 *rx, uint64_t dst, const uint64_t *src, uint32_t value, uint64_t len)
{
	uint64_t fb = rx->info.fb_base;
	uint32_t dw[DMA_DWORDS];
	int err = rx_queues_up(rx);

	for (uint64_t at = 0; at < len && !err;) {
		uint64_t start = at;
		struct pm4 p;

		pm4_init(&p, dw, ARRAY_SIZE(dw));
		for (int i = 0; i < DMA_PACKETS && at < len; i++) {
			uint32_t n = (uint32_t)MIN(len - at, DMA_BYTES);

			if (src)
				pm4_dma_copy(&p, fb + dst + at, fb + *src + at, n);
			else
				pm4_dma_fill(&p, fb + dst + at, value, n);
			at += n;
		}
		err = rx_service(rx, dw, p.n, dma_deadline(at - start));
	}
	return err;
}

static bool overlap(uint64_t a, uint64_t b, uint64_t len)
{
	return a < b + len && b < a + len;
}

int rx_vram_copy(struct rx580 *rx, uint64_t dst, uint64_t src, uint64_t len)
{
	if ((dst | src | len) % 4 || (len && overlap(dst, src, len)))
		return -EINVAL;
	int err = check_range(rx, dst, len);

	if (!err)
		err = check_range(rx, src, len);
	return err || !len ? err : rx_done(rx, dma(rx, dst, &src, 0, len));
}

int rx_vram_fill(struct rx580 *rx, uint64_t dst, uint32_t value, uint64_t len)
{
	if ((dst | len) % 4)
		return -EINVAL;
	int err = check_range(rx, dst, len);

	return err || !len ? err : rx_done(rx, dma(rx, dst, NULL, value, len));
}

/* ---- above the window: one slot of staging at a time, whole dwords between it and VRAM ---- */

static int stage_in(struct rx580 *rx, uint64_t slot, uint64_t first, uint64_t last)
{
	return dma(rx, slot, &first, 0, last - first);
}

static int read_piece(struct rx580 *rx, uint64_t slot, uint64_t offset, uint8_t *buf, size_t len)
{
	uint64_t first = offset & ~3ull, last = align_up(offset + len, 4);
	int err = stage_in(rx, slot, first, last);

	if (!err)
		err = gmc_hdp_invalidate(rx->gmc);
	return err ? err : gmc_window_read(rx->gmc, slot + (offset - first), buf, len);
}

static int write_piece(
        struct rx580 *rx, uint64_t slot, uint64_t offset, const uint8_t *buf, size_t len)
{
	uint64_t first = offset & ~3ull, last = align_up(offset + len, 4);
	int err = 0;

	if (first != offset ||
	        last != offset + len) { /* the dwords at the edges keep their other bytes */
		err = stage_in(rx, slot, first, last);
		if (!err)
			err = gmc_hdp_invalidate(rx->gmc);
	}
	if (!err)
		err = gmc_window_write(rx->gmc, slot + (offset - first), buf, len);
	return err ? err : dma(rx, first, &slot, 0, last - first); /* the submission flushes HDP */
}

static int move_staged(
        struct rx580 *rx, uint64_t offset, uint8_t *in, const uint8_t *out, size_t len)
{
	uint64_t slot = rx->stage + (uint64_t)STAGE_SLOT * rx->stage_depth;
	int err = 0;

	_Static_assert(MAX_DEPTH < STAGE_BYTES / STAGE_SLOT, "a slot for every nested user");
	rx->stage_depth++;
	for (size_t at = 0; at < len && !err;) {
		size_t n = MIN(len - at, STAGE_SLOT - 8); /* room for the dwords at both edges */

		err = in ? read_piece(rx, slot, offset + at, in + at, n)
		         : write_piece(rx, slot, offset + at, out + at, n);
		at += n;
	}
	rx->stage_depth--;
	return err;
}

int rx_vram_read(struct rx580 *rx, uint64_t offset, void *buf, size_t len)
{
	int err = check_range(rx, offset, len);
	uint64_t window = rx->info.vram_window;
	size_t direct = offset < window ? (size_t)MIN(len, window - offset) : 0;

	if (!err && len > direct)
		err = rx_queues_up(rx);
	if (err)
		return err;
	if (direct)
		err = gmc_hdp_invalidate(rx->gmc);
	if (!err && direct)
		err = gmc_window_read(rx->gmc, offset, buf, direct);
	if (!err && len > direct)
		err = move_staged(rx, offset + direct, (uint8_t *)buf + direct, NULL, len - direct);
	return rx_done(rx, err);
}

int rx_vram_write(struct rx580 *rx, uint64_t offset, const void *buf, size_t len)
{
	int err = check_range(rx, offset, len);
	uint64_t window = rx->info.vram_window;
	size_t direct = offset < window ? (size_t)MIN(len, window - offset) : 0;

	if (!err && len > direct)
		err = rx_queues_up(rx);
	if (err)
		return err;
	if (direct)
		err = gmc_window_write(rx->gmc, offset, buf, direct);
	if (!err && direct)
		err = gmc_hdp_flush(rx->gmc);
	if (!err && len > direct)
		err = move_staged(
		        rx, offset + direct, NULL, (const uint8_t *)buf + direct, len - direct);
	return rx_done(rx, err);
}

/* ---- ownership ---- */

/* kind_of - ranges are named like the nodes they belong to (interface.md 6). */
static char kind_of(const char *name)
{
	static const struct {
		const char *folder;
		char kind;
	} kinds[] = {{"buffers/", 'b'}, {"kernels/", 'k'}, {"plans/", 'p'}, {"checkpoints/", 'c'}};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(name, kinds[i].folder, strlen(kinds[i].folder)))
			return kinds[i].kind;
	return 's';
}

int rx_alloc(
        struct rx580 *rx, const char *name, uint64_t size, enum rx_place place, uint64_t *offset)
{
	pthread_mutex_lock(&rx->lock);
	int err = vram_alloc(rx->vram, name, kind_of(name), size, place == RX_IN_WINDOW, offset);

	rx->info.vram_used = vram_used(rx->vram);
	pthread_mutex_unlock(&rx->lock);
	return err;
}

void rx_free(struct rx580 *rx, uint64_t offset)
{
	pthread_mutex_lock(&rx->lock);
	vram_release(rx->vram, offset);
	rx->info.vram_used = vram_used(rx->vram);
	pthread_mutex_unlock(&rx->lock);
}

size_t rx_maps(struct rx580 *rx, struct rx_range *out, size_t max)
{
	pthread_mutex_lock(&rx->lock);
	size_t n = vram_list(rx->vram, out, max);

	pthread_mutex_unlock(&rx->lock);
	return n;
}
