/* co_metadata.c - the msgpack metadata of a code object (LLVM AMDGPUUsage, "Code Object V3+
 * Metadata") and its JSON view. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/compile/co_priv.h"
#include "device/compile/msgpack.h"

#define MAX_KERNELS 256
#define MAX_ARGS    64

static bool key_is(const char *key, size_t len, const char *want)
{
	return len == strlen(want) && !memcmp(key, want, len);
}

/* Copy a msgpack string; too long or holding control bytes fails the parse. */
static void take_text(struct mp *m, char *out, size_t size)
{
	size_t len;
	const char *s = mp_str(m, &len);

	if (len >= size) {
		m->failed = true;
		return;
	}
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < 0x20)
			m->failed = true;
	memcpy(out, s, len);
	out[len] = '\0';
}

static uint32_t take_u32(struct mp *m)
{
	uint64_t v = mp_uint(m);

	if (v > UINT32_MAX)
		m->failed = true;
	return (uint32_t)v;
}

static void classify(struct co_arg *a)
{
	if (!strcmp(a->hidden, "by_value"))
		a->kind = CO_ARG_VALUE;
	else if (!strcmp(a->hidden, "global_buffer"))
		a->kind = CO_ARG_GLOBAL_POINTER;
	else if (!strcmp(a->hidden, "dynamic_shared_pointer"))
		a->kind = CO_ARG_LOCAL_POINTER;
	else
		a->kind = CO_ARG_HIDDEN; /* images, samplers, pipes too: the plan refuses what it
		                            does not know */
	if (a->kind != CO_ARG_HIDDEN)
		a->hidden[0] = '\0';
}

static void parse_arg(struct mp *m, struct co_arg *a)
{
	for (uint32_t n = mp_map(m); n && !m->failed; n--) {
		size_t len;
		const char *key = mp_str(m, &len);
		if (key_is(key, len, ".name"))
			take_text(m, a->name, sizeof(a->name));
		else if (key_is(key, len, ".type_name"))
			take_text(m, a->type_name, sizeof(a->type_name));
		else if (key_is(key, len, ".value_kind"))
			take_text(m, a->hidden, sizeof(a->hidden));
		else if (key_is(key, len, ".offset"))
			a->offset = take_u32(m);
		else if (key_is(key, len, ".size"))
			a->size = take_u32(m);
		else
			mp_skip(m);
	}
	classify(a);
}

static void parse_args(struct mp *m, struct co_kernel *k)
{
	uint32_t n = mp_array(m);

	if (n > MAX_ARGS || k->args)
		m->failed = true;
	if (m->failed || !n)
		return;
	k->args = calloc(n, sizeof(*k->args));
	if (!k->args) {
		m->failed = true;
		return;
	}
	k->nargs = n;
	for (uint32_t i = 0; i < n && !m->failed; i++)
		parse_arg(m, &k->args[i]);
}

static void parse_required_group(struct mp *m, struct co_kernel *k)
{
	uint32_t n = mp_array(m);

	if (n != 3)
		m->failed = true;
	for (uint32_t i = 0; i < n && !m->failed; i++)
		k->required_group[i] = take_u32(m);
}

static void parse_kernel(struct mp *m, struct co_kernel *k, char *symbol, size_t symbol_size)
{
	static const struct {
		const char *key;
		size_t field;
	} numbers[] = {
	        {".kernarg_segment_size", offsetof(struct co_kernel, kernarg_size)},
	        {".kernarg_segment_align", offsetof(struct co_kernel, kernarg_align)},
	        {".vgpr_count", offsetof(struct co_kernel, vgprs)},
	        {".sgpr_count", offsetof(struct co_kernel, sgprs)},
	        {".vgpr_spill_count", offsetof(struct co_kernel, spilled_vgprs)},
	        {".sgpr_spill_count", offsetof(struct co_kernel, spilled_sgprs)},
	        {".max_flat_workgroup_size", offsetof(struct co_kernel, max_group_size)},
	};

	for (uint32_t n = mp_map(m); n && !m->failed; n--) {
		size_t len, i;
		const char *key = mp_str(m, &len);
		for (i = 0; i < ARRAY_SIZE(numbers); i++)
			if (key_is(key, len, numbers[i].key))
				break;
		if (i < ARRAY_SIZE(numbers)) {
			uint32_t v = take_u32(m);
			memcpy((char *)k + numbers[i].field, &v, sizeof(v));
		} else if (key_is(key, len, ".name")) {
			take_text(m, k->name, sizeof(k->name));
		} else if (key_is(key, len, ".symbol")) {
			take_text(m, symbol, symbol_size);
		} else if (key_is(key, len, ".args")) {
			parse_args(m, k);
		} else if (key_is(key, len, ".reqd_workgroup_size")) {
			parse_required_group(m, k);
		} else {
			mp_skip(m);
		}
	}
}

static int parse_kernels(struct co_parser *p, struct mp *m)
{
	uint32_t n = mp_array(m);

	if (m->failed || n > MAX_KERNELS || p->co->kernels)
		return co_bad(p, "metadata: bad kernel list");
	p->co->kernels = calloc(n ? n : 1, sizeof(*p->co->kernels));
	p->symbols = calloc(n ? n : 1, sizeof(*p->symbols));
	if (!p->co->kernels || !p->symbols)
		return -ENOMEM;
	p->co->nkernels = n;
	for (uint32_t i = 0; i < n && !m->failed; i++) {
		parse_kernel(m, &p->co->kernels[i], p->symbols[i], sizeof(p->symbols[i]));
		if (!m->failed && (!p->co->kernels[i].name[0] || !p->symbols[i][0]))
			return co_bad(p, "metadata: kernel %u has no name", i);
	}
	return 0;
}

int co_parse_metadata(struct co_parser *p)
{
	struct mp m = {.p = p->note, .end = p->note + p->note_len};
	int err = 0;

	for (uint32_t n = mp_map(&m); n && !m.failed && !err; n--) {
		size_t len;
		const char *key = mp_str(&m, &len);
		if (key_is(key, len, "amdhsa.kernels"))
			err = parse_kernels(p, &m);
		else
			mp_skip(&m);
	}
	if (!err && m.failed)
		err = co_bad(p, "metadata: malformed MessagePack");
	if (!err && !p->co->nkernels)
		err = co_bad(p, "no kernels in the code object");
	return err;
}

static json_t *arg_json(const struct co_arg *a)
{
	static const char *const kinds[] = {"value", "global", "local"};

	return json_pack("{s:s,s:s,s:s,s:I,s:I}", "name", a->name, "type", a->type_name, "kind",
	        kinds[a->kind], "offset", (json_int_t)a->offset, "size", (json_int_t)a->size);
}

static json_t *kernel_json(const struct co_kernel *k)
{
	json_t *args = json_array();

	for (unsigned i = 0; i < k->nargs; i++)
		if (k->args[i].kind != CO_ARG_HIDDEN)
			json_array_append_new(args, arg_json(&k->args[i]));
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "vgprs", (json_int_t)k->vgprs,
	        "sgprs", (json_int_t)k->sgprs, "spilled_vgprs", (json_int_t)k->spilled_vgprs,
	        "lds_bytes", (json_int_t)k->lds_bytes, "scratch_bytes",
	        (json_int_t)k->scratch_bytes, "max_group_size", (json_int_t)k->max_group_size,
	        "kernarg_size", (json_int_t)k->kernarg_size, "args", args);
}

char *code_object_json(const struct code_object *co)
{
	json_t *kernels = json_object();

	for (unsigned i = 0; i < co->nkernels; i++)
		json_object_set_new(kernels, co->kernels[i].name, kernel_json(&co->kernels[i]));
	json_t *root = json_pack("{s:o}", "kernels", kernels);
	char *body = json_dumps(root, JSON_INDENT(1));
	char *text = NULL;
	if (body && asprintf(&text, "%s\n", body) < 0)
		text = NULL;
	free(body);
	json_decref(root);
	return text;
}
