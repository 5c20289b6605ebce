/* nodes_regs.c - regs (amdgpu_regs' conventions, amdgpu_debugfs.c) and regs.d/name/BLOCK/REG. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "fs/nodes.h"

/* Bank selection in the offset, amdgpu_debugfs.c amdgpu_debugfs_process_reg_op: bit 62 GRBM select
 * with SE[33:24], SH[43:34], instance[53:44]; bit 61 SRBM select with ME[33:24], pipe[43:34],
 * queue[53:44], VMID[58:54]. */
#define BANK_GRBM (1ull << 62)
#define BANK_SRBM (1ull << 61)

static unsigned field(uint64_t offset, unsigned low, unsigned bits)
{
	return (unsigned)(offset >> low) & ((1u << bits) - 1);
}

/* One selector or -EINVAL; 0x3ff means "all" in the GRBM fields. polaris.md 1.4 (GRBM_GFX_INDEX:
 * INSTANCE[7:0], SH[15:8], SE[23:16], broadcast bits 29, 30, 31). */
static uint32_t grbm_index(uint64_t offset)
{
	unsigned se = field(offset, 24, 10), sh = field(offset, 34, 10), in = field(offset, 44, 10);

	return (se == 0x3ff ? 1u << 31 : (se & 0xff) << 16) |
	       (sh == 0x3ff ? 1u << 29 : (sh & 0xff) << 8) | (in == 0x3ff ? 1u << 30 : in & 0xff);
}

/* polaris.md 6.1: SRBM_GFX_CNTL PIPEID[1:0], MEID[3:2], VMID[7:4], QUEUEID[10:8] */
static uint32_t srbm_cntl(uint64_t offset)
{
	return (field(offset, 34, 10) & 3) | (field(offset, 24, 10) & 3) << 2 |
	       (field(offset, 54, 5) & 15) << 4 | (field(offset, 44, 10) & 7) << 8;
}

struct bank {
	uint32_t reg; /* 0: none */
	uint32_t value, restore;
};

static int bank_of(uint64_t offset, struct bank *b)
{
	*b = (struct bank){0};
	if ((offset & BANK_GRBM) && (offset & BANK_SRBM))
		return -EINVAL;
	if (offset & BANK_GRBM)
		*b = (struct bank){REG_GRBM_GFX_INDEX, grbm_index(offset), 0xE0000000};
	else if (offset & BANK_SRBM)
		*b = (struct bank){REG_SRBM_GFX_CNTL, srbm_cntl(offset), 0};
	else if (offset >> 24) /* bit 23, the power-gating lock, has no meaning here */
		return -EINVAL;
	return 0;
}

/* One bit a dword of BAR5: registers we know by name. Written once, when the tree is built. */
static uint8_t known[RX_MMIO_BYTES / 4 / 8];

static bool is_known(uint32_t reg)
{
	return known[reg / 32] & 1u << reg / 4 % 8;
}

/* Per queue, behind SRBM_GFX_CNTL: without a queue selected they mean nothing (polaris.md 6.1). */
static bool is_queue_reg(uint32_t reg)
{
	return reg >= REG_CP_MQD_BASE_ADDR && reg <= REG_CP_HQD_EOP_DONES;
}

/* Whether a read of many registers, @r, may touch @reg. */
static bool is_harmless(const struct request *r, uint32_t reg)
{
	bool banked = r->offset & BANK_SRBM;

	return is_known(reg) && !rx_reg_hazard(reg) && (banked || !is_queue_reg(reg));
}

/* interface.md 7.8: exactly one dword is a deliberate act; a dump fills hazards, and what nobody
 * has named, with what a dead bus returns. */
static int transfer_dword(struct request *r, uint32_t reg, size_t at)
{
	uint32_t v = 0xffffffff;
	int err = 0;

	if (r->kind == REQ_WRITE)
		return rx_reg_write(r->fs->rx, reg, get_le32(r->data + at));
	if (r->size == 4 || is_harmless(r, reg))
		err = rx_reg_read(r->fs->rx, reg, &v);
	put_le32(r->data + at, v);
	return err;
}

static int transfer(struct request *r, uint32_t reg)
{
	int err = 0;

	for (size_t at = 0; !err && at < r->size; at += 4) {
		if (atomic_load(&r->answered))
			return -ECANCELED;
		err = transfer_dword(r, reg + (uint32_t)at, at);
	}
	return err;
}

/* Select, access, restore: one job, and nobody in between (interface.md 4.7). */
static int transfer_banked(struct request *r, uint32_t reg, const struct bank *b)
{
	r->fs->hold = true;
	int err = rx_reg_write(r->fs->rx, b->reg, b->value);

	if (!err)
		err = transfer(r, reg);
	int restored = rx_reg_write(r->fs->rx, b->reg, b->restore);

	r->fs->hold = false;
	return err ? err : restored;
}

static int regs_io(struct request *r)
{
	struct bank bank;
	uint32_t reg = (uint32_t)(r->offset & 0x7fffff); /* below bit 23 */
	int err = bank_of(r->offset, &bank);

	if (err || !r->fs->rx)
		return err ? err : -ENODEV;
	if (reg >= RX_MMIO_BYTES)
		return r->kind == REQ_WRITE ? -ENOSPC : 0;
	r->size = MIN(r->size, RX_MMIO_BYTES - reg);
	err = bank.reg ? transfer_banked(r, reg, &bank) : transfer(r, reg);
	return err ? err : (int)r->size;
}

const struct node_ops regs_ops = {.read = regs_io, .write = regs_io};

static const struct named_reg {
	const char *name;
	uint32_t offset;
} named_regs[] = {
#define X(name, offset) {"mm" #name, offset},
        RX_REGISTERS(X)
#undef X
};

/* The value is read when the node is, at offset 0, and kept for the rest of the text. */
static int reg_read(struct request *r)
{
	const struct named_reg *reg = r->node->obj;
	struct handle *h = r->handle;
	uint32_t v;

	if (r->offset == 0) {
		int err = r->fs->rx ? rx_reg_read(r->fs->rx, reg->offset, &v) : -ENODEV;

		if (err)
			return err;
		fs_lock(r->fs);
		text_free(&h->snap);
		text_printf(&h->snap, "0x%08x\n", v);
		fs_unlock(r->fs);
	}
	if (r->offset >= h->snap.len)
		return 0;
	size_t n = MIN(r->size, h->snap.len - (size_t)r->offset);

	memcpy(r->data, h->snap.data + r->offset, n);
	return (int)n;
}

static int parse_word(const char *word, uint32_t *out)
{
	char *end;

	errno = 0;
	unsigned long long v = strtoull(word, &end, 0);

	if (errno || end == word || *end || word[0] == '-' || v > UINT32_MAX)
		return -EINVAL;
	*out = (uint32_t)v;
	return 0;
}

/* "VALUE" or "MASK VALUE". */
static int parse_write(const char *data, size_t len, uint32_t *mask, uint32_t *value)
{
	char line[64], a[32], b[32];

	if (len >= sizeof(line))
		return -EINVAL;
	memcpy(line, data, len);
	line[len] = '\0';
	if (strlen(line) != len)
		return -EINVAL;
	char extra;
	int n = sscanf(line, "%31s %31s %c", a, b, &extra);

	*mask = 0xffffffff;
	if (n == 1)
		return parse_word(a, value);
	return n == 2 && !parse_word(a, mask) ? parse_word(b, value) : -EINVAL;
}

static int reg_write(struct request *r)
{
	const struct named_reg *reg = r->node->obj;
	struct rx580 *rx = r->fs->rx;
	uint32_t mask, value, old = 0;

	if (parse_write((char *)r->data, r->size, &mask, &value) != 0)
		return rx_fail("fs", -EINVAL, "%s wants VALUE or MASK VALUE", reg->name);
	if (!rx)
		return -ENODEV;
	r->fs->hold = true;
	int err = mask == 0xffffffff ? 0 : rx_reg_read(rx, reg->offset, &old);

	if (!err)
		err = rx_reg_write(rx, reg->offset, (old & ~mask) | (value & mask));
	r->fs->hold = false;
	return err ? err : (int)r->size;
}

const struct node_ops reg_ops = {.read = reg_read, .write = reg_write};

/* Blocks as umr's database for this chip has them (interface.md 2.4), by byte offset: the order of
 * RX_REGISTERS, polaris.md 1.3 and following. */
static const struct {
	uint32_t first;
	const char *block;
} blocks[] = {
        {0x00000, "bif"},
        {0x00200, "smu"},
        {0x00300, "dce"},
        {0x00600, "smu"},
        {0x00C00, "gmc"},
        {0x00E00, "oss"},
        {0x01400, "gmc"},
        {0x01724, "bif"},
        {0x02004, "gmc"},
        {0x02C00, "oss"},
        {0x03350, "gmc"},
        {0x038C0, "oss"},
        {0x03F00, "bif"},
        {0x04A00, "gfx"},
        {0x05300, "bif"},
        {0x08000, "gfx"},
        {0x0D000, "oss"},
        {0x28000, "gfx"},
};

static const char *block_of(uint32_t offset)
{
	size_t i = ARRAY_SIZE(blocks) - 1;

	while (offset < blocks[i].first)
		i--;
	return blocks[i].block;
}

int regs_build(struct fs *fs, struct node *name_dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(named_regs); i++) {
		known[named_regs[i].offset / 32] |= (uint8_t)(1u << named_regs[i].offset / 4 % 8);
		/* grep -r and tar read every file: what they must not touch has none */
		if (rx_reg_hazard(named_regs[i].offset) || is_queue_reg(named_regs[i].offset))
			continue;
		const char *block = block_of(named_regs[i].offset);
		struct node *dir = tree_find(name_dir, block);

		if (!dir)
			dir = tree_add(fs, name_dir, block, NODE_REGS_BLOCK);
		struct node *n = dir ? tree_add(fs, dir, named_regs[i].name, NODE_REG) : NULL;

		if (!n)
			return -ENOMEM;
		n->obj = (void *)(uintptr_t)&named_regs[i];
		n->size = 11; /* "0x%08x\n" */
	}
	return 0;
}
