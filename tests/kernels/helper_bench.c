/* helper_bench.c - see helper_bench.h. Places code, arguments and arrays in virtual VRAM and runs
 * the interpreter itself, without the command processor. Register values of a dispatch:
 * polaris.md 9.2, 9.3, 9.5.
 */
#include "tests/kernels/helper_bench.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/compile/code_object.h"
#include "device/virtual/gcn3/engine.h"
#include "kernels/step.h"

#define VRAM_SIZE   (64u << 20)
#define FB_BASE     0xF400000000ull /* any MC address of VRAM: polaris.md 5 uses this one */
#define GUARD       64              /* words before and after an array */
#define MAX_ARRAYS  64
#define MAX_MODULES 10

struct module {
	struct code_object *code;
	uint64_t at; /* VRAM offset of the image */
};

struct bench {
	struct vmem *mem;
	struct gcn3_engine *engine;
	struct module modules[MAX_MODULES];
	unsigned nmodules;
	uint64_t kernarg_at, next; /* VRAM offsets */
	struct array *arrays[MAX_ARRAYS];
	unsigned narrays;
};

static uint64_t random_state = 88172645463325252ull;

/* xorshift64 (Marsaglia 2003) */
static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

double random_unit(void)
{
	return (double)(random_word() >> 11) * 0x1p-53;
}

double *doubles(size_t n)
{
	double *p = calloc(n + 1, sizeof(*p));

	assert_non_null(p);
	return p;
}

static void report(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r)
{
	(void)ctx;
	(void)d;
	print_error("fault %d at code + 0x%llx, group %u %u %u, wave %u, address 0x%llx: %s\n",
	        (int)r->status, (unsigned long long)(r->pc - r->pgm), r->group[0], r->group[1],
	        r->group[2], r->wave, (unsigned long long)r->address, r->insn);
}

static void *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *data = malloc(CO_MAX_SIZE);

	if (!f)
		fail_msg("%s: build the target gfx803_kernels first", path);
	assert_non_null(data);
	*len = fread(data, 1, CO_MAX_SIZE, f);
	fclose(f);
	return data;
}

static uint64_t place(struct bench *b, size_t bytes)
{
	const uint64_t at = b->next;

	b->next = (at + bytes + 255) & ~255ull;
	assert_true(b->next <= VRAM_SIZE);
	return at;
}

void bench_load(struct bench *b, const char *module)
{
	struct module *m = &b->modules[b->nmodules++];
	char path[512], why[256];
	size_t len;
	void *elf;
	uint8_t *image;

	assert_true(b->nmodules <= MAX_MODULES);
	snprintf(path, sizeof(path), "%s/kernels/%s.co", RX_BINARY_DIR, module);
	elf = read_file(path, &len);
	if (code_object_parse(elf, len, &m->code, why, sizeof(why)) != 0)
		fail_msg("%s: %s", path, why);
	free(elf);
	image = malloc(m->code->image_size);
	assert_non_null(image);
	memcpy(image, m->code->image, m->code->image_size);
	m->at = place(b, m->code->image_size);
	code_object_relocate(m->code, FB_BASE + m->at, image);
	assert_int_equal(vmem_dram_write(b->mem, m->at, image, m->code->image_size), 0);
	free(image);
}

struct bench *bench_new(const char *module)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	assert_int_equal(vmem_new(&b->mem, VRAM_SIZE), 0);
	assert_int_equal(gcn3_engine_new(&b->engine, b->mem, 2, report, b), 0);
	b->next = 4096;
	bench_load(b, module);
	b->kernarg_at = place(b, 1024);
	return b;
}

void bench_free(struct bench *b)
{
	gcn3_engine_free(b->engine);
	for (unsigned i = 0; i < b->nmodules; i++)
		code_object_free(b->modules[i].code);
	vmem_free(b->mem);
	for (unsigned i = 0; i < b->narrays; i++) {
		free(b->arrays[i]->u);
		free(b->arrays[i]->uploaded);
		free(b->arrays[i]);
	}
	free(b);
}

static uint32_t guard_word(uint64_t offset)
{
	return 0xA5000000u ^ (uint32_t)(offset * 2654435761u);
}

static void write_guards(struct bench *b, uint64_t at)
{
	uint32_t words[GUARD];

	for (unsigned i = 0; i < GUARD; i++)
		words[i] = guard_word(at + i * 4);
	assert_int_equal(vmem_dram_write(b->mem, at, words, sizeof(words)), 0);
}

static void check_guards(struct bench *b, const struct array *a, const char *where, uint64_t at)
{
	uint32_t words[GUARD];

	assert_int_equal(vmem_dram_read(b->mem, at, words, sizeof(words)), 0);
	for (unsigned i = 0; i < GUARD; i++)
		if (words[i] != guard_word(at + i * 4))
			fail_msg("array %s: guard word %u %s it: expected 0x%08x, got 0x%08x",
			        a->name, i, where, guard_word(at + i * 4), words[i]);
}

static struct array *array_new(struct bench *b, const char *name, size_t n, bool constant)
{
	struct array *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	assert_true(b->narrays < MAX_ARRAYS);
	a->name = name;
	a->n = n;
	a->u = calloc(n, 4);
	a->uploaded = calloc(n, 4);
	assert_true(a->u && a->uploaded);
	/* the last word of an array meets its guard; the first is 16-byte aligned */
	a->address = FB_BASE + place(b, (n + 2 * GUARD) * 4) + GUARD * 4;
	a->constant = constant;
	b->arrays[b->narrays++] = a;
	write_guards(b, a->address - FB_BASE - GUARD * 4);
	write_guards(b, a->address - FB_BASE + n * 4);
	return a;
}

void bench_upload(struct bench *b, struct array *a, bool constant)
{
	a->constant = constant;
	memcpy(a->uploaded, a->u, a->n * 4);
	assert_int_equal(vmem_dram_write(b->mem, a->address - FB_BASE, a->u, a->n * 4), 0);
}

struct array *bench_random(struct bench *b, const char *name, size_t n, double scale)
{
	struct array *a = array_new(b, name, n, true);

	for (size_t i = 0; i < n; i++)
		a->f[i] = (float)((random_unit() * 2 - 1) * scale);
	bench_upload(b, a, true);
	return a;
}

struct array *bench_output(struct bench *b, const char *name, size_t n)
{
	struct array *a = array_new(b, name, n, false);

	for (size_t i = 0; i < n; i++)
		a->u[i] = (uint32_t)random_word() |
		          0x7fc00000u; /* NaN: an element nobody stores is noticed */
	bench_upload(b, a, false);
	return a;
}

struct array *bench_words(struct bench *b, const char *name, const void *words, size_t n)
{
	struct array *a = array_new(b, name, n, true);

	memcpy(a->u, words, n * 4);
	bench_upload(b, a, true);
	return a;
}

struct array *bench_step(struct bench *b, const float *scalars, size_t nscalars,
        const uint16_t *ids, size_t nids, struct array **scalar_array)
{
	struct rx_step step = {.go = 1, .nscalars = (uint32_t)nscalars, .nids = (uint32_t)nids};
	struct array *a = array_new(b, "scalars", nscalars + 1, true),
	             *i = array_new(b, "ids", nids / 2 + 1, true);

	if (nscalars)
		memcpy(a->f, scalars, nscalars * 4);
	if (nids)
		memcpy(i->u, ids, nids * 2);
	bench_upload(b, a, true);
	bench_upload(b, i, true);
	step.scalars = a->address;
	step.ids = i->address;
	if (scalar_array)
		*scalar_array = a;
	return bench_words(b, "step", &step, sizeof(step) / 4);
}

/* Kernel arguments at their offsets; each must be of the kind and size the kernel declares. */
static void write_arguments(
        struct bench *b, const struct co_kernel *k, const struct arg *args, size_t nargs)
{
	uint8_t block[1024] = {0};
	size_t n = 0;

	assert_true(k->kernarg_size <= sizeof(block));
	for (unsigned i = 0; i < k->nargs; i++) {
		const struct co_arg *want = &k->args[i];
		if (want->kind == CO_ARG_HIDDEN)
			continue;
		if (n == nargs)
			fail_msg("%s: argument %s is missing", k->name, want->name);
		if ((args[n].kind == ARG_ARRAY) != (want->kind == CO_ARG_GLOBAL_POINTER) ||
		        (args[n].kind == ARG_FLOAT) != (strcmp(want->type_name, "float") == 0))
			fail_msg("%s: argument %s is of type %s", k->name, want->name,
			        want->type_name);
		if (args[n].kind == ARG_ARRAY) {
			const uint64_t address = args[n].array->address + args[n].offset * 4;
			memcpy(block + want->offset, &address, 8);
		} else {
			memcpy(block + want->offset,
			        args[n].kind == ARG_FLOAT ? (const void *)&args[n].f : &args[n].u,
			        4);
		}
		n++;
	}
	if (n != nargs)
		fail_msg("%s: %zu arguments given, %zu declared", k->name, nargs, n);
	assert_int_equal(vmem_dram_write(b->mem, b->kernarg_at, block, k->kernarg_size), 0);
}

static struct gcn3_dispatch dispatch_of(
        const struct bench *b, const struct module *m, const struct co_kernel *k)
{
	const uint64_t kernarg = FB_BASE + b->kernarg_at;
	const uint32_t threads = k->required_group[0];
	struct gcn3_dispatch d = {
	        .pgm = FB_BASE + m->at + k->entry,
	        .rsrc1 = k->rsrc1,
	        .rsrc2 = k->rsrc2 | ((k->lds_bytes + 511) / 512) << 15,
	        .threads = {threads, 1, 1},
	        .last_threads = {threads, 1, 1},
	        .fb_base = FB_BASE,
	        .fb_size = VRAM_SIZE,
	        .sh_mem_bases = 0x20002000, /* apertures of polaris.md 9.5 */
	};

	assert_true(threads > 0 && k->required_group[1] == 1 && k->required_group[2] == 1);
	/* 4 SGPRs of scratch resource, 2 of kernarg pointer; nothing else is asked for (properties
	 * bits 0 and 3) */
	assert_int_equal(k->properties & 0x7f, 0x09);
	d.user_data[4] = (uint32_t)kernarg;
	d.user_data[5] = (uint32_t)(kernarg >> 32);
	return d;
}

static void check_arrays(struct bench *b, const char *kernel)
{
	for (unsigned i = 0; i < b->narrays; i++) {
		struct array *a = b->arrays[i];
		const uint64_t at = a->address - FB_BASE;
		char what[160];

		check_guards(b, a, "before", at - GUARD * 4);
		check_guards(b, a, "behind", at + a->n * 4);
		if (!a->constant)
			continue;
		bench_read(b, a);
		snprintf(what, sizeof(what), "%s after %s", a->name, kernel);
		expect_bits(what, a->u, a->uploaded, a->n);
	}
}

static const struct co_kernel *find(
        const struct bench *b, const char *kernel, const struct module **m)
{
	for (*m = b->modules; *m < b->modules + b->nmodules; (*m)++) {
		const struct co_kernel *k = code_object_find((*m)->code, kernel);
		if (k)
			return k;
	}
	return NULL;
}

void bench_run(struct bench *b, const char *kernel, unsigned x, unsigned y, unsigned z,
        const struct arg *args, size_t nargs)
{
	const struct module *m;
	const struct co_kernel *k = find(b, kernel, &m);
	struct gcn3_dispatch d;

	if (!k)
		fail_msg("no kernel %s in the module", kernel);
	if (k->scratch_bytes || k->spilled_vgprs || k->spilled_sgprs)
		fail_msg("%s spills registers (%u bytes of scratch)", kernel, k->scratch_bytes);
	write_arguments(b, k, args, nargs);
	d = dispatch_of(b, m, k);
	d.groups[0] = x;
	d.groups[1] = y;
	d.groups[2] = z;
	gcn3_invalidate_l1(b->engine);
	gcn3_invalidate_kcache(b->engine);
	gcn3_invalidate_icache(b->engine);
	assert_int_equal(gcn3_submit(b->engine, &d), 0);
	if (gcn3_wait_idle(b->engine, 0) != 0)
		fail_msg("%s faulted", kernel);
	vmem_l2_flush(b->mem);
	check_arrays(b, kernel);
}

void bench_read(struct bench *b, struct array *a)
{
	assert_int_equal(vmem_dram_read(b->mem, a->address - FB_BASE, a->u, a->n * 4), 0);
}

void expect_close(
        const char *what, const float *got, const double *want, size_t n, double tolerance)
{
	double squares = 0, limit;

	for (size_t i = 0; i < n; i++)
		squares += want[i] * want[i];
	limit = tolerance * sqrt(squares / (double)n) + 1e-30;
	for (size_t i = 0; i < n; i++)
		if (!(fabs((double)got[i] - want[i]) <= limit))
			fail_msg("%s[%zu of %zu]: expected %.9g, got %.9g, allowed difference %.3g",
			        what, i, n, want[i], (double)got[i], limit);
}

void expect_bits(const char *what, const void *got, const void *want, size_t words)
{
	const uint32_t *g = got, *w = want;

	for (size_t i = 0; i < words; i++)
		if (g[i] != w[i])
			fail_msg("%s[%zu of %zu]: expected 0x%08x, got 0x%08x", what, i, words,
			        w[i], g[i]);
}
