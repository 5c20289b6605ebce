/* The two carriers of SCSI commands, libusb and SG_IO, against the enclosure on a mocked machine:
 * run by usb_host. Faults: bridge.md 5.5.
 */
#include "device/bytes.h"
#include "device/clock.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"
#include "device/scsi/scsi.h"
#include "device/virtual/enclosure/enclosure.h"
#include "tests/usb/helper.h"

#define PATIENT_MS 60000 /* for what must happen, on a busy machine */
#define TIMEOUT_MS 1000  /* for what never happens */

static const uint8_t inquiry_cdb[6] = {0x12, 0, 0, 0, 36};
/* bridge.md 2.4: E2/A2, the IC version at 0xB35000C8, is 0xA0010001..3 */
static const uint8_t version_cdb[16] = {
        0xE2, 0, 0, 0, 0xA2, 0, 0, 0, 0xC8, 0x00, 0x50, 0xB3, 4, 0, 0, 0};
/* bridge.md 2.7: E2/92, 4096 bytes of the flash window */
static const uint8_t flash_cdb[16] = {
        0xE2, 0, 0, 0, 0x92, 0, 0, 0, 0x00, 0x40, 0x00, 0xAC, 0, 0x10, 0, 0};
static const uint8_t unknown_cdb[16] = {0xE2, 0, 0, 0, 0xEE, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0};
/* bridge.md 2.2: E3/23 to data SRAM at 0xB3200000; locked until the header is read */
static const uint8_t unlock_cdb[16] = {
        0xE2, 0, 0, 0, 0x92, 0, 0, 0, 0x00, 0x40, 0x00, 0xAC, 0x60, 0, 0, 0};
static const uint8_t sram_write_cdb[16] = {
        0xE3, 0, 0, 0, 0x23, 0, 0, 0, 0x00, 0x00, 0x20, 0xB3, 4, 0, 0, 0};
static const uint8_t sram_read_cdb[16] = {
        0xE2, 0, 0, 0, 0xA2, 0, 0, 0, 0x00, 0x00, 0x20, 0xB3, 4, 0, 0, 0};

static struct scsi *open_usb(void)
{
	struct usb_address want;
	struct usb_pipe *pipe;
	struct scsi *s;

	assert_int_equal(usb_parse_address(&want, "0bda:9210"), 0);
	assert_int_equal(usb_libusb_open(&pipe, &want), 0);
	assert_int_equal(scsi_bot_new(&s, pipe), 0);
	return s;
}

static struct scsi *open_sg(void)
{
	struct scsi *s;

	assert_int_equal(scsi_sg_new(&s, SG_NODE), 0);
	return s;
}

static int version_within(struct scsi *s, unsigned ms, struct scsi_sense *sense)
{
	uint8_t data[4] = {0};
	int n = scsi_exec(s, version_cdb, 16, SCSI_IN, data, 4, ms, sense);

	if (n == 4)
		assert_int_equal(get_le32(data) >> 4, 0xA001000);
	return n;
}

static int read_version(struct scsi *s, struct scsi_sense *sense)
{
	return version_within(s, PATIENT_MS, sense);
}

static void version_times_out(struct scsi *s)
{
	assert_int_equal(version_within(s, TIMEOUT_MS, NULL), -ETIMEDOUT);
}

static struct scsi_counters counters(struct scsi *s)
{
	struct scsi_counters c;

	scsi_read_counters(s, &c);
	return c;
}

/* ---- both carriers ---- */

static void commands_data_and_sense(struct scsi *s)
{
	uint8_t data[4096], word[4] = {1, 2, 3, 4}, back[4];
	struct scsi_sense sense;
	struct usb_identity id;

	scsi_identity(s, &id);
	assert_int_equal(id.vid << 16 | id.pid, 0x0bda9210);
	assert_int_equal(id.mbit, 480);
	assert_int_equal(scsi_exec(s, inquiry_cdb, 6, SCSI_IN, data, 36, PATIENT_MS, NULL), 36);
	assert_memory_equal(data + 8, "Realtek RTL9210 ", 16);
	assert_int_equal(read_version(s, &sense), 4);
	assert_int_equal(
	        scsi_exec(s, flash_cdb, 16, SCSI_IN, data, sizeof(data), PATIENT_MS, NULL), 4096);
	assert_int_equal(scsi_exec(s, unlock_cdb, 16, SCSI_IN, data, 0x60, PATIENT_MS, NULL), 0x60);
	assert_int_equal(scsi_exec(s, sram_write_cdb, 16, SCSI_OUT, word, 4, PATIENT_MS, NULL), 4);
	assert_int_equal(scsi_exec(s, sram_read_cdb, 16, SCSI_IN, back, 4, PATIENT_MS, NULL), 4);
	assert_memory_equal(back, word, 4);
	assert_int_equal(scsi_exec(s, unknown_cdb, 16, SCSI_IN, data, 4, PATIENT_MS, &sense), -EIO);
	assert_int_equal(sense.key << 16 | sense.asc << 8 | sense.ascq, 0x052000);
	assert_int_equal(read_version(s, &sense), 4);
	assert_int_equal(counters(s).resets, 0);
	scsi_free(s);
}

static void libusb_moves_commands_data_and_sense(void **state)
{
	(void)state;
	commands_data_and_sense(open_usb());
}

static void sg_moves_commands_data_and_sense(void **state)
{
	(void)state;
	commands_data_and_sense(open_sg());
}

/* one fault, the command's answer, and what it took to get going again */
struct fault_case {
	enum venc_fault fault;
	int answer;
	unsigned key;
	unsigned recoveries, resets;
};

static void faults_end(struct scsi *s, const struct fault_case *cases, size_t n)
{
	struct scsi_counters want = {0};
	struct scsi_sense sense;

	for (size_t i = 0; i < n; i++) {
		inject(cases[i].fault, 1);
		bool late = cases[i].answer == -ETIMEDOUT;
		int got = version_within(s, late ? TIMEOUT_MS : PATIENT_MS, &sense);

		if (got != cases[i].answer || sense.key != cases[i].key)
			fail_msg("fault %d: expected %d, key %u, got %d, key %u", cases[i].fault,
			        cases[i].answer, cases[i].key, got, sense.key);
		got = read_version(s, &sense);
		if (got != 4)
			fail_msg("after fault %d: expected 4 bytes, got %d", cases[i].fault, got);
		want.recoveries += cases[i].recoveries;
		want.resets += cases[i].resets;
		assert_int_equal(counters(s).recoveries, want.recoveries);
		assert_int_equal(counters(s).resets, want.resets);
	}
	scsi_free(s);
}

static void libusb_recovers_from_every_fault(void **state)
{
	static const struct fault_case cases[] = {
	        {VENC_FAULT_DATA_STALL, -EIO, 5, 0, 0},
	        {VENC_FAULT_CSW_STALL, 4, 0, 0, 0},
	        {VENC_FAULT_CSW_TAG, -ETIMEDOUT, 0, 1, 0}, /* waits for the right one */
	        {VENC_FAULT_CSW_SHORT, -EIO, 0, 1, 0},
	        {VENC_FAULT_PHASE_ERROR, -EIO, 0, 1, 0},
	        {VENC_FAULT_TIMEOUT, -ETIMEDOUT, 0, 1, 0},
	};

	(void)state;
	faults_end(open_usb(), cases, ARRAY_SIZE(cases));
}

static void sg_reports_every_fault(void **state)
{
	static const struct fault_case cases[] = {
	        {VENC_FAULT_DATA_STALL, -EIO, 5, 0, 0},
	        {VENC_FAULT_CSW_STALL, 4, 0, 0, 0},
	        {VENC_FAULT_CSW_TAG, -EIO, 0, 0, 1},
	        {VENC_FAULT_CSW_SHORT, -EIO, 0, 0, 1},
	        {VENC_FAULT_PHASE_ERROR, -EIO, 0, 0, 1},
	        {VENC_FAULT_TIMEOUT, -ETIMEDOUT, 0, 0, 1},
	};

	(void)state;
	faults_end(open_sg(), cases, ARRAY_SIZE(cases));
}

/* ---- libusb ---- */

static void deadline_cancels_the_transfer(void **state)
{
	struct scsi *s = open_usb();
	uint64_t begin = now_ns();

	(void)state;
	inject(VENC_FAULT_TIMEOUT, 1);
	version_times_out(s);
	assert_true(now_ns() - begin >= TIMEOUT_MS * 1000000ull);
	assert_int_equal(control(CONTROL_PENDING, 0), 0);
	scsi_free(s);
}

static void second_failure_resets_the_port(void **state)
{
	struct scsi *s = open_usb();

	(void)state;
	inject(VENC_FAULT_TIMEOUT, 2);
	version_times_out(s);
	version_times_out(s);
	assert_int_equal(counters(s).recoveries, 1);
	assert_int_equal(counters(s).resets, 1);
	assert_int_equal(read_version(s, NULL), 4);
	assert_int_equal(control(CONTROL_DRIVER, 0), 0);
	scsi_free(s);
}

static void device_that_enumerates_anew_is_found_again(void **state)
{
	struct scsi *s = open_usb();

	(void)state;
	assert_int_equal(control(CONTROL_REENUMERATE, 1), 0);
	inject(VENC_FAULT_TIMEOUT, 2);
	version_times_out(s);
	version_times_out(s);
	assert_int_equal(counters(s).resets, 1);
	assert_int_equal(read_version(s, NULL), 4);
	scsi_free(s);
}

static void kernel_driver_is_back_after_close(void **state)
{
	(void)state;
	assert_int_equal(control(CONTROL_DRIVER, 0), 1);
	struct scsi *s = open_usb();

	assert_int_equal(control(CONTROL_DRIVER, 0), 0);
	scsi_free(s);
	assert_int_equal(control(CONTROL_DRIVER, 0), 1);
}

static void leftovers_of_a_dead_owner_are_drained(void **state)
{
	(void)state;
	assert_int_equal(control(CONTROL_LEFTOVER, 0), 0);
	struct scsi *s = open_usb();

	assert_int_equal(read_version(s, NULL), 4);
	assert_int_equal(counters(s).recoveries, 0);
	scsi_free(s);
}

/* ---- which device ---- */

static int open_address(const char *text)
{
	struct usb_address want;
	struct usb_pipe *pipe;
	int err = usb_parse_address(&want, text);

	if (!err)
		err = usb_libusb_open(&pipe, &want);
	if (!err)
		pipe->ops->close(pipe);
	return err;
}

static void device_is_found_by_id_and_port(void **state)
{
	(void)state;
	assert_int_equal(open_address(""), 0);
	assert_int_equal(open_address("0BDA:9210"), 0);
	assert_int_equal(open_address("0bda:9210@1-1"), 0);
	assert_int_equal(open_address("0bda:9210@1-2"), -ENODEV);
	said("at port 1-2");
	assert_int_equal(open_address("1234:5678"), -ENODEV);
	said("no device 1234:5678");
}

static void bad_address_is_refused(void **state)
{
	static const char *const bad[] = {"0bda", "0bda:", "bda:9210", "0bda:92100", "0bda:9210@",
	        "0bda:9210@usb1", "0bda:9210@1", "0bda:9210 ", "0000:0000", "0bda:9210@../1-1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (open_address(bad[i]) != -EINVAL)
			fail_msg("\"%s\": expected EINVAL", bad[i]);
	said("VID:PID");
}

static void one_of_two_must_be_named(void **state)
{
	(void)state;
	assert_int_equal(control(CONTROL_SECOND, 1), 0);
	assert_int_equal(open_address(""), -EBUSY);
	said("2 bridges are plugged in");
	said("@1-1");
	assert_int_equal(open_address("0bda:9210@1-1"), 0);
	assert_int_equal(control(CONTROL_SECOND, 0), 0);
	assert_int_equal(open_address(""), 0);
}

static void a_disk_is_left_alone(void **state)
{
	struct scsi *s;

	(void)state;
	assert_int_equal(control(CONTROL_DISK, 1), 0);
	assert_int_equal(open_address(""), -EBUSY);
	said("holds a disk of 1000204 MB");
	assert_int_equal(control(CONTROL_DRIVER, 0), 1);
	assert_int_equal(scsi_sg_new(&s, SG_NODE), -EBUSY);
	said("is a disk of 1000204 MB");
	assert_int_equal(control(CONTROL_DISK, 0), 0);
	assert_int_equal(open_address(""), 0);
}

static void another_owner_is_named(void **state)
{
	(void)state;
	assert_int_equal(control(CONTROL_BUSY, 1), 0);
	assert_int_equal(open_address(""), -EBUSY);
	said("another program holds the bridge");
	assert_int_equal(control(CONTROL_BUSY, 0), 0);
	assert_int_equal(open_address(""), 0);
}

static void missing_permission_names_the_rule(void **state)
{
	struct scsi *s;

	(void)state;
	assert_int_equal(control(CONTROL_PERMISSION, 0), 0);
	assert_int_equal(open_address(""), -EACCES);
	said("no permission for /dev/bus/usb/001/002: install the udev rule 70-rx580fs.rules");
	assert_int_equal(scsi_sg_new(&s, SG_NODE), -EACCES);
	said("no permission for /dev/sg0: install the udev rule 70-rx580fs.rules");
	assert_int_equal(control(CONTROL_PERMISSION, 1), 0);
	assert_int_equal(open_address(""), 0);
}

static void auto_takes(const char *want)
{
	const char *kind;
	struct scsi *s;

	assert_int_equal(backend_open(&s, &kind, "auto", NULL), 0);
	assert_string_equal(kind, want);
	scsi_free(s);
}

static void auto_takes_one_bridge_without_a_disk(void **state)
{
	(void)state;
	auto_takes("usb");
	assert_int_equal(control(CONTROL_DISK, 1), 0);
	auto_takes("virtual");
	assert_int_equal(control(CONTROL_DISK, 0), 0);
	assert_int_equal(control(CONTROL_SECOND, 1), 0);
	auto_takes("virtual");
	assert_int_equal(control(CONTROL_SECOND, 0), 0);
	assert_int_equal(control(CONTROL_UNPLUG, 0), 0);
	auto_takes("virtual");
	assert_int_equal(control(CONTROL_UNPLUG, 1), 0);
	auto_takes("usb");
}

/* ---- SG_IO ---- */

static void sg_refuses_what_the_host_cannot_move(void **state)
{
	static uint8_t big[(120 << 10) + 4];
	struct scsi *s = open_sg();

	(void)state;
	assert_int_equal(scsi_exec(s, flash_cdb, 16, SCSI_IN, big, sizeof(big), PATIENT_MS, NULL),
	        -EMSGSIZE);
	said("122884 bytes in one command, the host allows 122880");
	assert_int_equal(read_version(s, NULL), 4);
	scsi_free(s);
}

static void sg_wants_a_scsi_generic_node(void **state)
{
	struct scsi *s;

	(void)state;
	assert_int_equal(scsi_sg_new(&s, "/dev/null"), -ENOTTY);
	said("no SCSI generic node");
	assert_int_equal(scsi_sg_new(&s, "/dev/sg77"), -ENODEV);
	said("there is no /dev/sg77");
}

/* ---- removal ---- */

static void removal_is_enodev_at_once(void **state)
{
	struct scsi *usb = open_usb(), *sg = open_sg();

	(void)state;
	assert_int_equal(read_version(usb, NULL), 4);
	assert_int_equal(control(CONTROL_UNPLUG, 0), 0);
	assert_int_equal(read_version(usb, NULL), -ENODEV);
	said("unplugged");
	assert_int_equal(read_version(usb, NULL), -ENODEV);
	assert_int_equal(read_version(sg, NULL), -ENODEV);
	scsi_free(usb);
	scsi_free(sg);
	assert_int_equal(open_address(""), -ENODEV);
	said("no known bridge is plugged in");
	assert_int_equal(control(CONTROL_UNPLUG, 1), 0);
	assert_int_equal(open_address(""), 0);
}

/* removed_within - seen to have left without a command, after @ms at the latest. */
static bool removed_within(struct scsi *s, unsigned ms)
{
	uint64_t deadline = deadline_in_ms(ms);

	while (!scsi_left(s)) {
		if (deadline_passed(deadline))
			return false;
		sleep_us(5000);
	}
	return true;
}

/* The event comes by the machine's udev, so it takes a moment. */
static void libusb_sees_a_removal_without_a_command(void **state)
{
	struct scsi *s = open_usb();

	(void)state;
	assert_int_equal(read_version(s, NULL), 4);
	assert_false(scsi_left(s));
	assert_int_equal(control(CONTROL_UNPLUG, 0), 0);
	uint64_t before = counters(s).commands;

	assert_true(removed_within(s, PATIENT_MS));
	assert_int_equal(counters(s).commands, before);
	assert_int_equal(read_version(s, NULL), -ENODEV);
	scsi_free(s);
	assert_int_equal(control(CONTROL_UNPLUG, 1), 0);
	s = open_usb();
	assert_false(scsi_left(s));
	assert_int_equal(read_version(s, NULL), 4);
	scsi_free(s);
}

/* A reset that makes the device enumerate anew is no removal. */
static void coming_back_is_no_removal(void **state)
{
	struct scsi *s = open_usb();

	(void)state;
	assert_int_equal(control(CONTROL_REENUMERATE, 1), 0);
	inject(VENC_FAULT_TIMEOUT, 2);
	version_times_out(s);
	version_times_out(s);
	assert_false(removed_within(s, 100));
	assert_int_equal(read_version(s, NULL), 4);
	scsi_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(libusb_moves_commands_data_and_sense),
	        cmocka_unit_test(sg_moves_commands_data_and_sense),
	        cmocka_unit_test(libusb_recovers_from_every_fault),
	        cmocka_unit_test(sg_reports_every_fault),
	        cmocka_unit_test(deadline_cancels_the_transfer),
	        cmocka_unit_test(second_failure_resets_the_port),
	        cmocka_unit_test(device_that_enumerates_anew_is_found_again),
	        cmocka_unit_test(kernel_driver_is_back_after_close),
	        cmocka_unit_test(leftovers_of_a_dead_owner_are_drained),
	        cmocka_unit_test(device_is_found_by_id_and_port),
	        cmocka_unit_test(bad_address_is_refused),
	        cmocka_unit_test(one_of_two_must_be_named),
	        cmocka_unit_test(a_disk_is_left_alone),
	        cmocka_unit_test(another_owner_is_named),
	        cmocka_unit_test(missing_permission_names_the_rule),
	        cmocka_unit_test(auto_takes_one_bridge_without_a_disk),
	        cmocka_unit_test(sg_refuses_what_the_host_cannot_move),
	        cmocka_unit_test(sg_wants_a_scsi_generic_node),
	        cmocka_unit_test(removal_is_enodev_at_once),
	        cmocka_unit_test(libusb_sees_a_removal_without_a_command),
	        cmocka_unit_test(coming_back_is_no_removal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
