/* helper_run.h - compiles OpenCL C or assembly with clang, places code and arguments in a virtual
 * card's memory and dispatches on the execution engine, without command processor or driver. For
 * tests of the engine. Every function ends the test on an error of its own; what the kernel does
 * wrong is in struct run_card.
 */
#ifndef HELPER_RUN_H
#define HELPER_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/compile/code_object.h"
#include "device/virtual/gcn3/engine.h"

#define RUN_FB_BASE UINT64_C(0xF400000000) /* polaris.md 3.1 */

struct run_card {
	struct vmem *mem;
	struct gcn3_engine *engine;
	uint64_t next; /* VRAM offset of the next allocation */
	uint64_t scratch;
	/* the newest report and how many there were, guarded by nothing: read them after run_wait()
	 */
	struct gcn3_report report;
	unsigned reports;
};

struct run_code {
	struct code_object *object;
	uint64_t base; /* MC address */
};

struct run_arg {
	const void *value;
	size_t size;
};

#define RUN_PTR(address) {&(uint64_t){address}, 8}
#define RUN_INT(v)       {&(int32_t){v}, 4}
#define RUN_FLOAT(v)     {&(float){v}, 4}

struct run_card *run_card_new(unsigned threads);
void run_card_free(struct run_card *c);

/* run_compile - @flags: more options for clang, separated by spaces. @source is OpenCL C. */
struct run_code run_compile(struct run_card *c, const char *source, const char *flags);
void run_code_free(struct run_code *code);

/* run_alloc - MC address of @bytes, 4-KiB aligned. run_put, run_get - copies; get writes L2 back
 * first. */
uint64_t run_alloc(struct run_card *c, size_t bytes);
void run_put(struct run_card *c, uint64_t address, const void *data, size_t bytes);
void run_get(struct run_card *c, uint64_t address, void *data, size_t bytes);
uint64_t run_new(struct run_card *c, const void *data, size_t bytes); /* alloc and put */

/* run_prepare - registers and argument block of a launch of @global work-items in groups of @local.
 */
struct gcn3_dispatch run_prepare(struct run_card *c, const struct run_code *code,
        const char *kernel, const uint32_t global[3], const uint32_t local[3],
        const struct run_arg *args, size_t nargs);

/* run_kernel - prepare, submit on queue 0, wait, make all caches fresh. Return: of
 * gcn3_wait_idle(). */
int run_kernel(struct run_card *c, const struct run_code *code, const char *kernel,
        const uint32_t global[3], const uint32_t local[3], const struct run_arg *args,
        size_t nargs);
#define RUN_KERNEL(c, code, kernel, gx, gy, lx, ly, ...)                                           \
	run_kernel(c, code, kernel, (const uint32_t[]){gx, gy, 1}, (const uint32_t[]){lx, ly, 1},  \
	        (const struct run_arg[]){__VA_ARGS__},                                             \
	        sizeof((const struct run_arg[]){__VA_ARGS__}) / sizeof(struct run_arg))

/* run_fresh - write back and invalidate every cache, as the end of a submission does. */
void run_fresh(struct run_card *c);

#endif
