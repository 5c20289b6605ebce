/* vm_recovery.c - what a driver meets on the cable and how it gets out again, through usbfs of a
 * real kernel: vm_recovery /dev/bus/usb/BBB/DDD. An IN with nothing to come, a bad CBW, a hung
 * bridge. Gives the interface back to the kernel's driver. Facts: bridge.md 1.3, 1.4, 5.1.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/usbdevice_fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device/bytes.h"

#define IN         0x81
#define OUT        0x02
#define CBW_BYTES  31
#define CSW_BYTES  13
#define TIMEOUT_MS 500  /* a wait that is meant to end so */
#define ANSWER_MS  5000 /* a wait that is not */

static int device, failures;

static void check(const char *what, int expected, int got)
{
	if (expected == got)
		return;
	printf("FAILED %s: expected %d, got %d\n", what, expected, got);
	failures++;
}

/* Return: bytes, -errno. */
static int bulk(unsigned endpoint, void *data, unsigned len, unsigned timeout_ms)
{
	struct usbdevfs_bulktransfer b = {endpoint, len, timeout_ms, data};
	int n = ioctl(device, USBDEVFS_BULK, &b);

	return n < 0 ? -errno : n;
}

static int claim(void)
{
	struct usbdevfs_disconnect_claim c = {0};

	return ioctl(device, USBDEVFS_DISCONNECT_CLAIM, &c) ? -errno : 0;
}

static int clear_halt(unsigned endpoint)
{
	return ioctl(device, USBDEVFS_CLEAR_HALT, &endpoint) ? -errno : 0;
}

static int class_reset(void)
{
	struct usbdevfs_ctrltransfer c = {0x21, 0xFF, 0, 0, 0, ANSWER_MS, NULL};

	return ioctl(device, USBDEVFS_CONTROL, &c) < 0 ? -errno : 0;
}

static void make_cbw(uint8_t cbw[CBW_BYTES], const uint8_t *cdb, unsigned cdb_len, uint32_t len)
{
	memset(cbw, 0, CBW_BYTES);
	put_le32(cbw, 0x43425355);
	put_le32(cbw + 4, 0x1234);
	put_le32(cbw + 8, len);
	cbw[12] = 0x80;
	cbw[14] = (uint8_t)cdb_len;
	memcpy(cbw + 15, cdb, cdb_len);
}

static void inquiry_works(const char *when)
{
	static const uint8_t cdb[6] = {0x12, 0, 0, 0, 36, 0};
	uint8_t cbw[CBW_BYTES], data[36] = {0}, csw[CSW_BYTES] = {0};

	make_cbw(cbw, cdb, sizeof(cdb), sizeof(data));
	printf("%s: INQUIRY\n", when);
	check("CBW", CBW_BYTES, bulk(OUT, cbw, sizeof(cbw), ANSWER_MS));
	check("data", sizeof(data), bulk(IN, data, sizeof(data), ANSWER_MS));
	check("CSW", CSW_BYTES, bulk(IN, csw, sizeof(csw), ANSWER_MS));
	check("vendor", 0, memcmp(data + 8, "Realtek ", 8));
	check("CSW status", 0, csw[12]);
}

static void idle_in_times_out(void)
{
	uint8_t csw[CSW_BYTES];

	check("IN with nothing to come", -ETIMEDOUT, bulk(IN, csw, sizeof(csw), TIMEOUT_MS));
	inquiry_works("after a cancelled IN");
}

static void bad_cbw_stalls_until_class_reset(void)
{
	uint8_t cbw[CBW_BYTES], csw[CSW_BYTES];

	make_cbw(cbw, (const uint8_t *)"\0\0\0\0\0\0", 6, 0);
	cbw[0] = 'X';
	check("bad CBW", CBW_BYTES, bulk(OUT, cbw, sizeof(cbw), ANSWER_MS));
	check("IN after it", -EPIPE, bulk(IN, csw, sizeof(csw), ANSWER_MS));
	check("OUT after it", -EPIPE, bulk(OUT, cbw, sizeof(cbw), ANSWER_MS));
	check("CLEAR_HALT alone", 0, clear_halt(IN) | clear_halt(OUT));
	check("IN, still", -EPIPE, bulk(IN, csw, sizeof(csw), ANSWER_MS));
	check("OUT, still", -EPIPE, bulk(OUT, cbw, sizeof(cbw), ANSWER_MS));
	check("class reset", 0, class_reset());
	check("CLEAR_HALT", 0, clear_halt(IN) | clear_halt(OUT));
	inquiry_works("after reset recovery");
}

/* E2/92 where nothing is mapped: the bridge's CPU faults (bridge.md 2.8). */
static void hung_bridge_comes_back_with_a_port_reset(void)
{
	static const uint8_t cdb[16] = {0xE2, [4] = 0x92, [9] = 0x10, [12] = 4};
	uint8_t cbw[CBW_BYTES], data[4];

	make_cbw(cbw, cdb, sizeof(cdb), sizeof(data));
	check("CBW", CBW_BYTES, bulk(OUT, cbw, sizeof(cbw), ANSWER_MS));
	check("data of a hung bridge", -ETIMEDOUT, bulk(IN, data, sizeof(data), TIMEOUT_MS));
	check("the next CBW", -ETIMEDOUT, bulk(OUT, cbw, sizeof(cbw), TIMEOUT_MS));
	check("port reset", 0, ioctl(device, USBDEVFS_RESET) ? -errno : 0);
	check("claim again, from the driver the kernel bound", 0, claim());
	inquiry_works("after a port reset");
}

static void give_back(void)
{
	unsigned interface = 0;
	struct usbdevfs_ioctl connect = {0, USBDEVFS_CONNECT, NULL};

	ioctl(device, USBDEVFS_RELEASEINTERFACE, &interface);
	check("reattached drivers", 1, ioctl(device, USBDEVFS_IOCTL, &connect));
}

int main(int argc, char **argv)
{
	device = argc == 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	if (device < 0) {
		perror(argc == 2 ? argv[1] : "usage: vm_recovery DEVICE");
		return 2;
	}
	check("claim", 0, claim());
	idle_in_times_out();
	bad_cbw_stalls_until_class_reset();
	hung_bridge_comes_back_with_a_port_reset();
	give_back();
	close(device);
	return failures ? 1 : 0;
}
