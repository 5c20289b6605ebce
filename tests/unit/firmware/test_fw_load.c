/* test_fw_load.c - which files are looked for and where, packings, limits, and what is said when
 * they are not there. */
#include <errno.h>
#include <ftw.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "device/bytes.h"
#include "device/log.h"
#include "helper_file.h"

#define PAYLOAD 2048u

static const struct fw_query rx580 = {.device = 0x67DF, .revision = 0xE7, .smu_sel = true};

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	(void)st, (void)flag, (void)f;
	return remove(path);
}

static int make_folder(void **state)
{
	char *folder = strdup("/tmp/rx580fs-fw-XXXXXX");

	*state = folder;
	return folder && mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(*state);
	return 0;
}

static void save(const char *folder, const char *name, const void *data, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

static void save_kind(const char *folder, enum fw_kind kind, const char *name)
{
	size_t size;
	uint8_t *f = helper_file(kind, 0, PAYLOAD, &size);

	save(folder, name, f, size);
	free(f);
}

/* save_all - every file of an RX 580 but the kinds in @skip (a bit each). */
static void save_all(const char *folder, const struct fw_query *q, unsigned skip)
{
	for (unsigned k = 0; k < FW_KINDS; k++) {
		const char *names[2];

		fw_names(q, (enum fw_kind)k, names);
		if (!(skip >> k & 1))
			save_kind(folder, (enum fw_kind)k, names[0]);
	}
}

static void files_follow_the_board(void **state)
{
	static const struct {
		uint16_t device;
		uint8_t revision;
		bool smu_sel;
		const char *smc, *mc;
		bool kicker;
	} row[] = {
	        {0x67DF, 0xE7, true, "polaris10_k_smc.bin", "polaris10_mc.bin", true},
	        {0x67DF, 0xE3, true, "polaris10_k_smc.bin", "polaris10_mc.bin", true},
	        {0x6FDF, 0xEF, true, "polaris10_k_smc.bin", "polaris10_mc.bin", true},
	        {0x67DF, 0xE1, true, "polaris10_k2_smc.bin", "polaris10_k_mc.bin", true},
	        {0x67DF, 0xF7, true, "polaris10_k2_smc.bin", "polaris10_k_mc.bin", true},
	        {0x67DF, 0xC7, true, "polaris10_smc.bin", "polaris10_mc.bin", false},
	        {0x67DF, 0xE7, false, "polaris10_smc_sk.bin", "polaris10_mc.bin", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct fw_query q = {.device = row[i].device,
		        .revision = row[i].revision,
		        .smu_sel = row[i].smu_sel,
		        .virtual_card = true};
		const char *names[2];
		struct fw_set set;

		fw_names(&q, FW_SMC, names);
		assert_string_equal(names[0], row[i].smc);
		assert_null(names[1]);
		fw_names(&q, FW_MC, names);
		assert_string_equal(names[0], row[i].mc);
		assert_int_equal(fw_load(&set, &q), 0);
		assert_int_equal(set.kicker, row[i].kicker);
		fw_free(&set);
	}
	(void)state;
}

static void all_files_are_loaded(void **state)
{
	struct fw_query q = rx580;
	struct fw_set set;

	q.folder = *state;
	save_all(q.folder, &q, 0);
	assert_int_equal(fw_load(&set, &q), 0);
	assert_false(set.generated);
	assert_string_equal(set.image[FW_PFP].name, "polaris10_pfp_2.bin");
	assert_string_equal(set.image[FW_SMC].name, "polaris10_k_smc.bin");
	for (unsigned k = 0; k < FW_KINDS; k++)
		assert_int_equal(set.image[k].payload_bytes, PAYLOAD);
	fw_free(&set);
}

static void plain_name_stands_in_for_the_second_generation(void **state)
{
	struct fw_query q = rx580;
	struct fw_set set;

	q.folder = *state;
	save_all(q.folder, &q, 1u << FW_MEC);
	save_kind(q.folder, FW_MEC, "polaris10_mec.bin");
	assert_int_equal(fw_load(&set, &q), 0);
	assert_string_equal(set.image[FW_MEC].name, "polaris10_mec.bin");
	fw_free(&set);
}

static void tree_of_linux_firmware_is_accepted(void **state)
{
	struct fw_query q = rx580;
	struct fw_set set;
	char sub[256];

	q.folder = *state;
	snprintf(sub, sizeof(sub), "%s/amdgpu", q.folder);
	assert_int_equal(mkdir(sub, 0700), 0);
	save_all(sub, &q, 0);
	assert_int_equal(fw_load(&set, &q), 0);
	fw_free(&set);
}

static void packed_files_are_unpacked(void **state)
{
	struct fw_query q = rx580;
	struct fw_set set;
	size_t size, n = 0;
	uint8_t packed[8192];
	uint8_t *f = helper_file(FW_RLC, 0, PAYLOAD, &size);

	q.folder = *state;
	save_all(q.folder, &q, 1u << FW_RLC | 1u << FW_CE);
	assert_int_equal(lzma_easy_buffer_encode(
	                         6, LZMA_CHECK_CRC32, NULL, f, size, packed, &n, sizeof(packed)),
	        LZMA_OK);
	save(q.folder, "polaris10_rlc.bin.xz", packed, n);
	free(f);
	f = helper_file(FW_CE, 0, PAYLOAD, &size);
	n = ZSTD_compress(packed, sizeof(packed), f, size, 3);
	assert_false(ZSTD_isError(n));
	save(q.folder, "polaris10_ce_2.bin.zst", packed, n);
	assert_int_equal(fw_load(&set, &q), 0);
	assert_string_equal(set.image[FW_RLC].name, "polaris10_rlc.bin.xz");
	assert_string_equal(set.image[FW_CE].name, "polaris10_ce_2.bin.zst");
	assert_int_equal(set.image[FW_CE].size, size);
	assert_memory_equal(set.image[FW_CE].data, f, size);
	fw_free(&set);
	free(f);
}

static void bombs_are_stopped_at_the_limit(void **state)
{
	size_t size = 4u << 20, n = 0, out_size, room = 1u << 20;
	uint8_t *zeros = calloc(1, size), *packed = malloc(room), *out;

	(void)state;
	assert_int_equal(
	        lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, zeros, size, packed, &n, room),
	        LZMA_OK);
	assert_int_equal(fw_unpack("x.xz", packed, n, &out, &out_size), -EFBIG);
	n = ZSTD_compress(packed, room, zeros, size, 3);
	assert_int_equal(fw_unpack("x.zst", packed, n, &out, &out_size), -EFBIG);
	assert_int_equal(fw_unpack("x", zeros, size, &out, &out_size), -EFBIG);
	/* damaged, and cut off */
	assert_int_equal(fw_unpack("x.xz", zeros, 100, &out, &out_size), -EINVAL);
	assert_int_equal(fw_unpack("x.zst", zeros, 100, &out, &out_size), -EINVAL);
	assert_int_equal(fw_unpack("x.zst", packed, n - 1, &out, &out_size), -EFBIG);
	free(zeros);
	free(packed);
}

static void every_missing_file_is_named(void **state)
{
	struct fw_query q = rx580;
	struct fw_set set;
	char said[1024];

	q.folder = *state;
	save_all(q.folder, &q, 1u << FW_MEC | 1u << FW_SMC | 1u << FW_SDMA1);
	assert_int_equal(fw_load(&set, &q), -ENOENT);
	rx_log_last_error(said, sizeof(said));
	static const char *const words[] = {"polaris10_mec_2.bin (or polaris10_mec.bin)",
	        "polaris10_k_smc.bin", "polaris10_sdma1.bin", "firmware-amd-graphics",
	        "linux-firmware", "--firmware DIR"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strstr(said, words[i]))
			fail_msg("expected \"%s\" in: %s", words[i], said);
	assert_null(strstr(said, "polaris10_pfp"));
}

static void real_card_never_gets_standins(void **state)
{
	struct fw_query q = rx580;
	struct fw_set set;

	q.folder = *state; /* empty */
	assert_int_equal(fw_load(&set, &q), -ENOENT);
	assert_null(set.image[FW_SMC].data);
	q.virtual_card = true; /* a folder was named, so it is meant */
	assert_int_equal(fw_load(&set, &q), -ENOENT);
	q.folder = NULL;
	assert_int_equal(fw_load(&set, &q), 0);
	assert_true(set.generated);
	fw_free(&set);
}

static void damaged_file_is_refused_by_name(void **state)
{
	struct fw_query q = rx580;
	struct fw_set set;
	char said[1024];

	q.folder = *state;
	save_all(q.folder, &q, 0);
	save(q.folder, "polaris10_me_2.bin", "not microcode at all, but long enough", 37);
	assert_int_equal(fw_load(&set, &q), -EINVAL);
	rx_log_last_error(said, sizeof(said));
	assert_non_null(strstr(said, "polaris10_me_2.bin"));
	save(q.folder, "polaris10_me_2.bin", "", 0);
	assert_int_equal(fw_load(&set, &q), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(files_follow_the_board),
	        TEST(all_files_are_loaded),
	        TEST(plain_name_stands_in_for_the_second_generation),
	        TEST(tree_of_linux_firmware_is_accepted),
	        TEST(packed_files_are_unpacked),
	        TEST(bombs_are_stopped_at_the_limit),
	        TEST(every_missing_file_is_named),
	        TEST(real_card_never_gets_standins),
	        TEST(damaged_file_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
