/* bench_usb.c CARD - speed of single operations through one carrier, beside the same through the
 * virtual pipe in this process and beside the modelled wire (docs/architecture.md). Prints one JSON
 * line a case. What is measured is this machine's software: no cable is in any of the carriers.
 */
#include <stdio.h>
#include <string.h>

#include "device/bridge/bridge.h"
#include "device/bytes.h"
#include "device/clock.h"
#include "device/core/backend.h"
#include "device/regs/regs.h"

#define TARGET 0x100000u /* in VRAM, behind the bridge's window base */
/* BAR5 where the firmware puts it (bridge.md 2.14), SCRATCH_REG0 (polaris.md 6.10) */
#define REGISTER (0xE0040000u + REG_SCRATCH_REG0)
#define BULK     4096
#define CASE_MS  500
#define WARM_UP  8 /* operations: the engine's short form needs to have seen its four slots */

struct stack {
	struct scsi *scsi;
	struct bridge *b;
	const char *kind;
	uint64_t base;
};

struct rate {
	double seconds, operations, commands, bytes, model;
};

static uint8_t buffer[BULK];

static int read_register(struct stack *s)
{
	uint32_t value;

	return s->b->ops->mem_read32(s->b, REGISTER, &value);
}

static int write_register(struct stack *s)
{
	return s->b->ops->mem_write32(s->b, REGISTER, 0);
}

static int read_bulk(struct stack *s)
{
	return s->b->ops->mem_read(s->b, s->base + TARGET, buffer, BULK);
}

static int write_bulk(struct stack *s)
{
	return s->b->ops->mem_write(s->b, s->base + TARGET, buffer, BULK);
}

static const struct {
	const char *name;
	int (*run)(struct stack *s);
	unsigned bytes; /* of the user's; a register is four */
} cases[] = {
        {"register_read", read_register, 4},
        {"register_write", write_register, 4},
        {"vram_read_4k", read_bulk, BULK},
        {"vram_write_4k", write_bulk, BULK},
};

static bool open_stack(struct stack *s, const char *card)
{
	const struct bridge_hooks none = {0};
	struct bridge_info info;

	if (backend_open(&s->scsi, &s->kind, card, NULL))
		return false;
	if (bridge_open(&s->b, s->scsi, &none)) {
		scsi_free(s->scsi);
		return false;
	}
	s->b->ops->read_info(s->b, &info);
	s->base = info.window_base;
	return true;
}

static bool measure(struct stack *s, size_t i, struct rate *out)
{
	struct scsi_counters before, after;
	struct usb_link_stats model_before, model_after;
	uint64_t start, n = 0;

	for (int k = 0; k < WARM_UP; k++)
		if (cases[i].run(s))
			return false;
	scsi_read_counters(s->scsi, &before);
	scsi_link_stats(s->scsi, &model_before);
	start = now_ns();
	do {
		if (cases[i].run(s))
			return false;
		n++;
	} while (now_ns() - start < CASE_MS * 1000000ull);
	*out = (struct rate){.seconds = (double)(now_ns() - start) * 1e-9, .operations = (double)n};
	scsi_read_counters(s->scsi, &after);
	scsi_link_stats(s->scsi, &model_after);
	out->commands = (double)(after.commands - before.commands);
	out->bytes = (double)n * cases[i].bytes;
	out->model = (double)(model_after.model_ns - model_before.model_ns) * 1e-9;
	return true;
}

/* A run through the carrier and one through the virtual pipe, whose enclosure has the model. */
static bool report(struct stack *carrier, struct stack *reference, size_t i)
{
	struct rate r, v;

	if (!measure(reference, i, &v) || !measure(carrier, i, &r))
		return false;
	double model = v.model / v.operations * r.operations;

	printf("{\"bench\":\"usb\",\"carrier\":\"%s\",\"case\":\"%s\",\"operations\":%.0f,"
	       "\"seconds\":%.4f,\"commands_per_s\":%.0f,\"mib_per_s\":%.3f,"
	       "\"model_seconds\":%.4f,\"model_commands_per_s\":%.0f,"
	       "\"speed_to_model\":%.2f,\"speed_to_virtual\":%.3f}\n",
	        carrier->kind, cases[i].name, r.operations, r.seconds, r.commands / r.seconds,
	        r.bytes / r.seconds / (1 << 20), model, r.commands / model, model / r.seconds,
	        r.operations / r.seconds / (v.operations / v.seconds));
	return true;
}

int main(int argc, char **argv)
{
	struct stack carrier, reference;
	int status = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_usb CARD, as rx580fs --card\n");
		return 2;
	}
	if (!open_stack(&reference, "virtual,posted,threads=1,vram=256") ||
	        !open_stack(&carrier, argv[1]))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(cases) && !status; i++)
		status = !report(&carrier, &reference, i);
	bridge_free(carrier.b);
	bridge_free(reference.b);
	return status;
}
