/* test_mutants.c - a driver that leaves out what a real card needs must fail on the virtual one, or
 * be told so. Each mutant runs the same work as the healthy driver first does.
 */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "device/core/mutants.h"
#include "helper_kernel.h"

#define MIB  (1ull << 20)
#define CODE (32 * MIB)
#define SRC  (33 * MIB)
#define DST  (34 * MIB)

static bool run_copy(struct rx580 *rx, uint32_t expect)
{
	uint32_t dw[64];
	uint8_t b[4];
	struct pm4 p;

	pm4_init(&p, dw, ARRAY_SIZE(dw));
	kernel_dispatch(&p, rx, CODE, SRC, DST);
	/* the healthy driver has time enough; who hangs is not waited for */
	return !rx_service_submit(rx, dw, p.n, rx_mutant == RX_MUTANT_NONE ? 60000 : 300) &&
	       !rx_vram_read(rx, DST, b, 4) && get_le32(b) == expect;
}

static bool write_source(struct rx580 *rx, uint32_t value)
{
	uint8_t b[4];

	put_le32(b, value);
	return !rx_vram_write(rx, SRC, b, 4);
}

/* work - what a session does: bring-up, data in, a kernel twice with new data and new code in
 * between, data out. Return: whether everything was right and nothing below the cable complained.
 */
static bool work(void)
{
	const struct rx_options opt = {.card = "virtual,posted,threads=1,vram=512"};
	struct rx580 *rx;

	if (rx_open(&rx, &opt))
		return false;
	kernel_upload_copy(rx, CODE, 0);
	bool good = write_source(rx, 0x11111111) && run_copy(rx, 0x11111111);

	good = good && write_source(rx, 0x22222222) && run_copy(rx, 0x22222222);
	if (good) {
		kernel_upload_copy(rx, CODE, 33);
		good = run_copy(rx, 33);
	}
	good = good && helper_guest_errors(rx) == 0;
	rx_close(rx);
	return good;
}

static bool work_with(enum rx_mutant mutant)
{
	rx_mutant = mutant;
	bool good = work();

	rx_mutant = RX_MUTANT_NONE;
	return good;
}

static void healthy_driver_works(void **state)
{
	(void)state;
	assert_true(work_with(RX_MUTANT_NONE));
}

static void missing_hdp_flush_is_caught(void **state)
{
	(void)state;
	assert_false(work_with(RX_MUTANT_NO_HDP_FLUSH));
}

static void missing_hdp_invalidate_is_caught(void **state)
{
	(void)state;
	assert_false(work_with(RX_MUTANT_NO_HDP_INVALIDATE));
}

static void missing_cache_invalidate_is_caught(void **state)
{
	(void)state;
	assert_false(work_with(RX_MUTANT_NO_CACHE_INVALIDATE));
}

static void missing_unlock_is_caught(void **state)
{
	(void)state;
	assert_false(work_with(RX_MUTANT_NO_UNLOCK));
}

static void length_four_write_is_caught(void **state)
{
	(void)state;
	assert_false(work_with(RX_MUTANT_LENGTH_FOUR));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(healthy_driver_works),
	        cmocka_unit_test(missing_hdp_flush_is_caught),
	        cmocka_unit_test(missing_hdp_invalidate_is_caught),
	        cmocka_unit_test(missing_cache_invalidate_is_caught),
	        cmocka_unit_test(missing_unlock_is_caught),
	        cmocka_unit_test(length_four_write_is_caught),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
