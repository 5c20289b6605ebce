/* Bulk-Only Transport of the enclosure: bridge.md 1.3, 1.4, 5.1, 5.5. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_host.h"

#define DN  {0x35} /* SYNCHRONIZE CACHE: no data */
#define DI  {0xE2, 0, 0, 0, 0x92, 0, 0, 0, 0x00, 0xD0, 0x00, 0xA8, 64} /* 64 bytes of RAM */
#define DO_ {0xE3, 0, 0, 0, 0x23, 0, 0, 0, 0x00, 0x00, 0x20, 0xB3, 64} /* 64 bytes to SRAM */

/* The thirteen cases of BOT 6.7: what the host expects against what the CDB implies. */
static const struct {
	const char *name;
	uint8_t cdb[16];
	uint32_t host_len;
	bool host_in;
	int data; /* bytes, or -EPIPE: the data endpoint stalls */
	uint8_t status;
} CASES[13] = {
        {"1 Hn = Dn", DN, 0, false, 0, CSW_GOOD},
        {"2 Hn < Di", DI, 0, false, 0, CSW_FAILED},
        {"3 Hn < Do", DO_, 0, false, 0, CSW_FAILED},
        {"4 Hi > Dn", DN, 64, true, -EPIPE, CSW_FAILED},
        {"5 Hi > Di", DI, 65, true, -EPIPE, CSW_FAILED},
        {"6 Hi = Di", DI, 64, true, 64, CSW_GOOD},
        {"7 Hi < Di", DI, 63, true, -EPIPE, CSW_FAILED},
        {"8 Hi <> Do", DO_, 64, true, -EPIPE, CSW_FAILED},
        {"9 Ho > Dn", DN, 64, false, -EPIPE, CSW_FAILED},
        {"10 Ho <> Di", DI, 64, false, -EPIPE, CSW_FAILED},
        {"11 Ho > Do", DO_, 65, false, -EPIPE, CSW_FAILED},
        {"12 Ho = Do", DO_, 64, false, 64, CSW_GOOD},
        {"13 Ho < Do", DO_, 63, false, -EPIPE, CSW_FAILED},
};

static void check_case(struct venc *e, size_t i)
{
	uint8_t data[65] = {0};
	struct answer a =
	        host_command(e, CASES[i].cdb, 16, data, CASES[i].host_len, CASES[i].host_in);
	bool failed = CASES[i].status == CSW_FAILED;

	print_message("case %s: data %d status %u\n", CASES[i].name, a.data, a.status);
	assert_int_equal(a.data, CASES[i].data);
	assert_int_equal(a.status, CASES[i].status);
	assert_int_equal(a.tag, 0x1234ABCD);
	assert_int_equal(a.residue, failed ? CASES[i].host_len : 0);
	assert_int_equal(a.csw, 13);
	assert_int_equal(host_sense(e), failed ? 0x052000 : 0);
}

static void each_of_the_thirteen_cases_ends_as_the_rule_table_says(void **state)
{
	struct venc *e = host_new();

	(void)state;
	rtl_unlock(e);
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++)
		check_case(e, i);
	venc_free(e);
}

static void a_stalled_in_phase_blocks_the_csw_until_clear_halt(void **state)
{
	static const uint8_t cdb[16] = DI;
	struct venc *e = host_new();
	uint8_t data[64];
	struct answer a = {0};

	(void)state;
	assert_int_equal(host_cbw(e, cdb, 16, 63, true), 31);
	assert_int_equal(venc_bulk_in(e, data, 63), -EPIPE);
	assert_int_equal(venc_bulk_in(e, data, 13), -EPIPE);
	assert_int_equal(host_clear_halt(e, 0x81), 0);
	host_csw(e, &a);
	assert_int_equal(a.csw, 13);
	assert_int_equal(a.status, CSW_FAILED);
	venc_free(e);
}

static void a_stalled_out_endpoint_refuses_the_next_cbw_until_clear_halt(void **state)
{
	static const uint8_t cdb[16] = DN;
	struct venc *e = host_new();
	struct answer a = {0};

	(void)state;
	assert_int_equal(host_cbw(e, cdb, 16, 64, false), 31);
	host_csw(e, &a);
	assert_int_equal(a.status, CSW_FAILED);
	assert_int_equal(host_cbw(e, cdb, 16, 0, false), -EPIPE);
	assert_int_equal(host_clear_halt(e, 0x02), 0);
	assert_int_equal(host_command(e, cdb, 16, NULL, 0, false).status, CSW_GOOD);
	venc_free(e);
}

/* Send a CBW spoilt by one byte (or of another size) and demand full reset recovery. */
static void check_invalid_cbw(size_t len, size_t at, uint8_t value)
{
	struct venc *e = host_new();
	uint8_t cbw[64] = {0x55, 0x53, 0x42, 0x43, [14] = 6}, csw[13];
	uint64_t before = own_guest_errors(e);

	cbw[at] = value;
	assert_int_equal(venc_bulk_out(e, cbw, len), len);
	assert_int_equal(venc_bulk_in(e, csw, 13), -EPIPE);
	assert_int_equal(venc_bulk_out(e, cbw, 31), -EPIPE);
	assert_int_equal(host_clear_halt(e, 0x81), 0);
	assert_int_equal(host_clear_halt(e, 0x02), 0);
	assert_int_equal(venc_bulk_in(e, csw, 13), -EPIPE);
	assert_int_equal(venc_bulk_out(e, cbw, 31), -EPIPE);
	assert_int_equal(host_class_reset(e), 0);
	assert_int_equal(venc_bulk_in(e, csw, 13), -EPIPE);
	assert_int_equal(host_clear_halt(e, 0x81), 0);
	assert_int_equal(host_clear_halt(e, 0x02), 0);
	assert_int_equal(host_sense(e), 0x052000);
	assert_int_equal(own_guest_errors(e) - before, 1);
	venc_free(e);
}

static void an_invalid_cbw_halts_both_endpoints_until_class_reset(void **state)
{
	(void)state;
	check_invalid_cbw(30, 63, 0);
	check_invalid_cbw(32, 63, 0);
	check_invalid_cbw(0, 63, 0);
	check_invalid_cbw(31, 0, 0x54);  /* signature */
	check_invalid_cbw(31, 12, 0x81); /* reserved flag */
	check_invalid_cbw(31, 14, 0);    /* no CDB */
	check_invalid_cbw(31, 14, 17);
}

static void a_lun_other_than_0_is_refused(void **state)
{
	struct venc *e = host_new();
	uint8_t cbw[31] = {0x55, 0x53, 0x42, 0x43, [13] = 1, [14] = 6};
	struct answer a = {0};

	(void)state;
	assert_int_equal(venc_bulk_out(e, cbw, 31), 31);
	host_csw(e, &a);
	assert_int_equal(a.status, CSW_FAILED);
	assert_int_equal(host_sense(e), 0x052000);
	venc_free(e);
}

static void nothing_to_send_times_out_and_a_pending_csw_blocks_the_next_cbw(void **state)
{
	static const uint8_t cdb[16] = DN;
	struct venc *e = host_new();
	uint8_t csw[13];

	(void)state;
	assert_int_equal(venc_bulk_in(e, csw, 13), -ETIMEDOUT);
	assert_int_equal(host_cbw(e, cdb, 16, 0, false), 31);
	assert_int_equal(host_cbw(e, cdb, 16, 0, false), -ETIMEDOUT);
	assert_int_equal(venc_bulk_in(e, csw, 13), 13);
	venc_free(e);
}

static void a_class_reset_drops_the_pending_answer_and_keeps_the_lock_open(void **state)
{
	static const uint8_t cdb[16] = DI;
	struct venc *e = host_new();
	uint8_t csw[13];

	(void)state;
	rtl_unlock(e);
	assert_int_equal(host_cbw(e, cdb, 16, 64, true), 31);
	assert_int_equal(host_class_reset(e), 0);
	assert_int_equal(venc_bulk_in(e, csw, 13), -ETIMEDOUT);
	rtl_out32(e, 0x23, 0xB3200000, 1);
	venc_free(e);
}

static void data_moves_in_packets(void **state)
{
	static const uint8_t cdb[16] = {
	        0xE2, 0, 0, 0, 0x92, 0, 0, 0, 0x00, 0x00, 0x20, 0xB3, 0x00, 0x04};
	struct venc *e = host_new();
	uint8_t data[1100];
	struct answer a = {0};

	(void)state;
	assert_int_equal(host_cbw(e, cdb, 16, 1024, true), 31);
	assert_int_equal(venc_bulk_in(e, data, 512), 512);
	assert_int_equal(venc_bulk_in(e, data, 100), -EOVERFLOW);
	host_csw(e, &a);
	assert_int_equal(a.status, CSW_GOOD);
	/* a host that asks past a full last packet gets the CSW glued to the data */
	assert_int_equal(host_cbw(e, cdb, 16, 1024, true), 31);
	assert_int_equal(venc_bulk_in(e, data, sizeof(data)), 1024 + 13);
	venc_free(e);
}

static void out_data_may_come_in_whole_packets_but_not_short(void **state)
{
	static const uint8_t cdb[16] = {
	        0xE3, 0, 0, 0, 0x23, 0, 0, 0, 0x00, 0x00, 0x20, 0xB3, 0x00, 0x04};
	struct venc *e = host_new();
	uint8_t data[1024], back[1024];
	struct answer a = {0};

	(void)state;
	rtl_unlock(e);
	memset(data, 0x3C, sizeof(data));
	assert_int_equal(host_cbw(e, cdb, 16, 1024, false), 31);
	assert_int_equal(venc_bulk_out(e, data, 512), 512);
	assert_int_equal(venc_bulk_out(e, data + 512, 512), 512);
	host_csw(e, &a);
	assert_int_equal(a.status, CSW_GOOD);
	assert_int_equal(rtl_in(e, 0x92, 0xB3200000, back, 1024), CSW_GOOD);
	assert_memory_equal(back, data, 1024);

	assert_int_equal(host_cbw(e, cdb, 16, 1024, false), 31);
	assert_int_equal(venc_bulk_out(e, data, 500), 500);
	host_csw(e, &a);
	assert_int_equal(a.status, CSW_PHASE);
	assert_int_equal(a.residue, 524);
	venc_free(e);
}

static void more_out_data_than_announced_is_never_taken(void **state)
{
	static const uint8_t cdb[16] = DO_;
	struct venc *e = host_new();
	uint8_t data[65] = {0};
	struct answer a = {0};

	(void)state;
	rtl_unlock(e);
	assert_int_equal(host_cbw(e, cdb, 16, 64, false), 31);
	assert_int_equal(venc_bulk_out(e, data, 65), -ETIMEDOUT);
	host_csw(e, &a);
	assert_int_equal(a.status, CSW_GOOD);
	venc_free(e);
}

static void sense_lasts_until_the_next_other_command(void **state)
{
	static const uint8_t ready[6] = {0}, sync[10] = {0x35};
	struct venc *e = host_new();

	(void)state;
	assert_int_equal(host_command(e, ready, 6, NULL, 0, false).status, CSW_FAILED);
	assert_int_equal(host_sense(e), 0x023A00);
	assert_int_equal(host_sense(e), 0);
	assert_int_equal(host_command(e, ready, 6, NULL, 0, false).status, CSW_FAILED);
	assert_int_equal(host_command(e, sync, 10, NULL, 0, false).status, CSW_GOOD);
	assert_int_equal(host_sense(e), 0);
	venc_free(e);
}

static struct answer read64(struct venc *e)
{
	static const uint8_t cdb[16] = DI;
	uint8_t data[64];

	return host_command(e, cdb, 16, data, 64, true);
}

static void injected_faults_hit_the_next_command_only(void **state)
{
	struct venc *e = host_new();
	struct answer a;

	(void)state;
	venc_inject(e, VENC_FAULT_DATA_STALL, 1);
	a = read64(e);
	assert_int_equal(a.data, -EPIPE);
	assert_int_equal(a.status, CSW_FAILED);
	venc_inject(e, VENC_FAULT_CSW_STALL, 1);
	a = read64(e);
	assert_int_equal(a.data, 64);
	assert_int_equal(a.csw, -EPIPE);
	assert_int_equal(a.status, CSW_GOOD);
	venc_inject(e, VENC_FAULT_CSW_TAG, 1);
	assert_int_equal(read64(e).tag, 0x1234ABCE);
	venc_inject(e, VENC_FAULT_CSW_SHORT, 1);
	assert_int_equal(read64(e).csw, 12);
	venc_inject(e, VENC_FAULT_PHASE_ERROR, 1);
	assert_int_equal(read64(e).status, CSW_PHASE);
	a = read64(e);
	assert_int_equal(a.data, 64);
	assert_int_equal(a.csw, 13);
	assert_int_equal(a.status, CSW_GOOD);
	venc_free(e);
}

static void a_timed_out_command_was_executed_and_class_reset_revives(void **state)
{
	static const uint8_t cdb[16] = DO_;
	struct venc *e = host_new();
	uint8_t data[64] = {0x77}, back[4], csw[13];

	(void)state;
	rtl_unlock(e);
	venc_inject(e, VENC_FAULT_TIMEOUT, 1);
	assert_int_equal(host_cbw(e, cdb, 16, 64, false), 31);
	assert_int_equal(venc_bulk_out(e, data, 64), 64);
	assert_int_equal(venc_bulk_in(e, csw, 13), -ETIMEDOUT);
	assert_int_equal(host_cbw(e, cdb, 16, 64, false), -ETIMEDOUT);
	assert_int_equal(host_class_reset(e), 0);
	assert_int_equal(rtl_in(e, 0x92, 0xB3200000, back, 4), CSW_GOOD);
	assert_int_equal(back[0], 0x77);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_of_the_thirteen_cases_ends_as_the_rule_table_says),
	        cmocka_unit_test(a_stalled_in_phase_blocks_the_csw_until_clear_halt),
	        cmocka_unit_test(a_stalled_out_endpoint_refuses_the_next_cbw_until_clear_halt),
	        cmocka_unit_test(an_invalid_cbw_halts_both_endpoints_until_class_reset),
	        cmocka_unit_test(a_lun_other_than_0_is_refused),
	        cmocka_unit_test(nothing_to_send_times_out_and_a_pending_csw_blocks_the_next_cbw),
	        cmocka_unit_test(a_class_reset_drops_the_pending_answer_and_keeps_the_lock_open),
	        cmocka_unit_test(data_moves_in_packets),
	        cmocka_unit_test(out_data_may_come_in_whole_packets_but_not_short),
	        cmocka_unit_test(more_out_data_than_announced_is_never_taken),
	        cmocka_unit_test(sense_lasts_until_the_next_other_command),
	        cmocka_unit_test(injected_faults_hit_the_next_command_only),
	        cmocka_unit_test(a_timed_out_command_was_executed_and_class_reset_revives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
