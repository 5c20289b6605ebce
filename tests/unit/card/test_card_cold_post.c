/* test_card_cold_post.c - a cold card is posted by the accesses that Linux' interpreter made with
 * real images (policy E of atombios.md 14): every read answers as the trace says. Without images
 * and traces that test skips.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/bytes.h"
#include "foreign.h"
#include "tests/unit/card/helper_cold.h"

struct replay {
	const char *name;
	struct host *host;
	unsigned reads, writes;
};

/* MC_SEQ_MISC0[31:28] is a strap of the card, not what was written (amdgpu-oracle.md 7 item 11). */
static uint32_t compared(uint32_t dw)
{
	return dw == REG_MC_SEQ_MISC0 / 4 ? 0x0FFFFFFF : 0xFFFFFFFF;
}

static void event(struct replay *r, char kind, uint32_t dw, uint32_t value)
{
	uint32_t got;

	if (kind == 'W') {
		reg_write(r->host, dw * 4, value);
		r->writes++;
	} else {
		got = reg_read(r->host, dw * 4);
		r->reads++;
		if ((got ^ value) & compared(dw))
			fail_msg("%s, read %u: register dw 0x%05x, expected 0x%08x, got 0x%08x",
			        r->name, r->reads, dw, value, got);
	}
	if (guest_errors(r->host))
		fail_msg("%s, after %u reads and %u writes, dw 0x%05x: guest error: %s", r->name,
		        r->reads, r->writes, dw, r->host->last);
}

static void replay_trace(struct replay *r, FILE *f)
{
	char line[4096];
	bool on = false;

	while (fgets(line, sizeof(line), f)) {
		char kind;
		uint32_t dw, value;

		if (line[0] == 'T')
			on = strstr(line, "policy=E") != NULL;
		else if (on && sscanf(line, "%c %x %x", &kind, &dw, &value) == 3 &&
		         (kind == 'R' || kind == 'W'))
			event(r, kind, dw, value);
	}
}

static void check_posted(struct host *h, const char *name)
{
	uint32_t mib = reg_read(h, REG_CONFIG_MEMSIZE);

	if (mib != 0x1000 && mib != 0x2000)
		fail_msg("%s: CONFIG_MEMSIZE is 0x%x, expected 0x1000 or 0x2000", name, mib);
	assert_int_equal(reg_read(h, REG_MC_VM_FB_LOCATION), 0xF400 | (0xF3FF + (mib >> 4)) << 16);
	assert_true(reg_read(h, REG_BIOS_SCRATCH_7) & 0x200);
	assert_int_equal(reg_read(h, REG_BIF_FB_EN), 3);
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC0) & 0xF0000080, 0x50000080);
	vram_write(h, 0x1000, 0x12345678);
	hdp_flush_now(h);
	assert_int_equal(vram_fresh(h, 0x1000), 0x12345678);
	assert_no_guest_errors(h);
	/* display registers were there for ASIC_Init only */
	reg_read(h, 0x1A7D * 4);
	assert_int_equal(guest_errors(h), 1);
}

static bool replay_image(const char *rom)
{
	char trace[4096], command[5000];
	const char *base = strrchr(rom, '/') + 1;
	struct replay r = {.name = base};
	FILE *f;

	snprintf(trace, sizeof(trace), "%s/traces/%.*s.asic_init.trace.gz", vbios_folder(),
	        (int)(strlen(base) - 4), base);
	if (access(trace, R_OK))
		return false;
	r.host = host_new(
	        &(struct vcard_options){.cold = true, .vbios = rom, .vram_bytes = 8ull << 30});
	snprintf(command, sizeof(command), "gzip -dc '%s'", trace);
	f = popen(command, "r");
	assert_non_null(f);
	replay_trace(&r, f);
	assert_int_equal(pclose(f), 0);
	assert_true(r.reads > 500 && r.writes > 1000);
	check_posted(r.host, base);
	host_free(r.host);
	return true;
}

static void real_images_post_the_card_as_traced(void **state)
{
	unsigned done = 0;
	glob_t found;

	(void)state;
	if (!vbios_images(&found))
		skip();
	for (size_t i = 0; i < found.gl_pathc; i++)
		done += replay_image(found.gl_pathv[i]);
	globfree(&found);
	if (!done) {
		fprintf(stderr, "SKIPPED: no trace of an image in %s\n", vbios_folder());
		skip();
	}
}

static void power_on_is_unposted(void **state)
{
	struct host *h = *state;

	assert_int_equal(reg_read(h, REG_CONFIG_MEMSIZE), 0);
	assert_int_equal(reg_read(h, REG_BIF_FB_EN), 0);
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC0), 0x50000000); /* the strap only */
	assert_int_equal(reg_read(h, REG_SMC_RESP_0), 1);            /* amdgpu-oracle.md 7 */
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(reg_read(h, REG_BIOS_SCRATCH_0 + 4 * i), 0);
	assert_int_equal(smc_get(h, IX_SMC_SYSCON_RESET_CNTL) & 1, 1);
	assert_int_equal(smc_get(h, IX_SMC_SYSCON_CLOCK_CNTL_0) & 1, 1);
	assert_int_equal(smc_get(h, IX_SMC_PC_C), 0);
	assert_int_equal(smc_get(h, IX_SMU_FIRMWARE), 0x30000);
	assert_int_equal(smc_get(h, IX_RCU_UC_EVENTS), 0x80);
	assert_no_guest_errors(h);
}

static void memory_is_noise_until_initialised(void **state)
{
	struct host *h = *state;

	vram_write(h, 0x100, 0xCAFE);
	assert_int_equal(guest_errors(h), 1);
	hdp_flush_now(h);
	assert_int_not_equal(vram_read(h, 0x100), 0xCAFE);
	assert_int_equal(guest_errors(h), 2);
	reg_write(h, REG_MM_INDEX, 0x80000100);
	reg_write(h, REG_MM_DATA, 0xCAFE);
	assert_int_not_equal(reg_read(h, REG_MM_DATA), 0xCAFE);
	assert_int_equal(guest_errors(h), 4);
}

static void sequencer_needs_a_program(void **state)
{
	struct host *h = *state;

	reg_write(h, REG_MC_SEQ_SUP_CNTL, 1);
	assert_int_equal(guest_errors(h), 1);
	assert_non_null(strstr(h->last, "no program"));
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC0) & 0x80, 0);
	reg_write(h, REG_MC_SEQ_SUP_PGM, 1); /* not in program mode */
	assert_int_equal(guest_errors(h), 2);
}

static void corrupt_sequencer_program_does_not_start(void **state)
{
	struct host *h = *state;
	uint8_t image[64];

	stand_in(image, sizeof(image), 0x101);
	image[20] ^= 1;
	cold_load_mc(h, image, sizeof(image));
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC0) & 0x80, 0);
	assert_int_equal(guest_errors(h), 1);
	assert_non_null(strstr(h->last, "checksum"));
	image[20] ^= 1;
	cold_load_mc(h, image, sizeof(image));
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC0) & 0x80, 0x80);
	assert_int_equal(guest_errors(h), 1);
}

static void pio_dma_copies_flash_to_the_sequencer_only(void **state)
{
	struct host *h = *state;

	reg_write(h, REG_MC_SEQ_SUP_CNTL, 0x10);
	reg_write(h, REG_SMC_IND_INDEX_1, IX_ROM_INDEX);
	reg_write(h, REG_SMC_IND_DATA_1, 0);
	reg_write(h, REG_SMC_IND_INDEX_1, IX_ROM_DATA);
	reg_write(h, REG_CP_DMA_PIO_SRC_ADDR, REG_SMC_IND_DATA_1);
	reg_write(h, REG_CP_DMA_PIO_DST_ADDR, REG_BIOS_SCRATCH_0);
	reg_write(h, REG_CP_DMA_PIO_COMMAND, 0x7C000040);
	assert_int_equal(guest_errors(h), 1);
	reg_write(h, REG_CP_DMA_PIO_DST_ADDR, REG_MC_SEQ_SUP_PGM);
	reg_write(h, REG_CP_DMA_PIO_COMMAND, 0x00000040);
	assert_int_equal(guest_errors(h), 2);
	reg_write(h, REG_CP_DMA_PIO_COMMAND, 0x7C000040);
	assert_int_equal(guest_errors(h), 2);
	reg_write(h, REG_SMC_IND_INDEX_1, IX_ROM_INDEX);
	assert_int_equal(reg_read(h, REG_SMC_IND_DATA_1), 0x40); /* it advanced */
}

static void training_can_be_made_to_fail(void **state)
{
	struct host *h = *state;

	vcard_inject(h->card, VCARD_FAULT_MC_DEAF, 1);
	reg_write(h, REG_MC_SEQ_MISC9, 0xFF00);
	reg_write(h, REG_MC_SEQ_MISC9, 0x0007);
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC9), 0x0007);
	vcard_inject(h->card, VCARD_FAULT_MC_DEAF, 0);
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC9), 0x0707);
}

static void drivers_get_named_smc_registers_only(void **state)
{
	struct host *h = *state;

	reg_write(h, REG_SMC_IND_INDEX_1, 0xC0500268); /* ATOM tables: whole blocks */
	reg_write(h, REG_SMC_IND_DATA_1, 5);
	assert_int_equal(reg_read(h, REG_SMC_IND_DATA_1), 5);
	assert_no_guest_errors(h);
	smc_get(h, 0xC0500268);
	assert_int_equal(guest_errors(h), 1);
	smc_put(h, IX_SMC_PC_C, 1);
	assert_int_equal(guest_errors(h), 2);
}

static void cold_reset(struct host *h, bool perst)
{
	cold_post(h);
	vram_write(h, 0, 1);
	assert_no_guest_errors(h);
	if (perst)
		vcard_reset(h->card);
	else
		cfg_write(h, 0, 0x7C, 0x39D5E86B); /* polaris.md 1.6 */
	host_enumerate(h);
	vcard_advance(h->card, 5);
	assert_int_equal(reg_read(h, REG_CONFIG_MEMSIZE), 0);
	assert_int_equal(reg_read(h, REG_BIOS_SCRATCH_7), 0);
	assert_no_guest_errors(h);
	vram_read(h, 0);
	assert_int_equal(guest_errors(h), 1);
}

static void config_reset_is_cold(void **state)
{
	cold_reset(*state, false);
}

static void fundamental_reset_is_cold(void **state)
{
	cold_reset(*state, true);
}

static void bad_image_files_are_refused(void **state)
{
	static const uint8_t text[600] = "this is no image";
	char path[] = "/tmp/rx-vbios-XXXXXX";
	struct vcard *card = NULL;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	assert_int_equal(vcard_new(&card, &(struct vcard_options){.vbios = path}), -EINVAL);
	assert_int_equal(ftruncate(fd, 0x80004), 0);
	assert_int_equal(pwrite(fd, "\x55\xAA", 2, 0), 2);
	assert_int_equal(vcard_new(&card, &(struct vcard_options){.vbios = path}), -EINVAL);
	close(fd);
	unlink(path);
	assert_int_equal(vcard_new(&card, &(struct vcard_options){.vbios = path}), -ENOENT);
}

/* A file of 200 KiB: a flash of 256 KiB, of which the window shows half, the identity of its
 * header.
 */
static void image_file_sets_flash_and_identity(void **state)
{
	static uint8_t rom[200 * 1024] = {0x55, 0xAA, 1};
	char path[] = "/tmp/rx-vbios-XXXXXX";
	int fd = mkstemp(path);
	struct host *h;
	uint32_t v;

	(void)state;
	put_le16(rom + 0x48, 0x100);
	put_le32(rom + 0x118, 0xE3871DA2);
	put_le32(rom + 0x1FFFC, 0x0DDF00D5);
	put_le32(rom + sizeof(rom) - 4, 0x600DF00D);
	assert_int_equal(write(fd, rom, sizeof(rom)), sizeof(rom));
	close(fd);
	h = host_new(&(struct vcard_options){.cold = true, .vbios = path});
	unlink(path);
	assert_int_equal(cfg_read(h, 0, 0x2C), 0xE3871DA2);
	cfg_write(h, 0, 0x30, 0xFFFFFFFE);
	assert_int_equal(cfg_read(h, 0, 0x30), 0xFFFE0000); /* polaris.md 1.2 */
	cfg_write(h, 0, 0x30, (uint32_t)0xE0180000 | 1);
	assert_int_equal(mem_read(h, 0xE0180000 + 0x1FFFC, &v), VCARD_SC);
	assert_int_equal(v, 0x0DDF00D5);
	assert_int_equal(mem_read(h, 0xE0180000 + 0x20000, &v), VCARD_UR);
	smc_put(h, IX_ROM_INDEX, sizeof(rom) - 4);
	assert_int_equal(smc_get(h, IX_ROM_DATA), 0x600DF00D);
	assert_int_equal(smc_get(h, IX_ROM_DATA), 0); /* it advances; beyond the file 0 */
	assert_no_guest_errors(h);
	host_free(h);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, cold_setup, host_teardown)
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(real_images_post_the_card_as_traced),
	        cmocka_unit_test(bad_image_files_are_refused),
	        cmocka_unit_test(image_file_sets_flash_and_identity),
	        T(power_on_is_unposted),
	        T(memory_is_noise_until_initialised),
	        T(sequencer_needs_a_program),
	        T(corrupt_sequencer_program_does_not_start),
	        T(pio_dma_copies_flash_to_the_sequencer_only),
	        T(training_can_be_made_to_fail),
	        T(drivers_get_named_smc_registers_only),
	        T(config_reset_is_cold),
	        T(fundamental_reset_is_cold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
