/* sg.c - SCSI commands through Linux SG_IO (bridge.md 1.6). The kernel's usb-storage or uas stays
 * bound and does the transport, its time-outs and its resets.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <poll.h>
#include <scsi/sg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/scsi/scsi_priv.h"

#define SENSE_ROOM    32      /* bridge.md 1.6: at least 32 */
#define SG_V3         30000   /* first version of the driver with SG_IO: scsi-generic HOWTO */
#define DEFAULT_BYTES 0x10000 /* what every host can do, should the driver not tell its limit */
#define REMOVAL_MS    1000 /* a hub reports a removal every 256 ms at the latest: USB 2.0 11.23.1 */

#define STATUS_GOOD      0x00 /* SAM-4 5.3.1 */
#define STATUS_CHECK     0x02
#define DID_NO_CONNECT   0x01 /* host_status: bridge.md 1.6 */
#define DID_TIME_OUT     0x03
#define DRIVER_SENSE     0x08 /* driver_status: sense is there */
#define DRIVER_TIMEOUT   0x06
#define DRIVER_CODE_MASK 0x0F

struct sg {
	struct scsi s; /* first */
	int fd;
	size_t max_bytes;
	struct usb_identity id;
};

static int vanish(struct sg *g)
{
	g->s.gone = true;
	return rx_fail("sg", -ENODEV, "the bridge was unplugged");
}

/* pulled_out - a removal first fails the command under way like any other mishap; a moment later
 * the kernel takes the node away, which hangs up those who have it open (Linux drivers/scsi/sg.c,
 * sg_poll()). */
static bool pulled_out(const struct sg *g)
{
	struct pollfd p = {.fd = g->fd};

	return poll(&p, 1, REMOVAL_MS) > 0 && p.revents & POLLHUP;
}

/* transport_failure - the kernel has aborted and perhaps reset the device, so its state may be lost
 * (bridge.md 1.6). */
static int transport_failure(struct sg *g, const struct sg_io_hdr *h)
{
	bool late = h->host_status == DID_TIME_OUT ||
	            (h->driver_status & DRIVER_CODE_MASK) == DRIVER_TIMEOUT;

	if (h->host_status == DID_NO_CONNECT || pulled_out(g))
		return vanish(g);
	g->s.counters.resets++;
	*(late ? &g->s.counters.timeouts : &g->s.counters.bad_status) += 1;
	if (late)
		return rx_fail("sg", -ETIMEDOUT,
		        "no answer in %u ms; the kernel has reset the bridge", h->timeout);
	return rx_fail("sg", -EIO, "transport failed: status %02x, host %02x, driver %02x",
	        h->status, h->host_status, h->driver_status);
}

static int outcome(struct sg *g, const struct sg_io_hdr *h, const uint8_t *sense_data,
        struct scsi_sense *sense)
{
	uint8_t driver = h->driver_status & DRIVER_CODE_MASK;
	struct scsi_counters *c = &g->s.counters;

	if (h->host_status || (driver && driver != DRIVER_SENSE))
		return transport_failure(g, h);
	if (h->status == STATUS_CHECK) {
		if (!scsi_read_sense(sense_data, MIN(h->sb_len_wr, SENSE_ROOM), sense) &&
		        sense->key)
			return -EIO;
		*sense = (struct scsi_sense){0};
		c->bad_status++;
		return rx_fail("sg", -EIO, "the bridge refused a command and gave no sense");
	}
	if (h->status != STATUS_GOOD || h->resid < 0 || (unsigned)h->resid > h->dxfer_len) {
		c->bad_status++;
		return rx_fail("sg", -EIO, "SCSI status %02x, residue %d of %u bytes", h->status,
		        h->resid, h->dxfer_len);
	}
	c->shorts += h->resid > 0;
	return (int)(h->dxfer_len - (unsigned)h->resid);
}

static int ioctl_failure(struct sg *g)
{
	int err = -errno;

	if (err == -ENODEV || err == -ENXIO)
		return vanish(g);
	return rx_fail("sg", -EIO, "SG_IO: %s", strerror(-err));
}

static int sg_exec(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir, void *buf,
        size_t len, unsigned timeout_ms, struct scsi_sense *sense)
{
	static const int direction[] = {SG_DXFER_NONE, SG_DXFER_FROM_DEV, SG_DXFER_TO_DEV};
	struct sg *g = (struct sg *)s;
	uint8_t command[CDB_MAX], sense_data[SENSE_ROOM] = {0};
	struct sg_io_hdr h = {.interface_id = 'S',
	        .dxfer_direction = direction[dir],
	        .cmd_len = (unsigned char)cdb_len,
	        .mx_sb_len = sizeof(sense_data),
	        .dxfer_len = (unsigned)len,
	        .dxferp = buf,
	        .cmdp = command,
	        .sbp = sense_data,
	        .timeout = MAX(timeout_ms, 1u)};

	if (len > g->max_bytes)
		return rx_fail("sg", -EMSGSIZE, "%zu bytes in one command, the host allows %zu",
		        len, g->max_bytes);
	memcpy(command, cdb, cdb_len);
	s->counters.commands++;
	if (ioctl(g->fd, SG_IO, &h) < 0)
		return ioctl_failure(g);
	int n = outcome(g, &h, sense_data, sense);

	if (n > 0)
		*(dir == SCSI_IN ? &s->counters.bytes_in : &s->counters.bytes_out) += (uint64_t)n;
	return n;
}

static void sg_identity(struct scsi *s, struct usb_identity *out)
{
	*out = ((struct sg *)s)->id;
}

static void sg_link_stats(struct scsi *s, struct usb_link_stats *out)
{
	(void)s;
	*out = (struct usb_link_stats){0}; /* a real enclosure counts nothing for us */
}

/* The sg driver hangs up on whoever polls a device that is gone: sg.c of Linux, sg_poll. */
static bool sg_left(struct scsi *s)
{
	struct pollfd p = {.fd = ((struct sg *)s)->fd};

	return poll(&p, 1, 0) == 1 && p.revents & POLLHUP;
}

static void sg_free(struct scsi *s)
{
	close(((struct sg *)s)->fd);
	free(s);
}

/* ---- opening ---- */

static int say_open_failed(const char *path, int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return rx_fail("sg", -EACCES,
		        "no permission for %s: install the udev rule 70-rx580fs.rules, plug the "
		        "enclosure in again, and be in the group plugdev or logged in at the "
		        "machine",
		        path);
	case -ENOENT:
	case -ENXIO:
		return rx_fail("sg", -ENODEV,
		        "there is no %s: see lsscsi -g; the module sg may have to be loaded", path);
	case -EBUSY: return rx_fail("sg", err, "another program holds %s", path);
	default: return rx_fail("sg", err, "cannot open %s: %s", path, strerror(-err));
	}
}

/* look_around - from sysfs, ".../1-1:1.0/host6/target6:0:0/6:0:0:0/scsi_generic/sg2": which USB
 * device that is, and whether there is a disk in it. */
static int look_around(struct sg *g, const char *path)
{
	const char *name = strrchr(path, '/');
	char link[PATH_MAX], where[PATH_MAX];

	snprintf(link, sizeof(link), "/sys/class/scsi_generic/%s", name ? name + 1 : path);
	ssize_t n = readlink(link, where, sizeof(where) - 1);

	if (n < 0)
		return 0;
	where[n] = '\0';
	usb_find_behind(where, &g->id);
	char *end = strstr(where, "/scsi_generic/");

	if (!end)
		return 0;
	*end = '\0';
	char *unit = strrchr(where, '/');

	if (!unit)
		return 0;
	strcpy(end, "/"); /* "/6:0:0:0/" */
	uint64_t bytes = usb_disk_bytes(unit);

	return bytes ? rx_fail("sg", -EBUSY, "%s is a disk of %llu MB, not a card: left alone",
	                       path, (unsigned long long)(bytes / 1000000))
	             : 0;
}

static int prepare(struct sg *g, const char *path)
{
	int version = 0, max = 0;

	if (ioctl(g->fd, SG_GET_VERSION_NUM, &version) < 0 || version < SG_V3)
		return rx_fail("sg", -ENOTTY, "%s is no SCSI generic node: see lsscsi -g", path);
	/* the sg driver answers in bytes, other than block devices do */
	g->max_bytes = ioctl(g->fd, BLKSECTGET, &max) < 0 || max <= 0 ? DEFAULT_BYTES : (size_t)max;
	return look_around(g, path);
}

int scsi_sg_new(struct scsi **out, const char *path)
{
	static const struct scsi_ops ops = {
	        sg_exec, sg_identity, sg_link_stats, sg_free, sg_left, NULL};
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return say_open_failed(path, -errno);
	struct sg *g = calloc(1, sizeof(*g));

	if (!g) {
		close(fd);
		return -ENOMEM;
	}
	g->s.ops = &ops;
	g->fd = fd;
	int err = prepare(g, path);

	if (err) {
		sg_free(&g->s);
		return err;
	}
	*out = &g->s;
	return 0;
}
