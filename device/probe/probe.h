/* probe.h - examine an enclosure step by step, stop at the first surprise, and say what was found:
 * bridge.md 7.2 for the RTL921x. Needs no FUSE and no brought-up card. One call at a time, on the
 * thread that makes it. Numbers in host byte order, times in microseconds.
 */
#ifndef RX_PROBE_H
#define RX_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_MAX_STEPS 48

enum probe_verdict {
	PROBE_AS_EXPECTED,
	PROBE_NOTED,    /* not what was expected, and harmless */
	PROBE_SURPRISE, /* the probe stops here */
};

/* May a driver rely on it? */
enum probe_ability { PROBE_UNKNOWN, PROBE_NO, PROBE_PROVEN };

struct probe_step {
	const char *number;   /* of bridge.md 7.2 */
	const char *title;    /* "bridge firmware" */
	const char *evidence; /* why we expect what we expect: "doc", "fw", "inf" (bridge.md) */
	const char *source;   /* "bridge.md 2.8" */
	bool writes;
	enum probe_verdict verdict;
	uint32_t us;
	unsigned commands;
	char value[160];
	char words[240]; /* what it means, when that is not obvious; else "" */
};

struct probe_timing {
	unsigned n; /* 0: not measured */
	uint32_t min_us, median_us, p99_us, max_us;
	double mean_us;
};

struct probe_report {
	char carrier[16]; /* "usb", "sg", "usbip", "replay", "virtual" */
	unsigned write_level;
	uint16_t usb_vid, usb_pid, bcd_device;
	unsigned usb_mbit;
	char vendor[9], product[17], revision[5]; /* of INQUIRY, names of persons blanked */
	char family[16];                          /* "" unknown */
	char firmware[32];
	bool firmware_analysed;
	uint32_t ic_version, firmware_date; /* date: decimal YYYYMMDD */
	uint32_t card_id, card_class, bar[6];
	bool posted;
	uint32_t memory_mib;
	struct probe_timing config_read, register_read;
	uint32_t unclaimed_us; /* a memory read nobody answers */
	/* @dma_in: the card's own writes into the bridge's SRAM. Nothing here can prove that: it
	 * needs a card that runs. */
	enum probe_ability alias_write, sram, dma_in, function_1, byte_stores, wide;
	unsigned long_tlp;     /* dwords of the longest TLP the raw engine sent; 0 not proven */
	unsigned engine_burst; /* dwords the raw engine puts into one TLP; 0 not proven */
	unsigned max_transfer; /* bytes one command may move; 0 not asked */
	unsigned link_speed, link_width; /* of the bridge's port, PCIe generation and lanes */
	struct probe_step step[PROBE_MAX_STEPS];
	size_t nsteps;
	bool usable;
	char verdict[320]; /* in words: a step and its words */
};

struct probe_options {
	const char *card, *trace; /* as rx_options */
	/* 0: only commands that read; 1: one configuration write of the value just read; 2: what
	 * the raw engine, the SRAM and the alias trick can do, all put back (docs/probe.md) */
	unsigned write_level;
	/* called after each step; may be NULL */
	void (*on_step)(void *ctx, const struct probe_step *step);
	/* whether to end after this step, with everything put back that was changed; may be NULL */
	bool (*stop)(void *ctx);
	void *ctx;
};

/* probe_run - all steps up to the first surprise, or to opt->stop: then it is not usable either.
 * What was proven on hardware is remembered (device/core/abilities.h). Return: 0 when the probe
 * ended by itself, @out->usable is the answer; -EINVAL, -EACCES, -EBUSY, -ENODEV... the enclosure
 * cannot be opened (logged).
 */
int probe_run(const struct probe_options *opt, struct probe_report *out);

/* probe_report_json - the report as text, to be freed. NULL: no memory. */
char *probe_report_json(const struct probe_report *r);
/* probe_report_write - the same into file @path, whole or not at all. Return: 0; -errno (logged).
 */
int probe_report_write(const struct probe_report *r, const char *path);
const char *probe_verdict_name(enum probe_verdict v);
const char *probe_ability_name(enum probe_ability a);

#endif
