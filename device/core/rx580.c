/* rx580.c - open and close a card, what others may ask about it, raw access. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/core/rx580_priv.h"
#include "device/err.h"
#include "device/regs/regs.h"

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
	rx->info.refusals = b.refusals;
	rx->info.unlocks = b.unlocks;
	rx->info.tlp_timeouts = b.tlp_timeouts;
	rx->info.ability_engine_burst = b.ability_engine_burst;
	rx->info.ability_function_1 = b.ability_function_1;
	rx->info.link = (struct rx_link){b.link.known, b.link.up, b.link.speed, b.link.width,
	        b.link.max_speed, b.link.max_width, b.link.port};
	rx->info.link_timeouts = c.timeouts;
	rx->info.link_stalls = c.stalls;
	rx->info.link_shorts = c.shorts;
	rx->info.link_overflows = c.overflows;
	rx->info.link_bad_status = c.bad_status;
	rx->info.link_stale_status = c.stale_status;
	rx->info.recoveries = c.recoveries;
	rx->info.port_resets = c.resets;
	if (rx->service)
		cp_service_read_fences(
		        rx->service, &rx->info.service_submitted, &rx->info.service_completed);
	if (rx->vram)
		rx->info.vram_used = vram_used(rx->vram);
}

int rx_done(struct rx580 *rx, int err)
{
	pthread_mutex_lock(&rx->lock);
	uint64_t link_timeouts = rx->info.link_timeouts;

	copy_model(rx);
	copy_counters(rx);
	/* a cable that was late has been recovered; a card that is late hangs */
	bool card_late = err == -ETIMEDOUT && rx->info.link_timeouts == link_timeouts;

	if (err == -ENODEV)
		rx->info.state = RX_GONE;
	else if (card_late && rx->info.state == RX_READY)
		rx->info.state = RX_HUNG;
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
	if (out->state != RX_INIT && scsi_left(rx->scsi))
		out->state = RX_GONE;
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

void rx_let_others_in(struct rx580 *rx)
{
	if (rx->hold || rx->yield_depth >= MAX_DEPTH || !rx->opt.yield)
		return;
	rx->yield_depth++;
	rx->opt.yield(rx->opt.yield_ctx);
	rx->yield_depth--;
}

/* ---- open, close ---- */

static int open_with(
        struct rx580 **out, struct scsi *scsi, const char *backend, const struct rx_options *opt)
{
	struct rx580 *rx = calloc(1, sizeof(*rx));

	if (!rx) {
		scsi_free(scsi);
		return -ENOMEM;
	}
	rx->opt = *opt;
	rx->opt.card = rx->opt.trace = NULL;
	snprintf(rx->info.backend, sizeof(rx->info.backend), "%s", backend);
	rx->scsi = scsi;
	pthread_mutex_init(&rx->lock, NULL);
	rx->hold = 1; /* nobody else until everything stands */
	int err = rx_bring_up(rx);

	rx->opt.vbios = rx->opt.firmware = NULL; /* the caller's strings */
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

int rx_function_read(struct rx580 *rx, unsigned function, unsigned offset, uint32_t *value)
{
	int err = rx_alive(rx);

	return err ? err : rx_done(rx, pci_function_read(rx->pci, function, offset, value));
}
