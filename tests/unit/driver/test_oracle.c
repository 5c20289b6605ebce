/* test_oracle.c - our register writes beside those of Linux's amdgpu on the same card with the same
 * VBIOS (amdgpu-oracle.md): memory controller to ring tests with run e4-dpm0, queues also with
 * amdkfd's (kfd-nohws), fan and power management with e4-dpm-user. A write of ours that the stock
 * driver does not make, and a register of its that we leave alone, must stand in a table with the
 * reason. A row nobody needs any more fails, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/regs/regs.h"
#include "foreign.h"
#include "helper_card.h"
#include "helper_pipe.h"

#define IMAGE    "rx580-8g-sapphire-pulse"
#define BAR0     0xF0000000u /* bridge.md 2.14 */
#define BAR5     0xE0040000u
#define MAX_ROWS 8192

/* Where a write went: a register by its dword index, what lies behind an index pair, or the SMU by
 * its message. */
enum space { MMIO, SMC, DIDT, GC_CAC, IO_DEBUG, MESSAGE, SPACES };

struct write {
	enum space space;
	uint32_t at, value;
};

struct writes {
	struct write row[MAX_ROWS];
	size_t n;
};

static void add(struct writes *w, struct write row)
{
	assert_true(w->n < MAX_ROWS);
	w->row[w->n++] = row;
}

/* ---- index pairs: polaris.md 1.3 ---- */

static const struct {
	uint32_t index, data; /* dword indices */
} pairs[MESSAGE] = {
        [SMC] = {REG_SMC_IND_INDEX_11 / 4, REG_SMC_IND_DATA_11 / 4},
        [DIDT] = {REG_DIDT_IND_INDEX / 4, REG_DIDT_IND_DATA / 4},
        [GC_CAC] = {REG_GC_CAC_IND_INDEX / 4, REG_GC_CAC_IND_DATA / 4},
        [IO_DEBUG] = {REG_MC_SEQ_IO_DEBUG_INDEX / 4, REG_MC_SEQ_IO_DEBUG_DATA / 4},
};

struct resolver {
	uint32_t index[MESSAGE];
	bool increments; /* SMC_IND_ACCESS_CNTL bit 11 */
};

/* resolve - @row is an access to a register. Return: false when it only sets an index. */
static bool resolve(struct resolver *r, struct write *row, bool is_read)
{
	for (enum space s = SMC; s < MESSAGE; s++) {
		if (row->at == pairs[s].index) {
			if (!is_read)
				r->index[s] = row->value;
			return false;
		}
		if (row->at != pairs[s].data)
			continue;
		*row = (struct write){s, r->index[s], row->value};
		if (s == SMC && r->increments)
			r->index[s] += 4;
		return true;
	}
	if (row->at == REG_SMC_MESSAGE_0 / 4)
		*row = (struct write){MESSAGE, row->value, 0};
	else if (row->at == REG_SMC_IND_ACCESS_CNTL / 4 && !is_read)
		r->increments = row->value >> 11 & 1;
	return true;
}

/* ---- what the stock driver wrote, in the phases that have a counterpart here ---- */

#define E4_DPM0    "amdgpu-6.1/rx580-e4-dpm0.log.gz"
#define E4_DPM     "amdgpu-6.1/rx580-e4-dpm-user.log.gz"
#define KFD_NOHWS  "amdgpu-6.1/rx580-kfd-nohws.log.gz"
#define E3_POSTED  "amdgpu-6.12/rx580-e3-posted.log.gz"
#define E4_DPM_612 "amdgpu-6.12/rx580-e4-dpm-user.log.gz"

static const char *const core_phases[] = {
        "common_hw", "gmc_hw", "ih_hw", "gfx_golden_const", "rlc", "kiq", "kcq", "ring_test", NULL};
static const char *const kfd_phases[] = {"kfd_init", "kfd_create_queue", NULL};
static const char *const power_phases[] = {"pp_init", "pp_setup", "dpm_enable", "smu_fwheader",
        "dpm_tables", "dpm_sclk_levels", "dpm_mclk_levels", "didt", "cac", "power_containment",
        "thermal_fan", "avfs", "power_state", NULL};
/* the first initialisation is over */
static const char *const ends[] = {"user_cs", "unload", "reload", "shutdown", NULL};

static bool is_among(const char *const *list, const char *word)
{
	while (*list && strcmp(*list, word))
		list++;
	return *list;
}

static void load_line(struct writes *out, struct resolver *r, const char *line, bool wanted)
{
	struct write row = {.space = MMIO};

	if (sscanf(line, "W 5 %x %x", &row.at, &row.value) == 2 && resolve(r, &row, false) &&
	        wanted)
		add(out, row);
	else if (sscanf(line, "R 5 %x %x", &row.at, &row.value) == 2)
		resolve(r, &row, true);
}

/* load - adds to @out; skips the test when there is no trace beside this project. */
static void load(struct writes *out, const char *run, const char *const *phases)
{
	char line[1024], phase[32], path[512], command[600];
	struct resolver r = {0};
	bool wanted = false, over = false;

	snprintf(path, sizeof(path), "%s/%s", traces_folder(), run);
	if (access(path, R_OK)) {
		print_message("skipped: no %s\n", path);
		skip();
	}
	snprintf(command, sizeof(command), "gzip -dc '%s'", path);
	FILE *f = popen(command, "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "# phase %31s", phase) == 1) {
			over |= is_among(ends, phase);
			wanted = !over && is_among(phases, phase);
		}
		load_line(out, &r, line, wanted);
	}
	assert_int_equal(pclose(f), 0);
}

static bool writes_register(const struct writes *w, const struct write *want)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->row[i].space == want->space && w->row[i].at == want->at)
			return true;
	return false;
}

static bool writes_value(const struct writes *w, const struct write *want)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->row[i].space == want->space && w->row[i].at == want->at &&
		        w->row[i].value == want->value)
			return true;
	return false;
}

/* ---- our own, taken off the cable: writes by the raw engine, reads by E2/B4 (bridge.md 2.11,
 * 2.10). What a register already held is not written again, so reads count for the second test.
 * ----
 */

/* POST has a judge of its own (tests/unit/atom/test_atom_traces.c), the SMU's start too
 * (tests/unit/smu, tests/unit/cold). */
enum part { CORE, POWER, PARTS, UNJUDGED };

struct recorder {
	uint32_t address[4], data[4];
	struct resolver resolver;
	enum part part;
	struct writes written[PARTS], held[PARTS];
};

static void at_step(void *ctx, const struct rx_step *step)
{
	static const struct {
		const char *after;
		enum part part; /* of the next step */
	} turns[] = {{"microcode: find the files", UNJUDGED}, {"POST", CORE},
	        {"VRAM: the driver's own areas", UNJUDGED}, {"SMU: start, load microcode", POWER},
	        {"fan", CORE}, {"queues: activate, ring tests", POWER}, {"power", UNJUDGED}};
	struct recorder *r = ctx;

	for (size_t i = 0; i < ARRAY_SIZE(turns); i++)
		if (!strncmp(step->name, turns[i].after, strlen(turns[i].after)))
			r->part = turns[i].part;
}

static void record(struct recorder *r, uint32_t address, uint32_t value, bool is_read)
{
	struct write row = {MMIO, (address - BAR5) / 4, value};

	if (address < BAR5 || address >= BAR5 + RX_MMIO_BYTES)
		return;
	if (resolve(&r->resolver, &row, is_read) && r->part != UNJUDGED)
		add(is_read ? &r->held[r->part] : &r->written[r->part], row);
}

static void record_write(void *ctx, const uint8_t cbw[31], uint8_t *data, size_t len)
{
	struct recorder *r = ctx;
	uint32_t at = get_le32(cbw + 15 + 8), value; /* CDB[8..11]: bridge.md 2.4 */

	if (cbw[15] != 0xE3 || cbw[19] != 0x23 || len != 4)
		return;
	value = get_le32(data);
	if (at >= 0xB3310150 && at < 0xB3310350 && at % 0x80 == 0x50) {
		r->data[(at - 0xB3310150) / 0x80] = value;
	} else if (at >= 0xB3310110 && at < 0xB3310150) {
		unsigned n = (at - 0xB3310110) / 16, word = (at - 0xB3310110) % 16 / 4;

		if (word == 2)
			r->address[n] = value;
		if (word == 1 && value >> 31 && value & 0x40)
			record(r, r->address[n], r->data[n], false);
	}
}

static int record_read(void *ctx, const uint8_t cbw[31], uint8_t *data, int n)
{
	struct recorder *r = ctx;

	if (cbw[15] == 0xE2 && cbw[19] == 0xB4 && n == 4) /* counts from BAR0: bridge.md 2.10 */
		record(r, get_le32(cbw + 15 + 8) + BAR0, get_le32(data), true);
	return n;
}

/* ours - what one bring-up of the board of the traces wrote; skips the test without its image. */
static const struct recorder *ours(void)
{
	static struct recorder r;
	static bool known;
	const struct rx_options opt = {.on_step = at_step, .on_step_ctx = &r};
	char image[512], card[600];
	struct rx580 *rx;

	if (known)
		return &r;
	snprintf(image, sizeof(image), "%s/" IMAGE ".rom", vbios_folder());
	if (access(image, R_OK)) {
		print_message("skipped: no %s\n", image);
		skip();
	}
	snprintf(card, sizeof(card), "cold,threads=1,vbios=%s", image);
	struct tap *t = tap_open(card);

	t->on_out = record_write;
	t->on_in = record_read;
	t->ctx = &r;
	assert_int_equal(rx_open_on(&rx, &t->pipe, &opt), 0);
	t->on_out = NULL;
	t->on_in = NULL;
	helper_close_clean(rx);
	known = true;
	return &r;
}

/* ---- the two tables ---- */

struct reason {
	enum space space;
	uint32_t first, last;
	const char *why;
};

#define OWN_MEMORY "an address: our buffers lie elsewhere in VRAM"

/* Ours, and not in the trace with that value. */
static const struct reason ours_alone[] = {
        {MMIO, 0x0000, 0x0001,
                "MM_INDEX, MM_DATA: VRAM test to its last byte (polaris.md 13.1 step 15)"},
        {MMIO, 0x0006, 0x0006, "MM_INDEX_HI: as above, and back"},
        {MMIO, 0x0500, 0x0500,
                "VM_L2_CNTL without ENABLE_DEFAULT_PAGE_OUT_TO_SYSTEM_MEMORY: stray "
                "accesses must not leave the card (polaris.md 3.4)"},
        {MMIO, 0x0546, 0x0547, "default pages in VRAM, not in host memory (polaris.md 3.4)"},
        {MMIO, 0x080F, 0x080F, "default page of the system aperture: one of our own in VRAM"},
        {MMIO, 0x0BCC, 0x0BCC,
                "HDP_DEBUG0: the stock driver lets a packet invalidate (polaris.md 3.5)"},
        {MMIO, 0x3245, 0x3245, OWN_MEMORY},
        {MMIO, 0x324D, 0x324D, OWN_MEMORY},
        {MMIO, 0x3250, 0x3253, OWN_MEMORY},
        {MMIO, 0x3255, 0x3255, "CP_HQD_PQ_WPTR: no doorbells here"},
        {MMIO, 0x3256, 0x3256, "our ring size, MTYPE UC as amdkfd (resident-plans.md 16.4)"},
        {MMIO, 0x326A, 0x326A, OWN_MEMORY},
        {MMIO, 0xEC26, 0xEC26,
                "RLC_CAPTURE_GPU_CLOCK_COUNT: proof that the RLC runs (13.4 step 42)"},
};

#define NO_PAGE_TABLES "VMID 0 sees VRAM directly, no GART (polaris.md 3.4, setup S1)"
#define NO_INTERRUPTS  "nothing may write to the host: polled (polaris.md 11.2)"
#define NO_GRAPHICS    "only images and render targets use it (polaris.md 13.9)"
#define ONLY_VMID_0    "queues run with VMID 0 (polaris.md 3.4, setup S1)"
#define NO_DOORBELLS   "write pointers go through MMIO"

/* In the trace, and not written by us. */
static const struct reason left_out[] = {
        {MMIO, 0x0504, 0x0505, NO_PAGE_TABLES},
        {MMIO, 0x050D, 0x050D, NO_PAGE_TABLES},
        {MMIO, 0x050E, 0x0515, NO_PAGE_TABLES},
        {MMIO, 0x054F, 0x0558, NO_PAGE_TABLES},
        {MMIO, 0x055F, 0x0560, NO_PAGE_TABLES},
        {MMIO, 0x0575, 0x0577, NO_PAGE_TABLES},
        {MMIO, 0x080A, 0x080A,
                "AGP aperture off as Linux 6.12 does it (amdgpu-oracle.md 7 item 1)"},
        {MMIO, 0x0A32, 0x0A33,
                "the VBIOS's memory sequencer program keeps running (polaris.md 3.7)"},
        {MMIO, 0x0A80, 0x0A80, "as above"},
        {IO_DEBUG, 0x00, 0x9F, "as above"},
        {MMIO, 0x0CE6, 0x0CE6, ONLY_VMID_0},
        {MMIO, 0x0CEF, 0x0CEF, ONLY_VMID_0},
        {MMIO, 0x0E08, 0x0E08, ONLY_VMID_0},
        {MMIO, 0x0E30, 0x0E42, NO_INTERRUPTS},
        {MMIO, 0x1501, 0x1501, NO_DOORBELLS},
        {MMIO, 0x151A, 0x151B, NO_INTERRUPTS},
        {MMIO, 0x2232, 0x2232, NO_GRAPHICS},
        {MMIO, 0x22F3, 0x22F3, NO_GRAPHICS},
        {MMIO, 0x22FC, 0x22FC, NO_GRAPHICS},
        {MMIO, 0x260D, 0x260D, NO_GRAPHICS},
        {MMIO, 0x2644, 0x2673, NO_GRAPHICS},
        {MMIO, 0x2683, 0x2686, NO_GRAPHICS},
        {MMIO, 0x305C, 0x305D, NO_DOORBELLS},
        {MMIO, 0x306A, 0x306A, NO_INTERRUPTS},
        {MMIO, 0x30B8, 0x30B8, NO_DOORBELLS},
        {MMIO, 0x3248, 0x3248, ONLY_VMID_0},
        {MMIO, 0x324A, 0x324C, "priorities and quantum: a queue has its pipe to itself"},
        {MMIO, 0x3254, 0x3254, NO_DOORBELLS},
        {MMIO, 0x3267, 0x3267, "CP_MQD_CONTROL: no queue descriptor in memory"},
        {MMIO, 0x326D, 0x326D,
                "CP_HQD_EOP_RPTR.INIT_FETCHER: Linux 4.8 did without (resident-plans.md 6)"},
        {MMIO, 0x3272, 0x3272, "CP_HQD_CTX_SAVE_CONTROL: no context save, reset value kept"},
        {MMIO, 0x3302, 0x333F, "GDS, GWS and OA are not used; reset values kept (polaris.md 13.9)"},
        {MMIO, 0xA0D4, 0xA0D5, NO_GRAPHICS},
        {MMIO, 0xC281, 0xC281, NO_GRAPHICS},
        {MMIO, 0xECAA, 0xECAA, "no kernel interface queue: HQDs by registers (polaris.md 6.7)"},
};

#define LINK_STAYS "the PCIe link keeps its speed: a bridge reports no errors of it (dpm.c)"
#define FAN_TEST   "full speed until the tach answers (polaris.md 13.6 step 60)"

/* Of the fan and of power management. */
static const struct reason ours_alone_power[] = {
        {MMIO, 0x0092, 0x0092,
                "SMC_IND_ACCESS_CNTL: tables go up with the increment of the index that the stock "
                "driver uses for the firmware (polaris.md 4.3)"},
        {MESSAGE, 0x13D, 0x13D, LINK_STAYS},
        {SMC, 0x3D000 + 804, 0x3D000 + 931, "LinkLevel: one lane here (polaris.md 10.3)"},
        {SMC, 0xC0300064, 0xC0300064, FAN_TEST},
        {SMC, 0xC030006C, 0xC030006C, FAN_TEST},
};

static const struct reason left_out_power[] = {
        {MMIO, 0x000E, 0x000F, LINK_STAYS},
        {MESSAGE, 0x136, 0x136, LINK_STAYS},
        {MMIO, 0x306A, 0x306A, NO_INTERRUPTS},
        {MMIO, 0x3085, 0x3088, NO_INTERRUPTS},
        {MMIO, 0x3404, 0x3404, NO_INTERRUPTS},
        {MMIO, 0x3604, 0x3604, NO_INTERRUPTS},
};

#define MAX_REASONS 64

static bool has_reason(
        const struct reason *table, size_t rows, const struct write *w, bool used[MAX_REASONS])
{
	for (size_t i = 0; i < rows; i++)
		if (w->space == table[i].space && w->at >= table[i].first && w->at <= table[i].last)
			return used[i] = true;
	return false;
}

static unsigned unused(const struct reason *table, size_t rows, const bool used[MAX_REASONS])
{
	unsigned n = 0;

	for (size_t i = 0; i < rows; i++)
		if (!used[i]) {
			print_error(
			        "nobody needs the row 0x%04x (%s)\n", table[i].first, table[i].why);
			n++;
		}
	return n;
}

static const char *const space_name[SPACES] = {
        "dword", "SMC", "DIDT", "GC_CAC", "MC_SEQ_IO_DEBUG", "message"};

/* each_of_ours - is a write of @stock, or has a reason. */
static void each_of_ours(
        enum part part, const struct writes *stock, const struct reason *table, size_t rows)
{
	const struct writes *written = &ours()->written[part];
	bool used[MAX_REASONS] = {false};
	unsigned bad = 0;

	assert_in_range(written->n, 30, MAX_ROWS);
	for (size_t i = 0; i < written->n; i++) {
		const struct write *w = &written->row[i];

		if (writes_value(stock, w) || has_reason(table, rows, w, used))
			continue;
		print_error("%s 0x%04x: we write 0x%08x, the stock driver %s\n",
		        space_name[w->space], w->at, w->value,
		        writes_register(stock, w) ? "something else" : "nothing");
		bad++;
	}
	assert_int_equal(bad, 0);
	assert_int_equal(unused(table, rows, used), 0);
}

/* each_of_theirs - is a register we write, or has that value without, or has a reason. */
static void each_of_theirs(
        enum part part, const struct writes *stock, const struct reason *table, size_t rows)
{
	const struct recorder *r = ours();
	bool used[MAX_REASONS] = {false};
	unsigned bad = 0;

	for (size_t i = 0; i < stock->n; i++) {
		const struct write *w = &stock->row[i];

		if (writes_register(&r->written[part], w) || writes_value(&r->held[part], w) ||
		        has_reason(table, rows, w, used))
			continue;
		print_error("%s 0x%04x: the stock driver writes 0x%08x, we do not\n",
		        space_name[w->space], w->at, w->value);
		bad++;
	}
	assert_int_equal(bad, 0);
	assert_int_equal(unused(table, rows, used), 0);
}

static void every_write_of_ours_is_the_stock_drivers_or_has_a_reason(void **state)
{
	static struct writes stock;

	(void)state;
	load(&stock, E4_DPM0, core_phases);
	load(&stock, E3_POSTED, core_phases);
	load(&stock, KFD_NOHWS, kfd_phases);
	each_of_ours(CORE, &stock, ours_alone, ARRAY_SIZE(ours_alone));
}

static void every_register_of_the_stock_driver_is_written_or_left_out_for_a_reason(void **state)
{
	static struct writes stock;

	(void)state;
	load(&stock, E4_DPM0, core_phases);
	load(&stock, KFD_NOHWS, kfd_phases + 1); /* a queue by registers, as ours */
	each_of_theirs(CORE, &stock, left_out, ARRAY_SIZE(left_out));
}

static void fan_and_power_are_set_up_as_by_the_stock_driver(void **state)
{
	static struct writes stock;

	(void)state;
	load(&stock, E4_DPM, power_phases);
	load(&stock, E4_DPM_612, power_phases);
	each_of_ours(POWER, &stock, ours_alone_power, ARRAY_SIZE(ours_alone_power));
}

static void nothing_of_fan_and_power_is_forgotten(void **state)
{
	static struct writes stock;

	(void)state;
	load(&stock, E4_DPM, power_phases);
	each_of_theirs(POWER, &stock, left_out_power, ARRAY_SIZE(left_out_power));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_write_of_ours_is_the_stock_drivers_or_has_a_reason),
	        cmocka_unit_test(
	                every_register_of_the_stock_driver_is_written_or_left_out_for_a_reason),
	        cmocka_unit_test(fan_and_power_are_set_up_as_by_the_stock_driver),
	        cmocka_unit_test(nothing_of_fan_and_power_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
