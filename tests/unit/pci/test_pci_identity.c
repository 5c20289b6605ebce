/* test_pci_identity.c - who is there: told apart in words; the walk through the capabilities; the
 * second function.
 */
#include "helper_config.h"

#define STATUS_CAPS 0x00100000u

static void a_card_is_recognised(void **state)
{
	struct config *c = *state;

	assert_int_equal(pci_start(c->pci), 0);
	const struct pci_info *i = pci_info(c->pci);

	assert_int_equal(i->vendor, 0x1002);
	assert_int_equal(i->device, 0x67DF);
	assert_int_equal(i->subvendor, 0x1DA2);
	assert_int_equal(i->subdevice, 0xE366);
	assert_int_equal(i->revision, 0xE7);
	assert_int_equal(i->class_code, 0x030000);
	assert_true(i->multifunction);
	assert_int_equal(i->link_speed, 1);
	assert_int_equal(i->link_width, 1);
	assert_int_equal(config_get(c, AT_COMMAND) & 0x7, COMMAND_MEM); /* no master, no I/O */
}

static void what_is_wrong_is_told_apart_in_words(void **state)
{
	static const struct {
		uint32_t id, header;
		bool dead, link_known, link_up;
		const char *words;
	} cases[] = {
	        {0x67DF1002, 0x00800000, true, true, false, "the PCIe link is down"},
	        {0x67DF1002, 0x00800000, true, true, true,
	                "link is up, but the card answers all ones"},
	        {0x67DF1002, 0x00800000, true, false, false, "link is dead, or the card is"},
	        {0, 0, false, true, true, "not ready (id 0x00000000)"},
	        {0xFFFF0001, 0, false, true, true, "not ready (id 0xffff0001)"}, /* bridge.md 4.1 */
	        {0, 0, false, true, false, "the PCIe link is down"},
	        {0x731F1002, 0x00800000, false, true, true,
	                "found 1002:731f, which is not an RX 580"},
	        {0x00011B4B, 0, false, true, true, "found 1b4b:0001, which is not an RX 580"},
	        {0x14781022, 0x00010000, false, true, true, "header of type 1"},
	        {0x67DF1002, 0x007F0000, false, true, true, "header of type 127"},
	};
	struct config *c = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		config_set(c, AT_ID, cases[i].id, 0);
		config_set(c, AT_HEADER, cases[i].header, 0);
		c->dead = cases[i].dead;
		c->info.link.known = cases[i].link_known;
		c->info.link.up = cases[i].link_up;
		memset(c->said, 0, sizeof(c->said));
		assert_int_equal(pci_start(c->pci), -ENODEV);
		config_said(c, cases[i].words);
		pci_stop(c->pci);
	}
	assert_int_equal(c->writes, 0); /* nothing is written to what is no RX 580 */
}

/* walk - Return: of pci_find_capability; it must not take more looks than there is room for. */
static int walk(struct config *c, uint8_t id)
{
	c->reads = 0;
	int at = pci_find_capability(c->pci, id);

	assert_in_range(c->reads, 1, 2 + 48); /* 48 dwords behind the header */
	return at;
}

static void capabilities_are_found_along_the_list(void **state)
{
	struct config *c = *state;

	assert_int_equal(walk(c, 0x01), 0x50);
	assert_int_equal(walk(c, 0x10), 0x58);
	assert_int_equal(walk(c, 0x05), 0);
	config_set(c, 0x58, 0x0012FC10, 0); /* the last dword of the space */
	config_set(c, 0xFC, 0x00000005, 0);
	assert_int_equal(walk(c, 0x05), 0xFC);
}

static void no_list_no_capability(void **state)
{
	struct config *c = *state;

	config_set(c, AT_COMMAND, 0x7, 0);
	assert_int_equal(walk(c, 0x01), 0);
	config_set(c, AT_COMMAND, STATUS_CAPS, 0);
	config_set(c, AT_CAPS, 0, 0);
	assert_int_equal(walk(c, 0x01), 0);
}

static void a_loop_ends(void **state)
{
	struct config *c = *state;

	config_set(c, 0x58, 0x00125010, 0); /* back to the first */
	assert_int_equal(walk(c, 0x05), 0);
	config_said(c, "does not end");
	assert_int_equal(walk(c, 0x10), 0x58); /* what is in it is found */
	config_set(c, 0x50, 0x00035001, 0);    /* to itself */
	assert_int_equal(walk(c, 0x10), 0);
}

static void wild_pointers_end_the_walk(void **state)
{
	static const uint8_t wild[] = {0x01, 0x03, 0x04, 0x10, 0x34, 0x3C, 0x3F};
	struct config *c = *state;

	for (size_t i = 0; i < ARRAY_SIZE(wild); i++) {
		config_set(c, AT_CAPS, wild[i], 0);
		assert_int_equal(walk(c, 0x01), 0);
		config_set(c, AT_CAPS, 0x50, 0);
		config_set(c, 0x50, 0x00030001 | (uint32_t)wild[i] << 8, 0);
		assert_int_equal(walk(c, 0x10), 0);
	}
	/* the two lowest bits are reserved: PCI Local Bus 3.0, 6.7 */
	config_set(c, AT_CAPS, 0x53, 0);
	config_set(c, 0x50, 0x00035A01, 0);
	assert_int_equal(walk(c, 0x10), 0x58);
}

static void all_ones_hold_no_capability(void **state)
{
	struct config *c = *state;

	c->dead = true;
	assert_int_equal(walk(c, 0x10), 0);
	c->dead = false;
	config_set(c, 0x58, 0xFFFFFFFF, 0);
	config_set(c, 0xFC, 0xFFFFFFFF, 0);
	assert_int_equal(walk(c, 0x05), 0);
}

static void a_card_without_pcie_capability_has_no_link(void **state)
{
	struct config *c = *state;

	config_set(c, 0x50, 0x00030001, 0);
	assert_int_equal(pci_start(c->pci), 0);
	assert_int_equal(pci_info(c->pci)->link_speed, 0);
	assert_int_equal(pci_info(c->pci)->link_width, 0);
}

static void the_second_function_needs_a_bridge_and_a_card_that_have_it(void **state)
{
	struct config *c = *state;
	uint32_t id = 0;

	assert_int_equal(pci_start(c->pci), 0);
	assert_int_equal(pci_function_read(c->pci, 1, 0, &id), -ENODATA);
	c->info.ability_function_1 = true;
	assert_int_equal(pci_function_read(c->pci, 1, 0, &id), 0);
	assert_int_equal(id, 0xAAF01002);
	assert_int_equal(pci_function_read(c->pci, 0, 0, &id), -EINVAL);
	assert_int_equal(pci_function_read(c->pci, 8, 0, &id), -EINVAL);
	assert_int_equal(pci_function_read(c->pci, 1, 4096, &id), -EINVAL);
	pci_stop(c->pci);
	config_set(c, AT_HEADER, 0, 0xFF); /* a single function */
	assert_int_equal(pci_start(c->pci), 0);
	assert_int_equal(pci_function_read(c->pci, 1, 0, &id), -ENODATA);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, config_setup, config_teardown)
	const struct CMUnitTest tests[] = {
	        T(a_card_is_recognised),
	        T(what_is_wrong_is_told_apart_in_words),
	        T(capabilities_are_found_along_the_list),
	        T(no_list_no_capability),
	        T(a_loop_ends),
	        T(wild_pointers_end_the_walk),
	        T(all_ones_hold_no_capability),
	        T(a_card_without_pcie_capability_has_no_link),
	        T(the_second_function_needs_a_bridge_and_a_card_that_have_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
