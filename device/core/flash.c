/* flash.c - the flash behind the legacy image of the VBIOS: the UEFI image, and the memory
 * controller's program, which ASIC_Init fetches by itself (atombios.md 1, 9). The driver needs none
 * of it, so it is read when somebody asks, in pieces between which others get in.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/core/backend.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"

#define SMALL_FLASH (256u << 10) /* atombios.md 1: 256 or 512 KiB */
#define SAMPLE      16u          /* bytes: more than one dword may look erased by chance */
/* Bytes through the port between two yields: 32 ms of an RTL921x, whose commands cost the same
 * whatever they move, 40 of an ASMedia */
#define RTL_STRIDE 512u
#define ASM_STRIDE 64u

static bool all_bytes(const uint8_t *p, size_t n, uint8_t value)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != value)
			return false;
	return true;
}

/* look - no register tells the size. A small flash has nothing behind its end, or begins anew there
 * [inferred]; a large one that is erased there looks small. */
static int look(struct rx580 *rx)
{
	uint8_t sample[SAMPLE];
	int err = rx_rom_port(rx, SMALL_FLASH, sample, sizeof(sample));

	if (err)
		return err;
	bool small = all_bytes(sample, SAMPLE, 0) || all_bytes(sample, SAMPLE, 0xFF) ||
	             !memcmp(sample, rx->bios, SAMPLE);

	rx->flash.bytes = small ? SMALL_FLASH : RX_FLASH_MAX;
	rx_log(LOG_DEBUG, "vbios", "the flash seems to hold %zu KiB", rx->flash.bytes >> 10);
	return 0;
}

int rx_flash_bytes(struct rx580 *rx, size_t *bytes)
{
	int err = rx_alive(rx);

	if (!err && !rx->flash.bytes && rx_flash_is_whole(rx->bios_len)) {
		rx->flash.bytes = rx->bios_len;
		rx->flash.kept = true;
	}
	if (!err && !rx->flash.bytes)
		err = rx_done(rx, look(rx));
	*bytes = rx->flash.bytes;
	return err;
}

/* by_bar - one command on an RTL921x. The BARs rest meanwhile, so nobody gets in. */
static int by_bar(struct rx580 *rx, uint32_t from, uint32_t len)
{
	uint32_t size;
	int err = pci_rom_open(rx->pci, &size);

	if (err)
		return err;
	err = pci_rom_read(rx->pci, from, rx->bios + from, len);
	int closed = pci_rom_close(rx->pci);

	return err ? err : closed;
}

static int by_port(struct rx580 *rx, uint32_t from, uint32_t len)
{
	uint32_t stride = rx->info.request_bytes ? ASM_STRIDE : RTL_STRIDE;
	int err = 0;

	for (uint32_t done = 0; done < len && !err; done += stride) {
		if (done)
			rx_let_others_in(rx);
		err = rx_alive(rx);
		if (!err)
			err = rx_rom_port(
			        rx, from + done, rx->bios + from + done, MIN(stride, len - done));
	}
	return err;
}

/* keep_whole - once all of it is there. Copies are for boards, not for what is played. */
static void keep_whole(struct rx580 *rx)
{
	for (size_t i = rx->bios_len / RX_FLASH_PIECE; i < rx->flash.bytes / RX_FLASH_PIECE; i++)
		if (!rx->flash.have[i])
			return;
	if (!rx->flash.kept && backend_is_hardware(rx->info.backend))
		rx_keep_bios(rx, rx->flash.bytes);
	rx->flash.kept = true;
}

/* fetch - piece @i, but for what the start has read of it. */
static int fetch(struct rx580 *rx, size_t i)
{
	uint32_t from = (uint32_t)MAX(i * RX_FLASH_PIECE, rx->bios_len);
	uint32_t to = (uint32_t)((i + 1) * RX_FLASH_PIECE);
	/* where a command moves one dword anyhow, the port does without moving BARs about */
	bool bar = !rx->info.request_bytes && to <= rx->flash.window;
	int err = bar ? by_bar(rx, from, to - from) : by_port(rx, from, to - from);

	if (err)
		return err;
	rx->flash.have[i] = true;
	keep_whole(rx);
	return 0;
}

int rx_flash_read(struct rx580 *rx, size_t offset, void *buf, size_t len)
{
	size_t bytes, known = rx->bios_len;
	int err = rx_flash_bytes(rx, &bytes);

	if (err)
		return err;
	if (!len || offset >= bytes)
		return -EINVAL;
	len = MIN(len, bytes - offset);
	if (offset >= known) {
		size_t i = offset / RX_FLASH_PIECE;

		if (!rx->flash.have[i])
			err = rx_done(rx, fetch(rx, i));
		if (err)
			return err;
		known = (i + 1) * RX_FLASH_PIECE;
	}
	while (known < bytes && known % RX_FLASH_PIECE == 0 &&
	        rx->flash.have[known / RX_FLASH_PIECE])
		known += RX_FLASH_PIECE;
	len = MIN(len, known - offset);
	memcpy(buf, rx->bios + offset, len);
	return (int)len;
}
