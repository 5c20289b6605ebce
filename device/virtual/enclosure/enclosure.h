/* enclosure.h - the virtual USB-NVMe enclosure: USB device, Bulk-Only target, the vendor commands
 * of one bridge family, root port, link model. A bulk transfer goes in, bytes and handshakes come
 * out. It owns its card. Facts: bridge.md 1, 2, 3, 5. Calls may come from any thread, one at a
 * time.
 */
#ifndef VENC_H
#define VENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct venc;
struct vcard;

/* The bridge chip, with stock firmware (bridge.md 1.1). */
enum venc_bridge { VENC_RTL921X, VENC_ASM236X, VENC_ASM246X };

/* venc_parse_bridge - the chip by name: "rtl9210", "asm2362", "asm2464". Return: 0; -EINVAL. */
int venc_parse_bridge(const char *name, enum venc_bridge *out);

/* What the card is told at its birth, apart from its size. */
struct venc_card_options {
	bool cold;        /* power on un-posted */
	int ambient;      /* degrees C; 0 = 25 */
	char vbios[1024]; /* image file; "": the synthetic one */
	struct {
		unsigned fault, value; /* enum vcard_fault */
		unsigned after_s;
	} fault[8];
	unsigned faults;
	struct {
		bool smc;
		uint32_t address, flip;
	} spoil[8];
	unsigned spoils;
};

/* venc_card_option - parse one word into @opt: "cold", "posted", "vbios=FILE", "ambient=C",
 * "fault=NAME[=VALUE][@SECONDS]" (card.h, vcard_fault_parse), "spoil=[smc:]ADDRESS:FLIP"
 * (vcard_spoil). Return: 0; -EINVAL it is none of these. */
int venc_card_option(struct venc_card_options *opt, const char *word);

struct venc_options {
	enum venc_bridge bridge;
	bool super_speed; /* enumerated at 5 Gbit/s instead of 480 Mbit/s: descriptors, packets */
	bool realtime;    /* sleep for the modelled wire time */
	unsigned threads; /* passed to the card */
	uint64_t vram_bytes;           /* passed to the card */
	struct venc_card_options card; /* the rest of them, see venc_card_option */
	/* defects and dialects, bridge.md 5.3; defaults (0) are what 1.32.87 does */
	bool stray_store_hangs; /* a dword E3/33, E3/34 store to an unmapped CPU address hangs the
	                           bridge */
	bool null_handle_hangs; /* B3, B4, 33, 34 in state FF hang the bridge instead of 5/20
	                           (bridge.md 5.3) */
	bool engine_needs_release; /* a raw engine slot stays taken until its release bit is
	                              written; else it is free once done (bridge.md 2.11, K5:
	                              unknown) */
	bool usb_reset_relocks;    /* a port reset forgets the E3 unlock (bridge.md 2.7: unknown) */
	bool uas_reorders;   /* of the SIMPLE commands waiting the newest goes first (bridge.md 1.5,
	                        K14: the order is unknown) */
	bool unit_attention; /* the first command after a reset fails with 6/29/00 (bridge.md 5.1:
	                        unknown) */
	bool start_unpowered; /* no card behind the bridge: BB says FF */
	unsigned engine;      /* VENC_ENGINE_*: what the raw engine does beyond the firmware's
	                         own use of it (bridge.md 2.11, K6: unknown); 0: nothing */
	char firmware[16];    /* RTL921x: "1.32.49", or another version; "": 1.32.87. One nobody has
	                         analysed behaves like that. "4.30.23" is the golden image:
	                         bridge.md 5.3 */
	void (*log)(void *ctx, bool guest_error, const char *line);
	void *log_ctx;
};

#define VENC_ENGINE_FUNCTIONS 0x01u /* configuration requests to functions other than 0 */
#define VENC_ENGINE_TYPE1     0x02u /* configuration requests of type 1 leave the port */
#define VENC_ENGINE_64BIT     0x04u /* w3 other than 0 reaches addresses above 4 GiB */
#define VENC_ENGINE_BURST     0x08u /* memory requests of up to 31 dwords */
#define VENC_ENGINE_BYTES     0x10u /* byte stores reach its words and data buffers */

/* venc_parse_engine - words joined by +: functions, type1, 64bit, burst, bytes, all. Adds to
 * *@engine. Return: 0; -EINVAL. */
int venc_parse_engine(const char *text, unsigned *engine);

/* venc_new - power the enclosure up with its card, enumerated. @opt is copied. Return: 0; -EINVAL
 * firmware is no version, or bridge no bridge; -ENOMEM; what the card's start-up says. */
int venc_new(struct venc **out, const struct venc_options *opt);
void venc_free(struct venc *e);

/* Bulk transfers. Return: bytes moved; -EPIPE endpoint halted; -ETIMEDOUT the device does not
 * answer (hung bridge, IN with nothing to send, OUT while it still has to send); -EOVERFLOW it sent
 * a packet longer than the room left in @data; -ENODEV unplugged. */
int venc_bulk_out(struct venc *e, const void *data, size_t len);
int venc_bulk_in(struct venc *e, void *data, size_t len);

/* venc_pipe_out, venc_pipe_in - the same for any endpoint of the alternate setting selected: 0x02
 * and 0x81; on 1 (UAS, high speed only) also 0x04 command and 0x83 status. -ENOENT: it has no such
 * endpoint. */
int venc_pipe_out(struct venc *e, uint8_t endpoint, const void *data, size_t len);
int venc_pipe_in(struct venc *e, uint8_t endpoint, void *data, size_t len);

/* venc_control - one control transfer on endpoint 0. @data is written if bit 7 of @request_type is
 * set. Return: data bytes; -EPIPE request refused; -ETIMEDOUT hung bridge; -ENODEV. */
int venc_control(struct venc *e, uint8_t request_type, uint8_t request, uint16_t value,
        uint16_t index, void *data, uint16_t len);
/* venc_port_reset - USB bus reset: endpoints and BOT state cleared, the lock of bridge.md 2.7 kept.
 * A hung bridge restarts with it as if power had been cycled. */
void venc_port_reset(struct venc *e);
/* venc_card - the card, for tests that break it (card.h); NULL: there is none. */
struct vcard *venc_card(struct venc *e);
/* venc_unplug - surprise removal: everything answers -ENODEV from now on. */
void venc_unplug(struct venc *e);

/* venc_power_cycle - the bridge's CPU restarts: E3 locked, PERST# for the card, enumeration anew,
 * BARs reassigned. Counters go on. An unplugged enclosure is plugged in again. */
void venc_power_cycle(struct venc *e);

/* Faults to inject (bridge.md 5.5). Those of the transport hit the next @count commands; in
 * brackets what UAS makes of them. */
enum venc_fault {
	VENC_FAULT_DATA_STALL, /* the data endpoint stalls, CSW status 1 [after its READY IU; CHECK
	                          CONDITION] */
	VENC_FAULT_CSW_STALL,  /* bulk IN [the status pipe] stalls once before the CSW [sense IU] */
	VENC_FAULT_CSW_TAG,    /* CSW [sense IU] with another tag */
	VENC_FAULT_CSW_SHORT,  /* CSW [sense IU] of 12 bytes */
	VENC_FAULT_PHASE_ERROR, /* CSW status 2 [CHECK CONDITION, B/4B/00] of what was executed */
	VENC_FAULT_TIMEOUT,     /* executed, but no answer until a class or port reset, or
	                            its abortion */
	VENC_FAULT_ENGINE_SLOW, /* the next @count polls of the raw engine say that it is busy */
	VENC_FAULT_CRS,         /* the next @count reads of the card's VID complete with CRS */
	VENC_FAULT_GPU_HANG,    /* while nonzero memory reads end in a completion timeout,
	                           configuration works; ASM: B296 bit 0 */
	VENC_FAULT_LINK_DOWN,   /* while nonzero the PCIe link is down: BB says FF; ASM: B450 is 0
	                           and requests end in B296 bit 0 */
	VENC_FAULT_COUNT
};

/* venc_inject - arm a fault; @count 0 disarms it. */
void venc_inject(struct venc *e, enum venc_fault fault, unsigned count);

/* Counted from the CBWs and TLPs that arrive; modelled time per architecture.md, "The link is the
 * scarcest resource". */
struct venc_stats {
	uint64_t commands; /* valid CBWs */
	uint64_t bytes;    /* data phase plus 44 a command: its CBW (31) and CSW (13) */
	uint64_t tlps; /* requests on the card's link caused by commands; power-up enumeration is
	                  not counted */
	uint64_t model_ns;     /* 250 us a command + 5 us a TLP + 27 ns a byte */
	uint64_t guest_errors; /* the enclosure's own plus the card's */
	uint64_t dispatches, instructions;
};
void venc_read_stats(struct venc *e, struct venc_stats *out);

#endif
