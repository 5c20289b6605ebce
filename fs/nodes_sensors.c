/* nodes_sensors.c - telemetry and hwmon/. Only what the card really has: until power management is
 * up that is memory use, queue state and link counters. hwmon rules: Linux
 * Documentation/hwmon/sysfs-interface.rst.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "fs/nodes.h"

void sensors_sample(struct fs *fs)
{
	fs_lock(fs);
	fs_read_info(fs, &fs->sample);
	fs->sample_time_ns = now_ns();
	fs->sample_count++;
	fs_unlock(fs);
}

static int telemetry_text(struct fs *fs, struct node *n, struct text *out)
{
	const struct rx_info *i = &fs->sample;

	(void)n;
	if (!fs->sample_count)
		return -ENODATA;
	text_printf(out,
	        "{\"sample\": %" PRIu64 ", \"time_ns\": %" PRIu64 ", \"backend\": \"%s\", "
	        "\"hardware_verified\": %s, \"vram_total_bytes\": %" PRIu64
	        ", \"vram_used_bytes\": %" PRIu64
	        ", \"queues_running\": %s, \"service_submitted\": %u, \"service_completed\": %u, "
	        "\"link_commands\": %" PRIu64 ", \"link_in_bytes\": %" PRIu64
	        ", \"link_out_bytes\": %" PRIu64 ", \"link_retries\": %" PRIu64 "}\n",
	        fs->sample_count, fs->sample_time_ns, i->backend,
	        i->hardware_verified ? "true" : "false", i->vram_total, i->vram_used,
	        i->queues_running ? "true" : "false", i->service_submitted, i->service_completed,
	        i->commands, i->bytes_in, i->bytes_out, i->retries);
	return 0;
}

static uint64_t telemetry_version(struct fs *fs, struct node *n)
{
	(void)n;
	return fs->sample_count;
}

const struct node_ops telemetry_ops = {.text = telemetry_text, .version = telemetry_version};

static int name_text(struct fs *fs, struct node *n, struct text *out)
{
	(void)fs, (void)n;
	text_printf(out, "amdgpu\n");
	return 0;
}

const struct node_ops hwmon_name_ops = {.text = name_text};

static int interval_text(struct fs *fs, struct node *n, struct text *out)
{
	(void)n;
	text_printf(out, "%u\n", fs->sample_ms);
	return 0;
}

static int interval_write(struct request *r)
{
	char word[16];
	char *end;

	if (r->size >= sizeof(word))
		return -EINVAL;
	memcpy(word, r->data, r->size);
	word[r->size] = '\0';
	unsigned long ms = strtoul(word, &end, 10);

	/* the length too: what follows a NUL byte is not a number */
	if (word[0] < '0' || word[0] > '9' || strlen(word) != r->size ||
	        (*end && strcmp(end, "\n") != 0))
		return rx_fail("fs", -EINVAL, "update_interval wants a number of milliseconds");
	fs_lock(r->fs);
	r->fs->sample_ms = (unsigned)MIN(MAX(ms, 100ul), 3600000ul);
	fs_unlock(r->fs);
	return (int)r->size;
}

const struct node_ops hwmon_interval_ops = {.text = interval_text, .write = interval_write};
