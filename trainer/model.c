/* model.c - see model.h. */
#include "trainer/model.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS 288 /* 8 workgroups for each of 36 CUs: kernels.md 5 */

static const struct model_config presets[] = {
        {"tiny", 4, 64, 64, 2, 2, 512},
        {"reference", 1, 1152, 320, 10, 6, 12096}, /* reference-run.md, "Model and run" */
};

int model_preset(struct model_config *c, const char *name)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (!strcmp(presets[i].preset, name)) {
			*c = presets[i];
			return 0;
		}
	return -EINVAL;
}

static int bad(char *why, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int bad(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int model_check(const struct model_config *c, char *why, size_t why_size)
{
	if (c->L < 1 || c->L > 64)
		return bad(why, why_size, "layers: 1 to 64, not %u", c->L);
	if (c->C < 16 || c->C > 4096 || c->C % 16)
		return bad(why, why_size, "channels: a multiple of 16 up to 4096, not %u", c->C);
	if (c->H < 1 || c->C % c->H ||
	        (c->C / c->H != 16 && c->C / c->H != 32 && c->C / c->H != 64))
		return bad(why, why_size,
		        "heads: channels / heads must be 16, 32 or 64, not %u / %u", c->C, c->H);
	if (c->T < 64 || c->T % 64 || c->T > 8192)
		return bad(why, why_size, "context: a multiple of 64 up to 8192, not %u", c->T);
	if (c->V < 257 || c->V > 65535)
		return bad(why, why_size, "vocabulary: 257 to 65535, not %u", c->V);
	if (c->B < 1 || (uint64_t)c->B * (c->T + 1) > 65536)
		return bad(why, why_size, "batch: at least 1, batch x (context + 1) at most 65536");
	if ((uint64_t)c->B * c->T * c->V > (1u << 29) - 1)
		return bad(why, why_size,
		        "batch x context x vocabulary: the logits would exceed 2 GiB");
	return 0;
}

static struct param *add(struct model *m, enum param_init init, unsigned rows, unsigned cols,
        const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* @cols 0: a vector of @rows. */
static struct param *add(
        struct model *m, enum param_init init, unsigned rows, unsigned cols, const char *fmt, ...)
{
	struct param *p = &m->params[m->nparams++];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->name, sizeof(p->name), fmt, ap);
	va_end(ap);
	p->init = init;
	p->shape[0] = rows;
	p->shape[1] = cols;
	p->ndims = cols ? 2 : 1;
	p->count = (uint64_t)rows * (cols ? cols : 1);
	p->offset = m->nfloats;
	m->nfloats += p->count;
	return p;
}

static void add_matrices(struct model *m)
{
	const struct model_config *c = &m->c;

	m->wte = add(m, INIT_NORMAL, c->V, c->C, "wte.weight");
	m->wpe = add(m, INIT_NORMAL, c->T, c->C, "wpe.weight");
	for (unsigned l = 0; l < c->L; l++) {
		m->layer[l][P_ATTN_W] =
		        add(m, INIT_NORMAL, c->C, 3 * c->C, "h.%u.attn.c_attn.weight", l);
		m->layer[l][P_APROJ_W] =
		        add(m, INIT_RESIDUAL, c->C, c->C, "h.%u.attn.c_proj.weight", l);
		m->layer[l][P_FC_W] =
		        add(m, INIT_NORMAL, c->C, 4 * c->C, "h.%u.mlp.c_fc.weight", l);
		m->layer[l][P_MPROJ_W] =
		        add(m, INIT_RESIDUAL, 4 * c->C, c->C, "h.%u.mlp.c_proj.weight", l);
	}
	m->ndecay = m->nfloats;
}

static void add_vectors(struct model *m)
{
	unsigned C = m->c.C;

	for (unsigned l = 0; l < m->c.L; l++) {
		m->layer[l][P_LN1_W] = add(m, INIT_ONE, C, 0, "h.%u.ln_1.weight", l);
		m->layer[l][P_LN1_B] = add(m, INIT_ZERO, C, 0, "h.%u.ln_1.bias", l);
		m->layer[l][P_ATTN_B] = add(m, INIT_ZERO, 3 * C, 0, "h.%u.attn.c_attn.bias", l);
		m->layer[l][P_APROJ_B] = add(m, INIT_ZERO, C, 0, "h.%u.attn.c_proj.bias", l);
		m->layer[l][P_LN2_W] = add(m, INIT_ONE, C, 0, "h.%u.ln_2.weight", l);
		m->layer[l][P_LN2_B] = add(m, INIT_ZERO, C, 0, "h.%u.ln_2.bias", l);
		m->layer[l][P_FC_B] = add(m, INIT_ZERO, 4 * C, 0, "h.%u.mlp.c_fc.bias", l);
		m->layer[l][P_MPROJ_B] = add(m, INIT_ZERO, C, 0, "h.%u.mlp.c_proj.bias", l);
	}
	m->lnf_w = add(m, INIT_ONE, C, 0, "ln_f.weight");
	m->lnf_b = add(m, INIT_ZERO, C, 0, "ln_f.bias");
}

/* Floats on a 256-byte line of their own, so that rows start aligned for the kernels' 16-byte
 * loads. */
static uint64_t take(uint64_t *total, uint64_t floats)
{
	uint64_t at = *total;

	*total += (floats + 63) & ~63ull;
	return at;
}

static void place_acts(struct model *m)
{
	const struct model_config *c = &m->c;
	uint64_t R = m->R, C = c->C, *n = &m->nacts;

	for (unsigned l = 0; l < c->L; l++) {
		struct layer_acts *a = &m->acts[l];
		a->in = take(n, R * C);
		a->ln1 = take(n, R * C);
		a->stat1 = take(n, R * 2);
		a->qkv = take(n, R * 3 * C);
		a->att = take(n, R * C);
		a->lse = take(n, R * c->H);
		a->mid = take(n, R * C);
		a->ln2 = take(n, R * C);
		a->stat2 = take(n, R * 2);
		a->u = take(n, R * 4 * C);
		a->gelu = take(n, R * 4 * C);
	}
	m->out = take(n, R * C);
	m->lnf = take(n, R * C);
	m->statf = take(n, R * 2);
	m->logits = take(n, R * c->V);
	m->row_loss = take(n, R);
	m->dr = take(n, R * C);
	m->dh = take(n, R * C);
	m->dout = take(n, R * C);
	m->dqkv = take(n, R * 3 * C);
	m->du = take(n, R * 4 * C);
	m->delta = take(n, R * c->H);
	m->row = take(n, C);
}

static void place_small(struct model *m)
{
	uint64_t groups = (m->nfloats + 1023) / 1024;

	m->groups = (unsigned)(groups < MAX_GROUPS ? groups : MAX_GROUPS);
	m->loss = take(&m->nsmall, 1);
	m->norm = take(&m->nsmall, 2);
	m->parts = take(&m->nsmall, m->groups);
}

int model_new(struct model **out, const struct model_config *c)
{
	char why[128];

	if (model_check(c, why, sizeof(why)))
		return -EINVAL;
	struct model *m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->c = *c;
	m->R = (uint64_t)c->B * c->T;
	m->params = calloc(4 + (size_t)P_PER_LAYER * c->L, sizeof(*m->params));
	m->layer = calloc(c->L, sizeof(*m->layer));
	m->acts = calloc(c->L, sizeof(*m->acts));
	if (!m->params || !m->layer || !m->acts) {
		model_free(m);
		return -ENOMEM;
	}
	add_matrices(m);
	add_vectors(m);
	place_acts(m);
	place_small(m);
	*out = m;
	return 0;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	free(m->params);
	free(m->layer);
	free(m->acts);
	free(m);
}

uint64_t model_parameters(const struct model_config *c)
{
	struct model *m;

	if (model_new(&m, c))
		return 0;
	uint64_t n = m->nfloats;
	model_free(m);
	return n;
}
