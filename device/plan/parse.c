/* parse.c - plan JSON to struct plan_desc (docs/plan-format.md 1). Checks everything that needs no
 * VRAM. Messages name the place: steps[3].args.n.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/plan/args.h"
#include "device/plan/plan_priv.h"

#define MAX_SCALARS      64    /* docs/plan-format.md 1 */
#define MAX_IDS          65536 /* same */
#define MAX_GROUPS       (1u << 24)
#define MAX_GROUP_SIZE   1024 /* work-items: 16 waves of 64, GCN3 limit of a workgroup */
#define MAX_TENSORS      4096
#define DEFAULT_DEADLINE 60
#define MAX_VALUES       (256u << 10) /* twice 4096 dispatches of 20 arguments and more */

int plan_sentence(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (why && size)
		vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static bool in_list(const char *word, const char *list)
{
	size_t n = strlen(word);

	while (*list) {
		size_t item = strcspn(list, ",");
		if (item == n && !memcmp(list, word, n))
			return true;
		list += item + (list[item] == ',');
	}
	return false;
}

/* Every member of @j must be in the comma separated list @known. */
static int check_keys(struct plan_parser *p, const json_t *j, const char *where, const char *known)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)j, key, value)
	{
		if (!in_list(key, known))
			return plan_sentence(p->why, p->why_size, "%s%s%s: unknown key (known: %s)",
			        where, where[0] ? "." : "", key, known);
	}
	return 0;
}

static int take_uint(struct plan_parser *p, const json_t *j, const char *where, json_int_t min,
        json_int_t max, unsigned *out)
{
	if (!json_is_integer(j) || json_integer_value(j) < min || json_integer_value(j) > max)
		return plan_sentence(p->why, p->why_size, "%s: an integer from %lld to %lld", where,
		        (long long)min, (long long)max);
	*out = (unsigned)json_integer_value(j);
	return 0;
}

static int parse_input(struct plan_parser *p, const json_t *j, struct plan_desc *d)
{
	if (!j)
		return 0;
	if (!json_is_object(j))
		return plan_sentence(p->why, p->why_size, "input: an object with scalars and ids");
	if (check_keys(p, j, "input", "scalars,ids"))
		return -EINVAL;
	if (json_object_get(j, "scalars") && take_uint(p, json_object_get(j, "scalars"),
	                                             "input.scalars", 0, MAX_SCALARS, &d->scalars))
		return -EINVAL;
	if (json_object_get(j, "ids") &&
	        take_uint(p, json_object_get(j, "ids"), "input.ids", 0, MAX_IDS, &d->ids))
		return -EINVAL;
	d->input_bytes = 4u * d->scalars + 2u * d->ids;
	if (!d->input_bytes)
		return plan_sentence(
		        p->why, p->why_size, "input: no scalars and no ids; leave the key out");
	d->has_input = true;
	return 0;
}

/* One to three integers; missing ones are 1. */
static int parse_triple(struct plan_parser *p, const json_t *j, const char *where, unsigned max,
        uint32_t out[3], uint32_t *dims)
{
	char at[160];

	out[0] = out[1] = out[2] = 1;
	if (!json_is_array(j) || json_array_size(j) < 1 || json_array_size(j) > 3)
		return plan_sentence(
		        p->why, p->why_size, "%s: an array of one to three integers", where);
	for (unsigned i = 0; i < json_array_size(j); i++) {
		snprintf(at, sizeof(at), "%s[%u]", where, i);
		if (take_uint(p, json_array_get(j, i), at, 1, max, &out[i]))
			return -EINVAL;
	}
	*dims = (uint32_t)json_array_size(j);
	return 0;
}

static int find_kernel(
        struct plan_parser *p, const json_t *j, const char *where, struct plan_dispatch *d)
{
	const char *name = json_string_value(j), *colon = name ? strchr(name, ':') : NULL;
	char module[65];

	if (!colon || (size_t)(colon - name) >= sizeof(module))
		return plan_sentence(p->why, p->why_size, "%s.kernel: \"module:kernel\"", where);
	snprintf(module, sizeof(module), "%.*s", (int)(colon - name), name);
	d->module = rx_module_find(p->kernels, module);
	if (!d->module) {
		plan_sentence(p->why, p->why_size, "%s.kernel: kernels/%s.co does not exist", where,
		        module);
		return -ENOENT;
	}
	d->kernel = code_object_find(rx_module_code(d->module), colon + 1);
	if (!d->kernel) {
		plan_sentence(p->why, p->why_size, "%s.kernel: kernels/%s.co has no kernel %s",
		        where, module, colon + 1);
		return -ENOENT;
	}
	return 0;
}

static int check_group(struct plan_parser *p, const char *where, const struct plan_dispatch *d)
{
	const struct co_kernel *k = d->kernel;
	uint64_t items = (uint64_t)d->group[0] * d->group[1] * d->group[2];
	uint64_t plane = (uint64_t)d->groups[0] * d->groups[1]; /* at most MAX_GROUPS each */
	uint32_t most = k->max_group_size ? MIN(k->max_group_size, MAX_GROUP_SIZE) : MAX_GROUP_SIZE;

	if (items > most)
		return plan_sentence(p->why, p->why_size,
		        "%s.group: %llu work-items, %s takes at most %u", where,
		        (unsigned long long)items, k->name, most);
	if (plane > MAX_GROUPS || plane * d->groups[2] > MAX_GROUPS)
		return plan_sentence(p->why, p->why_size, "%s.groups: more than %u workgroups",
		        where, MAX_GROUPS);
	for (int i = 0; i < 3; i++)
		if (k->required_group[i] && k->required_group[i] != d->group[i])
			return plan_sentence(p->why, p->why_size,
			        "%s.group: %s is compiled for [%u, %u, %u]", where, k->name,
			        k->required_group[0], k->required_group[1], k->required_group[2]);
	if ((uint64_t)k->lds_bytes + d->local_bytes > 65536) /* LDS of a CU: polaris.md 1.4 */
		return plan_sentence(p->why, p->why_size, "%s: more than 64 KiB of LDS", where);
	return 0;
}

static int parse_dispatch(
        struct plan_parser *p, const json_t *j, const char *where, struct plan_dispatch *d)
{
	char at[128];
	uint32_t dims;

	if (!json_is_object(j))
		return plan_sentence(
		        p->why, p->why_size, "%s: a dispatch object or \"barrier\"", where);
	if (check_keys(p, j, where, "kernel,groups,group,args"))
		return -EINVAL;
	int err = find_kernel(p, json_object_get(j, "kernel"), where, d);
	if (err)
		return err;
	snprintf(at, sizeof(at), "%s.groups", where);
	if (parse_triple(p, json_object_get(j, "groups"), at, MAX_GROUPS, d->groups, &d->dims))
		return -EINVAL;
	snprintf(at, sizeof(at), "%s.group", where);
	if (parse_triple(p, json_object_get(j, "group"), at, MAX_GROUP_SIZE, d->group, &dims))
		return -EINVAL;
	d->dims = MAX(d->dims, dims);
	err = plan_parse_args(p, json_object_get(j, "args"), where, d);
	return err ? err : check_group(p, where, d);
}

static int parse_list(struct plan_parser *p, const json_t *j, const char *key, unsigned max,
        struct plan_dispatch **out, unsigned *count)
{
	char where[64];

	if (!json_is_array(j) || json_array_size(j) > max)
		return plan_sentence(
		        p->why, p->why_size, "%s: an array of at most %u entries", key, max);
	*out = calloc(json_array_size(j) + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (unsigned i = 0; i < json_array_size(j); i++) {
		const json_t *e = json_array_get(j, i);
		snprintf(where, sizeof(where), "%s[%u]", key, i);
		if (json_is_string(e) && !strcmp(json_string_value(e), "barrier")) {
			if (*count)
				(*out)[*count - 1].barrier_after = true;
			continue;
		}
		int err = parse_dispatch(p, e, where, &(*out)[*count]);
		(*count)++; /* counted even on failure, so that its parts are freed */
		if (err)
			return err;
	}
	return 0;
}

int plan_parse_place(struct plan_parser *p, const char *text, const char *where, uint64_t bytes,
        struct plan_place *out)
{
	const char *plus = text ? strrchr(text, '+') : NULL;
	char name[65], *end = NULL;

	if (!text || !text[0])
		return plan_sentence(
		        p->why, p->why_size, "%s: \"buffer\" or \"buffer+bytes\"", where);
	size_t n = plus ? (size_t)(plus - text) : strlen(text);
	if (n >= sizeof(name))
		return plan_sentence(p->why, p->why_size, "%s: buffer name too long", where);
	memcpy(name, text, n);
	name[n] = '\0';
	out->offset = 0;
	if (plus) {
		errno = 0;
		out->offset = strtoull(plus + 1, &end, 10);
		if (errno || plus[1] < '0' || plus[1] > '9' || *end)
			return plan_sentence(p->why, p->why_size,
			        "%s: \"%s\": bytes after + must be a decimal number", where, text);
	}
	out->buffer = rx_buffer_find(p->rx, name);
	if (!out->buffer) {
		plan_sentence(p->why, p->why_size, "%s: buffers/%s does not exist", where, name);
		return -ENOENT;
	}
	if (!range_ok(out->offset, bytes, rx_buffer_size(out->buffer)))
		return plan_sentence(p->why, p->why_size,
		        "%s: %s reaches beyond buffers/%s (%llu bytes)", where, text, name,
		        (unsigned long long)rx_buffer_size(out->buffer));
	return 0;
}

static int parse_check(struct plan_parser *p, const json_t *j, struct plan_desc *d)
{
	static const char *const keys[] = {"loss", "grad_norm"};
	struct plan_place *const places[] = {&d->loss, &d->grad_norm};
	char where[32];

	if (!j)
		return 0;
	if (!json_is_object(j))
		return plan_sentence(
		        p->why, p->why_size, "check: an object with loss and grad_norm");
	if (check_keys(p, j, "check", "loss,grad_norm"))
		return -EINVAL;
	for (int i = 0; i < 2; i++) {
		const json_t *v = json_object_get(j, keys[i]);
		snprintf(where, sizeof(where), "check.%s", keys[i]);
		int err = v ? plan_parse_place(p, json_string_value(v), where, 4, places[i]) : 0;
		if (err)
			return err;
		if (places[i]->offset % 4)
			return plan_sentence(p->why, p->why_size, "%s: not a multiple of 4", where);
	}
	return 0;
}

static unsigned element_bytes(const char *dtype)
{
	static const struct {
		const char *name;
		unsigned bytes;
	} types[] = {{"F32", 4}, {"U32", 4}, {"I32", 4}, {"U16", 2}, {"U8", 1}};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, dtype))
			return types[i].bytes;
	return 0;
}

static int parse_tensor(
        struct plan_parser *p, const json_t *j, const char *where, struct plan_tensor *t)
{
	const json_t *shape = json_object_get(j, "shape");
	const char *name = json_string_value(json_object_get(j, "name"));
	const char *dtype = json_string_value(json_object_get(j, "dtype"));
	struct plan_place place;
	char at[96];

	if (!json_is_object(j) || check_keys(p, j, where, "name,at,dtype,shape"))
		return json_is_object(j)
		               ? -EINVAL
		               : plan_sentence(p->why, p->why_size, "%s: an object", where);
	if (!name || !name[0] || strlen(name) >= sizeof(t->name) || !strcmp(name, "__metadata__"))
		return plan_sentence(p->why, p->why_size, "%s.name: 1 to %zu characters", where,
		        sizeof(t->name) - 1);
	if (!dtype || !element_bytes(dtype))
		return plan_sentence(
		        p->why, p->why_size, "%s.dtype: F32, U32, I32, U16 or U8", where);
	if (!json_is_array(shape) || json_array_size(shape) > ARRAY_SIZE(t->shape))
		return plan_sentence(p->why, p->why_size, "%s.shape: at most %zu integers", where,
		        ARRAY_SIZE(t->shape));
	snprintf(t->name, sizeof(t->name), "%s", name);
	snprintf(t->dtype, sizeof(t->dtype), "%s", dtype);
	t->ndims = (unsigned)json_array_size(shape);
	t->bytes = element_bytes(dtype);
	for (unsigned i = 0; i < t->ndims; i++) {
		unsigned dim;
		snprintf(at, sizeof(at), "%s.shape[%u]", where, i);
		if (take_uint(p, json_array_get(shape, i), at, 1, INT32_MAX, &dim))
			return -EINVAL;
		t->shape[i] = dim;
		if (__builtin_mul_overflow(t->bytes, (uint64_t)dim, &t->bytes))
			return plan_sentence(p->why, p->why_size, "%s: too large", at);
	}
	snprintf(at, sizeof(at), "%s.at", where);
	int err = plan_parse_place(
	        p, json_string_value(json_object_get(j, "at")), at, t->bytes, &place);
	t->buffer = place.buffer;
	t->offset = place.offset;
	return err;
}

static int parse_state(struct plan_parser *p, const json_t *j, struct plan_desc *d)
{
	char where[32];

	if (!j)
		return 0;
	if (!json_is_array(j) || json_array_size(j) > MAX_TENSORS)
		return plan_sentence(
		        p->why, p->why_size, "state: an array of at most %u tensors", MAX_TENSORS);
	d->tensors = calloc(json_array_size(j) + 1, sizeof(*d->tensors));
	if (!d->tensors)
		return -ENOMEM;
	for (unsigned i = 0; i < json_array_size(j); i++) {
		snprintf(where, sizeof(where), "state[%u]", i);
		int err = parse_tensor(p, json_array_get(j, i), where, &d->tensors[i]);
		if (err)
			return err;
		for (unsigned k = 0; k < i; k++)
			if (!strcmp(d->tensors[k].name, d->tensors[i].name))
				return plan_sentence(p->why, p->why_size,
				        "%s.name: %s is there twice", where, d->tensors[i].name);
		d->ntensors++;
	}
	return 0;
}

static int parse_root(struct plan_parser *p, const json_t *root, struct plan_desc *d)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	const json_t *update = json_object_get(root, "update"),
	             *deadline = json_object_get(root, "deadline_s");

	if (!json_is_object(root))
		return plan_sentence(p->why, p->why_size, "the plan is not a JSON object");
	if (!format || strcmp(format, "rx580-plan-1"))
		return plan_sentence(p->why, p->why_size, "format: must be \"rx580-plan-1\"");
	if (check_keys(p, root, "", "format,description,input,steps,check,update,state,deadline_s"))
		return -EINVAL;
	d->deadline_s = DEFAULT_DEADLINE;
	if (deadline && take_uint(p, deadline, "deadline_s", 1, 3600, &d->deadline_s))
		return -EINVAL;
	int err = parse_input(p, json_object_get(root, "input"), d);
	if (!err)
		err = parse_list(p, json_object_get(root, "steps"), "steps", PLAN_MAX_STEPS,
		        &d->steps, &d->nsteps);
	if (!err && !d->nsteps)
		err = plan_sentence(p->why, p->why_size, "steps: at least one dispatch");
	if (!err)
		err = parse_check(p, json_object_get(root, "check"), d);
	if (!err && update)
		err = parse_list(p, update, "update", PLAN_MAX_UPDATES, &d->updates, &d->nupdates);
	return err ? err : parse_state(p, json_object_get(root, "state"), d);
}

int plan_parse(struct plan_desc *d, struct rx580 *rx, struct rx_kernels *kernels, const char *json,
        size_t len, char *why, size_t why_size)
{
	struct plan_parser p = {rx, kernels, why, why_size};
	json_error_t at;

	if (len > PLAN_MAX_JSON)
		return plan_sentence(why, why_size, "larger than %u bytes", PLAN_MAX_JSON);
	/* the owner thread parses: a million values would keep everybody else waiting for seconds
	 */
	unsigned values = 0;
	for (const char *c = json; (c = memchr(c, ',', len - (size_t)(c - json))) != NULL; c++)
		values++;
	if (values > MAX_VALUES)
		return plan_sentence(why, why_size, "more than %u values", MAX_VALUES);
	json_t *root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &at);
	if (!root)
		return plan_sentence(
		        why, why_size, "line %d, column %d: %s", at.line, at.column, at.text);
	int err = parse_root(&p, root, d);
	json_decref(root);
	return err;
}

void plan_dispatch_free(struct plan_dispatch *d)
{
	free(d->args);
	free(d->fixups);
	d->args = NULL;
	d->fixups = NULL;
}

void plan_desc_free(struct plan_desc *d)
{
	for (unsigned i = 0; i < d->nsteps; i++)
		plan_dispatch_free(&d->steps[i]);
	for (unsigned i = 0; i < d->nupdates; i++)
		plan_dispatch_free(&d->updates[i]);
	free(d->steps);
	free(d->updates);
	free(d->tensors);
}
