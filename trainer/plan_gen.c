/* plan_gen.c - see plan_gen.h. Order and barriers: docs/kernels.md 11. */
#include "trainer/plan_gen.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gen {
	const struct model *m;
	const char *prefix;
	json_t *steps;
};

/* A place in one of the model's buffers, @floats from its start. New reference. */
static json_t *at(const struct gen *g, const char *buffer, uint64_t floats)
{
	return json_sprintf("%s.%s+%llu", g->prefix, buffer, (unsigned long long)floats * 4);
}

static json_t *act(const struct gen *g, uint64_t floats)
{
	return at(g, "acts", floats);
}

static json_t *param(const struct gen *g, const struct param *p)
{
	return at(g, "params", p->offset);
}

static json_t *grad(const struct gen *g, const struct param *p)
{
	return at(g, "grads", p->offset);
}

static json_t *num(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static void barrier(struct gen *g)
{
	json_array_append_new(g->steps, json_string("barrier"));
}

static json_t *dispatch(
        const char *kernel, uint64_t x, uint64_t y, uint64_t z, unsigned group, json_t *args)
{
	return json_pack("{s:s,s:[I,I,I],s:[i],s:o}", "kernel", kernel, "groups", (json_int_t)x,
	        (json_int_t)y, (json_int_t)z, "group", (int)group, "args", args);
}

static void run(struct gen *g, const char *kernel, uint64_t x, uint64_t y, uint64_t z,
        unsigned group, json_t *args)
{
	json_array_append_new(g->steps, dispatch(kernel, x, y, z, group, args));
}

static uint64_t blocks(uint64_t n, uint64_t per)
{
	return (n + per - 1) / per;
}

struct matmul {
	const char *form;  /* "nn_bias", "nt", ... docs/kernels.md 2 */
	json_t *a, *b, *c; /* stolen */
	uint64_t M, N, K, lda, ldb, ldc;
	json_t *extra; /* stolen: further arguments, or NULL */
};

static void matmul(struct gen *g, struct matmul mm)
{
	bool wide = mm.N >= 320,
	     tn = !strncmp(mm.form, "tn", 2); /* docs/kernels.md 2, the rule under the tile table */
	unsigned rows = wide ? (tn ? 80 : 128) : 64, cols = wide ? 80 : 64;
	char kernel[64];
	json_t *args = json_pack("{s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I}", "a", mm.a, "b", mm.b, "c",
	        mm.c, "m", (json_int_t)mm.M, "n", (json_int_t)mm.N, "k", (json_int_t)mm.K, "lda",
	        (json_int_t)mm.lda, "ldb", (json_int_t)mm.ldb, "ldc", (json_int_t)mm.ldc);

	if (mm.extra) {
		json_object_update(args, mm.extra);
		json_decref(mm.extra);
	}
	snprintf(kernel, sizeof(kernel), "matmul:matmul_%s_%ux%u", mm.form, rows, cols);
	run(g, kernel, blocks(mm.N, cols), blocks(mm.M, rows), 1, 256, args);
}

static void layernorm(struct gen *g, uint64_t x, const struct param *w, const struct param *b,
        uint64_t y, uint64_t stat)
{
	run(g, "layernorm:layernorm_forward", blocks(g->m->R, 4), 1, 1, 256,
	        json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "x", act(g, x), "gamma", param(g, w),
	                "beta", param(g, b), "y", act(g, y), "stat", act(g, stat), "rows",
	                num(g->m->R), "c", num(g->m->c.C)));
	barrier(g);
}

static void attention(struct gen *g, const char *part, unsigned group, json_t *args)
{
	const struct model_config *c = &g->m->c;
	char kernel[64];

	snprintf(kernel, sizeof(kernel), "attention:attention_%s_d%u", part, c->C / c->H);
	json_object_set_new(args, "t", num(c->T));
	json_object_set_new(args, "c", num(c->C));
	run(g, kernel, c->T / 64, c->H, c->B, group, args);
}

static void forward_layer(struct gen *g, unsigned l)
{
	const struct model *m = g->m;
	const struct layer_acts *a = &m->acts[l];
	struct param *const *p = m->layer[l];
	uint64_t R = m->R, C = m->c.C, next = l + 1 < m->c.L ? m->acts[l + 1].in : m->out;

	layernorm(g, a->in, p[P_LN1_W], p[P_LN1_B], a->ln1, a->stat1);
	matmul(g, (struct matmul){"nn_bias", act(g, a->ln1), param(g, p[P_ATTN_W]), act(g, a->qkv),
	                  R, 3 * C, C, C, 3 * C, 3 * C,
	                  json_pack("{s:o}", "bias", param(g, p[P_ATTN_B]))});
	barrier(g);
	attention(g, "forward", 256,
	        json_pack("{s:o,s:o,s:o}", "qkv", act(g, a->qkv), "out", act(g, a->att), "lse",
	                act(g, a->lse)));
	barrier(g);
	matmul(g, (struct matmul){"nn_bias_residual", act(g, a->att), param(g, p[P_APROJ_W]),
	                  act(g, a->mid), R, C, C, C, C, C,
	                  json_pack("{s:o,s:o}", "bias", param(g, p[P_APROJ_B]), "residual",
	                          act(g, a->in))});
	barrier(g);
	layernorm(g, a->mid, p[P_LN2_W], p[P_LN2_B], a->ln2, a->stat2);
	matmul(g, (struct matmul){"nn_bias_gelu", act(g, a->ln2), param(g, p[P_FC_W]),
	                  act(g, a->gelu), R, 4 * C, C, C, 4 * C, 4 * C,
	                  json_pack("{s:o,s:o}", "bias", param(g, p[P_FC_B]), "u", act(g, a->u))});
	barrier(g);
	matmul(g, (struct matmul){"nn_bias_residual", act(g, a->gelu), param(g, p[P_MPROJ_W]),
	                  act(g, next), R, C, 4 * C, 4 * C, C, C,
	                  json_pack("{s:o,s:o}", "bias", param(g, p[P_MPROJ_B]), "residual",
	                          act(g, a->mid))});
	barrier(g);
}

/* Embedding to the final layer norm. */
static void forward(struct gen *g)
{
	const struct model *m = g->m;

	run(g, "embed:embed_forward", blocks(m->R, 4), 1, 1, 256,
	        json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "step", "@step", "wte",
	                param(g, m->wte), "wpe", param(g, m->wpe), "x", act(g, m->acts[0].in),
	                "rows", num(m->R), "t", num(m->c.T), "c", num(m->c.C), "v", num(m->c.V)));
	barrier(g);
	for (unsigned l = 0; l < m->c.L; l++)
		forward_layer(g, l);
	layernorm(g, m->out, m->lnf_w, m->lnf_b, m->lnf, m->statf);
}

static void logits(struct gen *g)
{
	const struct model *m = g->m;

	matmul(g, (struct matmul){"nt", act(g, m->lnf), param(g, m->wte), act(g, m->logits), m->R,
	                  m->c.V, m->c.C, m->c.C, m->c.C, m->c.V, NULL});
	barrier(g);
}

static void loss(struct gen *g, bool train)
{
	const struct model *m = g->m;
	json_t *args = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "step", "@step", "logits",
	        act(g, m->logits), "loss", act(g, m->row_loss), "rows", num(m->R), "t", num(m->c.T),
	        "v", num(m->c.V));

	if (train)
		json_object_set_new(args, "scale", json_real(1.0 / (double)m->R));
	run(g, train ? "cross_entropy:cross_entropy_train" : "cross_entropy:cross_entropy_loss",
	        m->R, 1, 1, 256, args);
	barrier(g);
	run(g, "reduce:loss_mean", 1, 1, 1, 256,
	        json_pack("{s:o,s:o,s:o}", "loss", act(g, m->row_loss), "out",
	                at(g, "small", m->loss), "n", num(m->R)));
}

/* dW and db of y = x w + b, from x and dy; w is [in][out]. */
static void weight_grad(
        struct gen *g, uint64_t x, uint64_t dy, const struct param *w, const struct param *b)
{
	uint64_t in = w->shape[0], out = w->shape[1];

	matmul(g, (struct matmul){"tn_bias", act(g, x), act(g, dy), grad(g, w), in, out, g->m->R,
	                  in, out, out, json_pack("{s:o}", "dbias", grad(g, b))});
}

static void layernorm_grads(struct gen *g, uint64_t x, uint64_t stat, uint64_t dy,
        const struct param *w, const struct param *b)
{
	run(g, "layernorm:layernorm_param_grad", blocks(g->m->c.C, 64), 1, 1, 1024,
	        json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "x", act(g, x), "stat", act(g, stat),
	                "dy", act(g, dy), "dgamma", grad(g, w), "dbeta", grad(g, b), "rows",
	                num(g->m->R), "c", num(g->m->c.C)));
}

/* dr += gradient through the layer norm whose input was @x; with @first dr is set. */
static void layernorm_backward(
        struct gen *g, uint64_t x, uint64_t stat, uint64_t dy, const struct param *w, bool first)
{
	json_t *args = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "x", act(g, x), "stat",
	        act(g, stat), "gamma", param(g, w), "dy", act(g, dy), "dx", act(g, g->m->dr),
	        "rows", num(g->m->R), "c", num(g->m->c.C));

	if (!first)
		json_object_set_new(args, "residual", act(g, g->m->dr));
	run(g, first ? "layernorm:layernorm_backward_first" : "layernorm:layernorm_backward",
	        blocks(g->m->R, 4), 1, 1, 256, args);
}

static void backward_mlp(struct gen *g, unsigned l)
{
	const struct model *m = g->m;
	const struct layer_acts *a = &m->acts[l];
	struct param *const *p = m->layer[l];
	uint64_t R = m->R, C = m->c.C;

	matmul(g, (struct matmul){"nt_dgelu", act(g, m->dr), param(g, p[P_MPROJ_W]), act(g, m->du),
	                  R, 4 * C, C, C, C, 4 * C, json_pack("{s:o}", "u", act(g, a->u))});
	weight_grad(g, a->gelu, m->dr, p[P_MPROJ_W], p[P_MPROJ_B]);
	barrier(g);
	matmul(g, (struct matmul){"nt", act(g, m->du), param(g, p[P_FC_W]), act(g, m->dh), R, C,
	                  4 * C, 4 * C, 4 * C, C, NULL});
	weight_grad(g, a->ln2, m->du, p[P_FC_W], p[P_FC_B]);
	barrier(g);
	layernorm_grads(g, a->mid, a->stat2, m->dh, p[P_LN2_W], p[P_LN2_B]);
	layernorm_backward(g, a->mid, a->stat2, m->dh, p[P_LN2_W], false);
	barrier(g);
}

static void backward_attention(struct gen *g, unsigned l)
{
	const struct model *m = g->m;
	const struct layer_acts *a = &m->acts[l];
	struct param *const *p = m->layer[l];
	uint64_t R = m->R, C = m->c.C;

	matmul(g, (struct matmul){"nt", act(g, m->dr), param(g, p[P_APROJ_W]), act(g, m->dout), R,
	                  C, C, C, C, C, NULL});
	weight_grad(g, a->att, m->dr, p[P_APROJ_W], p[P_APROJ_B]);
	barrier(g);
	attention(g, "delta", 64,
	        json_pack("{s:o,s:o,s:o}", "out", act(g, a->att), "dout", act(g, m->dout), "delta",
	                act(g, m->delta)));
	attention(g, "dv", 256,
	        json_pack("{s:o,s:o,s:o,s:o}", "qkv", act(g, a->qkv), "dout", act(g, m->dout),
	                "lse", act(g, a->lse), "dqkv", act(g, m->dqkv)));
	barrier(g);
	for (int k = 0; k < 2; k++)
		attention(g, k ? "dk" : "dq", 256,
		        json_pack("{s:o,s:o,s:o,s:o,s:o}", "qkv", act(g, a->qkv), "dout",
		                act(g, m->dout), "lse", act(g, a->lse), "delta", act(g, m->delta),
		                "dqkv", act(g, m->dqkv)));
	barrier(g);
	matmul(g, (struct matmul){"nt", act(g, m->dqkv), param(g, p[P_ATTN_W]), act(g, m->dh), R, C,
	                  3 * C, 3 * C, 3 * C, C, NULL});
	weight_grad(g, a->ln1, m->dqkv, p[P_ATTN_W], p[P_ATTN_B]);
	barrier(g);
	layernorm_grads(g, a->in, a->stat1, m->dh, p[P_LN1_W], p[P_LN1_B]);
	layernorm_backward(g, a->in, a->stat1, m->dh, p[P_LN1_W], false);
	barrier(g);
}

static void backward_embedding(struct gen *g)
{
	const struct model *m = g->m;
	uint64_t C = m->c.C;

	run(g, "embed:embed_backward_wpe", blocks(C, 64), m->c.T, 1, 64,
	        json_pack("{s:o,s:o,s:o,s:o,s:o}", "dx", act(g, m->dr), "dwpe", grad(g, m->wpe),
	                "rows", num(m->R), "t", num(m->c.T), "c", num(C)));
	run(g, "embed:embed_backward_wte", blocks(C, 64), m->R, 1, 64,
	        json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "step", "@step", "dx", act(g, m->dr),
	                "dwte", grad(g, m->wte), "rows", num(m->R), "t", num(m->c.T), "c", num(C),
	                "v", num(m->c.V)));
	barrier(g);
}

static void backward(struct gen *g)
{
	const struct model *m = g->m;
	uint64_t R = m->R, C = m->c.C, V = m->c.V;

	matmul(g, (struct matmul){"nn", act(g, m->logits), param(g, m->wte), act(g, m->dh), R, C, V,
	                  V, C, C, NULL});
	matmul(g, (struct matmul){"tn", act(g, m->logits), act(g, m->lnf), grad(g, m->wte), V, C, R,
	                  V, C, C, NULL});
	barrier(g);
	layernorm_grads(g, m->out, m->statf, m->dh, m->lnf_w, m->lnf_b);
	layernorm_backward(g, m->out, m->statf, m->dh, m->lnf_w, true);
	barrier(g);
	for (unsigned l = m->c.L; l-- > 0;) {
		backward_mlp(g, l);
		backward_attention(g, l);
	}
	backward_embedding(g);
}

static void gradient_norm(struct gen *g, double clip)
{
	const struct model *m = g->m;

	run(g, "reduce:grad_sumsq", m->groups, 1, 1, 256,
	        json_pack("{s:o,s:o,s:o,s:o}", "grad", at(g, "grads", 0), "part",
	                at(g, "small", m->parts), "n", num(m->nfloats), "groups", num(m->groups)));
	barrier(g);
	run(g, "reduce:grad_norm", 1, 1, 1, 256,
	        json_pack("{s:o,s:o,s:o,s:f}", "part", at(g, "small", m->parts), "norm",
	                at(g, "small", m->norm), "groups", num(m->groups), "clip", clip));
}

static json_t *adamw(const struct gen *g, const struct train_settings *s)
{
	const struct model *m = g->m;

	return dispatch("adamw:adamw", m->groups, 1, 1, 256,
	        json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:f,s:f,s:f}", "step", "@step",
	                "param", at(g, "params", 0), "grad", at(g, "grads", 0), "m", at(g, "m", 0),
	                "v", at(g, "v", 0), "norm", at(g, "small", m->norm), "n", num(m->nfloats),
	                "ndecay", num(m->ndecay), "groups", num(m->groups), "beta1", s->beta1,
	                "beta2", s->beta2, "eps", s->eps, "decay", s->decay));
}

static void state_tensors(
        const struct gen *g, json_t *list, const char *name_prefix, const char *buffer)
{
	for (unsigned i = 0; i < g->m->nparams; i++) {
		const struct param *p = &g->m->params[i];
		json_t *shape = p->ndims == 2
		                        ? json_pack("[i,i]", (int)p->shape[0], (int)p->shape[1])
		                        : json_pack("[i]", (int)p->shape[0]);
		json_array_append_new(
		        list, json_pack("{s:o,s:o,s:s,s:o}", "name",
		                      json_sprintf("%s%s", name_prefix, p->name), "at",
		                      at(g, buffer, p->offset), "dtype", "F32", "shape", shape));
	}
}

static char *finish(json_t *root)
{
	char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));

	json_decref(root);
	return text;
}

static json_t *plan_root(
        const char *what, const struct model *m, unsigned deadline_s, json_t *steps)
{
	json_t *root = json_pack("{s:s,s:o,s:o}", "format", "rx580-plan-1", "description",
	        json_sprintf("%s, %s model: B %u T %u C %u H %u L %u V %u", what, m->c.preset,
	                m->c.B, m->c.T, m->c.C, m->c.H, m->c.L, m->c.V),
	        "steps", steps);

	if (deadline_s)
		json_object_set_new(root, "deadline_s", json_integer(deadline_s));
	return root;
}

char *plan_train(const struct model *m, const char *prefix, const struct train_settings *s)
{
	struct gen g = {m, prefix, json_array()};
	json_t *state = json_array();

	forward(&g);
	logits(&g);
	loss(&g, true);
	backward(&g);
	gradient_norm(&g, s->clip);
	state_tensors(&g, state, "", "params");
	state_tensors(&g, state, "optimizer.m.", "m");
	state_tensors(&g, state, "optimizer.v.", "v");
	json_t *root = plan_root("one update", m, s->deadline_s, g.steps);
	json_object_set_new(root, "input",
	        json_pack("{s:i,s:i}", "scalars", TRAIN_SCALARS, "ids",
	                (int)(m->c.B * (m->c.T + 1))));
	json_object_set_new(root, "check",
	        json_pack("{s:o,s:o}", "loss", at(&g, "small", m->loss), "grad_norm",
	                at(&g, "small", m->norm)));
	json_object_set_new(root, "update", json_pack("[o]", adamw(&g, s)));
	json_object_set_new(root, "state", state);
	return finish(root);
}

char *plan_eval(const struct model *m, const char *prefix, unsigned deadline_s)
{
	struct gen g = {m, prefix, json_array()};
	json_t *state = json_array();

	forward(&g);
	logits(&g);
	loss(&g, false);
	state_tensors(&g, state, "", "params");
	json_t *root = plan_root("loss of a batch", m, deadline_s, g.steps);
	json_object_set_new(root, "input", json_pack("{s:i}", "ids", (int)(m->c.B * (m->c.T + 1))));
	json_object_set_new(root, "check", json_pack("{s:o}", "loss", at(&g, "small", m->loss)));
	json_object_set_new(root, "state", state);
	return finish(root);
}

char *plan_sample(const struct model *m, const char *prefix, unsigned deadline_s)
{
	struct gen g = {m, prefix, json_array()};
	json_t *state = json_array();

	forward(&g);
	run(&g, "embed:take_row", blocks(m->c.C, 64), 1, 1, 64,
	        json_pack("{s:s,s:o,s:o,s:o,s:o}", "step", "@step", "x", act(&g, m->lnf), "y",
	                act(&g, m->row), "rows", num(m->R), "c", num(m->c.C)));
	barrier(&g);
	matmul(&g, (struct matmul){"nt", act(&g, m->row), param(&g, m->wte), act(&g, m->logits), 1,
	                   m->c.V, m->c.C, m->c.C, m->c.C, m->c.V, NULL});
	state_tensors(&g, state, "", "params");
	json_t *root = plan_root("logits of one position", m, deadline_s, g.steps);
	json_object_set_new(root, "input",
	        json_pack("{s:i,s:i}", "scalars", 1, "ids", (int)(m->c.B * (m->c.T + 1))));
	json_object_set_new(root, "state", state);
	return finish(root);
}

static void fill(struct gen *g, json_t *x, uint64_t n, double value)
{
	uint64_t groups = blocks(n, 1024) < g->m->groups ? blocks(n, 1024) : g->m->groups;

	run(g, "init:init_constant", groups, 1, 1, 256,
	        json_pack("{s:o,s:o,s:f,s:o}", "x", x, "n", num(n), "value", value, "groups",
	                num(groups)));
}

static void init_param(struct gen *g, unsigned index, uint64_t seed)
{
	const struct param *p = &g->m->params[index];
	uint64_t groups =
	        blocks(p->count, 1024) < g->m->groups ? blocks(p->count, 1024) : g->m->groups;
	double std = 0.02; /* GPT-2 */

	if (p->init == INIT_ONE || p->init == INIT_ZERO) {
		fill(g, param(g, p), p->count, p->init == INIT_ONE);
		return;
	}
	if (p->init == INIT_RESIDUAL)
		std /= sqrt(2.0 * g->m->c.L); /* GPT-2: residual projections scaled by 1/sqrt(number
		                                 of residual layers) */
	run(g, "init:init_normal", groups, 1, 1, 256,
	        json_pack("{s:o,s:o,s:f,s:o,s:o,s:o,s:o}", "x", param(g, p), "n", num(p->count),
	                "std", std, "seed_lo", num(seed & 0xffffffffu), "seed_hi", num(seed >> 32),
	                "stream", num(index), "groups", num(groups)));
}

char *plan_init(const struct model *m, const char *prefix, uint64_t seed)
{
	struct gen g = {m, prefix, json_array()};

	for (unsigned i = 0; i < m->nparams; i++)
		init_param(&g, i, seed);
	fill(&g, at(&g, "m", 0), m->nfloats, 0);
	fill(&g, at(&g, "v", 0), m->nfloats, 0);
	return finish(plan_root("initial weights from a seed", m, 0, g.steps));
}
