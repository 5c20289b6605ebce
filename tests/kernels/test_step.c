/* A whole training step, and twenty, of a very small GPT-2: the kernels in the order of
 * docs/kernels.md 11 against PyTorch in float64 (tests/golden/gen_step.py, which this file
 * mirrors).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/kernels/helper_bench.h"

enum { B = 2, T = 64, C = 32, H = 2, L = 2, V = 83, ROWS = B * T, STEPS = 20, GROUPS = 5 };

/* Offsets in the flat parameter array; matrices first. */
struct layer {
	size_t attn, attn_proj, fc, fc_proj;
	size_t ln1_g, ln1_b, attn_b, attn_proj_b, ln2_g, ln2_b, fc_b, fc_proj_b;
};

struct layout {
	size_t wte, wpe, lnf_g, lnf_b, ndecay, n;
	struct layer layers[L];
};

static size_t take(size_t *at, size_t n)
{
	*at += n;
	return *at - n;
}

static struct layout layout_new(void)
{
	struct layout o;
	size_t at = 0;

	o.wte = take(&at, V * C);
	o.wpe = take(&at, T * C);
	for (struct layer *l = o.layers; l < o.layers + L; l++) {
		l->attn = take(&at, C * 3 * C);
		l->attn_proj = take(&at, C * C);
		l->fc = take(&at, C * 4 * C);
		l->fc_proj = take(&at, 4 * C * C);
	}
	o.ndecay = at;
	for (struct layer *l = o.layers; l < o.layers + L; l++) {
		l->ln1_g = take(&at, C);
		l->ln1_b = take(&at, C);
		l->attn_b = take(&at, 3 * C);
		l->attn_proj_b = take(&at, C);
		l->ln2_g = take(&at, C);
		l->ln2_b = take(&at, C);
		l->fc_b = take(&at, 4 * C);
		l->fc_proj_b = take(&at, C);
	}
	o.lnf_g = take(&at, C);
	o.lnf_b = take(&at, C);
	o.n = at;
	return o;
}

struct model {
	struct bench *b;
	struct layout o;
	struct array *params, *grads, *m, *v, *step, *scalars;
	struct array *x, *ln, *stat, *qkv, *att, *lse, *u,
	        *gelu; /* kept for the backward pass, one block a layer */
	struct array *logits, *loss, *mean, *dr, *dh, *du, *dqkv, *delta, *part, *norm;
};

/* Activations of layer l: x holds 2L + 1 residual streams, ln and stat 2L + 1 norms. */
enum { XN = ROWS * C, STATN = ROWS * 2, LSEN = B * H * T };

static uint32_t mix(uint32_t index)
{
	uint32_t x = index * 2654435761u + 12345u;

	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	x *= 3266489917u;
	return x ^ x >> 16;
}

static void fill_params(struct model *m)
{
	const struct layout *o = &m->o;

	for (size_t i = 0; i < o->n; i++) {
		m->params->f[i] = (float)((int)(mix((uint32_t)i) & 0xffff) - 32768) * 0x1p-18F;
		m->m->f[i] = m->v->f[i] = 0;
	}
	for (size_t c = 0; c < C; c++) {
		for (const struct layer *l = o->layers; l < o->layers + L; l++) {
			m->params->f[l->ln1_g + c] += 1;
			m->params->f[l->ln2_g + c] += 1;
		}
		m->params->f[o->lnf_g + c] += 1;
	}
	bench_upload(m->b, m->params, false);
	bench_upload(m->b, m->m, false);
	bench_upload(m->b, m->v, false);
}

static struct model model_new(void)
{
	static const char *const more[] = {
	        "attention", "layernorm", "embed", "cross_entropy", "reduce", "adamw"};
	struct model m = {.b = bench_new("matmul"), .o = layout_new()};
	uint16_t ids[B * (T + 1)];
	float scalars[3] = {0};

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		bench_load(m.b, more[i]);
	for (uint32_t i = 0; i < B * (T + 1); i++)
		ids[i] = (uint16_t)(mix(1000000 + i) % V);
	m.step = bench_step(m.b, scalars, 3, ids, B * (T + 1), &m.scalars);
	m.params = bench_output(m.b, "params", m.o.n);
	m.grads = bench_output(m.b, "grads", m.o.n);
	m.m = bench_output(m.b, "m", m.o.n);
	m.v = bench_output(m.b, "v", m.o.n);
	m.x = bench_output(m.b, "x", (2 * L + 1) * XN);
	m.ln = bench_output(m.b, "ln", (2 * L + 1) * XN);
	m.stat = bench_output(m.b, "stat", (2 * L + 1) * STATN);
	m.qkv = bench_output(m.b, "qkv", L * 3 * XN);
	m.att = bench_output(m.b, "att", L * XN);
	m.lse = bench_output(m.b, "lse", L * LSEN);
	m.u = bench_output(m.b, "u", L * 4 * XN);
	m.gelu = bench_output(m.b, "gelu", L * 4 * XN);
	m.logits = bench_output(m.b, "logits", ROWS * V);
	m.loss = bench_output(m.b, "loss", ROWS);
	m.mean = bench_output(m.b, "mean", 1);
	m.dr = bench_output(m.b, "dr", XN);
	m.dh = bench_output(m.b, "dh", XN);
	m.du = bench_output(m.b, "du", 4 * XN);
	m.dqkv = bench_output(m.b, "dqkv", 3 * XN);
	m.delta = bench_output(m.b, "delta", LSEN);
	m.part = bench_output(m.b, "part", GROUPS);
	m.norm = bench_output(m.b, "norm", 2);
	fill_params(&m);
	return m;
}

/* Matmul launches: dense leading dimensions, 64 x 64 tiles. */
#define MATMUL(kernel, M, N, ...) RUN(b, kernel, ((N) + 63) / 64, ((M) + 63) / 64, 1, __VA_ARGS__)
#define NN(M, N, K)               U(M), U(N), U(K), U(K), U(N), U(N)
#define NT(M, N, K)               U(M), U(N), U(K), U(K), U(K), U(N)
#define TN(M, N, K)               U(M), U(N), U(K), U(M), U(N), U(N)
#define PARAM(field)              A_AT(m->params, field)
#define GRAD(field)               A_AT(m->grads, field)
#define X(i)                      A_AT(m->x, (i) * XN)
#define LN(i)                     A_AT(m->ln, (i) * XN)
#define STAT(i)                   A_AT(m->stat, (i) * STATN)

static void forward_layer(struct model *m, size_t i)
{
	const struct layer *l = &m->o.layers[i];
	struct bench *b = m->b;

	RUN(b, "layernorm_forward", ROWS / 4, 1, 1, X(2 * i), PARAM(l->ln1_g), PARAM(l->ln1_b),
	        LN(2 * i), STAT(2 * i), U(ROWS), U(C));
	MATMUL("matmul_nn_bias_64x64", ROWS, 3 * C, LN(2 * i), PARAM(l->attn),
	        A_AT(m->qkv, i * 3 * XN), NN(ROWS, 3 * C, C), PARAM(l->attn_b));
	RUN(b, "attention_forward_d16", T / 64, H, B, A_AT(m->qkv, i * 3 * XN),
	        A_AT(m->att, i * XN), A_AT(m->lse, i * LSEN), U(T), U(C));
	MATMUL("matmul_nn_bias_residual_64x64", ROWS, C, A_AT(m->att, i * XN), PARAM(l->attn_proj),
	        X(2 * i + 1), NN(ROWS, C, C), PARAM(l->attn_proj_b), X(2 * i));
	RUN(b, "layernorm_forward", ROWS / 4, 1, 1, X(2 * i + 1), PARAM(l->ln2_g), PARAM(l->ln2_b),
	        LN(2 * i + 1), STAT(2 * i + 1), U(ROWS), U(C));
	MATMUL("matmul_nn_bias_gelu_64x64", ROWS, 4 * C, LN(2 * i + 1), PARAM(l->fc),
	        A_AT(m->gelu, i * 4 * XN), NN(ROWS, 4 * C, C), PARAM(l->fc_b),
	        A_AT(m->u, i * 4 * XN));
	MATMUL("matmul_nn_bias_residual_64x64", ROWS, C, A_AT(m->gelu, i * 4 * XN),
	        PARAM(l->fc_proj), X(2 * i + 2), NN(ROWS, C, 4 * C), PARAM(l->fc_proj_b),
	        X(2 * i + 1));
}

static void forward(struct model *m)
{
	struct bench *b = m->b;

	RUN(b, "embed_forward", ROWS / 4, 1, 1, A(m->step), PARAM(m->o.wte), PARAM(m->o.wpe), X(0),
	        U(ROWS), U(T), U(C), U(V));
	for (size_t i = 0; i < L; i++)
		forward_layer(m, i);
	RUN(b, "layernorm_forward", ROWS / 4, 1, 1, X(2 * L), PARAM(m->o.lnf_g), PARAM(m->o.lnf_b),
	        LN(2 * L), STAT(2 * L), U(ROWS), U(C));
	MATMUL("matmul_nt_64x64", ROWS, V, LN(2 * L), PARAM(m->o.wte), A(m->logits),
	        NT(ROWS, V, C));
	RUN(b, "cross_entropy_train", ROWS, 1, 1, A(m->step), A(m->logits), A(m->loss), U(ROWS),
	        U(T), U(V), F(1.0 / (double)ROWS));
	RUN(b, "loss_mean", 1, 1, 1, A(m->loss), A(m->mean), U(ROWS));
}

static void norm_backward(struct model *m, size_t i, size_t gamma, size_t beta)
{
	RUN(m->b, "layernorm_param_grad", 1, 1, 1, X(i), STAT(i), A(m->dh), GRAD(gamma), GRAD(beta),
	        U(ROWS), U(C));
	if (i == 2 * L)
		RUN(m->b, "layernorm_backward_first", ROWS / 4, 1, 1, X(i), STAT(i), PARAM(gamma),
		        A(m->dh), A(m->dr), U(ROWS), U(C));
	else
		RUN(m->b, "layernorm_backward", ROWS / 4, 1, 1, X(i), STAT(i), PARAM(gamma),
		        A(m->dh), A(m->dr), A(m->dr), U(ROWS), U(C));
}

static void backward_mlp(struct model *m, size_t i)
{
	const struct layer *l = &m->o.layers[i];
	struct bench *b = m->b;

	MATMUL("matmul_nt_dgelu_64x64", ROWS, 4 * C, A(m->dr), PARAM(l->fc_proj), A(m->du),
	        NT(ROWS, 4 * C, C), A_AT(m->u, i * 4 * XN));
	MATMUL("matmul_tn_bias_64x64", 4 * C, C, A_AT(m->gelu, i * 4 * XN), A(m->dr),
	        GRAD(l->fc_proj), TN(4 * C, C, ROWS), GRAD(l->fc_proj_b));
	MATMUL("matmul_nt_64x64", ROWS, C, A(m->du), PARAM(l->fc), A(m->dh), NT(ROWS, C, 4 * C));
	MATMUL("matmul_tn_bias_64x64", C, 4 * C, LN(2 * i + 1), A(m->du), GRAD(l->fc),
	        TN(C, 4 * C, ROWS), GRAD(l->fc_b));
	norm_backward(m, 2 * i + 1, l->ln2_g, l->ln2_b);
}

static void backward_attention(struct model *m, size_t i)
{
	const struct layer *l = &m->o.layers[i];
	const struct arg qkv = A_AT(m->qkv, i * 3 * XN), lse = A_AT(m->lse, i * LSEN),
	                 att = A_AT(m->att, i * XN);
	struct bench *b = m->b;

	MATMUL("matmul_nt_64x64", ROWS, C, A(m->dr), PARAM(l->attn_proj), A(m->dh), NT(ROWS, C, C));
	MATMUL("matmul_tn_bias_64x64", C, C, att, A(m->dr), GRAD(l->attn_proj), TN(C, C, ROWS),
	        GRAD(l->attn_proj_b));
	RUN(b, "attention_delta_d16", T / 64, H, B, att, A(m->dh), A(m->delta), U(T), U(C));
	RUN(b, "attention_dv_d16", T / 64, H, B, qkv, A(m->dh), lse, A(m->dqkv), U(T), U(C));
	RUN(b, "attention_dq_d16", T / 64, H, B, qkv, A(m->dh), lse, A(m->delta), A(m->dqkv), U(T),
	        U(C));
	RUN(b, "attention_dk_d16", T / 64, H, B, qkv, A(m->dh), lse, A(m->delta), A(m->dqkv), U(T),
	        U(C));
	MATMUL("matmul_nt_64x64", ROWS, C, A(m->dqkv), PARAM(l->attn), A(m->dh),
	        NT(ROWS, C, 3 * C));
	MATMUL("matmul_tn_bias_64x64", C, 3 * C, LN(2 * i), A(m->dqkv), GRAD(l->attn),
	        TN(C, 3 * C, ROWS), GRAD(l->attn_b));
	norm_backward(m, 2 * i, l->ln1_g, l->ln1_b);
}

static void backward(struct model *m)
{
	struct bench *b = m->b;

	MATMUL("matmul_nn_64x64", ROWS, C, A(m->logits), PARAM(m->o.wte), A(m->dh), NN(ROWS, C, V));
	MATMUL("matmul_tn_64x64", V, C, A(m->logits), LN(2 * L), GRAD(m->o.wte), TN(V, C, ROWS));
	norm_backward(m, 2 * L, m->o.lnf_g, m->o.lnf_b);
	for (size_t i = L; i-- > 0;) {
		backward_mlp(m, i);
		backward_attention(m, i);
	}
	RUN(b, "embed_backward_wpe", 1, T, 1, A(m->dr), GRAD(m->o.wpe), U(ROWS), U(T), U(C));
	RUN(b, "embed_backward_wte", 1, ROWS, 1, A(m->step), A(m->dr), GRAD(m->o.wte), U(ROWS),
	        U(T), U(C), U(V));
}

static void update(struct model *m, unsigned t)
{
	const struct arg step = A(m->step);
	struct bench *b = m->b;

	m->scalars->f[0] = 3e-3F;
	m->scalars->f[1] = (float)(1 / (1 - pow(0.9, t)));
	m->scalars->f[2] = (float)(1 / (1 - pow(0.95, t)));
	bench_upload(b, m->scalars, true);
	RUN(b, "grad_sumsq", GROUPS, 1, 1, A(m->grads), A(m->part), U(m->o.n), U(GROUPS));
	RUN(b, "grad_norm", 1, 1, 1, A(m->part), A(m->norm), U(GROUPS), F(0.5));
	RUN(b, "adamw", GROUPS, 1, 1, step, A(m->params), A(m->grads), A(m->m), A(m->v), A(m->norm),
	        U(m->o.n), U(m->o.ndecay), U(GROUPS), F(0.9), F(0.95), F(1e-8), F(0.1));
}

struct golden {
	double losses[STEPS], norms[STEPS];
	float *grads;
};

static struct golden golden_read(size_t n)
{
	struct golden g = {.grads = malloc(n * sizeof(float))};
	FILE *f = fopen(RX_SOURCE_DIR "/tests/golden/step.golden", "rb");

	assert_non_null(f);
	assert_non_null(g.grads);
	assert_int_equal(fread(g.losses, sizeof(double), STEPS, f), STEPS);
	assert_int_equal(fread(g.norms, sizeof(double), STEPS, f), STEPS);
	assert_int_equal(fread(g.grads, sizeof(float), n, f), n);
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
	return g;
}

/* |a - b| <= 1e-4 |b| + 1e-5 max|b| over one tensor */
static void expect_gradient(
        const char *name, const struct model *m, const struct golden *g, size_t at, size_t n)
{
	double top = 0;

	for (size_t i = at; i < at + n; i++)
		top = fmax(top, fabs((double)g->grads[i]));
	for (size_t i = at; i < at + n; i++) {
		const double got = (double)m->grads->f[i], want = (double)g->grads[i];
		if (!(fabs(got - want) <= 1e-4 * fabs(want) + 1e-5 * top))
			fail_msg("gradient %s[%zu]: expected %.9g, got %.9g (largest %.3g)", name,
			        i - at, want, got, top);
	}
}

static void expect_layer(const struct model *m, const struct golden *g, const struct layer *l)
{
	expect_gradient("attn", m, g, l->attn, C * 3 * C);
	expect_gradient("attn_proj", m, g, l->attn_proj, C * C);
	expect_gradient("fc", m, g, l->fc, C * 4 * C);
	expect_gradient("fc_proj", m, g, l->fc_proj, 4 * C * C);
	expect_gradient("ln1_g", m, g, l->ln1_g, C);
	expect_gradient("ln1_b", m, g, l->ln1_b, C);
	expect_gradient("attn_b", m, g, l->attn_b, 3 * C);
	expect_gradient("attn_proj_b", m, g, l->attn_proj_b, C);
	expect_gradient("ln2_g", m, g, l->ln2_g, C);
	expect_gradient("ln2_b", m, g, l->ln2_b, C);
	expect_gradient("fc_b", m, g, l->fc_b, 4 * C);
	expect_gradient("fc_proj_b", m, g, l->fc_proj_b, C);
}

static void loss_and_all_gradients_equal_pytorch(void **state)
{
	struct model m = model_new();
	struct golden g = golden_read(m.o.n);

	(void)state;
	forward(&m);
	backward(&m);
	bench_read(m.b, m.mean);
	bench_read(m.b, m.grads);
	if (!(fabs((double)m.mean->f[0] - g.losses[0]) <= 1e-5))
		fail_msg("loss: expected %.9g, got %.9g", g.losses[0], (double)m.mean->f[0]);
	expect_gradient("wte", &m, &g, m.o.wte, V * C);
	expect_gradient("wpe", &m, &g, m.o.wpe, T * C);
	for (size_t i = 0; i < L; i++)
		expect_layer(&m, &g, &m.o.layers[i]);
	expect_gradient("lnf_g", &m, &g, m.o.lnf_g, C);
	expect_gradient("lnf_b", &m, &g, m.o.lnf_b, C);
	free(g.grads);
	bench_free(m.b);
}

static void twenty_steps_follow_the_loss_curve_of_pytorch(void **state)
{
	struct model m = model_new();
	struct golden g = golden_read(m.o.n);

	(void)state;
	for (unsigned t = 0; t < STEPS; t++) {
		forward(&m);
		backward(&m);
		update(&m, t + 1);
		bench_read(m.b, m.mean);
		bench_read(m.b, m.norm);
		if (!(fabs((double)m.mean->f[0] - g.losses[t]) <= 1e-4 * g.losses[t]))
			fail_msg("loss of step %u: expected %.9g, got %.9g", t + 1, g.losses[t],
			        (double)m.mean->f[0]);
		if (!(fabs((double)m.norm->f[0] - g.norms[t]) <= 1e-3 * g.norms[t]))
			fail_msg("gradient norm of step %u: expected %.9g, got %.9g", t + 1,
			        g.norms[t], (double)m.norm->f[0]);
	}
	free(g.grads);
	bench_free(m.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(loss_and_all_gradients_equal_pytorch),
	        cmocka_unit_test(twenty_steps_follow_the_loss_curve_of_pytorch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
