/* test_bring_up.c - the whole driver against the virtual enclosure: no guest error may happen on
 * the way. */
#include <string.h>

#include "device/bytes.h"
#include <errno.h>
#include <stdio.h>

#include "device/core/rx580_priv.h"
#include "device/regs/regs.h"
#include "helper_card.h"
#include "helper_pipe.h"

static void opens_and_is_ready(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,threads=1,vram=512", NULL, NULL);
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

static void every_size_of_vram_comes_up(void **state)
{
	static const struct {
		const char *card;
		uint64_t total, window;
	} cases[] = {{"virtual,posted", 8ull << 30, 256ull << 20},
	        {"virtual,posted,vram=64", 64ull << 20, 64ull << 20},
	        {"virtual,posted,vram=4096", 4ull << 30, 256ull << 20}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rx580 *rx = helper_open(cases[i].card, NULL, NULL);
		struct rx_info info;
		uint8_t bytes[8] = {0};

		rx_read_info(rx, &info);
		assert_int_equal(info.vram_total, cases[i].total);
		assert_int_equal(info.vram_window, cases[i].window);
		assert_int_equal(rx_vram_write(rx, cases[i].total - 8, "the end", 8), 0);
		assert_int_equal(rx_vram_read(rx, cases[i].total - 8, bytes, 8), 0);
		assert_string_equal((char *)bytes, "the end");
		helper_close_clean(rx);
	}
}

/* The synthetic VBIOS names tables for the EDC controller; the card's fuses are 0: little leakage.
 */
static void edc_controller_has_the_values_of_the_vbios(void **state)
{
	struct rx580 *rx = helper_open("virtual,cold,threads=1,vram=512", NULL, NULL);
	struct vbios_gfx_info gfx;
	uint32_t want[VBIOS_EDC_REGISTERS], got;

	(void)state;
	assert_int_equal(vbios_gfx_info(&rx->rom, &gfx), 0);
	assert_int_equal(vbios_edc(&rx->rom, &gfx, 0, want), 0);
	assert_int_equal(reg_write(&rx->mmio, REG_DIDT_IND_INDEX, 0x15), 0); /* the first: SQ */
	assert_int_equal(reg_read(&rx->mmio, REG_DIDT_IND_DATA, &got), 0);
	assert_int_equal(got, want[0]);
	assert_int_equal(reg_write(&rx->mmio, REG_DIDT_IND_INDEX, 0x33), 0); /* the last: DB */
	assert_int_equal(reg_read(&rx->mmio, REG_DIDT_IND_DATA, &got), 0);
	assert_int_equal(got, want[VBIOS_EDC_REGISTERS - 1]);
	helper_close_clean(rx);
}

static void vbios_is_read_once_and_kept(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,vram=512", NULL, NULL);
	size_t len;
	const uint8_t *bios = rx_bios(rx, &len);

	(void)state;
	assert_non_null(bios);
	assert_int_equal(len, bios[2] * 512u); /* polaris.md 2.1 */
	assert_int_equal(get_le16(bios), 0xAA55);
	assert_memory_equal(bios + 0x30, " 761295520", 10);
	assert_memory_equal(bios + get_le16(bios + 0x48) + 4, "ATOM", 4);
	helper_close_clean(rx);
}

static void bring_up_stays_within_its_budget_on_the_wire(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,vram=512", NULL, NULL);
	struct rx_info info;

	(void)state;
	rx_read_info(rx, &info);
	assert_true(info.has_model);
	assert_int_equal(info.commands, info.model_commands);
	assert_in_range(info.model_commands, 100, 5000);
	assert_in_range(info.model_ns, 100000000, 2000000000); /* 2 s, power management included */
	helper_close_clean(rx);
}

struct steps {
	unsigned n;
	int last_err;
	uint64_t commands, model_ns;
	char last[64];
};

static void count_step(void *ctx, const struct rx_step *step)
{
	struct steps *s = ctx;

	s->n++;
	s->commands += step->commands;
	s->model_ns += step->model_ns;
	s->last_err = step->err;
	snprintf(s->last, sizeof(s->last), "%s", step->name);
}

static void steps_account_for_every_command_of_the_bring_up(void **state)
{
	struct steps s = {0};
	const struct rx_options opt = {
	        .card = "virtual,posted,vram=512", .on_step = count_step, .on_step_ctx = &s};
	struct rx580 *rx;
	struct rx_info info;

	(void)state;
	assert_int_equal(rx_open(&rx, &opt), 0);
	rx_read_info(rx, &info);
	assert_in_range(s.n, 7, 40);
	assert_int_equal(s.last_err, 0);
	assert_int_equal(s.commands, info.commands);
	assert_int_equal(s.model_ns, info.model_ns);
	helper_close_clean(rx);
}

static void step_that_fails_is_the_last_one_reported(void **state)
{
	struct steps s = {0};
	const struct rx_options opt = {
	        .card = "virtual,posted,unpowered", .on_step = count_step, .on_step_ctx = &s};
	struct rx580 *rx;

	(void)state;
	assert_int_equal(rx_open(&rx, &opt), -ENODEV);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.last_err, -ENODEV);
	assert_string_equal(s.last, "bridge: identify, unlock");
}

/* A card whose write pointer does not follow MMIO: the tap sends the one such write of the probe
 * elsewhere. */
static void divert_grant(void *ctx, const uint8_t cbw[31], uint8_t *data, size_t len)
{
	unsigned *seen = ctx;
	uint32_t wptr = 0xE0040000 + REG_CP_HQD_PQ_WPTR; /* BAR5: bridge.md 2.14 */

	/* the address word of an engine slot; the first such write presets the pointer at
	 * activation */
	if (cbw[15] == 0xE3 && cbw[19] == 0x23 && len == 4 && get_le32(data) == wptr &&
	        ++*seen == 2)
		put_le32(data, 0xE0040000 + REG_SCRATCH_REG0 + 4);
}

static void card_without_mmio_write_pointer_is_served_by_reactivation(void **state)
{
	const struct rx_options opt = {0};
	struct tap *t = tap_open("threads=1,vram=512");
	unsigned seen = 0;
	struct rx580 *rx;
	struct rx_info info;
	uint8_t bytes[4] = {0};

	(void)state;
	t->on_out = divert_grant;
	t->ctx = &seen;
	assert_int_equal(rx_open_on(&rx, &t->pipe, &opt), 0);
	rx_read_info(rx, &info);
	assert_false(info.ability_mmio_wptr);
	for (uint32_t i = 1; i <= 5; i++) {
		assert_int_equal(rx_vram_fill(rx, 300ull << 20, i, 1 << 20), 0);
		assert_int_equal(rx_vram_read(rx, (301ull << 20) - 4, bytes, 4), 0);
		assert_int_equal(get_le32(bytes), i);
	}
	helper_close_clean(rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(opens_and_is_ready),
	        cmocka_unit_test(every_size_of_vram_comes_up),
	        cmocka_unit_test(edc_controller_has_the_values_of_the_vbios),
	        cmocka_unit_test(vbios_is_read_once_and_kept),
	        cmocka_unit_test(bring_up_stays_within_its_budget_on_the_wire),
	        cmocka_unit_test(steps_account_for_every_command_of_the_bring_up),
	        cmocka_unit_test(step_that_fails_is_the_last_one_reported),
	        cmocka_unit_test(card_without_mmio_write_pointer_is_served_by_reactivation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
