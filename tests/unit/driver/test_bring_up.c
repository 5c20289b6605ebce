/* test_bring_up.c - the whole driver against the virtual enclosure: no guest error may happen on
 * the way. */
#include <string.h>

#include "helper_card.h"

static void opens_and_is_ready(void **state)
{
	struct rx580 *rx = helper_open("virtual,threads=1,vram=512", NULL, NULL);
	struct rx_info info;

	(void)state;
	rx_read_info(rx, &info);
	assert_int_equal(info.state, RX_READY);
	assert_true(info.queues_running);
	assert_int_equal(info.pci_vendor, 0x1002);
	assert_int_equal(info.pci_device, 0x67DF);
	assert_int_equal(info.vram_total, 512ull << 20);
	assert_int_equal(info.vram_window, 256ull << 20);
	assert_int_equal(info.fb_base, 0xF400000000);
	assert_int_equal(info.compute_units, 36);
	assert_false(info.hardware_verified);
	assert_string_equal(info.bridge_family, "rtl921x");
	helper_close_clean(rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(opens_and_is_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
