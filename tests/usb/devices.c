/* devices.c - sysfs of the mocked machine: the bridge at port 1-1 with its SCSI generic node. */
#include <stdio.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/usb_descriptors.h"
#include "tests/usb/control.h"
#include "tests/usb/host.h"

#define ROOT   "/devices/pci0000:00/usb1"
#define DEVICE ROOT "/1-1"
#define UNIT   DEVICE "/1-1:1.0/host0/target0:0:0/0:0:0:0"
#define SECOND ROOT "/1-2"
#define DISK   UNIT "/block/sda"
#define SG     UNIT "/scsi_generic/sg0"

static bool add(struct host *h, const char *text)
{
	g_autoptr(GError) error = NULL;

	if (umockdev_testbed_add_from_string(h->testbed, text, &error))
		return true;
	fprintf(stderr, "usb_host: %s\n", error->message);
	return false;
}

/* append_descriptor - Return: its bytes. */
static const uint8_t *append_descriptor(const struct host *h, GString *hex, uint8_t type)
{
	const uint8_t *bytes;
	size_t n = venc_usb_descriptor(h->bridge, false, type, 0, &bytes);

	for (size_t i = 0; i < n; i++)
		g_string_append_printf(hex, "%02X", bytes[i]);
	return bytes;
}

/* The format is that of umockdev-record: umockdev's README, "Record and replay". */
static bool add_usb(struct host *h, const char *path, int port, bool make_node)
{
	g_autoptr(GString) hex = g_string_new("");
	int number = port + 1;

	const uint8_t *device = append_descriptor(h, hex, 1); /* USB 2.0 table 9-8 */
	unsigned vid = get_le16(device + 8), pid = get_le16(device + 10);
	unsigned bcd = get_le16(device + 12);

	append_descriptor(h, hex, 2); /* configuration, with what belongs to it */
	g_autofree char *node =
	        make_node ? g_strdup_printf("N: bus/usb/001/%03d\n", number) : g_strdup("");
	g_autofree char *text = g_strdup_printf(
	        "P: %s\n%sE: DEVNAME=/dev/bus/usb/001/%03d\nE: DEVTYPE=usb_device\n"
	        "E: DRIVER=usb\nE: BUSNUM=001\nE: DEVNUM=%03d\nE: MAJOR=189\nE: MINOR=%d\n"
	        "E: PRODUCT=%x/%x/%x\nE: SUBSYSTEM=usb\nE: TYPE=0/0/0\n"
	        "A: bConfigurationValue=1\\n\nA: bNumConfigurations=1\\n\nA: busnum=1\\n\n"
	        "A: devnum=%d\\n\nA: devpath=%d\\n\nA: idVendor=%04x\\n\nA: idProduct=%04x\\n\n"
	        "A: bcdDevice=%04x\\n\nA: speed=480\\n\nH: descriptors=%s\n\n",
	        path, node, number, number, number - 1, vid, pid, bcd, number, port, vid, pid, bcd,
	        hex->str);

	return add(h, text);
}

/* set_node - the testbed makes a node once; unplugged it is only out of sight. */
static void set_node(struct host *h, const char *node, bool there)
{
	g_autofree char *root = umockdev_testbed_get_root_dir(h->testbed);
	g_autofree char *shown = g_strconcat(root, node, NULL);
	g_autofree char *hidden = g_strconcat(shown, ".gone", NULL);

	if (there)
		rename(hidden, shown);
	else
		rename(shown, hidden);
}

static bool add_sg(struct host *h, const char *node)
{
	g_autofree char *text = g_strdup_printf("P: " SG "\n%sE: DEVNAME=/dev/sg0\nE: MAJOR=21\n"
	                                        "E: MINOR=0\nE: SUBSYSTEM=scsi_generic\n\n",
	        node);

	return add(h, text);
}

bool devices_plug(struct host *h)
{
	bool first = !h->has_nodes;

	h->has_nodes = true;
	set_node(h, USB_NODE, true);
	set_node(h, SG_NODE, true);
	return add_usb(h, DEVICE, 1, first) && add_sg(h, first ? "N: sg0\n" : "");
}

void devices_unplug(struct host *h)
{
	umockdev_testbed_uevent(h->testbed, "/sys" DEVICE, "remove");
	umockdev_testbed_remove_device(h->testbed, "/sys" SG);
	umockdev_testbed_remove_device(h->testbed, "/sys" DEVICE);
	set_node(h, USB_NODE, false);
	set_node(h, SG_NODE, false);
}

bool devices_set_disk(struct host *h, bool there)
{
	if (there)
		return add(h,
		        "P: " DISK "\nE: DEVNAME=/dev/sda\nE: DEVTYPE=disk\n"
		        "E: MAJOR=8\nE: MINOR=0\nE: SUBSYSTEM=block\nA: size=1953525168\\n\n\n");
	g_autofree char *root = umockdev_testbed_get_root_dir(h->testbed);
	g_autofree char *link = g_strconcat(root, "/sys/block/sda", NULL);

	umockdev_testbed_remove_device(h->testbed, "/sys" DISK);
	unlink(link); /* which the testbed forgets */
	return true;
}

bool devices_set_second(struct host *h, bool there)
{
	if (there)
		return add_usb(h, SECOND, 2, false);
	umockdev_testbed_remove_device(h->testbed, "/sys" SECOND);
	return true;
}

/* A sysctl that may not be written stands in for a node without permission: even root gets EACCES.
 */
static bool set_permission(struct host *h, const char *node, bool permitted)
{
	g_autofree char *root = umockdev_testbed_get_root_dir(h->testbed);
	g_autofree char *path = g_strconcat(root, node, NULL);

	if (permitted) {
		set_node(h, node, true); /* over the link */
		return true;
	}
	set_node(h, node, false);
	return !symlink("/proc/sys/kernel/ostype", path);
}

bool devices_set_permission(struct host *h, bool permitted)
{
	return set_permission(h, USB_NODE, permitted) && set_permission(h, SG_NODE, permitted);
}
