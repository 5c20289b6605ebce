/* co_priv.h - state of one code object parse, shared by code_object.c and co_metadata.c. */
#ifndef RX_CO_PRIV_H
#define RX_CO_PRIV_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "device/compile/code_object.h"

struct co_parser {
	const uint8_t *elf;
	size_t len;
	char *why;
	size_t why_size;
	uint64_t phoff;
	unsigned phnum;
	uint64_t loaded; /* bytes of the image that come from segments */
	Elf64_Phdr dynamic;
	const uint8_t *note;
	size_t note_len;
	struct code_object *co;
	char (*symbols)[160]; /* .symbol of each kernel, "name.kd" */
};

/* co_bad - describe what is wrong in p->why. Return: -EINVAL. */
int co_bad(struct co_parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* co_parse_metadata - fill co->kernels from the msgpack note. Return: 0; -EINVAL; -ENOMEM. */
int co_parse_metadata(struct co_parser *p);

#endif
