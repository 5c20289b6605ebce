/* libusb.c - the bulk pipes of a real device, and the only file that includes libusb. The device is
 * found through sysfs (find.c), its endpoints come from its descriptors (bridge.md 1.2).
 */
#include <libusb.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/usb/usb.h"

/* USB MSC 1.4, chapters 2 and 3; Bulk-Only Mass Storage Reset: bridge.md 1.3 */
#define SUBCLASS_SCSI          0x06
#define PROTOCOL_BULK_ONLY     0x50
#define REQ_CLASS_OUT_IFACE    0x21
#define REQ_MASS_STORAGE_RESET 0xFF

#define CONTROL_MS   1000
#define DRAIN_MS     20   /* a device that has something to say answers within microframes */
#define DRAIN_MAX    16   /* transfers; one command leaves at most its data and a CSW */
#define COME_BACK_MS 5000 /* after a reset that made it enumerate anew */

struct libusb_pipe {
	struct usb_pipe pipe; /* first, see usb.h */
	libusb_context *ctx;
	libusb_device_handle *handle;
	struct usb_address where; /* with its port: where to look after re-enumeration */
	struct usb_identity id;
	_Atomic(libusb_device *) device; /* of @handle; NULL while its leaving means nothing */
	libusb_hotplug_callback_handle watch;
	bool watching;
	atomic_bool left; /* the device of @handle: seen by whichever thread handles events */
	uint8_t interface, alternate, in, out;
};

static struct libusb_pipe *self(struct usb_pipe *p)
{
	return (struct libusb_pipe *)p;
}

static int error_of(int rc)
{
	switch (rc) {
	case LIBUSB_ERROR_PIPE: return -EPIPE;
	case LIBUSB_ERROR_TIMEOUT: return -ETIMEDOUT;
	case LIBUSB_ERROR_OVERFLOW: return -EOVERFLOW;
	case LIBUSB_ERROR_NO_DEVICE: return -ENODEV;
	case LIBUSB_ERROR_ACCESS: return -EACCES;
	case LIBUSB_ERROR_BUSY: return -EBUSY;
	case LIBUSB_ERROR_NO_MEM: return -ENOMEM;
	default: return rc < 0 ? -EIO : 0;
	}
}

/* ---- bulk and control transfers ---- */

/* libusb cancels the transfer at the deadline and waits for the kernel to let go of the buffer. */
static int bulk(
        struct libusb_pipe *l, uint8_t endpoint, void *data, size_t len, unsigned timeout_ms)
{
	int moved = 0;

	if (!l->handle || atomic_load(&l->left))
		return -ENODEV;
	if (len > INT32_MAX)
		return -EINVAL;
	/* 0 would mean for ever */
	int rc = libusb_bulk_transfer(
	        l->handle, endpoint, data, (int)len, &moved, MAX(timeout_ms, 1u));

	if (rc == LIBUSB_ERROR_TIMEOUT && (size_t)moved == len && len)
		return moved; /* it was done when the deadline came */
	if (rc == LIBUSB_ERROR_TIMEOUT && moved)
		rx_log(LOG_DEBUG, "usb", "endpoint %02x: only %d of %zu bytes in %u ms", endpoint,
		        moved, len, timeout_ms);
	return rc ? error_of(rc) : moved;
}

static int bulk_out(struct usb_pipe *p, const void *data, size_t len, unsigned timeout_ms)
{
	/* libusb only reads from the buffer of an OUT transfer */
	return bulk(self(p), self(p)->out, (void *)(uintptr_t)data, len, timeout_ms);
}

static int bulk_in(struct usb_pipe *p, void *data, size_t len, unsigned timeout_ms)
{
	return bulk(self(p), self(p)->in, data, len, timeout_ms);
}

static int clear_halt(struct libusb_pipe *l, uint8_t endpoint)
{
	return l->handle ? error_of(libusb_clear_halt(l->handle, endpoint)) : -ENODEV;
}

static int clear_halt_out(struct usb_pipe *p)
{
	return clear_halt(self(p), self(p)->out);
}

static int clear_halt_in(struct usb_pipe *p)
{
	return clear_halt(self(p), self(p)->in);
}

static int class_reset(struct usb_pipe *p)
{
	struct libusb_pipe *l = self(p);

	if (!l->handle)
		return -ENODEV;
	return error_of(libusb_control_transfer(l->handle, REQ_CLASS_OUT_IFACE,
	        REQ_MASS_STORAGE_RESET, 0, l->interface, NULL, 0, CONTROL_MS));
}

/* ---- opening ---- */

static const char *udev_hint =
        "install the udev rule 70-rx580fs.rules, plug the enclosure in again, and be in the group "
        "plugdev or logged in at the machine";

static int say_open_failed(const struct usb_found *f, int rc)
{
	if (rc == LIBUSB_ERROR_ACCESS)
		return rx_fail("usb", -EACCES, "no permission for /dev/bus/usb/%03u/%03u: %s",
		        f->bus, f->device, udev_hint);
	return rx_fail("usb", error_of(rc), "cannot open /dev/bus/usb/%03u/%03u: %s", f->bus,
	        f->device, libusb_strerror(rc));
}

static int open_device(struct libusb_pipe *l, const struct usb_found *f)
{
	libusb_device **list;
	ssize_t n = libusb_get_device_list(l->ctx, &list);
	int rc = LIBUSB_ERROR_NO_DEVICE;

	if (n < 0)
		return say_open_failed(f, (int)n);
	for (ssize_t i = 0; i < n; i++)
		if (libusb_get_bus_number(list[i]) == f->bus &&
		        libusb_get_device_address(list[i]) == f->device)
			rc = libusb_open(list[i], &l->handle);
	libusb_free_device_list(list, 1);
	return rc ? say_open_failed(f, rc) : 0;
}

/* take_endpoints - one bulk pipe each way, as BOT wants. */
static bool take_endpoints(struct libusb_pipe *l, const struct libusb_interface_descriptor *d)
{
	l->in = l->out = 0;
	for (unsigned i = 0; i < d->bNumEndpoints; i++) {
		const struct libusb_endpoint_descriptor *e = &d->endpoint[i];

		if ((e->bmAttributes & LIBUSB_TRANSFER_TYPE_MASK) != LIBUSB_TRANSFER_TYPE_BULK)
			continue;
		*(e->bEndpointAddress & LIBUSB_ENDPOINT_IN ? &l->in : &l->out) =
		        e->bEndpointAddress;
	}
	l->interface = d->bInterfaceNumber;
	l->alternate = d->bAlternateSetting;
	return l->in && l->out;
}

static bool find_bulk_only(struct libusb_pipe *l, const struct libusb_config_descriptor *config)
{
	for (unsigned i = 0; i < config->bNumInterfaces; i++)
		for (int a = 0; a < config->interface[i].num_altsetting; a++) {
			const struct libusb_interface_descriptor *d =
			        &config->interface[i].altsetting[a];

			if (d->bInterfaceClass == LIBUSB_CLASS_MASS_STORAGE &&
			        d->bInterfaceSubClass == SUBCLASS_SCSI &&
			        d->bInterfaceProtocol == PROTOCOL_BULK_ONLY && take_endpoints(l, d))
				return true;
		}
	return false;
}

static int read_descriptors(struct libusb_pipe *l)
{
	libusb_device *device = libusb_get_device(l->handle);
	struct libusb_device_descriptor d;
	struct libusb_config_descriptor *config;
	int rc = libusb_get_device_descriptor(device, &d);

	if (!rc)
		rc = libusb_get_active_config_descriptor(device, &config);
	if (rc)
		return rx_fail("usb", error_of(rc), "no descriptors: %s", libusb_strerror(rc));
	bool found = find_bulk_only(l, config);

	libusb_free_config_descriptor(config);
	if (!found)
		return rx_fail("usb", -ENOTSUP,
		        "%04x:%04x has no Bulk-Only mass storage interface: no NVMe enclosure",
		        d.idVendor, d.idProduct);
	return 0;
}

static int claim(struct libusb_pipe *l)
{
	bool driver = libusb_kernel_driver_active(l->handle, l->interface) == 1;

	libusb_set_auto_detach_kernel_driver(l->handle, 1);
	int rc = libusb_claim_interface(l->handle, l->interface);

	if (rc == LIBUSB_ERROR_BUSY)
		return rx_fail("usb", -EBUSY,
		        "another program holds the bridge (a second rx580fs, a virtual machine?): "
		        "end it first");
	if (rc && driver)
		return rx_fail("usb", error_of(rc),
		        "the kernel's usb-storage does not let go of the bridge: %s",
		        libusb_strerror(rc));
	if (rc)
		return rx_fail("usb", error_of(rc), "cannot claim interface %u: %s", l->interface,
		        libusb_strerror(rc));
	return 0;
}

/* drain - an earlier owner may have died before it fetched its data or CSW. */
static int drain(struct libusb_pipe *l)
{
	uint8_t old[4096];
	int n = 0;

	for (int i = 0; i < DRAIN_MAX; i++) {
		n = bulk(l, l->in, old, sizeof(old), DRAIN_MS);
		if (n == -EPIPE)
			n = clear_halt(l, l->in);
		else if (n > 0)
			rx_log(LOG_DEBUG, "usb", "%d bytes left over from an earlier owner", n);
		if (n < 0)
			break;
	}
	return n == -ENODEV ? n : 0;
}

/* settle - to the state a first CBW needs. SET_INTERFACE and CLEAR_FEATURE also start the data
 * toggles anew. */
static int settle(struct libusb_pipe *l)
{
	int err = error_of(libusb_set_interface_alt_setting(l->handle, l->interface, l->alternate));

	if (!err)
		err = clear_halt(l, l->in);
	if (!err)
		err = clear_halt(l, l->out);
	if (!err)
		err = drain(l);
	return err ? rx_fail("usb", err, "the bridge does not take its settings: %s",
	                     strerror(-err))
	           : 0;
}

static int LIBUSB_CALL note_left(
        libusb_context *ctx, libusb_device *device, libusb_hotplug_event event, void *pipe)
{
	struct libusb_pipe *l = pipe;

	(void)ctx;
	(void)event;
	if (device == atomic_load(&l->device))
		atomic_store(&l->left, true);
	return 0; /* go on watching */
}

/* watch - only who leaves matters: a device that arrives is taken by the next start. Without
 * hotplug events a removal shows at the next transfer. */
static void watch(struct libusb_pipe *l)
{
	atomic_store(&l->left, false);
	atomic_store(&l->device, libusb_get_device(l->handle));
	l->watching =
	        libusb_has_capability(LIBUSB_CAP_HAS_HOTPLUG) &&
	        !libusb_hotplug_register_callback(l->ctx, LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT, 0,
	                l->id.vid, l->id.pid, LIBUSB_HOTPLUG_MATCH_ANY, note_left, l, &l->watch);
}

static bool left(struct usb_pipe *p)
{
	struct libusb_pipe *l = self(p);
	struct timeval now = {0};

	libusb_handle_events_timeout_completed(l->ctx, &now, NULL);
	return atomic_load(&l->left);
}

static void let_go(struct libusb_pipe *l, bool claimed)
{
	if (!l->handle)
		return;
	if (l->watching)
		libusb_hotplug_deregister_callback(l->ctx, l->watch);
	l->watching = false;
	if (claimed) /* also gives the interface back to the kernel's driver */
		libusb_release_interface(l->handle, l->interface);
	libusb_close(l->handle);
	l->handle = NULL;
}

static int take(struct libusb_pipe *l, const struct usb_found *f)
{
	int err = open_device(l, f);

	l->id = f->id;
	if (!err)
		watch(l);
	if (!err)
		err = read_descriptors(l);
	if (!err)
		err = claim(l);
	bool claimed = !err;

	if (!err)
		err = settle(l);
	if (err)
		let_go(l, claimed);
	return err;
}

/* ---- the rest of the table ---- */

/* come_back - it enumerates anew, perhaps under another number, but at the same port. */
static int come_back(struct libusb_pipe *l)
{
	uint64_t deadline = deadline_in_ms(COME_BACK_MS);
	struct usb_found f;

	let_go(l, true);
	for (;;) {
		bool late = deadline_passed(deadline);

		if (usb_find(&l->where, &f, 1) == 1)
			break;
		if (late)
			return -ENODEV;
		sleep_us(50000);
	}
	return take(l, &f);
}

static int port_reset(struct usb_pipe *p)
{
	struct libusb_pipe *l = self(p);

	if (!l->handle)
		return -ENODEV;
	atomic_store(&l->device, NULL);
	int rc = libusb_reset_device(l->handle); /* claims again by itself */

	if (rc == LIBUSB_ERROR_NOT_FOUND)
		return come_back(l);
	atomic_store(&l->device, libusb_get_device(l->handle));
	return rc ? error_of(rc) : settle(l);
}

static void identity(struct usb_pipe *p, struct usb_identity *out)
{
	*out = self(p)->id;
}

static void link_stats(struct usb_pipe *p, struct usb_link_stats *out)
{
	(void)p;
	*out = (struct usb_link_stats){0}; /* a real enclosure counts nothing for us */
}

static void close_pipe(struct usb_pipe *p)
{
	struct libusb_pipe *l = self(p);

	let_go(l, true);
	libusb_exit(l->ctx);
	free(l);
}

static const struct usb_pipe_ops libusb_ops = {
        .bulk_out = bulk_out,
        .bulk_in = bulk_in,
        .clear_halt_out = clear_halt_out,
        .clear_halt_in = clear_halt_in,
        .class_reset = class_reset,
        .port_reset = port_reset,
        .identity = identity,
        .link_stats = link_stats,
        .left = left,
        .close = close_pipe,
};

int usb_libusb_open(struct usb_pipe **out, const struct usb_address *want)
{
	struct usb_found f;
	int err = usb_find_one(want, &f);

	if (err)
		return err;
	struct libusb_pipe *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->pipe.ops = &libusb_ops;
	l->where = (struct usb_address){.vid = f.id.vid, .pid = f.id.pid};
	memcpy(l->where.port, f.port, sizeof(l->where.port));
	int rc = libusb_init(&l->ctx);

	if (rc) {
		free(l);
		return rx_fail(
		        "usb", error_of(rc), "libusb does not start: %s", libusb_strerror(rc));
	}
	err = take(l, &f);
	if (err) {
		close_pipe(&l->pipe);
		return err;
	}
	*out = &l->pipe;
	return 0;
}
