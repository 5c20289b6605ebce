/* test_golden_cdb.c - the command blocks of basic operations, against tests/golden/NAME.cdb (one
 * CDB a line, hex). To write them anew after a deliberate change: RX_UPDATE_GOLDEN=1, then read the
 * difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/bridge/bridge.h"
#include "device/bytes.h"
#include "device/pci/pci.h"
#include "helper_pipe.h"

struct stack {
	struct tap *tap;
	struct scsi *scsi;
	struct bridge *bridge;
	struct pci *pci;
};

static void open_stack(struct stack *s)
{
	const struct bridge_hooks none = {0};

	s->tap = tap_open("threads=1,vram=512");
	assert_int_equal(scsi_bot_new(&s->scsi, &s->tap->pipe), 0);
	assert_int_equal(bridge_open(&s->bridge, s->scsi, &none), 0);
	assert_int_equal(pci_new(&s->pci, s->bridge), 0);
}

static void close_stack(struct stack *s)
{
	struct usb_link_stats stats;

	s->tap->pipe.ops->link_stats(&s->tap->pipe, &stats);
	assert_int_equal(stats.guest_errors, 0);
	pci_free(s->pci);
	bridge_free(s->bridge);
}

static void to_text(const struct tap *t, char *out, size_t max)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < t->ncdb; i++) {
		for (unsigned b = 0; b < 16; b++)
			at += (size_t)snprintf(
			        out + at, max - at, "%02X%c", t->cdb[i][b], b == 15 ? '\n' : ' ');
		assert_true(at < max - 64);
	}
}

static void compare(struct stack *s, const char *name)
{
	static char got[1 << 20], expected[1 << 20];
	char path[512];

	tap_record(s->tap, false);
	to_text(s->tap, got, sizeof(got));
	snprintf(path, sizeof(path), "%s/tests/golden/%s.cdb", RX_SOURCE_DIR, name);
	if (getenv("RX_UPDATE_GOLDEN")) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(got, f);
		assert_int_equal(fclose(f), 0);
	}
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	expected[fread(expected, 1, sizeof(expected) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(got, expected);
}

/* begin - start recording; the stack is kept from one operation to the next inside a test. */
static void begin(struct stack *s)
{
	s->tap->ncdb = 0;
	tap_record(s->tap, true);
}

static void identification(void **state)
{
	const struct bridge_hooks none = {0};
	struct stack s = {.tap = tap_open("threads=1,vram=512")};

	(void)state;
	tap_record(s.tap, true);
	assert_int_equal(scsi_bot_new(&s.scsi, &s.tap->pipe), 0);
	assert_int_equal(bridge_open(&s.bridge, s.scsi, &none), 0);
	compare(&s, "identify");
	bridge_free(s.bridge);
}

static void configuration(void **state)
{
	struct stack s;
	uint32_t value;

	(void)state;
	open_stack(&s);
	begin(&s);
	assert_int_equal(pci_cfg_read(s.pci, 0x00, 4, &value), 0);
	assert_int_equal(value, 0x67DF1002);
	assert_int_equal(pci_cfg_read(s.pci, 0x06, 2, &value), 0);
	assert_int_equal(pci_cfg_read(s.pci, 0x0E, 1, &value), 0);
	compare(&s, "cfg_read");
	begin(&s);
	assert_int_equal(pci_cfg_write(s.pci, 0x3C, 1, 0), 0);
	assert_int_equal(pci_cfg_write(s.pci, 0x04, 2, 2), 0);
	assert_int_equal(pci_cfg_write(s.pci, 0x10, 4, 0xF0000000), 0);
	compare(&s, "cfg_write");
	close_stack(&s);
}

static void registers(void **state)
{
	struct stack s;
	uint32_t value;

	(void)state;
	open_stack(&s);
	assert_int_equal(pci_start(s.pci), 0);
	begin(&s);
	assert_int_equal(pci_read32(s.pci, PCI_BAR_REGISTERS, 0x5428, &value), 0);
	assert_int_equal(value, 512);
	compare(&s, "reg_read");
	begin(&s);
	assert_int_equal(pci_write32(s.pci, PCI_BAR_REGISTERS, 0x30100, 0x11111111), 0);
	compare(&s, "reg_write_literal");
	for (int i = 0; i < 3; i++) /* the other three slots */
		assert_int_equal(pci_write32(s.pci, PCI_BAR_REGISTERS, 0x30100, 0), 0);
	begin(&s);
	assert_int_equal(pci_write32(s.pci, PCI_BAR_REGISTERS, 0x30100, 0x22222222), 0);
	compare(&s, "reg_write_short");
	assert_int_equal(pci_read32(s.pci, PCI_BAR_REGISTERS, 0x30100, &value), 0);
	assert_int_equal(value, 0x22222222);
	close_stack(&s);
}

static void memory(void **state)
{
	static uint8_t bytes[9000];
	struct stack s;

	(void)state;
	open_stack(&s);
	assert_int_equal(pci_start(s.pci), 0);
	begin(&s);
	assert_int_equal(pci_write(s.pci, PCI_BAR_VRAM, 0x100000, bytes, 4), 0);
	assert_int_equal(pci_write(s.pci, PCI_BAR_VRAM, 0x100001, bytes, 4), 0);
	compare(&s, "vram_write_4");
	begin(&s);
	assert_int_equal(pci_write(s.pci, PCI_BAR_VRAM, 0x100000, bytes, 4096), 0);
	compare(&s, "vram_write_4096");
	begin(&s);
	assert_int_equal(
	        pci_write(s.pci, PCI_BAR_VRAM, 0x100000, bytes, 8196), 0); /* must not end in 4 */
	compare(&s, "vram_write_8196");
	begin(&s);
	assert_int_equal(pci_read(s.pci, PCI_BAR_VRAM, 0x100000, bytes, 8196), 0);
	compare(&s, "vram_read_8196");
	close_stack(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(identification),
	        cmocka_unit_test(configuration),
	        cmocka_unit_test(registers),
	        cmocka_unit_test(memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
