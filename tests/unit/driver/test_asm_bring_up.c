/* test_asm_bring_up.c - the whole driver over both ASMedia families of the virtual enclosure:
 * bring-up to two queues, VRAM, BARs placed and put back, no guest error. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/bridge/asm2x6x.h"
#include "device/bytes.h"
#include "device/core/backend.h"
#include "device/pci/pci.h"
#include "helper_card.h"

static const char *const cards[] = {"virtual,posted,threads=1,vram=512,bridge=asm2362",
        "virtual,posted,threads=1,vram=512,bridge=asm2464"};
static const char *const families[] = {"asm236x", "asm246x"};

static void the_card_comes_up_and_its_memory_works(void **state)
{
	uint8_t bytes[300], back[300];

	(void)state;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	for (size_t c = 0; c < ARRAY_SIZE(cards); c++) {
		struct rx580 *rx = helper_open(cards[c], NULL, NULL);
		struct rx_info info;
		size_t len;

		rx_read_info(rx, &info);
		assert_string_equal(info.bridge_family, families[c]);
		assert_string_equal(info.bridge_firmware, "240417_85_00_00");
		assert_int_equal(info.usb_vid, 0x174c);
		assert_false(info.ability_alias_write);
		assert_true(info.queues_running);
		assert_non_null(rx_bios(rx, &len));
		assert_true(len > 1024);
		/* in the window, odd; and above it, by the card's own copies */
		const uint64_t offsets[] = {(100u << 20) + 3, 300u << 20};

		for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
			assert_int_equal(rx_vram_write(rx, offsets[i], bytes, sizeof(bytes)), 0);
			assert_int_equal(rx_vram_read(rx, offsets[i], back, sizeof(back)), 0);
			assert_memory_equal(back, bytes, sizeof(back));
		}
		helper_close_clean(rx);
	}
}

struct stack {
	struct scsi *scsi;
	struct bridge *bridge;
	struct pci *pci;
};

static void open_stack(struct stack *s, const char *card)
{
	const struct bridge_hooks none = {0};
	const char *kind;

	assert_int_equal(backend_open(&s->scsi, &kind, card, NULL), 0);
	assert_int_equal(bridge_open(&s->bridge, s->scsi, &none), 0);
	assert_int_equal(pci_new(&s->pci, s->bridge), 0);
}

static void read_bars(struct stack *s, uint32_t bars[6])
{
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(pci_cfg_read(s->pci, 0x10 + 4 * i, 4, &bars[i]), 0);
}

static bool overlap(const struct pci_bar *a, const struct pci_bar *b)
{
	return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

static void bars_are_placed_clear_of_the_bridge_and_put_back(void **state)
{
	static const unsigned memory[] = {0, 2, 5};

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cards); c++) {
		uint32_t before[6], during[6], after[6], command;
		struct stack s;

		open_stack(&s, cards[c]);
		read_bars(&s, before);
		assert_int_equal(pci_start(s.pci), 0);
		read_bars(&s, during);
		assert_memory_not_equal(during, before, sizeof(before));
		for (size_t i = 0; i < ARRAY_SIZE(memory); i++) {
			const struct pci_bar *b = &pci_info(s.pci)->bar[memory[i]];

			assert_int_equal(during[memory[i]] & ~0xFu, (uint32_t)b->addr);
			assert_int_equal(b->addr % b->size, 0);
			assert_true(b->addr >= 0x10000000); /* bridge.md 4.5 */
			assert_true(b->addr + b->size <= 1ull << 32);
			for (size_t j = 0; j < i; j++)
				assert_false(overlap(b, &pci_info(s.pci)->bar[memory[j]]));
		}
		pci_stop(s.pci);
		read_bars(&s, after);
		assert_memory_equal(after, before, sizeof(before));
		assert_int_equal(pci_cfg_read(s.pci, 4, 2, &command), 0);
		assert_int_equal(command & 7, 0); /* as nobody had set it */
		pci_free(s.pci);
		bridge_free(s.bridge);
	}
}

static void a_read_nobody_answers_is_an_error_here(void **state)
{
	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cards); c++) {
		struct usb_link_stats stats;
		struct stack s;
		uint32_t value;

		open_stack(&s, cards[c]);
		assert_int_equal(pci_start(s.pci), 0);
		assert_int_equal(s.bridge->ops->mem_read32(s.bridge, 0xE0000000, &value), -EIO);
		assert_int_equal(s.bridge->ops->heartbeat(s.bridge), 0);
		scsi_link_stats(s.scsi, &stats);
		assert_int_equal(stats.guest_errors, 0);
		pci_stop(s.pci);
		pci_free(s.pci);
		bridge_free(s.bridge);
	}
}

static void without_power_there_is_no_card(void **state)
{
	struct rx580 *rx = NULL;
	char card[96];

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cards); c++) {
		snprintf(card, sizeof(card), "%s,unpowered", cards[c]);
		assert_int_equal(rx_open(&rx, &(struct rx_options){.card = card}), -ENODEV);
		assert_null(rx);
	}
}

static void the_link_is_described(void **state)
{
	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cards); c++) {
		struct bridge_info info;
		struct stack s;

		open_stack(&s, cards[c]);
		assert_int_equal(s.bridge->ops->look_at_link(s.bridge), 0);
		s.bridge->ops->read_info(s.bridge, &info);
		assert_true(info.link.known && info.link.up);
		assert_int_equal(info.link.speed, 1);
		assert_int_equal(info.link.width, 1);
		assert_true(info.link.max_speed >= info.link.speed);
		assert_true(info.link.max_width >= info.link.width);
		pci_free(s.pci);
		bridge_free(s.bridge);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_card_comes_up_and_its_memory_works),
	        cmocka_unit_test(bars_are_placed_clear_of_the_bridge_and_put_back),
	        cmocka_unit_test(a_read_nobody_answers_is_an_error_here),
	        cmocka_unit_test(without_power_there_is_no_card),
	        cmocka_unit_test(the_link_is_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
