/* nodes_sensors.c - telemetry and hwmon/: two views of one sample, which the owner takes once per
 * sample_ms; reading never uses the link. Names and units of hwmon: Linux
 * Documentation/hwmon/sysfs-interface.rst, "DOC: hwmon" in amdgpu_pm.c (interface.md 2.5).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "fs/nodes.h"
#include "fs/park.h"

#define MIN_SAMPLE_MS 100ul
#define MAX_SAMPLE_MS 3600000ul

/* ---- taking the sample ---- */

void sensors_sample(struct fs *fs)
{
	struct rx_sensors sensors = {0};
	struct rx_info info;
	int err = fs->rx ? rx_sample(fs->rx) : -ENODEV;

	if (fs->rx)
		rx_read_sensors(fs->rx, &sensors);
	fs_lock(fs);
	fs_read_info(fs, &info);
	fs->sample.count++;
	/* a fan that does not obey makes a sample no worse */
	fs->sample.err = sensors.time_ns != fs->sample.sensors.time_ns ? 0 : err;
	fs->sample.info = info;
	if (fs->rx)
		fs->sample.sensors = sensors;
	fs_unlock(fs);
	park_kick_polled(fs->park);
}

static void run_sample(struct job *job)
{
	struct fs *fs = (struct fs *)((char *)job - offsetof(struct fs, sample_job));

	sensors_sample(fs);
	atomic_store(&fs->sampling, false);
}

/* put_sample - unless the owner has not come to the last one yet. */
static void put_sample(struct fs *fs)
{
	if (atomic_exchange(&fs->sampling, true))
		return;
	fs->sample_job = (struct job){.priority = JOB_SAFETY, .run = run_sample};
	if (jobs_put(fs->jobs, &fs->sample_job) != 0)
		atomic_store(&fs->sampling, false); /* the end */
}

unsigned sensors_tick(struct fs *fs)
{
	fs_lock(fs);
	uint64_t interval = fs->sample_ms * 1000000ull;
	fs_unlock(fs);
	uint64_t now = now_ns();

	if (!fs->sample_asked_ns)
		fs->sample_asked_ns = now; /* the first was taken when the card was opened */
	if (now - fs->sample_asked_ns >= interval) {
		put_sample(fs);
		fs->sample_asked_ns = now;
	}
	/* from the last one on, so that another interval counts at once */
	return (unsigned)((fs->sample_asked_ns + interval - now) / 1000000u + 1);
}

/* ---- telemetry ---- */

/* Of the last look. Return: 0; -ENODATA nothing measures; why the last look failed: an old
 * temperature is not taken for a new one. */
static int look(const struct fs *fs)
{
	if (!fs->sample.sensors.sample)
		return -ENODATA;
	return fs->sample.err;
}

static const char *yes_no(bool on)
{
	return on ? "true" : "false";
}

const char *sensors_heat_word(enum rx_heat heat)
{
	switch (heat) {
	case RX_COOL: return "cool";
	case RX_WARM: return "warm";
	case RX_HOT: return "hot";
	case RX_OVERHEATED: break;
	}
	return "overheated";
}

static void sensors_text(const struct rx_sensors *s, struct text *out)
{
	text_printf(out, ", \"temperature_mc\": %d", s->temperature_mc);
	if (s->critical_mc)
		text_printf(out, ", \"temperature_critical_mc\": %d", s->critical_mc);
	text_printf(out, ", \"heat\": \"%s\", \"power_uw\": %" PRIu64, sensors_heat_word(s->heat),
	        s->power_uw);
	if (s->stock_cap_uw)
		text_printf(out, ", \"power_cap_uw\": %" PRIu64 ", \"power_cap_max_uw\": %" PRIu64,
		        s->cap_uw, s->stock_cap_uw);
	text_printf(out,
	        ", \"sclk_hz\": %" PRIu64 ", \"mclk_hz\": %" PRIu64
	        ", \"vddc_mv\": %u, \"activity_percent\": %u, \"fan_rpm\": %u, \"pwm\": %u, "
	        "\"fan_manual\": %s, \"fan_stuck\": %s, \"dpm\": %s",
	        s->sclk_hz, s->mclk_hz, s->vddc_mv, s->activity_pct, s->fan_rpm, s->pwm,
	        yes_no(s->fan_manual), yes_no(s->fan_stuck), yes_no(s->dpm));
}

static int telemetry_text(struct fs *fs, struct node *n, struct text *out)
{
	const struct rx_info *i = &fs->sample.info;
	int err = look(fs);

	(void)n;
	if (err)
		return err;
	text_printf(out, "{\"sample\": %" PRIu64 ", \"time_ns\": %" PRIu64, fs->sample.count,
	        fs->sample.sensors.time_ns);
	sensors_text(&fs->sample.sensors, out);
	text_printf(out,
	        ", \"backend\": \"%s\", \"hardware_verified\": %s, \"vram_total_bytes\": %" PRIu64
	        ", \"vram_used_bytes\": %" PRIu64
	        ", \"queues_running\": %s, \"service_submitted\": %u, \"service_completed\": %u, "
	        "\"link_commands\": %" PRIu64 ", \"link_in_bytes\": %" PRIu64
	        ", \"link_out_bytes\": %" PRIu64 ", \"link_retries\": %" PRIu64 "}\n",
	        i->backend, yes_no(i->hardware_verified), i->vram_total, i->vram_used,
	        yes_no(i->queues_running), i->service_submitted, i->service_completed, i->commands,
	        i->bytes_in, i->bytes_out, i->retries);
	return 0;
}

static uint64_t sample_version(struct fs *fs, struct node *n)
{
	(void)n;
	return fs->sample.count;
}

const struct node_ops telemetry_ops = {.text = telemetry_text, .version = sample_version};

/* ---- hwmon: words that do not change ---- */

static int name_text(struct fs *fs, struct node *n, struct text *out)
{
	(void)fs, (void)n;
	text_printf(out, "amdgpu\n");
	return 0;
}

const struct node_ops hwmon_name_ops = {.text = name_text};

static enum node_id id_of(const struct node *n)
{
	return (enum node_id)(n->type - node_types);
}

static int label_text(struct fs *fs, struct node *n, struct text *out)
{
	const char *word = "mclk";

	(void)fs;
	if (id_of(n) == NODE_HWMON_TEMP1_LABEL)
		word = "edge";
	else if (id_of(n) == NODE_HWMON_IN0_LABEL)
		word = "vddgfx";
	else if (id_of(n) == NODE_HWMON_FREQ1_LABEL)
		word = "sclk";
	text_printf(out, "%s\n", word);
	return 0;
}

const struct node_ops hwmon_label_ops = {.text = label_text};

/* ---- hwmon: values ---- */

#define PWM_MAX       255u
#define ENABLE_MANUAL 1u
#define ENABLE_AUTO   2u
#define CAP_MIN_SHARE 4u /* rx580.h, rx_set_power_cap */
#define MICROWATT     1000000u

/* value_or_nothing - 0 of @v stands for unknown. */
static int value_or_nothing(uint64_t v, uint64_t *out)
{
	*out = v;
	return v ? 0 : -ENODATA;
}

static int value_of(enum node_id id, const struct rx_sensors *s, uint64_t *out)
{
	switch (id) {
	case NODE_HWMON_TEMP1_INPUT: *out = (uint64_t)s->temperature_mc; break;
	case NODE_HWMON_TEMP1_CRIT: return value_or_nothing((uint64_t)s->critical_mc, out);
	case NODE_HWMON_FAN1_INPUT: *out = s->fan_rpm; break;
	case NODE_HWMON_FAN1_MAX: return value_or_nothing(s->fan_max_rpm, out);
	case NODE_HWMON_FAN1_FAULT: *out = s->fan_stuck; break;
	case NODE_HWMON_PWM1: *out = s->pwm; break;
	case NODE_HWMON_PWM1_MIN: *out = 0; break;
	case NODE_HWMON_PWM1_MAX: *out = PWM_MAX; break;
	case NODE_HWMON_PWM1_ENABLE: *out = s->fan_manual ? ENABLE_MANUAL : ENABLE_AUTO; break;
	case NODE_HWMON_POWER1_AVERAGE: *out = s->power_uw; break;
	case NODE_HWMON_POWER1_CAP: return value_or_nothing(s->cap_uw, out);
	case NODE_HWMON_POWER1_CAP_MAX: return value_or_nothing(s->stock_cap_uw, out);
	case NODE_HWMON_POWER1_CAP_MIN:
		/* whole watts, as they are set */
		return value_or_nothing(
		        s->stock_cap_uw / MICROWATT / CAP_MIN_SHARE * MICROWATT, out);
	case NODE_HWMON_IN0_INPUT: *out = s->vddc_mv; break;
	case NODE_HWMON_FREQ1_INPUT: *out = s->sclk_hz; break;
	case NODE_HWMON_FREQ2_INPUT: *out = s->mclk_hz; break;
	default: return -ENODATA;
	}
	return 0;
}

static int value_text(struct fs *fs, struct node *n, struct text *out)
{
	uint64_t value;
	int err = look(fs);

	if (!err)
		err = value_of(id_of(n), &fs->sample.sensors, &value);
	if (!err)
		text_printf(out, "%" PRIu64 "\n", value);
	return err;
}

/* Return: 0; -EINVAL it is not a decimal number and at most a newline. */
static int number_of(const struct request *r, uint64_t *out)
{
	char word[24], *end;

	if (r->size >= sizeof(word))
		return -EINVAL;
	memcpy(word, r->data, r->size);
	word[r->size] = '\0';
	errno = 0;
	*out = strtoull(word, &end, 10);
	/* the length too: what follows a NUL byte is not a number */
	if (errno || word[0] < '0' || word[0] > '9' || strlen(word) != r->size ||
	        (*end && strcmp(end, "\n") != 0))
		return rx_fail("fs", -EINVAL, "hwmon/%s wants a decimal number", r->node->name);
	return 0;
}

static int set_pwm(struct rx580 *rx, uint64_t value)
{
	struct rx_sensors s;

	/* owner thread: every change was followed by a sample */
	if (!rx_read_sensors(rx, &s))
		return -ENODATA;
	if (!s.fan_manual && s.heat == RX_COOL)
		return rx_fail("fs", -EINVAL,
		        "hwmon/pwm1: the fan is automatic; write 1 to pwm1_enable first");
	return value > PWM_MAX ? -EINVAL : rx_fan_manual(rx, (unsigned)value);
}

static int set_enable(struct rx580 *rx, uint64_t value)
{
	struct rx_sensors s;

	if (!rx_read_sensors(rx, &s))
		return -ENODATA;
	if (value == ENABLE_MANUAL) /* at the speed it has */
		return rx_fan_manual(rx, s.pwm);
	if (value == ENABLE_AUTO)
		return rx_fan_auto(rx);
	return rx_fail("fs", -EINVAL, "hwmon/pwm1_enable: 1 manual, 2 automatic");
}

static int set_cap(struct rx580 *rx, uint64_t value)
{
	uint64_t watts = value / MICROWATT;

	return watts > UINT32_MAX ? -EINVAL : rx_set_power_cap(rx, (unsigned)watts);
}

static int value_write(struct request *r)
{
	uint64_t value;
	int err = number_of(r, &value);

	if (err)
		return err;
	if (!r->fs->rx)
		return -ENODEV;
	switch (id_of(r->node)) {
	case NODE_HWMON_PWM1: err = set_pwm(r->fs->rx, value); break;
	case NODE_HWMON_PWM1_ENABLE: err = set_enable(r->fs->rx, value); break;
	case NODE_HWMON_POWER1_CAP: err = set_cap(r->fs->rx, value); break;
	default: return -EPERM;
	}
	if (err)
		return err;
	sensors_sample(r->fs); /* whoever wrote it can read it now */
	return (int)r->size;
}

const struct node_ops hwmon_ops = {
        .text = value_text, .version = sample_version, .write = value_write};

/* ---- hwmon/update_interval ---- */

static int interval_text(struct fs *fs, struct node *n, struct text *out)
{
	(void)n;
	text_printf(out, "%u\n", fs->sample_ms);
	return 0;
}

static int interval_write(struct request *r)
{
	uint64_t ms;
	int err = number_of(r, &ms);

	if (err)
		return err;
	fs_lock(r->fs);
	r->fs->sample_ms = (unsigned)MIN(MAX(ms, MIN_SAMPLE_MS), MAX_SAMPLE_MS);
	fs_unlock(r->fs);
	park_kick(r->fs->park); /* the main thread counts anew */
	return (int)r->size;
}

const struct node_ops hwmon_interval_ops = {.text = interval_text, .write = interval_write};
