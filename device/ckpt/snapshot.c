/* snapshot.c - see snapshot.h. */
#include "device/ckpt/snapshot.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/name.h"

#define SNAP_MAX_META 16

enum area_state { AREA_FREE, AREA_SAVING, AREA_UPLOADING, AREA_FROZEN };

struct snap {
	struct rx580 *rx;
	enum area_state state;
	char name[65];
	uint8_t *head; /* header bytes; while uploading: as far as received */
	size_t head_len, head_room;
	uint64_t received;    /* upload: bytes of the file so far */
	struct st_file *file; /* parsed header of a frozen snapshot or an upload past its header */
	uint64_t area, area_bytes; /* VRAM of the data section; area_bytes 0: none */
	/* save in progress */
	struct plan *plan;
	struct st_meta meta[SNAP_MAX_META];
	unsigned nmeta;
	int save_error;

	pthread_mutex_t lock;
	struct snap_info info;
};

static void publish(struct snap *s)
{
	pthread_mutex_lock(&s->lock);
	s->info.present = s->state != AREA_FREE;
	s->info.complete = s->state == AREA_FROZEN;
	s->info.file_size = s->state == AREA_UPLOADING ? s->received : s->head_len + s->area_bytes;
	snprintf(s->info.name, sizeof(s->info.name), "%s", s->name);
	pthread_mutex_unlock(&s->lock);
}

/* freeze - from now on it does not change, and the next owner of the card finds it. */
static void freeze(struct snap *s)
{
	struct rx_kept k = {
	        .kind = 'c', .offset = s->area_bytes ? s->area : 0, .size = s->area_bytes};

	s->state = AREA_FROZEN;
	publish(s);
	memcpy(k.name, s->name, sizeof(s->name));
	rx_keep(s->rx, &k, s->head, s->head_len); /* has said why not */
}

static void clear(struct snap *s)
{
	if (s->state == AREA_FROZEN)
		rx_forget(s->rx, 'c', s->name);
	if (s->area_bytes)
		rx_free(s->rx, s->area);
	st_free(s->file);
	free(s->head);
	for (unsigned i = 0; i < s->nmeta; i++) {
		free(s->meta[i].key);
		free(s->meta[i].value);
	}
	s->nmeta = 0;
	s->file = NULL;
	s->head = NULL;
	s->head_len = s->head_room = 0;
	s->received = s->area_bytes = 0;
	s->name[0] = '\0';
	s->plan = NULL;
	s->state = AREA_FREE;
	publish(s);
}

int snap_new(struct snap **out, struct rx580 *rx)
{
	struct snap *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->rx = rx;
	pthread_mutex_init(&s->lock, NULL);
	*out = s;
	return 0;
}

void snap_free(struct snap *s)
{
	if (!s)
		return;
	clear(s);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void snap_read_info(struct snap *s, struct snap_info *out)
{
	pthread_mutex_lock(&s->lock);
	*out = s->info;
	pthread_mutex_unlock(&s->lock);
}

/* header_ok - a whole header whose tensors fill the area. */
static bool header_ok(const void *head, const struct rx_kept *k)
{
	struct st_file *f = NULL;
	char why[256];
	bool ok = k->note_bytes >= 8 && st_parse_length(head) == k->note_bytes &&
	          !st_parse(head, k->note_bytes, k->note_bytes + k->size, &f, why, sizeof(why));

	st_free(f);
	return ok;
}

int snap_adopt(struct snap *s)
{
	const struct rx_kept *found = rx_kept_next(s->rx, 'c', NULL);
	void *head = NULL;

	if (!found)
		return 0;
	struct rx_kept k = *found;
	int err = rx_kept_note(s->rx, &k, &head);

	if (!err && !header_ok(head, &k))
		err = rx_fail(
		        "ckpt", -EBADMSG, "%s: the snapshot found in VRAM is damaged", k.name);
	if (err) {
		free(head);
		rx_forget(s->rx, 'c', k.name);
		rx_free(s->rx, k.offset);
		return err == -EBADMSG || err == -ENODATA ? 0 : err;
	}
	snprintf(s->name, sizeof(s->name), "%.64s", k.name);
	s->head = head;
	s->head_len = k.note_bytes;
	s->area = k.offset;
	s->area_bytes = k.size;
	s->state = AREA_FROZEN;
	publish(s);
	return 0;
}

static int check_free(struct snap *s, const char *name)
{
	if (!rx_name_ok(name, strlen(name)))
		return rx_fail("ckpt", -EINVAL,
		        "bad checkpoint name \"%.64s\": letters, digits, . _ - and at most 64",
		        name);
	if (s->state != AREA_FREE && !strcmp(s->name, name))
		return rx_fail("ckpt", -EEXIST,
		        "checkpoints/%s.safetensors is there already; remove it first", name);
	if (s->state != AREA_FREE)
		return rx_fail("ckpt", -EBUSY,
		        "the snapshot area holds %s; copy and remove that first", s->name);
	return 0;
}

static int take_area(struct snap *s, uint64_t bytes)
{
	char tag[80];

	if (!bytes)
		return 0;
	snprintf(tag, sizeof(tag), "checkpoints/%s", s->name);
	int err = rx_alloc(s->rx, tag, align_up(bytes, 4), RX_ANYWHERE, &s->area);
	if (err)
		return rx_fail("ckpt", err, "no room for a snapshot of %llu bytes",
		        (unsigned long long)bytes);
	s->area_bytes = bytes;
	return 0;
}

/* Copy one tensor on the card. Lengths that are no multiple of 4 (odd U8, U16 tensors) go by way of
 * the host. */
static int copy_range(struct rx580 *rx, uint64_t dst, uint64_t src, uint64_t bytes)
{
	uint8_t buf[4096];
	int err = 0;

	if (bytes % 4 == 0 && dst % 4 == 0 && src % 4 == 0)
		return rx_vram_copy(rx, dst, src, bytes);
	for (uint64_t at = 0; at < bytes && !err; at += sizeof(buf)) {
		size_t n = (size_t)MIN(bytes - at, sizeof(buf));
		err = rx_vram_read(rx, src + at, buf, n);
		if (!err)
			err = rx_vram_write(rx, dst + at, buf, n);
	}
	return err;
}

/* Called at the boundary: only then the step that the state belongs to is known. */
static int build_header(struct snap *s)
{
	struct plan *plan = s->plan;
	unsigned nextra = s->nmeta;
	struct plan_status status;
	unsigned n;
	const struct plan_tensor *t = plan_tensors(plan, &n);
	char step[24], *keys[2] = {strdupa("step"), strdupa("plan")};
	RX_CLEANUP(free) struct st_tensor *st = calloc(n, sizeof(*st));
	RX_CLEANUP(free) struct st_meta *meta = calloc(nextra + 2, sizeof(*meta));

	if (!st || !meta)
		return -ENOMEM;
	plan_read_status(plan, &status);
	snprintf(step, sizeof(step), "%llu", (unsigned long long)status.steps_done);
	meta[0] = (struct st_meta){keys[0], step};
	meta[1] = (struct st_meta){keys[1], strdupa(plan_name(plan))};
	memcpy(meta + 2, s->meta, nextra * sizeof(*meta));
	for (unsigned i = 0; i < n; i++) {
		memcpy(st[i].name, t[i].name, sizeof(st[i].name));
		memcpy(st[i].dtype, t[i].dtype, sizeof(st[i].dtype));
		st[i].ndims = t[i].ndims;
		memcpy(st[i].shape, t[i].shape, sizeof(st[i].shape));
	}
	free(s->head);
	return st_build(st, n, meta, nextra + 2, &s->head, &s->head_len);
}

static int capture(void *ctx, int err)
{
	struct snap *s = ctx;
	unsigned n;
	const struct plan_tensor *t = plan_tensors(s->plan, &n);
	uint64_t at = s->area;

	if (!err)
		err = build_header(s);

	for (unsigned i = 0; i < n && !err; i++) {
		err = copy_range(
		        s->rx, at, rx_buffer_offset(t[i].buffer) + t[i].offset, t[i].bytes);
		at += t[i].bytes;
	}
	s->save_error = err;
	s->plan = NULL;
	if (err) {
		rx_log(LOG_ERROR, "ckpt", "%s: not saved: %s; the snapshot is discarded", s->name,
		        strerror(-err));
		clear(s);
		return err;
	}
	freeze(s);
	return 0;
}

static int keep_meta(struct snap *s, const struct st_meta *meta, unsigned nmeta)
{
	if (nmeta > SNAP_MAX_META)
		return rx_fail("ckpt", -EINVAL, "more than %u metadata entries", SNAP_MAX_META);
	for (unsigned i = 0; i < nmeta; i++) {
		struct st_meta *m = &s->meta[s->nmeta++];
		m->key = strdup(meta[i].key);
		m->value = strdup(meta[i].value);
		if (!m->key || !m->value)
			return -ENOMEM;
	}
	return 0;
}

int snap_save(struct snap *s, const char *name, struct plan *plan, const struct st_meta *meta,
        unsigned nmeta)
{
	unsigned n;
	const struct plan_tensor *t = plan_tensors(plan, &n);
	uint64_t bytes = 0;
	int err = check_free(s, name);

	if (!err)
		err = plan_check_whole(plan);
	if (err)
		return err;
	if (!n)
		return rx_fail("ckpt", -EINVAL, "plan %s has no \"state\": nothing to save",
		        plan_name(plan));
	for (unsigned i = 0; i < n; i++)
		bytes += t[i].bytes;
	snprintf(s->name, sizeof(s->name), "%s", name);
	err = keep_meta(s, meta, nmeta);
	if (!err)
		err = take_area(s, bytes);
	if (err) {
		clear(s);
		return err;
	}
	s->state = AREA_SAVING;
	s->plan = plan;
	s->save_error = 0;
	publish(s);
	err = plan_at_boundary(plan, capture, s);
	if (err && err != -EINPROGRESS && s->state == AREA_SAVING)
		clear(s);
	return err;
}

int snap_save_result(const struct snap *s)
{
	return s->state == AREA_SAVING ? -EINPROGRESS : s->save_error;
}

int snap_read(struct snap *s, const char *name, uint64_t offset, void *buf, size_t len)
{
	uint8_t *out = buf;

	if (s->state != AREA_FROZEN || strcmp(s->name, name))
		return -ENOENT;
	uint64_t size = s->head_len + s->area_bytes;
	if (offset >= size)
		return 0;
	len = (size_t)MIN(MIN((uint64_t)len, size - offset), (uint64_t)INT32_MAX);
	size_t from_head = offset < s->head_len ? MIN(len, s->head_len - (size_t)offset) : 0;
	memcpy(out, s->head + offset, from_head);
	if (from_head < len) {
		int err = rx_vram_read(s->rx, s->area + (offset + from_head - s->head_len),
		        out + from_head, len - from_head);
		if (err)
			return err;
	}
	return (int)len;
}

int snap_remove(struct snap *s, const char *name)
{
	if (s->state == AREA_FREE || strcmp(s->name, name))
		return -ENOENT;
	if (s->state == AREA_SAVING)
		return rx_fail("ckpt", -EBUSY, "%s is being saved at the next step boundary", name);
	clear(s);
	return 0;
}

int snap_upload_begin(struct snap *s, const char *name)
{
	int err = check_free(s, name);

	if (err)
		return err;
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->state = AREA_UPLOADING;
	publish(s);
	return 0;
}

/* Bytes of header wanted in all, as far as can be told; -EINVAL for a lying length word. */
static int64_t header_wanted(const struct snap *s)
{
	return s->head_len < 8 ? 8 : st_parse_length(s->head);
}

/* The header is complete: check it and take the area. Its tensors say how long the file is going to
 * be. */
static int accept_header(struct snap *s)
{
	char why[256];
	int err = st_parse(s->head, s->head_len, ST_SIZE_AS_DECLARED, &s->file, why, sizeof(why));

	if (err)
		return rx_fail("ckpt", err, "%s: %s", s->name, why);
	return take_area(s, s->file->data_size);
}

/* Take header bytes from @data. Return: how many; -errno. */
static int take_header(struct snap *s, const uint8_t *data, size_t len)
{
	size_t used = 0;

	while (used < len && !s->file) {
		int64_t want = header_wanted(s);
		if (want < 0)
			return rx_fail(
			        "ckpt", -EINVAL, "%s: header length word is impossible", s->name);
		if ((size_t)want > s->head_room) {
			uint8_t *more = realloc(s->head, (size_t)want);
			if (!more)
				return -ENOMEM;
			s->head = more;
			s->head_room = (size_t)want;
		}
		size_t n = MIN(len - used, (size_t)want - s->head_len);
		memcpy(s->head + s->head_len, data + used, n);
		s->head_len += n;
		used += n;
		if (want > 8 && s->head_len == (size_t)want) {
			int err = accept_header(s);
			if (err)
				return err;
		}
	}
	return (int)used;
}

int snap_upload_append(struct snap *s, uint64_t offset, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	if (s->state != AREA_UPLOADING || offset != s->received)
		return rx_fail("ckpt", -EINVAL,
		        "%s: checkpoints are written once, from start to end", s->name);
	int used = take_header(s, bytes, len);
	if (used < 0)
		return used;
	size_t rest = len - (size_t)used;
	if (rest) {
		uint64_t at = s->received + (uint64_t)used - s->head_len;
		if (!range_ok(at, rest, s->area_bytes))
			return rx_fail(
			        "ckpt", -EINVAL, "%s: more data than the header declares", s->name);
		int err = rx_vram_write(s->rx, s->area + at, bytes + used, rest);
		if (err)
			return err;
	}
	s->received += len;
	publish(s);
	return 0;
}

int snap_upload_end(struct snap *s)
{
	if (s->state != AREA_UPLOADING)
		return 0;
	if (!s->file || s->received != s->head_len + s->area_bytes) {
		rx_log(LOG_ERROR, "ckpt", "%s: incomplete, %llu bytes received; discarded", s->name,
		        (unsigned long long)s->received);
		clear(s);
		return -EINVAL;
	}
	freeze(s);
	return rx_hdp_flush(s->rx);
}

static int check_tensor(
        const struct snap *s, const struct st_file *f, const struct plan_tensor *want)
{
	const struct st_tensor *t = st_find(f, want->name);

	if (!t)
		return rx_fail("ckpt", -EINVAL, "%s has no tensor %s", s->name, want->name);
	if (strcmp(t->dtype, want->dtype) || t->ndims != want->ndims ||
	        memcmp(t->shape, want->shape, t->ndims * sizeof(t->shape[0])))
		return rx_fail("ckpt", -EINVAL,
		        "%s: tensor %s has another dtype or shape than the plan's state", s->name,
		        want->name);
	return 0;
}

static int copy_into_plan(struct snap *s, const struct st_file *f, struct plan *plan)
{
	unsigned n;
	const struct plan_tensor *t = plan_tensors(plan, &n);
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++)
		err = check_tensor(s, f, &t[i]);
	for (unsigned i = 0; i < n && !err; i++)
		err = copy_range(s->rx, rx_buffer_offset(t[i].buffer) + t[i].offset,
		        s->area + st_find(f, t[i].name)->begin, t[i].bytes);
	return err;
}

int snap_load(struct snap *s, const char *name, struct plan *plan)
{
	struct plan_status status;
	struct st_file *f;
	char why[256];

	if (s->state != AREA_FROZEN || strcmp(s->name, name))
		return rx_fail("ckpt", -ENOENT, "checkpoints/%s.safetensors does not exist", name);
	plan_read_status(plan, &status);
	if (status.state == PLAN_RUNNING)
		return rx_fail("ckpt", -EBUSY,
		        "plan %s is running; write stop to its run file first", plan_name(plan));
	int err = st_parse(s->head, s->head_len, s->head_len + s->area_bytes, &f, why, sizeof(why));
	if (err)
		return rx_fail("ckpt", err, "%s: %s", name, why);
	const char *step = st_meta_get(f, "step");
	uint64_t steps = step ? strtoull(step, NULL, 10) : 0;
	err = copy_into_plan(s, f, plan);
	st_free(f);
	return err ? err : plan_set_steps_done(plan, steps);
}
