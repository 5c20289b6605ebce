/* replay.c - a carrier that plays a trace (trace.h) as a device. The whole file is checked before
 * the first command: a trace that was cut or edited is refused.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/scsi/scsi_priv.h"
#include "device/scsi/trace.h"

#define MAX_TRACE_BYTES (64u << 20)
#define MAX_DATA_BYTES  (1u << 20) /* of one command; a bridge takes 256 KiB: bridge.md 2.6 */

enum payload { NO_BYTES, BYTES, DIGEST, WITHHELD };

struct entry {
	unsigned line;
	uint8_t cdb[CDB_MAX], cdb_len;
	enum scsi_dir dir;
	uint32_t len, us;
	bool reset;
	int result; /* bytes, or -errno; -EIO with sense */
	struct scsi_sense sense;
	enum payload payload;
	uint32_t nbytes;
	uint8_t bytes[TRACE_INLINE];
	uint64_t digest;
};

struct replay {
	struct scsi s; /* first */
	char *name;
	struct usb_identity id;
	struct entry *entry;
	size_t n, room, at;
};

/* What is being read: words of one line. */
struct reader {
	const char *name, *text;
	size_t len, at;
	unsigned line;
	const char *p, *end; /* the rest of the current line */
};

static int bad(const struct reader *in, const char *why)
{
	return rx_fail("replay", -EINVAL, "%s, line %u: %s", in->name, in->line, why);
}

/* next_line - false at the end of the text or when the last line has no end. */
static bool next_line(struct reader *in)
{
	const char *start = in->text + in->at, *nl;

	nl = in->len > in->at ? memchr(start, '\n', in->len - in->at) : NULL;
	if (!nl)
		return false;
	in->p = start;
	in->end = nl;
	in->at += (size_t)(nl - start) + 1;
	in->line++;
	return true;
}

/* next_word - up to the next space or the end of the line, without it. Empty words are not words.
 */
static bool next_word(struct reader *in, char *out, size_t size)
{
	size_t n = 0;

	while (in->p + n < in->end && in->p[n] != ' ')
		n++;
	if (n == 0 || n >= size)
		return false;
	memcpy(out, in->p, n);
	out[n] = '\0';
	in->p += n;
	if (in->p < in->end) {
		in->p++; /* the space; a line must not end in one */
		return in->p < in->end;
	}
	return true;
}

static bool at_end(const struct reader *in)
{
	return in->p == in->end;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* number - the whole of @text in base 10 or 16, at most @max. */
static bool number(const char *text, unsigned base, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		int d = digit(*text);

		if (d < 0 || (unsigned)d >= base || v > (UINT64_MAX - (unsigned)d) / base)
			return false;
		v = v * base + (unsigned)d;
		if (v > max)
			return false;
	}
	*out = v;
	return true;
}

static bool next_number(struct reader *in, unsigned base, uint64_t max, uint64_t *out)
{
	char word[32];

	return next_word(in, word, sizeof(word)) && number(word, base, max, out);
}

/* bytes_of_hex - pairs of digits, at most @max bytes. Return: bytes; 0 when it is not that. */
static size_t bytes_of_hex(const char *text, uint8_t *out, size_t max)
{
	size_t n = strlen(text) / 2;

	if (strlen(text) % 2 || n > max)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return 0;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return n;
}

/* read_bytes - the BYTES of trace.h, standing for @len bytes. */
static bool read_bytes(struct reader *in, struct entry *e, uint32_t len)
{
	char word[2 * TRACE_INLINE + 1];

	if (!next_word(in, word, sizeof(word)))
		return false;
	e->nbytes = len;
	if (!strcmp(word, "withheld")) {
		e->payload = WITHHELD;
		return true;
	}
	if (!strncmp(word, "fnv:", 4)) {
		e->payload = DIGEST;
		return len > TRACE_INLINE && strlen(word) == 20 &&
		       number(word + 4, 16, UINT64_MAX, &e->digest);
	}
	e->payload = BYTES;
	return len && bytes_of_hex(word, e->bytes, TRACE_INLINE) == len;
}

static bool read_sense(struct reader *in, struct entry *e)
{
	char word[16];
	uint64_t key, asc, ascq;

	if (!next_word(in, word, sizeof(word)) || strlen(word) != 7 || word[1] != '/' ||
	        word[4] != '/')
		return false;
	word[1] = word[4] = '\0';
	if (!number(word, 16, 15, &key) || !key || !number(word + 2, 16, 255, &asc) ||
	        !number(word + 5, 16, 255, &ascq))
		return false;
	e->sense = (struct scsi_sense){(uint8_t)key, (uint8_t)asc, (uint8_t)ascq};
	e->result = -EIO;
	return true;
}

static bool read_error(struct reader *in, struct entry *e)
{
	char word[16];

	if (!next_word(in, word, sizeof(word)))
		return false;
	if (!strcmp(word, "EIO"))
		e->result = -EIO;
	else if (!strcmp(word, "ETIMEDOUT"))
		e->result = -ETIMEDOUT;
	else if (!strcmp(word, "ENODEV"))
		e->result = -ENODEV;
	else if (!strcmp(word, "EMSGSIZE"))
		e->result = -EMSGSIZE;
	else
		return false;
	return true;
}

static bool read_result(struct reader *in, struct entry *e)
{
	char word[16];
	uint64_t v;

	if (!next_word(in, word, sizeof(word)))
		return false;
	if (!strcmp(word, "reset")) {
		e->reset = true;
		if (!next_word(in, word, sizeof(word)))
			return false;
	}
	if (!strcmp(word, "sense"))
		return read_sense(in, e);
	if (!strcmp(word, "error"))
		return read_error(in, e);
	if (strcmp(word, "ok") != 0 || !next_number(in, 10, e->len, &v))
		return false;
	e->result = (int)v;
	return e->dir != SCSI_IN || !v || read_bytes(in, e, (uint32_t)v);
}

static bool read_request(struct reader *in, struct entry *e)
{
	char word[2 * CDB_MAX + 1];
	uint64_t v;

	if (!next_word(in, word, sizeof(word)))
		return false;
	e->cdb_len = (uint8_t)bytes_of_hex(word, e->cdb, CDB_MAX);
	if (!e->cdb_len || !next_word(in, word, sizeof(word)))
		return false;
	if (!strcmp(word, "none"))
		e->dir = SCSI_NONE;
	else if (!strcmp(word, "in"))
		e->dir = SCSI_IN;
	else if (!strcmp(word, "out"))
		e->dir = SCSI_OUT;
	else
		return false;
	if (!next_number(in, 10, MAX_DATA_BYTES, &v) || (v == 0) != (e->dir == SCSI_NONE))
		return false;
	e->len = (uint32_t)v;
	return e->dir != SCSI_OUT || read_bytes(in, e, e->len);
}

static int read_command(struct reader *in, struct entry *e)
{
	char word[8];
	uint64_t us;

	e->line = in->line;
	if (!read_request(in, e))
		return bad(in, "not \"CDB none|in|out LENGTH\" of a command");
	if (!next_word(in, word, sizeof(word)) || strcmp(word, "->") != 0)
		return bad(in, "the command has no answer: the recording was cut off here");
	if (!next_number(in, 10, UINT32_MAX, &us))
		return bad(in, "no microseconds after the arrow");
	e->us = (uint32_t)us;
	if (!read_result(in, e) || !at_end(in))
		return bad(in, "not a result of this command");
	return 0;
}

static int add_entry(struct replay *r, const struct entry *e)
{
	if (r->n == r->room) {
		size_t room = r->room ? 2 * r->room : 256;
		struct entry *grown = realloc(r->entry, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		r->entry = grown;
		r->room = room;
	}
	r->entry[r->n++] = *e;
	return 0;
}

static int read_head(struct reader *in, struct replay *r)
{
	uint64_t vid, pid, bcd, mbit;
	char word[8];

	if (!next_line(in) || (size_t)(in->end - in->p) != strlen(TRACE_MAGIC) ||
	        memcmp(in->p, TRACE_MAGIC, strlen(TRACE_MAGIC)) != 0)
		return bad(in, "the file does not start with \"" TRACE_MAGIC "\"");
	if (!next_line(in) || !next_word(in, word, sizeof(word)) || strcmp(word, "device") != 0 ||
	        !next_number(in, 16, 0xFFFF, &vid) || !next_number(in, 16, 0xFFFF, &pid) ||
	        !next_number(in, 16, 0xFFFF, &bcd) || !next_number(in, 10, 100000, &mbit) ||
	        !at_end(in))
		return bad(in, "not \"device VID PID BCD MBIT\"");
	r->id = (struct usb_identity){.vid = (uint16_t)vid,
	        .pid = (uint16_t)pid,
	        .bcd_device = (uint16_t)bcd,
	        .mbit = (unsigned)mbit};
	return 0;
}

static int check_end(struct reader *in, const struct replay *r, size_t before)
{
	uint64_t commands, digest;

	if (!next_number(in, 10, UINT32_MAX, &commands) ||
	        !next_number(in, 16, UINT64_MAX, &digest) || !at_end(in))
		return bad(in, "not \"end COMMANDS DIGEST\"");
	if (commands != r->n || digest != trace_fnv(TRACE_FNV_START, in->text, before))
		return bad(
		        in, "the trace was changed after it was recorded (or its line ends were)");
	return in->at == in->len ? 0 : bad(in, "something follows the end of the trace");
}

static int parse(struct replay *r, struct reader *in)
{
	int err = read_head(in, r);
	size_t before = in->at;

	while (!err && next_line(in)) {
		struct entry e = {0};
		char word[8];

		if (!next_word(in, word, sizeof(word)))
			return bad(in, "neither \"cmd\" nor \"end\"");
		if (!strcmp(word, "end"))
			return check_end(in, r, before);
		if (strcmp(word, "cmd") != 0)
			return bad(in, "neither \"cmd\" nor \"end\"");
		err = read_command(in, &e);
		if (!err)
			err = add_entry(r, &e);
		before = in->at;
	}
	return err ? err : bad(in, "the trace has no end: it was cut off after this line");
}

/* ---- as a device ---- */

static int differs(struct replay *r, unsigned line, const char *what, const uint8_t *cdb, size_t n)
{
	char text[2 * CDB_MAX + 1];

	for (size_t i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", cdb[i]);
	r->s.gone = true;
	return rx_fail("replay", -ENODEV, "%s, line %u: %s; the driver sent %s", r->name, line,
	        what, text);
}

static bool same_out(const struct entry *e, const void *buf)
{
	switch (e->payload) {
	case BYTES: return !memcmp(e->bytes, buf, e->len);
	case DIGEST: return trace_fnv(TRACE_FNV_START, buf, e->len) == e->digest;
	default: return true;
	}
}

static const char *mismatch(const struct entry *e, const uint8_t *cdb, size_t cdb_len,
        enum scsi_dir dir, const void *buf, size_t len)
{
	if (cdb_len != e->cdb_len || memcmp(cdb, e->cdb, cdb_len) != 0)
		return "another command was recorded here";
	if (dir != e->dir || len != e->len)
		return "the command was recorded with another direction or length";
	if (dir == SCSI_OUT && !same_out(e, buf))
		return "the command was recorded with other data";
	if (dir == SCSI_IN && e->result > 0 && e->payload != BYTES)
		return "the trace holds no bytes of this answer, only that it came";
	return NULL;
}

static int replay_exec(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir,
        void *buf, size_t len, unsigned timeout_ms, struct scsi_sense *sense)
{
	struct replay *r = (struct replay *)s;

	(void)timeout_ms; /* the answer is there */
	if (r->at == r->n)
		return differs(r, r->n ? r->entry[r->n - 1].line + 1 : 3, "the trace ends here",
		        cdb, cdb_len);
	const struct entry *e = &r->entry[r->at];
	const char *what = mismatch(e, cdb, cdb_len, dir, buf, len);

	if (what)
		return differs(r, e->line, what, cdb, cdb_len);
	r->at++;
	s->last_us = e->us;
	s->counters.busy_us += e->us;
	s->counters.commands++;
	s->counters.resets += e->reset;
	s->gone = e->result == -ENODEV;
	*sense = e->sense;
	if (e->result > 0 && dir == SCSI_IN)
		memcpy(buf, e->bytes, (size_t)e->result);
	if (e->result > 0)
		*(dir == SCSI_IN ? &s->counters.bytes_in : &s->counters.bytes_out) +=
		        (uint64_t)e->result;
	return e->result;
}

static void replay_identity(struct scsi *s, struct usb_identity *out)
{
	*out = ((struct replay *)s)->id;
}

static void replay_link_stats(struct scsi *s, struct usb_link_stats *out)
{
	(void)s;
	*out = (struct usb_link_stats){0};
}

static void replay_free(struct scsi *s)
{
	struct replay *r = (struct replay *)s;

	if (r->at < r->n && !s->gone)
		rx_log(LOG_WARN, "replay", "%s: %zu of %zu commands were not asked for", r->name,
		        r->n - r->at, r->n);
	free(r->entry);
	free(r->name);
	free(r);
}

int scsi_replay_text(struct scsi **out, const char *name, const char *text, size_t len)
{
	static const struct scsi_ops ops = {
	        replay_exec, replay_identity, replay_link_stats, replay_free, NULL, NULL};
	struct reader in = {.name = name, .text = text, .len = len};
	struct replay *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->s.ops = &ops;
	r->s.own_time = true;
	r->name = strdup(name);
	int err = r->name ? parse(r, &in) : -ENOMEM;

	if (err) {
		free(r->entry);
		free(r->name);
		free(r);
		return err;
	}
	*out = &r->s;
	return 0;
}

/* read_file - Return: 0 with @text to be freed; -errno. */
static int read_file(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe is not waited for */
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st;
	int err = f && !fstat(fileno(f), &st) ? 0 : -errno;

	if (!err && !S_ISREG(st.st_mode))
		err = -EINVAL;
	if (!err && st.st_size > MAX_TRACE_BYTES)
		err = -EFBIG;
	*text = err ? NULL : malloc((size_t)st.st_size + 1);
	if (!err && !*text)
		err = -ENOMEM;
	if (!err)
		*len = fread(*text, 1, (size_t)st.st_size, f);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return err;
}

int scsi_replay_new(struct scsi **out, const char *path)
{
	RX_CLEANUP(free) char *text = NULL;
	size_t len = 0;
	int err = read_file(path, &text, &len);

	if (err)
		return rx_fail(
		        "replay", err, "cannot read the trace \"%s\": %s", path, strerror(-err));
	return scsi_replay_text(out, path, text, len);
}
