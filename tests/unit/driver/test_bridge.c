/* test_bridge.c - RTL921x logic when things go wrong: identification, lock, lost link, timeouts,
 * the engine's slots. The far side is the virtual enclosure; a tap in front of it forges single
 * answers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/regs/regs.h"
#include "helper_pipe.h"

#define BAR5    0xE0040000u /* where this bridge's firmware puts it: bridge.md 2.14 */
#define BASE    0xF0000000u
#define SCRATCH REG_SCRATCH_REG0

/* One lie: the answer to the command (op, sub, address; -1 any). */
struct lie {
	int op, sub;
	int64_t addr;
	unsigned skip, times; /* let @skip matching answers pass, then lie @times times */
	int fail;             /* instead of data: this error */
	size_t at, len;       /* bytes to overwrite */
	uint8_t bytes[4];
};

struct liar {
	struct lie lie[4];
	size_t n;
	bool relock; /* turn the unlocking read into one that does not unlock, once */
};

static bool matches(const struct lie *l, const uint8_t *cdb)
{
	return (l->op < 0 || l->op == cdb[0]) && (l->sub < 0 || l->sub == cdb[4]) &&
	       (l->addr < 0 || l->addr == get_le32(cdb + 8));
}

static int forge(void *ctx, const uint8_t cbw[31], uint8_t *data, int n)
{
	struct liar *liar = ctx;

	if (n == 13 && !memcmp(data, "USBS", 4))
		return n;
	for (size_t i = 0; i < liar->n; i++) {
		struct lie *l = &liar->lie[i];

		if (!l->times || !matches(l, cbw + 15))
			continue;
		if (l->skip) {
			l->skip--;
			continue;
		}
		l->times--;
		if (l->fail)
			return l->fail;
		memcpy(data + l->at, l->bytes, l->len);
	}
	return n;
}

/* The cached mirror of the flash shows the same bytes but does not unlock E3: bridge.md 2.7. */
static void spoil_unlock(void *ctx, uint8_t cbw[31])
{
	struct liar *liar = ctx;

	if (liar->relock && cbw[15] == 0xE2 && cbw[19] == 0x92) {
		cbw[26] = 0x8C;
		liar->relock = false;
	}
}

static struct tap *tap_on(const char *card, struct liar *liar)
{
	struct tap *t = tap_open(card);

	t->on_in = forge;
	t->on_cbw = spoil_unlock;
	t->ctx = liar;
	tap_record(t, true);
	return t;
}

static struct tap *tap_with(struct liar *liar)
{
	return tap_on("threads=1,vram=512", liar);
}

static bool sent(const struct tap *t, uint8_t op)
{
	for (size_t i = 0; i < t->ncdb; i++)
		if (t->cdb[i][0] == op)
			return true;
	return false;
}

/* refused_by - the bridge must not be opened with this lie, and no E3 may have been sent. */
static void refused_by(struct lie lie, int code)
{
	const struct bridge_hooks none = {0};
	struct liar liar = {.lie = {lie}, .n = 1};
	struct tap *t = tap_with(&liar);
	struct bridge *b;
	struct scsi *s;

	assert_int_equal(scsi_bot_new(&s, &t->pipe), 0);
	assert_int_equal(bridge_open(&b, s, &none), code);
	assert_false(sent(t, 0xE3));
	scsi_free(s);
}

static void strangers_are_refused_before_any_write(void **state)
{
	(void)state;
	/* INQUIRY: an ASMedia; no disk at all */
	refused_by((struct lie){0x12, -1, -1, 0, 1, 0, 8, 4, {'A', 'S', 'M', 'T'}}, -ENOTSUP);
	refused_by((struct lie){0x12, -1, -1, 0, 1, 0, 0, 1, {0x05}}, -ENOTSUP);
	/* marker, IC version, flash magic, version words */
	refused_by((struct lie){0xE2, 0xA6, -1, 0, 1, 0, 0, 1, {0}}, -ENOTSUP);
	refused_by((struct lie){0xE2, 0x82, -1, 0, 1, 0, 0, 4, {1, 2, 3, 4}}, -ENOTSUP);
	refused_by((struct lie){0xE2, 0x92, -1, 0, 1, 0, 0, 4, {1, 2, 3, 4}}, -ENOTSUP);
	refused_by((struct lie){0xE2, 0xA5, -1, 0, 1, 0, 0, 1, {9}}, -ENOTSUP);
	/* nothing behind it; an NVMe disk; a card that does not answer */
	refused_by((struct lie){0xE2, 0xBB, -1, 0, 1, 0, 0, 1, {0xFF}}, -ENODEV);
	refused_by((struct lie){0xE2, 0xBB, -1, 0, 1, 0, 0, 1, {0x00}}, -ENODEV);
	refused_by((struct lie){0xE2, 0xB3, 0, 0, 1, 0, 0, 4, {0xFF, 0xFF, 0xFF, 0xFF}}, -ENODEV);
}

#define WARM "threads=1,vram=512"
#define COLD "cold,threads=1,vram=512"

/* card_refused_by - the whole bring-up must end with @code. */
static void card_refused_by(const char *card, struct lie lie, int code)
{
	const struct rx_options opt = {0};
	struct liar liar = {.lie = {lie}, .n = 1};
	struct rx580 *rx = NULL;

	assert_int_equal(rx_open_on(&rx, &tap_on(card, &liar)->pipe, &opt), code);
	assert_null(rx);
}

static void cards_that_cannot_work_are_refused(void **state)
{
	const int64_t regs = (int64_t)(uint32_t)(BAR5 - BASE);

	(void)state;
	/* another vendor, but the same one at every read of the canary */
	card_refused_by(WARM,
	        (struct lie){0xE2, 0xB3, 0, 0, 1000, 0, 0, 4, {0xDE, 0x10, 0x80, 0x1B}}, -ENODEV);
	/* the posted bit, and the memory's size, that do not come after ASIC_Init */
	card_refused_by(COLD,
	        (struct lie){0xE2, 0xB4, regs + REG_BIOS_SCRATCH_7, 0, 1000, 0, 0, 4, {0}}, -EIO);
	card_refused_by(COLD,
	        (struct lie){0xE2, 0xB4, regs + REG_CONFIG_MEMSIZE, 0, 1000, 0, 0, 4, {0}}, -EIO);
	/* VRAM that does not hold what was written: the read-back of the first test spot */
	card_refused_by(WARM, (struct lie){0xE2, 0xB4, 0, 1, 1000, 0, 0, 4, {1, 2, 3, 4}}, -EIO);
}

/* ---- an open bridge ---- */

struct open_bridge {
	struct liar liar;
	struct tap *tap;
	struct scsi *scsi;
	struct bridge *b;
};

static void open_up(struct open_bridge *o)
{
	const struct bridge_hooks none = {0};

	o->tap = tap_with(&o->liar);
	assert_int_equal(scsi_bot_new(&o->scsi, &o->tap->pipe), 0);
	assert_int_equal(bridge_open(&o->b, o->scsi, &none), 0);
	o->tap->ncdb = 0;
}

static uint64_t retries(struct open_bridge *o)
{
	struct bridge_info info;

	o->b->ops->read_info(o->b, &info);
	return info.retries;
}

static void lie_next(struct open_bridge *o, struct lie lie)
{
	o->liar.lie[0] = lie;
	o->liar.n = 1;
}

static void locked_bridge_is_unlocked_again(void **state)
{
	struct open_bridge o = {.liar = {.relock = true}};

	(void)state;
	open_up(&o);
	assert_int_equal(o.b->ops->cfg_write(o.b, 0x3C, 1, 0x0B), 0);
	assert_int_equal(o.tap->ncdb, 4); /* E3 refused, REQUEST SENSE, unlock, E3 */
	assert_int_equal(o.tap->cdb[0][0], 0xE3);
	assert_int_equal(o.tap->cdb[1][0], 0x03);
	assert_int_equal(o.tap->cdb[2][4], 0x92);
	assert_int_equal(o.tap->cdb[3][0], 0xE3);
	bridge_free(o.b);
}

static void harmless_reads_are_repeated_once(void **state)
{
	struct open_bridge o = {0};
	uint32_t value;

	(void)state;
	open_up(&o);
	lie_next(&o, (struct lie){0xE2, 0xB3, -1, 0, 1, -ETIMEDOUT, 0, 0, {0}});
	assert_int_equal(o.b->ops->cfg_read(o.b, 0, 4, &value), 0);
	assert_int_equal(value, 0x67DF1002);
	assert_int_equal(retries(&o), 1);
	bridge_free(o.b);
}

static void register_reads_and_writes_are_never_repeated(void **state)
{
	struct open_bridge o = {0};
	uint32_t value;

	(void)state;
	open_up(&o);
	lie_next(&o, (struct lie){0xE2, 0xB4, -1, 0, 1, -ETIMEDOUT, 0, 0, {0}});
	assert_int_equal(o.b->ops->mem_read32(o.b, BAR5 + REG_CONFIG_MEMSIZE, &value), -ETIMEDOUT);
	assert_int_equal(retries(&o), 0);
	assert_int_equal(o.b->ops->mem_read32(o.b, BAR5 + REG_CONFIG_MEMSIZE, &value), 0);
	assert_int_equal(value, 512);
	bridge_free(o.b);
}

static void port_reset_restores_the_bridge_state(void **state)
{
	struct open_bridge o = {0};
	uint32_t value;

	(void)state;
	open_up(&o);
	lie_next(&o, (struct lie){0xE2, 0xB4, -1, 0, 2, -ETIMEDOUT, 0, 0, {0}});
	assert_int_equal(o.b->ops->mem_read32(o.b, BAR5 + REG_CONFIG_MEMSIZE, &value), -ETIMEDOUT);
	assert_int_equal(o.b->ops->mem_read32(o.b, BAR5 + REG_CONFIG_MEMSIZE, &value), -ETIMEDOUT);
	o.tap->ncdb = 0;
	assert_int_equal(o.b->ops->mem_read32(o.b, BAR5 + REG_CONFIG_MEMSIZE, &value), 0);
	assert_int_equal(o.tap->ncdb, 3); /* unlock, BB, B4 */
	assert_int_equal(o.tap->cdb[0][4], 0x92);
	assert_int_equal(o.tap->cdb[1][4], 0xBB);
	bridge_free(o.b);
}

static void lost_link_is_noticed_by_the_canary(void **state)
{
	struct open_bridge o = {0};
	uint32_t value;
	int err = 0;

	(void)state;
	open_up(&o);
	lie_next(&o, (struct lie){0xE2, 0xB3, 0, 0, 1000, 0, 0, 4, {0xFF, 0xFF, 0xFF, 0xFF}});
	for (int i = 0; i < 300 && !err; i++)
		err = o.b->ops->mem_read32(o.b, BAR5 + REG_CONFIG_MEMSIZE, &value);
	assert_int_equal(err, -ENODEV);
	bridge_free(o.b);
}

static void write_scratch(struct open_bridge *o, uint32_t value)
{
	uint32_t back;

	assert_int_equal(o->b->ops->mem_write32(o->b, BAR5 + SCRATCH, value), 0);
	assert_int_equal(o->b->ops->mem_read32(o->b, BAR5 + SCRATCH, &back), 0);
	assert_int_equal(back, value);
}

/* tlp_behind_the_driver - somebody else's dword read of VRAM through the same bridge. */
static void tlp_behind_the_driver(struct open_bridge *o)
{
	static const uint8_t cdb[16] = {0xE2, 0, 0, 0, 0xB4, 0, 0, 0, 0, 0, 0x10, 0, 4};
	uint8_t data[4];

	assert_int_equal(scsi_exec(o->scsi, cdb, 16, SCSI_IN, data, 4, 1000, NULL), 4);
}

static void mispredicted_slot_falls_back_to_the_long_form(void **state)
{
	struct open_bridge o = {0};

	(void)state;
	open_up(&o);
	for (uint32_t i = 0; i < 8; i++) /* every slot gets to know its words */
		write_scratch(&o, i);
	o.tap->ncdb = 0;
	write_scratch(&o, 100);
	assert_int_equal(o.tap->ncdb, 4 + 1);
	/* once misread is once more read */
	lie_next(&o, (struct lie){0xE2, 0xA2, 0xB3310100, 0, 1, 0, 0, 1, {0x08}});
	write_scratch(&o, 150);
	o.tap->ncdb = 0;
	write_scratch(&o, 160);
	assert_int_equal(o.tap->ncdb, 4 + 1);
	tlp_behind_the_driver(&o);
	o.tap->ncdb = 0;
	write_scratch(&o, 200); /* looked at twice, then in the long form */
	assert_int_equal(o.tap->ncdb, 1 + 11 + 1);
	o.tap->ncdb = 0;
	write_scratch(&o, 300);
	assert_int_equal(o.tap->ncdb, 11 + 1);
	bridge_free(o.b);
}

static void slots_are_followed_through_other_traffic(void **state)
{
	struct open_bridge o = {0};
	uint8_t bytes[7] = {0};
	uint32_t value;

	(void)state;
	open_up(&o);
	for (uint32_t i = 0; i < 40; i++) {
		write_scratch(&o, i);
		assert_int_equal(o.b->ops->cfg_read(o.b, 0, i % 3 ? 2 : 4, &value), 0);
		assert_int_equal(o.b->ops->mem_write(o.b, BASE + 0x100000, bytes, 1 + i % 7), 0);
		assert_int_equal(o.b->ops->mem_read(o.b, BASE + 0x100000, bytes, 1 + i % 5), 0);
	}
	o.tap->ncdb = 0;
	write_scratch(&o, 1000);
	assert_true(o.tap->ncdb <= 11 + 1);
	bridge_free(o.b);
}

static void stuck_engine_times_out(void **state)
{
	struct open_bridge o = {0};

	(void)state;
	open_up(&o);
	lie_next(&o, (struct lie){0xE2, 0xA2, 0xB3310100, 0, UINT32_MAX, 0, 0, 1, {0x80}});
	assert_int_equal(o.b->ops->mem_write32(o.b, BAR5 + SCRATCH, 1), -ETIMEDOUT);
	bridge_free(o.b);
}

static void unreachable_addresses_and_odd_sizes_are_refused(void **state)
{
	struct open_bridge o = {0};
	uint32_t value;

	(void)state;
	open_up(&o);
	assert_int_equal(o.b->ops->mem_read32(o.b, 1ull << 32, &value), -EINVAL);
	assert_int_equal(o.b->ops->mem_read32(o.b, BAR5 + 2, &value), -EINVAL);
	assert_int_equal(o.b->ops->mem_write32(o.b, BAR5 + 1, 0), -EINVAL);
	assert_int_equal(o.b->ops->mem_read(o.b, 0xFFFFFFFF, &value, 2), -EINVAL);
	assert_int_equal(o.b->ops->cfg_read(o.b, 2, 4, &value), -EINVAL);
	assert_int_equal(o.b->ops->cfg_write(o.b, 0, 3, 0), -EINVAL);
	assert_int_equal(o.tap->ncdb, 0);
	bridge_free(o.b);
}

static void unplugged_card_is_gone_for_good(void **state)
{
	const struct rx_options opt = {0};
	struct tap *t = tap_open("threads=1,vram=512");
	struct rx580 *rx;
	struct rx_info info;
	uint8_t byte;

	(void)state;
	assert_int_equal(rx_open_on(&rx, &t->pipe, &opt), 0);
	t->unplugged = true;
	assert_int_equal(rx_vram_read(rx, 0, &byte, 1), -ENODEV);
	rx_read_info(rx, &info);
	assert_int_equal(info.state, RX_GONE);
	assert_int_equal(rx_vram_write(rx, 300u << 20, &byte, 1), -ENODEV);
	assert_int_equal(rx_reg_read(rx, 0, &(uint32_t){0}), -ENODEV);
	assert_int_equal(rx_reset_soft(rx), -ENODEV);
	rx_close(rx);
}

static void cards_we_do_not_have_are_named(void **state)
{
	static const struct {
		const char *card;
		int code;
	} cases[] = {{"usb:1234:5678", -ENODEV}, {"usb:0bda", -EINVAL}, {"usbx", -EINVAL},
	        {"sg:/dev/sg99", -ENODEV}, {"sg", -EINVAL}, {"tape", -EINVAL},
	        {"virtual,fast", -EINVAL}, {"virtual,threads=0", -EINVAL},
	        {"virtual,vram=1", -EINVAL}, {"virtual,vram=64x", -EINVAL}};
	struct rx580 *rx = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(
		        rx_open(&rx, &(struct rx_options){.card = cases[i].card}), cases[i].code);
	rx_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(strangers_are_refused_before_any_write),
	        cmocka_unit_test(cards_that_cannot_work_are_refused),
	        cmocka_unit_test(locked_bridge_is_unlocked_again),
	        cmocka_unit_test(harmless_reads_are_repeated_once),
	        cmocka_unit_test(register_reads_and_writes_are_never_repeated),
	        cmocka_unit_test(port_reset_restores_the_bridge_state),
	        cmocka_unit_test(lost_link_is_noticed_by_the_canary),
	        cmocka_unit_test(mispredicted_slot_falls_back_to_the_long_form),
	        cmocka_unit_test(slots_are_followed_through_other_traffic),
	        cmocka_unit_test(stuck_engine_times_out),
	        cmocka_unit_test(unreachable_addresses_and_odd_sizes_are_refused),
	        cmocka_unit_test(unplugged_card_is_gone_for_good),
	        cmocka_unit_test(cards_we_do_not_have_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
