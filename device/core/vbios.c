/* vbios.c - where the VBIOS comes from: a file the user names, a copy kept from last time, the ROM
 * BAR, or the SMC's ROM port. Only the card's own image is right for it: memory straps and voltage
 * regulators differ between boards (polaris.md 14.14 question 11). Ways: polaris.md 2.1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/core/backend.h"
#include "device/core/files.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"

#define HEAD_BYTES 512u /* the unit of the length byte; holds every fixed field */

/* A way to the bytes of the flash. */
struct source {
	const char *name;
	struct rx580 *rx;
	int (*read)(struct source *s, uint32_t offset, void *buf, size_t len);
};

/* ---- the two ways ---- */

static int read_bar(struct source *s, uint32_t offset, void *buf, size_t len)
{
	return pci_rom_read(s->rx->pci, offset, buf, len);
}

static int read_port(struct source *s, uint32_t offset, void *buf, size_t len)
{
	return rx_rom_port(s->rx, offset, buf, len);
}

/* ROM_INDEX, then ROM_DATA as often as needed: it counts up by itself. */
int rx_rom_port(struct rx580 *rx, uint32_t offset, void *buf, size_t len)
{
	int err = smc_write(&rx->mmio, IX_ROM_INDEX, offset);
	uint32_t value;

	for (size_t i = 0; i < len && !err; i += 4) {
		err = i ? smc_read_again(&rx->mmio, &value)
		        : smc_read(&rx->mmio, IX_ROM_DATA, &value);
		put_le32((uint8_t *)buf + i, value);
	}
	return err;
}

/* ---- kept copies ---- */

/* cache_path - by what tells boards and versions apart: subsystem, length, checksum byte and the
 * sum over the first bytes, which hold date and version. */
static int cache_path(const struct rx580 *rx, const uint8_t head[HEAD_BYTES], struct rx_path *path)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	char name[64];

	for (size_t i = 0; i < HEAD_BYTES; i++)
		hash = (hash ^ head[i]) * 16777619u;
	snprintf(name, sizeof(name), "vbios-%04x-%04x-%08x.rom", rx->info.pci_subvendor,
	        rx->info.pci_subdevice, hash);
	return rx_user_file(path, RX_CACHE, name, true);
}

/* take_copy - only one that begins like the card's and is sound. A copy of the whole flash counts
 * whole, of any other nothing but the image. */
static int take_copy(struct rx580 *rx, const uint8_t head[HEAD_BYTES])
{
	struct rx_path path;
	int err = cache_path(rx, head, &path);
	int n = err ? err : rx_read_whole(path.text, rx->bios, RX_FLASH_MAX);

	if (n < (int)HEAD_BYTES || memcmp(rx->bios, head, HEAD_BYTES) ||
	        vbios_rom_parse(&rx->rom, rx->bios, (size_t)n))
		return -ENOENT;
	rx_log(LOG_INFO, "vbios", "taken from %s, which begins like the card's", path.text);
	return rx_flash_is_whole((size_t)n) ? n : (int)rx->rom.legacy_bytes;
}

void rx_keep_bios(struct rx580 *rx, size_t len)
{
	struct rx_path path;

	if (cache_path(rx, rx->bios, &path) || rx_write_whole(path.text, rx->bios, len))
		rx_log(LOG_DEBUG, "vbios", "no copy was kept");
}

/* ---- the legacy image from the card ---- */

/* fetch - Return: bytes in rx->bios, parsed; -ENODATA nothing that begins like a VBIOS. */
static int fetch(struct rx580 *rx, struct source *s)
{
	uint8_t head[HEAD_BYTES];
	int err = s->read(s, 0, head, sizeof(head));

	if (err)
		return err;
	if (get_le16(head) != 0xAA55) /* polaris.md 2.1 */
		return -ENODATA;
	int n = vbios_legacy_bytes(head, sizeof(head));

	if (n < (int)HEAD_BYTES || n > (int)RX_FLASH_MAX)
		return -ENODATA;
	/* copies are for boards, not for what is played */
	bool board = backend_is_hardware(rx->info.backend);
	int kept = board ? take_copy(rx, head) : -ENOENT;

	if (kept > 0)
		return kept;
	memcpy(rx->bios, head, HEAD_BYTES);
	err = s->read(s, HEAD_BYTES, rx->bios + HEAD_BYTES, (size_t)n - HEAD_BYTES);
	if (!err)
		err = vbios_rom_parse(&rx->rom, rx->bios, (size_t)n);
	if (err)
		return err;
	rx_log(LOG_INFO, "vbios", "%d bytes through the %s", n, s->name);
	if (board)
		rx_keep_bios(rx, (size_t)n);
	return n;
}

static int from_bar(struct rx580 *rx)
{
	struct source s = {"ROM BAR", rx, read_bar};
	uint32_t size;
	int err = pci_rom_open(rx->pci, &size);

	if (err)
		return err;
	int n = size >= HEAD_BYTES ? fetch(rx, &s) : -ENODATA;

	err = pci_rom_close(rx->pci);
	if (n > 0)
		rx->flash.window = size;
	return n < 0 ? n : (err ? err : n);
}

static int from_port(struct rx580 *rx)
{
	struct source s = {"ROM port", rx, read_port};

	return fetch(rx, &s);
}

/* ---- the file ---- */

/* check_board - an image for another board can destroy this one's voltages: refuse it. */
static int check_board(const struct rx580 *rx, const char *path)
{
	const struct vbios_image *i = &rx->rom.image[0];

	if (i->vendor != rx->info.pci_vendor || i->device != rx->info.pci_device)
		return rx_fail("vbios", -EINVAL, "%s is for a card %04x:%04x, this is %04x:%04x",
		        path, i->vendor, i->device, rx->info.pci_vendor, rx->info.pci_device);
	if (rx->rom.subsystem_vendor != rx->info.pci_subvendor ||
	        rx->rom.subsystem_id != rx->info.pci_subdevice)
		return rx_fail("vbios", -EINVAL,
		        "%s is for a board %04x:%04x, this is %04x:%04x; use the image read from "
		        "this very board",
		        path, rx->rom.subsystem_vendor, rx->rom.subsystem_id,
		        rx->info.pci_subvendor, rx->info.pci_subdevice);
	return 0;
}

static int from_file(struct rx580 *rx, const char *path)
{
	int n = rx_read_whole(path, rx->bios, RX_FLASH_MAX);

	if (n < 0)
		return rx_fail("vbios", n, "%s: %s", path, strerror(-n));
	int err = vbios_rom_parse(&rx->rom, rx->bios, (size_t)n);

	if (err)
		return rx_fail("vbios", err, "%s is no VBIOS this driver can use", path);
	err = check_board(rx, path);
	rx->flash.bytes = (size_t)n; /* that is what the user wants to be the flash */
	return err ? err : n;
}

/* tell_board - polaris.md 13.1 step 9: what the driver's constants say of the chip (1.4), the
 * board's own table should say, too. */
static void tell_board(const struct rx580 *rx)
{
	struct vbios_gfx_info gfx;
	struct vbios_firmware_info fi;

	if (!vbios_gfx_info(&rx->rom, &gfx) &&
	        (gfx.shader_engines != 4 || gfx.sh_per_se != 1 || gfx.cu_per_sh != 9))
		rx_log(LOG_WARN, "vbios",
		        "GFX_Info tells of %u shader engines with %u arrays of %u compute units, "
		        "expected 4 with 1 of 9",
		        gfx.shader_engines, gfx.sh_per_se, gfx.cu_per_sh);
	if (!vbios_firmware_info(&rx->rom, &fi)) /* POST insists on it, and says why not */
		rx_log(LOG_INFO, "vbios", "boot clocks %u/%u MHz, reference clock %u MHz, %u mV",
		        fi.default_engine_clock / 100, fi.default_memory_clock / 100,
		        fi.core_ref_clock / 100, fi.bootup_vddc_mv);
}

int rx_read_vbios(struct rx580 *rx)
{
	rx->bios = malloc(RX_FLASH_MAX);
	if (!rx->bios)
		return -ENOMEM;
	int n = rx->opt.vbios ? from_file(rx, rx->opt.vbios) : from_bar(rx);

	if (n == -ENODATA)
		n = from_port(rx);
	if (n == -ENODATA)
		return rx_fail("vbios", -ENODATA,
		        "neither the ROM BAR nor the ROM port shows a VBIOS; if you have this "
		        "board's image in a file, give it with --vbios FILE");
	if (n < 0)
		return n;
	rx->bios_len = (size_t)n;
	rx_log(LOG_INFO, "vbios", "%s, %s", rx->rom.string[0], rx->rom.version);
	tell_board(rx);
	return 0;
}
