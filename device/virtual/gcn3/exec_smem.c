/* exec_smem.c - scalar loads, clocks and scalar cache control. Source: GCN3 ISA manual, chapter 7.
 */
#include "device/bytes.h"
#include "device/clock.h"
#include "device/virtual/gcn3/exec_mem.h"

static unsigned load_dwords(unsigned op)
{
	switch (op) {
	case GCN3_S_LOAD_DWORD:
	case GCN3_S_BUFFER_LOAD_DWORD: return 1;
	case GCN3_S_LOAD_DWORDX2:
	case GCN3_S_BUFFER_LOAD_DWORDX2: return 2;
	case GCN3_S_LOAD_DWORDX4:
	case GCN3_S_BUFFER_LOAD_DWORDX4: return 4;
	case GCN3_S_LOAD_DWORDX8:
	case GCN3_S_BUFFER_LOAD_DWORDX8: return 8;
	case GCN3_S_LOAD_DWORDX16:
	case GCN3_S_BUFFER_LOAD_DWORDX16: return 16;
	default: return 0;
	}
}

static bool offset_of(const struct gcn3_wave *w, const struct gcn3_insn *i, uint32_t *offset)
{
	if (i->soffset == GCN3_OPERAND_NONE) {
		*offset = (uint32_t)i->imm;
		return true;
	}
	if (i->soffset >= GCN3_MAX_SGPRS)
		return false;
	*offset = w->s[i->soffset];
	return true;
}

static enum gcn3_status load_dword(struct gcn3_wave *w, uint64_t address, uint32_t *out)
{
	uint64_t off = address - w->group->fb_base;
	const uint8_t *p;

	if (!range_ok(off, 4, w->group->fb_size) || !(p = vmem_load_fast(w->kcache, off))) {
		w->fault_address = address;
		return GCN3_BAD_ADDRESS;
	}
	*out = vmem_get32(p);
	return GCN3_OK;
}

static enum gcn3_status s_load(struct gcn3_wave *w, const struct gcn3_insn *i, unsigned dwords)
{
	uint32_t offset, values[16];
	uint64_t address;

	if (i->sbase + 2u > GCN3_MAX_SGPRS || !offset_of(w, i, &offset))
		return GCN3_BAD_OPCODE;
	/* 7.4: both low address bits are ignored, offsets are unsigned */
	address = (gcn3_sgpr64(w, i->sbase) & ~UINT64_C(3)) + (offset & ~3u);
	for (unsigned n = 0; n < dwords; n++)
		if (load_dword(w, address + 4 * n, &values[n]))
			return GCN3_BAD_ADDRESS;
	memcpy(&w->s[i->dst], values, 4 * dwords);
	return GCN3_OK;
}

static enum gcn3_status s_buffer_load(
        struct gcn3_wave *w, const struct gcn3_insn *i, unsigned dwords)
{
	uint32_t offset, values[16] = {0}, stride;
	uint64_t base, size;

	if (i->sbase + 4u > GCN3_MAX_SGPRS || !offset_of(w, i, &offset))
		return GCN3_BAD_OPCODE;
	base = gcn3_sgpr64(w, i->sbase) & ((UINT64_C(1) << 48) - 4);
	stride = w->s[i->sbase + 1] >> 16 & 0x3fff;
	/* scalar loads count NUM_RECORDS in units of STRIDE when there is one (GFX8) */
	size = (uint64_t)w->s[i->sbase + 2] * (stride ? stride : 1);
	for (unsigned n = 0; n < dwords; n++) {
		uint64_t at = (uint64_t)(offset & ~3u) + 4 * n;

		if (range_ok(at, 4, size) && load_dword(w, base + at, &values[n]))
			return GCN3_BAD_ADDRESS;
	}
	memcpy(&w->s[i->dst], values, 4 * dwords);
	return GCN3_OK;
}

/* Core clock of an RX 580 and its reference clock (polaris.md 1.4), both driven by the host's
 * clock. */
static uint64_t clock_at(uint64_t khz)
{
	uint64_t ns = now_ns();

	return ns / 1000000 * khz + ns % 1000000 * khz / 1000000;
}

enum gcn3_status gcn3_exec_smem(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	unsigned dwords = load_dwords(i->op);

	if (dwords && i->dst + dwords > GCN3_MAX_SGPRS)
		return GCN3_BAD_OPCODE;
	switch (i->op) {
	case GCN3_S_LOAD_DWORD:
	case GCN3_S_LOAD_DWORDX2:
	case GCN3_S_LOAD_DWORDX4:
	case GCN3_S_LOAD_DWORDX8:
	case GCN3_S_LOAD_DWORDX16: return s_load(w, i, dwords);
	case GCN3_S_BUFFER_LOAD_DWORD:
	case GCN3_S_BUFFER_LOAD_DWORDX2:
	case GCN3_S_BUFFER_LOAD_DWORDX4:
	case GCN3_S_BUFFER_LOAD_DWORDX8:
	case GCN3_S_BUFFER_LOAD_DWORDX16: return s_buffer_load(w, i, dwords);
	case GCN3_S_DCACHE_INV:
	case GCN3_S_DCACHE_INV_VOL: vmem_client_invalidate(w->kcache); return GCN3_OK;
	case GCN3_S_DCACHE_WB:
	case GCN3_S_DCACHE_WB_VOL: return GCN3_OK; /* nothing dirty: scalar stores are refused */
	case GCN3_S_MEMTIME:
	case GCN3_S_MEMREALTIME:
		if (i->dst + 2u > GCN3_MAX_SGPRS)
			return GCN3_BAD_OPCODE;
		gcn3_set_sgpr64(w, i->dst, clock_at(i->op == GCN3_S_MEMTIME ? 1340000 : 25000));
		return GCN3_OK;
	default: return GCN3_BAD_OPCODE; /* scalar stores among them: LLVM emits none for gfx803 */
	}
}
