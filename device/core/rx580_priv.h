/* rx580_priv.h - the card object, shared by the files of core/. */
#ifndef RX580_PRIV_H
#define RX580_PRIV_H

#include <pthread.h>

#include "device/core/backend.h"
#include "device/core/heat.h"
#include "device/core/keep.h"
#include "device/cp/cp.h"
#include "device/firmware/firmware.h"
#include "device/gmc/gmc.h"
#include "device/gmc/vram.h"
#include "device/rx580.h"
#include "device/smu/smu.h"
#include "device/undo.h"
#include "device/vbios/rom.h"

#define PLAN_PIPE   0          /* of MEC1: the plan queue's; the service queue has another */
#define STAGE_BYTES (1u << 20) /* for VRAM above the window: architecture.md, "VRAM" */
#define STAGE_SLOT                                                                                 \
	(64u << 10) /* one nested user each, so that a yield in one transfer does no harm to       \
	               another */
#define RX_FLASH_MAX (512u << 10) /* the largest flash of such a board: polaris.md 2.1 */
#define MAX_DEPTH    8            /* of yields within yields; beyond it nobody else gets in */

/* Board name in the image of the virtual card's own VBIOS */
#define RX_VIRTUAL_BOARD "rx580fs virtual"
/* Microcode and the SMU's buffer: where the next owner finds them too, inside the reserve, above
 * what the VBIOS and a console may use (9 MiB: polaris.md 3.1) and below the default page of gmc8.c
 */
#define MICROCODE_AT    (10ull << 20)
#define MICROCODE_BYTES (5ull << 20)

/* The record of what lives in VRAM: attach.c, record.c */
struct keep {
	struct keep_list list;
	uint64_t generation; /* of the area in use */
	unsigned area, used; /* records in its log */
	bool on, frozen;
	bool broken;        /* the log's end is not known: write the other area */
	const char *refuse; /* why a card that runs is not to be taken over; NULL: it may */
};

struct rx580 {
	struct rx_options opt;
	struct undo undo;
	struct scsi *scsi; /* owned by bridge once that exists */
	struct bridge *bridge;
	struct pci *pci;
	struct mmio mmio;
	struct gmc *gmc;
	struct cp *cp;
	struct cp_queue *service_queue, *plan_queue;
	struct cp_service *service;
	uint8_t *bios;
	size_t bios_len; /* known since the start */
	struct {
		size_t bytes;    /* 0: nobody has looked yet */
		uint32_t window; /* the ROM BAR shows so much of it; 0: not to be used */
		bool have[RX_FLASH_MAX / RX_FLASH_PIECE]; /* pieces read since */
		bool kept;                                /* in a file, or not worth it */
	} flash;                                          /* all of it goes into bios */
	struct vbios_rom rom;                             /* of bios */
	struct smu *smu;
	struct smu_state smu_state; /* as found */
	struct fw_set firmware;     /* images, while the card is being started */
	bool posted;                /* as found, or by us */
	struct {
		bool known;       /* pp is the VBIOS' PowerPlayInfo */
		bool kicker, p20; /* of the firmware: fw_set */
		struct vbios_powerplay pp;
	} board;
	struct heat heat;
	struct keep keep;
	bool fresh;           /* this start was a cold one: nothing ran before */
	uint64_t system_area; /* queues' work, the service ring, staging */
	uint64_t stage;
	unsigned stage_depth; /* slots in use */
	unsigned yield_depth;
	unsigned hold;             /* nobody is let in while > 0: something is between two states */
	struct rx_buffer *buffers; /* in name order */

	pthread_mutex_t lock; /* for what any thread may ask: */
	struct rx_info info;
	struct rx_sensors sensors; /* sample 0: none yet */
	struct vram *vram;
};

/* rx_open_on - rx_open with the pipe already there; it is owned by the card from now on, also after
 * an error. */
int rx_open_on(struct rx580 **out, struct usb_pipe *pipe, const struct rx_options *opt);
/* rx_bring_up - every step of the checklist in bring_up.c, up to the first that fails. What was
 * done is on the undo stack. */
int rx_bring_up(struct rx580 *rx);
/* Steps of the checklist in files of their own. vbios.c: the image into rx->bios and rx->rom. */
int rx_read_vbios(struct rx580 *rx);
/* rx_rom_port - @len bytes from @offset, both multiples of 4, through ROM_INDEX and ROM_DATA. */
int rx_rom_port(struct rx580 *rx, uint32_t offset, void *buf, size_t len);
/* rx_flash_is_whole - whether this is how much such a flash holds: atombios.md 1. */
static inline bool rx_flash_is_whole(size_t bytes)
{
	return bytes == RX_FLASH_MAX || bytes == RX_FLASH_MAX / 2;
}
/* rx_keep_bios - a copy of the first @len bytes of rx->bios for the next start: vbios.c. */
void rx_keep_bios(struct rx580 *rx, size_t len);
/* post.c: what the card is doing; POST when nobody did; a reset of the whole card. */
int rx_look_at_card(struct rx580 *rx);
int rx_post(struct rx580 *rx);
int rx_reset_chip(struct rx580 *rx);
/* attach.c: take a running card over or reset it (rx->info.attach); what lives in its VRAM into the
 * allocator; how far its plans got, once the queues stand. */
int rx_attach(struct rx580 *rx);
int rx_take_over(struct rx580 *rx);
int rx_read_kept_steps(struct rx580 *rx);
/* record.c: begin the record of this owner; one change of it. */
int rx_start_record(struct rx580 *rx);
int rx_record(struct rx580 *rx, enum keep_op op, const struct rx_kept *e);
/* rx_record_rename - buffer @e is called @name from now on, in place of the one that is. One record
 * (keep_list_put), so that whoever reads it finds the one name or the other and never neither; two
 * for a buffer that has nothing on the card. */
void rx_record_rename(struct rx580 *rx, const struct rx_kept *e, const char *name);
/* rx_buffer_adopt - a buffer of the earlier owner. -EEXIST its range is taken. */
int rx_buffer_adopt(struct rx580 *rx, const struct rx_kept *e);
struct atom;
/* rx_atom_open - an interpreter for the VBIOS that reaches this card; atom_close it. */
int rx_atom_open(struct rx580 *rx, struct atom **out);
/* power.c: microcode files; the SMU and, through it, the other engines. */
int rx_load_firmware(struct rx580 *rx);
int rx_start_smu(struct rx580 *rx);
int rx_start_fan(struct rx580 *rx);
int rx_start_power(struct rx580 *rx);
void rx_stop_power(struct rx580 *rx);
/* rx_done - to be called with the result at the end of every public call that used the card:
 * updates state and counters, returns @err. */
int rx_done(struct rx580 *rx, int err);
/* rx_alive - 0, or the error every call returns once the card is gone. */
int rx_alive(const struct rx580 *rx);
/* rx_queues_up - 0; -EIO stopped by heat; -ENODATA not started. */
int rx_queues_up(const struct rx580 *rx);
/* rx_heat_over - an overheated card has cooled down and its queues run again: forget the heat. */
int rx_heat_over(struct rx580 *rx);
/* rx_let_others_in - yield to jobs that may use the card; not while held, and not without end. */
void rx_let_others_in(struct rx580 *rx);
/* rx_service - rx_service_submit without bookkeeping. */
int rx_service(struct rx580 *rx, const uint32_t *packets, size_t ndw, unsigned timeout_ms);
/* rx_buffers_free - forget all buffers; VRAM goes with the allocator. */
void rx_buffers_free(struct rx580 *rx);

#endif
