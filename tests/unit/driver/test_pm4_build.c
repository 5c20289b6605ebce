/* test_pm4_build.c - packets against the dwords written out in resident-plans.md 5, 6, 13 and
 * polaris.md 7.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "device/bytes.h"
#include "device/cp/pm4.h"
#include "device/cp/pm4_build.h"
#include "device/regs/regs.h"

#define ADDR 0xF4123456780ull

static struct pm4 p;
static uint32_t dw[256];

static void start(void)
{
	memset(dw, 0xEE, sizeof(dw));
	pm4_init(&p, dw, ARRAY_SIZE(dw));
}

static void expect(const uint32_t *want, size_t n)
{
	assert_false(p.overflow);
	assert_int_equal(p.n, n);
	for (size_t i = 0; i < n; i++)
		if (dw[i] != want[i])
			fail_msg("dword %zu is 0x%08x, expected 0x%08x", i, dw[i], want[i]);
}
#define EXPECT(...)                                                                                \
	do {                                                                                       \
		const uint32_t want[] = {__VA_ARGS__};                                             \
		expect(want, ARRAY_SIZE(want));                                                    \
	} while (0)

static void memory_packets(void **state)
{
	const uint32_t value = 1;

	(void)state;
	start();
	pm4_write_data(&p, ADDR, &value, 1); /* 13, P1 */
	EXPECT(0xC0033700, 0x00100500, 0x23456780, 0xF41, 1);
	start();
	pm4_write_reg(&p, REG_HDP_DEBUG0, 1); /* 13, T4 */
	EXPECT(0xC0033700, 0x00100000, 0x00000BCC, 0, 1);
	start();
	pm4_copy_dword(&p, ADDR + 4, ADDR); /* 13, T5 */
	EXPECT(0xC0044000, 0x00100501, 0x23456780, 0xF41, 0x23456784, 0xF41);
}

static void waits_and_barriers(void **state)
{
	(void)state;
	start();
	pm4_wait_mem(&p, ADDR, 1, 0xFFFFFFFF); /* 13, H1 */
	EXPECT(0xC0053C00, 0x413, 0x23456780, 0xF41, 1, 0xFFFFFFFF, 0x20);
	start();
	pm4_hdp_flush(&p, 1); /* 13, H4 */
	EXPECT(0xC0053C00, 0x43, 0x1537, 0x1538, 8, 8, 0x20);
	start();
	pm4_acquire(&p, ACQUIRE_DATA); /* 13, H6 */
	EXPECT(0xC0055800, 0x08C40000, 0xFFFFFFFF, 0xFF, 0, 0, 0x0A);
	start();
	pm4_cs_partial_flush(&p); /* 5 */
	EXPECT(0xC0004600, 0x407);
	start();
	pm4_release(&p, ADDR, 7); /* 13, T2 */
	EXPECT(0xC0054900, 0x00038514, 0x23000000, 0x23456780, 0xF41, 7, 0);
}

static void dispatches_and_state(void **state)
{
	const uint32_t pgm[2] = {0x11, 0x22};

	(void)state;
	start();
	pm4_set_sh(&p, REG_COMPUTE_PGM_LO, pgm, 2); /* 13, B1 */
	EXPECT(0xC0027600, 0x20C, 0x11, 0x22);
	start();
	pm4_set_uconfig(&p, REG_SCRATCH_REG0, 0xDEADBEEF); /* polaris.md 6.10 */
	EXPECT(0xC0017900, 0x40, 0xDEADBEEF);
	start();
	pm4_dispatch(&p, 1, 2, 3);
	EXPECT(0xC0031500, 1, 2, 3, 0x45);
	start();
	pm4_dispatch_indirect(&p, ADDR); /* 4 */
	EXPECT(0xC0021600, 0x23456780, 0xF41, 0x45);
	start();
	pm4_call(&p, ADDR, 64); /* 12 */
	EXPECT(0xC0023F00, 0x23456780, 0xF41, 0x00800040);
}

static void dma_packets(void **state)
{
	(void)state;
	start();
	pm4_dma_copy(&p, ADDR + 0x100, ADDR, 0x1000);
	EXPECT(0xC0055000, 0x80000000, 0x23456780, 0xF41, 0x23456880, 0xF41, 0x1000);
	start();
	pm4_dma_fill(&p, ADDR, 0x55, 0x1000);
	EXPECT(0xC0055000, 0xC0000000, 0x55, 0, 0x23456780, 0xF41, 0x1000);
}

static void fillers(void **state)
{
	const uint32_t one = 5;

	(void)state;
	start();
	pm4_raw(&p, &one, 1);
	pm4_pad(&p, 4);
	EXPECT(5, 0xFFFF1000, 0xFFFF1000, 0xFFFF1000);
	start();
	pm4_nop(&p, 4);
	EXPECT(0xC0021000, 0, 0, 0);
}

static void defaults_enable_all_compute_units_and_no_traps(void **state)
{
	(void)state;
	start();
	pm4_compute_defaults(&p);
	assert_false(p.overflow);
	/* B0 of resident-plans.md 13: limits 0, masks all ones, TMPRING 0 */
	const uint32_t masks[] = {
	        0xC0097600, 0x215, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0xFFFFFFFF};
	bool found = false;

	for (size_t i = 0; i + ARRAY_SIZE(masks) <= p.n; i++)
		found |= !memcmp(dw + i, masks, sizeof(masks));
	assert_true(found);
}

static void a_full_buffer_is_told_and_never_overrun(void **state)
{
	uint32_t small[8] = {0};
	const uint32_t value = 1;

	(void)state;
	pm4_init(&p, small, 6);
	pm4_write_data(&p, ADDR, &value, 1);
	assert_false(p.overflow);
	pm4_write_data(&p, ADDR, &value, 1);
	assert_true(p.overflow);
	assert_int_equal(p.n, 5);
	assert_int_equal(small[6], 0);
	pm4_cs_partial_flush(&p);
	pm4_raw(&p, &value, 1);
	assert_true(p.overflow); /* sticks */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(memory_packets),
	        cmocka_unit_test(waits_and_barriers),
	        cmocka_unit_test(dispatches_and_state),
	        cmocka_unit_test(dma_packets),
	        cmocka_unit_test(fillers),
	        cmocka_unit_test(defaults_enable_all_compute_units_and_no_traps),
	        cmocka_unit_test(a_full_buffer_is_told_and_never_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
