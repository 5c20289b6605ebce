/* code_object.h - gfx803 ELF code objects (AMD HSA, code object v4/v5): parse and validate. Pure:
 * no device access. Sources: LLVM AMDGPUUsage, polaris.md 9.2, 9.5, 9.6.
 */
#ifndef RX_CODE_OBJECT_H
#define RX_CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CO_MAX_SIZE (16u << 20) /* bytes of ELF we accept */

enum co_arg_kind { CO_ARG_VALUE, CO_ARG_GLOBAL_POINTER, CO_ARG_LOCAL_POINTER, CO_ARG_HIDDEN };

struct co_arg {
	char name[64];      /* empty when the object has none (compile with -cl-kernel-arg-info) */
	char type_name[64]; /* "float*", "uint", ... as written */
	enum co_arg_kind kind;
	char hidden[32]; /* value_kind of a hidden argument: "hidden_block_count_x", ... */
	uint32_t offset, size;
};

struct co_kernel {
	char name[128];
	uint64_t descriptor; /* offset of the 64-byte .kd in the loaded image */
	uint64_t entry; /* offset of the first instruction in the loaded image, 256-byte aligned */
	uint32_t rsrc1, rsrc2; /* rsrc2 without LDS_SIZE */
	uint16_t properties;   /* kernel_code_properties, polaris.md 9.2 byte 56 */
	uint32_t kernarg_size, kernarg_align;
	uint32_t lds_bytes, scratch_bytes; /* a group; a work-item */
	uint32_t vgprs, sgprs, spilled_vgprs, spilled_sgprs;
	uint32_t max_group_size;    /* work-items */
	uint32_t required_group[3]; /* 0 when free */
	struct co_arg *args;
	unsigned nargs;
};

struct code_object {
	uint8_t *image; /* the PT_LOAD segments laid out, relocations not applied, notes zero,
	                   padded with 256 zero bytes */
	size_t image_size;
	struct {
		uint64_t offset; /* in the image; 8 bytes */
		int64_t addend;  /* image offset the pointer means */
	} *relocs;               /* R_AMDGPU_RELATIVE64 */
	unsigned nrelocs;
	struct co_kernel *kernels;
	unsigned nkernels;
};

/* code_object_parse - @elf: @len bytes from anybody. @why (may be NULL): @why_size bytes for a
 * sentence saying what is wrong. Return: 0, *out owned by the caller; -EINVAL not a valid gfx803
 * code object; -ENOMEM.
 */
int code_object_parse(
        const void *elf, size_t len, struct code_object **out, char *why, size_t why_size);
void code_object_free(struct code_object *co);
const struct co_kernel *code_object_find(const struct code_object *co, const char *kernel);

/* code_object_relocate - apply relocations to a copy of the image for a load at MC address @base.
 * @image: image_size bytes. */
void code_object_relocate(const struct code_object *co, uint64_t base, uint8_t *image);

/* code_object_json - text of kernels/NAME.json: a JSON object, newline at the end. Caller frees.
 * NULL: no memory. */
char *code_object_json(const struct code_object *co);

#endif
