/* compile.h - OpenCL C to a gfx803 code object with clang as a child process, limited in time,
 * memory and output size. No device access. Blocks: never called on the session or owner thread.
 */
#ifndef RX_COMPILE_H
#define RX_COMPILE_H

#include <stddef.h>
#include <stdint.h>

struct compile_result {
	uint8_t *elf; /* NULL when it did not compile */
	size_t elf_size;
	char *log; /* diagnostics in file:line:col: form, may be empty; never NULL after a call that
	              returned 0 or -EINVAL */
};

/* compile_opencl - @source: @len bytes of OpenCL C 1.2; @name: what diagnostics call the file.
 * Return: 0; -EINVAL it did not compile (see log); -ETIMEDOUT 60 s; -ENOENT no clang (15..19)
 * found; -ENOMEM; -EIO; those of a temporary folder that cannot be written. The result is the
 * caller's: compile_result_free().
 */
int compile_opencl(const char *name, const char *source, size_t len, struct compile_result *out);
void compile_result_free(struct compile_result *r);

/* compile_sweep - remove the temporary folders of processes that were killed while they compiled.
 */
void compile_sweep(void);

#endif
