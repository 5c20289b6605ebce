/* bring_up.c - from an open carrier of commands to two running queues. The table at the end is the
 * table of contents; every step that touches hardware leaves its counterpart on the undo stack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bridge/rtl921x.h"
#include "device/bytes.h"
#include "device/clock.h"
#include "device/core/abilities.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"

#define SERVICE_PIPE    1 /* resident-plans.md 8: another pipe than the plan's */
#define PRIORITY_LOW    0
#define PRIORITY_NORMAL 1

static void yield(void *ctx)
{
	rx_let_others_in(ctx);
}

/* recheck - a way to the card that has changed is as good as none. */
static int recheck(void *ctx)
{
	struct rx580 *rx = ctx;

	return rx->pci ? pci_check_bars(rx->pci) : 0;
}

static void undo_link(void *ctx)
{
	struct rx580 *rx = ctx;

	if (rx->bridge)
		bridge_free(rx->bridge);
	else
		scsi_free(rx->scsi);
}

/* look_at_link - a look that fails costs no more than what `bridge` shows of the link. */
static void look_at_link(struct rx580 *rx)
{
	struct bridge_info b;
	int err = rx->bridge->ops->look_at_link ? rx->bridge->ops->look_at_link(rx->bridge) : 0;

	rx->bridge->ops->read_info(rx->bridge, &b);
	if (err)
		rx_log(LOG_WARN, "card", "the bridge does not tell speed and width of its link: %s",
		        strerror(-err));
	else if (b.link.width)
		rx_log(LOG_DEBUG, "card", "PCIe link %s, generation %u x%u",
		        b.link.up ? "up" : "down", b.link.speed, b.link.width);
}

static int open_bridge(struct rx580 *rx)
{
	struct bridge_hooks hooks = {.yield = yield, .recheck = recheck, .ctx = rx};
	struct usb_identity usb;
	struct bridge_info b;
	int err = bridge_open(&rx->bridge, rx->scsi, &hooks);

	if (err)
		return err;
	scsi_identity(rx->scsi, &usb);
	rx->bridge->ops->read_info(rx->bridge, &b);
	rx->info.usb_vid = usb.vid;
	rx->info.usb_pid = usb.pid;
	rx->info.usb_mbit = usb.mbit;
	rx->info.request_bytes = b.request_bytes;
	snprintf(rx->info.bridge_family, sizeof(rx->info.bridge_family), "%s", b.family);
	snprintf(rx->info.bridge_firmware, sizeof(rx->info.bridge_firmware), "%s", b.firmware);
	look_at_link(rx);
	return 0;
}

static void use_burst(struct rx580 *rx, unsigned dwords)
{
	if (!dwords)
		return;
	rtl921x_use_burst(rx->bridge, dwords);
	rx_log(LOG_INFO, "card", "bulk writes go in bursts of %u dwords, as a probe has proven",
	        dwords);
}

/* use_abilities - what a probe has proven on this kind of board (docs/probe.md). BAR5 goes where
 * one E3/34 writes a register, the bridge's stray store ending in its SRAM: bridge.md 2.10. */
static int use_abilities(struct rx580 *rx, const struct pci_info *p)
{
	struct usb_identity usb;
	struct abilities a;

	scsi_identity(rx->scsi, &usb);
	const struct abilities_board board = {.vid = usb.vid,
	        .pid = usb.pid,
	        .bcd_device = usb.bcd_device,
	        .family = rx->info.bridge_family,
	        .firmware = rx->info.bridge_firmware,
	        .card_id = (uint32_t)p->device << 16 | p->vendor};

	if (!backend_is_hardware(rx->info.backend) || abilities_load(&board, &a))
		return 0;
	use_burst(rx, a.engine_burst);
	rtl921x_use_functions(rx->bridge, a.function_1);
	if (!a.alias_write || !rtl921x_alias_address(rx->bridge)) /* that family's trick */
		return 0;
	int err = pci_move_bar(rx->pci, PCI_BAR_REGISTERS, rtl921x_alias_address(rx->bridge));

	if (err)
		return err == -ENOTSUP ? 0 : err; /* no room there: the raw engine it is */
	rtl921x_use_alias(rx->bridge, true);
	rx->info.ability_alias_write = true;
	rx_log(LOG_INFO, "card", "registers are written by the alias trick a probe has proven");
	return 0;
}

static void undo_pci(void *ctx)
{
	struct rx580 *rx = ctx;

	rtl921x_use_alias(rx->bridge, false);
	pci_stop(rx->pci);
	pci_free(rx->pci);
	rx->pci = NULL;
}

static int open_pci(struct rx580 *rx)
{
	int err = pci_new(&rx->pci, rx->bridge);

	if (err)
		return err;
	undo_push(&rx->undo, undo_pci, rx);
	rx->mmio.pci = rx->pci;
	err = pci_start(rx->pci);
	if (err)
		return err;
	const struct pci_info *p = pci_info(rx->pci);

	rx->info.pci_vendor = p->vendor;
	rx->info.pci_device = p->device;
	rx->info.pci_subvendor = p->subvendor;
	rx->info.pci_subdevice = p->subdevice;
	rx->info.pci_revision = p->revision;
	return use_abilities(rx, p);
}

static void undo_objects(void *ctx)
{
	struct rx580 *rx = ctx;

	smu_free(rx->smu);
	gmc_free(rx->gmc);
	fw_free(&rx->firmware);
	free(rx->bios);
}

/* look - before anything is changed: what state is the card in? */
static int look(struct rx580 *rx)
{
	undo_push(&rx->undo, undo_objects, rx);
	int err = gmc_new(&rx->gmc, rx->pci, &rx->mmio);

	if (!err)
		err = smu_new(&rx->smu, &rx->mmio, rx->gmc);
	return err ? err : rx_look_at_card(rx);
}

static void undo_gmc(void *ctx)
{
	struct rx580 *rx = ctx;

	gmc_stop(rx->gmc);
}

static int open_gmc(struct rx580 *rx)
{
	undo_push(&rx->undo, undo_gmc, rx);
	int err = gmc_start(rx->gmc);

	if (err)
		return err;
	rx->info.vram_total = gmc_vram_bytes(rx->gmc);
	rx->info.vram_window = gmc_window_bytes(rx->gmc);
	rx->info.fb_base = gmc_fb_base(rx->gmc);
	return 0;
}

static void undo_vram(void *ctx)
{
	struct rx580 *rx = ctx;

	rx_buffers_free(rx);
	vram_free(rx->vram);
}

/* lay_out_vram - the driver's own areas: two queues' work, the service ring, staging. All in the
 * window. */
static int lay_out_vram(struct rx580 *rx)
{
	const struct rx_info *i = &rx->info;
	int err = vram_new(&rx->vram, i->vram_total, i->vram_window, GMC_RESERVED_BYTES);

	if (err)
		return err;
	undo_push(&rx->undo, undo_vram, rx);
	err = vram_alloc(rx->vram, "queues", 's', 2 * CP_QUEUE_WORK_BYTES + CP_SERVICE_AREA_BYTES,
	        true, &rx->system_area);
	if (!err)
		err = vram_alloc(rx->vram, "staging", 's', STAGE_BYTES, true, &rx->stage);
	if (err)
		return rx_fail("card", err, "no room in VRAM for the driver's own %u KiB",
		        (2 * CP_QUEUE_WORK_BYTES + CP_SERVICE_AREA_BYTES + STAGE_BYTES) >> 10);
	return rx_take_over(rx);
}

static void undo_power(void *ctx)
{
	struct rx580 *rx = ctx;

	if (rx->info.state != RX_GONE)
		rx_stop_power(rx);
}

static int start_fan(struct rx580 *rx)
{
	undo_push(&rx->undo, undo_power, rx);
	return rx_start_fan(rx);
}

static void undo_cp(void *ctx)
{
	struct rx580 *rx = ctx;

	cp_stop(rx->cp);
	cp_free(rx->cp);
}

static int open_cp(struct rx580 *rx)
{
	int err = cp_new(&rx->cp, &rx->mmio, rx->gmc);

	if (err)
		return err;
	undo_push(&rx->undo, undo_cp, rx);
	err = cp_start(rx->cp, rx->fresh);
	rx->info.compute_units = cp_compute_units(rx->cp);
	return err;
}

static void undo_queues(void *ctx)
{
	struct rx580 *rx = ctx;

	if (rx->service)
		cp_service_stop(rx->service);
	if (rx->plan_queue && rx->info.state != RX_GONE && cp_queue_drain(rx->plan_queue, 100))
		cp_queue_kill(rx->plan_queue);
	cp_service_free(rx->service);
	cp_queue_free(rx->service_queue);
	cp_queue_free(rx->plan_queue);
}

static int open_queues(struct rx580 *rx)
{
	const struct cp_queue_config plan = {.name = "plan",
	        .pipe = PLAN_PIPE,
	        .priority = PRIORITY_NORMAL,
	        .work = rx->system_area};
	const struct cp_queue_config service = {.name = "service",
	        .pipe = SERVICE_PIPE,
	        .priority = PRIORITY_LOW,
	        .work = rx->system_area + CP_QUEUE_WORK_BYTES};

	undo_push(&rx->undo, undo_queues, rx);
	int err = cp_queue_new(&rx->plan_queue, rx->cp, &plan);

	if (!err)
		err = cp_queue_new(&rx->service_queue, rx->cp, &service);
	if (!err)
		err = cp_service_new(&rx->service, rx->service_queue, rx->gmc, &rx->mmio,
		        rx->system_area + 2 * CP_QUEUE_WORK_BYTES, yield, rx);
	if (!err)
		err = cp_service_start(rx->service);
	if (!err)
		err = gmc_check_default_page(rx->gmc);
	if (err)
		return err;
	rx->info.ability_mmio_wptr = cp_service_mmio_wptr(rx->service);
	rx->info.queues_running = true;
	return 0;
}

/* ---- the checklist ---- */

static const struct {
	const char *name, *source;
	int (*run)(struct rx580 *rx);
} checklist[] = {
        {"bridge: identify, unlock", "bridge.md 7.2 steps 1-4", open_bridge},
        {"PCI: identity, BARs, decode", "bridge.md 4, polaris.md 13.1 steps 1, 2, 7", open_pci},
        {"card: what state is it in", "polaris.md 13.1 steps 3, 5", look},
        {"card: take over, or reset", "architecture.md, Warm attach; polaris.md 13.1 steps 6, 7",
                rx_attach},
        {"VBIOS: read, check", "polaris.md 13.1 steps 8, 9", rx_read_vbios},
        {"microcode: find the files", "polaris.md 4.1", rx_load_firmware},
        {"POST: ASIC_Init when needed", "polaris.md 13.1 steps 10-12", rx_post},
        {"memory: controller, VRAM test", "polaris.md 13.1 steps 13-15, 13.2", open_gmc},
        {"VRAM: the driver's own areas", "polaris.md 13.5 step 45", lay_out_vram},
        {"SMU: start, load microcode", "polaris.md 13.3", rx_start_smu},
        {"fan: curve, temperature limits", "polaris.md 13.6 steps 60, 61", start_fan},
        {"graphics core: constants, RLC, MEC", "polaris.md 13.4", open_cp},
        {"queues: activate, ring tests", "polaris.md 13.5", open_queues},
        {"power: clocks, limits", "polaris.md 10.5, 13.6 steps 62, 63", rx_start_power},
        {"VRAM: a record for the next owner", "architecture.md, Warm attach", rx_start_record},
};

/* Of the checklist: what comes before it knows nothing of the card's state. */
#define FIRST_LOOK 2

static void report(struct rx580 *rx, size_t row, int err, uint64_t begin_ns,
        const struct scsi_counters *before, uint64_t model_before)
{
	struct scsi_counters after;

	scsi_read_counters(rx->scsi, &after);
	const struct rx_step step = {.name = checklist[row].name,
	        .source = checklist[row].source,
	        .err = err,
	        .host_ns = now_ns() - begin_ns,
	        .model_ns = rx_model_ns(rx) - model_before,
	        .commands = after.commands - before->commands};

	rx_log(LOG_DEBUG, "card", "%s: %s, %llu commands", step.name, err ? strerror(-err) : "done",
	        (unsigned long long)step.commands);
	if (err)
		rx_log(LOG_WARN, "card", "the start ends at step %zu, \"%s\" (%s)", row + 1,
		        step.name, step.source);
	if (rx->opt.on_step)
		rx->opt.on_step(rx->opt.on_step_ctx, &step);
}

static int run_steps(struct rx580 *rx, size_t from, size_t to)
{
	int err = 0;

	for (size_t i = from; i < to && !err; i++) {
		struct scsi_counters before;
		uint64_t begin = now_ns(), model = rx_model_ns(rx);

		scsi_read_counters(rx->scsi, &before);
		err = checklist[i].run(rx);
		report(rx, i, err, begin, &before, model);
	}
	if (err == -ENODEV) /* nothing to be undone on it */
		rx->info.state = RX_GONE;
	return err;
}

/* start_over - from the look at the card on, which will be reset: a queue that is stuck, microcode
 * that is not there, or anything else an earlier owner can leave. */
static int start_over(struct rx580 *rx, int mark)
{
	undo_run_to(&rx->undo, mark);
	rx->smu = NULL;
	rx->gmc = NULL;
	rx->cp = NULL;
	rx->service = NULL;
	rx->service_queue = rx->plan_queue = NULL;
	rx->bios = NULL;
	memset(&rx->flash, 0, sizeof(rx->flash));
	rx->vram = NULL;
	rx->fresh = false;
	rx->info.queues_running = false;
	rx->firmware = (struct fw_set){0};
	rx->keep = (struct keep){.refuse = "it could not be brought up as it was found, see above"};
	return run_steps(rx, FIRST_LOOK, ARRAY_SIZE(checklist));
}

int rx_bring_up(struct rx580 *rx)
{
	undo_push(&rx->undo, undo_link, rx);
	int err = run_steps(rx, 0, FIRST_LOOK);
	int mark = rx->undo.count;

	if (rx->opt.no_attach)
		rx->keep.refuse = "as asked for";
	if (!err)
		err = run_steps(rx, FIRST_LOOK, ARRAY_SIZE(checklist));
	bool found_running = rx->info.attach == RX_ATTACH_WARM;

	if (!err || !found_running || err == -ENODEV || err == -ENOMEM)
		return err;
	return start_over(rx, mark);
}
