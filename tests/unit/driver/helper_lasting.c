/* helper_lasting.c - see helper_lasting.h. */
#include "helper_lasting.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/clock.h"
#include "device/core/rx580_priv.h"
#include "device/log.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"

/* ---- a pipe that leaves the enclosure alone when it is closed ---- */

struct pipe {
	struct usb_pipe base; /* first */
	struct lasting *l;
};

static struct lasting *lasting_of(struct usb_pipe *p)
{
	return ((struct pipe *)p)->l;
}

/* end_of - the command with this number is the first that does not get there. */
static unsigned long end_of(const struct lasting *l)
{
	if (!l->end_step)
		return l->end_after;
	return l->steps < l->end_step ? ULONG_MAX : l->step_end[l->end_step - 1] + l->end_after;
}

/* may_go_on - counts commands; false: this one is not to get there. */
static bool may_go_on(struct lasting *l, const void *data, size_t len)
{
	bool command = len == 31 && !memcmp(data, "USBC", 4);

	l->ended = l->ended || (command && l->end_after && l->commands >= end_of(l));
	l->commands += command && !l->ended;
	return !l->ended;
}

static int bulk_out(struct usb_pipe *p, const void *data, size_t len, unsigned timeout_ms)
{
	struct lasting *l = lasting_of(p);

	(void)timeout_ms;
	if (!may_go_on(l, data, len))
		return -ENODEV;
	int n = venc_bulk_out(l->enclosure, data, len);

	l->ended = l->end_after && l->end_inside && l->commands == end_of(l);
	return n;
}

static int bulk_in(struct usb_pipe *p, void *data, size_t len, unsigned timeout_ms)
{
	struct lasting *l = lasting_of(p);

	(void)timeout_ms;
	return l->ended ? -ENODEV : venc_bulk_in(l->enclosure, data, len);
}

/* BOT 3.1, USB 2.0 9.4.1 */
#define MASS_STORAGE_RESET 0xFF
#define CLEAR_FEATURE      1

static int control(struct usb_pipe *p, uint8_t type, uint8_t request, uint16_t index)
{
	struct lasting *l = lasting_of(p);
	int n = l->ended ? -ENODEV : venc_control(l->enclosure, type, request, 0, index, NULL, 0);

	return n < 0 ? n : 0;
}

static int class_reset(struct usb_pipe *p)
{
	return control(p, 0x21, MASS_STORAGE_RESET, 0);
}

static int clear_halt_out(struct usb_pipe *p)
{
	return control(p, 0x02, CLEAR_FEATURE, 0x02);
}

static int clear_halt_in(struct usb_pipe *p)
{
	return control(p, 0x02, CLEAR_FEATURE, 0x81);
}

static int port_reset(struct usb_pipe *p)
{
	if (lasting_of(p)->ended)
		return -ENODEV;
	venc_port_reset(lasting_of(p)->enclosure);
	return 0;
}

static void identity(struct usb_pipe *p, struct usb_identity *out)
{
	(void)p;
	*out = (struct usb_identity){.vid = 0x0bda, .pid = 0x9210, .mbit = 480};
}

static void link_stats(struct usb_pipe *p, struct usb_link_stats *out)
{
	struct venc_stats s;

	venc_read_stats(lasting_of(p)->enclosure, &s);
	*out = (struct usb_link_stats){.has_model = true,
	        .commands = s.commands,
	        .model_ns = s.model_ns,
	        .guest_errors = s.guest_errors};
}

static void close_pipe(struct usb_pipe *p)
{
	free(p);
}

static const struct usb_pipe_ops ops = {.bulk_out = bulk_out,
        .bulk_in = bulk_in,
        .clear_halt_out = clear_halt_out,
        .clear_halt_in = clear_halt_in,
        .class_reset = class_reset,
        .port_reset = port_reset,
        .identity = identity,
        .link_stats = link_stats,
        .close = close_pipe};

static struct usb_pipe *plug_in(struct lasting *l)
{
	struct pipe *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->base.ops = &ops;
	p->l = l;
	return &p->base;
}

/* ---- the enclosure ---- */

static void far_side_log(void *ctx, bool guest_error, const char *line)
{
	(void)ctx, (void)guest_error, (void)line;
}

void lasting_new(struct lasting *l, const char *options)
{
	struct venc_options opt = {
	        .threads = 1, .vram_bytes = 512ull << 20, .log = far_side_log, .log_ctx = l};
	char copy[2048], *save = NULL;

	*l = (struct lasting){0};
	snprintf(copy, sizeof(copy), "%s", options);
	for (char *o = strtok_r(copy, ",", &save); o; o = strtok_r(NULL, ",", &save))
		assert_int_equal(venc_card_option(&opt.card, o), 0);
	assert_int_equal(venc_new(&l->enclosure, &opt), 0);
	l->card = venc_card(l->enclosure);
}

void lasting_free(struct lasting *l)
{
	venc_free(l->enclosure);
}

/* ---- a driver ---- */

static void hear(void *ctx, enum log_level level, const char *line, int len)
{
	struct lasting *l = ctx;
	size_t n = strlen(l->said);

	(void)level;
	if (n + (size_t)len < sizeof(l->said))
		memcpy(l->said + n, line, (size_t)len + 1);
}

/* The steps by name, so that damage can come just before one of them. */
static const char *const order[] = {"bridge", "PCI", "card", "VBIOS", "microcode", "POST", "memory",
        "VRAM", "SMU", "fan", "graphics", "queues", "power", "end"};

static bool is_step(const char *name, const char *word)
{
	return !strncmp(name, word, strlen(word));
}

static void at_step(void *ctx, const struct rx_step *step)
{
	struct lasting *l = ctx;

	if (l->steps < LASTING_STEPS)
		l->step_end[l->steps++] = l->commands;
	if (l->done && l->repair && is_step(step->name, "card: take over"))
		l->repair(l, l->what); /* only a start that begins anew comes here again */
	for (size_t i = 0; i + 1 < sizeof(order) / sizeof(*order) && l->before && !l->done; i++)
		if (is_step(step->name, order[i]) && !strcmp(order[i + 1], l->before)) {
			l->damage(l, l->what);
			l->done = true;
		}
}

int lasting_start(struct lasting *l, struct rx580 **rx)
{
	const struct rx_options opt = {
	        .on_step = at_step, .on_step_ctx = l, .firmware = l->firmware};
	uint64_t begin = now_ns();

	*l->said = '\0';
	l->done = l->ended = false;
	l->commands = l->steps = 0;
	rx_log_set_sink(hear, l);
	rx_log_set_stderr(false);
	int err = rx_open_on(rx, plug_in(l), &opt);

	rx_log_set_stderr(true);
	rx_log_set_sink(NULL, NULL);
	l->host_ms = (unsigned)((now_ns() - begin) / 1000000);
	return err;
}

struct rx580 *lasting_take(struct lasting *l, enum rx_attach want)
{
	struct rx_info info;
	struct rx580 *rx = NULL;
	int err = lasting_start(l, &rx);

	if (err)
		fail_msg("the start fails: %d; log:\n%s", err, l->said);
	rx_read_info(rx, &info);
	if (info.attach != want)
		fail_msg("attach: expected %d, got %d; log:\n%s", want, info.attach, l->said);
	return rx;
}

void lasting_die(struct rx580 *rx)
{
	rx_keep_freeze(rx);
	rx_close(rx);
}

void lasting_said(const struct lasting *l, const char *word)
{
	if (!strstr(l->said, word))
		fail_msg("expected \"%s\" in:\n%s", word, l->said);
}

/* ---- looking ---- */

static void look_at_registers(struct mmio *m, struct lasting_look *out)
{
	uint32_t v = 0, pc = 0;

	for (unsigned pipe = 0; pipe < 2; pipe++) {
		assert_int_equal(reg_select(m, 1, pipe, 0, 0), 0);
		assert_int_equal(reg_read(m, REG_CP_HQD_ACTIVE, &v), 0);
		out->queue_active[pipe] = v & 1;
	}
	assert_int_equal(reg_deselect(m), 0);
	assert_int_equal(reg_read(m, REG_CP_MEC_CNTL, &v), 0);
	out->mec_halted = v >> 30 & 1; /* MEC_ME1_HALT: polaris.md 6.4 */
	assert_int_equal(smc_read(m, IX_SMC_SYSCON_CLOCK_CNTL_0, &v), 0);
	assert_int_equal(smc_read(m, IX_SMC_PC_C, &pc), 0);
	out->smu_running = !(v & 1) && pc >= 0x20100; /* polaris.md 1.5 */
	assert_int_equal(smc_read(m, IX_CG_THERMAL_STATUS, &v), 0);
	out->duty = v >> 9 & 0xFF; /* FDO_PWM_DUTY, FMAX_DUTY100: polaris.md 10.9 */
	assert_int_equal(smc_read(m, IX_CG_FDO_CTRL1, &v), 0);
	out->full_duty = v & 0xFF;
}

void lasting_look(struct lasting *l, struct lasting_look *out)
{
	const struct bridge_hooks none = {0};
	struct mmio m = {0};
	struct bridge *bridge;
	struct scsi *scsi;

	*out = (struct lasting_look){0};
	rx_log_set_stderr(false);
	assert_int_equal(scsi_bot_new(&scsi, plug_in(l)), 0);
	assert_int_equal(bridge_open(&bridge, scsi, &none), 0);
	assert_int_equal(pci_new(&m.pci, bridge), 0);
	assert_int_equal(pci_start(m.pci), 0);
	look_at_registers(&m, out);
	pci_stop(m.pci);
	pci_free(m.pci);
	bridge_free(bridge);
	rx_log_set_stderr(true);
}
