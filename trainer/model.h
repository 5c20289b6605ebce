/* model.h - the GPT-2-shaped model: sizes, parameters, and where everything lies in the buffers of
 * the mount. Pure. Letters: B micro-batch, T context, C channels, H heads, L layers, V vocabulary,
 * R = B*T rows. All numbers float32.
 */
#ifndef TRAINER_MODEL_H
#define TRAINER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_config {
	char preset[16];
	unsigned B, T, C, H, L, V;
};

/* model_preset - "tiny" (seconds a hundred steps on the virtual card) or "reference" (11,637,760
 * parameters). Return: 0; -EINVAL. */
int model_preset(struct model_config *c, const char *name);
/* model_check - sizes the kernels can do (docs/kernels.md 1). @why: a sentence. Return: 0; -EINVAL.
 */
int model_check(const struct model_config *c, char *why, size_t why_size);
/* model_parameters - unique parameters (the head shares wte). */
uint64_t model_parameters(const struct model_config *c);

enum param_init { INIT_NORMAL, INIT_RESIDUAL /* 0.02 / sqrt(2 L) */, INIT_ZERO, INIT_ONE };

/* One parameter tensor, Hugging Face GPT-2 name, weights stored [in][out]. */
struct param {
	char name[64];
	unsigned ndims;
	unsigned shape[2];
	uint64_t offset, count; /* floats, in each of the four flat buffers */
	enum param_init init;
};

enum {
	P_LN1_W,
	P_LN1_B,
	P_ATTN_W,
	P_ATTN_B,
	P_APROJ_W,
	P_APROJ_B,
	P_LN2_W,
	P_LN2_B,
	P_FC_W,
	P_FC_B,
	P_MPROJ_W,
	P_MPROJ_B,
	P_PER_LAYER
};

/* Activations of one layer, float offsets into the activation buffer. */
struct layer_acts {
	uint64_t in, ln1, stat1, qkv, att, lse, mid, ln2, stat2, u, gelu;
};

struct model {
	struct model_config c;
	uint64_t R;
	struct param *params; /* matrices first, so that weight decay is a range */
	unsigned nparams;
	uint64_t nfloats, ndecay; /* of a flat buffer; of the matrices at its start */
	struct param *wte, *wpe, *lnf_w, *lnf_b;
	struct param *(*layer)[P_PER_LAYER];
	struct layer_acts *acts;
	/* float offsets into the activation buffer */
	uint64_t out, lnf, statf, logits, row_loss, dr, dh, dout, dqkv, du, delta, row, nacts;
	/* float offsets into the small buffer */
	uint64_t loss, norm, parts, nsmall;
	unsigned groups; /* workgroups of the grid-stride kernels */
};

int model_new(
        struct model **out, const struct model_config *c); /* -ENOMEM; -EINVAL as model_check */
void model_free(struct model *m);

#endif
