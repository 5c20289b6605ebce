/* test_asm_allow.c - the list of vendor commands for ASMedia bridges, over every opcode, every
 * XDATA address and every bank: bridge.md 3.1, 3.2, 3.3, 7.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "device/bridge/asm2x6x_priv.h"
#include "device/bytes.h"

static const enum asm_chip both[] = {ASM_236X, ASM_246X};

static bool allowed_in_bank(
        enum asm_chip chip, uint8_t op, uint8_t param, unsigned bank, unsigned addr)
{
	const uint8_t cdb[ASM_CDB_BYTES] = {
	        op, param, (uint8_t)bank, (uint8_t)(addr >> 8), (uint8_t)addr, 0};

	return asm_refusal(chip, cdb) == NULL;
}

static unsigned own_bank(enum asm_chip chip)
{
	return chip == ASM_246X ? 0x50 : 0;
}

static bool allowed(enum asm_chip chip, uint8_t op, uint8_t param, unsigned addr)
{
	return allowed_in_bank(chip, op, param, own_bank(chip), addr);
}

/* hands_off - what must never be touched, whatever else changes: bridge.md 3.2, 3.6, 7.3. */
static bool hands_off(unsigned addr)
{
	return (addr >= 0x7000 && addr < 0x9000) || addr == 0xB480 || addr == 0xC656 ||
	       addr == 0xC659 || addr == 0xE764 || (addr >= 0xC800 && addr < 0xC900);
}

static void only_e4_and_e5_pass(void **state)
{
	static const unsigned addrs[] = {0, 0x07F0, 0x7000, 0x8000, 0xA000, 0xB000, 0xB210, 0xB254,
	        0xB296, 0xB450, 0xC8A9, 0xF000};

	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (unsigned op = 0; op < 256; op++)
			for (size_t i = 0; i < ARRAY_SIZE(addrs); i++)
				for (unsigned param = 0; param < 256; param++)
					if (allowed(both[c], (uint8_t)op, (uint8_t)param,
					            addrs[i]) &&
					        op != 0xE4 && op != 0xE5)
						fail_msg("%02X %02X at %04x: expected refused", op,
						        param, addrs[i]);
	assert_true(allowed(ASM_236X, 0xE4, 6, 0x07F0));
	assert_true(allowed(ASM_246X, 0xE5, 4, 0xB296));
}

static void only_the_engine_is_writable(void **state)
{
	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (unsigned addr = 0; addr < 0x10000; addr++) {
			bool some = false;
			bool expect = (addr >= 0xB210 && addr < 0xB224) || addr == 0xB254 ||
			              addr == 0xB296;

			if (both[c] == ASM_236X && addr >= 0xB21C && addr < 0xB220)
				expect = false; /* 64-bit addresses: K15 */
			for (unsigned v = 0; v < 256; v++)
				some |= allowed(both[c], 0xE5, (uint8_t)v, addr);
			if (some != expect)
				fail_msg("chip %d, E5 at %04x: expected %s", both[c], addr,
				        expect ? "allowed" : "refused");
			if (hands_off(addr) && some)
				fail_msg("E5 at %04x: hands off", addr);
		}
}

static void engine_bytes_take_only_values_of_our_requests(void **state)
{
	static const uint8_t types[] = {0x00, 0x40, 0x04, 0x44, 0x05, 0x45, 0x20, 0x60};

	(void)state;
	for (unsigned v = 0; v < 256; v++) {
		uint8_t value = (uint8_t)v;

		assert_int_equal(allowed(ASM_246X, 0xE5, value, 0xB210),
		        memchr(types, value, sizeof(types)) != NULL);
		assert_int_equal(
		        allowed(ASM_236X, 0xE5, value, 0xB210), memchr(types, value, 6) != NULL);
		for (size_t c = 0; c < 2; c++) {
			assert_int_equal(allowed(both[c], 0xE5, value, 0xB211), v == 0);
			assert_int_equal(allowed(both[c], 0xE5, value, 0xB213), v == 1);
			assert_int_equal(allowed(both[c], 0xE5, value, 0xB216), v == 0);
			assert_int_equal(allowed(both[c], 0xE5, value, 0xB217), v < 16);
			assert_true(allowed(both[c], 0xE5, value, 0xB218));
			assert_true(allowed(both[c], 0xE5, value, 0xB223));
			assert_int_equal(allowed(both[c], 0xE5, value, 0xB254), v == 0x0F);
			assert_int_equal(
			        allowed(both[c], 0xE5, value, 0xB296), v == 1 || v == 2 || v == 4);
		}
	}
}

static void reads_stay_clear_of_what_must_not_be_touched(void **state)
{
	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (unsigned addr = 0; addr < 0x10000; addr++)
			for (unsigned len = 0; len < 256; len++) {
				if (!allowed(both[c], 0xE4, (uint8_t)len, addr))
					continue;
				for (unsigned i = addr; i < addr + len; i++)
					if (hands_off(i) || i >= 0x10000)
						fail_msg("E4 of %u bytes at %04x reaches %04x", len,
						        addr, i);
				if (!len)
					fail_msg("E4 of 0 bytes at %04x: expected refused", addr);
			}
}

/* The list of readable bytes, spelled out a second time. */
static bool readable(enum asm_chip chip, unsigned addr)
{
	static const unsigned single[] = {0xB254, 0xB284, 0xB296};
	static const unsigned link[] = {0xB424, 0xB430, 0xB431, 0xB450, 0xB455, 0xB4AE, 0xB4C8};

	if ((addr >= 0x07F0 && addr < 0x07F6) || (addr >= 0xA000 && addr < 0xB240) ||
	        addr >= 0xF000)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(single); i++)
		if (addr == single[i])
			return true;
	for (size_t i = 0; chip == ASM_246X && i < ARRAY_SIZE(link); i++)
		if (addr == link[i])
			return true;
	return false;
}

static void every_single_byte_is_readable_or_not_as_listed(void **state)
{
	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (unsigned addr = 0; addr < 0x10000; addr++)
			if (allowed(both[c], 0xE4, 1, addr) != readable(both[c], addr))
				fail_msg("chip %d, E4 at %04x: expected %s", both[c], addr,
				        readable(both[c], addr) ? "allowed" : "refused");
}

static void other_banks_are_refused(void **state)
{
	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (unsigned bank = 0; bank < 256; bank++) {
			bool own = bank == own_bank(both[c]);

			assert_int_equal(allowed_in_bank(both[c], 0xE4, 6, bank, 0x07F0), own);
			assert_int_equal(allowed_in_bank(both[c], 0xE4, 1, bank, 0xB296), own);
			assert_int_equal(allowed_in_bank(both[c], 0xE5, 4, bank, 0xB296), own);
		}
	assert_non_null(asm_refusal(ASM_236X, (const uint8_t[]){0xE4, 6, 0, 0x07, 0xF0, 1}));
}

static void an_unknown_chip_is_only_asked_its_version(void **state)
{
	(void)state;
	for (unsigned op = 0; op < 256; op++)
		for (unsigned param = 0; param < 256; param++)
			for (unsigned bank = 0; bank < 256; bank++) {
				bool expect =
				        op == 0xE4 && param == 6 && (bank == 0 || bank == 0x50);

				if (allowed_in_bank(ASM_UNKNOWN, (uint8_t)op, (uint8_t)param, bank,
				            0x07F0) != expect)
					fail_msg("%02X %02X bank %02x: expected %s", op, param,
					        bank, expect ? "allowed" : "refused");
			}
	for (unsigned addr = 0; addr < 0x10000; addr++)
		assert_int_equal(allowed_in_bank(ASM_UNKNOWN, 0xE4, 6, 0, addr), addr == 0x07F0);
}

static void built_commands_have_the_documented_layout(void **state)
{
	const uint8_t read236[] = {0xE4, 0x10, 0x00, 0xB2, 0x20, 0};
	const uint8_t write246[] = {0xE5, 0x0F, 0x50, 0xB2, 0x54, 0};
	uint8_t cdb[ASM_CDB_BYTES];

	(void)state;
	asm_build_cdb(cdb, ASM_236X, ASM_OP_READ, 16, 0xB220);
	assert_memory_equal(cdb, read236, sizeof(cdb));
	asm_build_cdb(cdb, ASM_246X, ASM_OP_WRITE, 0x0F, 0xB254);
	assert_memory_equal(cdb, write246, sizeof(cdb));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(only_e4_and_e5_pass),
	        cmocka_unit_test(only_the_engine_is_writable),
	        cmocka_unit_test(engine_bytes_take_only_values_of_our_requests),
	        cmocka_unit_test(reads_stay_clear_of_what_must_not_be_touched),
	        cmocka_unit_test(every_single_byte_is_readable_or_not_as_listed),
	        cmocka_unit_test(other_banks_are_refused),
	        cmocka_unit_test(an_unknown_chip_is_only_asked_its_version),
	        cmocka_unit_test(built_commands_have_the_documented_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
