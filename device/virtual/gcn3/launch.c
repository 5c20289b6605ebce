/* launch.c - from compute registers to the initial state of a workgroup's waves. Source:
 * polaris.md 9.1 to 9.4, 14.9. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/virtual/gcn3/engine_priv.h"

/* COMPUTE_PGM_RSRC1 and 2, COMPUTE_TMPRING_SIZE: polaris.md 9.1 */
#define RSRC1_VGPRS(r)      ((r) & 0x3f)
#define RSRC1_FLOAT_MODE(r) ((r) >> 12 & 0xff)
#define RSRC1_DX10_CLAMP(r) ((r) >> 21 & 1)
#define RSRC1_IEEE_MODE(r)  ((r) >> 23 & 1)
#define RSRC2_SCRATCH_EN(r) ((r) & 1)
#define RSRC2_USER_SGPR(r)  ((r) >> 1 & 0x1f)
#define RSRC2_TGID_EN(r, d) ((r) >> (7 + (d)) & 1)
#define RSRC2_TG_SIZE_EN(r) ((r) >> 10 & 1)
#define RSRC2_TIDIG_COMP(r) ((r) >> 11 & 3)
#define RSRC2_LDS_SIZE(r)   ((r) >> 15 & 0x1ff)
#define TMPRING_WAVES(r)    ((r) & 0xfff)
#define TMPRING_WAVESIZE(r) ((r) >> 12 & 0x1fff)
#define MAX_GROUPS          (UINT64_C(1) << 40) /* ours: no kernel of this project comes near */
#define MAX_USER_SGPRS      16u
#define SIMDS               4u  /* a compute unit */
#define MAX_WAVES_PER_SIMD  10u /* polaris.md 1.4 */

static int bad_dispatch(const char *what, uint64_t value)
{
	return rx_fail(
	        "gcn3", -EINVAL, "dispatch refused: %s (0x%llx)", what, (unsigned long long)value);
}

static int check_groups(const struct gcn3_dispatch *d, struct gcn3_shape *s)
{
	s->ngroups = 1;
	for (int i = 0; i < 3; i++) {
		if (!d->threads[i] || !d->last_threads[i] || d->last_threads[i] > d->threads[i])
			return bad_dispatch(
			        "COMPUTE_NUM_THREAD is 0, or PARTIAL above FULL", d->threads[i]);
		/* DIM counts from 0: with a start, groups start .. DIM - 1 run */
		s->groups[i] = d->groups[i] > d->start[i] ? d->groups[i] - d->start[i] : 0;
		if (s->groups[i] && s->ngroups > MAX_GROUPS / s->groups[i])
			return bad_dispatch("more than 2^40 workgroups", s->groups[i]);
		s->ngroups *= s->groups[i];
	}
	for (int i = 0; i < 3; i++)
		if (d->threads[i] > GCN3_MAX_WAVES * GCN3_LANES)
			return bad_dispatch("COMPUTE_NUM_THREAD above 1024", d->threads[i]);
	if ((uint64_t)d->threads[0] * d->threads[1] * d->threads[2] > GCN3_MAX_WAVES * GCN3_LANES)
		return bad_dispatch("more than 1024 work-items a group",
		        (uint64_t)d->threads[0] * d->threads[1] * d->threads[2]);
	return 0;
}

static int check_scratch(const struct gcn3_dispatch *d, unsigned waves, struct gcn3_shape *s)
{
	s->scratch = RSRC2_SCRATCH_EN(d->rsrc2);
	s->scratch_bytes = TMPRING_WAVESIZE(d->tmpring_size) * 1024; /* units of 256 dwords */
	s->scratch_slots = TMPRING_WAVES(d->tmpring_size);
	if (s->scratch && s->scratch_bytes && s->scratch_slots < waves)
		return bad_dispatch(
		        "SCRATCH_EN, but TMPRING_SIZE.WAVES is below the waves of one group",
		        d->tmpring_size);
	return 0;
}

int gcn3_shape_of(const struct gcn3_dispatch *d, uint64_t vram, struct gcn3_shape *s)
{
	unsigned waves;
	int err = check_groups(d, s);

	if (err)
		return err;
	waves = (d->threads[0] * d->threads[1] * d->threads[2] + GCN3_LANES - 1) / GCN3_LANES;
	s->nvgprs = 4 * (RSRC1_VGPRS(d->rsrc1) + 1);
	s->user_sgprs = RSRC2_USER_SGPR(d->rsrc2);
	s->lds_bytes = 512 * RSRC2_LDS_SIZE(d->rsrc2);
	s->mode = RSRC1_FLOAT_MODE(d->rsrc1) | RSRC1_DX10_CLAMP(d->rsrc1) << 8 |
	          RSRC1_IEEE_MODE(d->rsrc1) << 9;
	if (d->queue >= GCN3_QUEUES)
		return bad_dispatch("no such queue", d->queue);
	if (d->pgm % 256 || d->fb_size > vram || !range_ok(d->pgm - d->fb_base, 256, d->fb_size))
		return bad_dispatch("COMPUTE_PGM outside VRAM or not 256-byte aligned", d->pgm);
	if (s->lds_bytes > GCN3_LDS_MAX)
		return bad_dispatch("LDS_SIZE above 64 KiB", s->lds_bytes);
	if (s->user_sgprs > MAX_USER_SGPRS)
		return bad_dispatch("USER_SGPR above 16", s->user_sgprs);
	if (waves > SIMDS * MIN(MAX_WAVES_PER_SIMD, GCN3_MAX_VGPRS / s->nvgprs))
		return bad_dispatch("the group's VGPRs do not fit into a compute unit", s->nvgprs);
	return check_scratch(d, waves, s);
}

struct gcn3_box *gcn3_box_new(void)
{
	size_t rows = GCN3_MAX_WAVES * GCN3_MAX_VGPRS * sizeof(uint32_t[GCN3_LANES]);
	struct gcn3_box *b = aligned_alloc(64, align_up(sizeof(*b), 64));

	if (!b)
		return NULL;
	memset(b, 0, sizeof(*b));
	b->lds = aligned_alloc(64, GCN3_LDS_MAX + 64);
	b->vgprs = mmap(NULL, rows, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->vgprs == MAP_FAILED)
		b->vgprs = NULL;
	if (!b->lds || !b->vgprs) {
		gcn3_box_free(b);
		return NULL;
	}
	return b;
}

void gcn3_box_free(struct gcn3_box *b)
{
	if (!b)
		return;
	if (b->vgprs)
		munmap(b->vgprs, GCN3_MAX_WAVES * GCN3_MAX_VGPRS * sizeof(uint32_t[GCN3_LANES]));
	free(b->lds);
	free(b);
}

unsigned gcn3_box_size(const struct gcn3_dispatch *d, const uint32_t id[3], uint32_t size[3])
{
	for (int i = 0; i < 3; i++)
		size[i] = id[i] + 1 == d->groups[i] ? d->last_threads[i] : d->threads[i];
	return (size[0] * size[1] * size[2] + GCN3_LANES - 1) / GCN3_LANES;
}

/* A signalling NaN that differs from wave to wave: what is used undefined shows up in results. */
static uint32_t poison(uint32_t seed)
{
	seed = (seed ^ seed >> 16) * 0x7feb352du; /* lowbias32, Wellons */
	seed = (seed ^ seed >> 15) * 0x846ca68bu;
	return 0x7fa00000u | (seed >> 13 & 0xfffff) | 1;
}

static void fill(uint32_t *words, size_t n, uint32_t value)
{
	for (size_t i = 0; i < n; i++)
		words[i] = value;
}

/* polaris.md 9.3: user SGPRs, then the enabled ones of workgroup ids, workgroup info, scratch
 * offset */
static void load_sgprs(struct gcn3_wave *w, const struct gcn3_dispatch *d,
        const struct gcn3_shape *s, unsigned slot)
{
	unsigned n = s->user_sgprs;

	memcpy(w->s, d->user_data, 4 * n);
	for (int i = 0; i < 3; i++)
		if (RSRC2_TGID_EN(d->rsrc2, i))
			w->s[n++] = w->group->id[i];
	if (RSRC2_TG_SIZE_EN(d->rsrc2))
		w->s[n++] = (uint32_t)(w->wave_in_group == 0) << 31 | w->group->nwaves;
	if (s->scratch)
		w->s[n++] = slot * s->scratch_bytes;
	/* undefined on hardware; 0 lets no DS instruction work before the code has set it */
	w->s[GCN3_OPERAND_M0] = 0;
}

/* v0 = x, v1 = y, v2 = z as far as TIDIG_COMP_CNT says; EXEC = lanes that have a work-item */
static void load_lanes(struct gcn3_wave *w, const struct gcn3_dispatch *d, const uint32_t size[3])
{
	uint32_t first = w->wave_in_group * GCN3_LANES, total = size[0] * size[1] * size[2];
	unsigned parts = RSRC2_TIDIG_COMP(d->rsrc2);
	uint64_t exec =
	        total - first >= GCN3_LANES ? ~UINT64_C(0) : (UINT64_C(1) << (total - first)) - 1;

	gcn3_set_sgpr64(w, GCN3_OPERAND_EXEC, exec);
	for (uint32_t l = 0; l < GCN3_LANES && first + l < total; l++) {
		uint32_t item = first + l;

		w->v[0][l] = item % size[0];
		if (parts >= 1)
			w->v[1][l] = item / size[0] % size[1];
		if (parts >= 2)
			w->v[2][l] = item / size[0] / size[1];
	}
}

static void load_group(struct gcn3_box *b, const struct gcn3_dispatch *d,
        const struct gcn3_shape *s, const uint32_t id[3], unsigned nwaves)
{
	struct gcn3_group *g = &b->group;

	memcpy(g->id, id, sizeof(g->id));
	g->lds = b->lds;
	g->lds_bytes = s->lds_bytes;
	g->waves = b->waves;
	g->nwaves = nwaves;
	g->fb_base = d->fb_base;
	g->fb_size = d->fb_size;
	/* polaris.md 6.2: only the top nibble counts; LDS at X0000000'00000000, scratch at
	 * X0000001'00000000 */
	g->shared_aperture_hi = d->sh_mem_bases >> 16 << 16 & 0xe0000000;
	g->private_aperture_hi = (d->sh_mem_bases << 16 & 0xe0000000) | 1;
	g->private_base = (uint64_t)d->hidden_private_base << 16;
}

void gcn3_box_load(struct gcn3_box *b, const struct gcn3_dispatch *d, const struct gcn3_shape *s,
        const uint32_t id[3], uint32_t seed)
{
	uint32_t size[3];
	unsigned nwaves = gcn3_box_size(d, id, size);

	load_group(b, d, s, id, nwaves);
	fill((uint32_t *)(void *)b->lds, s->lds_bytes / 4, poison(seed));
	for (unsigned n = 0; n < nwaves; n++) {
		struct gcn3_wave *w = &b->waves[n];
		struct vmem_client *l1 = w->l1, *kcache = w->kcache;

		memset(w, 0, sizeof(*w));
		w->l1 = l1;
		w->kcache = kcache;
		w->group = &b->group;
		w->wave_in_group = (uint8_t)n;
		w->pc = d->pgm - d->fb_base;
		w->mode = s->mode;
		w->nvgprs = s->nvgprs;
		w->v = b->vgprs + n * s->nvgprs;
		fill(w->s, GCN3_MAX_SGPRS, poison(seed + n + 1));
		fill(w->v[0], s->nvgprs * GCN3_LANES, poison(seed + n + 1));
		load_sgprs(w, d, s, b->slots[n]);
		load_lanes(w, d, size);
	}
}
