/* test_fw_parse.c - each header field of a microcode file: the right one is published, a wrong one
 * refused in words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/firmware/standin.h"
#include "helper_file.h"

#define PAYLOAD 1024u

static void every_kind_is_published(void **state)
{
	(void)state;
	for (unsigned k = 0; k < FW_KINDS; k++) {
		struct fw_image image;
		char why[160] = "";
		size_t size;
		uint8_t *f = helper_file((enum fw_kind)k, 0, PAYLOAD, &size);
		int err = fw_parse(&image, (enum fw_kind)k, f, size, why, sizeof(why));

		if (err)
			fail_msg("%s: expected 0, got %d: %s", fw_title((enum fw_kind)k), err, why);
		assert_int_equal(image.payload_bytes, PAYLOAD);
		assert_ptr_equal(image.payload, f + 256);
		assert_int_equal(image.ucode_version, 0x12345678);
		assert_int_equal(image.ip_major, 8);
		free(image.data);
	}
}

static void jump_table_of_mec_is_in_bytes(void **state)
{
	struct fw_image image;
	char why[160];
	size_t size;
	uint8_t *f = helper_file(FW_MEC, 0, PAYLOAD, &size);

	(void)state;
	assert_int_equal(fw_parse(&image, FW_MEC, f, size, why, sizeof(why)), 0);
	assert_int_equal(image.jt_offset, PAYLOAD - 64);
	assert_int_equal(image.jt_bytes, 64);
	assert_int_equal(image.feature_version, 49);
	free(f);
}

static void io_debug_pairs_of_mc_are_published(void **state)
{
	struct fw_image image;
	char why[160];
	size_t size;
	uint8_t *f = helper_file(FW_MC, 0, PAYLOAD, &size);

	(void)state;
	assert_int_equal(fw_parse(&image, FW_MC, f, size, why, sizeof(why)), 0);
	assert_int_equal(image.io_debug_bytes, 16);
	assert_int_equal(get_le32(image.io_debug), 0x9F);
	free(f);
}

static void sdma_comes_in_two_header_versions(void **state)
{
	(void)state;
	for (uint16_t minor = 0; minor < 2; minor++) {
		struct fw_image image;
		char why[160] = "";
		size_t size;
		uint8_t *f = helper_file(FW_SDMA1, minor, PAYLOAD, &size);

		assert_int_equal(fw_parse(&image, FW_SDMA1, f, size, why, sizeof(why)), 0);
		assert_int_equal(image.header_minor, minor);
		assert_int_equal(image.payload_bytes, PAYLOAD);
		free(f);
	}
}

/* One field of one kind replaced by a value that cannot be. */
static const struct spoiled {
	enum fw_kind kind;
	unsigned at;
	uint32_t value;
	const char *says; /* a word of the reason */
} spoiled[] = {
        {FW_PFP, 0, 1, "size_bytes"},
        {FW_PFP, 4, 40, "header_size_bytes"}, /* shorter than gfx v1.0 */
        {FW_PFP, 4, 0xFFFFFFFC, "header_size_bytes"},
        {FW_PFP, 4, 45, "header_size_bytes"},
        {FW_PFP, 8, 0x00000002, "header version"},
        {FW_PFP, 8, 0x00010001, "header version"}, /* 1.1 is for SDMA only */
        {FW_RLC, 8, 0x00000001, "header version"},
        {FW_SDMA0, 8, 0x00020001, "header version"},
        {FW_PFP, 20, 0, "ucode_size_bytes"},
        {FW_PFP, 20, 1022, "microcode"},
        {FW_PFP, 20, 0xFFFFFFFC, "microcode"},
        {FW_PFP, 20, 1028, "microcode"},
        {FW_PFP, 24, 32, "microcode"}, /* inside the header */
        {FW_PFP, 24, 258, "microcode"},
        {FW_PFP, 24, 0xFFFFFF00, "microcode"},
        {FW_MEC, 36, 0x3FFFFFFF, "jump table"},
        {FW_MEC, 36, 0, "jump table"},
        {FW_MEC, 40, 17, "jump table"},
        {FW_MEC, 40, 0, "jump table"},
        {FW_SDMA0, 8, 0x00010001, "header_size_bytes"}, /* 1.1 needs 52 bytes */
        {FW_RLC, 72, 0xFFFFFFFC, "register list"},
        {FW_RLC, 76, 0, "register list"},
        {FW_RLC, 76, 0xFFFFFFFC, "register list"},
        {FW_RLC, 96, 4, "register list"},
        {FW_SMC, 32, 0x20002, "ucode_start_addr"},
        {FW_SMC, 32, 0x3FFFC, "ucode_start_addr"},
        {FW_MC, 32, 12, "io_debug"},
        {FW_MC, 36, 1276, "io_debug"},
        {FW_MC, 36, 8, "io_debug"},
};

static void wrong_fields_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(spoiled); i++) {
		const struct spoiled *s = &spoiled[i];
		struct fw_image image = {.size = 77};
		char why[160] = "";
		size_t size;
		uint8_t *f = helper_file(s->kind, 0, PAYLOAD, &size);

		put_le32(f + s->at, s->value);
		int err = fw_parse(&image, s->kind, f, size, why, sizeof(why));

		if (err != -EINVAL || !strstr(why, s->says))
			fail_msg("%s, offset %u = 0x%x: expected -EINVAL and \"%s\", got %d: %s",
			        fw_title(s->kind), s->at, s->value, s->says, err, why);
		assert_int_equal(image.size, 77); /* nothing was published */
		free(f);
	}
}

static void smc_image_larger_than_its_ram_is_refused(void **state)
{
	struct fw_image image;
	char why[160] = "";
	size_t size;
	uint8_t *f = helper_file(FW_SMC, 0, 0x20004, &size);

	(void)state;
	assert_int_equal(fw_parse(&image, FW_SMC, f, size, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "fit"));
	free(f);
}

static void digest_of_sdma_is_checked(void **state)
{
	struct fw_image image;
	char why[160] = "";
	size_t size;
	uint8_t *f = helper_file(FW_SDMA0, 1, PAYLOAD, &size);

	(void)state;
	put_le32(f + 48, PAYLOAD);
	assert_int_equal(fw_parse(&image, FW_SDMA0, f, size, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "digest_size"));
	free(f);
}

static void every_truncation_is_refused(void **state)
{
	struct fw_image image;
	char why[160];
	size_t size;
	uint8_t *f = helper_file(FW_MEC, 0, 128, &size);

	(void)state;
	for (size_t n = 0; n < size; n++) {
		uint8_t *cut = malloc(n + 1);

		memcpy(cut, f, n);
		assert_int_equal(fw_parse(&image, FW_MEC, cut, n, why, sizeof(why)), -EINVAL);
		if (n >= 32) { /* also when the first field admits the length */
			put_le32(cut, (uint32_t)n);
			assert_int_equal(
			        fw_parse(&image, FW_MEC, cut, n, why, sizeof(why)), -EINVAL);
		}
		free(cut);
	}
	free(f);
}

/* ---- stand-ins ---- */

/* as the definition in standin.h, table-driven: another way than the generator's */
static uint32_t crc(const uint8_t *p, size_t n)
{
	uint32_t table[256], c = 0xFFFFFFFF;

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t v = i;

		for (int k = 0; k < 8; k++)
			v = v & 1 ? 0xEDB88320u ^ v >> 1 : v >> 1;
		table[i] = v;
	}
	for (size_t i = 0; i < n; i++)
		c = table[(c ^ p[i]) & 0xFF] ^ c >> 8;
	return ~c;
}

static void assert_block(const uint8_t *p, uint32_t head, uint32_t kind, uint32_t bytes)
{
	assert_int_equal(get_le32(p + head), STANDIN_MAGIC);
	assert_int_equal(get_le32(p + head + 4), kind);
	assert_int_equal(get_le32(p + head + 8), bytes);
	assert_int_equal(get_le32(p + bytes - 4), crc(p, bytes - 4));
}

static void standins_parse_and_hold_together(void **state)
{
	static const uint32_t id[FW_KINDS] = {10, 3, 4, 5, 6, 1, 2, STANDIN_SMC, STANDIN_MC};

	(void)state;
	assert_int_equal(crc((const uint8_t *)"123456789", 9), 0xCBF43926); /* the known check */
	for (unsigned k = 0; k < FW_KINDS; k++) {
		struct fw_image image;
		char why[160] = "";
		size_t size;
		uint8_t *f = fw_standin((enum fw_kind)k, &size);

		assert_non_null(f);
		if (fw_parse(&image, (enum fw_kind)k, f, size, why, sizeof(why)))
			fail_msg("%s: %s", fw_title((enum fw_kind)k), why);
		if (k == FW_MEC) {
			assert_block(image.payload, 0, 6, image.jt_offset);
			assert_block(image.payload + image.jt_offset, 0, 7, image.jt_bytes);
		} else {
			assert_block(image.payload, k == FW_SMC ? STANDIN_SMC_AT : 0, id[k],
			        image.payload_bytes);
		}
		free(f);
	}
}

static void smc_standin_has_usable_pointers(void **state)
{
	static const unsigned at[] = {48, 52, 56, 68, 72, 76}; /* polaris.md 10.3 */
	struct fw_image image;
	char why[160];
	size_t size;
	uint8_t *f = fw_standin(FW_SMC, &size);

	(void)state;
	assert_int_equal(fw_parse(&image, FW_SMC, f, size, why, sizeof(why)), 0);
	assert_int_equal(image.start_address, 0x20000);
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		uint32_t p = get_le32(image.payload + at[i]);

		if (p < 0x20000 || p >= 0x40000 || p % 4)
			fail_msg("offset %u: 0x%x is no place in SMC RAM", at[i], p);
		/* tables begin empty */
		assert_int_equal(get_le32(image.payload + (p - 0x20000)), 0);
	}
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_kind_is_published),
	        cmocka_unit_test(jump_table_of_mec_is_in_bytes),
	        cmocka_unit_test(io_debug_pairs_of_mc_are_published),
	        cmocka_unit_test(sdma_comes_in_two_header_versions),
	        cmocka_unit_test(wrong_fields_are_refused),
	        cmocka_unit_test(smc_image_larger_than_its_ram_is_refused),
	        cmocka_unit_test(digest_of_sdma_is_checked),
	        cmocka_unit_test(every_truncation_is_refused),
	        cmocka_unit_test(standins_parse_and_hold_together),
	        cmocka_unit_test(smc_standin_has_usable_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
