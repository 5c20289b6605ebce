/* helper_fault.h - a tap (helper_pipe.h) that breaks one transfer of one command: what a cable, a
 * hub or a bridge may do to each phase of Bulk-Only Transport (bridge.md 5.5).
 */
#ifndef HELPER_FAULT_H
#define HELPER_FAULT_H

#include "helper_pipe.h"

enum fault {
	FAULT_LOST,      /* time-out: the transfer never got there */
	FAULT_UNACKED,   /* time-out: it got there, the driver does not hear of it */
	FAULT_STALL,     /* the endpoint halts */
	FAULT_SHORT,     /* the second half of it is missing */
	FAULT_FLIP,      /* a bit of it is flipped */
	FAULT_EXTRA_CSW, /* the last CSW the driver has seen, or has given up on, comes (again)
	                    before it */
	FAULT_REMOVAL,
};

enum phase { PHASE_COMMAND, PHASE_DATA_IN, PHASE_DATA_OUT, PHASE_STATUS };

/* The command to break: the (@skip + 1)-th whose CDB has these values. */
struct fault_target {
	uint8_t op, sub;
	uint32_t addr, addr_step, addr_count; /* addr, addr + step, ...: the four engine slots */
	uint32_t len;
	unsigned skip;
};

struct fault_line {
	struct tap *tap;
	enum fault fault;
	enum phase where;
	struct fault_target target;
	unsigned flip_bit; /* FAULT_FLIP: counted from bit 0 of byte 0 */
	bool armed;        /* reset when it has struck */
	/* recovery takes the worst way: the next class reset fails, and a port reset locks E3 again
	 */
	bool class_reset_fails;
	bool locked; /* E3, until the header is read: bridge.md 2.7 */

	uint8_t cbw[31], csw[13];
	bool hit;    /* the command under way is the target */
	bool forged; /* its status is to be @forged_csw */
	uint8_t forged_csw[13];
	bool data_done;
};

/* fault_open - a fresh virtual card behind a line that is in order. The tap is owned by whoever
 * takes its pipe. */
void fault_open(struct fault_line *l);
/* fault_arm - break one transfer from now on. */
void fault_arm(struct fault_line *l, enum fault fault, enum phase where,
        const struct fault_target *target);
/* fault_tlps - what the card got so far, by the enclosure's own count. */
uint64_t fault_tlps(struct fault_line *l);

#endif
