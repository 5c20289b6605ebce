/* st.c - see st.h. */
#include "trainer/st.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEADER  (16u << 20) /* larger ones are not ours */
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

static int bad(const struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int bad(const struct why *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->text, w->size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int64_t st_header_size(const uint8_t head[8])
{
	uint64_t n = 0;

	for (int i = 7; i >= 0; i--)
		n = n << 8 | head[i];
	return n < 2 || n > MAX_HEADER ? -EINVAL : (int64_t)n + 8;
}

static int take_u64(const json_t *j, uint64_t *out)
{
	if (!json_is_integer(j) || json_integer_value(j) < 0)
		return -EINVAL;
	*out = (uint64_t)json_integer_value(j);
	return 0;
}

static unsigned dtype_bytes(const char *name)
{
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
		if (!strcmp(dtypes[i].name, name))
			return dtypes[i].bytes;
	return 0;
}

static int parse_shape(const struct why *w, const json_t *shape, struct st_tensor *t)
{
	uint64_t bytes = dtype_bytes(t->dtype);

	if (!json_is_array(shape) || json_array_size(shape) > ST_MAX_DIMS)
		return bad(w, "tensor \"%s\": its shape is no list of at most %d numbers", t->name,
		        ST_MAX_DIMS);
	t->ndims = (unsigned)json_array_size(shape);
	for (unsigned i = 0; i < t->ndims; i++)
		if (take_u64(json_array_get(shape, i), &t->shape[i]) ||
		        __builtin_mul_overflow(bytes, t->shape[i], &bytes))
			return bad(w, "tensor \"%s\": impossible shape", t->name);
	if (bytes != t->end - t->begin)
		return bad(w,
		        "tensor \"%s\": its shape asks for %llu bytes, its data_offsets for %llu",
		        t->name, (unsigned long long)bytes,
		        (unsigned long long)(t->end - t->begin));
	return 0;
}

static int parse_tensor(const struct why *w, const char *name, const json_t *j, struct st_tensor *t)
{
	const json_t *dtype = json_object_get(j, "dtype"),
	             *offsets = json_object_get(j, "data_offsets");

	if (!json_is_object(j) || !name[0] || strlen(name) >= sizeof(t->name))
		return bad(w, "tensor \"%.40s\": bad name or entry", name);
	snprintf(t->name, sizeof(t->name), "%s", name);
	if (!json_is_string(dtype) || strlen(json_string_value(dtype)) >= sizeof(t->dtype) ||
	        !dtype_bytes(json_string_value(dtype)))
		return bad(w, "tensor \"%s\": unknown dtype", name);
	snprintf(t->dtype, sizeof(t->dtype), "%s", json_string_value(dtype));
	if (json_array_size(offsets) != 2 || take_u64(json_array_get(offsets, 0), &t->begin) ||
	        take_u64(json_array_get(offsets, 1), &t->end) || t->begin > t->end)
		return bad(w, "tensor \"%s\": bad data_offsets", name);
	return parse_shape(w, json_object_get(j, "shape"), t);
}

static int parse_step(const struct why *w, const json_t *meta, struct st_header *h)
{
	const json_t *step = json_object_get(meta, "step");
	char *end;

	if (!json_is_object(meta))
		return bad(w, "__metadata__ is no object");
	if (!step)
		return 0;
	if (!json_is_string(step))
		return bad(w, "__metadata__ \"step\" is no string");
	errno = 0;
	h->step = strtoull(json_string_value(step), &end, 10);
	return errno || *end || !json_string_value(step)[0] || json_string_value(step)[0] == '-'
	               ? bad(w, "__metadata__ \"step\" is no number")
	               : 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct st_tensor *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* The data must be covered exactly: no gap, no overlap, nothing behind. */
static int check_layout(const struct why *w, const struct st_header *h, uint64_t data)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < h->ntensors; i++) {
		if (h->tensors[i].begin != at)
			return bad(w, "tensor \"%s\": %s in front of it, at byte %llu of the data",
			        h->tensors[i].name, h->tensors[i].begin > at ? "gap" : "overlap",
			        (unsigned long long)h->tensors[i].begin);
		at = h->tensors[i].end;
	}
	if (at > data)
		return bad(w, "truncated: its tensors take %llu bytes, only %llu are there",
		        (unsigned long long)at, (unsigned long long)data);
	return at == data ? 0
	                  : bad(w, "%llu bytes behind the last tensor",
	                            (unsigned long long)(data - at));
}

static int parse_root(const struct why *w, json_t *root, uint64_t data, struct st_header *h)
{
	const char *key;
	json_t *value;
	int err = 0;

	if (!json_is_object(root) || json_object_size(root) > MAX_TENSORS)
		return bad(w, "its header is no JSON object of tensors");
	h->tensors = calloc(json_object_size(root) + 1, sizeof(*h->tensors));
	if (!h->tensors)
		return -ENOMEM;
	json_object_foreach(root, key, value)
	{
		err = strcmp(key, "__metadata__")
		              ? parse_tensor(w, key, value, &h->tensors[h->ntensors++])
		              : parse_step(w, value, h);
		if (err)
			return err;
	}
	qsort(h->tensors, h->ntensors, sizeof(*h->tensors), by_begin);
	return check_layout(w, h, data);
}

int st_parse(struct st_header *out, const uint8_t *head, size_t len, uint64_t file_size, char *why,
        size_t why_size)
{
	const struct why w = {why, why_size};
	json_error_t at;

	memset(out, 0, sizeof(*out));
	if (len < 8 || st_header_size(head) < 0)
		return bad(
		        &w, "no safetensors file: its first 8 bytes are no sensible header length");
	if ((uint64_t)st_header_size(head) != len || file_size < len)
		return bad(&w, "truncated inside its header");
	json_t *root = json_loadb((const char *)head + 8, len - 8, JSON_REJECT_DUPLICATES, &at);
	if (!root)
		return bad(&w, "its header is no JSON: column %d, %s", at.column, at.text);
	out->header_size = len;
	int err = parse_root(&w, root, file_size - len, out);
	json_decref(root);
	if (err)
		st_free(out);
	return err;
}

void st_free(struct st_header *h)
{
	free(h->tensors);
	h->tensors = NULL;
	h->ntensors = 0;
}

const struct st_tensor *st_find(const struct st_header *h, const char *name)
{
	for (unsigned i = 0; i < h->ntensors; i++)
		if (!strcmp(h->tensors[i].name, name))
			return &h->tensors[i];
	return NULL;
}

static int read_at(int fd, void *buf, size_t len, uint64_t at)
{
	for (size_t got = 0; got < len;) {
		ssize_t n = pread(fd, (char *)buf + got, len - got, (off_t)(at + got));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ENODATA;
		got += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int st_read(struct st_header *out, int fd, char *why, size_t why_size)
{
	const struct why w = {why, why_size};
	uint8_t word[8];
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size < 8 || read_at(fd, word, sizeof(word), 0))
		return bad(&w, "no safetensors file: shorter than 8 bytes");
	int64_t size = st_header_size(word);
	if (size < 0)
		return bad(
		        &w, "no safetensors file: its first 8 bytes are no sensible header length");
	if (size > st.st_size)
		return bad(&w, "truncated inside its header");
	uint8_t *head = malloc((size_t)size);
	int err = head ? read_at(fd, head, (size_t)size, 0) : -ENOMEM;
	if (!err)
		err = st_parse(out, head, (size_t)size, (uint64_t)st.st_size, why, why_size);
	free(head);
	return err;
}

static json_t *tensor_json(const struct st_tensor *t)
{
	json_t *shape = json_array();

	for (unsigned i = 0; i < t->ndims; i++)
		json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
	return json_pack("{s:s,s:o,s:[I,I]}", "dtype", t->dtype, "shape", shape, "data_offsets",
	        (json_int_t)t->begin, (json_int_t)t->end);
}

int st_build(struct st_tensor *tensors, unsigned ntensors, const char *const *meta, uint8_t **head,
        size_t *len)
{
	json_t *root = json_object(), *m = json_object();
	uint64_t at = 0;

	for (; *meta; meta += 2)
		json_object_set_new(m, meta[0], json_string(meta[1]));
	json_object_set_new(root, "__metadata__", m);
	for (unsigned i = 0; i < ntensors; i++) {
		uint64_t bytes = dtype_bytes(tensors[i].dtype);
		for (unsigned d = 0; d < tensors[i].ndims; d++)
			bytes *= tensors[i].shape[d];
		tensors[i].begin = at;
		tensors[i].end = at += bytes;
		json_object_set_new(root, tensors[i].name, tensor_json(&tensors[i]));
	}
	char *text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	/* spaces keep the data 8-aligned: safetensors README, "Format" */
	size_t n = text ? strlen(text) : 0, padded = (n + 7) & ~(size_t)7;
	uint8_t *out = text ? malloc(8 + padded) : NULL;
	if (out) {
		for (int i = 0; i < 8; i++)
			out[i] = (uint8_t)((uint64_t)padded >> 8 * i);
		memset(out + 8, ' ', padded);
		memcpy(out + 8, text, n);
		*head = out;
		*len = 8 + padded;
	}
	free(text);
	return out ? 0 : -ENOMEM;
}

struct st_tensor st_float(
        const char *prefix, const char *name, unsigned ndims, const unsigned *shape)
{
	struct st_tensor t = {.dtype = "F32", .ndims = ndims};

	snprintf(t.name, sizeof(t.name), "%s%s", prefix, name);
	for (unsigned i = 0; i < ndims; i++)
		t.shape[i] = shape[i];
	return t;
}
