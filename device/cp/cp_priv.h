/* cp_priv.h - shared by the files of cp/. */
#ifndef RX_CP_PRIV_H
#define RX_CP_PRIV_H

#include "device/cp/cp.h"

struct cp {
	struct mmio *mmio;
	struct gmc *gmc;
	unsigned compute_units;
};

struct cp_queue {
	struct cp *cp;
	struct cp_queue_config config;
	bool work_cleared; /* fresh VRAM is noise: EOP buffer and MQD are written once */
	/* what the hardware holds, so that a re-activation on the same ring writes three registers
	 * instead of fifty */
	uint64_t ring;
	unsigned log2_dw;
	bool programmed;
};

/* rlc_restart - stop, reset and start the run list controller. -EIO it does not run afterwards. */
int rlc_restart(struct cp *cp);
/* rlc_ensure - the same unless it is enabled: a start before this one may have ended early. */
int rlc_ensure(struct cp *cp);
/* cp_stop_leftover - take a queue off @pipe that this process did not start. Return: 0, also when
 * there was none; as cp_queue_kill. */
int cp_stop_leftover(struct cp *cp, unsigned pipe);

#endif
