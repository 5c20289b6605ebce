/* helper_regs.h - a card that is registers, SMC space and some VRAM, under the driver's own
 * register access: it stands in for pci and gmc. Every access is recorded. */
#ifndef HELPER_REGS_H
#define HELPER_REGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/regs/mmio.h"

#define FAKE_VRAM_BYTES (4u << 20)
#define FAKE_FB_BASE    0xF400000000ull

struct fake_smc {
	uint32_t ix, value;
};

struct fake_message {
	uint16_t id;
	bool has_arg; /* written since the message before */
	uint32_t arg;
};

struct fake {
	struct mmio mmio;
	uint32_t reg[0x10000];    /* by dword index */
	uint32_t ram[0x10000];    /* SMC RAM by dword */
	struct fake_smc high[64]; /* SMC space above RAM */
	size_t highs;
	uint8_t vram[FAKE_VRAM_BYTES];
	/* everything written, in order: registers as byte offset; SMC space by its address with
	 * smc set */
	struct fake_write {
		bool smc;
		uint32_t at, value;
	} *write;
	size_t writes, write_room;
	struct fake_message message[128];
	size_t messages;
	size_t reads; /* register reads */
	/* behaviour */
	uint32_t answer;        /* RESP for every message; 0: never */
	uint16_t refuse;        /* this message is answered 0xFE; 0: none */
	uint32_t result[0x500]; /* ARG after message id */
	bool boots;             /* reset release sets the boot flags */
	bool pass;              /* Test sets SMU_PASS */
	bool voltage_on;        /* Voltage_Cntl_Enable shows in FEATURE_STATUS */
	uint32_t loads;         /* bits LoadUcodes may set */
	size_t fail_at;         /* this write and all later accesses fail, -EIO; 0: none */
	size_t flushes, invalidates;
};

extern struct fake *fake;

/* fake_open - a cold card: SMU held, protected mode. */
struct fake *fake_open(void);
void fake_close(void);
uint32_t *fake_smc(uint32_t ix);
/* fake_sent - the nth message with this id, or NULL. */
const struct fake_message *fake_sent(uint16_t id, size_t nth);
/* fake_last - the value last written to a register or SMC address; fails when never. */
uint32_t fake_last(bool smc, uint32_t at);
bool fake_written(bool smc, uint32_t at);

#endif
