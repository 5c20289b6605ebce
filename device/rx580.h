/* rx580.h - one RX 580 behind its enclosure: the driver's public calls.
 * Called only on the owner thread, except where a call says "any thread". Sizes and offsets in
 * bytes; little endian. Errors everywhere: -ENODEV card or bridge gone; -EIO link or card reported
 * a failure; -ETIMEDOUT no answer in time (state becomes hung); logged once where detected.
 */
#ifndef RX580_H
#define RX580_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rx580;
struct rx_buffer;

/* The PCIe link between bridge and card. Known from the start, from the bridge's heartbeats and
 * from failures, not from the reader's question. */
struct rx_link {
	bool known, up;
	unsigned speed, width;         /* PCIe generation and lanes; 0 unknown */
	unsigned max_speed, max_width; /* of the bridge's port */
	uint32_t port; /* the bridge's own control word; 0 when its family has none */
};

/* RX_OVERHEATED_OFF: queues stopped, fan at full speed, until the card is reset */
enum rx_state { RX_INIT, RX_READY, RX_HUNG, RX_GONE, RX_OVERHEATED_OFF };

/* How the card was found: nobody had started it; taken over from an earlier owner with what lives
 * in its VRAM; running, not to be taken over, and therefore reset. */
enum rx_attach { RX_ATTACH_COLD, RX_ATTACH_WARM, RX_ATTACH_RESET };

/* One step of the bring-up, after it was done. */
struct rx_step {
	const char *name, *source;  /* constant strings */
	int err;                    /* 0, or why the bring-up ends here */
	uint64_t host_ns, model_ns; /* model_ns: on the modelled link; 0 without a model */
	uint64_t commands;          /* to the bridge */
};

struct rx_options {
	const char *card;     /* "auto", "usb[:VID:PID[@BUS-PORT]]", "sg:/dev/sgN",
	                         "usbip:...", "replay:FILE", "virtual[,options]" */
	const char *trace;    /* record every command in this file; NULL: no */
	const char *vbios;    /* this board's VBIOS in a file; NULL: from the card */
	bool no_dpm;          /* stay at boot clocks, 300/300 MHz */
	const char *firmware; /* folder with amdgpu's microcode; NULL: /lib/firmware/amdgpu */
	bool no_attach;       /* never take over a card that runs: reset it */
	/* @yield: called between bridge commands of long operations, where other jobs may use the
	 * card. May be NULL. */
	void (*yield)(void *ctx);
	void *yield_ctx;
	/* @on_step: called by rx_open after each step. May be NULL. */
	void (*on_step)(void *ctx, const struct rx_step *step);
	void *on_step_ctx;
};

/* rx_open - find the enclosure, identify the bridge, bring the card up to two running queues. See
 * rx580.c for the steps. Return: 0; -EINVAL no such card, -EACCES no permission, -EBUSY somebody
 * else has it (messages say so); the errors above.
 */
int rx_open(struct rx580 **out, const struct rx_options *opt);
/* rx_close - stop queues, leave the card idle, free everything. NULL is fine. */
void rx_close(struct rx580 *rx);

/* What `status` and `bridge` show. Any thread: a copy kept under a lock, never touching the link.
 * RX_GONE also as soon as the device is seen to leave, before any call has failed. */
struct rx_info {
	enum rx_state state;
	enum rx_attach attach;
	char backend[16];       /* usb | sg | virtual */
	char bridge_family[16]; /* rtl921x */
	char bridge_firmware[32];
	uint16_t usb_vid, usb_pid;
	unsigned usb_mbit;
	uint32_t request_bytes; /* more at once keeps whoever waits too long; 0: no matter */
	bool hardware_verified; /* always false until somebody proved it on a card */
	uint16_t pci_vendor, pci_device, pci_subvendor, pci_subdevice;
	uint8_t pci_revision;
	uint64_t vram_total, vram_window; /* bytes; window: what BAR0 shows */
	uint64_t vram_used;
	uint64_t fb_base; /* MC address of VRAM offset 0 */
	unsigned compute_units;
	bool queues_running; /* VRAM above the window is reachable */
	unsigned generation; /* counts replugs and resets */
	/* probed abilities of the bridge, bridge.md 7 */
	bool ability_alias_write, ability_mmio_wptr;
	unsigned ability_engine_burst; /* dwords a TLP of bulk writes; 0 off */
	bool ability_function_1;       /* rx_function_read */
	struct rx_link link;
	/* driver counters */
	uint64_t commands, bytes_in, bytes_out, retries;
	/* what went wrong on the cable and was survived: scsi.h, struct scsi_counters */
	uint64_t link_timeouts, link_stalls, link_shorts, link_overflows, link_bad_status,
	        link_stale_status, recoveries, port_resets;
	/* what the bridge refused; times it had to be unlocked again; requests without completion
	 */
	uint64_t refusals, unlocks, tlp_timeouts;
	/* the enclosure's own, when it has them */
	bool has_model;
	uint64_t model_commands, model_bytes, model_tlps, model_ns, guest_errors, dispatches,
	        instructions;
	/* queues: packets and dispatches outstanding are not known to the host; these are fences */
	uint32_t service_submitted, service_completed;
};
void rx_read_info(struct rx580 *rx, struct rx_info *out);
/* rx_piece - bytes of a long transfer between which others should have their turn: 256 take an
 * ASMedia some 0.1 s, 16 KiB an RTL921x 83 ms (docs/architecture.md, "The link model"). */
#define RX_PIECE_MAX (16u << 10)
static inline size_t rx_piece(const struct rx_info *info)
{
	return info->request_bytes ? 256u : RX_PIECE_MAX;
}
/* rx_model_ns - modelled wire time so far (0 without a model). Owner thread; cheap. */
uint64_t rx_model_ns(struct rx580 *rx);

/* Raw device. rx_vram_*: any offset and length inside VRAM. Above the window the bytes move through
 * staging on the service queue: -ENODATA before queues run. rx_reg_*: @offset a multiple of 4 below
 * 256 KiB: one MMIO access. -EINVAL otherwise. */
int rx_vram_read(struct rx580 *rx, uint64_t offset, void *buf, size_t len);
int rx_vram_write(struct rx580 *rx, uint64_t offset, const void *buf, size_t len);
/* rx_vram_copy, rx_vram_fill - on the card, by the service queue; ranges must not overlap;
 * multiples of 4. */
int rx_vram_copy(struct rx580 *rx, uint64_t dst, uint64_t src, uint64_t len);
int rx_vram_fill(struct rx580 *rx, uint64_t dst, uint32_t value, uint64_t len);
int rx_reg_read(struct rx580 *rx, uint32_t offset, uint32_t *value);
int rx_reg_write(struct rx580 *rx, uint32_t offset, uint32_t value);
/* rx_reg_hazard - whether a dump must not read this register (docs/registers.md); any thread. */
bool rx_reg_hazard(uint32_t offset);
/* rx_cfg_* - configuration space of the card's function 0. @size 1, 2 or 4, naturally aligned,
 * offset below 4096. */
int rx_cfg_read(struct rx580 *rx, unsigned offset, unsigned size, uint32_t *value);
int rx_cfg_write(struct rx580 *rx, unsigned offset, unsigned size, uint32_t value);
/* rx_function_read - an aligned dword of configuration space of another function of the card, 1 to
 * 7: the audio of its connectors. -ENODATA there is none, or nobody has shown that the bridge
 * reaches it. */
int rx_function_read(struct rx580 *rx, unsigned function, unsigned offset, uint32_t *value);
/* rx_bios - the VBIOS image read at start. Any thread; owned by @rx, constant for its life. */
const uint8_t *rx_bios(struct rx580 *rx, size_t *len);
/* rx_flash_bytes - of the flash it lies in, as far as one can tell: 256 or 512 KiB; with
 * rx_options.vbios the size of that file. */
int rx_flash_bytes(struct rx580 *rx, size_t *bytes);
/* rx_flash_read - bytes of the flash, the VBIOS first. What nobody has asked for before is read
 * from the card, and kept. One call reads RX_FLASH_PIECE bytes from the card at most and yields
 * between its pieces. Return: bytes, at least one; -EINVAL outside of it. */
#define RX_FLASH_PIECE 4096u
int rx_flash_read(struct rx580 *rx, size_t offset, void *buf, size_t len);
/* rx_hdp_flush - host writes to VRAM become visible to the card. rx_hdp_invalidate - host reads see
 * the card's writes. */
int rx_hdp_flush(struct rx580 *rx);
int rx_hdp_invalidate(struct rx580 *rx);
/* rx_reset_soft - kill whatever runs on both queues and start them again; VRAM is kept. It also
 * brings an overheated card back: rx_may_reset. */
int rx_reset_soft(struct rx580 *rx);
/* rx_vram_write_raw / rx_vram_read_raw - inside the window only, one bulk run in ascending order,
 * no HDP action: the last byte lands last (slots). -EINVAL outside the window. */
int rx_vram_write_raw(struct rx580 *rx, uint64_t offset, const void *buf, size_t len);
int rx_vram_read_raw(struct rx580 *rx, uint64_t offset, void *buf, size_t len);

/* Sensors and heat. */
enum rx_heat {
	RX_COOL,
	RX_WARM,      /* fan at full speed */
	RX_HOT,       /* and the plan is not to be fed: rx_may_feed */
	RX_OVERHEATED /* queues stopped */
};

/* One look at everything; immutable once published. */
struct rx_sensors {
	uint64_t sample, time_ns; /* counts from 1; clock.h */
	int temperature_mc;       /* millidegrees Celsius */
	int critical_mc;          /* of the board's VBIOS; 0 unknown */
	uint64_t sclk_hz, mclk_hz;
	uint64_t power_uw; /* average of the package */
	uint64_t cap_uw,
	        stock_cap_uw; /* limit in force and the board's own; 0: no power management */
	unsigned vddc_mv, fan_rpm, fan_max_rpm, pwm,
	        activity_pct; /* pwm 0..255; fan_max_rpm 0 unknown */
	bool fan_manual, dpm; /* dpm: clocks and limits are managed; else 300/300 MHz */
	bool fan_stuck;       /* it should turn and does not, as far as its tach can tell */
	enum rx_heat heat;
};

/* rx_sample - read all sensors with as few commands as there are values, publish them, and act on
 * heat. To be called about once a second. Return: 0; -ENODATA no SMU runs; the errors above. */
int rx_sample(struct rx580 *rx);
/* rx_read_sensors - the last sample. Any thread; never touches the link. Return: false: none yet.
 */
bool rx_read_sensors(struct rx580 *rx, struct rx_sensors *out);
/* rx_may_feed - false while the card is too hot for more work. Any thread. */
bool rx_may_feed(struct rx580 *rx);
/* rx_may_reset - 0; -EPERM the card overheated and has not cooled down yet. */
int rx_may_reset(struct rx580 *rx);
/* rx_fan_manual - @pwm 0..255, forgotten when the card gets warm. rx_fan_auto - the board's curve.
 * -ENODATA no SMU; -ENOTSUP no curve; -EPERM the card is warm: the fan stays at full speed. */
int rx_fan_manual(struct rx580 *rx, unsigned pwm);
int rx_fan_auto(struct rx580 *rx);
/* rx_set_power_cap - @watts at most the board's own limit. -EINVAL above it or below a quarter of
 * it; -ENODATA no power management. */
int rx_set_power_cap(struct rx580 *rx, unsigned watts);

/* VRAM allocation. Ranges are 256-byte aligned, zero filled on the card is the caller's business.
 */
enum rx_place { RX_IN_WINDOW, RX_ANYWHERE /* above the window first when it is large */ };
/* rx_alloc - @name is shown in `maps` and copied; it decides the kind there: "kernels/..." k,
 * "plans/..." p, "checkpoints/..." c, anything else s. Return: 0; -ENOSPC; -EINVAL size 0. */
int rx_alloc(
        struct rx580 *rx, const char *name, uint64_t size, enum rx_place place, uint64_t *offset);
void rx_free(struct rx580 *rx, uint64_t offset);
struct rx_range {
	uint64_t start, end;
	unsigned pins;
	char kind; /* 's' system, 'b' buffer, 'k' code, 'p' plan, 'c' checkpoint */
	char name[80];
};
/* rx_maps - copy up to @max ranges in address order. Any thread. Return: number of ranges there
 * are. */
size_t rx_maps(struct rx580 *rx, struct rx_range *out, size_t max);

/* Whose file a thing in VRAM is. */
struct rx_owner {
	bool known;    /* somebody has said so */
	uint16_t mode; /* permission bits */
	uint32_t uid, gid;
};

/* Named buffers (buffers/NAME). Bytes are zero when created or grown. Names: 1..64 of
 * [A-Za-z0-9._-], not starting with '.'. */
int rx_buffer_create(struct rx580 *rx, const char *name,
        struct rx_buffer **out); /* size 0; -EEXIST, -EINVAL name */
/* rx_buffer_create_as - the same; the next owner of the card finds it with this @owner. */
int rx_buffer_create_as(
        struct rx580 *rx, const char *name, const struct rx_owner *owner, struct rx_buffer **out);
struct rx_buffer *rx_buffer_find(struct rx580 *rx, const char *name); /* NULL when absent */
int rx_buffer_resize(struct rx580 *rx, struct rx_buffer *b,
        uint64_t size); /* -EBUSY pinned and size differs; -ENOSPC; keeps bytes */
int rx_buffer_rename(struct rx580 *rx, struct rx_buffer *b,
        const char *name); /* replaces an unpinned target; -EBUSY */
int rx_buffer_remove(struct rx580 *rx, struct rx_buffer *b); /* -EBUSY pinned */
/* rx_buffer_keep - @owner and @note (what else belongs to it, e.g. its attributes; 0 bytes:
 * nothing) go with the buffer to the next owner of the card: all of it, or what was before. Errors:
 * of rx_keep. */
int rx_buffer_keep(struct rx580 *rx, struct rx_buffer *b, const struct rx_owner *owner,
        const void *note, size_t bytes);
/* rx_buffer_unkeep - the next owner of the card shall not find it. */
void rx_buffer_unkeep(struct rx580 *rx, struct rx_buffer *b);
uint64_t rx_buffer_size(const struct rx_buffer *b);
uint64_t rx_buffer_offset(
        const struct rx_buffer *b); /* VRAM offset; may change on resize while unpinned */
const char *rx_buffer_name(const struct rx_buffer *b);
unsigned rx_buffer_pins(const struct rx_buffer *b);
void rx_buffer_pin(struct rx_buffer *b);
void rx_buffer_unpin(struct rx_buffer *b);
/* rx_buffer_next - iterate: NULL gives the first, in name order. */
struct rx_buffer *rx_buffer_next(struct rx580 *rx, const struct rx_buffer *after);

/* Warm attach: a record in VRAM of what lives there, for the next owner of a card that was left
 * running (killed, crashed). Buffers are in it by themselves; the rest says so here. */
/* The largest thing a user may write into plans/ or kernels/ (plan.h, code_object.h): whatever was
 * accepted is kept. 84 s on the wire, in pieces. */
#define RX_KEEP_NOTE_MAX (16u << 20)

/* mail.phase of a plan whose state is that of whole steps: docs/plan-format.md 4 */
#define RX_PHASE_BOUNDARY 1u
#define RX_PHASE_INPUT    2u

struct rx_kept {
	char kind;     /* 'b' buffer, 'k' file of kernels/, 'p' plan, 'c' checkpoint */
	char name[68]; /* 'k': with .cl or .co */
	struct rx_owner owner;
	uint64_t offset, size; /* range in VRAM, of rx_alloc; size 0: none */
	uint64_t note;         /* VRAM offset of its bytes kept by rx_keep */
	uint32_t note_bytes, note_crc;
	uint64_t pause, mail, state; /* 'p': VRAM offsets of its words, plan-format.md 3 */
	/* not in the record, but found when the card was taken over: */
	uint64_t steps_done; /* 'p' */
	bool torn;           /* 'p': it was killed inside a step */
	bool found;          /* by the earlier owner, not by us */
};
/* rx_keep - add or replace @what (kind, name, range, words); @note: bytes to be kept with it,
 * copied to VRAM. Return: 0; -EFBIG a note of more than RX_KEEP_NOTE_MAX; -ENOSPC; link errors (all
 * logged: it is not kept, nothing else is wrong). */
int rx_keep(struct rx580 *rx, const struct rx_kept *what, const void *note, size_t bytes);
/* rx_forget - no such thing any more; nothing happens when there is none. */
void rx_forget(struct rx580 *rx, char kind, const char *name);
/* rx_keep_again - a thing that was found is somewhere else now; its note stays. */
int rx_keep_again(struct rx580 *rx, const struct rx_kept *what);
/* The same as rx_keep for a large note, in pieces, between which others use the card: begin, more
 * until all
 * @bytes are there, then end with what it belongs to, or cancel. A card that is closed meanwhile
 * takes all of it along. */
struct rx_keeping {
	char name[68]; /* for messages */
	uint64_t note;
	size_t bytes, done;
	uint32_t crc;
};
int rx_keep_begin(struct rx580 *rx, struct rx_keeping *k, const char *name, size_t bytes);
int rx_keep_more(struct rx580 *rx, struct rx_keeping *k, const void *piece, size_t bytes);
int rx_keep_end(struct rx580 *rx, struct rx_keeping *k, const struct rx_kept *what);
void rx_keep_cancel(struct rx580 *rx, struct rx_keeping *k);
/* rx_keep_owner - of a thing that is kept: from now on this one. Nothing happens when it is not
 * kept, or @owner is its owner already. */
int rx_keep_owner(struct rx580 *rx, char kind, const char *name, const struct rx_owner *owner);
/* rx_kept_find - NULL: there is none. Valid as long as that of rx_kept_next. */
const struct rx_kept *rx_kept_find(struct rx580 *rx, char kind, const char *name);
/* rx_kept_next - @after NULL: the first of @kind. Valid until the next rx_keep or rx_forget. */
const struct rx_kept *rx_kept_next(struct rx580 *rx, char kind, const struct rx_kept *after);
/* rx_kept_note - read its bytes back, checked. @bytes: the caller's, a 0 behind them. Return: 0;
 * -ENODATA there are none; -EBADMSG they are damaged (logged); -ENOMEM; link errors. */
int rx_kept_note(struct rx580 *rx, const struct rx_kept *k, void **bytes);
/* rx_keep_freeze - what is recorded now stays for the next owner, also after rx_close: later calls
 * change nothing. */
void rx_keep_freeze(struct rx580 *rx);

/* Queues. Two compute queues on two pipes of MEC1 (resident-plans.md 8): the service queue is used
 * inside the calls above. */
/* rx_service_submit - run @ndw packet dwords (at most 8000) on the service queue and wait for their
 * fence (deadline in ms). All that the host wrote before is visible to them, in every cache; all
 * that they wrote is in memory afterwards. The packets are copied. Return: 0; -ETIMEDOUT a hang,
 * -EIO a fault: the queue was recovered; -ECANCELED somebody reset the card meanwhile; -E2BIG;
 * -ENODATA before queues run; the errors above. */
int rx_service_submit(struct rx580 *rx, const uint32_t *packets, size_t ndw, unsigned timeout_ms);
/* Plan queue: stopped until somebody starts it on a ring of his own. */
struct rx_plan_queue_state {
	bool active;
	uint32_t rptr, wptr; /* dwords */
	uint32_t error;      /* CP_HQD_ERROR: not 0 when the queue stopped on a fault */
};
/* rx_plan_queue_start - (re)activate on ring at VRAM offset @ring of 1 << @log2_dw dwords with WPTR
 * preset (G2). The ring is flushed to the card by the call. -EBUSY still active. */
int rx_plan_queue_start(struct rx580 *rx, uint64_t ring, unsigned log2_dw, uint32_t wptr);
int rx_plan_queue_read(struct rx580 *rx, struct rx_plan_queue_state *out);
/* rx_plan_queue_stop - dequeue; @kill ends running waves (hung kernel). Waits at most 1 s for a
 * drain, then kills. */
int rx_plan_queue_stop(struct rx580 *rx, bool kill);

#endif
