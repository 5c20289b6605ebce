/* rtl921x_memory.c - the address space of the bridge's CPU as E2/92, A2 and E3/23 reach it
 * (bridge.md 2.2, 2.3). RAM and registers that merely store are bytes of one backing store; the two
 * PCIe port blocks go to rtl921x_engine.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/venc_priv.h"

enum region_kind { RAM, SRAM, ROM, FLASH, REGISTERS, PORT };

struct region {
	uint32_t base, size;
	enum region_kind kind;
	uint32_t backing; /* offset in the store; port number for PORT */
};

#define UNCACHED   0x20000000u /* bridge.md 2.2: 0xA... is the uncached alias of 0x8... */
#define FLASH_SIZE 0x200000u   /* bridge.md 2.2: 2 MiB, mirrored up to 0x8DFFFFFF */

/* bridge.md 2.2. RAM sizes beyond what the text names are inferred; SRAM and ports are not. */
static const struct region MAP[] = {
        {0x80000000u, 0x10000, RAM, 0x000000}, /* hot code */
        {0x84000000u, 0x10000, RAM, 0x010000},
        {0x88000000u, 0x10000, RAM, 0x020000}, /* globals, vendor buffer 0xA800D000 */
        {0x88010000u, 0x20000, ROM, 0x030000}, /* mask ROM */
        {0x8C000000u, 0x2000000, FLASH, 0x0C0000},
        {0xB0600000u, 0x1000, REGISTERS, 0x050000}, /* I2C */
        {0xB300C000u, 0x1000, REGISTERS, 0x051000},
        {0xB3101000u, 0x1000, REGISTERS, 0x052000}, /* clock, reset, GPIO */
        {0xB3200000u, 0x40000, SRAM, 0x080000},     /* data SRAM, 256 KiB */
        {0xB3302000u, 0x1000, REGISTERS, 0x053000}, /* NVMe submission queues */
        {0xB3304000u, 0x1000, REGISTERS, 0x054000}, /* NVMe completion queues */
        {0xB3310000u, 0x4000, PORT, 0}, {0xB3320000u, 0x4000, PORT, 1},
        {0xB3500000u, 0x1000, REGISTERS, 0x055000}, /* system */
        {0xB3700000u, 0x1000, REGISTERS, 0x05A000}, /* the page 1.32.87 closes */
        {0xB3600000u, 0x1000, REGISTERS, 0x056000}, /* SATA */
        {0xB9000000u, 0x1000, REGISTERS, 0x057000}, /* USB device controller */
        {0xBA000000u, 0x1000, REGISTERS, 0x058000}, /* UART */
        {0xBC000000u, 0x1000, REGISTERS, 0x059000}, /* SATA host */
};
#define FLASH_STORE  0x0C0000u /* in the store: RAM and registers below, flash above */
#define FLASH_STORED 0x014000u /* what is not erased ends below the main code, bridge.md 2.3 */
#define STORE_SIZE   (FLASH_STORE + FLASH_STORED)

static const struct region *find(uint32_t *address, uint32_t len)
{
	uint32_t a = *address;

	if ((a & 0xF0000000u) == 0xA0000000u)
		a &= ~UNCACHED;
	for (size_t i = 0; i < ARRAY_SIZE(MAP); i++) {
		if (a >= MAP[i].base && range_ok(a - MAP[i].base, len, MAP[i].size)) {
			*address = a - MAP[i].base;
			return &MAP[i];
		}
	}
	return NULL;
}

int venc_mem_init(struct venc *e)
{
	e->store = malloc(STORE_SIZE);
	return e->store ? 0 : -ENOMEM;
}

void venc_mem_fini(struct venc *e)
{
	free(e->store);
}

static void build_header(uint8_t *at, uint32_t magic, const struct rtl_firmware *f)
{
	memset(at, 0, 0x60);
	put_le32(at, magic);
	for (unsigned i = 0; i < 3; i++)
		put_le32(at + 0x4C + 4 * i, f->version[i]);
	put_le32(at + 0x5C, f->date);
}

/* Headers: bridge.md 2.1, 2.7. What runs the golden image is a bridge without a main one. */
static void build_flash(uint8_t *flash, const struct rtl_firmware *f)
{
	memset(flash, 0xFF, FLASH_STORED);
	if (f->golden)
		build_header(flash + 0x13000, 0x79817981, f);
	else
		build_header(flash + 0x4000, 0x97463136, f);
	put_le32(flash + 0x13000, 0x79817981);
}

void venc_mem_power_up(struct venc *e)
{
	static const uint32_t known[][2] = {/* bridge.md 2.2, known responses */
	        {0x0550C8, 0xA0010001}, {0x05505C, 0x03D965B0}, {0x05170C, 0x0082AE8C}};

	memset(e->store, 0xA5, FLASH_STORE); /* RAM comes up with noise */
	memset(e->store + 0x050000, 0, 0x030000);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		put_le32(e->store + known[i][0], known[i][1]);
	build_flash(e->store + FLASH_STORE, &e->firmware);
}

bool venc_mem_is_register(uint32_t address)
{
	const struct region *r = find(&address, 1);

	return r && (r->kind == REGISTERS || r->kind == PORT);
}

static uint8_t read_byte(const struct venc *e, const struct region *r, uint32_t offset)
{
	if (r->kind == FLASH)
		offset %= FLASH_SIZE;
	if (r->kind == FLASH && offset >= FLASH_STORED)
		return 0xFF;
	return e->store[r->backing + offset];
}

/* Any width, from the dword that holds it. A byte loop reads the register once a byte. */
static void read_port(struct venc *e, struct rc_port *p, uint32_t offset, uint8_t *out,
        uint32_t len, unsigned unit)
{
	uint8_t dword[4];

	for (uint32_t i = 0; i < len; i += unit) {
		put_le32(dword, venc_engine_read32(e, p, (offset + i) & ~3u));
		memcpy(out + i, dword + ((offset + i) & 3), unit);
	}
}

bool venc_mem_read(struct venc *e, uint32_t address, uint8_t *out, uint32_t len, unsigned unit)
{
	uint32_t offset = address;
	const struct region *r = find(&offset, len);

	if (!r)
		return !len; /* no access, no fault */
	if (r->kind == PORT)
		read_port(e, &e->port[r->backing], offset, out, len, unit);
	else
		for (uint32_t i = 0; i < len; i++)
			out[i] = read_byte(e, r, offset + i);
	return true;
}

static void write_port(struct venc *e, struct rc_port *p, uint32_t offset, const uint8_t *in,
        uint32_t len, unsigned unit)
{
	uint32_t done = 0;

	if (unit == 4 && len == 4) {
		venc_engine_write32(e, p, offset, get_le32(in));
		return;
	}
	while (unit == 1 && done < len && venc_engine_write8(e, p, offset + done, in[done]))
		done++;
	if (done < len) /* bridge.md 2.11: byte stores probably fail on registers */
		venc_guest_error(e,
		        "bridge: %u bytes to port register 0x%x, not one dword; ignored",
		        len - done, offset + done);
}

bool venc_mem_write(
        struct venc *e, uint32_t address, const uint8_t *in, uint32_t len, unsigned unit)
{
	uint32_t offset = address;
	const struct region *r = find(&offset, len);

	if (!r || !len)
		return !len;
	if (r->kind == PORT) {
		write_port(e, &e->port[r->backing], offset, in, len, unit);
		return true;
	}
	/* bridge.md 2.15: nothing but engine, DBI window, port control and SRAM is the host's to
	 * write */
	if (r->kind != SRAM)
		venc_guest_error(
		        e, "bridge: write of %u bytes to CPU address 0x%08x", len, address);
	if (r->kind != ROM && r->kind != FLASH)
		memcpy(e->store + r->backing + offset, in, len);
	return true;
}
