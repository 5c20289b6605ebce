/* test_decode_llvm.c - decoder and disassembler against llvm-mc-19 on random encodings of every
 * opcode. Two kinds of encodings: with any bits, where all we accept must read the same in LLVM;
 * and with scalar registers on their alignment, where all LLVM accepts must be accepted, but for
 * what decode.h says no gfx803 has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "device/virtual/gcn3/decode.h"

#define LLVM_MC "llvm-mc-19"
#define PER_OP  60
#define TEXT    224 /* longer than any instruction */

struct encoding {
	enum gcn3_format format;
	unsigned native;
	const char *op;
	uint32_t fixed, free; /* first word: bits the opcode fixes, bits it leaves */
	bool two_words;
};

#define ONE(shift, base, mask, n) (uint32_t)(base) | (uint32_t)(n) << (shift), mask, false
#define TWO(shift, base, mask, n) (uint32_t)(base) | (uint32_t)(n) << (shift), mask, true
#define FIELDS_SOP2(n)            ONE(23, 0x80000000, 0x007fffff, n)
#define FIELDS_SOPK(n)            ONE(23, 0xb0000000, 0x007fffff, n)
#define FIELDS_SOP1(n)            ONE(8, 0xbe800000, 0x007f00ff, n)
#define FIELDS_SOPC(n)            ONE(16, 0xbf000000, 0x0000ffff, n)
#define FIELDS_SOPP(n)            ONE(16, 0xbf800000, 0x0000ffff, n)
#define FIELDS_VOP2(n)            ONE(25, 0, 0x01ffffff, n)
#define FIELDS_VOP1(n)            ONE(9, 0x7e000000, 0x01fe01ff, n)
#define FIELDS_VOPC(n)            ONE(17, 0x7c000000, 0x0001ffff, n)
#define FIELDS_VINTRP(n)          ONE(16, 0xd4000000, 0x03fcffff, n)
#define FIELDS_SMEM(n)            TWO(18, 0xc0000000, 0x0003ffff, n)
#define FIELDS_VOP3(n)            TWO(16, 0xd0000000, 0x0000ffff, n)
#define FIELDS_DS(n)              TWO(17, 0xd8000000, 0x0001ffff, n)
#define FIELDS_FLAT(n)            TWO(18, 0xdc000000, 0x0003ffff, n)
#define FIELDS_MUBUF(n)           TWO(18, 0xe0000000, 0x0003ffff, n)
#define FIELDS_MTBUF(n)           TWO(15, 0xe8000000, 0x03f87fff, n)

static const struct encoding encodings[] = {
#define X(format, native, op) {GCN3_##format, native, #op, FIELDS_##format(native)},
#include "device/virtual/gcn3/decode.def"
#undef X
};

#define ENCODINGS (sizeof(encodings) / sizeof(encodings[0]))

struct sample {
	uint32_t w[2];
	unsigned size; /* bytes given to LLVM */
	const struct encoding *e;
	char text[TEXT]; /* LLVM's, empty when it rejects */
};

static uint64_t rng_state = 0x9e3779b97f4a7c15u;

static uint32_t rnd(void) /* splitmix64 */
{
	uint64_t z = (rng_state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(z >> 32);
}

static bool chance(unsigned percent)
{
	return rnd() % 100 < percent;
}

/* a scalar code that fits every width: aligned to four, or a pair with a name, or a constant */
static uint32_t scalar_code(bool source)
{
	static const uint32_t fixed[] = {
	        106, 102, 112, 128, 129, 192, 193, 208, 240, 243, 247, 248, 251, 252, 253};

	if (chance(70))
		return rnd() % 22 * 4;
	return fixed[rnd() % (source ? 15 : 3)];
}

static uint32_t sparse(void)
{
	return rnd() & rnd() & rnd();
}

static uint32_t literal(void)
{
	static const uint32_t fixed[] = {0, 1, 64, 65, 0xfffffff0, 0xffffffef, 0xffffffff,
	        0x3f800000, 0x3ff00000, 0x40000000, 0xc0800000, 0x3e22f983, 0x3c00, 0xffff3c00,
	        0x3118, 0xfffffff5, 0x40100000, 0x80000000, 0xc400, 0xfff5};

	return chance(60) ? fixed[rnd() % 20] : rnd();
}

/* SDWA control word. Reserved selects crash llvm-mc 19, so they have a test of their own. */
static uint32_t sdwa_word(bool one_source)
{
	uint32_t w = (rnd() & 0xff) | rnd() % 7 << 8 | rnd() % 3 << 11 | rnd() % 7 << 16 |
	             (sparse() & 0x00382000);

	return one_source ? w : w | rnd() % 7 << 24 | (sparse() & 0x38000000);
}

static void randomize_short_vector(struct sample *s)
{
	uint32_t *w = s->w, kind = rnd() % 100;

	if (kind < 25) {
		w[0] = (w[0] & ~0x1ffu) | 249;
		w[1] = sdwa_word(s->e->format == GCN3_VOP1 && chance(90));
	} else if (kind < 45) {
		w[0] = (w[0] & ~0x1ffu) | 250;
		w[1] = chance(70) ? rnd() & 0xff0fffff : rnd();
	} else if (kind < 60) {
		w[0] = (w[0] & ~0x1ffu) | 255;
		w[1] = literal();
	} else if (kind < 80) {
		w[0] |= 256;
	} else {
		w[0] = (w[0] & ~0x1ffu) | scalar_code(true);
		w[1] = literal(); /* v_madmk, v_madak */
	}
}

static uint32_t vop3_source(void)
{
	return chance(60) ? 256 | (rnd() & 0xff) : scalar_code(true);
}

/* VOP3b: bits 14:8 are a second destination instead of abs */
static bool has_sdst(const char *op)
{
	static const char *const ops[] = {"V_ADD_U32", "V_ADDC_", "V_SUB_U32", "V_SUBB_",
	        "V_SUBREV_U32", "V_SUBBREV_", "V_DIV_SCALE_", "V_MAD_U64_", "V_MAD_I64_"};

	for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++)
		if (!strncmp(op, ops[k], strlen(ops[k])))
			return true;
	return false;
}

static void randomize_vop3(struct sample *s)
{
	uint32_t *w = s->w;

	w[1] = vop3_source() | vop3_source() << 9;
	if (chance(60))
		w[1] |= vop3_source() << 18;
	if (chance(40))
		w[1] &= ~0x3fe00u;
	if (chance(50))
		w[1] |= (rnd() & rnd()) & 0xf8000000;
	w[0] &= chance(60) ? ~0xffffu : ~0x7fffu;
	w[0] |= chance(50) ? rnd() & 0xff : scalar_code(false);
	if (has_sdst(s->e->op))
		w[0] |= scalar_code(false) << 8;
	else if (chance(50))
		w[0] |= rnd() & 0x700;
}

static void randomize_memory(struct sample *s)
{
	uint32_t *w = s->w;

	for (unsigned byte = 0; byte < 4; byte++)
		if (chance(35))
			w[1] &= ~(0xffu << 8 * byte);
	if (s->e->format == GCN3_FLAT) {
		w[0] &= ~0xffffu;
		w[1] &= ~0x7f0000u;
	}
	if (s->e->format == GCN3_MUBUF || s->e->format == GCN3_MTBUF) {
		w[1] = (w[1] & 0xffe0ffff) | rnd() % 25 << 16;
		w[1] = (w[1] & 0x00ffffff) | scalar_code(true) << 24;
		if (chance(70))
			w[1] &= ~0xe00000u;
		if (s->e->format == GCN3_MUBUF && chance(70))
			w[0] &= ~0x19000u;
	}
}

static void randomize_scalar(struct sample *s)
{
	uint32_t *w = s->w;
	uint32_t a = chance(15) ? 255 : scalar_code(true), b = chance(15) ? 255 : scalar_code(true);

	w[1] = literal();
	switch (s->e->format) {
	case GCN3_SOP2: w[0] = s->e->fixed | scalar_code(false) << 16 | b << 8 | a; break;
	case GCN3_SOP1: w[0] = s->e->fixed | scalar_code(false) << 16 | a; break;
	case GCN3_SOPC: w[0] = s->e->fixed | b << 8 | a; break;
	case GCN3_SOPK: w[0] = s->e->fixed | scalar_code(false) << 16 | (rnd() & 0xffff); break;
	case GCN3_SOPP:
		if (chance(30))
			w[0] = s->e->fixed | (chance(50) ? 0 : rnd() & 0x7f);
		break;
	case GCN3_SMEM:
		w[0] = s->e->fixed | (w[0] & 0x30000) | scalar_code(false) << 6 | rnd() % 22 * 2;
		w[1] = chance(50) ? rnd() & 0xfffff : scalar_code(false);
		break;
	default: break;
	}
}

static void randomize(struct sample *s, bool any_bits)
{
	s->w[0] = s->e->fixed | (rnd() & s->e->free);
	s->w[1] = rnd();
	if (chance(5)) { /* operations without operands */
		s->w[0] = s->e->fixed |
		          (s->e->format == GCN3_DS && chance(50) ? 0x10000u : 0); /* GDS */
		s->w[1] = 0;
		return;
	}
	if (s->e->format == GCN3_VOP1 || s->e->format == GCN3_VOP2 || s->e->format == GCN3_VOPC)
		randomize_short_vector(s);
	else if (any_bits)
		return;
	else if (s->e->format == GCN3_VOP3)
		randomize_vop3(s);
	else if (s->e->format == GCN3_DS || s->e->format >= GCN3_FLAT)
		randomize_memory(s);
	else
		randomize_scalar(s);
}

/* ---- llvm-mc ---- */

static bool have_llvm_mc(void)
{
	return system("command -v " LLVM_MC " >/dev/null 2>&1") == 0;
}

static void write_group(FILE *f, const uint8_t *p, unsigned size)
{
	for (unsigned k = 0; k < size; k++)
		fprintf(f, "%c0x%02x", k ? ',' : '[', p[k]);
	fprintf(f, "]\n");
}

/* Each sample is followed by "s_nop 0xhhhh", which marks where its text ends. Samples that LLVM
 * cannot decode are named by line number in its warnings. */
static void write_samples(const char *path, const struct sample *s, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (size_t k = 0; k < n; k++) {
		uint32_t mark = 0xbf800000u | (uint32_t)(k & 0xffff);

		write_group(f, (const uint8_t *)s[k].w, s[k].size);
		write_group(f, (const uint8_t *)&mark, 4);
	}
	assert_int_equal(fclose(f), 0);
}

/* invalid[] from the warnings "<file>:LINE:COLUMN: warning: invalid instruction encoding" */
static void read_warnings(const char *path, bool *invalid, size_t n)
{
	FILE *f = fopen(path, "r");
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const char *p = strstr(line, ": warning: ");
		size_t number;

		if (!p || sscanf(strchr(line, ':') + 1, "%zu", &number) != 1)
			continue;
		assert_true(number >= 1 && (number - 1) / 2 < n);
		invalid[(number - 1) / 2] = true;
	}
	fclose(f);
}

static char *trimmed(char *line)
{
	char *end;

	while (*line == ' ' || *line == '\t')
		line++;
	end = strstr(line, " // ");
	end = end ? end : line + strlen(line);
	while (end > line && strchr(" \t\n", end[-1]))
		end--;
	*end = '\0';
	return line;
}

/* The text of a sample is empty when it is invalid or is more than one instruction. */
static void read_texts(const char *path, struct sample *s, const bool *invalid, size_t n)
{
	FILE *f = fopen(path, "r");
	char line[512], mark[32];
	size_t k = 0;
	unsigned lines = 0;

	assert_non_null(f);
	while (k < n && fgets(line, sizeof(line), f)) {
		char *text = trimmed(line);

		if (!*text || *text == '.')
			continue;
		snprintf(mark, sizeof(mark), k % 65536 <= 64 ? "s_nop %zu" : "s_nop 0x%zx",
		        k % 65536);
		if (strcmp(text, mark) || (!lines && !invalid[k])) {
			snprintf(s[k].text, sizeof(s[k].text), "%.*s", (int)sizeof(s[k].text) - 1,
			        lines++ ? "" : text);
			continue;
		}
		if (invalid[k])
			s[k].text[0] = '\0';
		lines = 0;
		k++;
	}
	fclose(f);
	assert_int_equal(k, n);
}

static void ask_llvm(struct sample *s, size_t n)
{
	char in[] = "/tmp/rx_decode_XXXXXX", out[64], err[64], command[320];
	bool *invalid = calloc(n, sizeof(*invalid));
	int fd = mkstemp(in), rc;

	assert_non_null(invalid);
	assert_true(fd >= 0);
	close(fd);
	snprintf(out, sizeof(out), "%s.out", in);
	snprintf(err, sizeof(err), "%s.err", in);
	write_samples(in, s, n);
	snprintf(command, sizeof(command),
	        LLVM_MC " --disassemble -triple=amdgcn -mcpu=gfx803 %s >%s 2>%s", in, out, err);
	rc = system(command);
	assert_true(WIFEXITED(rc) && WEXITSTATUS(rc) <= 1); /* 1: something was invalid */
	read_warnings(err, invalid, n);
	read_texts(out, s, invalid, n);
	unlink(in);
	unlink(out);
	unlink(err);
	free(invalid);
}

/* ---- what we say ---- */

static int decode_text(const struct sample *s, char *text, size_t size)
{
	struct gcn3_insn i;
	int rc = gcn3_decode((const uint8_t *)s->w, 8, &i);

	text[0] = '\0';
	if (rc > 0) {
		assert_int_equal(rc, i.size);
		assert_int_equal(i.format, s->e->format);
		assert_true(gcn3_disassemble(&i, text, size) < (int)size);
	}
	return rc;
}

static void report(const struct sample *s, const char *ours)
{
	print_error("%s %08x %08x: llvm \"%s\", decoded \"%s\"\n", s->e->op, s->w[0], s->w[1],
	        s->text, ours);
}

static struct sample *new_samples(size_t per_op, bool any_bits, size_t *n)
{
	struct sample *s;

	*n = per_op * ENCODINGS;
	s = calloc(*n, sizeof(*s));
	assert_non_null(s);
	for (size_t k = 0; k < *n; k++) {
		s[k].e = &encodings[k % ENCODINGS];
		s[k].size = 8;
		randomize(&s[k], any_bits);
	}
	return s;
}

/* All we accept, LLVM reads the same: same length, same words. Returns how many were accepted. */
static size_t expect_same_text(struct sample *s, size_t n)
{
	struct sample *accepted = calloc(n, sizeof(*accepted));
	char text[TEXT];
	size_t count = 0, wrong = 0;

	assert_non_null(accepted);
	for (size_t k = 0; k < n; k++) {
		int size = decode_text(&s[k], text, sizeof(text));

		if (size <= 0)
			continue;
		accepted[count] = s[k];
		accepted[count++].size = (unsigned)size;
	}
	ask_llvm(accepted, count);
	for (size_t k = 0; k < count; k++) {
		decode_text(&accepted[k], text, sizeof(text));
		if (!strcmp(text, accepted[k].text))
			continue;
		if (wrong++ < 20)
			report(&accepted[k], text);
	}
	free(accepted);
	assert_int_equal(wrong, 0);
	return count;
}

static bool one_of(const char *text, const char *const *list, size_t n, bool prefix)
{
	for (size_t k = 0; k < n; k++)
		if (prefix ? !strncmp(text, list[k], strlen(list[k]))
		           : strstr(text, list[k]) != NULL)
			return true;
	return false;
}

/* Reasons of decode.h to refuse what LLVM prints. */
static bool stricter(const struct sample *s)
{
	/* registers of other chips; "ttmp[0:15]": there are twelve; comments mark invalid operands
	 */
	static const char *const names[] = {"/*", "null", "src_shared_", "src_private_",
	        "src_pops_", "src_lds_direct", "ttmp[0:15]"};
	/* abs of an integer source; SCC and friends where a VGPR or a lane mask is needed */
	static const char *const integer_abs[] = {
	        "v_ldexp_", "v_cvt_pk_u8", "v_cvt_pkaccum", "v_trig_preop"};
	static const char *const no_flag[] = {"v_movrel", "v_readfirstlane", "v_readlane",
	        "v_writelane", "v_addc_", "v_subb", "v_cndmask", "v_mqsad_u32"};
	uint32_t dst = s->w[0] & 0xff;

	if (one_of(s->text, names, 7, false) || one_of(s->text, integer_abs, 4, true))
		return true;
	if (one_of(s->text, no_flag, 8, true) && strstr(s->text, " src_"))
		return true;
	/* the destination of a compare is a VGPR-sized field: LLVM takes any operand code there */
	return s->e->format == GCN3_VOP3 && !strncmp(s->text, "v_cmp", 5) &&
	       (dst % 2 || dst >= 128);
}

/* All LLVM accepts, we accept. Returns how many it was. */
static size_t expect_accepted(struct sample *s, size_t n)
{
	struct sample *rejected = calloc(n, 2 * sizeof(*rejected));
	char text[TEXT];
	size_t count = 0, wrong = 0;

	assert_non_null(rejected);
	for (size_t k = 0; k < n; k++) {
		if (decode_text(&s[k], text, sizeof(text)) > 0)
			continue;
		rejected[count] = s[k];
		rejected[count++].size = 4;
		rejected[count++] = s[k];
	}
	ask_llvm(rejected, count);
	for (size_t k = 0; k < count; k++) {
		if (!rejected[k].text[0] || stricter(&rejected[k]))
			continue;
		if (wrong++ < 20)
			report(&rejected[k], "nothing");
	}
	free(rejected);
	assert_int_equal(wrong, 0);
	return count / 2;
}

static void accepted_encodings_of_any_bits_read_as_in_llvm(void **state)
{
	size_t n, accepted;
	struct sample *s = new_samples(PER_OP, true, &n);

	(void)state;
	accepted = expect_same_text(s, n);
	print_message("any bits: %zu of %zu accepted, all as LLVM\n", accepted, n);
	assert_true(accepted > n / 5);
	free(s);
}

static void aligned_encodings_agree_with_llvm_both_ways(void **state)
{
	size_t n, accepted, rejected;
	struct sample *s = new_samples(PER_OP, false, &n);

	(void)state;
	accepted = expect_same_text(s, n);
	rejected = expect_accepted(s, n);
	print_message("aligned: %zu accepted as LLVM, %zu rejected as LLVM\n", accepted, rejected);
	assert_int_equal(accepted + rejected, n);
	assert_true(accepted > n / 3);
	free(s);
}

static void every_opcode_has_an_accepted_encoding(void **state)
{
	size_t n, missing = 0;
	struct sample *s = new_samples(4 * PER_OP, false, &n);
	bool seen[ENCODINGS] = {false};
	char text[TEXT];

	(void)state;
	for (size_t k = 0; k < n; k++)
		seen[k % ENCODINGS] |= decode_text(&s[k], text, sizeof(text)) > 0;
	for (size_t k = 0; k < ENCODINGS; k++) {
		if (seen[k])
			continue;
		print_error("%s (format %d, opcode %u): never decoded\n", encodings[k].op,
		        encodings[k].format, encodings[k].native);
		missing++;
	}
	assert_int_equal(missing, 0);
	free(s);
}

static bool in_table(uint32_t w0)
{
	for (size_t k = 0; k < ENCODINGS; k++)
		if ((w0 & ~encodings[k].free) == encodings[k].fixed)
			return true;
	return false;
}

/* the opcode fields of all formats but MIMG and EXP */
static const struct {
	uint32_t base, count, shift;
} opcode_fields[] = {
        {0x80000000, 96, 23},
        {0xb0000000, 29, 23},
        {0xbe800000, 256, 8},
        {0xbf000000, 128, 16},
        {0xbf800000, 128, 16},
        {0, 62, 25},
        {0x7e000000, 256, 9},
        {0x7c000000, 256, 17},
        {0xd0000000, 1024, 16},
        {0xd4000000, 4, 16},
        {0xc0000000, 256, 18},
        {0xd8000000, 256, 17},
        {0xdc000000, 128, 18},
        {0xe0000000, 128, 18},
        {0xe8000000, 16, 15},
};

/* operand fields to try on an opcode; some of them suits it */
static size_t samples_of_opcode(struct sample *s, uint32_t w0)
{
	static const uint32_t low[] = {0, 0x10000, 1},
	                      high[] = {0, 0x101, 0x02020100, 0x00020101, 0x04000001};
	size_t n = 0;

	for (unsigned t = 0; t < 15; t++)
		for (unsigned size = 4; size <= 8; size += 4)
			s[n++] = (struct sample){.w = {w0 | low[t % 3], high[t / 3]}, .size = size};
	return n;
}

static void opcodes_missing_from_the_table_are_unknown_to_llvm(void **state)
{
	struct sample *s = calloc(100000, sizeof(*s));
	size_t n = 0, wrong = 0;

	(void)state;
	assert_non_null(s);
	for (size_t k = 0; k < sizeof(opcode_fields) / sizeof(opcode_fields[0]); k++)
		for (uint32_t op = 0; op < opcode_fields[k].count; op++)
			n += samples_of_opcode(
			        s + n, opcode_fields[k].base | op << opcode_fields[k].shift);
	assert_true(n < 100000);
	ask_llvm(s, n);
	for (size_t k = 0; k < n; k++) {
		if (!s[k].text[0] || in_table(s[k].w[0]) || !strncmp(s[k].text, "v_interp_", 9))
			continue;
		if (wrong++ < 20)
			print_error("%08x %08x: llvm \"%s\", not in decode.def\n", s[k].w[0],
			        s[k].w[1], s[k].text);
	}
	assert_int_equal(wrong, 0);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(accepted_encodings_of_any_bits_read_as_in_llvm),
	        cmocka_unit_test(aligned_encodings_agree_with_llvm_both_ways),
	        cmocka_unit_test(every_opcode_has_an_accepted_encoding),
	        cmocka_unit_test(opcodes_missing_from_the_table_are_unknown_to_llvm),
	};

	if (!have_llvm_mc()) {
		fprintf(stderr, "skipped: " LLVM_MC
		                " not found; it is the reference for the disassembly\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
