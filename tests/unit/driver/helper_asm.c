/* helper_asm.c - see helper_asm.h. */
#include "helper_asm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"

#define REG(f, addr) ((f)->xdata[addr])

static struct fake *self(struct scsi *s)
{
	return (struct fake *)s;
}

/* ---- the tree ---- */

static unsigned secondary(const struct fake_fn *f)
{
	return f->cfg[6] >> 8 & 0xFF;
}

static bool is_bridge(const struct fake_fn *f)
{
	return f->cfg[3] >> 16 & 1;
}

static struct fake_fn *below(struct fake_fn *bridge, unsigned bus, unsigned dev)
{
	unsigned sec = secondary(bridge), sub = bridge->cfg[6] >> 16 & 0xFF;

	if (!sec || bus < sec || bus > sub)
		return NULL;
	if (bus == sec)
		return bridge->child[dev];
	for (unsigned i = 0; i < 32; i++) {
		struct fake_fn *c = bridge->child[i], *hit;

		if (c && is_bridge(c) && (hit = below(c, bus, dev)))
			return hit;
	}
	return NULL;
}

static struct fake_fn *find(struct fake *f, uint8_t type, uint32_t addr)
{
	unsigned bus = addr >> 24, dev = addr >> 19 & 31;

	if (addr >> 16 & 7)
		return NULL;
	if (!(type & 1))
		return !bus && !dev ? &f->port : NULL;
	return below(&f->port, bus, dev);
}

static uint32_t lanes(uint8_t enables)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < 4; i++)
		mask |= enables & 1u << i ? 0xFFu << 8 * i : 0;
	return mask;
}

/* ---- the engine ---- */

static void complete(struct fake *f, unsigned status, unsigned count, bool has_data, uint32_t data)
{
	REG(f, 0xB22A) = (uint8_t)(status << 5 | count >> 8);
	REG(f, 0xB22B) = (uint8_t)count;
	REG(f, 0xB284) = has_data;
	if (has_data)
		put_be32(&f->xdata[0xB220], data);
	REG(f, 0xB296) |= 2;
}

static void run_config(struct fake *f, uint8_t type, uint8_t enables, uint32_t addr, uint32_t data)
{
	struct fake_fn *fn = find(f, type, addr);
	unsigned reg = (addr & 0xFC) / 4;
	bool write = type & 0x40;

	if (!fn) {
		complete(f, 1, 4, false, 0);
	} else if (!write && !reg && fn != &f->port && f->crs) {
		f->crs--;
		complete(f, 2, 4, false, 0);
	} else if (write) {
		uint32_t fixed = reg == 9 ? 0x000F000F : 0; /* what a window can do */
		uint32_t mask = lanes(enables) & ~fixed;

		fn->cfg[reg] = (fn->cfg[reg] & ~mask) | (data & mask);
		complete(f, 0, 4, false, 0);
	} else {
		complete(f, 0, 4, true, fn->cfg[reg]);
	}
}

static void run_memory(struct fake *f, uint8_t type, uint8_t enables, uint64_t addr, uint32_t data)
{
	uint64_t at = addr - FAKE_MEMORY_AT;
	bool mine = (addr & 0xFFFFFFFF) - FAKE_MEMORY_AT < FAKE_MEMORY;
	unsigned count = (unsigned)__builtin_popcount(enables);

	at &= 0xFFFFFFFF;
	if (type & 0x40) {
		f->writes++;
		for (unsigned i = 0; mine && i < 4; i++)
			if (enables & 1u << i)
				f->memory[at + i] = (uint8_t)(data >> 8 * i);
	} else if (!mine) {
		complete(f, 1, 4, false, 0);
	} else if (f->status) {
		complete(f, (unsigned)f->status, 4, false, 0);
	} else {
		complete(f, 0, f->byte_count ? (unsigned)f->byte_count : count, true,
		        get_le32(f->memory + at));
	}
}

static void run(struct fake *f)
{
	uint8_t type = REG(f, 0xB210), enables = REG(f, 0xB217);
	uint64_t addr = get_be32(&f->xdata[0xB218]);
	uint32_t data = get_be32(&f->xdata[0xB220]);

	if (type & 0x20)
		addr |= (uint64_t)get_be32(&f->xdata[0xB21C]) << 32;
	f->requests++;
	f->last_enables = enables;
	f->last_addr = addr;
	if (f->timeouts) {
		f->timeouts--;
		REG(f, 0xB296) |= 1;
	} else if (type & 0x1F) {
		run_config(f, type, enables, (uint32_t)addr, data);
	} else {
		run_memory(f, type, enables, addr, data);
	}
}

static void poke(struct fake *f, unsigned addr, uint8_t value)
{
	if (addr == 0xB254) {
		f->armed = true;
	} else if (addr == 0xB296) {
		REG(f, addr) = (uint8_t)((REG(f, addr) & ~(value & 3)) | (f->never_ready ? 0 : 4));
		if ((value & 4) && f->armed) {
			f->armed = false;
			run(f);
		}
	} else {
		REG(f, addr) = value;
	}
}

/* ---- commands ---- */

static int refuse(struct scsi_sense *sense, uint8_t key, uint8_t asc)
{
	*sense = (struct scsi_sense){key, asc, 0};
	return -EIO;
}

static int inquiry(struct fake *f, uint8_t *data, size_t len)
{
	char text[29];

	memset(data, 0, len);
	snprintf(text, sizeof(text), "%-8.8s%-16.16s1.00", f->vendor, f->product);
	memcpy(data + 8, text, 28);
	return (int)len;
}

static void forget_everything(struct fake *f)
{
	memset(&f->xdata[0xB210], 0xA5, 20);
	REG(f, 0xB296) = 4;
	f->armed = false;
	f->port.cfg[6] = 0x00010100; /* what stock firmware does at its start */
	f->attention = 1;
}

static int vendor(
        struct fake *f, const uint8_t *cdb, uint8_t *data, size_t len, struct scsi_sense *sense)
{
	unsigned addr = (unsigned)(cdb[3] << 8 | cdb[4]);
	uint8_t bank = f->chip == ASM_246X ? 0x50 : 0;

	if (f->chip == ASM_UNKNOWN || cdb[2] != bank)
		return refuse(sense, 5, 0x20);
	if (cdb[0] == 0xE5) {
		poke(f, addr, cdb[1]);
		return 0;
	}
	if (f->lost_answers) {
		f->lost_answers--;
		return -EIO;
	}
	memcpy(data, &f->xdata[addr], len);
	return (int)len;
}

static void remember(struct fake *f, const uint8_t *cdb, size_t len)
{
	if (f->ncdb == f->max) {
		f->max = f->max ? 2 * f->max : 256;
		f->cdb = realloc(f->cdb, f->max * sizeof(*f->cdb));
		assert_non_null(f->cdb);
	}
	memset(f->cdb[f->ncdb], 0, 16);
	memcpy(f->cdb[f->ncdb++], cdb, len);
}

static int fake_exec(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir,
        void *buf, size_t len, unsigned timeout_ms, struct scsi_sense *sense)
{
	struct fake *f = self(s);

	(void)timeout_ms;
	remember(f, cdb, cdb_len);
	if (f->resets_at && f->ncdb == f->resets_at)
		forget_everything(f);
	if (cdb[0] == 0x12)
		return inquiry(f, buf, len);
	if (f->attention) {
		f->attention--;
		return refuse(sense, 6, 0x29);
	}
	if (cdb[0] == 0xE4 || cdb[0] == 0xE5) {
		assert_int_equal(dir, cdb[0] == 0xE4 ? SCSI_IN : SCSI_NONE);
		assert_int_equal(len, cdb[0] == 0xE4 ? cdb[1] : 0);
		return vendor(f, cdb, buf, len, sense);
	}
	return refuse(sense, 5, 0x20);
}

static void fake_identity(struct scsi *s, struct usb_identity *out)
{
	*out = self(s)->usb;
}

static void fake_stats(struct scsi *s, struct usb_link_stats *out)
{
	(void)s;
	*out = (struct usb_link_stats){0};
}

static void fake_free(struct scsi *s)
{
	free(self(s)->cdb);
	free(self(s)->top);
	free(s);
}

static const struct scsi_ops fake_ops = {
        .exec = fake_exec, .identity = fake_identity, .link_stats = fake_stats, .free = fake_free};

void fake_bridge(struct fake_fn *f)
{
	*f = (struct fake_fn){.cfg = {[0] = 0x24641B21,
	                              [1] = 0x00100000,
	                              [2] = 0x06040000,
	                              [3] = 0x00010000,
	                              [9] = 0x00010001}};
}

void fake_device(struct fake_fn *f, uint32_t id, uint32_t class_code)
{
	*f = (struct fake_fn){.cfg = {[0] = id, [2] = class_code << 8}};
}

struct fake *fake_new(enum asm_chip chip)
{
	static const uint8_t version[ASM_VERSION_BYTES] = {0x24, 0x04, 0x17, 0x85, 0, 0};
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->top = calloc(1, sizeof(*f->top));
	assert_non_null(f->top);
	f->s.ops = &fake_ops;
	f->chip = chip;
	f->vendor = "ASMT";
	f->product = chip == ASM_246X ? "ASM246X" : "ASM236X NVME";
	f->usb = (struct usb_identity){
	        .vid = 0x174c, .pid = chip == ASM_246X ? 0x2464 : 0x2362, .mbit = 10000};
	memcpy(&f->xdata[0x07F0], version, sizeof(version));
	memset(&f->xdata[0xB210], 0xA5, 20);
	f->xdata[0xB296] = 4;
	f->xdata[0xB450] = 0x78;
	fake_bridge(&f->port);
	f->port.cfg[6] = 0x00010100;
	fake_device(f->top, 0x67DF1002, 0x030000);
	f->port.child[0] = f->top;
	return f;
}

unsigned fake_sent(const struct fake *f, int op, int addr)
{
	unsigned n = 0;

	for (size_t i = 0; i < f->ncdb; i++)
		n += f->cdb[i][0] == op && (addr < 0 || (f->cdb[i][3] << 8 | f->cdb[i][4]) == addr);
	return n;
}

void fake_forget(struct fake *f)
{
	f->ncdb = 0;
	f->requests = f->writes = 0;
}
