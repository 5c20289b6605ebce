/* safetensors.c - see safetensors.h. */
#include "device/ckpt/safetensors.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"

#define MAX_TENSORS 65536

/* dtypes and bytes an element: huggingface/safetensors, "Dtype" */
static const struct {
	const char *name;
	unsigned bytes;
} dtypes[] = {{"F64", 8}, {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4}, {"U32", 4}, {"F16", 2},
        {"BF16", 2}, {"I16", 2}, {"U16", 2}, {"I8", 1}, {"U8", 1}, {"BOOL", 1}};

struct why {
	char *text;
	size_t size;
};

static int bad(struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int bad(struct why *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (w->text && w->size)
		vsnprintf(w->text, w->size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static unsigned dtype_bytes(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(dtypes); i++)
		if (!strcmp(dtypes[i].name, name))
			return dtypes[i].bytes;
	return 0;
}

/* Bytes that dtype and shape ask for. Return: -EINVAL unknown dtype or overflow. */
static int tensor_bytes(const struct st_tensor *t, uint64_t *out)
{
	uint64_t n = dtype_bytes(t->dtype);

	if (!n)
		return -EINVAL;
	for (unsigned i = 0; i < t->ndims; i++)
		if (__builtin_mul_overflow(n, t->shape[i], &n))
			return -EINVAL;
	*out = n;
	return 0;
}

int64_t st_parse_length(const uint8_t head[8])
{
	uint64_t n = get_le64(head);

	return n < 2 || n > ST_MAX_HEADER ? -EINVAL : (int64_t)(n + 8);
}

static int take_u64(const json_t *j, uint64_t *out)
{
	if (!json_is_integer(j) || json_integer_value(j) < 0)
		return -EINVAL;
	*out = (uint64_t)json_integer_value(j);
	return 0;
}

static int take_string(const json_t *j, char *out, size_t size)
{
	if (!json_is_string(j) || json_string_length(j) >= size ||
	        strlen(json_string_value(j)) != json_string_length(j))
		return -EINVAL;
	memcpy(out, json_string_value(j), json_string_length(j) + 1);
	return 0;
}

static int parse_tensor(struct why *w, const char *name, const json_t *j, struct st_tensor *t)
{
	const json_t *shape = json_object_get(j, "shape"),
	             *offsets = json_object_get(j, "data_offsets");
	uint64_t bytes;

	if (!json_is_object(j) || strlen(name) >= sizeof(t->name) || !name[0])
		return bad(w, "tensor \"%.40s\": bad entry or name", name);
	snprintf(t->name, sizeof(t->name), "%s", name);
	if (take_string(json_object_get(j, "dtype"), t->dtype, sizeof(t->dtype)) ||
	        !dtype_bytes(t->dtype))
		return bad(w, "tensor \"%s\": unknown dtype", name);
	if (!json_is_array(shape) || json_array_size(shape) > ST_MAX_DIMS)
		return bad(w, "tensor \"%s\": bad shape", name);
	t->ndims = (unsigned)json_array_size(shape);
	for (unsigned i = 0; i < t->ndims; i++)
		if (take_u64(json_array_get(shape, i), &t->shape[i]))
			return bad(w, "tensor \"%s\": bad shape", name);
	if (json_array_size(offsets) != 2 || take_u64(json_array_get(offsets, 0), &t->begin) ||
	        take_u64(json_array_get(offsets, 1), &t->end) || t->begin > t->end)
		return bad(w, "tensor \"%s\": bad data_offsets", name);
	if (tensor_bytes(t, &bytes) || bytes != t->end - t->begin)
		return bad(w, "tensor \"%s\": shape and data_offsets disagree", name);
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct st_tensor *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* The data section must be covered exactly: no gap, no overlap, nothing behind. */
static int check_layout(struct why *w, struct st_file *f)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < f->ntensors; i++) {
		if (f->tensors[i].begin != at)
			return bad(w, "tensor \"%s\": gap or overlap at byte %llu",
			        f->tensors[i].name, (unsigned long long)at);
		at = f->tensors[i].end;
	}
	if (f->data_size == ST_SIZE_AS_DECLARED)
		f->data_size = at;
	if (at != f->data_size)
		return bad(w, "file has %llu data bytes, tensors cover %llu",
		        (unsigned long long)f->data_size, (unsigned long long)at);
	return 0;
}

static int parse_meta(struct why *w, const json_t *j, struct st_file *f)
{
	const char *key;
	json_t *value;

	if (!json_is_object(j))
		return bad(w, "__metadata__ is not an object");
	f->meta = calloc(json_object_size(j) + 1, sizeof(*f->meta));
	if (!f->meta)
		return -ENOMEM;
	json_object_foreach((json_t *)(uintptr_t)j, key, value)
	{
		if (!json_is_string(value))
			return bad(w, "__metadata__ \"%.40s\" is not a string", key);
		struct st_meta *m = &f->meta[f->nmeta++];
		m->key = strdup(key);
		m->value = strdup(json_string_value(value));
		if (!m->key || !m->value)
			return -ENOMEM;
	}
	return 0;
}

static int parse_root(struct why *w, json_t *root, struct st_file *f)
{
	const char *key;
	json_t *value;
	int err = 0;

	if (!json_is_object(root) || json_object_size(root) > MAX_TENSORS)
		return bad(w, "header is not a JSON object of tensors");
	f->tensors = calloc(json_object_size(root) + 1, sizeof(*f->tensors));
	if (!f->tensors)
		return -ENOMEM;
	json_object_foreach(root, key, value)
	{
		if (!strcmp(key, "__metadata__"))
			err = parse_meta(w, value, f);
		else
			err = parse_tensor(w, key, value, &f->tensors[f->ntensors++]);
		if (err)
			return err;
	}
	qsort(f->tensors, f->ntensors, sizeof(*f->tensors), by_begin);
	return check_layout(w, f);
}

int st_parse(const uint8_t *head, size_t len, uint64_t file_size, struct st_file **out, char *why,
        size_t why_size)
{
	struct why w = {why, why_size};
	json_error_t at;

	if (len < 8 || st_parse_length(head) != (int64_t)len)
		return bad(&w, "header length word does not fit the header");
	if (file_size < len)
		return bad(&w, "file shorter than its header");
	json_t *root = json_loadb((const char *)head + 8, len - 8, JSON_REJECT_DUPLICATES, &at);
	if (!root)
		return bad(&w, "header JSON, column %d: %s", at.column, at.text);
	struct st_file *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;
	if (f) {
		f->header_size = len;
		f->data_size = file_size == ST_SIZE_AS_DECLARED ? file_size : file_size - len;
		err = parse_root(&w, root, f);
	}
	json_decref(root);
	if (err) {
		st_free(f);
		return err;
	}
	*out = f;
	return 0;
}

void st_free(struct st_file *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < f->nmeta; i++) {
		free(f->meta[i].key);
		free(f->meta[i].value);
	}
	free(f->meta);
	free(f->tensors);
	free(f);
}

const struct st_tensor *st_find(const struct st_file *f, const char *name)
{
	for (unsigned i = 0; i < f->ntensors; i++)
		if (!strcmp(f->tensors[i].name, name))
			return &f->tensors[i];
	return NULL;
}

const char *st_meta_get(const struct st_file *f, const char *key)
{
	for (unsigned i = 0; i < f->nmeta; i++)
		if (!strcmp(f->meta[i].key, key))
			return f->meta[i].value;
	return NULL;
}

static json_t *tensor_json(const struct st_tensor *t)
{
	json_t *shape = json_array();

	for (unsigned i = 0; i < t->ndims; i++)
		json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
	return json_pack("{s:s,s:o,s:[I,I]}", "dtype", t->dtype, "shape", shape, "data_offsets",
	        (json_int_t)t->begin, (json_int_t)t->end);
}

/* The header as a JSON object; begin and end of the tensors are set on the way. */
static int build_root(json_t *root, struct st_tensor *tensors, unsigned ntensors,
        const struct st_meta *meta, unsigned nmeta)
{
	uint64_t at = 0, bytes;

	if (nmeta) {
		json_t *m = json_object();
		json_object_set_new(root, "__metadata__", m);
		for (unsigned i = 0; i < nmeta; i++)
			if (json_object_set_new(m, meta[i].key, json_string(meta[i].value)))
				return -EINVAL;
	}
	for (unsigned i = 0; i < ntensors; i++) {
		struct st_tensor *t = &tensors[i];
		if (t->ndims > ST_MAX_DIMS || tensor_bytes(t, &bytes) ||
		        json_object_get(root, t->name))
			return -EINVAL;
		t->begin = at;
		t->end = at += bytes;
		if (json_object_set_new(root, t->name, tensor_json(t)))
			return -EINVAL;
	}
	return 0;
}

int st_build(struct st_tensor *tensors, unsigned ntensors, const struct st_meta *meta,
        unsigned nmeta, uint8_t **head, size_t *len)
{
	json_t *root = json_object();
	int err = root ? build_root(root, tensors, ntensors, meta, nmeta) : -ENOMEM;
	char *text = err ? NULL : json_dumps(root, JSON_COMPACT);

	json_decref(root);
	if (err)
		return err;
	if (!text)
		return -ENOMEM;
	size_t n = strlen(text), padded = align_up(n, 8);
	uint8_t *out = malloc(8 + padded);
	if (out) {
		put_le64(out, padded);
		memcpy(out + 8, text, n);
		memset(out + 8 + n, ' ', padded - n); /* spaces keep the data 8-aligned: safetensors
		                                         README, "Format" */
		*head = out;
		*len = 8 + padded;
	}
	free(text);
	return out ? 0 : -ENOMEM;
}
