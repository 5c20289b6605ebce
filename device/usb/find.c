/* find.c - is one of the bridges we know plugged in? Reads sysfs only; opens no device. */
#include <dirent.h>
#include <stdio.h>

#include "device/bytes.h"
#include "device/usb/usb.h"

/* bridge.md 1.1: only chips with PCIe behind them */
static const struct {
	uint16_t vid, pid;
} known[] = {
        {0x0bda, 0x9210}, /* RTL9210, RTL9210B, RTL9210C */
        {0x0bda, 0x9220}, /* RTL9220 */
        {0x174c, 0x2362}, /* ASM2362 */
        {0x174c, 0x2364}, /* ASM2364 */
        {0x174c, 0x2463}, /* ASM2464PD */
        {0x174c, 0x2464},
};

static bool read_id(const char *device, const char *file, uint16_t *id)
{
	char path[512];
	unsigned value;

	snprintf(path, sizeof(path), "/sys/bus/usb/devices/%s/%s", device, file);
	FILE *f = fopen(path, "re");

	if (!f)
		return false;
	int n = fscanf(f, "%4x", &value);

	fclose(f);
	*id = (uint16_t)value;
	return n == 1;
}

static bool is_known(uint16_t vid, uint16_t pid)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].vid == vid && known[i].pid == pid)
			return true;
	return false;
}

bool usb_find_bridge(uint16_t *vid, uint16_t *pid)
{
	DIR *dir = opendir("/sys/bus/usb/devices");
	bool found = false;

	if (!dir)
		return false;
	for (struct dirent *e; !found && (e = readdir(dir));)
		found = e->d_name[0] != '.' && read_id(e->d_name, "idVendor", vid) &&
		        read_id(e->d_name, "idProduct", pid) && is_known(*vid, *pid);
	closedir(dir);
	return found;
}
