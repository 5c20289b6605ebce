/* atom_priv.h - the interpreter's state, shared by its four files. */
#ifndef RX_ATOM_PRIV_H
#define RX_ATOM_PRIV_H

#include "device/atom/atom.h"
#include "device/vbios/rom.h"

#define ATOM_MAX_DEPTH 32          /* nested tables; real images nest 4 deep */
#define ATOM_WS_DWORDS 64          /* a workspace has at most 255 bytes: atombios.md 4 */
#define ATOM_GARBAGE   0xCDCDCDCDu /* what Linux gives for what does not exist: atombios.md 8 */

struct atom {
	struct vbios_rom rom;
	struct atom_host host;
	struct atom_limits limits;
	uint32_t iio[256]; /* program number to image offset of its first instruction; 0: none */
	uint32_t iio_end;
	uint32_t *scratch;
	uint32_t scratch_bytes;
	/* state of atombios.md 5 */
	uint16_t data_block, reg_block, io_attr;
	uint32_t fb_base;
	uint8_t port; /* 0: registers as they are, else the IIO program of reads */
	uint32_t quotient, remainder;
	uint8_t shift;
	bool equal, above;
	/* this run */
	uint64_t steps;
	uint32_t where;                /* image offset of the opcode */
	uint32_t last_reg, last_value; /* the last register read, for the words of a time-out */
	bool said;                     /* the error has been logged */
};

/* one invocation of a table */
struct frame {
	struct atom *a;
	unsigned table, depth;
	uint32_t start, end, pc; /* image offsets */
	uint8_t opcode;
	int err; /* sticky: nothing is fetched or accessed once it is set */
	bool done;
	uint32_t *ps;
	unsigned ps_count, ps_own; /* dwords that exist, and those the table declares */
	uint32_t ws[ATOM_WS_DWORDS];
	unsigned ws_count;
	uint32_t furthest; /* the jump that lies furthest in the table, */
	uint64_t since;    /* and when it was first taken */
};

/* operand.c: fields of a dword and the containers they live in */
struct field {
	uint32_t mask;
	unsigned shift, bits;
};
extern const struct field atom_fields[8]; /* by enum atom_align */

/* The position of a destination of @width alignment whose attribute has @selector in bits 7:6. */
enum atom_align atom_dst_align(enum atom_align width, unsigned selector);

uint32_t atom_fetch(struct frame *f, unsigned bytes); /* 1, 2 or 4 bytes at the code pointer */
uint32_t atom_fetch_index(struct frame *f, enum atom_dst kind);
uint32_t atom_fetch_immediate(struct frame *f, enum atom_align align);
uint32_t atom_fetch_source(struct frame *f, uint8_t attr); /* operand, access and field */
uint32_t atom_container_read(struct frame *f, enum atom_dst kind, uint32_t index);
void atom_container_write(struct frame *f, enum atom_dst kind, uint32_t index, uint32_t value);

/* iio.c */
int atom_iio_open(struct atom *a);
uint32_t atom_iio_run(struct frame *f, unsigned program, uint32_t index, uint32_t data);

/* atom.c: register access through the host, sticky errors */
uint32_t atom_host_read(struct frame *f, uint32_t reg);
void atom_host_write(struct frame *f, uint32_t reg, uint32_t value);
void atom_complain(struct frame *f, enum atom_complaint what);
/* atom_stop - set the error and log where it happened; the first one counts. */
void atom_stop(struct frame *f, int err, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* interp.c. Return: 0 or the error. */
int atom_run_table(struct atom *a, unsigned table, uint32_t *ps, unsigned ps_count, unsigned depth);

#endif
