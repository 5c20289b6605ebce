/* test_card_cold_synth.c - a cold card posts itself with the VBIOS in its own flash: the driver's
 * interpreter runs ASIC_Init against the card as a host sees it, without a guest error. With the
 * synthetic image, and with each real one found beside the project (none is part of it).
 */
#include <errno.h>
#include <stdlib.h>

#include "device/atom/atom.h"
#include "device/log.h"
#include "foreign.h"
#include "tests/unit/card/helper_cold.h"

#define FLASH_BYTES 0x40000u

static int on_read(void *ctx, uint32_t reg, uint32_t *value)
{
	*value = reg_read(ctx, reg * 4);
	return 0;
}

static int on_write(void *ctx, uint32_t reg, uint32_t value)
{
	reg_write(ctx, reg * 4, value);
	return 0;
}

static int on_delay(void *ctx, uint32_t us)
{
	vcard_advance(((struct host *)ctx)->card, us / 1000 + 1);
	return 0;
}

/* read_flash - through ROM_INDEX and ROM_DATA: polaris.md 2.1 way 3 */
static void read_flash(struct host *h, uint8_t *flash)
{
	smc_put(h, IX_ROM_INDEX, 0);
	for (uint32_t i = 0; i < FLASH_BYTES; i += 4) {
		uint32_t v = smc_get(h, IX_ROM_DATA);

		memcpy(flash + i, &v, 4);
	}
}

static struct atom *interpreter(struct host *h, const uint8_t *flash)
{
	const struct atom_host host = {
	        .ctx = h, .reg_read = on_read, .reg_write = on_write, .delay_us = on_delay};
	struct atom *a;

	assert_int_equal(atom_open(&a, flash, FLASH_BYTES, &host), 0);
	atom_set_limits(a, &(struct atom_limits){.max_steps = 1000000, .loop_ms = LONG});
	return a;
}

static void the_synthetic_vbios_posts_the_card(void **state)
{
	static uint8_t flash[FLASH_BYTES];
	struct host *h = *state;

	read_flash(h, flash);
	struct atom *a = interpreter(h, flash);

	assert_int_equal(reg_read(h, REG_CONFIG_MEMSIZE), 0);
	assert_int_equal(atom_asic_init(a), 0);
	assert_no_guest_errors(h);
	assert_int_equal(reg_read(h, REG_CONFIG_MEMSIZE), VRAM_BYTES >> 20);
	assert_int_equal(reg_read(h, REG_MC_VM_FB_LOCATION), 0xF403F400);
	assert_true(reg_read(h, REG_BIOS_SCRATCH_7) & 0x200);
	assert_int_equal(reg_read(h, REG_BIF_FB_EN), 3);
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC0) & 0xF0000080, 0x50000080);
	vram_write(h, 0x1000, 0x12345678);
	hdp_flush_now(h);
	assert_int_equal(vram_fresh(h, 0x1000), 0x12345678);
	assert_no_guest_errors(h);
	atom_close(a);
}

static void post_real(const char *path)
{
	static uint8_t flash[FLASH_BYTES];
	struct host *h = host_new(
	        &(struct vcard_options){.cold = true, .vbios = path, .vram_bytes = 8ull << 30});

	read_flash(h, flash);
	struct atom *a = interpreter(h, flash);

	assert_int_equal(atom_asic_init(a), 0);
	if (guest_errors(h))
		fail_msg("%s: %u guest errors, the newest: %s", path, (unsigned)guest_errors(h),
		        h->last);
	assert_true(
	        reg_read(h, REG_CONFIG_MEMSIZE) == 8192 || reg_read(h, REG_CONFIG_MEMSIZE) == 4096);
	assert_true(reg_read(h, REG_BIOS_SCRATCH_7) & 0x200);
	atom_close(a);
	host_free(h);
}

static void real_images_post_the_card(void **state)
{
	glob_t found;

	(void)state;
	if (!vbios_images(&found))
		skip();
	for (size_t i = 0; i < found.gl_pathc; i++)
		post_real(found.gl_pathv[i]);
	globfree(&found);
}

/* A sequencer that never answers: ASIC_Init waits for as long as it may, and says for what. */
static void deaf_memory_is_named(void **state)
{
	static uint8_t flash[FLASH_BYTES];
	struct host *h = *state;
	char line[256];

	read_flash(h, flash);
	struct atom *a = interpreter(h, flash);

	atom_set_limits(a, &(struct atom_limits){.loop_ms = 50});
	vcard_inject(h->card, VCARD_FAULT_MC_DEAF, 1);
	assert_int_equal(atom_asic_init(a), -ETIMEDOUT);
	rx_log_last_error(line, sizeof(line));
	if (!strstr(line, "register 0xae7"))
		fail_msg("expected \"register 0xae7\", got: %s", line);
	assert_false(reg_read(h, REG_BIOS_SCRATCH_7) & 0x200);
	atom_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                the_synthetic_vbios_posts_the_card, cold_setup, host_teardown),
	        cmocka_unit_test(real_images_post_the_card),
	        cmocka_unit_test_setup_teardown(deaf_memory_is_named, cold_setup, host_teardown),
	};

	rx_log_set_stderr(false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
