/* test_fault_matrix.c - every fault of the cable in every phase of every kind of command: the right
 * errno, no write sent twice, everything works afterwards, and it was counted. Then what a flipped
 * bit does, bit by bit: what is noticed and what is not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/pci/pci.h"
#include "device/regs/regs.h"
#include "helper_fault.h"

#define BAR5    0xE0040000u /* where this bridge's firmware puts it: bridge.md 2.14 */
#define BASE    0xF0000000u
#define VRAM_AT 0x100000u
#define SCRATCH REG_SCRATCH_REG0
#define RUN     64 /* bytes of a bulk command */

/* ---- what may be broken: one command each of a call ---- */

enum kind {
	READ,    /* may be repeated */
	LOOK,    /* a register: may have side effects, so it is not */
	WRITE,   /* must not; the command is what changes the card */
	PREPARE, /* must not; the card is changed by a later command of the sequence */
	POLL,    /* may be repeated; the card was changed by an earlier command of the sequence */
};

struct command {
	const char *name;
	enum kind kind;
	int (*call)(struct bridge *b);
	struct fault_target target;
	bool slots_known; /* the engine's short form is in use */
};

static uint8_t pattern[RUN];

static int read_run(struct bridge *b)
{
	uint8_t got[RUN];

	return b->ops->mem_read(b, BASE + VRAM_AT, got, sizeof(got));
}

static int read_register(struct bridge *b)
{
	uint32_t value;

	return b->ops->mem_read32(b, BAR5 + SCRATCH, &value);
}

static int write_run(struct bridge *b)
{
	return b->ops->mem_write(b, BASE + VRAM_AT, pattern, sizeof(pattern));
}

static int write_config(struct bridge *b)
{
	return b->ops->cfg_write(b, 0x3C, 1, 0x0B); /* interrupt line: any value does */
}

static int write_register(struct bridge *b)
{
	return b->ops->mem_write32(b, BAR5 + SCRATCH, 0x600DF00D);
}

/* The engine's registers: bridge.md 2.11. Its long form writes w1 three times, the start is the
 * second. */
static const struct command commands[] = {
        {"VRAM read", READ, read_run, {0xE2, 0xB4, VRAM_AT, 0, 1, RUN, 0}, false},
        {"register read", LOOK, read_register, {0xE2, 0xB4, BAR5 - BASE + SCRATCH, 0, 1, 4, 0},
                false},
        {"engine: status, first of its sequence", READ, write_register,
                {0xE2, 0xA2, 0xB3310100, 0, 1, 4, 0}, false},
        {"engine: slot, after the trigger", POLL, write_register,
                {0xE2, 0xA2, 0xB3310114, 16, 4, 4, 0}, false},
        {"VRAM write", WRITE, write_run, {0xE3, 0x34, VRAM_AT, 0, 1, RUN, 0}, false},
        {"configuration write", WRITE, write_config, {0xE3, 0x33, 0x3C, 0, 1, 1, 0}, false},
        {"engine: type, first write of the long form", PREPARE, write_register,
                {0xE3, 0x23, 0xB3310110, 16, 4, 4, 0}, false},
        {"engine: address, first write of the short form", PREPARE, write_register,
                {0xE3, 0x23, 0xB3310118, 16, 4, 4, 0}, true},
        {"engine: trigger, long form", WRITE, write_register, {0xE3, 0x23, 0xB3310114, 16, 4, 4, 1},
                false},
        {"engine: trigger, short form", WRITE, write_register,
                {0xE3, 0x23, 0xB3310114, 16, 4, 4, 0}, true},
};

/* ---- what may happen, and how it must end ---- */

enum counted { NOTHING, TIMEOUTS, STALLS, SHORTS, OVERFLOWS, BAD_STATUS, STALE };

/* How a call ends, its command being of this kind; and whether a WRITE got to the card. A READ that
 * is repeated ends well, whatever happened to its first try. */
struct fault_case {
	const char *name;
	enum fault fault;
	enum phase where;
	int look, write;
	bool landed;
	enum counted counted;
	/* the last CSW was lost by a time-out, so this one is late; else it is a duplicate */
	bool late;
};

static const struct fault_case cases[] = {
        {"command lost", FAULT_LOST, PHASE_COMMAND, -ETIMEDOUT, -ETIMEDOUT, false, TIMEOUTS, false},
        {"command taken late", FAULT_UNACKED, PHASE_COMMAND, -ETIMEDOUT, -ETIMEDOUT, false,
                TIMEOUTS, false},
        {"command stalled", FAULT_STALL, PHASE_COMMAND, -EIO, -EIO, false, STALLS, false},
        {"command cut", FAULT_SHORT, PHASE_COMMAND, -EIO, -EIO, false, SHORTS, false},
        {"signature flipped", FAULT_FLIP, PHASE_COMMAND, -EIO, -EIO, false, STALLS, false},
        {"removed at command", FAULT_REMOVAL, PHASE_COMMAND, -ENODEV, -ENODEV, false, NOTHING,
                false},

        {"no data", FAULT_LOST, PHASE_DATA_IN, -ETIMEDOUT, 0, false, TIMEOUTS, false},
        {"data lost", FAULT_UNACKED, PHASE_DATA_IN, -ETIMEDOUT, 0, false, TIMEOUTS, false},
        {"data stalled", FAULT_STALL, PHASE_DATA_IN, -EIO, 0, false, STALLS, false},
        {"data cut", FAULT_SHORT, PHASE_DATA_IN, -EIO, 0, false, SHORTS, false},
        {"duplicate status before data", FAULT_EXTRA_CSW, PHASE_DATA_IN, -EIO, 0, false, OVERFLOWS,
                false},
        {"late status before data", FAULT_EXTRA_CSW, PHASE_DATA_IN, -EIO, 0, false, OVERFLOWS,
                true},
        {"removed at data", FAULT_REMOVAL, PHASE_DATA_IN, -ENODEV, 0, false, NOTHING, false},

        {"data not taken", FAULT_LOST, PHASE_DATA_OUT, 0, -ETIMEDOUT, false, TIMEOUTS, false},
        {"data taken late", FAULT_UNACKED, PHASE_DATA_OUT, 0, -ETIMEDOUT, true, TIMEOUTS, false},
        {"data refused", FAULT_STALL, PHASE_DATA_OUT, 0, -EIO, false, STALLS, false},
        {"data cut", FAULT_SHORT, PHASE_DATA_OUT, 0, -EIO, false, BAD_STATUS, false},
        {"removed at data", FAULT_REMOVAL, PHASE_DATA_OUT, 0, -ENODEV, false, NOTHING, false},

        {"no status", FAULT_LOST, PHASE_STATUS, -ETIMEDOUT, -ETIMEDOUT, true, TIMEOUTS, false},
        {"status lost", FAULT_UNACKED, PHASE_STATUS, -ETIMEDOUT, -ETIMEDOUT, true, TIMEOUTS, false},
        {"status stalled", FAULT_STALL, PHASE_STATUS, 0, 0, true, STALLS, false},
        {"status cut", FAULT_SHORT, PHASE_STATUS, -EIO, -EIO, true, SHORTS, false},
        {"good status flipped to failed", FAULT_FLIP, PHASE_STATUS, -EIO, -EIO, true, BAD_STATUS,
                false},
        {"duplicate status before status", FAULT_EXTRA_CSW, PHASE_STATUS, 0, 0, true, STALE, false},
        {"late status before status", FAULT_EXTRA_CSW, PHASE_STATUS, 0, 0, true, STALE, true},
        {"removed at status", FAULT_REMOVAL, PHASE_STATUS, -ENODEV, -ENODEV, true, NOTHING, false},
};

/* Combinations that do not exist, so that nobody looks for them above:
 * - a flipped bit of status in the command or a data phase: no status is under way;
 * - a duplicate or late status in the command phase or data out: nothing is read then, the next
 * data in or status phase meets it;
 * - data in of a write and the engine's trigger, data out of a read: the direction is the opcode's;
 * - a flipped bit of data in data in or out: Bulk-Only Transport cannot see it. See the tests below
 *   the matrix.
 */
static bool possible(const struct command *c, const struct fault_case *f)
{
	bool write = c->kind == WRITE || c->kind == PREPARE;

	return f->where != (write ? PHASE_DATA_IN : PHASE_DATA_OUT);
}

/* ---- one combination ---- */

struct bench {
	struct fault_line line;
	struct scsi *scsi;
	struct bridge *b;
};

static const struct command *now_command;
static const struct fault_case *now_case;
static bool now_worst;

#define CHECK(got, want, what)                                                                     \
	do {                                                                                       \
		long long got_ = (long long)(got), want_ = (long long)(want);                      \
		if (got_ != want_)                                                                 \
			fail_msg("%s, %s%s: expected %s %lld, got %lld", now_command->name,        \
			        now_case->name, now_worst ? ", class reset fails" : "", what,      \
			        want_, got_);                                                      \
	} while (0)

static void bench_open(struct bench *t)
{
	const struct bridge_hooks none = {0};

	fault_open(&t->line);
	assert_int_equal(scsi_bot_new(&t->scsi, &t->line.tap->pipe), 0);
	assert_int_equal(bridge_open(&t->b, t->scsi, &none), 0);
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(0x5A ^ 3 * i);
}

static struct scsi_counters counters(struct bench *t)
{
	struct scsi_counters c;

	scsi_read_counters(t->scsi, &c);
	return c;
}

static uint64_t count_of(const struct scsi_counters *c, enum counted what)
{
	const uint64_t all[] = {[NOTHING] = 0,
	        [TIMEOUTS] = c->timeouts,
	        [STALLS] = c->stalls,
	        [SHORTS] = c->shorts,
	        [OVERFLOWS] = c->overflows,
	        [BAD_STATUS] = c->bad_status,
	        [STALE] = c->stale_status};

	return all[what];
}

static int expected_result(void)
{
	int removed = now_case->fault == FAULT_REMOVAL ? -ENODEV : 0;

	switch (now_command->kind) {
	case READ:
	case POLL: return removed;
	case LOOK: return now_case->look;
	default: return now_case->write;
	}
}

/* check_tlps - what the card got from one call: every byte of a bulk command is one
 * (bridge.md 2.10). */
static void check_tlps(uint64_t got, int result)
{
	const struct command *c = now_command;

	if (c->kind == LOOK)
		CHECK(got <= 1, true, "at most one TLP");
	else if (c->call == read_run)
		CHECK(got <= 2 * RUN, true, "at most one repetition");
	else if (c->kind != WRITE) /* of the sequence around it */
		CHECK(got, result == 0 || c->kind == POLL, "TLPs");
	else
		CHECK(got, !now_case->landed ? 0 : c->call == write_run ? RUN : 1, "TLPs");
}

/* lose_a_status - a register read times out in its status phase; its CSW is kept for later. */
static void lose_a_status(struct bench *t)
{
	fault_arm(&t->line, FAULT_UNACKED, PHASE_STATUS, &commands[1].target);
	assert_int_equal(read_register(t->b), -ETIMEDOUT);
}

/* works_again - reads and writes of all kinds, and the engine through all of its slots, with a
 * configuration read among them, which leaves other words in a slot. */
static void works_again(struct bench *t)
{
	uint8_t got[RUN] = {0};
	uint32_t value = 0;

	CHECK(t->b->ops->cfg_write(t->b, 0x3C, 1, 0x42), 0, "a following configuration write");
	CHECK(t->b->ops->cfg_read(t->b, 0x3C, 1, &value), 0, "a following configuration read");
	CHECK(value, 0x42, "interrupt line");
	CHECK(write_run(t->b), 0, "a following VRAM write");
	CHECK(t->b->ops->mem_read(t->b, BASE + VRAM_AT, got, sizeof(got)), 0, "a VRAM read");
	CHECK(memcmp(got, pattern, sizeof(got)), 0, "difference of the bytes");
	for (uint32_t i = 0; i < 10; i++) {
		CHECK(t->b->ops->mem_write32(t->b, BAR5 + SCRATCH, i), 0, "a register write");
		CHECK(t->b->ops->mem_read32(t->b, BAR5 + SCRATCH, &value), 0, "a register read");
		CHECK(value, i, "register");
	}
	CHECK(t->b->ops->heartbeat(t->b), 0, "heartbeat");
	CHECK(t->line.locked, false, "lock");
}

static void still_gone(struct bench *t)
{
	CHECK(read_run(t->b), -ENODEV, "a following read");
	CHECK(write_run(t->b), -ENODEV, "a following write");
	CHECK(write_register(t->b), -ENODEV, "a following register write");
}

static void check_counters(const struct scsi_counters *before, const struct scsi_counters *after)
{
	if (now_case->counted != NOTHING &&
	        count_of(after, now_case->counted) <= count_of(before, now_case->counted))
		fail_msg("%s, %s: not counted", now_command->name, now_case->name);
	if (now_worst && after->recoveries > before->recoveries)
		CHECK(after->resets > before->resets, true,
		        "port reset after a failed class reset");
}

/* prepare - the engine as the command needs it: known slots make the short form, and the long form
 * of four writes makes known slots. */
static void prepare(struct bench *t)
{
	rtl_engine_forget(&((struct rtl921x *)t->b)->engine);
	for (int i = 0; i < 4 && now_command->slots_known; i++)
		assert_int_equal(write_register(t->b), 0);
	if (now_case->late)
		lose_a_status(t);
}

static void run_one(struct bench *t)
{
	prepare(t);
	struct scsi_counters before = counters(t), after;
	uint64_t tlps = fault_tlps(&t->line);
	int want = expected_result();

	t->line.flip_bit = now_case->where == PHASE_STATUS ? 12 * 8 : 0;
	t->line.class_reset_fails = now_worst;
	fault_arm(&t->line, now_case->fault, now_case->where, &now_command->target);
	CHECK(now_command->call(t->b), want, "result");
	CHECK(t->line.armed, false, "fault still to come");
	check_tlps(fault_tlps(&t->line) - tlps, want);
	after = counters(t);
	check_counters(&before, &after);
	t->line.class_reset_fails = false;
	if (now_case->fault == FAULT_REMOVAL)
		still_gone(t);
	else
		works_again(t);
}

/* All on one bridge, but for removals. */
static void run_all(bool worst)
{
	struct bench t;

	now_worst = worst;
	bench_open(&t);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		for (size_t j = 0; j < ARRAY_SIZE(cases); j++) {
			now_command = &commands[i];
			now_case = &cases[j];
			if (possible(now_command, now_case))
				run_one(&t);
			if (t.line.tap->unplugged) {
				bridge_free(t.b);
				bench_open(&t);
			}
		}
	bridge_free(t.b);
}

static void every_fault_in_every_phase_of_every_command(void **state)
{
	(void)state;
	run_all(false);
}

/* The class reset fails, the port reset loses the unlocking of E3. */
static void the_same_when_it_takes_a_port_reset(void **state)
{
	(void)state;
	run_all(true);
}

/* ---- a flipped bit, bit by bit ---- */

static const struct command *const vram_write = &commands[4];

/* landed_right - what the driver says is true: the bytes are where they should be. */
static bool landed_right(struct bench *t)
{
	uint8_t got[RUN];

	assert_int_equal(t->b->ops->mem_read(t->b, BASE + VRAM_AT, got, sizeof(got)), 0);
	return !memcmp(got, pattern, sizeof(got));
}

/* flipped_write - a VRAM write with one bit flipped on its way. Return: its result; @right: whether
 * the bytes are there. */
static int flipped_write(struct bench *t, enum phase where, unsigned bit, bool *right)
{
	static const uint8_t old[RUN];

	assert_int_equal(t->b->ops->mem_write(t->b, BASE + VRAM_AT, old, sizeof(old)), 0);
	t->line.flip_bit = bit;
	uint64_t tlps = fault_tlps(&t->line);

	fault_arm(&t->line, FAULT_FLIP, where, &vram_write->target);
	int err = write_run(t->b);

	if (fault_tlps(&t->line) - tlps > RUN)
		fail_msg("phase %d, bit %u: the write was sent twice", (int)where, bit);
	assert_false(t->line.armed);
	*right = landed_right(t);
	assert_int_equal(write_run(t->b), 0);
	assert_true(landed_right(t));
	return err;
}

/* Of the command block everything is noticed but the address (bytes 8 to 11 of the CDB, 23 to 26 of
 * the block): one address is as good as another. The USB CRC is all that protects it. */
static void flipped_command_is_noticed_unless_it_is_in_the_address(void **state)
{
	struct bench t;

	(void)state;
	bench_open(&t);
	for (unsigned bit = 0; bit < 31 * 8; bit++) {
		bool right, address = bit / 8 >= 23 && bit / 8 <= 26;
		int err = flipped_write(&t, PHASE_COMMAND, bit, &right);

		if ((err == 0 && !right) != address)
			fail_msg("byte %u, bit %u: result %d, bytes %s", bit / 8, bit % 8, err,
			        right ? "right" : "wrong");
	}
	bridge_free(t.b);
}

/* A good status never survives a flipped bit, and what is reported as failed is not sent again. */
static void flipped_status_is_always_noticed(void **state)
{
	struct bench t;

	(void)state;
	bench_open(&t);
	for (unsigned bit = 0; bit < 13 * 8; bit++) {
		bool right;
		int err = flipped_write(&t, PHASE_STATUS, bit, &right);

		if (err >= 0 || !right)
			fail_msg(
			        "byte %u, bit %u: expected an error and the bytes in VRAM, got %d, "
			        "bytes %s",
			        bit / 8, bit % 8, err, right ? "right" : "wrong");
	}
	bridge_free(t.b);
}

/* Data has no check of its own above USB's. */
static void flipped_data_is_not_noticed_by_the_transport(void **state)
{
	bool right;
	uint8_t got[RUN];
	struct bench t;

	(void)state;
	bench_open(&t);
	assert_int_equal(flipped_write(&t, PHASE_DATA_OUT, 77, &right), 0);
	assert_false(right);
	t.line.flip_bit = 77;
	fault_arm(&t.line, FAULT_FLIP, PHASE_DATA_IN, &commands[0].target);
	assert_int_equal(t.b->ops->mem_read(t.b, BASE + VRAM_AT, got, sizeof(got)), 0);
	assert_int_equal(got[77 / 8] ^ pattern[77 / 8], 1 << 77 % 8);
	bridge_free(t.b);
}

/* What everything else depends on is read back: where a BAR is. */
static void flipped_data_of_a_moved_bar_is_noticed(void **state)
{
	static const struct fault_target bar5 = {0xE3, 0x33, 0x26, 0, 1, 2, 0}; /* upper half */
	struct pci *pci;
	struct bench t;

	(void)state;
	bench_open(&t);
	assert_int_equal(pci_new(&pci, t.b), 0);
	assert_int_equal(pci_start(pci), 0);
	t.line.flip_bit = 8;
	fault_arm(&t.line, FAULT_FLIP, PHASE_DATA_OUT, &bar5);
	assert_int_equal(pci_move_bar(pci, PCI_BAR_REGISTERS, 0xA3200000), -EIO);
	assert_int_equal(pci_move_bar(pci, PCI_BAR_REGISTERS, 0xA3200000), 0);
	pci_free(pci);
	bridge_free(t.b);
}

/* The canary is asked again before a card is given up. */
static void flipped_canary_is_asked_again(void **state)
{
	static const struct fault_target id = {0xE2, 0xB3, 0, 0, 1, 4, 0};
	struct bench t;

	(void)state;
	bench_open(&t);
	fault_arm(&t.line, FAULT_FLIP, PHASE_DATA_IN, &id);
	assert_int_equal(t.b->ops->heartbeat(t.b), 0);
	assert_false(t.line.armed);
	bridge_free(t.b);
}

/* A misread status of the engine neither loses the register write nor the short form. */
static void flipped_slot_is_looked_at_again(void **state)
{
	struct bench t;
	uint32_t value;

	(void)state;
	bench_open(&t);
	for (int i = 0; i < 4; i++)
		assert_int_equal(write_register(t.b), 0);
	for (unsigned bit = 3; bit <= 4; bit++) {
		t.line.flip_bit = bit;
		fault_arm(&t.line, FAULT_FLIP, PHASE_DATA_IN, &commands[2].target);
		assert_int_equal(t.b->ops->mem_write32(t.b, BAR5 + SCRATCH, bit), 0);
		assert_int_equal(t.b->ops->mem_read32(t.b, BAR5 + SCRATCH, &value), 0);
		assert_int_equal(value, bit);
	}
	assert_false(((struct rtl921x *)t.b)->engine.literal_only);
	bridge_free(t.b);
}

/* ---- the whole card ---- */

static void check_card(struct rx580 *rx, int want, enum rx_state state_after)
{
	struct rx_info info;
	uint32_t value;

	assert_int_equal(rx_reg_read(rx, SCRATCH, &value), want);
	rx_read_info(rx, &info);
	assert_int_equal(info.state, state_after);
}

/* A time-out of the cable is counted and over; a removed bridge is gone for good. */
static void card_stays_ready_through_a_fault_and_is_gone_after_removal(void **state)
{
	const struct rx_options opt = {0};
	struct fault_line line;
	struct rx_info info;
	struct rx580 *rx;

	(void)state;
	fault_open(&line);
	assert_int_equal(rx_open_on(&rx, &line.tap->pipe, &opt), 0);
	fault_arm(&line, FAULT_LOST, PHASE_STATUS, &commands[1].target);
	check_card(rx, -ETIMEDOUT, RX_READY);
	fault_arm(&line, FAULT_SHORT, PHASE_STATUS, &commands[1].target);
	check_card(rx, -EIO, RX_READY);
	check_card(rx, 0, RX_READY);
	rx_read_info(rx, &info);
	assert_int_equal(info.link_timeouts, 1);
	assert_int_equal(info.link_shorts, 1);
	assert_int_equal(info.recoveries, 1);
	assert_int_equal(info.port_resets, 1); /* the second failure in a row */
	fault_arm(&line, FAULT_REMOVAL, PHASE_STATUS, &commands[1].target);
	check_card(rx, -ENODEV, RX_GONE);
	assert_int_equal(rx_reg_write(rx, SCRATCH, 1), -ENODEV);
	rx_close(rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_fault_in_every_phase_of_every_command),
	        cmocka_unit_test(the_same_when_it_takes_a_port_reset),
	        cmocka_unit_test(flipped_command_is_noticed_unless_it_is_in_the_address),
	        cmocka_unit_test(flipped_status_is_always_noticed),
	        cmocka_unit_test(flipped_data_is_not_noticed_by_the_transport),
	        cmocka_unit_test(flipped_data_of_a_moved_bar_is_noticed),
	        cmocka_unit_test(flipped_canary_is_asked_again),
	        cmocka_unit_test(flipped_slot_is_looked_at_again),
	        cmocka_unit_test(card_stays_ready_through_a_fault_and_is_gone_after_removal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
