/* test_oracle.c - our register writes beside those of Linux's amdgpu on the same card, block by
 * block (traces/amdgpu-6.1, run e4-dpm0; amdgpu-oracle.md). A write of ours that the stock driver
 * does not make, and a register of its that we leave alone, must stand in a table with the reason.
 * A row nobody needs any more fails, too.
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

#define TRACE    "amdgpu-6.1/rx580-e4-dpm0.accesses.tsv.gz"
#define BAR0     0xF0000000u /* bridge.md 2.14 */
#define BAR5     0xE0040000u
#define MAX_ROWS 4096

struct write {
	uint32_t dword, value;
};

struct writes {
	struct write row[MAX_ROWS];
	size_t n;
};

/* ---- what the stock driver wrote in the phases that have a counterpart here ---- */

static const char *const phases[] = {
        "common_hw", "gmc_hw", "ih_hw", "gfx_golden_const", "rlc", "kiq", "kcq", "ring_test"};

static bool is_wanted(const char *phase)
{
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		if (!strcmp(phase, phases[i]))
			return true;
	return false;
}

static void add(struct writes *w, uint32_t dword, uint32_t value)
{
	assert_true(w->n < MAX_ROWS);
	w->row[w->n++] = (struct write){dword, value};
}

/* load - false: there is no trace beside this project. Rows that elide or repeat hold one write. */
static bool load(struct writes *stock)
{
	char line[256], phase[32], rw[4], path[512], command[600];
	unsigned dword, value;

	snprintf(path, sizeof(path), "%s/" TRACE, traces_folder());
	if (access(path, R_OK))
		return false;
	snprintf(command, sizeof(command), "gzip -dc '%s'", path);
	FILE *f = popen(command, "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%31[^\t]\t%3[^\t]\t%x\t%*[^\t]\t%*[^\t]\t%x", phase, rw, &dword,
		            &value) == 4 &&
		        *rw == 'W' && is_wanted(phase))
			add(stock, dword, value);
	assert_int_equal(pclose(f), 0);
	return true;
}

static bool writes_register(const struct writes *w, uint32_t dword)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->row[i].dword == dword)
			return true;
	return false;
}

static bool writes_value(const struct writes *w, const struct write *want)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->row[i].dword == want->dword && w->row[i].value == want->value)
			return true;
	return false;
}

/* ---- our own, taken off the cable: writes by the raw engine, reads by E2/B4 (bridge.md 2.11,
 * 2.10). What a register already held is not written again, so reads count for the second test.
 * ----
 */

struct recorder {
	uint32_t address[4], data[4];
	bool off;
	struct writes written, held;
};

/* Steps with a judge of their own: ASIC_Init (tests/unit/atom/test_atom_traces.c), and the SMU with
 * fan and power (tests/unit/smu, tests/unit/cold). Named: the step before them. */
static void at_step(void *ctx, const struct rx_step *step)
{
	static const char *const before[] = {"microcode: find the files",
	        "VRAM: the driver's own areas", "SMU: start, load microcode",
	        "queues: activate, ring tests"};
	struct recorder *r = ctx;

	r->off = false;
	for (size_t i = 0; i < ARRAY_SIZE(before); i++)
		r->off |= !strcmp(step->name, before[i]);
}

static void record_write(void *ctx, const uint8_t cbw[31], uint8_t *data, size_t len)
{
	struct recorder *r = ctx;
	uint32_t at = get_le32(cbw + 15 + 8), value; /* CDB[8..11]: bridge.md 2.4 */

	if (r->off || cbw[15] != 0xE3 || cbw[19] != 0x23 || len != 4)
		return;
	value = get_le32(data);
	if (at >= 0xB3310150 && at < 0xB3310350 && at % 0x80 == 0x50) {
		r->data[(at - 0xB3310150) / 0x80] = value;
	} else if (at >= 0xB3310110 && at < 0xB3310150) {
		unsigned n = (at - 0xB3310110) / 16, word = (at - 0xB3310110) % 16 / 4;

		if (word == 2)
			r->address[n] = value;
		if (word == 1 && value >> 31 && value & 0x40 && r->address[n] >= BAR5 &&
		        r->address[n] < BAR5 + RX_MMIO_BYTES)
			add(&r->written, (r->address[n] - BAR5) / 4, r->data[n]);
	}
}

static int record_read(void *ctx, const uint8_t cbw[31], uint8_t *data, int n)
{
	struct recorder *r = ctx;
	uint32_t at = get_le32(cbw + 15 + 8) + BAR0; /* counts from BAR0: bridge.md 2.10 */

	if (!r->off && cbw[15] == 0xE2 && cbw[19] == 0xB4 && n == 4 && at >= BAR5 &&
	        at < BAR5 + RX_MMIO_BYTES)
		add(&r->held, (at - BAR5) / 4, get_le32(data));
	return n;
}

/* ---- the two tables ---- */

struct reason {
	uint32_t first, last; /* dword indices */
	const char *why;
};

#define OWN_MEMORY "an address: our buffers lie elsewhere in VRAM"

/* Ours, and not in the trace with that value. */
static const struct reason ours_alone[] = {
        {0x01AC, 0x01AC, "SMC_IND_INDEX_11: looks at whether somebody's SMU firmware runs"},
        {0x0500, 0x0500,
                "VM_L2_CNTL without ENABLE_DEFAULT_PAGE_OUT_TO_SYSTEM_MEMORY: stray "
                "accesses must not leave the card (polaris.md 3.4)"},
        {0x0546, 0x0547, "default pages in VRAM, not in host memory (polaris.md 3.4)"},
        {0x080B, 0x080B, "AGP aperture off as Linux 6.12 does it (amdgpu-oracle.md 7 item 1)"},
        {0x080F, 0x080F, "default page of the system aperture: one of our own in VRAM"},
        {0x0B00, 0x0B00, "HDP_HOST_PATH_CNTL: what was read is written back (polaris.md 3.3)"},
        {0x0BCC, 0x0BCC, "HDP_DEBUG0: the stock driver lets a packet invalidate (polaris.md 3.5)"},
        {0x230A, 0x230A, "SH_MEM_BASES: apertures away from VRAM's addresses (polaris.md 6.2)"},
        {0x3245, 0x3245, OWN_MEMORY},
        {0x3249, 0x3249, "PRELOAD_REQ as amdkfd sets it (resident-plans.md 16.4)"},
        {0x324D, 0x324D, OWN_MEMORY},
        {0x3250, 0x3253, OWN_MEMORY},
        {0x3255, 0x3255, "CP_HQD_PQ_WPTR: no doorbells here"},
        {0x3256, 0x3256, "our ring size, MTYPE UC as amdkfd (resident-plans.md 16.4)"},
        {0x326A, 0x326A, OWN_MEMORY},
        {0xEC26, 0xEC26, "RLC_CAPTURE_GPU_CLOCK_COUNT: proof that the RLC runs (13.4 step 42)"},
};

#define NO_PAGE_TABLES "VMID 0 sees VRAM directly, no GART (polaris.md 3.4, setup S1)"
#define NO_INTERRUPTS  "nothing may write to the host: polled (polaris.md 11.2)"
#define NO_GRAPHICS    "only images and render targets use it (polaris.md 13.9)"
#define NO_DOORBELLS   "write pointers go through MMIO"

/* In the trace, and not written by us. */
static const struct reason left_out[] = {
        {0x0504, 0x0505, NO_PAGE_TABLES},
        {0x050D, 0x050D, NO_PAGE_TABLES},
        {0x050E, 0x0515, NO_PAGE_TABLES},
        {0x054F, 0x0558, NO_PAGE_TABLES},
        {0x055F, 0x0560, NO_PAGE_TABLES},
        {0x0575, 0x0577, NO_PAGE_TABLES},
        {0x080A, 0x080A, "AGP aperture off as Linux 6.12 does it (amdgpu-oracle.md 7 item 1)"},
        {0x0A32, 0x0A33, "the VBIOS's memory sequencer program keeps running (polaris.md 3.7)"},
        {0x0A80, 0x0A80, "as above"},
        {0x0A91, 0x0A92, "as above"},
        {0x0BD3, 0x0BD3, "HDP_MISC_CNTL: only the bit that has to be 0, and it is"},
        {0x0E30, 0x0E42, NO_INTERRUPTS},
        {0x1501, 0x1501, NO_DOORBELLS},
        {0x151A, 0x151B, NO_INTERRUPTS},
        {0x2232, 0x2232, NO_GRAPHICS},
        {0x22F3, 0x22F3, NO_GRAPHICS},
        {0x22FC, 0x22FC, NO_GRAPHICS},
        {0x260D, 0x260D, NO_GRAPHICS},
        {0x2644, 0x2673, NO_GRAPHICS},
        {0x2683, 0x2686, NO_GRAPHICS},
        {0x305C, 0x305D, NO_DOORBELLS},
        {0x306A, 0x306A, NO_INTERRUPTS},
        {0x30B8, 0x30B8, NO_DOORBELLS},
        {0x3254, 0x3254, NO_DOORBELLS},
        {0x3272, 0x3272, "CP_HQD_CTX_SAVE_CONTROL: no context save, reset value kept"},
        {0x3302, 0x333F, "GDS, GWS and OA are not used; reset values kept (polaris.md 13.9)"},
        {0xA0D4, 0xA0D5, NO_GRAPHICS},
        {0xC281, 0xC281, NO_GRAPHICS},
        {0xECAA, 0xECAA, "no kernel interface queue: HQDs by registers (polaris.md 6.7)"},
};

static const char *reason_for(const struct reason *table, size_t rows, uint32_t dword, bool *used)
{
	for (size_t i = 0; i < rows; i++)
		if (dword >= table[i].first && dword <= table[i].last) {
			used[i] = true;
			return table[i].why;
		}
	return NULL;
}

static unsigned unused(const char *name, const struct reason *table, size_t rows, const bool *used)
{
	unsigned n = 0;

	for (size_t i = 0; i < rows; i++)
		if (!used[i]) {
			print_error("%s: nobody needs the row 0x%04x (%s)\n", name, table[i].first,
			        table[i].why);
			n++;
		}
	return n;
}

static void bring_up_recorded(struct recorder *r)
{
	const struct rx_options opt = {.on_step = at_step, .on_step_ctx = r};
	struct tap *t = tap_open("cold,threads=1");
	struct rx580 *rx;

	t->on_out = record_write;
	t->on_in = record_read;
	t->ctx = r;
	assert_int_equal(rx_open_on(&rx, &t->pipe, &opt), 0);
	t->on_out = NULL;
	t->on_in = NULL;
	helper_close_clean(rx);
}

static void every_write_of_ours_is_the_stock_drivers_or_has_a_reason(void **state)
{
	static struct writes stock;
	static struct recorder r;
	bool used[ARRAY_SIZE(ours_alone)] = {false};
	unsigned bad = 0;

	(void)state;
	if (!load(&stock)) {
		print_message("skipped: no %s/" TRACE "\n", traces_folder());
		skip();
	}
	bring_up_recorded(&r);
	assert_in_range(r.written.n, 30, MAX_ROWS);
	for (size_t i = 0; i < r.written.n; i++) {
		const struct write *w = &r.written.row[i];

		if (writes_value(&stock, w) ||
		        reason_for(ours_alone, ARRAY_SIZE(ours_alone), w->dword, used))
			continue;
		print_error("dword 0x%04x: we write 0x%08x, the stock driver %s\n", w->dword,
		        w->value, writes_register(&stock, w->dword) ? "something else" : "nothing");
		bad++;
	}
	assert_int_equal(bad, 0);
	assert_int_equal(unused("ours_alone", ours_alone, ARRAY_SIZE(ours_alone), used), 0);
}

static void every_register_of_the_stock_driver_is_written_or_left_out_for_a_reason(void **state)
{
	static struct writes stock;
	static struct recorder r;
	bool used[ARRAY_SIZE(left_out)] = {false};
	unsigned bad = 0;

	(void)state;
	if (!load(&stock)) {
		print_message("skipped: no %s/" TRACE "\n", traces_folder());
		skip();
	}
	bring_up_recorded(&r);
	for (size_t i = 0; i < stock.n; i++) {
		const struct write *w = &stock.row[i];

		if (writes_register(&r.written, w->dword) || writes_value(&r.held, w) ||
		        reason_for(left_out, ARRAY_SIZE(left_out), w->dword, used))
			continue;
		print_error("dword 0x%04x: the stock driver writes 0x%08x, we do not\n", w->dword,
		        w->value);
		bad++;
	}
	assert_int_equal(bad, 0);
	assert_int_equal(unused("left_out", left_out, ARRAY_SIZE(left_out), used), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_write_of_ours_is_the_stock_drivers_or_has_a_reason),
	        cmocka_unit_test(
	                every_register_of_the_stock_driver_is_written_or_left_out_for_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
