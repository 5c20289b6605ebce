/* test_vbios_expected.c - the decoded tables of real images equal what an independent parser found
 * (expected/NAME.json beside the images), key by key. Skips aloud when there is no image.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/vbios/info.h"
#include "device/vbios/powerplay.h"
#include "device/vbios/voltage.h"
#include "device/vbios/vram_info.h"
#include "foreign.h"
#include "helper_images.h"
#include "helper_render.h"

#define MAX_IMAGES 512

static struct image images[MAX_IMAGES];
static size_t n_images;

static unsigned compare(const char *path, const json_t *want, const json_t *got);

static unsigned differ(const char *path, const json_t *want, const json_t *got)
{
	char *w = json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT);
	char *g = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	print_error("%s: expected %s, got %s\n", path, w, g ? g : "nothing");
	free(w);
	free(g);
	return 1;
}

static unsigned compare_object(const char *path, const json_t *want, const json_t *got)
{
	unsigned bad = 0;
	const char *key;
	json_t *value;
	char sub[256];

	json_object_foreach((json_t *)want, key, value)
	{
		snprintf(sub, sizeof(sub), "%.200s.%s", path, key);
		bad += compare(sub, value, json_object_get(got, key));
	}
	return bad;
}

static unsigned compare_array(const char *path, const json_t *want, const json_t *got)
{
	unsigned bad = 0;
	char sub[256];

	if (json_array_size(want) != json_array_size(got))
		return differ(path, want, got);
	for (size_t i = 0; i < json_array_size(want); i++) {
		snprintf(sub, sizeof(sub), "%.200s[%zu]", path, i);
		bad += compare(sub, json_array_get(want, i), json_array_get(got, i));
	}
	return bad;
}

/* compare - every key of @want must be in @got with the same value. Return: differences. */
static unsigned compare(const char *path, const json_t *want, const json_t *got)
{
	if (json_is_object(want) && json_is_object(got))
		return compare_object(path, want, got);
	if (json_is_array(want) && json_is_array(got))
		return compare_array(path, want, got);
	return json_equal(want, got) ? 0 : differ(path, want, got);
}

static void decoded_tables_equal_those_of_another_parser(void **state)
{
	unsigned bad = 0;

	(void)state;
	for (size_t i = 0; i < n_images; i++) {
		struct vbios_rom rom;
		json_error_t error;
		char path[4096];

		snprintf(path, sizeof(path), "%s/expected/%.128s.json", vbios_folder(),
		        images[i].name);
		json_t *want = json_load_file(path, 0, &error);

		if (!want)
			fail_msg("%s: %s", path, error.text);
		assert_int_equal(vbios_rom_parse(&rom, images[i].data, images[i].size), 0);
		json_t *got = render_vbios(&rom);

		assert_true(json_object_size(want) > 0);
		bad += compare(images[i].name, want, got);
		json_decref(want);
		json_decref(got);
	}
	assert_int_equal(bad, 0);
}

/* The tables that the other parser left out: known for all Polaris 10 images (atombios.md 10). */
static void the_other_tables_decode_too(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_images; i++) {
		struct vbios_gpio_i2c i2c;
		struct vbios_mc_init mc;
		struct vbios_ss_info ss;
		struct vbios_rom rom;

		assert_int_equal(vbios_rom_parse(&rom, images[i].data, images[i].size), 0);
		assert_int_equal(vbios_gpio_i2c(&rom, &i2c), 0);
		assert_int_equal(i2c.lines, 8);
		assert_int_equal(i2c.line[0].reg[0], 0x4868);
		assert_int_equal(vbios_ss_info(&rom, &ss), 0);
		assert_true(ss.entries >= 2);
		assert_true(ss.entry[0].max_clock > 0);
		assert_int_equal(vbios_mc_init(&rom, &mc), 0);
		assert_int_equal(mc.microcode_id & 0xFFFF0000, 0x00B40000);
		assert_true(strlen(rom.version) == 22);
	}
}

/* What a driver follows is inside the blocks of the clock patch, and each of them has its values.
 */
static void clock_patch_blocks_hold_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_images; i++) {
		struct vbios_vram_info *v = calloc(1, sizeof(*v));
		struct vbios_rom rom;

		assert_int_equal(vbios_rom_parse(&rom, images[i].data, images[i].size), 0);
		assert_int_equal(vbios_vram_info(&rom, v), 0);
		assert_int_equal(v->remaps, v->dram_data_remap ? v->phy_tiles : 0);
		for (unsigned b = 0; b < v->clk_patch.blocks; b++)
			assert_int_equal(v->clk_patch.block[b].value[0],
			        v->clk_patch.block[b].value[1]); /* the second has code 0 */
		assert_true(v->phy_init.regs > 0 && v->phy_init.blocks > 0);
		free(v);
	}
}

static int drop_images(void **state)
{
	(void)state;
	images_free(images, n_images);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(decoded_tables_equal_those_of_another_parser),
	        cmocka_unit_test(the_other_tables_decode_too),
	        cmocka_unit_test(clock_patch_blocks_hold_values),
	};

	n_images = images_load(images, MAX_IMAGES);
	if (!n_images)
		return 77; /* skipped: images_load() has said why */
	return cmocka_run_group_tests(tests, NULL, drop_images);
}
