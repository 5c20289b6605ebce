/* args.c - see args.h. */
#include "device/plan/args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"

/* Scalar argument types as clang names them in the metadata. */
static const struct scalar_type {
	const char *name;
	uint32_t size;
	bool is_float, is_signed;
} scalar_types[] = {{"float", 4, true, true}, {"double", 8, true, true}, {"int", 4, false, true},
        {"uint", 4, false, false}, {"long", 8, false, true}, {"ulong", 8, false, false},
        {"short", 2, false, true}, {"ushort", 2, false, false}, {"char", 1, false, true},
        {"uchar", 1, false, false}};

struct arg_site {
	struct plan_parser *p;
	const struct co_arg *arg;
	char where[192];
};

int plan_add_fixup(struct plan_dispatch *d, const struct plan_fixup *f)
{
	struct plan_fixup *more = realloc(d->fixups, (d->nfixups + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	d->fixups = more;
	d->fixups[d->nfixups++] = *f;
	return 0;
}

static const struct scalar_type *scalar_type(const struct co_arg *a)
{
	for (size_t i = 0; i < ARRAY_SIZE(scalar_types); i++)
		if (!strcmp(scalar_types[i].name, a->type_name) && scalar_types[i].size == a->size)
			return &scalar_types[i];
	return NULL;
}

static int put_float(struct arg_site *s, const json_t *v, uint8_t *out)
{
	double value = json_number_value(v);
	float narrow = (float)value;

	if (!isfinite(value) || (s->arg->size == 4 && !isfinite(narrow)))
		return plan_sentence(s->p->why, s->p->why_size, "%s: does not fit a %s", s->where,
		        s->arg->type_name);
	if (s->arg->size == 4)
		memcpy(out, &narrow, sizeof(narrow));
	else
		memcpy(out, &value, sizeof(value));
	return 0;
}

static int put_integer(
        struct arg_site *s, const struct scalar_type *t, const json_t *v, uint8_t *out)
{
	json_int_t value = json_integer_value(v), low = 0, high = INT64_MAX;

	if (!json_is_integer(v))
		return plan_sentence(s->p->why, s->p->why_size, "%s: an integer", s->where);
	if (t->is_signed)
		low = t->size == 8 ? INT64_MIN : -(1ll << (8 * t->size - 1));
	if (t->size < 8)
		high = (1ll << (8 * t->size - (t->is_signed ? 1 : 0))) - 1;
	if (value < low || value > high)
		return plan_sentence(s->p->why, s->p->why_size, "%s: %lld does not fit a %s",
		        s->where, (long long)value, t->name);
	uint64_t bits = (uint64_t)value;
	for (uint32_t i = 0; i < t->size; i++)
		out[i] = (uint8_t)(bits >> (8 * i));
	return 0;
}

static int put_scalar(struct arg_site *s, const json_t *v, uint8_t *out)
{
	const struct scalar_type *t = scalar_type(s->arg);

	if (!t)
		return plan_sentence(s->p->why, s->p->why_size,
		        "%s: arguments of type %s are not supported", s->where, s->arg->type_name);
	if (!json_is_number(v))
		return plan_sentence(
		        s->p->why, s->p->why_size, "%s: a number for a %s", s->where, t->name);
	return t->is_float ? put_float(s, v, out) : put_integer(s, t, v, out);
}

static int put_pointer(struct arg_site *s, const json_t *v, struct plan_dispatch *d)
{
	struct plan_fixup f = {.offset = s->arg->offset};
	const char *text = json_string_value(v);
	struct plan_place place;

	if (!text || s->arg->size != 8)
		return plan_sentence(s->p->why, s->p->why_size,
		        "%s: \"buffer\", \"buffer+bytes\", \"@step\" or \"@null\"", s->where);
	if (!strcmp(text, "@null"))
		return 0;
	if (!strcmp(text, "@step")) {
		f.kind = FIX_STEP;
		return plan_add_fixup(d, &f);
	}
	int err = plan_parse_place(s->p, text, s->where, 1, &place);
	if (err)
		return err;
	f.kind = FIX_BUFFER;
	f.buffer = place.buffer;
	f.add = place.offset;
	return plan_add_fixup(d, &f);
}

/* Dynamic LDS arguments lie behind the static LDS of the kernel, 16-byte aligned, in argument
 * order. */
static int put_local(struct arg_site *s, const json_t *v, struct plan_dispatch *d)
{
	const json_t *bytes = json_object_get(v, "local");

	if (!json_is_integer(bytes) || json_object_size(v) != 1 || json_integer_value(bytes) < 1 ||
	        json_integer_value(bytes) > 65536)
		return plan_sentence(
		        s->p->why, s->p->why_size, "%s: {\"local\": bytes}, 1 to 65536", s->where);
	uint32_t at = (uint32_t)align_up(d->kernel->lds_bytes + d->local_bytes, 16);
	put_le32(d->args + s->arg->offset, at);
	d->local_bytes = at + (uint32_t)json_integer_value(bytes) - d->kernel->lds_bytes;
	return 0;
}

static int put_arg(struct arg_site *s, const json_t *v, struct plan_dispatch *d)
{
	if (!v)
		return plan_sentence(s->p->why, s->p->why_size, "%s: missing argument", s->where);
	switch (s->arg->kind) {
	case CO_ARG_VALUE: return put_scalar(s, v, d->args + s->arg->offset);
	case CO_ARG_GLOBAL_POINTER: return put_pointer(s, v, d);
	case CO_ARG_LOCAL_POINTER:
		if (s->arg->size == 4)
			return put_local(s, v, d);
		break;
	case CO_ARG_HIDDEN: break;
	}
	return plan_sentence(
	        s->p->why, s->p->why_size, "%s: this kind of argument is not supported", s->where);
}

static int check_surplus(
        struct plan_parser *p, const json_t *args, const char *where, const struct co_kernel *k)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)args, key, value)
	{
		unsigned i = 0;
		while (i < k->nargs &&
		        (k->args[i].kind == CO_ARG_HIDDEN || strcmp(k->args[i].name, key)))
			i++;
		if (i == k->nargs)
			return plan_sentence(p->why, p->why_size,
			        "%s.args.%s: %s has no such argument", where, key, k->name);
	}
	return 0;
}

int plan_parse_args(
        struct plan_parser *p, const json_t *args, const char *where, struct plan_dispatch *d)
{
	const struct co_kernel *k = d->kernel;

	if (args && !json_is_object(args))
		return plan_sentence(p->why, p->why_size, "%s.args: an object", where);
	d->args = calloc(1, k->kernarg_size ? k->kernarg_size : 1);
	if (!d->args)
		return -ENOMEM;
	for (unsigned i = 0; i < k->nargs; i++) {
		struct arg_site s = {.p = p, .arg = &k->args[i]};
		if (s.arg->kind == CO_ARG_HIDDEN && !strncmp(s.arg->hidden, "hidden_", 7))
			continue;
		if (!s.arg->name[0])
			return plan_sentence(p->why, p->why_size,
			        "%s: %s has no argument names; compile with -cl-kernel-arg-info",
			        where, k->name);
		snprintf(s.where, sizeof(s.where), "%s.args.%s", where, s.arg->name);
		int err = put_arg(&s, json_object_get(args, s.arg->name), d);
		if (err)
			return err;
	}
	int err = check_surplus(p, args, where, k);
	return err ? err : plan_hidden_args(d, p->why, p->why_size);
}

/* Value of one hidden argument; those not listed stay 0 (offsets, remainders: groups are always
 * full). */
static uint64_t hidden_value(const struct plan_dispatch *d, const char *kind)
{
	static const char *const axes[] = {"x", "y", "z"};
	char name[32];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "hidden_block_count_%s", axes[i]);
		if (!strcmp(kind, name))
			return d->groups[i];
		snprintf(name, sizeof(name), "hidden_group_size_%s", axes[i]);
		if (!strcmp(kind, name))
			return d->group[i];
	}
	if (!strcmp(kind, "hidden_grid_dims"))
		return d->dims;
	if (!strcmp(kind, "hidden_dynamic_lds_size"))
		return d->local_bytes;
	if (!strcmp(kind, "hidden_private_base"))
		return 0x20000001; /* aperture high words with SH_MEM_BASES nybble 2: polaris.md 9.5
		                    */
	if (!strcmp(kind, "hidden_shared_base"))
		return 0x20000000; /* same */
	return 0;
}

int plan_hidden_args(struct plan_dispatch *d, char *why, size_t why_size)
{
	for (unsigned i = 0; i < d->kernel->nargs; i++) {
		const struct co_arg *a = &d->kernel->args[i];
		if (a->kind != CO_ARG_HIDDEN)
			continue;
		if (a->size > 8)
			return plan_sentence(why, why_size, "%s: hidden argument %s is too large",
			        d->kernel->name, a->hidden);
		if (!strcmp(a->hidden, "hidden_queue_ptr")) {
			struct plan_fixup f = {.offset = a->offset, .kind = FIX_QUEUE};
			if (a->size != 8 || plan_add_fixup(d, &f))
				return -ENOMEM;
			continue;
		}
		uint64_t value = hidden_value(d, a->hidden);
		for (uint32_t b = 0; b < a->size; b++)
			d->args[a->offset + b] = (uint8_t)(value >> (8 * b));
	}
	return 0;
}
