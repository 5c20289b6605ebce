/* find.c - which bridges are plugged in, and is there a disk behind one? Reads sysfs only; opens no
 * device, so it is safe with anybody's enclosure.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/usb/usb.h"

#define DEVICES      "/sys/bus/usb/devices"
#define BLOCK        "/sys/class/block"
#define SECTOR_BYTES 512 /* sysfs counts block devices in these, whatever their own sector */

/* bridge.md 1.1: only chips with PCIe behind them. Left out: 1de1:1101, a presumed clone of
 * Realtek's; whoever has one can name it. */
static const struct {
	uint16_t vid, pid;
} known[] = {
        {0x0bda, 0x9210}, /* RTL9210, RTL9210B, RTL9210C */
        {0x0bda, 0x9220}, /* RTL9220 */
        {0x174c, 0x2362}, /* ASM2362 */
        {0x174c, 0x2364}, /* ASM2364 */
        {0x174c, 0x2463}, /* ASM2464PD */
        {0x174c, 0x2464}, /* the same */
        {0x0bc2, 0xaa1a}, /* Seagate FireCuda Gaming SSD: ASM2364 */
        {0xadd1, 0x0001}, /* ASM2464PD with another id in its configuration */
};

static bool is_known(uint16_t vid, uint16_t pid)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].vid == vid && known[i].pid == pid)
			return true;
	return false;
}

static bool read_number(
        const char *dir, const char *name, const char *file, bool hex, unsigned long long *out)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s/%s", dir, name, file);
	FILE *f = fopen(path, "re");

	if (!f)
		return false;
	int n = fscanf(f, hex ? "%llx" : "%llu", out);

	fclose(f);
	return n == 1;
}

uint64_t usb_disk_bytes(const char *through)
{
	char path[512], target[1024];
	unsigned long long sectors, most = 0;
	DIR *dir = opendir(BLOCK);

	if (!dir)
		return 0;
	for (struct dirent *e; (e = readdir(dir));) {
		snprintf(path, sizeof(path), BLOCK "/%s", e->d_name);
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		if (n < 0)
			continue;
		target[n] = '\0';
		if (strstr(target, through) &&
		        read_number(BLOCK, e->d_name, "size", false, &sectors))
			most = MAX(most, sectors);
	}
	closedir(dir);
	return most * SECTOR_BYTES;
}

/* through_interface - the part of a sysfs path that runs through an interface of device @name:
 * "…/1-2/1-2:1.0/host6/…". */
static void through_interface(char out[40], const char *name)
{
	snprintf(out, 40, "/%.32s:", name);
}

static bool read_device(const char *name, struct usb_found *d)
{
	unsigned long long vid, pid, bcd, bus, device, mbit;

	if (name[0] == '.' || strlen(name) >= sizeof(d->port) ||
	        !read_number(DEVICES, name, "idVendor", true, &vid) ||
	        !read_number(DEVICES, name, "idProduct", true, &pid) ||
	        !read_number(DEVICES, name, "bcdDevice", true, &bcd) ||
	        !read_number(DEVICES, name, "speed", false, &mbit) ||
	        !read_number(DEVICES, name, "busnum", false, &bus) ||
	        !read_number(DEVICES, name, "devnum", false, &device))
		return false;
	*d = (struct usb_found){.id = {.vid = (uint16_t)vid,
	                                .pid = (uint16_t)pid,
	                                .bcd_device = (uint16_t)bcd,
	                                .mbit = (unsigned)mbit},
	        .bus = (uint8_t)bus,
	        .device = (uint8_t)device};
	strcpy(d->port, name);
	return true;
}

static bool matches(const struct usb_found *d, const struct usb_address *want)
{
	if (want->port[0] && strcmp(want->port, d->port) != 0)
		return false;
	return want->vid ? d->id.vid == want->vid && d->id.pid == want->pid
	                 : is_known(d->id.vid, d->id.pid);
}

size_t usb_find(const struct usb_address *want, struct usb_found *out, size_t max)
{
	DIR *dir = opendir(DEVICES);
	struct usb_found d;
	char through[40];
	size_t n = 0;

	if (!dir)
		return 0;
	for (struct dirent *e; (e = readdir(dir));) {
		if (!read_device(e->d_name, &d) || !matches(&d, want))
			continue;
		through_interface(through, d.port);
		d.disk_bytes = usb_disk_bytes(through);
		if (n < max)
			out[n] = d;
		n++;
	}
	closedir(dir);
	return n;
}

bool usb_find_behind(const char *path, struct usb_identity *out)
{
	DIR *dir = opendir(DEVICES);
	struct usb_found d;
	char through[40];
	bool found = false;

	for (struct dirent *e; dir && !found && (e = readdir(dir));) {
		through_interface(through, e->d_name);
		found = strstr(path, through) && read_device(e->d_name, &d);
	}
	if (dir)
		closedir(dir);
	if (found)
		*out = d.id;
	return found;
}

static int say_none(const struct usb_address *want)
{
	if (want->vid)
		return rx_fail("usb", -ENODEV, "no device %04x:%04x is plugged in%s%s: see lsusb",
		        want->vid, want->pid, want->port[0] ? " at port " : "", want->port);
	return rx_fail("usb", -ENODEV,
	        "no known bridge is plugged in: see lsusb, or name yours with --card usb:VID:PID");
}

int usb_find_one(const struct usb_address *want, struct usb_found *out)
{
	struct usb_found found[2];
	size_t n = usb_find(want, found, ARRAY_SIZE(found));

	if (!n)
		return say_none(want);
	if (n > 1)
		return rx_fail("usb", -EBUSY,
		        "%zu bridges are plugged in: name one, --card usb:%04x:%04x@%s or "
		        "usb:%04x:%04x@%s%s",
		        n, found[0].id.vid, found[0].id.pid, found[0].port, found[1].id.vid,
		        found[1].id.pid, found[1].port, n > 2 ? ", ..." : "");
	if (found[0].disk_bytes)
		return rx_fail("usb", -EBUSY,
		        "%04x:%04x at port %s holds a disk of %llu MB, not a card: left alone",
		        found[0].id.vid, found[0].id.pid, found[0].port,
		        (unsigned long long)(found[0].disk_bytes / 1000000));
	*out = found[0];
	return 0;
}

/* parse_id - exactly four hex digits. */
static bool parse_id(const char *text, uint16_t *id)
{
	if (strspn(text, "0123456789abcdefABCDEF") != 4)
		return false;
	*id = (uint16_t)strtoul(text, NULL, 16);
	return true;
}

static bool parse_port(const char *text, char *port, size_t size)
{
	size_t len = strlen(text);

	if (!len || len >= size || strspn(text, "0123456789-.") != len || !strchr(text, '-'))
		return false;
	memcpy(port, text, len + 1);
	return true;
}

static bool parse_address(const char *text, struct usb_address *a)
{
	if (!parse_id(text, &a->vid) || !a->vid || text[4] != ':' || !parse_id(text + 5, &a->pid))
		return false;
	return !text[9] || (text[9] == '@' && parse_port(text + 10, a->port, sizeof(a->port)));
}

int usb_parse_address(struct usb_address *out, const char *text)
{
	*out = (struct usb_address){0};
	if (!text || !*text || parse_address(text, out))
		return 0;
	return rx_fail("usb", -EINVAL,
	        "\"%s\" is no USB device: VID:PID or VID:PID@BUS-PORT, as 0bda:9210@2-1.4", text);
}
