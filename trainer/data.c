/* data.c - see data.h. */
#include "trainer/data.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/fnv.h"

#define MAX_FILE        (1ull << 30)
#define HELD_OUT_ONE_IN 20

/* Bytes of one well-formed UTF-8 sequence at @p; 0 when it is malformed (RFC 3629, section 4). */
static size_t utf8_sequence(const uint8_t *p, size_t n)
{
	size_t len =
	        p[0] < 0x80
	                ? 1
	                : (p[0] >= 0xC2 && p[0] < 0xE0
	                                  ? 2
	                                  : ((p[0] & 0xF0) == 0xE0
	                                                    ? 3
	                                                    : (p[0] >= 0xF0 && p[0] < 0xF5 ? 4
	                                                                                   : 0)));

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
	        (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
		return 0;
	return len;
}

static bool is_text(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t len = utf8_sequence(p + i, n - i);
		if (!len || p[i] == 0)
			return false;
		i += len;
	}
	return n > 0;
}

/* Whole regular file. Return: 0; -errno. */
static int read_document(const char *path, uint8_t **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t got = 0;

	if (fd < 0)
		return -errno;
	int err = fstat(fd, &st)
	                  ? -errno
	                  : (S_ISREG(st.st_mode) && (uint64_t)st.st_size <= MAX_FILE ? 0 : -EINVAL);
	uint8_t *buf = err ? NULL : malloc((size_t)st.st_size + 1);
	if (!err && !buf)
		err = -ENOMEM;
	while (!err && got < (size_t)st.st_size) {
		ssize_t n = read(fd, buf + got, (size_t)st.st_size - got);
		if (n < 0 && errno != EINTR)
			err = -errno;
		if (n == 0)
			break;
		got += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (err) {
		free(buf);
		return err;
	}
	*text = buf;
	*len = got;
	return 0;
}

/* Twice as many slots as documents, or more; the old ones find their place again. */
static int grow_table(struct corpus *c)
{
	size_t room = c->table_room ? 2 * c->table_room : 64;
	size_t *table = calloc(room, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < c->ndocs; i++) {
		size_t at = c->docs[i].hash & (room - 1);
		while (table[at])
			at = (at + 1) & (room - 1);
		table[at] = i + 1;
	}
	free(c->table);
	c->table = table;
	c->table_room = room;
	return 0;
}

/* The slot of a text: with the equal document's index + 1, or 0. */
static size_t *slot_of(const struct corpus *c, const uint8_t *text, size_t len, uint64_t hash)
{
	size_t at = hash & (c->table_room - 1);

	while (c->table[at]) {
		const struct document *d = &c->docs[c->table[at] - 1];
		if (d->hash == hash && d->len == len && !memcmp(d->text, text, len))
			break;
		at = (at + 1) & (c->table_room - 1);
	}
	return &c->table[at];
}

/* A document that is not there yet. */
static int add_document(
        struct corpus *c, const char *path, uint8_t *text, size_t len, uint64_t hash)
{
	if ((c->ndocs & (c->ndocs + 1)) ==
	        0) { /* grow when the count is one below a power of two */
		struct document *more = realloc(c->docs, (2 * c->ndocs + 2) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->docs = more;
	}
	char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	c->docs[c->ndocs++] = (struct document){copy, text, len, hash};
	c->bytes += len;
	return 0;
}

/* Return: 1 the corpus keeps the text; 0 it has an equal one; -ENOMEM. */
static int take_text(struct corpus *c, const char *path, uint8_t *text, size_t len)
{
	uint64_t hash = fnv1a(FNV1A_START, text, len);
	int err = 2 * c->ndocs >= c->table_room ? grow_table(c) : 0;

	if (err)
		return err;
	size_t *slot = slot_of(c, text, len, hash);
	if (*slot) {
		c->skipped_duplicate++;
		return 0;
	}
	err = add_document(c, path, text, len, hash);
	*slot = err ? 0 : c->ndocs;
	return err ? err : 1;
}

static int take_file(struct corpus *c, const char *path)
{
	uint8_t *text = NULL;
	size_t len = 0;
	int err = read_document(path, &text, &len);

	if (err == -ENOMEM)
		return err;
	if (err) {
		fprintf(stderr, "trainer: %s: %s; left out\n", path, strerror(-err));
		c->skipped_unreadable++;
		return 0;
	}
	if (!is_text(text, len)) {
		c->skipped_binary++;
	} else {
		err = take_text(c, path, text, len);
		if (err > 0)
			return 0; /* kept */
	}
	free(text);
	return err;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int walk(struct corpus *c, char *path)
{
	char *const roots[] = {path, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *e;
	int err = 0;

	if (!fts)
		return -errno;
	while (!err && (e = fts_read(fts))) {
		if (e->fts_info == FTS_F) {
			err = take_file(c, e->fts_path);
		} else if (e->fts_info == FTS_NS || e->fts_info == FTS_DNR ||
		           e->fts_info == FTS_ERR) {
			fprintf(stderr, "trainer: %s: %s; left out\n", e->fts_path,
			        strerror(e->fts_errno));
			c->skipped_unreadable++;
		}
	}
	fts_close(fts);
	return err;
}

int corpus_load(struct corpus *c, char *const *paths, size_t npaths)
{
	int err = 0;

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < npaths && !err; i++)
		err = walk(c, paths[i]);
	if (!err && !c->ndocs)
		err = -ENODATA;
	if (err)
		corpus_free(c);
	return err;
}

void corpus_free(struct corpus *c)
{
	for (size_t i = 0; i < c->ndocs; i++) {
		free(c->docs[i].path);
		free(c->docs[i].text);
	}
	free(c->docs);
	free(c->table);
	memset(c, 0, sizeof(*c));
}

uint8_t *corpus_text(const struct corpus *c, size_t *len)
{
	uint8_t *all = malloc(c->bytes ? c->bytes : 1);
	size_t at = 0;

	for (size_t i = 0; all && i < c->ndocs; i++) {
		memcpy(all + at, c->docs[i].text, c->docs[i].len);
		at += c->docs[i].len;
	}
	*len = at;
	return all;
}

uint64_t corpus_digest(const struct corpus *c)
{
	uint64_t h = FNV1A_START;

	for (size_t i = 0; i < c->ndocs; i++) {
		uint64_t len = c->docs[i].len;
		h = fnv1a(h, &len, sizeof(len));
		h = fnv1a(h, c->docs[i].text, c->docs[i].len);
	}
	return h;
}

static int append(struct stream *s, size_t *room, const uint16_t *ids, size_t n)
{
	if (s->count + n > *room) {
		*room = 2 * (s->count + n);
		uint16_t *more = realloc(s->ids, *room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->ids = more;
	}
	if (n)
		memcpy(s->ids + s->count, ids, n * sizeof(*ids));
	s->count += n;
	return 0;
}

/* One document and its end mark onto a stream. */
static int encode_document(
        const struct document *d, const struct tokenizer *t, struct stream *s, size_t *room)
{
	uint16_t *ids, end = (uint16_t)tok_end(t);
	size_t n;
	int err = tok_encode(t, d->text, d->len, &ids, &n);

	if (err)
		return err;
	err = append(s, room, ids, n);
	free(ids);
	return err ? err : append(s, room, &end, 1);
}

static int split_tail(struct stream *train, struct stream *held_out)
{
	size_t take = train->count / HELD_OUT_ONE_IN, room = 0;

	take = take < 2 ? 2 : take;
	if (train->count < take + 2)
		return -ENODATA;
	train->count -= take;
	return append(held_out, &room, train->ids + train->count, take);
}

int data_split(const struct corpus *c, const struct tokenizer *t, struct stream *train,
        struct stream *held_out)
{
	size_t train_room = 0, held_room = 0;
	bool by_document = c->ndocs >= HELD_OUT_ONE_IN;
	int err = 0;

	memset(train, 0, sizeof(*train));
	memset(held_out, 0, sizeof(*held_out));
	for (size_t i = 0; i < c->ndocs && !err; i++) {
		/* behind whenever it has less than its share; the first document always trains */
		bool hold = by_document && i &&
		            held_out->count * HELD_OUT_ONE_IN < train->count + held_out->count &&
		            (i % HELD_OUT_ONE_IN == HELD_OUT_ONE_IN - 1 ||
		                    (i + 1 == c->ndocs && !held_out->count));
		err = encode_document(
		        &c->docs[i], t, hold ? held_out : train, hold ? &held_room : &train_room);
	}
	if (!err && !by_document)
		err = split_tail(train, held_out);
	if (!err && (train->count < 2 || held_out->count < 2))
		err = -ENODATA;
	if (err) {
		stream_free(train);
		stream_free(held_out);
	}
	return err;
}

void stream_free(struct stream *s)
{
	free(s->ids);
	memset(s, 0, sizeof(*s));
}

/* splitmix64 finaliser (Steele, Lea, Flood 2014): a counter becomes a random number. */
static uint64_t mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15ull;
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return x ^ x >> 31;
}

uint64_t data_random(uint64_t seed, uint64_t index)
{
	return mix(mix(seed) ^ index);
}

static void copy_row(const struct stream *s, uint64_t start, unsigned n, uint16_t *out)
{
	for (unsigned i = 0; i < n; i++)
		out[i] = s->ids[(start + i) % s->count];
}

void stream_batch(
        const struct stream *s, uint64_t seed, uint64_t step, unsigned B, unsigned T, uint16_t *out)
{
	for (unsigned b = 0; b < B; b++)
		copy_row(s, data_random(seed, step * B + b) % s->count, T + 1,
		        out + (size_t)b * (T + 1));
}

void stream_window(const struct stream *s, uint64_t index, unsigned T, uint16_t *out)
{
	copy_row(s, index * T % s->count, T + 1, out);
}

uint64_t stream_windows(const struct stream *s, unsigned T)
{
	return s->count / T ? s->count / T : 1;
}
