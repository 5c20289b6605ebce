/* rx580.c - bring-up and shutdown of the card, and what others may ask about it. rx_open is the
 * table of contents; every step that touches hardware leaves its counterpart on the undo stack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bridge/rtl921x.h"
#include "device/bytes.h"
#include "device/core/abilities.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"
#include "device/regs/regs.h"

#define BIOS_MAX                                                                                   \
	(128u << 10)         /* the ROM window: polaris.md 1.2; the legacy image is about 60 KiB   \
	                      */
#define ROM_SIGNATURE   0x30 /* offset of " 761295520": polaris.md 2.1 */
#define SERVICE_PIPE    1    /* resident-plans.md 8: another pipe than the plan's */
#define PLAN_PIPE       0
#define PRIORITY_LOW    0
#define PRIORITY_NORMAL 1

/* ---- what others may ask ---- */

static void copy_model(struct rx580 *rx)
{
	struct usb_link_stats s = {0};

	scsi_link_stats(rx->scsi, &s);
	rx->info.has_model = s.has_model;
	rx->info.model_commands = s.commands;
	rx->info.model_bytes = s.bytes;
	rx->info.model_tlps = s.tlps;
	rx->info.model_ns = s.model_ns;
	rx->info.guest_errors = s.guest_errors;
	rx->info.dispatches = s.dispatches;
	rx->info.instructions = s.instructions;
}

static void copy_counters(struct rx580 *rx)
{
	struct scsi_counters c;
	struct bridge_info b;

	scsi_read_counters(rx->scsi, &c);
	rx->bridge->ops->read_info(rx->bridge, &b);
	rx->info.commands = c.commands;
	rx->info.bytes_in = c.bytes_in;
	rx->info.bytes_out = c.bytes_out;
	rx->info.retries = b.retries;
	if (rx->service)
		cp_service_read_fences(
		        rx->service, &rx->info.service_submitted, &rx->info.service_completed);
	if (rx->vram)
		rx->info.vram_used = vram_used(rx->vram);
}

int rx_done(struct rx580 *rx, int err)
{
	pthread_mutex_lock(&rx->lock);
	if (err == -ENODEV)
		rx->info.state = RX_GONE;
	else if (err == -ETIMEDOUT && rx->info.state == RX_READY)
		rx->info.state = RX_HUNG;
	copy_model(rx);
	copy_counters(rx);
	pthread_mutex_unlock(&rx->lock);
	return err;
}

int rx_alive(const struct rx580 *rx)
{
	return rx->info.state == RX_GONE ? -ENODEV : 0;
}

void rx_read_info(struct rx580 *rx, struct rx_info *out)
{
	pthread_mutex_lock(&rx->lock);
	*out = rx->info;
	pthread_mutex_unlock(&rx->lock);
}

uint64_t rx_model_ns(struct rx580 *rx)
{
	struct usb_link_stats s = {0};

	scsi_link_stats(rx->scsi, &s);
	return s.model_ns;
}

const uint8_t *rx_bios(struct rx580 *rx, size_t *len)
{
	*len = rx->bios_len;
	return rx->bios;
}

/* ---- steps of the bring-up ---- */

void rx_let_others_in(struct rx580 *rx)
{
	if (rx->hold || rx->yield_depth >= MAX_DEPTH || !rx->opt.yield)
		return;
	rx->yield_depth++;
	rx->opt.yield(rx->opt.yield_ctx);
	rx->yield_depth--;
}

static void yield(void *ctx)
{
	rx_let_others_in(ctx);
}

static void undo_link(void *ctx)
{
	struct rx580 *rx = ctx;

	if (rx->bridge)
		bridge_free(rx->bridge);
	else
		scsi_free(rx->scsi);
}

static int open_bridge(struct rx580 *rx)
{
	struct bridge_hooks hooks = {.yield = yield, .ctx = rx};
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
	snprintf(rx->info.bridge_family, sizeof(rx->info.bridge_family), "%s", b.family);
	snprintf(rx->info.bridge_firmware, sizeof(rx->info.bridge_firmware), "%s", b.firmware);
	return 0;
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

	if (!backend_is_hardware(rx->info.backend) || abilities_load(&board, &a) || !a.alias_write)
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

static void undo_bios(void *ctx)
{
	struct rx580 *rx = ctx;

	free(rx->bios);
}

/* read_bios - the legacy image by way of the ROM BAR. The card works without it today, so a card
 * that shows none is only worth a warning. */
static int read_bios(struct rx580 *rx)
{
	static const char signature[] = " 761295520"; /* polaris.md 2.1 */

	rx->bios = malloc(BIOS_MAX);
	if (!rx->bios)
		return -ENOMEM;
	undo_push(&rx->undo, undo_bios, rx);
	int n = pci_read_rom(rx->pci, rx->bios, BIOS_MAX);

	if (n < 0 && n != -ENODATA)
		return n;
	if (n < ROM_SIGNATURE + 10 || memcmp(rx->bios + ROM_SIGNATURE, signature, 10)) {
		rx_log(LOG_WARN, "card", "no ATOM image in the expansion ROM: bios is empty");
		n = 0;
	}
	rx->bios_len = (size_t)n;
	return 0;
}

static void undo_gmc(void *ctx)
{
	struct rx580 *rx = ctx;

	gmc_stop(rx->gmc);
	gmc_free(rx->gmc);
}

static int open_gmc(struct rx580 *rx)
{
	int err = gmc_new(&rx->gmc, rx->pci, &rx->mmio);

	if (err)
		return err;
	undo_push(&rx->undo, undo_gmc, rx);
	err = gmc_start(rx->gmc);
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
	return err ? rx_fail("card", err, "no room in VRAM for the driver's own %u KiB",
	                     (2 * CP_QUEUE_WORK_BYTES + CP_SERVICE_AREA_BYTES + STAGE_BYTES) >> 10)
	           : 0;
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
	err = cp_start(rx->cp);
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
	if (err)
		return err;
	rx->info.ability_mmio_wptr = cp_service_mmio_wptr(rx->service);
	rx->info.queues_running = true;
	return 0;
}

/* ---- open, close ---- */

static int bring_up(struct rx580 *rx)
{
	undo_push(&rx->undo, undo_link, rx); /* 1 the carrier of commands: backend.c */
	int err = open_bridge(rx);           /* 2 identify, unlock: bridge.md 7.2 steps 1-4 */

	if (!err)
		err = open_pci(rx); /* 3 identity, BARs, decode: bridge.md 4, polaris.md 13.1 steps
		                       1, 2, 7 */
	if (!err)
		err = read_bios(rx); /* 4 VBIOS: polaris.md 13.1 step 8 */
	if (!err)
		err = open_gmc(rx); /* 5 posted?, memory controller, VRAM test: polaris.md 13.1 step
		                       10 - 13.2 */
	if (!err)
		err = lay_out_vram(rx); /* 6 our own areas: polaris.md 13.5 step 45 */
	if (!err)
		err = open_cp(rx); /* 7 graphics core constants, MEC on: polaris.md 13.4 */
	if (!err)
		err = open_queues(rx); /* 8 queues and ring tests: polaris.md 13.5 */
	return err;
}

static int open_with(
        struct rx580 **out, struct scsi *scsi, const char *backend, const struct rx_options *opt)
{
	struct rx580 *rx = calloc(1, sizeof(*rx));

	if (!rx) {
		scsi_free(scsi);
		return -ENOMEM;
	}
	rx->opt = *opt;
	rx->opt.card = rx->opt.trace = NULL; /* the caller's strings */
	snprintf(rx->info.backend, sizeof(rx->info.backend), "%s", backend);
	rx->scsi = scsi;
	pthread_mutex_init(&rx->lock, NULL);
	rx->hold = 1; /* nobody else until everything stands */
	int err = bring_up(rx);

	rx->hold = 0;
	if (err) {
		rx_close(rx);
		return err;
	}
	rx->info.generation = 1;
	rx->info.state = RX_READY;
	rx_done(rx, 0);
	rx_log(LOG_INFO, "card", "%s card ready: %u compute units, %llu MiB of VRAM",
	        rx->info.backend, rx->info.compute_units,
	        (unsigned long long)(rx->info.vram_total >> 20));
	*out = rx;
	return 0;
}

int rx_open_on(struct rx580 **out, struct usb_pipe *pipe, const struct rx_options *opt)
{
	struct scsi *scsi;
	int err = scsi_bot_new(&scsi, pipe);

	if (err) {
		pipe->ops->close(pipe);
		return err;
	}
	return open_with(out, scsi, "pipe", opt);
}

int rx_open(struct rx580 **out, const struct rx_options *opt)
{
	const char *backend;
	struct scsi *scsi;
	int err = backend_open(&scsi, &backend, opt->card, opt->trace);

	return err ? err : open_with(out, scsi, backend, opt);
}

void rx_close(struct rx580 *rx)
{
	if (!rx)
		return;
	rx->hold = 1;
	undo_run(&rx->undo);
	pthread_mutex_destroy(&rx->lock);
	free(rx);
}

/* ---- raw access ---- */

int rx_reg_read(struct rx580 *rx, uint32_t offset, uint32_t *value)
{
	if (offset % 4 || offset >= RX_MMIO_BYTES)
		return -EINVAL;
	int err = rx_alive(rx);

	return err ? err : rx_done(rx, reg_read(&rx->mmio, offset, value));
}

int rx_reg_write(struct rx580 *rx, uint32_t offset, uint32_t value)
{
	if (offset % 4 || offset >= RX_MMIO_BYTES)
		return -EINVAL;
	int err = rx_alive(rx);

	return err ? err : rx_done(rx, reg_write(&rx->mmio, offset, value));
}

static int check_cfg(struct rx580 *rx, unsigned offset, unsigned size)
{
	if ((size != 1 && size != 2 && size != 4) || offset % size || offset >= 4096)
		return -EINVAL;
	return rx_alive(rx);
}

int rx_cfg_read(struct rx580 *rx, unsigned offset, unsigned size, uint32_t *value)
{
	int err = check_cfg(rx, offset, size);

	return err ? err : rx_done(rx, pci_cfg_read(rx->pci, offset, size, value));
}

int rx_cfg_write(struct rx580 *rx, unsigned offset, unsigned size, uint32_t value)
{
	int err = check_cfg(rx, offset, size);

	return err ? err : rx_done(rx, pci_cfg_write(rx->pci, offset, size, value));
}
