/* test_card_cold_garbage.c - nothing said to the SMU, its RAM, its registers or the registers of
 * the VBIOS may hurt the process or keep the card from being brought up afterwards. Fixed seeds.
 */
#include "tests/unit/card/helper_cold.h"

static uint32_t seed;

static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

static uint32_t likely(void)
{
	switch (rnd() % 6) {
	case 0: return 0;
	case 1: return 1u << rnd() % 32;
	case 2: return 0x20000 + rnd() % 0x20000;
	case 3: return 0xFFFFFFFF - rnd() % 0x100;
	case 4: return UCODE_TOC + rnd() % 0x1000;
	default: return rnd();
	}
}

static uint32_t smc_address(void)
{
	static const uint32_t bases[] = {0x20000, 0x20030, SMC_SOFT, SMC_DPM, SMC_FAN, 0x3F000,
	        0x80000000, 0xC0000000, 0xC0200000, 0xC0300000, 0xC0500000, 0xC0600000, 0xE0003000};

	return rnd() % 64 ? bases[rnd() % 13] + 4 * (rnd() % 64) : rnd();
}

static void poke(struct host *h)
{
	static const uint32_t pairs[] = {
	        REG_SMC_IND_INDEX_0, REG_SMC_IND_INDEX_1, REG_SMC_IND_INDEX_11};
	static const uint32_t others[] = {REG_MC_SEQ_SUP_CNTL, REG_MC_SEQ_SUP_PGM, REG_MC_SEQ_MISC9,
	        REG_MC_SEQ_IO_DEBUG_INDEX, REG_MC_SEQ_IO_DEBUG_DATA, REG_PCIE_INDEX, REG_PCIE_DATA,
	        REG_CP_DMA_PIO_SRC_ADDR, REG_CP_DMA_PIO_DST_ADDR, REG_CP_DMA_PIO_COMMAND,
	        REG_RLC_CNTL, REG_CP_MEC_CNTL, REG_SMC_RESP_0, REG_SMC_MSG_ARG_0,
	        REG_CONFIG_MEMSIZE, REG_MC_VM_FB_LOCATION, REG_BIOS_SCRATCH_7};
	uint32_t pair = pairs[rnd() % 3];

	reg_write(h, pair, smc_address());
	if (rnd() % 2)
		reg_write(h, pair + 4, likely());
	else
		reg_read(h, pair + 4);
	if (rnd() % 4 == 0)
		reg_write(h, others[rnd() % 17], likely());
	if (rnd() % 8 == 0)
		reg_read(h, others[rnd() % 17]);
}

static void message(struct host *h)
{
	reg_write(h, REG_SMC_MSG_ARG_0, likely());
	reg_write(h, REG_SMC_MESSAGE_0, rnd() % 4 ? rnd() % 0x320 : 0x250 + rnd() % 5);
	vcard_advance(h->card, 1 + rnd() % 5000);
	reg_read(h, REG_SMC_RESP_0);
}

static void bring_up_again(struct host *h)
{
	uint64_t before;

	vcard_reset(h->card);
	host_enumerate(h);
	before = guest_errors(h);
	cold_post(h);
	assert_int_equal(guest_errors(h), before);
}

/* A running SMU with tables, then anything at all, its own header included. */
static void random_accesses_do_no_harm(void **state)
{
	struct host *h = *state;

	seed = 0x5817;
	cold_up(h);
	dpm_start(h, true);
	for (unsigned i = 0; i < 60000; i++) {
		poke(h);
		if (i % 16 == 0)
			message(h);
	}
	bring_up_again(h);
}

static void random_tables_of_contents_do_no_harm(void **state)
{
	struct host *h = *state;

	seed = 0x254;
	cold_up(h);
	for (unsigned round = 0; round < 300; round++) {
		ucode_place(h);
		for (unsigned i = 0; i < 1 + round % 4; i++)
			vram_write(h, UCODE_TOC + 4 * (rnd() % 66), likely());
		hdp_flush_now(h);
		assert_int_equal(ucode_load(h) & ~0x47Eu, 0);
	}
	bring_up_again(h);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, cold_setup, host_teardown)
	const struct CMUnitTest tests[] = {
	        T(random_accesses_do_no_harm),
	        T(random_tables_of_contents_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
