/* encode.c - a checked plan to bytes in VRAM: layout, argument blocks, ring, head, body and tail
 * (docs/plan-format.md 3, 6). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/cp/pm4.h"
#include "device/err.h"
#include "device/plan/plan_priv.h"
#include "device/regs/regs.h"

#define SYSTEM_MODULE      "system/plan" /* no file of kernels/ can have a slash in its name */
#define PLAN_PIPE          0u            /* MEC1 pipe of the plan queue, rx580.h */
#define SCRATCH_SLOTS_A_CU 32u           /* polaris.md 1.4 */
#define SCRATCH_LIMIT      (512ull << 20)
#define SCRATCH_WORD3      0x00EA4FACu /* polaris.md 9.4 */
#define SWIZZLE_ENABLE     0x80000000u /* word 1, polaris.md 9.4 */
#define ARGS_ALIGN         64u      /* of a dispatch packet: polaris.md 9.3; arguments want less */
#define DISPATCH_PACKET    64u      /* hsa_kernel_dispatch_packet, polaris.md 9.3 */
#define BODY_MAX_DW        0xFFFFFu /* IB_SIZE, resident-plans.md 1 */
#define DISPATCH_MAX_DW    64u      /* of one encoded dispatch and its barrier, generous */

/* kernel_code_properties, polaris.md 9.2 byte 56, in SGPR order of 9.3 */
#define PROP_PRIVATE_SEGMENT_BUFFER 0x01u
#define PROP_DISPATCH_PTR           0x02u
#define PROP_QUEUE_PTR              0x04u
#define PROP_KERNARG_PTR            0x08u
#define PROP_DISPATCH_ID            0x10u
#define PROP_FLAT_SCRATCH_INIT      0x20u
#define PROP_PRIVATE_SEGMENT_SIZE   0x40u

extern const unsigned char rx_system_co[], rx_system_co_end[]; /* kernels/system/plan.cl */

static uint64_t mc(const struct plan *p, uint64_t vram_offset)
{
	return p->fb + vram_offset;
}

static uint64_t place_mc(const struct plan *p, const struct plan_place *at)
{
	return at->buffer ? mc(p, rx_buffer_offset(at->buffer) + at->offset) : 0;
}

/* All dispatches of a plan in stream order: begin, steps, check, updates, record. */
static struct plan_dispatch *nth_dispatch(struct plan *p, unsigned i)
{
	if (i == 0)
		return &p->begin;
	if (--i < p->d.nsteps)
		return &p->d.steps[i];
	i -= p->d.nsteps;
	if (i == 0)
		return &p->check;
	if (--i < p->d.nupdates)
		return &p->d.updates[i];
	return i == p->d.nupdates ? &p->record : NULL;
}

struct rx_module *plan_next_module(struct plan *p, unsigned i)
{
	const struct plan_dispatch *d = nth_dispatch(p, i);

	return d ? d->module : NULL;
}

static int place_system_kernel(struct plan *p, struct plan_dispatch *d, const char *name)
{
	d->module = p->system;
	d->kernel = code_object_find(rx_module_code(p->system), name);
	if (!d->kernel)
		return rx_fail("plan", -EINVAL,
		        "the built-in code object lacks %s: this build is broken", name);
	d->groups[0] = d->groups[1] = d->groups[2] = d->group[1] = d->group[2] = d->dims = 1;
	d->group[0] = 64; /* kernels/system/plan.cl */
	d->args = calloc(1, d->kernel->kernarg_size);
	return d->args ? 0 : -ENOMEM;
}

int plan_place_system(struct plan *p, char *why, size_t why_size)
{
	p->system = rx_module_find(p->kernels, SYSTEM_MODULE);
	if (!p->system) {
		int err = rx_module_put(p->kernels, SYSTEM_MODULE, rx_system_co,
		        (size_t)(rx_system_co_end - rx_system_co), why, why_size);
		if (err)
			return err;
		p->system = rx_module_find(p->kernels, SYSTEM_MODULE);
	}
	int err = place_system_kernel(p, &p->begin, "plan_begin");
	if (!err)
		err = place_system_kernel(p, &p->check, "plan_check");
	if (!err)
		err = place_system_kernel(p, &p->record, "plan_record");
	if (!err)
		err = place_system_kernel(p, &p->unpack, "plan_unpack");
	return err ? err : place_system_kernel(p, &p->sum, "plan_sum");
}

/* Give out @bytes of the plan's range on a line of its own. */
static uint64_t take(struct plan_layout *l, uint64_t bytes)
{
	uint64_t at = align_up(l->bytes, LINE);

	l->bytes = at + align_up(bytes ? bytes : 1, LINE);
	return at;
}

/* The same between its like, which nobody writes after the load. */
static uint64_t take_beside(struct plan_layout *l, uint64_t bytes)
{
	uint64_t at = align_up(l->bytes, ARGS_ALIGN);

	l->bytes = at + bytes;
	return at;
}

static int lay_out_scratch(struct plan *p, const char *tag)
{
	struct rx_info info;
	uint32_t most = 0;

	for (unsigned i = 0; nth_dispatch(p, i); i++)
		most = MAX(most, nth_dispatch(p, i)->kernel->scratch_bytes);
	if (!most)
		return 0;
	rx_read_info(p->rx, &info);
	uint32_t wave_kib = (most * 64 + 1023) / 1024; /* TMPRING WAVESIZE unit: polaris.md 6.11 */
	uint64_t waves = (uint64_t)SCRATCH_SLOTS_A_CU * info.compute_units;
	waves = MIN(waves, SCRATCH_LIMIT / (wave_kib * 1024ull));
	p->l.tmpring = (uint32_t)waves | wave_kib << COMPUTE_TMPRING_WAVESIZE_SHIFT;
	p->l.scratch_bytes = waves * wave_kib * 1024;
	rx_log(LOG_INFO, "plan",
	        "kernels with scratch: their addresses rely on SH_HIDDEN_PRIVATE_BASE_VMID 0, "
	        "which no card has confirmed (polaris.md 6.2)");
	return rx_alloc(p->rx, tag, p->l.scratch_bytes, RX_ANYWHERE, &p->l.scratch);
}

static size_t body_room(const struct plan *p)
{
	return (size_t)(p->d.nsteps + p->d.nupdates + 4) * DISPATCH_MAX_DW;
}

/* What is written once, by the load: docs/plan-format.md 3. */
static void lay_out_program(struct plan *p)
{
	struct plan_layout *l = &p->l;

	l->ring = take(l, RING_ENTRIES * RING_ENTRY_DW * 4);
	l->heads = take(l, HEADS * HEAD_DW * 4);
	l->tail = take(l, TAIL_DW * 4);
	l->sizes = take(l, PLAN_MAX_UPDATES * 12);
	l->queue_block = take(l, LINE);
	for (unsigned i = 0; nth_dispatch(p, i); i++) {
		struct plan_dispatch *d = nth_dispatch(p, i);
		d->args_offset = take_beside(l, d->kernel->kernarg_size);
		if (d->kernel->properties & PROP_DISPATCH_PTR)
			d->packet_offset = take_beside(l, DISPATCH_PACKET);
	}
	l->body = take(l, body_room(p) * 4);
}

int plan_lay_out(struct plan *p)
{
	struct plan_layout *l = &p->l;
	char tag[80];

	l->slot_stride = align_up(plan_padded(p) + TRAILER_BYTES, LINE);
	lay_out_program(p);
	l->fuse = take(l, 4);
	l->pause = take(l, 4);
	l->in = take(l, 16);
	l->step = take(l, STEP_CONTEXT_BYTES);
	l->tri = take(l, PLAN_MAX_UPDATES * 12);
	l->state = take(l, 16);
	l->fence = take(l, 4);
	l->mail = take(l, 8);
	p->unpack.args_offset = take(l, p->unpack.kernel->kernarg_size);
	p->sum.args_offset = take(l, p->sum.kernel->kernarg_size);
	l->sum = take(l, 4);
	l->records = take(l, PLAN_RECORDS * RECORD_BYTES);
	l->slots = take(l, PLAN_SLOTS * l->slot_stride);
	snprintf(tag, sizeof(tag), "plans/%s", p->name);
	int err = rx_alloc(p->rx, tag, l->bytes, RX_IN_WINDOW, &l->base);
	if (!err && body_room(p) > BODY_MAX_DW)
		err = rx_fail("plan", -EINVAL, "%s: too many dispatches for one indirect buffer",
		        p->name);
	return err ? err : lay_out_scratch(p, tag);
}

/* A 64-bit value into an argument block of the engine's own kernels, by name. */
void plan_set_arg(struct plan_dispatch *d, const char *name, uint64_t value)
{
	for (unsigned i = 0; i < d->kernel->nargs; i++) {
		const struct co_arg *a = &d->kernel->args[i];
		if (strcmp(a->name, name))
			continue;
		for (uint32_t b = 0; b < a->size; b++)
			d->args[a->offset + b] = (uint8_t)(value >> (8 * b));
	}
}

static void set_system_args(struct plan *p)
{
	const struct plan_layout *l = &p->l;
	uint64_t base = mc(p, l->base);
	struct plan_dispatch *const with_checks[] = {&p->check, &p->record};

	plan_set_arg(&p->begin, "in", base + l->in);
	plan_set_arg(&p->begin, "step", base + l->step);
	plan_set_arg(&p->begin, "state", base + l->state);
	plan_set_arg(&p->begin, "payload_bytes", p->d.input_bytes);
	plan_set_arg(&p->begin, "nscalars", p->d.scalars);
	plan_set_arg(&p->begin, "nids", p->d.ids);
	for (size_t i = 0; i < ARRAY_SIZE(with_checks); i++) {
		plan_set_arg(with_checks[i], "step", base + l->step);
		plan_set_arg(with_checks[i], "loss", place_mc(p, &p->d.loss));
		plan_set_arg(with_checks[i], "grad_norm", place_mc(p, &p->d.grad_norm));
		plan_set_arg(with_checks[i], "state", base + l->state);
	}
	plan_set_arg(&p->check, "triples", base + l->tri);
	plan_set_arg(&p->check, "sizes", base + l->sizes);
	plan_set_arg(&p->check, "words", 3 * p->d.nupdates);
	plan_set_arg(&p->check, "fuse", base + l->fuse);
	plan_set_arg(&p->record, "records", base + l->records);
	plan_set_arg(&p->record, "mask", PLAN_RECORDS - 1);
}

static void apply_fixups(struct plan *p, struct plan_dispatch *d)
{
	for (unsigned i = 0; i < d->nfixups; i++) {
		const struct plan_fixup *f = &d->fixups[i];
		uint64_t value = 0;
		switch (f->kind) {
		case FIX_BUFFER: value = mc(p, rx_buffer_offset(f->buffer) + f->add); break;
		case FIX_STEP: value = mc(p, p->l.base + p->l.step); break;
		case FIX_QUEUE: value = mc(p, p->l.base + p->l.queue_block); break;
		}
		put_le64(d->args + f->offset, value);
	}
}

/* hsa_kernel_dispatch_packet for kernels that ask for it: polaris.md 9.3. */
static void put_dispatch_packet(struct plan *p, const struct plan_dispatch *d, uint8_t *out)
{
	put_le16(out + 2, (uint16_t)d->dims);
	for (int i = 0; i < 3; i++) {
		put_le16(out + 4 + 2 * i, (uint16_t)d->group[i]);
		put_le32(out + 12 + 4 * i, d->group[i] * d->groups[i]);
	}
	put_le32(out + 24, d->kernel->scratch_bytes);
	put_le32(out + 28, d->kernel->lds_bytes + d->local_bytes);
	put_le64(out + 40, mc(p, p->l.base + d->args_offset));
}

/* Initial SGPRs in the order of polaris.md 9.3. Return: how many. */
static unsigned user_data(struct plan *p, const struct plan_dispatch *d, uint32_t out[16])
{
	unsigned n = 0, props = d->kernel->properties;
	uint64_t scratch = p->l.scratch_bytes ? mc(p, p->l.scratch) : 0;
	const struct {
		unsigned bit;
		uint64_t value;
	} pairs[] = {{PROP_DISPATCH_PTR, mc(p, p->l.base + d->packet_offset)},
	        {PROP_QUEUE_PTR, mc(p, p->l.base + p->l.queue_block)},
	        {PROP_KERNARG_PTR, mc(p, p->l.base + d->args_offset)}, {PROP_DISPATCH_ID, 1},
	        /* low: scratch relative to SH_HIDDEN_PRIVATE_BASE_VMID, which the driver sets to
	           the start of VRAM: polaris.md 9.4 */
	        {PROP_FLAT_SCRATCH_INIT, (scratch ? p->l.scratch & UINT32_MAX : 0) |
	                                         (uint64_t)d->kernel->scratch_bytes << 32}};

	if (props & PROP_PRIVATE_SEGMENT_BUFFER) {
		out[n++] = (uint32_t)scratch;
		out[n++] = (uint32_t)(scratch >> 32) | SWIZZLE_ENABLE;
		out[n++] = (uint32_t)MIN(p->l.scratch_bytes, UINT32_MAX);
		out[n++] = SCRATCH_WORD3;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (!(props & pairs[i].bit))
			continue;
		out[n++] = (uint32_t)pairs[i].value;
		out[n++] = (uint32_t)(pairs[i].value >> 32);
	}
	if (props & PROP_PRIVATE_SEGMENT_SIZE)
		out[n++] = d->kernel->scratch_bytes;
	return n;
}

/* Everything of a dispatch but the dispatch packet: resident-plans.md 13, BODY. */
static void put_state(struct plan *p, struct pm4 *b, const struct plan_dispatch *d)
{
	const struct co_kernel *k = d->kernel;
	const uint32_t start[9] = {0, 0, 0, d->group[0], d->group[1], d->group[2], 0, 0, 0};
	uint64_t pgm = mc(p, d->code_base + k->entry) >> 8;
	const uint32_t address[2] = {(uint32_t)pgm, (uint32_t)(pgm >> 32)};
	uint32_t lds = (k->lds_bytes + d->local_bytes + 511) /
	               512; /* units of 512 bytes: polaris.md 6.11 */
	const uint32_t rsrc[2] = {k->rsrc1, k->rsrc2 | lds << COMPUTE_PGM_RSRC2_LDS_SIZE_SHIFT};
	uint32_t sgprs[16];
	unsigned n = user_data(p, d, sgprs);

	pm4_set_sh(b, REG_COMPUTE_START_X, start, 8);
	pm4_set_sh(b, REG_COMPUTE_PGM_LO, address, 2);
	pm4_set_sh(b, REG_COMPUTE_PGM_RSRC1, rsrc, 2);
	if (k->scratch_bytes)
		pm4_set_sh(b, REG_COMPUTE_TMPRING_SIZE, &p->l.tmpring, 1);
	if (n)
		pm4_set_sh(b, REG_COMPUTE_USER_DATA_0, sgprs, n);
}

void plan_put_direct(struct plan *p, struct pm4 *b, const struct plan_dispatch *d)
{
	put_state(p, b, d);
	pm4_dispatch(b, d->groups[0], d->groups[1], d->groups[2]);
}

/* Flush first, then invalidate: resident-plans.md 5. */
static void put_barrier(struct pm4 *b)
{
	pm4_cs_partial_flush(b);
	pm4_acquire(b, ACQUIRE_L1_K);
}

static void encode_body(struct plan *p, struct pm4 *b)
{
	pm4_compute_defaults(b);
	plan_put_direct(p, b, &p->begin);
	put_barrier(b);
	for (unsigned i = 0; i < p->d.nsteps; i++) {
		plan_put_direct(p, b, &p->d.steps[i]);
		if (p->d.steps[i].barrier_after || i + 1 == p->d.nsteps)
			put_barrier(b);
	}
	plan_put_direct(p, b, &p->check);
	pm4_cs_partial_flush(b);
	pm4_acquire(b, ACQUIRE_DATA); /* triples to memory: indirect reads bypass L2,
	                                 resident-plans.md 2 */
	for (unsigned i = 0; i < p->d.nupdates; i++) {
		put_state(p, b, &p->d.updates[i]);
		pm4_dispatch_indirect(b, mc(p, p->l.base + p->l.tri + 12 * i));
		put_barrier(b);
	}
	plan_put_direct(p, b, &p->record);
	pm4_pad(b, 8); /* resident-plans.md 1: size a multiple of 8 dwords */
}

/* HEAD of resident-plans.md 13 for one slot and lap. */
static void encode_head(struct plan *p, struct pm4 *b, unsigned slot, unsigned lap)
{
	uint64_t base = mc(p, p->l.base), at = base + p->l.slots + slot * p->l.slot_stride;
	uint64_t token = at + plan_padded(p) + TRAILER_BYTES - 4, phase = base + p->l.mail + 4;
	const uint32_t in[4] = {(uint32_t)at, (uint32_t)(at >> 32), slot, lap};
	const uint32_t phases[3] = {PHASE_BOUNDARY, PHASE_INPUT, PHASE_RUNNING};

	pm4_write_data(b, phase, &phases[0], 1);
	pm4_wait_mem(b, base + p->l.fuse, 1, UINT32_MAX);
	pm4_wait_mem(b, base + p->l.pause, 0, 0xFF);
	pm4_write_data(b, phase, &phases[1], 1);
	pm4_wait_mem(b, token, (1 + lap) << 24, 0xFF000000);
	pm4_write_data(b, phase, &phases[2], 1);
	pm4_hdp_flush(b, PLAN_PIPE);
	pm4_write_data(b, base + p->l.in, in, 4);
	pm4_acquire(b, ACQUIRE_DATA_CODE);
	pm4_pad(b, HEAD_DW);
}

/* TAIL of resident-plans.md 13. */
static void encode_tail(struct plan *p, struct pm4 *b)
{
	uint64_t base = mc(p, p->l.base), fence = base + p->l.fence;
	const uint32_t zero = 0;

	pm4_write_data(b, fence, &zero, 1);
	pm4_release(b, fence, 1);
	pm4_wait_mem(b, fence, 1, UINT32_MAX);
	pm4_write_reg(b, REG_HDP_DEBUG0, 1);
	pm4_copy_dword(b, base + p->l.mail, base + p->l.state + 4);
	pm4_write_reg(b, REG_HDP_DEBUG0, 1);
	pm4_pad(b, TAIL_DW);
}

static void encode_ring(struct plan *p, struct pm4 *b)
{
	uint64_t base = mc(p, p->l.base);

	for (unsigned e = 0; e < RING_ENTRIES; e++) {
		pm4_call(b, base + p->l.heads + e % HEADS * HEAD_DW * 4, HEAD_DW);
		pm4_call(b, base + p->l.body, (uint32_t)p->l.body_dw);
		pm4_call(b, base + p->l.tail, TAIL_DW);
		pm4_nop(b, 4);
	}
}

/* The window into the host image of the plan's range where a block starts. */
static struct pm4 at(uint8_t *image, uint64_t offset, size_t dwords)
{
	struct pm4 b;

	pm4_init(&b, (uint32_t *)(void *)(image + offset), dwords);
	return b;
}

static int encode(struct plan *p, uint8_t *image)
{
	const struct plan_layout *l = &p->l;
	struct pm4 body = at(image, l->body, body_room(p)),
	           ring = at(image, l->ring, RING_ENTRIES * RING_ENTRY_DW);
	struct pm4 tail = at(image, l->tail, TAIL_DW);
	bool overflow = false;

	encode_body(p, &body);
	p->l.body_dw = body.n;
	for (unsigned e = 0; e < HEADS; e++) {
		struct pm4 head = at(image, l->heads + e * HEAD_DW * 4, HEAD_DW);
		encode_head(p, &head, e % PLAN_SLOTS, e / PLAN_SLOTS);
		overflow |= head.overflow || head.n != HEAD_DW;
	}
	encode_tail(p, &tail);
	encode_ring(p, &ring);
	if (overflow || body.overflow || tail.overflow || ring.overflow ||
	        ring.n != RING_ENTRIES * RING_ENTRY_DW)
		return rx_fail("plan", -EIO,
		        "%s: packets do not fit their place; this is a defect of the encoder",
		        p->name);
	return 0;
}

static void put_blocks(struct plan *p, uint8_t *image)
{
	for (unsigned i = 0; nth_dispatch(p, i); i++) {
		struct plan_dispatch *d = nth_dispatch(p, i);
		apply_fixups(p, d);
		memcpy(image + d->args_offset, d->args, d->kernel->kernarg_size);
		if (d->kernel->properties & PROP_DISPATCH_PTR)
			put_dispatch_packet(p, d, image + d->packet_offset);
	}
	for (unsigned i = 0; i < p->d.nupdates; i++)
		for (int k = 0; k < 3; k++)
			put_le32(image + p->l.sizes + 12 * i + 4 * (unsigned)k,
			        p->d.updates[i].groups[k]);
	put_le32(image + p->l.queue_block + 0x40,
	        0x20000000); /* group segment aperture: polaris.md 9.3 */
	put_le32(image + p->l.queue_block + 0x44, 0x20000001); /* private segment aperture: same */
}

int plan_encode(struct plan *p, uint8_t *image)
{
	set_system_args(p);
	put_blocks(p, image);
	return encode(p, image);
}
