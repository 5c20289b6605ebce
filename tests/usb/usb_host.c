/* usb_host PROGRAM ARGS... - run a program on a mocked machine (umockdev) whose only USB device is
 * the virtual enclosure. The program's libusb and SG_IO are the unmodified ones. Exit status: the
 * program's; 77 when umockdev does not work here.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/log.h"
#include "tests/usb/control.h"
#include "tests/usb/host.h"

#define SKIP    77
#define PRELOAD "libumockdev-preload.so.0"
#define MIB     (1u << 20)

/* under_preload - the testbed wants its library in this process too: run again with it. */
static bool under_preload(char **argv)
{
	if (dlopen(PRELOAD, RTLD_LAZY | RTLD_NOLOAD))
		return true;
	if (!getenv("LD_PRELOAD")) {
		setenv("LD_PRELOAD", PRELOAD, 1);
		execv("/proc/self/exe", argv);
	}
	printf("SKIP: %s cannot be preloaded; install umockdev\n", PRELOAD);
	return false;
}

static bool serve(struct host *h, const char *node,
        gboolean (*handler)(UMockdevIoctlBase *, UMockdevIoctlClient *, gpointer))
{
	g_autoptr(GError) error = NULL;
	UMockdevIoctlBase *base = umockdev_ioctl_base_new();

	g_signal_connect(base, "handle-ioctl", G_CALLBACK(handler), h);
	bool ok = umockdev_testbed_attach_ioctl(h->testbed, node, base, &error);

	if (!ok)
		fprintf(stderr, "usb_host: %s: %s\n", node, error->message);
	g_object_unref(base);
	return ok;
}

static bool add_control(struct host *h)
{
	g_autoptr(GError) error = NULL;
	bool ok = umockdev_testbed_add_from_string(h->testbed,
	        "P: /devices/enclosure0\nN: enclosure0\nE: DEVNAME=/dev/enclosure0\nE: MAJOR=240\n"
	        "E: MINOR=0\nE: SUBSYSTEM=misc\n\n",
	        &error);

	if (!ok)
		fprintf(stderr, "usb_host: %s\n", error->message);
	return ok;
}

static void ended(GPid pid, gint status, gpointer host)
{
	struct host *h = host;

	h->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	g_spawn_close_pid(pid);
	g_main_loop_quit(h->loop);
}

static bool run(struct host *h, char **argv)
{
	g_autoptr(GError) error = NULL;
	GPid pid;

	if (!g_spawn_async(NULL, argv, NULL,
	            G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN,
	            NULL, NULL, &pid, &error)) {
		fprintf(stderr, "usb_host: %s\n", error->message);
		return false;
	}
	g_child_watch_add(pid, ended, h);
	g_main_loop_run(h->loop);
	return true;
}

static void far_side_log(void *ctx, bool guest_error, const char *line)
{
	(void)ctx;
	if (guest_error)
		fprintf(stderr, "enclosure: guest error: %s\n", line);
}

int main(int argc, char **argv)
{
	struct venc_options opt = {.vram_bytes = 256ull * MIB, .log = far_side_log};
	struct host h = {.driver_bound = true, .status = 1};
	const char *engine = getenv("VENC_ENGINE"); /* what the bridge's TLP engine can do */
	const char *bridge = getenv("VENC_BRIDGE"); /* its name; else an RTL9210 */

	if (argc < 2) {
		fprintf(stderr, "usage: usb_host PROGRAM ARGS...\n");
		return 2;
	}
	if (!under_preload(argv))
		return SKIP;
	/* the preloaded library sleeps for 0 ns after each ioctl, which is 50 us by default */
	prctl(PR_SET_TIMERSLACK, 1ul);
	if ((engine && venc_parse_engine(engine, &opt.engine)) ||
	        (bridge && venc_parse_bridge(bridge, &opt.bridge)) || venc_new(&h.enclosure, &opt))
		return 1;
	h.bridge = opt.bridge;
	h.testbed = umockdev_testbed_new();
	h.loop = g_main_loop_new(NULL, FALSE);
	if (devices_plug(&h) && add_control(&h) && serve(&h, USB_NODE, usbfs_ioctl) &&
	        serve(&h, SG_NODE, sg_ioctl) && serve(&h, CONTROL_NODE, control_ioctl))
		run(&h, argv + 1);
	g_main_loop_unref(h.loop);
	g_object_unref(h.testbed);
	venc_free(h.enclosure);
	return h.status;
}
