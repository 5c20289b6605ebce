/* Injected faults on alternate setting 1, seen by an initiator that checks every IU as Linux's uas
 * does: it notices each of them and what the next command needs (bridge.md 1.5, 5.5).
 */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_card.h"
#include "tests/unit/enclosure/helper_host.h"

enum { COMMAND = 1, SENSE = 3, RESPONSE = 4, TASK = 5, READ_READY = 6, WRITE_READY = 7 };
enum { COMMAND_PIPE = 0x04, STATUS_PIPE = 0x83, DATA_IN = 0x81, DATA_OUT = 0x02 };
#define ABORT_TASK  1
#define SENSE_BYTES 16
#define TRIES       8 /* IUs fetched for one command: three at most without a fault */

static const uint8_t sync[16] = {0x35};
static const uint8_t unlock[16] = {0xE2, [4] = 0x92, [9] = 0x40, [11] = 0xAC, [12] = 0x60};
/* bridge.md 2.2: E3/23 and E2/A2 of data SRAM */
static const uint8_t sram_write[16] = {0xE3, [4] = 0x23, [10] = 0x20, [11] = 0xB3, [12] = 4};
static const uint8_t sram_read[16] = {0xE2, [4] = 0xA2, [10] = 0x20, [11] = 0xB3, [12] = 4};

struct initiator {
	struct venc *e;
	uint16_t tag;
};

/* How one command went. */
struct ending {
	int err; /* 0; -EIO CHECK CONDITION; -EPROTO an IU that cannot be; -EBADMSG one of a command
	            nobody sent; -ETIMEDOUT no status */
	int data;                   /* bytes moved, or -errno of the data pipe */
	unsigned data_halts, halts; /* cleared: of the data pipe, of the status pipe */
	uint8_t key, asc;
};

static int clear_halt(struct initiator *i, uint8_t endpoint)
{
	return host_clear_halt(i->e, endpoint);
}

static void move_data(struct initiator *i, bool in, void *data, size_t len, struct ending *end)
{
	uint8_t pipe = in ? DATA_IN : DATA_OUT;

	end->data = in ? venc_pipe_in(i->e, pipe, data, len) : venc_pipe_out(i->e, pipe, data, len);
	if (end->data != -EPIPE)
		return;
	end->data_halts++;
	assert_int_equal(clear_halt(i, pipe), 0);
}

static int read_sense(const uint8_t *iu, size_t size, struct ending *end)
{
	if (size < SENSE_BYTES || get_be16(iu + 14) > size - SENSE_BYTES)
		return -EPROTO;
	if (!iu[6])
		return 0;
	if (get_be16(iu + 14) < 14)
		return -EPROTO;
	end->key = iu[18] & 0xF;
	end->asc = iu[28];
	return -EIO;
}

/* One IU. Return: 1 there is more to come; else as ending.err. */
static int take_iu(struct initiator *i, void *data, size_t len, struct ending *end)
{
	uint8_t iu[64];
	int n = venc_pipe_in(i->e, STATUS_PIPE, iu, sizeof(iu));

	if (n == -EPIPE) {
		end->halts++;
		assert_int_equal(clear_halt(i, STATUS_PIPE), 0);
		return 1;
	}
	if (n < 4)
		return n < 0 ? n : -EPROTO;
	if (get_be16(iu + 2) != i->tag)
		return -EBADMSG;
	if (iu[0] == SENSE)
		return read_sense(iu, (size_t)n, end);
	if (iu[0] != READ_READY && iu[0] != WRITE_READY)
		return -EPROTO;
	move_data(i, iu[0] == READ_READY, data, len, end);
	return 1;
}

static struct ending execute(struct initiator *i, const uint8_t cdb[16], void *data, size_t len)
{
	uint8_t iu[32] = {COMMAND};
	struct ending end = {.err = 1};

	i->tag++;
	put_be16(iu + 2, i->tag);
	memcpy(iu + 16, cdb, 16);
	assert_int_equal(venc_pipe_out(i->e, COMMAND_PIPE, iu, sizeof(iu)), sizeof(iu));
	for (int n = 0; n < TRIES && end.err == 1; n++)
		end.err = take_iu(i, data, len, &end);
	return end;
}

/* abort_last - of whatever went before; the bridge confirms it, and says nothing more. */
static void abort_last(struct initiator *i)
{
	uint8_t iu[64] = {TASK, [4] = ABORT_TASK};
	uint16_t aborted = i->tag++;

	put_be16(iu + 2, i->tag);
	put_be16(iu + 6, aborted);
	assert_int_equal(venc_pipe_out(i->e, COMMAND_PIPE, iu, 16), 16);
	assert_int_equal(venc_pipe_in(i->e, STATUS_PIPE, iu, sizeof(iu)), 8);
	assert_int_equal(iu[0], RESPONSE);
	assert_int_equal(get_be16(iu + 2), i->tag);
	assert_int_equal(iu[7], 0);
	assert_int_equal(venc_pipe_in(i->e, STATUS_PIPE, iu, sizeof(iu)), -ETIMEDOUT);
}

static void want_good(const char *what, struct ending got, int data)
{
	if (got.err || got.data != data || got.halts || got.data_halts)
		fail_msg("%s: expected 0, data %d, no halts, got %d, data %d, %u and %u halts",
		        what, data, got.err, got.data, got.halts, got.data_halts);
}

static void start(struct initiator *i)
{
	uint8_t header[0x60];

	*i = (struct initiator){.e = host_new()};
	assert_int_equal(venc_control(i->e, 0x01, 11, 1, 0, NULL, 0), 0);
	want_good("unlock", execute(i, unlock, header, sizeof(header)), sizeof(header));
}

/* ends - one command with a fault; the next one is as if nothing had been. */
static void ends(
        enum venc_fault fault, const char *what, const uint8_t cdb[16], int len, struct ending want)
{
	uint8_t data[4] = {0x11, 0x22, 0x33, 0x44};
	struct initiator i;

	start(&i);
	venc_inject(i.e, fault, 1);
	struct ending got = execute(&i, cdb, data, (size_t)len);

	if (got.err != want.err || got.data != want.data || got.key != want.key ||
	        got.asc != want.asc || got.halts != want.halts || got.data_halts != want.data_halts)
		fail_msg("%s: expected %d, data %d, sense %x/%02x, %u status and %u data halts, "
		         "got %d, data %d, sense %x/%02x, %u and %u",
		        what, want.err, want.data, want.key, want.asc, want.halts, want.data_halts,
		        got.err, got.data, got.key, got.asc, got.halts, got.data_halts);
	if (got.err && got.err != -EIO)
		abort_last(&i);
	want_good(what, execute(&i, cdb, data, (size_t)len), len);
	assert_int_equal(own_guest_errors(i.e), 0);
	venc_free(i.e);
}

/* each_way - a command without data, one that reads, one that writes. */
static void each_way(enum venc_fault fault, struct ending want)
{
	ends(fault, "no data", sync, 0, want);
	want.data = 4;
	ends(fault, "data in", sram_read, 4, want);
	ends(fault, "data out", sram_write, 4, want);
}

static void a_halted_status_pipe_delays_the_status_until_it_is_cleared(void **state)
{
	(void)state;
	each_way(VENC_FAULT_CSW_STALL, (struct ending){.halts = 1});
}

static void a_status_with_another_tag_is_of_no_command(void **state)
{
	(void)state;
	each_way(VENC_FAULT_CSW_TAG, (struct ending){.err = -EBADMSG});
}

static void a_sense_iu_cut_short_is_a_protocol_error(void **state)
{
	(void)state;
	each_way(VENC_FAULT_CSW_SHORT, (struct ending){.err = -EPROTO});
}

static void a_phase_error_is_sense_data_after_the_data(void **state)
{
	(void)state;
	each_way(VENC_FAULT_PHASE_ERROR, (struct ending){.err = -EIO, .key = 0xB, .asc = 0x4B});
}

static void a_status_that_never_comes_ends_with_an_abortion(void **state)
{
	(void)state;
	each_way(VENC_FAULT_TIMEOUT, (struct ending){.err = -ETIMEDOUT});
}

static void a_halted_data_pipe_moves_nothing_and_ends_in_sense_data(void **state)
{
	const struct ending want = {
	        .err = -EIO, .data = -EPIPE, .data_halts = 1, .key = 5, .asc = 0x20};

	(void)state;
	ends(VENC_FAULT_DATA_STALL, "data in", sram_read, 4, want);
	ends(VENC_FAULT_DATA_STALL, "data out", sram_write, 4, want);
}

static void a_command_without_data_leaves_the_data_stall_to_the_next(void **state)
{
	uint8_t data[4];
	struct initiator i;

	(void)state;
	start(&i);
	venc_inject(i.e, VENC_FAULT_DATA_STALL, 1);
	want_good("no data", execute(&i, sync, NULL, 0), 0);
	assert_int_equal(execute(&i, sram_read, data, 4).data, -EPIPE);
	venc_free(i.e);
}

/* @executed: whether the write whose status was lost has happened. */
static void write_under(enum venc_fault fault, bool executed)
{
	uint8_t first[4] = {1, 2, 3, 4}, second[4] = {5, 6, 7, 8}, got[4];
	struct initiator i;

	start(&i);
	want_good("write", execute(&i, sram_write, first, 4), 4);
	venc_inject(i.e, fault, 1);
	if (execute(&i, sram_write, second, 4).err == -ETIMEDOUT)
		abort_last(&i);
	want_good("read", execute(&i, sram_read, got, 4), 4);
	if (memcmp(got, executed ? second : first, 4) != 0)
		fail_msg("fault %d: expected the %s bytes, got %02x %02x %02x %02x", fault,
		        executed ? "new" : "old", got[0], got[1], got[2], got[3]);
	venc_free(i.e);
}

static void only_a_halted_data_pipe_keeps_a_write_from_happening(void **state)
{
	(void)state;
	write_under(VENC_FAULT_DATA_STALL, false);
	write_under(VENC_FAULT_CSW_STALL, true);
	write_under(VENC_FAULT_CSW_TAG, true);
	write_under(VENC_FAULT_CSW_SHORT, true);
	write_under(VENC_FAULT_PHASE_ERROR, true);
	write_under(VENC_FAULT_TIMEOUT, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_halted_status_pipe_delays_the_status_until_it_is_cleared),
	        cmocka_unit_test(a_status_with_another_tag_is_of_no_command),
	        cmocka_unit_test(a_sense_iu_cut_short_is_a_protocol_error),
	        cmocka_unit_test(a_phase_error_is_sense_data_after_the_data),
	        cmocka_unit_test(a_status_that_never_comes_ends_with_an_abortion),
	        cmocka_unit_test(a_halted_data_pipe_moves_nothing_and_ends_in_sense_data),
	        cmocka_unit_test(a_command_without_data_leaves_the_data_stall_to_the_next),
	        cmocka_unit_test(only_a_halted_data_pipe_keeps_a_write_from_happening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
