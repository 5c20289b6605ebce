/* Counters and modelled time: architecture.md, "The link is the scarcest resource". */
#include "device/clock.h"
#include "tests/unit/enclosure/helper_host.h"

static struct venc_stats stats(struct venc *e)
{
	struct venc_stats s;

	venc_read_stats(e, &s);
	return s;
}

static void enumeration_at_power_up_costs_nothing(void **state)
{
	struct venc *e = host_new();
	struct venc_stats s = stats(e);

	(void)state;
	assert_int_equal(s.commands, 0);
	assert_int_equal(s.bytes, 0);
	assert_int_equal(s.tlps, 0);
	assert_int_equal(s.model_ns, 0);
	venc_free(e);
}

static void a_register_read_costs_one_command_one_tlp_and_48_bytes(void **state)
{
	struct venc *e = host_new();
	struct venc_stats s;

	(void)state;
	rtl_in32(e, 0xB3, 0);
	s = stats(e);
	assert_int_equal(s.commands, 1);
	assert_int_equal(s.tlps, 1);
	assert_int_equal(s.bytes, 48);
	assert_int_equal(s.model_ns, 250000 + 5000 + 48 * 27);
	venc_free(e);
}

/* reference-run.md: a mebibyte up takes about 5.3 s, 256 commands of 4 KiB, one byte a TLP */
static void a_mebibyte_up_takes_the_time_of_the_reference_run(void **state)
{
	static const uint8_t page[4096];
	struct venc *e = host_new();
	struct venc_stats before, s;

	(void)state;
	rtl_unlock(e);
	before = stats(e);
	for (uint32_t at = 0; at < 1u << 20; at += sizeof(page))
		assert_int_equal(rtl_out(e, 0x34, at, page, sizeof(page)), CSW_GOOD);
	s = stats(e);
	assert_int_equal(s.commands - before.commands, 256);
	assert_int_equal(s.tlps - before.tlps, 1 << 20);
	assert_int_equal(s.bytes - before.bytes, (1 << 20) + 256 * 44);
	assert_int_equal(s.model_ns - before.model_ns,
	        256ull * 250000 + (1ull << 20) * 5000 + ((1ull << 20) + 256 * 44) * 27);
	assert_in_range(s.model_ns - before.model_ns, 5300000000, 5400000000);
	venc_free(e);
}

static void a_refused_command_moves_no_data_bytes(void **state)
{
	struct venc *e = host_new();
	uint8_t data[64];

	(void)state;
	assert_int_equal(rtl_in(e, 0xA6, 0, data, 64), CSW_FAILED);
	assert_int_equal(stats(e).bytes, 44);
	venc_free(e);
}

static void realtime_takes_the_modelled_time(void **state)
{
	struct venc *e = host_new_with((struct venc_options){.realtime = true});
	uint8_t page[4096];
	uint64_t began = now_ns(), took;

	(void)state;
	assert_int_equal(rtl_in(e, 0xB4, 0, page, sizeof(page)), CSW_GOOD);
	took = now_ns() - began;
	print_message("modelled %llu ns, took %llu ns\n", (unsigned long long)stats(e).model_ns,
	        (unsigned long long)took);
	assert_true(took >= stats(e).model_ns);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(enumeration_at_power_up_costs_nothing),
	        cmocka_unit_test(a_register_read_costs_one_command_one_tlp_and_48_bytes),
	        cmocka_unit_test(a_mebibyte_up_takes_the_time_of_the_reference_run),
	        cmocka_unit_test(a_refused_command_moves_no_data_bytes),
	        cmocka_unit_test(realtime_takes_the_modelled_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
