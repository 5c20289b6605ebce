/* card_priv.h - the insides of the virtual card, shared by the files of this folder only.
 *
 * Locks: card->lock guards configuration space, registers, queue registers and HDP. The pipe
 * threads take it for register access and state changes, never while they execute packets or wait.
 * What a pipe thread executes (struct card_queue below "execution") is touched by that thread only.
 * The engine's report callback takes no lock: it runs while somebody may be waiting for the engine
 * with the lock held.
 */
#ifndef VCARD_PRIV_H
#define VCARD_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/regs/regs.h"
#include "device/virtual/card/card.h"
#include "device/virtual/card/smu_priv.h"
#include "device/virtual/gcn3/engine.h"
#include "device/virtual/mem/vmem.h"

#define CARD_FUNCTIONS   2 /* graphics and HDMI audio: bridge.md 4.2 */
#define CARD_PIPES       4 /* of MEC1: polaris.md 1.4 */
#define CARD_QUEUES      8 /* a pipe */
#define CARD_VMIDS       16
#define CARD_SH_MEM_REGS 5
#define CARD_MMIO_DWORDS (RX_MMIO_BYTES / 4)
#define CARD_FLASH_BYTES 0x40000u /* the least a flash has: 256 KiB (polaris.md 2.1) */
#define CARD_FLASH_MAX   0x80000u
#define CARD_ROM_BYTES   0x20000u /* that the ROM BAR shows of it: polaris.md 1.2 */
#define CARD_SPOILS      8        /* faults of a kind at once */
#define CARD_PCIE_CORE   256      /* registers behind PCIE_INDEX that one power-on may touch */
#define CARD_BAR0_BYTES  (256ull << 20)
#define CARD_BAR2_BYTES  (2ull << 20)
#define CARD_AUDIO_BYTES 0x4000u
#define CARD_ALL_ONES    0xFFFFFFFFu

#define HQD_FIRST  REG_CP_MQD_BASE_ADDR
#define HQD_LAST   REG_CP_HQD_EOP_DONES
#define HQD_DWORDS ((HQD_LAST - HQD_FIRST) / 4 + 1)
#define HQD(q, r)  ((q)->hqd[(REG_##r - HQD_FIRST) / 4])

#define COMPUTE_FIRST  REG_COMPUTE_DISPATCH_INITIATOR
#define COMPUTE_DWORDS ((REG_COMPUTE_USER_DATA_15 - COMPUTE_FIRST) / 4 + 1)
#define COMPUTE(q, r)  ((q)->compute[(REG_##r - COMPUTE_FIRST) / 4])

/* Values of CP_HQD_ERROR: the model's own, the field's meaning on gfx8 is not public. */
enum cp_error { CP_ERROR_PACKET = 1, CP_ERROR_ADDRESS = 2, CP_ERROR_SHADER = 4 };

struct vcard;
struct card_pipe;

/* A run of packets being executed: the ring, or an indirect buffer. Dwords [pos, fetched) were
 * taken from memory earlier and stay as they were (resident-plans.md 15.1). */
struct card_stream {
	uint64_t base; /* VRAM offset */
	uint64_t size; /* dwords; of the ring: a power of two */
	uint64_t pos;  /* next dword; the ring counts on past its end */
	uint64_t fetched;
	uint64_t limit; /* one past the last dword that may be fetched */
	bool ring;
	bool uncached;
	uint32_t *data; /* size dwords, owned */
	uint64_t capacity;
};

/* RELEASE_MEM waiting for the work before it. */
struct card_release {
	uint32_t event, control;
	uint64_t address; /* VRAM offset */
	uint64_t data;
	uint64_t packet; /* number of the packet, to bound how late it retires */
};
#define CP_MAX_RELEASES 256 /* EOP_SIZE 0xA: 0x800 dwords, 8 an entry (resident-plans.md 6) */

struct card_queue {
	struct vcard *card;
	struct card_pipe *pipe;
	unsigned index;
	/* registers, under card->lock */
	uint32_t hqd[HQD_DWORDS];
	bool stopped; /* after an error: nothing is fetched until a dequeue */
	bool fresh;   /* activated, not latched by the pipe yet */
	/* execution */
	struct card_stream ring, ib;
	bool in_ib;
	uint64_t packets;
	uint32_t compute[COMPUTE_DWORDS];
	bool compute_set[COMPUTE_DWORDS];
	struct card_release release[CP_MAX_RELEASES];
	unsigned releases, max_releases;
	uint32_t dma[7]; /* a DMA_DATA without CP_SYNC not done yet */
	bool dma_pending;
	uint64_t atomic_return;
	uint32_t reported_rptr;
	uint32_t *scratch; /* a packet that wraps round the ring end */
};

struct card_pipe {
	struct vcard *card;
	unsigned index;
	pthread_t thread;
	bool started;
	pthread_cond_t wake;
	_Atomic(struct card_queue *) running; /* written under the lock */
	atomic_bool
	        attention; /* something below or in the queue's registers wants to be looked at */
	atomic_bool fault; /* a dispatch of the running queue faulted */
	bool abort;        /* reset or free: drop what runs */
	unsigned next;     /* queue to look at first */
	struct card_queue queue[CARD_QUEUES];
};

#define CARD_DIDT 0x80 /* registers of the DIDT space: polaris.md 10.8 */
/* DIDT_{SQ,DB,TD,TCP}_EDC_*: indices 0x13 to 0x18 of each block of 0x20 (smu7_hwmgr.c) */
#define CARD_EDC_ALL 0xFFFFFFu

struct config_function {
	uint32_t value[1024], writable[1024], clear_on_one[1024];
};

struct card_hdp;

struct vcard {
	struct vcard_options opt;
	bool born_cold; /* what power makes of it; opt.cold: what it is */
	struct vmem *mem;
	struct gcn3_engine *engine;
	pthread_mutex_t lock;
	pthread_cond_t parked; /* a pipe stopped running a queue */
	bool stopping;
	struct config_function config[CARD_FUNCTIONS];
	uint32_t reg[CARD_MMIO_DWORDS];
	uint8_t kind[CARD_MMIO_DWORDS]; /* enum reg_kind */
	uint8_t complained[CARD_MMIO_DWORDS / 8];
	uint32_t sh_mem[CARD_VMIDS][CARD_SH_MEM_REGS];
	uint32_t mec2_hqd[CARD_PIPES][CARD_QUEUES][HQD_DWORDS];
	uint32_t didt[CARD_DIDT], gc_cac; /* behind their index pairs: polaris.md 10.8 */
	uint32_t edc_written; /* registers of the EDC controller written since the reset */
	uint64_t clock_latch;
	uint64_t reset_until_ns;        /* registers read all ones until then, after a chip reset */
	_Atomic uint64_t time_ahead_ns; /* vcard_advance; written under the lock */
	_Atomic uint64_t held_ns;       /* vcard_hold_time: what time it is; 0: it goes by itself */
	uint32_t rom_index;
	uint32_t *smc_reg; /* blocks of smc.c, owned */
	uint64_t smc_complained;
	uint8_t *flash; /* flash_bytes, the VBIOS first; owned */
	uint32_t flash_bytes;
	uint32_t subsystem; /* configuration 0x2C */
	struct {
		uint32_t index, value;
	} pcie[CARD_PCIE_CORE];
	unsigned pcie_used;
	struct card_mc_seq mc;
	struct card_smu smu;
	struct card_heat heat;
	uint32_t ucode;   /* mask of the engines that have theirs */
	bool mec_blocked; /* unhalted without what it needs: nothing runs until it is halted */
	unsigned fault[VCARD_FAULT_COUNT];
	struct {
		enum vcard_fault fault;
		unsigned value;
		uint64_t at_ns;
	} later[CARD_SPOILS];
	unsigned laters;
	struct {
		bool smc;
		uint32_t address, flip;
	} spoil[CARD_SPOILS];
	struct card_hdp *hdp;
	struct card_pipe pipe[CARD_PIPES];
	_Atomic uint64_t fb_base, fb_size;
	atomic_uint_least64_t guest_errors, packets;
};

/* card.c */
void card_log(struct vcard *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void card_guest_error(struct vcard *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
uint64_t card_clock(struct vcard *c); /* 25 MHz: polaris.md 6.3 */
/* card_posted - ASIC_Init has run: BIOS_SCRATCH_7 bit 9 (polaris.md 1.5). */
bool card_posted(const struct vcard *c);
/* card_chip_reset - everything but the callers and the host's power switch. Called with the lock
 * held. */
void card_chip_reset(struct vcard *c);
/* card_vram_offset - MC address to VRAM offset. Return: false when [mc, mc + len) is not all VRAM.
 */
bool card_vram_offset(struct vcard *c, uint64_t mc, uint64_t len, uint64_t *off);

/* card_vram_there - whether the host reaches VRAM: memory initialised, BIF_FB_EN set. Counts the
 * error if not; @noise: what a read then gets. */
bool card_vram_there(struct vcard *c, bool write, uint64_t off, uint32_t *noise);

/* config.c: with the lock held. */
void card_config_reset(struct vcard *c);
enum vcard_completion card_config_access(struct vcard *c, struct vcard_tlp *tlp);
enum card_window {
	WINDOW_NONE,
	WINDOW_VRAM,
	WINDOW_DOORBELL,
	WINDOW_MMIO,
	WINDOW_ROM,
	WINDOW_AUDIO,
	WINDOW_IO
};
/* card_config_decode - who claims a bus address, and the offset inside. */
enum card_window card_config_decode(struct vcard *c, bool io, uint64_t address, uint64_t *off);

/* mmio.c: with the lock held; offsets are bytes, dword aligned. */
void card_mmio_reset(struct vcard *c);
uint32_t card_mmio_read(struct vcard *c, uint32_t off);
void card_mmio_write(struct vcard *c, uint32_t off, uint32_t value);
/* What packets may reach: registers that are not banked and start or stop nothing. Return: 0;
 * -EPERM, not logged. */
int card_mmio_cp_read(struct vcard *c, uint32_t off, uint32_t *value);
int card_mmio_cp_write(struct vcard *c, uint32_t off, uint32_t value);
enum reg_kind {
	REG_UNDEFINED,
	REG_STORE,
	REG_READ_ONLY, /* constant or computed */
	REG_SPECIAL,   /* has an effect; see mmio.c */
	REG_CONTROL,   /* has an effect packets must not cause */
	REG_BANKED_SH_MEM,
	REG_BANKED_HQD,
	REG_VBIOS,    /* storage of a block that ATOM tables program; not for packets */
	REG_UNPOSTED, /* the same, but only ASIC_Init may: undefined once the card is posted */
};
/* mmio_regs.c: what exists and its value after reset. */
void card_mmio_regs_define(uint8_t kind[CARD_MMIO_DWORDS]);
void card_mmio_regs_reset(struct vcard *c);
/* post_regs.c: the blocks of the VBIOS, over what is still undefined. */
void card_post_regs_define(uint8_t kind[CARD_MMIO_DWORDS]);
/* post_regs_special - registers with effects that only ASIC_Init and the memory microcode use.
 * Return: whether @off is one. */
bool card_post_regs_read(struct vcard *c, uint32_t off, uint32_t *value);
bool card_post_regs_write(struct vcard *c, uint32_t off, uint32_t value);
void card_post_regs_reset(struct vcard *c);

/* smc.c: the SMC address space behind the index/data pairs, with the lock held. @vbios: through the
 * pair that ATOM tables use, where whole blocks are storage; else named registers only. */
int card_smc_new(struct vcard *c);
void card_smc_reset(struct vcard *c);
uint32_t card_smc_read(struct vcard *c, uint32_t index, bool vbios);
void card_smc_write(struct vcard *c, uint32_t index, uint32_t value, bool vbios);
uint32_t *card_smc_storage(struct vcard *c, uint32_t index); /* NULL: no such register */

/* rom.c: load or build the flash. Return: 0; -errno, logged. */
int card_rom_new(struct vcard *c);

/* faults.c: arm what is due; what a spoilt register reads. */
void card_fault_tick(struct vcard *c);
uint32_t card_fault_spoil(const struct vcard *c, bool smc, uint32_t address, uint32_t value);
/* engines.c: halt bits of a card whose engines need their microcode. */
void card_engine_check_mec(struct vcard *c);
void card_engine_check(struct vcard *c, uint32_t off);

/* hdp.c: with the lock held. */
int card_hdp_new(struct card_hdp **out, struct vmem *mem);
void card_hdp_free(struct card_hdp *h);
void card_hdp_reset(struct card_hdp *h); /* forget everything, written or cached */
int card_hdp_write(struct card_hdp *h, uint64_t off, unsigned byte_enables, uint32_t data);
int card_hdp_read(struct card_hdp *h, uint64_t off, uint32_t *data);
void card_hdp_flush(struct card_hdp *h);
void card_hdp_invalidate(struct card_hdp *h);

/* hqd.c: queue registers and doorbells, with the lock held. */
uint32_t card_hqd_read(struct vcard *c, uint32_t off);
void card_hqd_write(struct vcard *c, uint32_t off, uint32_t value);
void card_hqd_doorbell(struct vcard *c, uint64_t off, uint32_t value);
void card_hqd_reset(struct vcard *c);
bool card_hqd_halted(struct vcard *c);
uint64_t card_hqd_ring_dwords(const struct card_queue *q);
static inline bool hqd_active(const struct card_queue *q)
{
	return q->hqd[(REG_CP_HQD_ACTIVE - HQD_FIRST) / 4] & 1;
}

/* cp.c: the pipe threads. */
int card_cp_init(struct vcard *c);
void card_cp_fini(struct vcard *c);
int card_cp_start_pipe(struct card_pipe *p); /* first activation; with the lock held */
void card_cp_poke(struct card_pipe *p);      /* something changed; with the lock held */
void card_cp_quiesce(
        struct vcard *c); /* every pipe drops what it runs; lock held, released while waiting */
bool card_cp_busy(struct vcard *c);
void card_cp_report(void *ctx, const struct gcn3_dispatch *d,
        const struct gcn3_report *r); /* engine callback */
/* card_cp_checkpoint - between packets and inside waits. Return: 0 go on; -ECANCELED the queue is
 * to be given up; -EIO a dispatch faulted. @in_wait: the queue blocks inside a packet. */
int card_cp_checkpoint(struct card_queue *q, bool in_wait);

/* cp_fetch.c */
int card_cp_stream_open(
        struct card_stream *s, uint64_t base, uint64_t size, bool ring, bool uncached);
void card_cp_stream_free(struct card_stream *s);
void card_cp_stream_refetch(struct card_stream *s); /* forget what was fetched ahead */
/* card_cp_stream_want - make @count dwords at pos available, reading ahead in chunks. Return: false
 * when they cross the end. */
bool card_cp_stream_want(struct vcard *c, struct card_stream *s, uint64_t count);
static inline uint32_t cp_stream_at(const struct card_stream *s, uint64_t i)
{
	return s->data[s->ring ? (s->pos + i) & (s->size - 1) : s->pos + i];
}

/* cp_packets.c and the other cp_*.c: one packet. @p: the packet, header first; @n: its dwords.
 * Return: 0; -ECANCELED, -EIO as card_cp_checkpoint; -EBADMSG malformed and -EFAULT bad address
 * (both logged). */
int card_cp_step(struct card_queue *q);
typedef int cp_packet_fn(struct card_queue *q, const uint32_t *p, uint32_t n);
cp_packet_fn card_cp_nop, card_cp_dispatch_direct, card_cp_dispatch_indirect, card_cp_atomic_mem,
        card_cp_cond_exec, card_cp_write_data, card_cp_wait_reg_mem, card_cp_indirect_buffer,
        card_cp_copy_data, card_cp_cond_write, card_cp_event_write, card_cp_release_mem,
        card_cp_dma_data, card_cp_acquire_mem, card_cp_rewind, card_cp_set_sh_reg,
        card_cp_set_uconfig_reg;
/* card_cp_bad - count and log a malformed packet of @q. Return: -EBADMSG. */
int card_cp_bad(struct card_queue *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Memory as packets address it: MC addresses, checked. Return: 0; -EFAULT, logged. */
int card_cp_address(struct card_queue *q, uint32_t lo, uint32_t hi, uint64_t len, uint64_t align,
        uint64_t *off);
bool card_cp_compare(uint32_t function, uint32_t value, uint32_t reference);
/* cp_data.c: registers as packets reach them, SH space included; @dw: dword index. */
int card_cp_read_register(struct card_queue *q, uint32_t dw, uint32_t *value);
int card_cp_write_register(struct card_queue *q, uint32_t dw, uint32_t value);
/* cp_sync.c */
int card_cp_wait_dispatches(struct card_queue *q);
void card_cp_retire(struct card_queue *q, bool blocked);
void card_cp_finish_dma(struct card_queue *q);
bool card_cp_settled(struct card_queue *q); /* nothing outstanding */
/* cp_dispatch.c */
void card_cp_compute_poison(struct card_queue *q);

#endif
