/* helper_fake_rx.c - see helper_fake_rx.h. */
#include "helper_fake_rx.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"

struct rx_buffer {
	struct rx_buffer *next;
	char name[65];
	uint64_t offset, size;
	unsigned pins;
};

struct rx580 {
	pthread_mutex_t lock; /* state, ranges */
	struct rx_options opt;
	enum rx_state state;
	uint8_t *vram;
	uint32_t regs[65536];
	uint32_t cfg[1024];
	uint8_t bios[512];
	struct rx_range ranges[256];
	size_t nranges;
	struct rx_buffer *buffers;
	uint64_t model_ns, step_ns, calls;
	struct rx_sensors sensors; /* what the next sample finds */
	struct rx_sensors sample;  /* the last one; lock */
	int sample_err;
};

static int touch(struct rx580 *rx)
{
	pthread_mutex_lock(&rx->lock);
	rx->calls++;
	rx->model_ns += rx->step_ns;
	enum rx_state state = rx->state;
	pthread_mutex_unlock(&rx->lock);
	if (rx->opt.yield)
		rx->opt.yield(rx->opt.yield_ctx);
	return state == RX_GONE ? -ENODEV : state == RX_HUNG ? -ETIMEDOUT : 0;
}

void fake_set_state(struct rx580 *rx, enum rx_state state)
{
	pthread_mutex_lock(&rx->lock);
	rx->state = state;
	pthread_mutex_unlock(&rx->lock);
}

void fake_set_model_step(struct rx580 *rx, uint64_t ns)
{
	pthread_mutex_lock(&rx->lock);
	rx->step_ns = ns;
	pthread_mutex_unlock(&rx->lock);
}

uint64_t fake_calls(struct rx580 *rx)
{
	pthread_mutex_lock(&rx->lock);
	uint64_t n = rx->calls;
	pthread_mutex_unlock(&rx->lock);
	return n;
}

int rx_open(struct rx580 **out, const struct rx_options *opt)
{
	struct rx580 *rx = calloc(1, sizeof(*rx));

	if (strcmp(opt->card, "usb") == 0) {
		free(rx);
		return -ENOTSUP;
	}
	rx->vram = calloc(1, FAKE_VRAM);
	rx->opt = *opt;
	rx->state = RX_READY;
	rx->step_ns = 1000;
	rx->sample_err = strstr(opt->card, "nosmu") ? -ENODATA : 0;
	rx->sensors = (struct rx_sensors){.temperature_mc = 41000,
	        .critical_mc = 94000,
	        .sclk_hz = 1340000000,
	        .mclk_hz = 2000000000,
	        .power_uw = 87500000,
	        .cap_uw = 145000000,
	        .stock_cap_uw = 145000000,
	        .vddc_mv = 1150,
	        .fan_rpm = 1200,
	        .fan_max_rpm = 3200,
	        .pwm = 96,
	        .activity_pct = 99,
	        .dpm = true};
	rx->cfg[0] = 0x67df1002; /* polaris.md 1.1 */
	rx->cfg[2] = 0x030000e7;
	rx->cfg[4] = 0xe000000c;
	for (size_t i = 0; i < sizeof(rx->bios); i++)
		rx->bios[i] = (uint8_t)i;
	pthread_mutex_init(&rx->lock, NULL);
	*out = rx;
	return 0;
}

void rx_close(struct rx580 *rx)
{
	if (!rx)
		return;
	while (rx->buffers) {
		struct rx_buffer *b = rx->buffers;

		rx->buffers = b->next;
		free(b);
	}
	free(rx->vram);
	pthread_mutex_destroy(&rx->lock);
	free(rx);
}

void rx_read_info(struct rx580 *rx, struct rx_info *out)
{
	pthread_mutex_lock(&rx->lock);
	*out = (struct rx_info){.state = rx->state,
	        .backend = "fake",
	        .pci_vendor = 0x1002,
	        .pci_device = 0x67df,
	        .vram_total = FAKE_VRAM,
	        .vram_window = FAKE_WINDOW,
	        .fb_base = 0xf400000000,
	        .generation = 1,
	        .queues_running = true,
	        .has_model = true,
	        .model_ns = rx->model_ns,
	        .commands = rx->calls};
	for (size_t i = 0; i < rx->nranges; i++)
		out->vram_used += rx->ranges[i].end - rx->ranges[i].start;
	pthread_mutex_unlock(&rx->lock);
}

uint64_t rx_model_ns(struct rx580 *rx)
{
	pthread_mutex_lock(&rx->lock);
	uint64_t ns = rx->model_ns;
	pthread_mutex_unlock(&rx->lock);
	return ns;
}

int rx_vram_read(struct rx580 *rx, uint64_t offset, void *buf, size_t len)
{
	if (!range_ok(offset, len, FAKE_VRAM))
		return -EINVAL;
	memcpy(buf, rx->vram + offset, len);
	return touch(rx);
}

int rx_vram_write(struct rx580 *rx, uint64_t offset, const void *buf, size_t len)
{
	if (!range_ok(offset, len, FAKE_VRAM))
		return -EINVAL;
	memcpy(rx->vram + offset, buf, len);
	return touch(rx);
}

int rx_vram_copy(struct rx580 *rx, uint64_t dst, uint64_t src, uint64_t len)
{
	if (dst % 4 || src % 4 || len % 4)
		return -EINVAL;
	memcpy(rx->vram + dst, rx->vram + src, len);
	return touch(rx);
}

int rx_vram_fill(struct rx580 *rx, uint64_t dst, uint32_t value, uint64_t len)
{
	for (uint64_t i = 0; i < len; i += 4)
		put_le32(rx->vram + dst + i, value);
	return touch(rx);
}

int rx_vram_write_raw(struct rx580 *rx, uint64_t offset, const void *buf, size_t len)
{
	return range_ok(offset, len, FAKE_WINDOW) ? rx_vram_write(rx, offset, buf, len) : -EINVAL;
}

int rx_vram_read_raw(struct rx580 *rx, uint64_t offset, void *buf, size_t len)
{
	return range_ok(offset, len, FAKE_WINDOW) ? rx_vram_read(rx, offset, buf, len) : -EINVAL;
}

int rx_reg_read(struct rx580 *rx, uint32_t offset, uint32_t *value)
{
	*value = rx->regs[offset / 4];
	return touch(rx);
}

int rx_reg_write(struct rx580 *rx, uint32_t offset, uint32_t value)
{
	rx->regs[offset / 4] = value;
	return touch(rx);
}

bool rx_reg_hazard(uint32_t offset)
{
	return offset == 4;
}

int rx_cfg_read(struct rx580 *rx, unsigned offset, unsigned size, uint32_t *value)
{
	*value = rx->cfg[offset / 4] >> 8 * (offset % 4);
	if (size < 4)
		*value &= (1u << 8 * size) - 1;
	return touch(rx);
}

int rx_cfg_write(struct rx580 *rx, unsigned offset, unsigned size, uint32_t value)
{
	if (size == 4)
		rx->cfg[offset / 4] = value;
	return touch(rx);
}

const uint8_t *rx_bios(struct rx580 *rx, size_t *len)
{
	*len = sizeof(rx->bios);
	return rx->bios;
}

int rx_function_read(struct rx580 *rx, unsigned function, unsigned offset, uint32_t *value)
{
	(void)function;
	(void)offset;
	*value = 0;
	return touch(rx) ? -ENODEV : -ENODATA;
}

int rx_flash_bytes(struct rx580 *rx, size_t *bytes)
{
	*bytes = sizeof(rx->bios) + FAKE_FLASH_REST;
	return touch(rx);
}

/* the rest of the flash is zero and comes in pieces of 256 */
int rx_flash_read(struct rx580 *rx, size_t offset, void *buf, size_t len)
{
	int err = touch(rx);
	size_t n = MIN(len, (size_t)256 - offset % 256);

	if (err)
		return err;
	memset(buf, 0, n);
	if (offset < sizeof(rx->bios))
		memcpy(buf, rx->bios + offset, n);
	return (int)n;
}

int rx_hdp_flush(struct rx580 *rx)
{
	return touch(rx);
}

int rx_hdp_invalidate(struct rx580 *rx)
{
	return touch(rx);
}

int rx_reset_soft(struct rx580 *rx)
{
	fake_set_state(rx, RX_READY);
	return touch(rx);
}

int rx_alloc(
        struct rx580 *rx, const char *name, uint64_t size, enum rx_place place, uint64_t *offset)
{
	uint64_t at = 0;
	size_t i = 0;

	(void)place;
	size = align_up(size, 256);
	if (size == 0)
		return -EINVAL;
	pthread_mutex_lock(&rx->lock);
	for (; i < rx->nranges && rx->ranges[i].start - at < size; i++)
		at = rx->ranges[i].end;
	bool ok = rx->nranges < 256 && range_ok(at, size, FAKE_VRAM);

	if (ok) {
		memmove(&rx->ranges[i + 1], &rx->ranges[i],
		        (rx->nranges - i) * sizeof(rx->ranges[0]));
		rx->ranges[i] = (struct rx_range){.start = at, .end = at + size, .kind = 'b'};
		snprintf(rx->ranges[i].name, sizeof(rx->ranges[i].name), "%s", name);
		rx->nranges++;
		*offset = at;
	}
	pthread_mutex_unlock(&rx->lock);
	return ok ? 0 : -ENOSPC;
}

void rx_free(struct rx580 *rx, uint64_t offset)
{
	pthread_mutex_lock(&rx->lock);
	for (size_t i = 0; i < rx->nranges; i++)
		if (rx->ranges[i].start == offset) {
			rx->nranges--;
			memmove(&rx->ranges[i], &rx->ranges[i + 1],
			        (rx->nranges - i) * sizeof(rx->ranges[0]));
			break;
		}
	pthread_mutex_unlock(&rx->lock);
}

size_t rx_maps(struct rx580 *rx, struct rx_range *out, size_t max)
{
	pthread_mutex_lock(&rx->lock);
	size_t n = rx->nranges;

	for (size_t i = 0; i < n && i < max; i++)
		out[i] = rx->ranges[i];
	pthread_mutex_unlock(&rx->lock);
	return n;
}

struct rx_buffer *rx_buffer_find(struct rx580 *rx, const char *name)
{
	for (struct rx_buffer *b = rx->buffers; b; b = b->next)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

int rx_buffer_create(struct rx580 *rx, const char *name, struct rx_buffer **out)
{
	if (rx_buffer_find(rx, name))
		return -EEXIST;
	struct rx_buffer *b = calloc(1, sizeof(*b));

	snprintf(b->name, sizeof(b->name), "%s", name);
	b->next = rx->buffers;
	rx->buffers = b;
	*out = b;
	return 0;
}

int rx_buffer_create_as(
        struct rx580 *rx, const char *name, const struct rx_owner *owner, struct rx_buffer **out)
{
	(void)owner;
	return rx_buffer_create(rx, name, out);
}

int rx_buffer_resize(struct rx580 *rx, struct rx_buffer *b, uint64_t size)
{
	uint64_t at = 0;

	if (size == b->size)
		return 0;
	if (b->pins)
		return -EBUSY;
	if (size) {
		int err = rx_alloc(rx, b->name, size, RX_ANYWHERE, &at);

		if (err)
			return err;
		memset(rx->vram + at, 0, size);
		memcpy(rx->vram + at, rx->vram + b->offset, MIN(size, b->size));
	}
	if (b->size)
		rx_free(rx, b->offset);
	b->offset = at;
	b->size = size;
	return touch(rx);
}

int rx_buffer_remove(struct rx580 *rx, struct rx_buffer *b)
{
	if (b->pins)
		return -EBUSY;
	for (struct rx_buffer **at = &rx->buffers; *at; at = &(*at)->next)
		if (*at == b) {
			*at = b->next;
			break;
		}
	if (b->size)
		rx_free(rx, b->offset);
	free(b);
	return 0;
}

int rx_buffer_rename(struct rx580 *rx, struct rx_buffer *b, const char *name)
{
	struct rx_buffer *old = rx_buffer_find(rx, name);

	if (b->pins || (old && old->pins))
		return -EBUSY;
	if (old && old != b)
		rx_buffer_remove(rx, old);
	snprintf(b->name, sizeof(b->name), "%s", name);
	return 0;
}

uint64_t rx_buffer_size(const struct rx_buffer *b)
{
	return b->size;
}

uint64_t rx_buffer_offset(const struct rx_buffer *b)
{
	return b->offset;
}

const char *rx_buffer_name(const struct rx_buffer *b)
{
	return b->name;
}

unsigned rx_buffer_pins(const struct rx_buffer *b)
{
	return b->pins;
}

void rx_buffer_pin(struct rx_buffer *b)
{
	b->pins++;
}

void rx_buffer_unpin(struct rx_buffer *b)
{
	b->pins--;
}

struct rx_buffer *rx_buffer_next(struct rx580 *rx, const struct rx_buffer *after)
{
	return after ? after->next : rx->buffers;
}

int rx_service_submit(struct rx580 *rx, const uint32_t *packets, size_t ndw, unsigned timeout_ms)
{
	(void)packets, (void)ndw, (void)timeout_ms;
	return touch(rx);
}

int rx_plan_queue_start(struct rx580 *rx, uint64_t ring, unsigned log2_dw, uint32_t wptr)
{
	(void)ring, (void)log2_dw, (void)wptr;
	return touch(rx);
}

int rx_plan_queue_read(struct rx580 *rx, struct rx_plan_queue_state *out)
{
	*out = (struct rx_plan_queue_state){0};
	return touch(rx);
}

int rx_plan_queue_stop(struct rx580 *rx, bool kill)
{
	(void)kill;
	return touch(rx);
}

struct rx_sensors *fake_sensors(struct rx580 *rx)
{
	return &rx->sensors;
}

void fake_fail_samples(struct rx580 *rx, int err)
{
	rx->sample_err = err;
}

int rx_sample(struct rx580 *rx)
{
	int err = touch(rx);

	if (!err)
		err = rx->sample_err;
	if (err)
		return err;
	pthread_mutex_lock(&rx->lock);
	rx->sensors.sample = rx->sample.sample + 1;
	rx->sensors.time_ns = now_ns();
	rx->sample = rx->sensors;
	pthread_mutex_unlock(&rx->lock);
	return 0;
}

bool rx_read_sensors(struct rx580 *rx, struct rx_sensors *out)
{
	pthread_mutex_lock(&rx->lock);
	*out = rx->sample;
	pthread_mutex_unlock(&rx->lock);
	return out->sample != 0;
}

bool rx_may_feed(struct rx580 *rx)
{
	struct rx_sensors s;

	return !rx_read_sensors(rx, &s) || s.heat < RX_HOT;
}

int rx_may_reset(struct rx580 *rx)
{
	return rx->sensors.heat == RX_OVERHEATED ? -EPERM : 0;
}

int rx_fan_manual(struct rx580 *rx, unsigned pwm)
{
	if (rx->sensors.heat != RX_COOL)
		return -EPERM;
	rx->sensors.fan_manual = true;
	rx->sensors.pwm = pwm;
	return touch(rx);
}

int rx_fan_auto(struct rx580 *rx)
{
	if (rx->sensors.heat != RX_COOL)
		return -EPERM;
	rx->sensors.fan_manual = false;
	return touch(rx);
}

int rx_set_power_cap(struct rx580 *rx, unsigned watts)
{
	if (watts * 1000000ull > rx->sensors.stock_cap_uw)
		return -EINVAL;
	rx->sensors.cap_uw = watts * 1000000ull;
	return touch(rx);
}
