/* atom.h - interpreter of the ATOM BIOS: runs a VBIOS' command tables against a card.
 * Pure apart from struct atom_host, through which every access goes. Bounded: nothing is read or
 * written outside the image, the parameters, the workspace and the scratch memory, and every run
 * ends: with its last instruction, an error, a limit on steps, a loop that waits too long, or a
 * deadline. Register numbers are dword indices (byte offset / 4). One thread at a time.
 * Source: atombios.md 4-9; the behaviour is that of Linux' interpreter (atombios.md 14).
 */
#ifndef RX_ATOM_H
#define RX_ATOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/atom/atom_opcodes.h"

/* What Linux only prints, going on with a value of no meaning: atombios.md 14, line "!". */
enum atom_complaint {
	ATOM_FB_READ_OOB, /* outside the scratch memory: reads 0 */
	ATOM_FB_WRITE_OOB,
	ATOM_PS_OOB, /* parameter or workspace that does not exist */
	ATOM_WS_OOB,
	ATOM_BAD_CASE,     /* a list of SWITCH that is none */
	ATOM_IIO_UNDEFINED /* a port without a program */
};

/* atom_host - the card. Every function returns 0, or -errno that ends the run and is passed on. */
struct atom_host {
	void *ctx; /* first argument of every call */
	int (*reg_read)(void *ctx, uint32_t reg, uint32_t *value);
	int (*reg_write)(void *ctx, uint32_t reg, uint32_t value);
	int (*delay_us)(void *ctx, uint32_t us);
	/* PLL and MC operands; NULL: such an operand is an error (Polaris has none). */
	int (*pll_read)(void *ctx, uint32_t reg, uint32_t *value);
	int (*pll_write)(void *ctx, uint32_t reg, uint32_t value);
	int (*mc_read)(void *ctx, uint32_t reg, uint32_t *value);
	int (*mc_write)(void *ctx, uint32_t reg, uint32_t value);
	/* NULL: accesses outside the scratch memory are let pass, all else is an error. */
	int (*complain)(void *ctx, enum atom_complaint what);
	/* A table is entered, or left by its last instruction; may be NULL. */
	void (*enter)(void *ctx, unsigned table, uint32_t offset);
	void (*leave)(void *ctx);
};

/* 0: the default. */
struct atom_limits {
	uint64_t max_steps;   /* instructions of one run, nested tables included; default 2^26 */
	uint32_t loop_ms;     /* a table that gets no further, as Linux: default 20000 */
	uint64_t deadline_ns; /* of clock.h's now_ns(), for a whole run; default none */
};

struct atom;

/* atom_open - check an image and make an interpreter for it.
 * @image: of @size bytes, from the first byte of the ROM; not copied, must live until atom_close()
 * @host: copied; reg_read, reg_write and delay_us are needed
 *
 * Return: 0; -EINVAL the image is not sound, with the field named in the log; -ENOMEM.
 */
int atom_open(struct atom **out, const uint8_t *image, size_t size, const struct atom_host *host);
void atom_close(struct atom *a);

void atom_set_limits(struct atom *a, const struct atom_limits *limits);

/* atom_run - run one command table.
 * @table: index in the master command list
 * @params: @n dwords in host order, read and written by the table; a table may use more than it
 *          declares, so give at least ATOM_PARAMS
 *
 * Errors are logged with table, image offset and opcode. Return: 0; -ENOENT no such table; -EINVAL
 * broken bytecode; -EOPNOTSUPP an opcode that no known image uses; -ELOOP tables nested too deep;
 * -ETIMEDOUT a limit; or what the host returned.
 */
#define ATOM_PARAMS 16 /* atombios.md 5 */
int atom_run(struct atom *a, unsigned table, uint32_t *params, unsigned n);

/* atom_asic_init - run ASIC_Init with the clocks of FirmwareInfo (atombios.md 9).
 * Return: as atom_run(); -EINVAL also when a clock is 0 or FirmwareInfo is missing.
 */
int atom_asic_init(struct atom *a);

/* atom_table_revision - major << 8 | minor of a command table. Return: that; -ENOENT. */
int atom_table_revision(const struct atom *a, unsigned table);

/* atom_where - image offset of the opcode being executed (inside a host call), or of the last. */
uint32_t atom_where(const struct atom *a);

/* atom_scratch - the scratch memory FB operands address; @bytes may be NULL. One spare dword lies
 * behind the last one (atombios.md 6.8).
 */
const uint32_t *atom_scratch(const struct atom *a, size_t *bytes);

#endif
