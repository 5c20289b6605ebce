/* helper_run.c - see helper_run.h. */
#include "tests/kernels/helper_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/bytes.h"

#define VRAM_SIZE     (UINT64_C(1) << 30)
#define SCRATCH_WAVES 128u
#define SCRATCH_BYTES (UINT64_C(32) << 20)
#define SH_MEM_BASES  0x20002000u /* polaris.md 6.2 */

/* The part of the OpenCL library the tests use, without a library: engine-notes.md. */
static const char prelude[] =
        "#define BY_AXIS(f, d) ((d) == 0 ? f##_x() : (d) == 1 ? f##_y() : f##_z())\n"
        "#define get_local_id(d) BY_AXIS(__builtin_amdgcn_workitem_id, d)\n"
        "#define get_group_id(d) BY_AXIS(__builtin_amdgcn_workgroup_id, d)\n"
        "#define FULL_SIZE(d) ((uint)((constant ushort *)__builtin_amdgcn_implicitarg_ptr())[6 + "
        "(d)])\n"
        "#define PART_SIZE(d) ((uint)((constant ushort *)__builtin_amdgcn_implicitarg_ptr())[9 + "
        "(d)])\n"
        "#define BLOCKS(d) (((constant uint *)__builtin_amdgcn_implicitarg_ptr())[d])\n"
        "#define get_local_size(d) (get_group_id(d) < BLOCKS(d) ? FULL_SIZE(d) : PART_SIZE(d))\n"
        "#define get_global_id(d) (get_group_id(d) * FULL_SIZE(d) + get_local_id(d))\n"
        "#define barrier(f) do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");"
        " __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\"); } "
        "while (0)\n"
        "#define ATOMIC(op, p, v) __scoped_atomic_##op(p, v, __ATOMIC_RELAXED, "
        "__MEMORY_SCOPE_DEVICE)\n"
        "#define atomic_add(p, v) ATOMIC(fetch_add, p, v)\n"
        "#define atomic_inc(p) ATOMIC(fetch_add, p, 1u)\n"
        "#define atomic_max(p, v) ATOMIC(fetch_max, p, v)\n"
        "#line 1\n";

static void on_report(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r)
{
	struct run_card *c = ctx;

	(void)d;
	c->report = *r;
	__atomic_add_fetch(&c->reports, 1, __ATOMIC_RELEASE);
}

struct run_card *run_card_new(unsigned threads)
{
	struct run_card *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	assert_int_equal(vmem_new(&c->mem, VRAM_SIZE), 0);
	assert_int_equal(gcn3_engine_new(&c->engine, c->mem, threads, on_report, c), 0);
	c->next = 1 << 20;
	c->scratch = run_alloc(c, SCRATCH_BYTES);
	return c;
}

void run_card_free(struct run_card *c)
{
	gcn3_engine_free(c->engine);
	vmem_free(c->mem);
	free(c);
}

static void *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *data = malloc(CO_MAX_SIZE);

	if (!f || !data)
		fail_msg("cannot read %s", path);
	*len = fread(data, 1, CO_MAX_SIZE, f);
	fclose(f);
	return data;
}

static void *clang(const char *source, const char *flags, size_t *len)
{
	char dir[] = "/tmp/rx-run-XXXXXX", in[64], out[64], command[1024];
	FILE *f;
	void *elf;

	assert_non_null(mkdtemp(dir));
	snprintf(in, sizeof(in), "%s/k.cl", dir);
	snprintf(out, sizeof(out), "%s/k.co", dir);
	f = fopen(in, "w");
	assert_non_null(f);
	fputs(prelude, f);
	fputs(source, f);
	fclose(f);
	snprintf(command, sizeof(command),
	        "%s --target=amdgcn-amd-amdhsa -mcpu=gfx803 -x cl -cl-std=CL1.2 -O3 -nogpulib "
	        "-cl-kernel-arg-info "
	        "-Xclang -finclude-default-header %s %s -o %s",
	        RX_CLANG, flags, in, out);
	if (system(command))
		fail_msg("does not compile: %s", command);
	elf = read_all(out, len);
	unlink(in);
	unlink(out);
	rmdir(dir);
	return elf;
}

struct run_code run_compile(struct run_card *c, const char *source, const char *flags)
{
	struct run_code code;
	char why[256];
	size_t len;
	void *elf = clang(source, flags, &len);
	uint8_t *image;

	if (code_object_parse(elf, len, &code.object, why, sizeof(why)))
		fail_msg("code object refused: %s", why);
	free(elf);
	code.base = run_alloc(c, code.object->image_size);
	image = malloc(code.object->image_size);
	assert_non_null(image);
	memcpy(image, code.object->image, code.object->image_size);
	code_object_relocate(code.object, code.base, image);
	run_put(c, code.base, image, code.object->image_size);
	free(image);
	return code;
}

void run_code_free(struct run_code *code)
{
	code_object_free(code->object);
}

uint64_t run_alloc(struct run_card *c, size_t bytes)
{
	uint64_t at = c->next;

	c->next = align_up(at + bytes, VMEM_PAGE_SIZE) + VMEM_PAGE_SIZE;
	assert_true(c->next <= VRAM_SIZE);
	return RUN_FB_BASE + at;
}

void run_put(struct run_card *c, uint64_t address, const void *data, size_t bytes)
{
	assert_int_equal(vmem_dram_write(c->mem, address - RUN_FB_BASE, data, bytes), 0);
	run_fresh(c);
}

void run_get(struct run_card *c, uint64_t address, void *data, size_t bytes)
{
	vmem_l2_writeback(c->mem);
	assert_int_equal(vmem_dram_read(c->mem, address - RUN_FB_BASE, data, bytes), 0);
}

uint64_t run_new(struct run_card *c, const void *data, size_t bytes)
{
	uint64_t address = run_alloc(c, bytes);

	run_put(c, address, data, bytes);
	return address;
}

void run_fresh(struct run_card *c)
{
	vmem_l2_flush(c->mem);
	gcn3_invalidate_l1(c->engine);
	gcn3_invalidate_kcache(c->engine);
	gcn3_invalidate_icache(c->engine);
}

/* polaris.md 9.5, hidden arguments of code object v5 */
static uint32_t hidden_value(const char *kind, const struct gcn3_dispatch *d)
{
	static const char axes[] = "xyz";

	for (int i = 0; i < 3; i++) {
		size_t n = strlen(kind);

		if (n < 2 || kind[n - 1] != axes[i] || kind[n - 2] != '_')
			continue;
		if (!strncmp(kind, "hidden_block_count", 18))
			return d->groups[i] - (d->last_threads[i] != d->threads[i]);
		if (!strncmp(kind, "hidden_group_size", 17))
			return d->threads[i];
		if (!strncmp(kind, "hidden_remainder", 16))
			return d->last_threads[i] % d->threads[i];
	}
	if (!strcmp(kind, "hidden_private_base"))
		return (SH_MEM_BASES << 16) | 1;
	if (!strcmp(kind, "hidden_shared_base"))
		return SH_MEM_BASES & 0xffff0000u;
	if (!strcmp(kind, "hidden_grid_dims"))
		return d->threads[2] > 1 || d->groups[2] > 1   ? 3
		       : d->threads[1] > 1 || d->groups[1] > 1 ? 2
		                                               : 1;
	return 0;
}

static uint64_t argument_block(struct run_card *c, const struct co_kernel *k,
        struct gcn3_dispatch *d, const struct run_arg *args, size_t nargs)
{
	uint8_t block[4096] = {0};
	size_t given = 0;

	assert_true(k->kernarg_size <= sizeof(block));
	for (unsigned i = 0; i < k->nargs; i++) {
		const struct co_arg *a = &k->args[i];
		uint64_t hidden;

		assert_true(a->offset + a->size <= sizeof(block));
		if (a->kind == CO_ARG_HIDDEN) {
			hidden = hidden_value(a->hidden, d);
			memcpy(block + a->offset, &hidden, MIN(a->size, 8u));
			continue;
		}
		assert_true(given < nargs);
		assert_int_equal(a->size, args[given].size);
		memcpy(block + a->offset, args[given++].value, a->size);
	}
	assert_int_equal(given, nargs);
	return run_new(c, block, sizeof(block));
}

/* hsa_kernel_dispatch_packet, polaris.md 9.3: the sizes are all that compiled code reads */
static uint64_t dispatch_packet(struct run_card *c, const struct gcn3_dispatch *d)
{
	uint8_t packet[64] = {0};

	for (int i = 0; i < 3; i++) {
		uint32_t items = (d->groups[i] - 1) * d->threads[i] + d->last_threads[i];

		put_le16(packet + 4 + 2 * i, (uint16_t)d->threads[i]);
		put_le32(packet + 12 + 4 * i, items);
	}
	return run_new(c, packet, sizeof(packet));
}

static void put_pointer(uint32_t *s, unsigned *n, uint64_t address)
{
	s[(*n)++] = (uint32_t)address;
	s[(*n)++] = (uint32_t)(address >> 32);
}

/* User SGPRs in the order of polaris.md 9.3; scratch as 9.4. */
static void user_sgprs(
        struct run_card *c, const struct co_kernel *k, uint64_t kernarg, struct gcn3_dispatch *d)
{
	uint32_t *s = d->user_data;
	unsigned n = 0;

	if (k->properties & 1) {
		s[n++] = (uint32_t)c->scratch;
		s[n++] = (uint32_t)(c->scratch >> 32) | 0x80000000u;
		s[n++] = (uint32_t)SCRATCH_BYTES;
		s[n++] = 0x00EA4FAC;
	}
	if (k->properties & 2)
		put_pointer(s, &n, dispatch_packet(c, d));
	if (k->properties & 4)
		put_pointer(s, &n, run_alloc(c, 256)); /* only traps would read it */
	if (k->properties & 8)
		put_pointer(s, &n, kernarg);
	if (k->properties & 16)
		put_pointer(s, &n, 1);
	if (k->properties & 32) {
		s[n++] = 0; /* from the hidden private base */
		s[n++] = k->scratch_bytes;
	}
	if (k->properties & 64)
		s[n++] = k->scratch_bytes;
	assert_int_equal(n, k->rsrc2 >> 1 & 31);
}

struct gcn3_dispatch run_prepare(struct run_card *c, const struct run_code *code,
        const char *kernel, const uint32_t global[3], const uint32_t local[3],
        const struct run_arg *args, size_t nargs)
{
	const struct co_kernel *k = code_object_find(code->object, kernel);
	struct gcn3_dispatch d = {
	        .fb_base = RUN_FB_BASE, .fb_size = VRAM_SIZE, .sh_mem_bases = SH_MEM_BASES};
	uint32_t wavesize;

	if (!k)
		fail_msg("no kernel %s", kernel);
	d.pgm = code->base + k->entry;
	d.rsrc1 = k->rsrc1;
	d.rsrc2 = k->rsrc2 | (k->lds_bytes + 511) / 512 << 15;
	wavesize = (uint32_t)((k->scratch_bytes * 64 + 1023) / 1024);
	assert_true((uint64_t)wavesize * 1024 * SCRATCH_WAVES <= SCRATCH_BYTES);
	d.tmpring_size = SCRATCH_WAVES | wavesize << 12;
	d.hidden_private_base = (uint32_t)(c->scratch >> 16);
	assert_int_equal(c->scratch & 0xffff, 0);
	for (int i = 0; i < 3; i++) {
		d.groups[i] = (global[i] + local[i] - 1) / local[i];
		d.threads[i] = local[i];
		d.last_threads[i] = global[i] - (d.groups[i] - 1) * local[i];
	}
	user_sgprs(c, k, argument_block(c, k, &d, args, nargs), &d);
	return d;
}

int run_kernel(struct run_card *c, const struct run_code *code, const char *kernel,
        const uint32_t global[3], const uint32_t local[3], const struct run_arg *args, size_t nargs)
{
	struct gcn3_dispatch d = run_prepare(c, code, kernel, global, local, args, nargs);
	int err;

	assert_int_equal(gcn3_submit(c->engine, &d), 0);
	err = gcn3_wait_idle(c->engine, 0);
	run_fresh(c);
	return err;
}
