/* test_card_cold_smu.c - the SMU's start, its mailbox, the engines' microcode, and what refuses to
 * run without. */
#include "device/bytes.h"
#include "device/regs/ppsmc.h"
#include "tests/unit/card/helper_cold.h"

static void expect_error(struct host *h, unsigned count, const char *words)
{
	if (guest_errors(h) != count || !strstr(h->last, words))
		fail_msg("expected %u guest errors, the last with \"%s\", got %u: %s", count, words,
		        (unsigned)guest_errors(h), h->last);
}

static void protected_start_runs_a_good_image(void **state)
{
	uint8_t image[SMC_IMAGE_BYTES];
	struct host *h = *state;

	smc_image(image);
	smc_upload(h, image, sizeof(image));
	assert_int_equal(smc_get(h, 0x20000 + 52), SMC_DPM); /* reads back unswapped */
	assert_int_equal(smc_start(h), 3);
	assert_int_equal(smc_get(h, IX_FEATURE_STATUS), 0);
	assert_no_guest_errors(h);
}

static void start_with(struct host *h, const uint8_t *image, uint32_t bytes, const char *words)
{
	smc_upload(h, image, bytes);
	assert_int_equal(smc_start(h), 1); /* done, not passed */
	expect_error(h, 1, words);
	assert_int_equal(smc_get(h, IX_SMC_PC_C), 0);
}

static void corrupt_firmware_does_not_pass(void **state)
{
	uint8_t image[SMC_IMAGE_BYTES];

	smc_image(image);
	image[0x800] ^= 0x10;
	start_with(*state, image, sizeof(image), "checksum");
}

static void short_firmware_does_not_pass(void **state)
{
	uint8_t image[SMC_IMAGE_BYTES];

	smc_image(image);
	start_with(*state, image, sizeof(image) - 4, "length");
}

static void firmware_with_wild_pointers_does_not_pass(void **state)
{
	uint8_t image[SMC_IMAGE_BYTES];

	smc_image(image);
	put_le32(image + 52, 0x40000);
	start_with(*state, image, sizeof(image), "table address");
}

static void vendor_firmware_is_held_to_structure(void **state)
{
	uint8_t image[SMC_IMAGE_BYTES];
	struct host *h = *state;

	smc_image(image);
	put_le32(image + 0x100, 0x12345678); /* no magic: nothing to check it by */
	smc_upload(h, image, sizeof(image));
	assert_int_equal(smc_start(h), 3);
	assert_no_guest_errors(h);
}

static void nothing_uploaded_does_not_pass(void **state)
{
	struct host *h = *state;

	assert_int_equal(smc_start(h), 1);
	expect_error(h, 1, "no image was uploaded");
}

static void upload_to_a_released_smu_is_an_error(void **state)
{
	struct host *h = *state;

	smc_put(h, IX_SMC_SYSCON_CLOCK_CNTL_0, 0);
	smc_put(h, IX_SMC_SYSCON_RESET_CNTL, 0);
	smc_put(h, 0x20400, 1);
	expect_error(h, 1, "boot ROM");
}

static void rejecting_smu_and_silent_smu(void **state)
{
	uint8_t image[SMC_IMAGE_BYTES];
	struct host *h = *state;
	uint32_t arg = 0;

	vcard_inject(h->card, VCARD_FAULT_SMU_REJECTS, 1);
	smc_image(image);
	smc_upload(h, image, sizeof(image));
	assert_int_equal(smc_start(h), 1);
	vcard_inject(h->card, VCARD_FAULT_SMU_REJECTS, 0);
	smc_put(h, IX_SMC_SYSCON_RESET_CNTL, 1);
	assert_int_equal(smc_start(h), 3);
	vcard_inject(h->card, VCARD_FAULT_SMU_SILENT, 1);
	assert_int_equal(smc_send(h, 0x200, &arg), 0);
	vcard_inject(h->card, VCARD_FAULT_SMU_SILENT, 0);
	assert_no_guest_errors(h);
}

static void mailbox_answers_after_a_moment(void **state)
{
	struct host *h = *state;
	uint32_t arg = 7;

	cold_up(h);
	reg_write(h, REG_SMC_MSG_ARG_0, 0);
	reg_write(h, REG_SMC_MESSAGE_0, 0x200);
	assert_int_equal(reg_read(h, REG_SMC_RESP_0), 0); /* time stands still */
	reg_write(h, REG_SMC_MESSAGE_0, 0x201);           /* while busy */
	expect_error(h, 1, "before 0x200 was answered");
	vcard_advance(h->card, 1);
	assert_int_equal(reg_read(h, REG_SMC_RESP_0), 1);
	assert_int_equal(reg_read(h, REG_SMC_MSG_ARG_0), 30000);
	assert_int_equal(smc_send(h, 0x7777, &arg), 0xFE);
	expect_error(h, 2, "unknown");
	vcard_inject(h->card, VCARD_FAULT_SMU_FAILS, 0x201);
	assert_int_equal(smc_send(h, 0x201, &arg), 0xFF);
	assert_int_equal(smc_send(h, 0x200, &arg), 1);
}

static void message_to_a_held_smu_is_never_answered(void **state)
{
	struct host *h = *state;

	reg_write(h, REG_SMC_MESSAGE_0, 0x200);
	vcard_advance(h->card, 1000);
	assert_int_equal(reg_read(h, REG_SMC_RESP_0), 0);
	expect_error(h, 1, "does not run");
}

static void every_stock_message_is_known(void **state)
{
	/* in the order of amdgpu 6.1's start and stop (traces of amdgpu-oracle.md) */
	static const uint32_t ids[] = {0x308, 0x14A, 0x306, 0x5E, 0x317, 0x109, 0x62, 0x18F, 0x301,
	        0x136, 0x53, 0x169, 0x185, 0x187, 0x188, 0x10A, 0x209, 0x206, 0x5B, 0x205, 0x20A,
	        0x302, 0x15F, 0x145, 0x146, 0x5D, 0x133, 0x16A, 0x186, 0x54, 0x13D, 0x190, 0x63,
	        0x84};
	struct host *h = *state;

	cold_up(h);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		smc_tell(h, ids[i], 0);
	assert_no_guest_errors(h);
}

static void edc_controller_wants_its_registers_first_and_clocks_later(void **state)
{
	struct host *h = *state;
	uint32_t arg = 0;

	cold_up(h);
	for (uint32_t block = 0x10; block < 0x80; block += 0x20)
		for (uint32_t i = 3; i <= 8; i++) {
			if (block == 0x70 && i == 8)
				assert_int_equal(
				        smc_send(h, PPSMC_MSG_EnableEDCController, &arg), 0xFF);
			reg_write(h, REG_DIDT_IND_INDEX, block + i);
			reg_write(h, REG_DIDT_IND_DATA, 1);
		}
	expect_error(h, 1, "EnableEDCController: not all of its registers");
	smc_tell(h, PPSMC_MSG_EnableEDCController, 0);
	smc_tell(h, PPSMC_MSG_DisableEDCController, 0);
	smc_tell(h, PPSMC_MSG_Voltage_Cntl_Enable, 0);
	assert_int_equal(smc_send(h, PPSMC_MSG_EnableEDCController, &arg), 0xFF);
	expect_error(h, 2, "EnableEDCController: voltage and clocks");
}

/* One thing wrong with the table of contents or an image: which bits stay 0, and the log's words.
 */
struct flaw {
	const char *words;
	uint32_t missing; /* of 0x47E */
	unsigned entry, dword;
	uint32_t value;
};

static void load_with(struct host *h, const struct flaw *f)
{
	uint32_t at = UCODE_TOC + 8 + 28 * f->entry + 4 * f->dword, status;
	uint32_t before = (uint32_t)guest_errors(h);

	ucode_place(h);
	vram_write(h, at, f->value);
	hdp_flush_now(h);
	status = ucode_load(h);
	if (status != (0x47E & ~f->missing) || guest_errors(h) != before + 1 ||
	        !strstr(h->last, f->words))
		fail_msg("%s: expected 0x%x and one guest error, got 0x%x, %u: %s", f->words,
		        0x47E & ~f->missing, status, (unsigned)(guest_errors(h) - before), h->last);
}

static void flawed_entries_leave_their_bit_0(void **state)
{
	static const struct flaw flaws[] = {
	        {"multiple of 4 KiB", 1u << 10, 0, 2, UCODE_IMAGES + 4},
	        {"not in VRAM", 1u << 3, 1, 1, 0xF3},
	        {"size is impossible", 1u << 4, 2, 5, 0},
	        {"another length", 1u << 5, 3, 5, UCODE_BYTES - 4},
	        {"does not have it", 1u << 2, 8, 0, 11},
	        {"another engine", 1u << 1, 7, 2, UCODE_IMAGES + 0x80000},
	        {"flags", 1u << 1, 7, 6, 1},
	        {"jump table entry", 1u << 6, 6, 0, 12},
	        {"another length", 1u << 6, 6, 5, 0x80},
	        {"overlaps the SMU's", 1u << 1, 7, 2, UCODE_BUFFER},
	};
	struct host *h = *state;

	cold_up(h);
	for (size_t i = 0; i < ARRAY_SIZE(flaws); i++)
		load_with(h, &flaws[i]);
}

static void corrupt_image_leaves_its_bit_0(void **state)
{
	struct host *h = *state;

	cold_up(h);
	vram_write(h, ucode_at(4) + 0x200, 0xBAD);
	hdp_flush_now(h);
	assert_int_equal(ucode_load(h), 0x47E & ~(1u << 6));
	expect_error(h, 1, "checksum");
}

static void corrupt_jump_table_leaves_the_mec_out(void **state)
{
	struct host *h = *state;

	cold_up(h);
	vram_write(h, ucode_at(5) + 0x20, 0xBAD);
	hdp_flush_now(h);
	assert_int_equal(ucode_load(h), 0x47E & ~(1u << 6));
	expect_error(h, 1, "checksum");
}

static void unflushed_table_of_contents_is_not_seen(void **state)
{
	struct host *h = *state;

	cold_up(h);
	for (unsigned i = 0; i < 4; i++)
		vram_write(h, UCODE_TOC + 4 * i, 0);
	hdp_flush_now(h);
	vram_write(h, UCODE_TOC, 1); /* still in the write buffer */
	vram_write(h, UCODE_TOC + 4, UCODE_COUNT);
	assert_int_equal(ucode_load(h), 0);
	expect_error(h, 1, "HDP flushed");
}

static void stuck_ucode_never_finishes(void **state)
{
	struct host *h = *state;

	cold_up(h);
	vcard_inject(h->card, VCARD_FAULT_UCODE_STUCK, 1u << 6);
	assert_int_equal(ucode_load(h), 0x47E & ~(1u << 6));
	assert_no_guest_errors(h);
}

static void engines_need_microcode(void **state)
{
	struct host *h = *state;

	cold_post(h);
	reg_write(h, REG_RLC_CNTL, 1);
	expect_error(h, 1, "RLC is let run");
	reg_write(h, REG_SDMA0_F32_CNTL, 0);
	expect_error(h, 2, "SDMA0");
	reg_write(h, REG_CP_ME_CNTL, 0);
	expect_error(h, 3, "ME is let run");
	reg_write(h, REG_CP_MEC_CNTL, 0);
	expect_error(h, 4, "no microcode");
}

/* run_queue - one packet through a queue of MEC1. Return: whether it was executed within @ms. */
static bool run_queue(struct host *h, unsigned ms)
{
	struct test_queue q;

	queue_init(&q, 0, 0, 0x1000000);
	queue_start(h, &q);
	PUT(h, &q, WRITE_MEM(0x2000000, 0xFEED));
	queue_grant(h, &q);
	return wait_vram(h, 0x2000000, 0xFEED, ms);
}

static void mec_needs_a_running_rlc(void **state)
{
	struct host *h = *state;

	cold_up(h);
	reg_write(h, REG_RLC_CNTL, 0);
	assert_false(run_queue(h, SHORT));
	expect_error(h, 1, "RLC does not");
}

static void brought_up_card_executes(void **state)
{
	struct host *h = *state;

	cold_up(h);
	assert_true(run_queue(h, LONG));
	assert_no_guest_errors(h);
}

static void dead_mec_executes_nothing(void **state)
{
	struct host *h = *state;

	cold_up(h);
	vcard_inject(h->card, VCARD_FAULT_MEC_DEAD, 1);
	assert_false(run_queue(h, SHORT));
	vcard_inject(h->card, VCARD_FAULT_MEC_DEAD, 0);
	assert_true(wait_vram(h, 0x2000000, 0xFEED, LONG));
	assert_no_guest_errors(h);
}

static void reset_stops_the_smu(void **state)
{
	struct host *h = *state;

	cold_up(h);
	vcard_reset(h->card);
	host_enumerate(h);
	assert_int_equal(smc_get(h, IX_SMC_PC_C), 0);
	assert_int_equal(smc_get(h, IX_FIRMWARE_FLAGS), 0);
	assert_int_equal(reg_read(h, REG_SMC_RESP_0), 1);
	cold_up(h); /* and all of it again */
}

static void spoilt_registers_read_wrong(void **state)
{
	struct host *h = *state;

	assert_int_equal(vcard_spoil(h->card, false, REG_SCRATCH_REG0, 0x10), 0);
	assert_int_equal(vcard_spoil(h->card, true, IX_SMU_STATUS, 0x3), 0);
	reg_write(h, REG_SCRATCH_REG0, 0x1234);
	assert_int_equal(reg_read(h, REG_SCRATCH_REG0), 0x1224);
	assert_int_equal(smc_get(h, IX_SMU_STATUS), 3);
	assert_int_equal(vcard_spoil(h->card, false, REG_SCRATCH_REG0, 0), 0);
	assert_int_equal(reg_read(h, REG_SCRATCH_REG0), 0x1234);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(vcard_spoil(h->card, false, 0x1000 + 4 * i, 1), 0);
	assert_int_equal(vcard_spoil(h->card, false, 0x2000, 1), -28); /* ENOSPC */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, cold_setup, host_teardown)
	const struct CMUnitTest tests[] = {
	        T(protected_start_runs_a_good_image),
	        T(corrupt_firmware_does_not_pass),
	        T(short_firmware_does_not_pass),
	        T(firmware_with_wild_pointers_does_not_pass),
	        T(vendor_firmware_is_held_to_structure),
	        T(nothing_uploaded_does_not_pass),
	        T(upload_to_a_released_smu_is_an_error),
	        T(rejecting_smu_and_silent_smu),
	        T(mailbox_answers_after_a_moment),
	        T(message_to_a_held_smu_is_never_answered),
	        T(every_stock_message_is_known),
	        T(edc_controller_wants_its_registers_first_and_clocks_later),
	        T(flawed_entries_leave_their_bit_0),
	        T(corrupt_image_leaves_its_bit_0),
	        T(corrupt_jump_table_leaves_the_mec_out),
	        T(unflushed_table_of_contents_is_not_seen),
	        T(stuck_ucode_never_finishes),
	        T(engines_need_microcode),
	        T(mec_needs_a_running_rlc),
	        T(brought_up_card_executes),
	        T(dead_mec_executes_nothing),
	        T(reset_stops_the_smu),
	        T(spoilt_registers_read_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
