/* run_config.c - see run_config.h. */
#include "trainer/run_config.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "rx580-trainer-1"

static json_t *hex(uint64_t v)
{
	return json_sprintf("%016" PRIx64, v); /* JSON integers end at 2^63 - 1 */
}

static json_t *sum_json(const struct file_sum *s)
{
	return json_pack("{s:I,s:o}", "bytes", (json_int_t)s->bytes, "fnv1a", hex(s->fnv));
}

static json_t *model_json(const struct model_config *c)
{
	return json_pack("{s:s,s:i,s:i,s:i,s:i,s:i,s:i,s:I}", "preset", c->preset, "batch",
	        (int)c->B, "context", (int)c->T, "channels", (int)c->C, "heads", (int)c->H,
	        "layers", (int)c->L, "vocabulary", (int)c->V, "parameters",
	        (json_int_t)model_parameters(c));
}

char *run_json(const struct run_state *s)
{
	const struct run_config *c = &s->config;
	json_t *root = json_pack("{s:s,s:I,s:I,s:o,s:o}", "format", FORMAT, "step",
	        (json_int_t)s->step, "tokens", (json_int_t)(s->step * c->model.B * c->model.T),
	        "seed", hex(c->seed), "model", model_json(&c->model));

	json_object_set_new(root, "schedule",
	        json_pack("{s:f,s:f,s:I,s:I}", "lr", c->schedule.lr, "lr_min", c->schedule.lr_min,
	                "warmup", (json_int_t)c->schedule.warmup, "steps",
	                (json_int_t)c->schedule.steps));
	json_object_set_new(root, "optimizer",
	        json_pack("{s:f,s:f,s:f,s:f,s:f}", "beta1", c->train.beta1, "beta2", c->train.beta2,
	                "eps", c->train.eps, "decay", c->train.decay, "clip", c->train.clip));
	json_object_set_new(root, "data",
	        json_pack("{s:I,s:o}", "bytes", (json_int_t)c->data_bytes, "fnv1a",
	                hex(c->data_digest)));
	json_object_set_new(root, "files",
	        json_pack("{s:o,s:o}", "model.safetensors", sum_json(&s->model),
	                "optimizer.safetensors", sum_json(&s->optimizer)));
	char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	json_decref(root);
	return text;
}

/* Fields of one parse; the first problem stays. */
struct fields {
	char *why;
	size_t why_size;
	bool failed;
};

static const json_t *get(struct fields *f, const json_t *o, const char *key, bool good_type)
{
	if (!good_type && !f->failed) {
		snprintf(f->why, f->why_size, "\"%s\" is missing or of the wrong kind", key);
		f->failed = true;
	}
	return json_object_get(o, key);
}

static double real(struct fields *f, const json_t *o, const char *key)
{
	const json_t *j = get(f, o, key, json_is_number(json_object_get(o, key)));
	double v = json_number_value(j);

	if (!f->failed && (!isfinite(v) || v < 0))
		get(f, o, key, false);
	return v;
}

static uint64_t whole(struct fields *f, const json_t *o, const char *key, uint64_t max)
{
	const json_t *j = get(f, o, key, json_is_integer(json_object_get(o, key)));
	json_int_t v = json_integer_value(j);

	if (!f->failed && (v < 0 || (uint64_t)v > max))
		get(f, o, key, false);
	return (uint64_t)v;
}

static uint64_t hex_number(struct fields *f, const json_t *o, const char *key)
{
	const json_t *j = get(f, o, key, json_is_string(json_object_get(o, key)));
	const char *text = json_string_value(j);
	char *end = NULL;
	uint64_t v = text ? strtoull(text, &end, 16) : 0;

	if (text && (strlen(text) != 16 || *end))
		get(f, o, key, false);
	return v;
}

static struct file_sum sum(struct fields *f, const json_t *files, const char *name)
{
	const json_t *o = get(f, files, name, json_is_object(json_object_get(files, name)));
	struct file_sum s = {whole(f, o, "bytes", INT64_MAX), hex_number(f, o, "fnv1a")};

	return s;
}

static void parse_model(struct fields *f, const json_t *o, struct model_config *c)
{
	const json_t *preset = get(f, o, "preset", json_is_string(json_object_get(o, "preset")));

	snprintf(c->preset, sizeof(c->preset), "%s",
	        json_string_value(preset) ? json_string_value(preset) : "");
	c->B = (unsigned)whole(f, o, "batch", UINT16_MAX);
	c->T = (unsigned)whole(f, o, "context", UINT16_MAX);
	c->C = (unsigned)whole(f, o, "channels", UINT16_MAX);
	c->H = (unsigned)whole(f, o, "heads", UINT16_MAX);
	c->L = (unsigned)whole(f, o, "layers", UINT16_MAX);
	c->V = (unsigned)whole(f, o, "vocabulary", UINT16_MAX);
	if (!f->failed && model_check(c, f->why, f->why_size))
		f->failed = true;
}

static void parse_settings(struct fields *f, const json_t *root, struct run_config *c)
{
	const json_t *s = json_object_get(root, "schedule"),
	             *o = json_object_get(root, "optimizer");

	c->schedule.lr = real(f, s, "lr");
	c->schedule.lr_min = real(f, s, "lr_min");
	c->schedule.warmup = whole(f, s, "warmup", UINT32_MAX);
	c->schedule.steps = whole(f, s, "steps", UINT32_MAX);
	c->train.beta1 = real(f, o, "beta1");
	c->train.beta2 = real(f, o, "beta2");
	c->train.eps = real(f, o, "eps");
	c->train.decay = real(f, o, "decay");
	c->train.clip = real(f, o, "clip");
}

int run_parse(struct run_state *out, const char *text, size_t len, char *why, size_t why_size)
{
	struct fields f = {why, why_size, false};
	json_error_t at;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);

	memset(out, 0, sizeof(*out));
	if (!root) {
		snprintf(why, why_size, "no JSON: line %d, %s", at.line, at.text);
		return -EINVAL;
	}
	const char *format = json_string_value(json_object_get(root, "format"));
	if (!format || strcmp(format, FORMAT))
		get(&f, root, "format", false);
	out->step = whole(&f, root, "step", UINT32_MAX);
	out->config.seed = hex_number(&f, root, "seed");
	parse_model(&f, json_object_get(root, "model"), &out->config.model);
	parse_settings(&f, root, &out->config);
	const json_t *data = json_object_get(root, "data"), *files = json_object_get(root, "files");
	out->config.data_bytes = whole(&f, data, "bytes", INT64_MAX);
	out->config.data_digest = hex_number(&f, data, "fnv1a");
	out->model = sum(&f, files, "model.safetensors");
	out->optimizer = sum(&f, files, "optimizer.safetensors");
	json_decref(root);
	return f.failed ? -EINVAL : 0;
}

char *gpt2_config_json(const struct model_config *c)
{
	json_t *root = json_pack("{s:[s],s:s,s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "architectures",
	        "GPT2LMHeadModel", "model_type", "gpt2", "vocab_size", (int)c->V, "n_positions",
	        (int)c->T, "n_ctx", (int)c->T, "n_embd", (int)c->C, "n_layer", (int)c->L, "n_head",
	        (int)c->H, "n_inner", (int)(4 * c->C));

	json_object_update_new(
	        root, json_pack("{s:s,s:f,s:f,s:f,s:f,s:f,s:b,s:b,s:b,s:i,s:i,s:s}",
	                      "activation_function", "gelu_new", "layer_norm_epsilon", 1e-5,
	                      "initializer_range", 0.02, "resid_pdrop", 0.0, "embd_pdrop", 0.0,
	                      "attn_pdrop", 0.0, "tie_word_embeddings", 1, "scale_attn_weights", 1,
	                      "use_cache", 1, "bos_token_id", (int)c->V - 1, "eos_token_id",
	                      (int)c->V - 1, "torch_dtype", "float32"));
	char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	json_decref(root);
	return text;
}
