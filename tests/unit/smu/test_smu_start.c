/* test_smu_start.c - firmware start, mailbox and microcode loading against a card that is a few
 * registers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/log.h"
#include "device/regs/regs.h"
#include "device/smu/smu.h"
#include "helper_regs.h"

static struct smu *smu;
static struct fw_set set;

static int set_up(void **state)
{
	struct fw_query q = {
	        .virtual_card = true, .device = 0x67DF, .revision = 0xE7, .smu_sel = true};

	(void)state;
	fake_open();
	return fw_load(&set, &q) || smu_new(&smu, &fake->mmio, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	smu_free(smu);
	fw_free(&set);
	fake_close();
	return 0;
}

static void assert_said(const char *word)
{
	char said[512];

	rx_log_last_error(said, sizeof(said));
	if (!strstr(said, word))
		fail_msg("expected \"%s\" in: %s", word, said);
}

static void assert_held(void)
{
	assert_int_equal(*fake_smc(IX_SMC_SYSCON_RESET_CNTL) & 1, 1);
	assert_int_equal(*fake_smc(IX_SMC_SYSCON_CLOCK_CNTL_0) & 1, 1);
}

/* ---- start ---- */

static void image_is_uploaded_unswapped_and_started(void **state)
{
	const struct fw_image *smc = &set.image[FW_SMC];

	(void)state;
	assert_int_equal(smu_start(smu, smc), 0);
	for (uint32_t i = 20; i < smc->payload_bytes; i += 4)
		if (fake->ram[(0x20000 + i) / 4] != get_le32(smc->payload + i) && i < 0x1E000)
			fail_msg("SMC 0x%x: expected 0x%08x, got 0x%08x", 0x20000 + i,
			        get_le32(smc->payload + i), fake->ram[(0x20000 + i) / 4]);
	assert_int_equal(smu_header(smu)->dpm_table, 0x3D000);
	assert_int_equal(smu_header(smu)->soft_registers, 0x3E000);
	/* the check was asked for, at the image (polaris.md 4.3 step 4) */
	assert_int_equal(fake_sent(0x100, 0)->arg, 0x20000);
	/* auto-increment is off again */
	assert_int_equal(fake->reg[RX_REG_DW(REG_SMC_IND_ACCESS_CNTL)], 0);
}

/* order_of - the writes to one SMC address, as text. */
static void order_of(uint32_t ix, char *out, size_t size)
{
	size_t n = 0;

	out[0] = 0;
	for (size_t i = 0; i < fake->writes; i++)
		if (fake->write[i].smc && fake->write[i].at == ix)
			n += (size_t)snprintf(out + n, size - n, "%x ", fake->write[i].value & 1);
}

static void protected_start_resets_twice(void **state)
{
	char resets[64];

	(void)state;
	assert_int_equal(smu_start(smu, &set.image[FW_SMC]), 0);
	order_of(IX_SMC_SYSCON_RESET_CNTL, resets, sizeof(resets));
	/* it was held already, so the first hold writes nothing */
	assert_string_equal(resets, "0 1 0 ");
	assert_int_equal(fake_last(true, IX_SMU_STATUS), 0);
}

static void unprotected_start_jumps_to_the_firmware(void **state)
{
	(void)state;
	*fake_smc(IX_SMU_FIRMWARE) = 0x20000;
	assert_int_equal(smu_start(smu, &set.image[FW_SMC]), 0);
	assert_int_equal(fake_last(true, 0), 0xE0008040);
	assert_null(fake_sent(0x100, 0));
}

static void upload_costs_one_write_a_dword(void **state)
{
	size_t data = 0;

	(void)state;
	assert_int_equal(smu_start(smu, &set.image[FW_SMC]), 0);
	for (size_t i = 0; i < fake->writes; i++)
		data += fake->write[i].smc;
	/* everything else of a start is a few dozen */
	assert_in_range(fake->writes - data, 1, 60);
	assert_in_range(fake->reads, 1, 60);
}

static void refused_image_leaves_the_smu_held(void **state)
{
	(void)state;
	fake->pass = false;
	assert_int_equal(smu_start(smu, &set.image[FW_SMC]), -EBADMSG);
	assert_said("refuses");
	assert_held();
}

static void firmware_that_never_comes_is_given_up(void **state)
{
	(void)state;
	fake->boots = false;
	assert_int_equal(smu_start(smu, &set.image[FW_SMC]), -ETIMEDOUT);
	assert_said("RCU_UC_EVENTS.INTERRUPTS_ENABLED");
	assert_held();
}

static void silent_mailbox_is_given_up(void **state)
{
	(void)state;
	fake->answer = 0;
	assert_int_equal(smu_start(smu, &set.image[FW_SMC]), -ETIMEDOUT);
	assert_said("Test (0x100)");
	assert_held();
}

static void running_firmware_is_not_started_again(void **state)
{
	struct smu_state look;

	(void)state;
	*fake_smc(IX_SMC_SYSCON_CLOCK_CNTL_0) = 0;
	*fake_smc(IX_SMC_PC_C) = 0x20100;
	assert_int_equal(smu_look(smu, &look), 0);
	assert_true(look.running && look.protected_mode && look.smu_sel);
	assert_int_equal(smu_start(smu, &set.image[FW_SMC]), -EBUSY);
}

static void header_without_sense_is_refused(void **state)
{
	static const uint32_t wrong[] = {0, 0x3D002, 0x3FFF0, 0x40000, 0xFFFFFFFC};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(smu_start(smu, &set.image[FW_SMC]), 0);
		fake->ram[0x20034 / 4] = wrong[i];
		assert_int_equal(smu_attach(smu), -EPROTO);
		assert_said("DpmTable");
		*fake_smc(IX_SMC_PC_C) = 0;
		*fake_smc(IX_SMC_SYSCON_RESET_CNTL) = 1;
	}
}

static void lost_link_ends_the_start(void **state)
{
	static const size_t at[] = {1, 2, 10, 1000, 32490, 32500, 32510};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		tear_down(NULL);
		set_up(NULL);
		fake->fail_at = at[i];
		int err = smu_start(smu, &set.image[FW_SMC]);

		if (err != -EIO)
			fail_msg("link lost after %zu writes: expected -EIO, got %d", at[i], err);
	}
}

/* ---- mailbox ---- */

static void mailbox_is_used_in_the_stock_order(void **state)
{
	(void)state;
	assert_int_equal(smu_message_arg(smu, PPSMC_MSG_PkgPwrSetLimit, 155 << 8), 0);
	/* polaris.md 10.1: argument, RESP 0, message */
	assert_int_equal(fake->writes, 3);
	assert_int_equal(fake->write[0].at, REG_SMC_MSG_ARG_0);
	assert_int_equal(fake->write[0].value, 0x9B00);
	assert_int_equal(fake->write[1].at, REG_SMC_RESP_0);
	assert_int_equal(fake->write[1].value, 0);
	assert_int_equal(fake->write[2].at, REG_SMC_MESSAGE_0);
	assert_int_equal(fake->write[2].value, 0x187);
}

static void second_message_does_not_ask_whether_the_first_ended(void **state)
{
	(void)state;
	assert_int_equal(smu_message(smu, PPSMC_MSG_EnableCac), 0);
	assert_int_equal(fake->reads, 2);
	assert_int_equal(smu_message(smu, PPSMC_MSG_EnableULV), 0);
	assert_int_equal(fake->reads, 3);
	assert_false(fake_sent(0x62, 0)->has_arg);
}

static void answers_become_errors(void **state)
{
	uint32_t result = 0;

	(void)state;
	fake->result[0x282] = 30 << 8;
	assert_int_equal(smu_query(smu, PPSMC_MSG_GetCurrPkgPwr, &result), 0);
	assert_int_equal(result, 30 << 8);
	fake->refuse = 0x316;
	assert_int_equal(smu_message(smu, PPSMC_MSG_EnableEDCController), -EOPNOTSUPP);
	assert_said("EnableEDCController");
	fake->answer = 0xFF;
	assert_int_equal(smu_message(smu, PPSMC_MSG_EnableCac), -EIO);
	/* a mailbox that is busy from the start: nothing is written into it */
	fake->reg[RX_REG_DW(REG_SMC_RESP_0)] = 0;
	smu_free(smu);
	assert_int_equal(smu_new(&smu, &fake->mmio, NULL), 0);
	size_t before = fake->writes;

	assert_int_equal(smu_message(smu, PPSMC_MSG_EnableCac), -ETIMEDOUT);
	assert_int_equal(fake->writes, before);
	assert_said("before any message");
}

/* ---- microcode ---- */

#define BASE 0x100000u

static void start(void)
{
	assert_int_equal(smu_start(smu, &set.image[FW_SMC]), 0);
}

static void contents_are_in_the_order_the_smu_wants(void **state)
{
	static const struct {
		uint16_t id, flags;
		enum fw_kind kind;
	} want[] = {{10, 1, FW_RLC}, {3, 0, FW_CE}, {4, 0, FW_PFP}, {5, 0, FW_ME}, {6, 1, FW_MEC},
	        {7, 0, FW_MEC}, {8, 0, FW_MEC}, {1, 0, FW_SDMA0}, {2, 0, FW_SDMA1}};
	const uint8_t *toc = fake->vram + BASE + 200 * 4096;

	(void)state;
	start();
	assert_int_equal(smu_load_ucodes(smu, &set, BASE), 0);
	assert_int_equal(get_le32(toc), 1);
	assert_int_equal(get_le32(toc + 4), 9);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const struct fw_image *f = &set.image[want[i].kind];
		const uint8_t *e = toc + 8 + 28 * i;
		bool jt = want[i].id == 7 || want[i].id == 8;
		uint64_t addr = (uint64_t)get_le32(e + 4) << 32 | get_le32(e + 8);
		uint32_t bytes = jt                       ? f->jt_bytes
		                 : want[i].kind == FW_MEC ? f->jt_offset
		                                          : f->payload_bytes;

		assert_int_equal(get_le16(e), want[i].id);
		assert_int_equal(get_le16(e + 24), want[i].flags);
		assert_int_equal(get_le32(e + 20), bytes);
		assert_int_equal(addr % 4096, 0);
		assert_memory_equal(fake->vram + (addr - FAKE_FB_BASE),
		        f->payload + (jt ? f->jt_offset : 0), bytes);
	}
	/* both jump tables show the same copy */
	assert_int_equal(get_le32(toc + 8 + 28 * 5 + 8), get_le32(toc + 8 + 28 * 6 + 8));
	assert_true(fake->flushes >= 2 && fake->invalidates >= 1);
}

static void addresses_go_to_the_smu_before_the_order(void **state)
{
	static const struct {
		uint16_t id;
		uint32_t arg;
	} want[] = {{0x252, 0xF4}, {0x253, BASE}, {0x250, 0xF4}, {0x251, BASE + 200 * 4096},
	        {0x254, 0x47E}};

	(void)state;
	start();
	size_t first = fake->messages;

	assert_int_equal(smu_load_ucodes(smu, &set, BASE), 0);
	assert_int_equal(fake->messages - first, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(fake->message[first + i].id, want[i].id);
		assert_int_equal(fake->message[first + i].arg, want[i].arg);
	}
}

static void engine_that_does_not_load_is_named(void **state)
{
	(void)state;
	start();
	fake->loads = 0x47E & ~(1u << 6) & ~(1u << 2);
	assert_int_equal(smu_load_ucodes(smu, &set, BASE), -ETIMEDOUT);
	assert_said("MEC (generated)");
	assert_said("SDMA1 (generated)");
}

static void room_is_checked(void **state)
{
	uint64_t room = smu_ucode_room(&set);

	(void)state;
	start();
	assert_int_equal(room % 4096, 0);
	assert_true(room > 200 * 4096 + 4096 + 262144);
	assert_int_equal(smu_load_ucodes(smu, &set, BASE + 1), -EINVAL);
	assert_int_equal(smu_load_ucodes(smu, &set, FAKE_VRAM_BYTES - room + 4096), -EINVAL);
	assert_int_equal(smu_load_ucodes(smu, &set, FAKE_VRAM_BYTES - room), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(image_is_uploaded_unswapped_and_started),
	        TEST(protected_start_resets_twice),
	        TEST(unprotected_start_jumps_to_the_firmware),
	        TEST(upload_costs_one_write_a_dword),
	        TEST(refused_image_leaves_the_smu_held),
	        TEST(firmware_that_never_comes_is_given_up),
	        TEST(silent_mailbox_is_given_up),
	        TEST(running_firmware_is_not_started_again),
	        TEST(header_without_sense_is_refused),
	        TEST(lost_link_ends_the_start),
	        TEST(mailbox_is_used_in_the_stock_order),
	        TEST(second_message_does_not_ask_whether_the_first_ended),
	        TEST(answers_become_errors),
	        TEST(contents_are_in_the_order_the_smu_wants),
	        TEST(addresses_go_to_the_smu_before_the_order),
	        TEST(engine_that_does_not_load_is_named),
	        TEST(room_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
