/* interp.c - decode cache and the instruction loop. */
#include <stdio.h>
#include <stdlib.h>

#include "device/bytes.h"
#include "device/virtual/gcn3/interp.h"
#include "device/virtual/gcn3/valu.h"
#include "device/virtual/mem/vmem_inline.h"

#define SLOTS (VMEM_PAGE_SIZE / 4)
#define MAX_CODE_PAGES                                                                             \
	256u /* decoded pages kept a worker; code that jumps about more is only slow */

struct code_slot {
	gcn3_executor run; /* NULL: not decoded yet */
	uint32_t class;    /* enum gcn3_class */
	struct gcn3_insn insn;
};

struct gcn3_code_page {
	struct gcn3_code_page *next; /* in its bucket */
	uint64_t page;
	uint64_t epoch; /* of the instruction cache when raw was last compared */
	uint8_t raw[VMEM_PAGE_SIZE];
	struct code_slot slots[SLOTS];
};

void gcn3_interp_init(struct gcn3_interp *t, struct vmem_client *icache)
{
	*t = (struct gcn3_interp){.icache = icache};
}

void gcn3_interp_fini(struct gcn3_interp *t)
{
	for (unsigned i = 0; i < GCN3_CODE_BUCKETS; i++)
		for (struct gcn3_code_page *p = t->buckets[i], *next; p; p = next) {
			next = p->next;
			free(p);
		}
	*t = (struct gcn3_interp){.icache = t->icache};
}

static enum gcn3_status undecodable(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	(void)w, (void)i;
	return GCN3_BAD_OPCODE;
}

static gcn3_executor executor_of(const struct gcn3_insn *i, uint32_t *class)
{
	switch ((enum gcn3_format)i->format) {
	case GCN3_SOPP: *class = GCN3_CLASS_BRANCH; return gcn3_exec_salu;
	case GCN3_SOP1:
	case GCN3_SOP2:
	case GCN3_SOPK:
	case GCN3_SOPC: *class = GCN3_CLASS_SALU; return gcn3_exec_salu;
	case GCN3_SMEM: *class = GCN3_CLASS_SMEM; return gcn3_exec_smem;
	case GCN3_VOP1:
	case GCN3_VOP2:
	case GCN3_VOPC:
	case GCN3_VOP3: *class = GCN3_CLASS_VALU; return gcn3_exec_valu;
	case GCN3_DS: *class = GCN3_CLASS_LDS; return gcn3_exec_ds;
	case GCN3_FLAT: *class = GCN3_CLASS_VMEM; return gcn3_exec_flat;
	case GCN3_MUBUF:
	case GCN3_MTBUF: *class = GCN3_CLASS_VMEM; return gcn3_exec_mubuf;
	case GCN3_VINTRP: break;
	}
	*class = GCN3_CLASS_VALU;
	return undecodable;
}

static struct gcn3_code_page *find_page(struct gcn3_interp *t, uint64_t pc);

/* Decode the instruction in @slot. One that runs over the page end takes its second word from the
 * next page. */
static void decode_slot(
        struct gcn3_interp *t, const struct gcn3_code_page *page, struct code_slot *slot)
{
	unsigned at = (unsigned)(slot - page->slots) * 4;
	uint8_t code[8];
	size_t avail = MIN(8u, VMEM_PAGE_SIZE - at);

	memcpy(code, page->raw + at, avail);
	if (avail < 8) {
		const uint8_t *p = vmem_load(t->icache, (page->page + 1) << VMEM_PAGE_SHIFT);

		if (p) {
			vmem_copy(code + avail, p, 8 - avail);
			avail = 8;
		}
	}
	if (gcn3_decode(code, avail, &slot->insn) < 0) {
		slot->insn = (struct gcn3_insn){.size = 4};
		slot->class = GCN3_CLASS_VALU;
		slot->run = undecodable;
		return;
	}
	slot->run = executor_of(&slot->insn, &slot->class);
	if (slot->run == gcn3_exec_valu) {
		slot->insn.vgprs = gcn3_valu_registers(&slot->insn);
		slot->run = gcn3_valu_shortcut(&slot->insn);
	}
}

/* The instruction cache was invalidated: forget what was decoded from words that changed since. */
static bool refresh_page(struct gcn3_interp *t, struct gcn3_code_page *p, uint64_t epoch)
{
	const uint8_t *now = vmem_load(t->icache, p->page << VMEM_PAGE_SHIFT);
	uint8_t fresh[VMEM_PAGE_SIZE];

	if (!now)
		return false;
	vmem_copy(fresh, now, sizeof(fresh));
	for (unsigned i = 0; i < SLOTS; i++)
		if (memcmp(p->raw + 4 * i, fresh + 4 * i, 4)) {
			p->slots[i].run = NULL;
			if (i > 0) /* it may be the second word of the one before */
				p->slots[i - 1].run = NULL;
		}
	p->slots[SLOTS - 1].run = NULL; /* its second word is in the next page */
	memcpy(p->raw, fresh, sizeof(fresh));
	p->epoch = epoch;
	return true;
}

static struct gcn3_code_page *find_page(struct gcn3_interp *t, uint64_t pc)
{
	uint64_t page = pc >> VMEM_PAGE_SHIFT;
	uint64_t epoch = __atomic_load_n(&t->icache->epoch, __ATOMIC_ACQUIRE);
	struct gcn3_code_page *p = t->buckets[page % GCN3_CODE_BUCKETS];

	while (p && p->page != page)
		p = p->next;
	if (p && p->epoch == epoch)
		return p;
	if (!p) {
		if (page >= t->icache->npages)
			return NULL;
		if (t->npages == MAX_CODE_PAGES)
			gcn3_interp_fini(t);
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->page = page;
		p->next = t->buckets[page % GCN3_CODE_BUCKETS];
		t->buckets[page % GCN3_CODE_BUCKETS] = p;
		t->npages++;
	}
	return refresh_page(t, p, epoch) ? p : NULL;
}

static enum gcn3_status run(struct gcn3_interp *t, struct gcn3_wave *w, unsigned *left)
{
	while (*left) {
		struct gcn3_code_page *page = find_page(t, w->pc);
		struct code_slot *slot;
		uint64_t next;

		if (!page || w->pc - w->pc % 4 != w->pc) {
			w->fault_address = w->pc + w->group->fb_base;
			return GCN3_BAD_ADDRESS;
		}
		slot = &page->slots[w->pc % VMEM_PAGE_SIZE / 4];
		do {
			enum gcn3_status status;

			if (__builtin_expect(!slot->run, 0))
				decode_slot(t, page, slot);
			next = w->pc + slot->insn.size;
			w->pc = next;
			t->counts[slot->class]++;
			--*left;
			status = slot->run(w, &slot->insn);
			if (__builtin_expect(status != GCN3_OK, 0)) {
				if (status != GCN3_END && status != GCN3_BARRIER)
					w->pc = next - slot->insn.size;
				return status;
			}
			slot += slot->insn.size / 4;
		} while (w->pc == next && *left && slot < page->slots + SLOTS);
	}
	return GCN3_OK;
}

enum gcn3_status gcn3_interp_run(struct gcn3_interp *t, struct gcn3_wave *w, unsigned budget)
{
	unsigned left = budget;
	uint32_t host = gcn3_fp_enter(w);
	enum gcn3_status status = run(t, w, &left);

	gcn3_fp_leave(host);
	w->instructions += budget - left;
	return status;
}

void gcn3_interp_describe(struct gcn3_interp *t, uint64_t pc, char *buf, size_t size)
{
	struct gcn3_code_page *page = find_page(t, pc);
	struct code_slot *slot;

	if (!page) {
		snprintf(buf, size, "(no code there)");
		return;
	}
	slot = &page->slots[pc % VMEM_PAGE_SIZE / 4];
	decode_slot(t, page, slot);
	if (slot->run != undecodable)
		gcn3_disassemble(&slot->insn, buf, size);
	else
		snprintf(buf, size, ".long 0x%08x",
		        get_le32(page->raw + pc % VMEM_PAGE_SIZE / 4 * 4));
}
