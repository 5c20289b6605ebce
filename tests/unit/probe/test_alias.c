/* test_alias.c - the alias trick in the driver's hands: one command a register write, BAR5 moved
 * and put back, and never on a board on which nobody proved it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/bridge/rtl921x.h"
#include "device/core/abilities.h"
#include "device/core/backend.h"
#include "device/pci/pci.h"
#include "device/regs/regs.h"
#include "device/rx580.h"

#define BAR5_HOME  0xE0040000u /* bridge.md 2.14 */
#define BAR5_ALIAS 0xA3200000u /* bridge.md 2.10 */
#define CFG_BAR5   0x24u

static struct scsi *scsi;
static struct bridge *bridge;
static struct pci *pci;

static int open_pci(void **state)
{
	const struct bridge_hooks none = {0};
	const char *kind;

	(void)state;
	return backend_open(&scsi, &kind, "virtual,posted,threads=1,vram=512", NULL) ||
	       bridge_open(&bridge, scsi, &none) || pci_new(&pci, bridge) || pci_start(pci);
}

static int close_pci(void **state)
{
	(void)state;
	pci_free(pci);
	bridge_free(bridge);
	return 0;
}

static uint64_t calls(void)
{
	struct scsi_counters c;

	scsi_read_counters(scsi, &c);
	return c.calls;
}

static void a_register_write_takes_one_command(void **state)
{
	uint32_t value = 0;

	(void)state;
	assert_int_equal(rtl921x_alias_address(bridge), BAR5_ALIAS);
	assert_int_equal(pci_move_bar(pci, PCI_BAR_REGISTERS, BAR5_ALIAS), 0);
	rtl921x_use_alias(bridge, true);
	uint64_t before = calls();

	assert_int_equal(pci_write32(pci, PCI_BAR_REGISTERS, REG_BIOS_SCRATCH_0, 0x12345678), 0);
	assert_int_equal(calls() - before, 1);
	assert_int_equal(pci_read32(pci, PCI_BAR_REGISTERS, REG_BIOS_SCRATCH_0, &value), 0);
	assert_int_equal(value, 0x12345678);
	/* the engine is used again afterwards, from whatever slot comes next */
	rtl921x_use_alias(bridge, false);
	assert_int_equal(pci_write32(pci, PCI_BAR_REGISTERS, REG_BIOS_SCRATCH_0, 7), 0);
	assert_int_equal(pci_read32(pci, PCI_BAR_REGISTERS, REG_BIOS_SCRATCH_0, &value), 0);
	assert_int_equal(value, 7);
	pci_stop(pci);
	assert_int_equal(bridge->ops->cfg_read(bridge, CFG_BAR5, 4, &value), 0);
	assert_int_equal(value & ~0xFu, BAR5_HOME);
}

static void outside_the_alias_dwords_go_through_the_engine(void **state)
{
	struct usb_link_stats s;

	(void)state;
	rtl921x_use_alias(bridge, true);
	assert_int_equal(pci_write32(pci, PCI_BAR_REGISTERS, REG_BIOS_SCRATCH_0, 9), 0);
	scsi_link_stats(scsi, &s);
	assert_int_equal(s.guest_errors, 0); /* no stray store */
	pci_stop(pci);
}

static void bars_move_only_where_they_fit(void **state)
{
	static const uint64_t bad[] = {
	        0xA3200100, 0xF0000000, 0xE0200000, 0x10000000, 1ull << 32, 0};
	uint32_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(pci_move_bar(pci, PCI_BAR_REGISTERS, bad[i]), -ENOTSUP);
	assert_int_equal(pci_move_bar(pci, PCI_BAR_VRAM, 0xC0000000), -ENOTSUP); /* 64 bits */
	assert_int_equal(pci_move_bar(pci, 7, BAR5_ALIAS), -ENOTSUP);
	assert_int_equal(pci_cfg_read(pci, CFG_BAR5, 4, &value), 0);
	assert_int_equal(value & ~0xFu, BAR5_HOME);
	pci_stop(pci);
}

static void a_virtual_board_never_uses_what_was_remembered(void **state)
{
	char folder[] = "/tmp/rx-alias-XXXXXX", command[64];
	const struct abilities_board b = {.vid = 0x0bda,
	        .pid = 0x9210,
	        .bcd_device = 0xf001,
	        .family = "rtl921x",
	        .firmware = "1.32.87",
	        .card_id = 0x67DF1002};
	struct rx580 *rx;
	struct rx_info info;
	uint32_t value;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("XDG_STATE_HOME", folder, 1);
	assert_int_equal(abilities_store(&b, &(struct abilities){.alias_write = true}), 0);
	assert_int_equal(
	        rx_open(&rx, &(struct rx_options){.card = "virtual,posted,threads=1,vram=512"}), 0);
	assert_int_equal(rx_cfg_read(rx, CFG_BAR5, 4, &value), 0);
	rx_read_info(rx, &info);
	assert_false(info.ability_alias_write);
	assert_int_equal(value & ~0xFu, BAR5_HOME);
	assert_int_equal(info.guest_errors, 0);
	rx_close(rx);
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                a_register_write_takes_one_command, open_pci, close_pci),
	        cmocka_unit_test_setup_teardown(
	                outside_the_alias_dwords_go_through_the_engine, open_pci, close_pci),
	        cmocka_unit_test_setup_teardown(bars_move_only_where_they_fit, open_pci, close_pci),
	        cmocka_unit_test(a_virtual_board_never_uses_what_was_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
