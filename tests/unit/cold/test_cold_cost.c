/* test_cold_cost.c - what the SMU's start costs on the link, by the enclosure's own count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/bridge/rtl921x.h"
#include "device/log.h"
#include "device/pci/pci.h"
#include "device/scsi/scsi.h"
#include "device/smu/smu.h"
#include "device/usb/usb.h"

struct line {
	struct scsi *scsi;
	struct bridge *bridge;
	struct pci *pci;
	struct mmio mmio;
	struct smu *smu;
	struct fw_set set;
	bool alias;
};

static void line_open(struct line *l, bool alias)
{
	const struct bridge_hooks none = {0};
	const struct fw_query q = {
	        .virtual_card = true, .device = 0x67DF, .revision = 0xE7, .smu_sel = true};
	struct usb_pipe *pipe;

	assert_int_equal(usb_virtual_open(&pipe, "cold,threads=1,vram=64"), 0);
	assert_int_equal(scsi_bot_new(&l->scsi, pipe), 0);
	assert_int_equal(bridge_open(&l->bridge, l->scsi, &none), 0);
	assert_int_equal(pci_new(&l->pci, l->bridge), 0);
	assert_int_equal(pci_start(l->pci), 0);
	l->mmio.pci = l->pci;
	l->alias = alias;
	if (alias) {
		rx_log_set_level(NULL, LOG_ERROR);
		assert_int_equal(
		        pci_move_bar(l->pci, PCI_BAR_REGISTERS, rtl921x_alias_address(l->bridge)),
		        0);
		rtl921x_use_alias(l->bridge, true);
	}
	assert_int_equal(smu_new(&l->smu, &l->mmio, NULL), 0);
	assert_int_equal(fw_load(&l->set, &q), 0);
}

static void line_close(struct line *l)
{
	struct usb_link_stats s;

	scsi_link_stats(l->scsi, &s);
	if (!l->alias) /* else each write has its harmless stray store */
		assert_int_equal(s.guest_errors, 0);
	smu_free(l->smu);
	fw_free(&l->set);
	pci_stop(l->pci);
	pci_free(l->pci);
	bridge_free(l->bridge);
}

static double start_seconds(struct line *l, uint64_t *commands)
{
	struct usb_link_stats before, after;

	scsi_link_stats(l->scsi, &before);
	assert_int_equal(smu_start(l->smu, &l->set.image[FW_SMC]), 0);
	scsi_link_stats(l->scsi, &after);
	*commands = after.commands - before.commands;
	return (double)(after.model_ns - before.model_ns) / 1e9;
}

static void start_costs_two_commands_a_dword(void **state)
{
	struct line l = {0};
	uint64_t commands;

	(void)state;
	line_open(&l, false);
	double seconds = start_seconds(&l, &commands);
	size_t dwords = l.set.image[FW_SMC].payload_bytes / 4;

	print_message("start: %llu commands for %zu dwords, %.1f modelled seconds\n",
	        (unsigned long long)commands, dwords, seconds);
	assert_in_range(commands, 2 * dwords, 2 * dwords + dwords / 10 + 1000);
	assert_true(seconds < 19);
	line_close(&l);
}

static void start_costs_one_by_the_alias_trick(void **state)
{
	struct line l = {0};
	uint64_t commands;

	(void)state;
	line_open(&l, true);
	double seconds = start_seconds(&l, &commands);
	size_t dwords = l.set.image[FW_SMC].payload_bytes / 4;

	print_message("start: %llu commands for %zu dwords, %.1f modelled seconds\n",
	        (unsigned long long)commands, dwords, seconds);
	assert_in_range(commands, dwords, dwords + dwords / 10 + 1000);
	assert_true(seconds < 10);
	line_close(&l);
}

static void sample_is_a_hundredth_of_a_second(void **state)
{
	struct line l = {0};
	struct usb_link_stats before, after;
	struct smu_sample sample;
	uint64_t commands;

	(void)state;
	line_open(&l, false);
	start_seconds(&l, &commands);
	assert_int_equal(smu_sample(l.smu, &sample), 0);
	scsi_link_stats(l.scsi, &before);
	assert_int_equal(smu_sample(l.smu, &sample), 0);
	scsi_link_stats(l.scsi, &after);
	print_message("sample: %llu commands, %.1f modelled ms\n",
	        (unsigned long long)(after.commands - before.commands),
	        (double)(after.model_ns - before.model_ns) / 1e6);
	/* 11 writes of 4, 11 reads; the virtual SMU takes its time to answer, so some looks more */
	assert_in_range(after.commands - before.commands, 55, 80);
	assert_true(after.model_ns - before.model_ns < 20000000);
	line_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(start_costs_two_commands_a_dword),
	        cmocka_unit_test(start_costs_one_by_the_alias_trick),
	        cmocka_unit_test(sample_is_a_hundredth_of_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
