/* Plugging into a kernel: the part that needs none. The rest runs in tests/vm. */
#include "helper_link.h"

#include <errno.h>

#include "device/virtual/server/session.h"
#include "device/virtual/server/vhci.h"

/* Linux Documentation/ABI has no entry; the format is drivers/usb/usbip/vhci_sysfs.c,
 * port_show_vhci(). Port 0 is in use, port 1 has just lost its device. */
static const char status[] = "hub port sta spd dev      sockfd local_busid\n"
                             "hs  0000 006 003 00010002 000004 1-1\n"
                             "hs  0001 007 000 00000000 000000 0-0\n"
                             "hs  0002 004 000 00000000 000000 0-0\n"
                             "ss  0008 004 000 00000000 000000 0-0\n"
                             "ss  0009 004 000 00000000 000000 0-0\n";

static void the_first_free_port_of_the_speed_is_taken(void **state)
{
	(void)state;
	assert_int_equal(vhci_free_port(status, false), 2);
	assert_int_equal(vhci_free_port(status, true), 8);
}

static void no_free_port_is_busy(void **state)
{
	(void)state;
	assert_int_equal(vhci_free_port("", false), -EBUSY);
	assert_int_equal(vhci_free_port("hub port sta\n", true), -EBUSY);
	assert_int_equal(vhci_free_port("hs  0000 006 003\nss  0008 004 000\n", false), -EBUSY);
}

static void a_session_can_begin_imported_but_only_one(void **state)
{
	const struct venc_options opt = {.threads = 1, .vram_bytes = 64u << 20};
	struct usbip_export x = {0};
	struct session *first, *second;

	(void)state;
	assert_int_equal(venc_new(&x.enclosure, &opt), 0);
	assert_int_equal(session_new(&first, &x, "first"), 0);
	assert_int_equal(session_new(&second, &x, "second"), 0);
	assert_int_equal(session_import(first), 0);
	assert_true(session_imported(first));
	assert_int_equal(session_import(second), -EBUSY);
	session_free(first);
	x.unplugged = true;
	assert_int_equal(session_import(second), -ENODEV);
	session_free(second);
	venc_free(x.enclosure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_first_free_port_of_the_speed_is_taken),
	        cmocka_unit_test(no_free_port_is_busy),
	        cmocka_unit_test(a_session_can_begin_imported_but_only_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
