/* nodes_root.c - README, status, ctl, log, bridge, maps. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/clock.h"
#include "device/err.h"
#include "fs/nodes.h"
#include "fs/verbs.h"

static const char readme_head[] =
        "An AMD RX 580 behind a USB enclosure, as files.\n"
        "hardware: unverified. No real card has been driven by this program; `bridge` says what\n"
        "is in use. Nothing here acts when it is read, only when it is written.\n"
        "\n"
        "  dd if=vram bs=64k count=1 | xxd | head\n"
        "  truncate -s 64M buffers/x && dd if=data of=buffers/x bs=64k conv=notrunc\n"
        "  cp my.cl kernels/ || cat kernels/my.log\n"
        "  lspci -A linux-sysfs -O sysfs.path=$PWD/pci -vv\n"
        "\n"
        "Nodes marked * work without the card.\n"
        "\n";

static int readme_text(struct fs *fs, struct node *n, struct text *out)
{
	(void)fs, (void)n;
	text_printf(out, "%s", readme_head);
	for (unsigned id = NODE_ROOT + 1; id < NODE_COUNT; id++) {
		const struct node_type *t = &node_types[id];

		text_printf(out, "%c %-32s %04o  %s\n", t->flags & N_DAEMON ? '*' : ' ', t->path,
		        (unsigned)t->mode, t->help);
	}
	return 0;
}

const struct node_ops readme_ops = {.text = readme_text};

static const char *state_word(enum rx_state state)
{
	switch (state) {
	case RX_INIT: return "init";
	case RX_READY: return "ready";
	case RX_HUNG: return "hung";
	case RX_OVERHEATED_OFF: return "overheated";
	case RX_GONE: return "gone";
	}
	return "gone";
}

static const char *work_word(enum rx_heat heat)
{
	if (heat == RX_OVERHEATED)
		return "stopped by heat";
	return heat == RX_HOT ? "paused by heat" : "allowed";
}

static const char *fan_word(const struct rx_sensors *s)
{
	if (s->fan_stuck)
		return "stuck";
	if (s->heat != RX_COOL)
		return "full speed";
	return s->fan_manual ? "manual" : "automatic";
}

/* As of the last sample. */
static void heat_facts(const struct rx_sensors *s, struct text *out)
{
	if (!s->sample)
		return;
	text_key(out, "heat", "%s", sensors_heat_word(s->heat));
	text_key(out, "work", "%s", work_word(s->heat));
	text_key(out, "fan", "%s", fan_word(s));
	text_key(out, "clocks", "%s", s->dpm ? "managed" : "300/300 MHz, no power management");
}

static const char *attach_word(enum rx_attach attach)
{
	switch (attach) {
	case RX_ATTACH_COLD: return "cold";
	case RX_ATTACH_WARM: return "warm";
	case RX_ATTACH_RESET: return "reset";
	}
	return "cold";
}

/* All but the clock, which changes without being news. */
static void status_facts(struct fs *fs, struct text *out)
{
	struct rx_info i;
	char error[256];

	fs_read_info(fs, &i);
	rx_log_last_error(error, sizeof(error));
	text_key(out, "state", "%s", state_word(i.state));
	text_key(out, "backend", "%s", i.backend[0] ? i.backend : "-");
	text_key(out, "card", "%s", "RX 580 (Polaris 10)");
	text_key(out, "hardware", "%s", i.hardware_verified ? "verified" : "unverified");
	text_key(out, "pci_id", "%04x:%04x", i.pci_vendor, i.pci_device);
	text_key(out, "vram_total", "%" PRIu64, i.vram_total);
	text_key(out, "vram_used", "%" PRIu64, i.vram_used);
	text_key(out, "link", "%u Mbit/s", i.usb_mbit);
	text_key(out, "queues", "%s", i.queues_running ? "running" : "stopped");
	if (fs->rx)
		heat_facts(&fs->sample.sensors, out);
	text_key(out, "generation", "%u", i.generation);
	text_key(out, "attach", "%s", attach_word(i.attach));
	text_key(out, "not_kept", "%u", fs->not_kept);
	text_key(out, "last_error", "%s", error[0] ? error : "-");
	text_key(out, "version", "%s", RX_VERSION);
}

static int status_text(struct fs *fs, struct node *n, struct text *out)
{
	(void)n;
	status_facts(fs, out);
	text_key(out, "uptime_sec", "%" PRIu64, (now_ns() - fs->started_ns) / 1000000000u);
	return 0;
}

static uint64_t status_version(struct fs *fs, struct node *n)
{
	struct text t = {0};

	(void)n;
	status_facts(fs, &t);
	uint64_t h = text_hash(t.data, t.len);

	text_free(&t);
	return h;
}

const struct node_ops status_ops = {.text = status_text, .version = status_version};

/* As the driver last saw it: reading the node sends nothing (docs/interface.md). */
static void link_text(const struct rx_link *l, struct text *out)
{
	text_key(out, "pcie_link", "%s", !l->known ? "unknown" : l->up ? "up" : "down");
	text_key(out, "pcie_gen", "%u", l->speed);
	text_key(out, "pcie_width", "%u", l->width);
	text_key(out, "pcie_max_gen", "%u", l->max_speed);
	text_key(out, "pcie_max_width", "%u", l->max_width);
	text_key(out, "pcie_port", "0x%08x", l->port);
}

static int bridge_text(struct fs *fs, struct node *n, struct text *out)
{
	struct rx_info i;

	(void)n;
	fs_read_info(fs, &i);
	text_key(out, "family", "%s", i.bridge_family[0] ? i.bridge_family : "-");
	text_key(out, "usb_id", "%04x:%04x", i.usb_vid, i.usb_pid);
	text_key(out, "usb_mbit", "%u", i.usb_mbit);
	text_key(out, "firmware", "%s", i.bridge_firmware[0] ? i.bridge_firmware : "-");
	text_key(out, "hardware", "%s", i.hardware_verified ? "verified" : "unverified");
	text_key(out, "ability_alias_write", "%u", i.ability_alias_write);
	text_key(out, "ability_mmio_wptr", "%u", i.ability_mmio_wptr);
	text_key(out, "ability_engine_burst", "%u", i.ability_engine_burst);
	text_key(out, "ability_functions", "%u", i.ability_function_1);
	link_text(&i.link, out);
	text_key(out, "commands", "%" PRIu64, i.commands);
	text_key(out, "bytes_in", "%" PRIu64, i.bytes_in);
	text_key(out, "bytes_out", "%" PRIu64, i.bytes_out);
	text_key(out, "retries", "%" PRIu64, i.retries);
	text_key(out, "link_timeouts", "%" PRIu64, i.link_timeouts);
	text_key(out, "link_stalls", "%" PRIu64, i.link_stalls);
	text_key(out, "link_shorts", "%" PRIu64, i.link_shorts);
	text_key(out, "link_overflows", "%" PRIu64, i.link_overflows);
	text_key(out, "link_bad_status", "%" PRIu64, i.link_bad_status);
	text_key(out, "link_stale_status", "%" PRIu64, i.link_stale_status);
	text_key(out, "recoveries", "%" PRIu64, i.recoveries);
	text_key(out, "port_resets", "%" PRIu64, i.port_resets);
	text_key(out, "refusals", "%" PRIu64, i.refusals);
	text_key(out, "unlocks", "%" PRIu64, i.unlocks);
	text_key(out, "tlp_timeouts", "%" PRIu64, i.tlp_timeouts);
	if (!i.has_model)
		return 0;
	text_key(out, "model_commands", "%" PRIu64, i.model_commands);
	text_key(out, "model_bytes", "%" PRIu64, i.model_bytes);
	text_key(out, "model_tlps", "%" PRIu64, i.model_tlps);
	text_key(out, "model_seconds", "%.6f", (double)i.model_ns / 1e9);
	text_key(out, "max_request_model_s", "%.6f",
	        (double)atomic_load(&fs->max_request_model_ns) / 1e9);
	text_key(out, "guest_errors", "%" PRIu64, i.guest_errors);
	text_key(out, "dispatches", "%" PRIu64, i.dispatches);
	text_key(out, "instructions", "%" PRIu64, i.instructions);
	return 0;
}

const struct node_ops bridge_ops = {.text = bridge_text};

static int maps_text(struct fs *fs, struct node *n, struct text *out)
{
	(void)n;
	if (!fs->rx)
		return -ENODEV;

	size_t count = rx_maps(fs->rx, NULL, 0);
	RX_CLEANUP(free) struct rx_range *r = calloc(count + 8, sizeof(*r));

	if (!r)
		return -ENOMEM;
	/* there may be more by now: show what fits, the next read shows the rest */
	size_t now = rx_maps(fs->rx, r, count + 8);

	for (size_t i = 0; i < now && i < count + 8; i++)
		text_printf(out, "%010" PRIx64 "-%010" PRIx64 " %c %u %s\n", r[i].start, r[i].end,
		        r[i].kind, r[i].pins, r[i].name);
	return 0;
}

const struct node_ops maps_ops = {.text = maps_text};

static struct growing *log_growing(struct fs *fs, struct node *n)
{
	(void)n;
	return &fs->log;
}

const struct node_ops log_ops = {.growing = log_growing};

static struct fs *fs_of(void *ctx)
{
	return ((struct request *)ctx)->fs;
}

static int verb_reset_soft(void *ctx, int argc, char **argv)
{
	struct fs *fs = fs_of(ctx);

	(void)argc, (void)argv;
	return fs->rx ? rx_reset_soft(fs->rx) : -ENODEV;
}

static int verb_reset_card(void *ctx, int argc, char **argv)
{
	(void)argc, (void)argv;
	return fs_reset_card(fs_of(ctx));
}

static int verb_loglevel(void *ctx, int argc, char **argv)
{
	int level = rx_log_parse_level(argv[argc - 1]);

	(void)ctx;
	if (level < 0)
		return rx_fail("fs", -EINVAL,
		        "loglevel %s: error, warn, info, debug, trace or 0..4", argv[argc - 1]);
	return rx_log_set_level(argc == 2 ? argv[0] : NULL, (enum log_level)level);
}

static int verb_timeout(void *ctx, int argc, char **argv)
{
	char *end;
	unsigned long ms = strtoul(argv[0], &end, 10);

	(void)argc;
	if (*end || end == argv[0] || ms < 100 || ms > FS_TOTAL_MS)
		return rx_fail("fs", -EINVAL, "timeout_ms %s: 100 to %u", argv[0], FS_TOTAL_MS);
	atomic_store(&fs_of(ctx)->request_ms, (unsigned)ms);
	return 0;
}

static const struct verb ctl_verbs[] = {
        {"reset soft", 0, 0, verb_reset_soft, "reset soft",
                "kill what runs on the queues and start them again; VRAM is kept"},
        {"reset card", 0, 0, verb_reset_card, "reset card",
                "close and open the card; buffers are lost, kernels are kept"},
        {"loglevel", 1, 2, verb_loglevel, "loglevel [MODULE] LEVEL",
                "error, warn, info, debug, trace or 0..4"},
        {"timeout_ms", 1, 1, verb_timeout, "timeout_ms N",
                "deadline of one request; 5000 at start"},
        {0},
};

const struct node_ops ctl_ops = {.verbs = ctl_verbs};
