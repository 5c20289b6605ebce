/* smu.c - the power controller: its RAM, how its firmware is started, its mailbox. polaris.md 4.3,
 * 10.1, 14.5. Retail cards run it in protected mode: what was uploaded must pass Test first. It is
 * not instant: a released SMU and a message take a moment, so that a driver has to poll.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/firmware/standin.h"
#include "device/regs/ppsmc.h"
#include "device/virtual/card/card_priv.h"

#define DW(r)             (REG_##r / 4)
#define BOOT_NS           300000ull /* model's own: released until it answers */
#define MESSAGE_NS        20000ull  /* model's own: a message */
#define IMAGE_AT          0x20000u  /* polaris.md 4.3 */
#define HEADER_BYTES      0x100u    /* firmware header with its signature: polaris.md 10.3 */
#define UCODE_LOAD_STATUS 108u      /* in SoftRegisters: polaris.md 10.3 */
#define RST_REG           0x1u
#define CK_DISABLE        0x1u
#define INTERRUPTS_ON     0x1u       /* FIRMWARE_FLAGS */
#define UC_INTERRUPTS     (1u << 16) /* RCU_UC_EVENTS.INTERRUPTS_ENABLED */
#define SMU_DONE          0x1u
#define SMU_PASS          0x2u
#define TEST_ARGUMENT     IMAGE_AT

int card_smu_new(struct vcard *c)
{
	c->smu.ram = malloc(RX_SMC_RAM_BYTES);
	return c->smu.ram ? 0 : -ENOMEM;
}

/* RAM comes up with noise where the firmware will be, so that nothing relies on zeros. */
static void fill_ram(struct vcard *c)
{
	uint32_t x = 0x9E3779B9;

	for (uint32_t i = 0; i < RX_SMC_RAM_BYTES / 4; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		c->smu.ram[i] = i * 4 >= IMAGE_AT && i * 4 < IX_FIRMWARE_FLAGS ? x : 0;
	}
}

void card_smu_reset(struct vcard *c)
{
	uint32_t *ram = c->smu.ram;

	memset(&c->smu, 0, sizeof(c->smu));
	c->smu.ram = ram;
	fill_ram(c);
	c->reg[DW(SMC_RESP_0)] = SMC_RESP_OK; /* amdgpu-oracle.md 7 item 9 */
	card_dpm_reset(c);
}

uint32_t card_smu_u32(struct vcard *c, uint32_t address)
{
	return address % 4 == 0 && address < RX_SMC_RAM_BYTES ? c->smu.ram[address / 4] : 0;
}

uint32_t card_smu_u16(struct vcard *c, uint32_t address)
{
	return card_smu_u32(c, address & ~3u) >> (address & 2 ? 0 : 16) & 0xFFFF;
}

uint32_t card_smu_u8(struct vcard *c, uint32_t address)
{
	return card_smu_u32(c, address & ~3u) >> (24 - 8 * (address & 3)) & 0xFF;
}

uint32_t card_smu_table(struct vcard *c, enum card_smu_table t)
{
	return c->smu.state == SMU_RUNNING ? card_smu_u32(c, IMAGE_AT + (uint32_t)t) : 0;
}

/* header_wrong - the pointers a driver takes from the image: polaris.md 10.3. */
static const char *header_wrong(struct vcard *c)
{
	static const enum card_smu_table tables[] = {
	        SMU_SOFT_REGISTERS, SMU_DPM_TABLE, SMU_FAN_TABLE, SMU_ARB_TABLE, SMU_FUSE_TABLE};

	if (!c->smu.image_end)
		return "no image was uploaded to 0x20000 in order, in reset";
	if (c->smu.image_end < IMAGE_AT + HEADER_BYTES)
		return "the image is shorter than its header";
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		uint32_t at = card_smu_u32(c, IMAGE_AT + (uint32_t)tables[i]);

		if (at % 4 || at < IMAGE_AT || at >= RX_SMC_RAM_BYTES)
			return "a table address in its header lies outside SMC RAM";
	}
	return NULL;
}

static const char *image_wrong(struct vcard *c)
{
	const char *why = header_wrong(c);
	uint32_t bytes = c->smu.image_end - IMAGE_AT;
	uint8_t *image;

	if (why)
		return why;
	image = malloc(bytes);
	if (!image)
		return "the host has no memory to check it";
	for (uint32_t i = 0; i < bytes; i += 4) /* the file's byte order: 4.3 step 5, unswapped */
		put_le32(image + i, card_smu_u32(c, IMAGE_AT + i));
	why = card_ucode_wrong(image, bytes, STANDIN_SMC_AT, STANDIN_SMC);
	free(image);
	return why;
}

static bool image_good(struct vcard *c)
{
	const char *why = image_wrong(c);

	if (why)
		card_guest_error(c, "SMC firmware refused: %s", why);
	return !why && !c->fault[VCARD_FAULT_SMU_REJECTS];
}

uint32_t card_smu_ram_read(struct vcard *c, uint32_t address)
{
	return c->smu.ram[address / 4];
}

/* An upload goes dword by dword from the start of the image (4.3 step 5). */
static void note_upload(struct vcard *c, uint32_t address)
{
	struct card_smu *s = &c->smu;

	if (address < IMAGE_AT)
		return;
	s->verified = false;
	if (address == IMAGE_AT)
		s->image_end = IMAGE_AT + 4;
	else if (address == s->image_end)
		s->image_end += 4;
	else if (address != IX_FIRMWARE_FLAGS)
		s->image_end = 0;
}

void card_smu_ram_write(struct vcard *c, uint32_t address, uint32_t value)
{
	bool held = *card_smc_storage(c, IX_SMC_SYSCON_RESET_CNTL) & RST_REG;

	if (held)
		note_upload(c, address);
	else if (address >= IMAGE_AT && address < IMAGE_AT + HEADER_BYTES)
		card_guest_error(c, "SMC RAM 0x%05x written while its firmware runs", address);
	else if (c->smu.state != SMU_RUNNING && address >= IMAGE_AT && address < IX_FIRMWARE_FLAGS)
		card_guest_error(c, "SMC RAM 0x%05x written while the boot ROM runs", address);
	else if (address == IX_FEATURE_STATUS)
		card_guest_error(c, "FEATURE_STATUS is the firmware's to write");
	c->smu.ram[address / 4] = value;
}

static void hold(struct vcard *c)
{
	c->smu.state = SMU_HELD;
	c->smu.boot_ns = 0;
	c->smu.busy = false;
	card_dpm_reset(c);
}

void card_smu_syscon_write(struct vcard *c, uint32_t index, uint32_t value, uint32_t old)
{
	bool held = *card_smc_storage(c, IX_SMC_SYSCON_RESET_CNTL) & RST_REG;
	bool stopped = *card_smc_storage(c, IX_SMC_SYSCON_CLOCK_CNTL_0) & CK_DISABLE;

	(void)index;
	if (held || stopped)
		hold(c);
	else if (old & ~value & 1) /* rst_reg or ck_disable went to 0 and nothing holds it */
		c->smu.boot_ns = vcard_now(c) + BOOT_NS;
}

static void boot(struct vcard *c)
{
	c->smu.boot_ns = 0;
	*card_smc_storage(c, IX_RCU_UC_EVENTS) |= UC_INTERRUPTS;
	c->smu.state = c->smu.verified ? SMU_RUNNING : SMU_BOOT;
	if (c->smu.state != SMU_RUNNING)
		return;
	c->smu.ram[IX_FIRMWARE_FLAGS / 4] |= INTERRUPTS_ON;
	card_dpm_publish(c);
	card_log(c, "SMU firmware runs");
}

/* card_smu_warm - as an earlier owner left it: generated firmware runs, every engine has its
 * microcode, power management is off. */
void card_smu_warm(struct vcard *c)
{
	static const struct {
		uint32_t address, value;
	} words[] = {
	        {IMAGE_AT + 20, STANDIN_SMC_VERSION}, /* polaris.md 10.3 */
	        {IMAGE_AT + SMU_SOFT_REGISTERS, STANDIN_SOFT_REGISTERS},
	        {IMAGE_AT + SMU_DPM_TABLE, STANDIN_DPM_TABLE},
	        {IMAGE_AT + SMU_FAN_TABLE, STANDIN_FAN_TABLE},
	        {IMAGE_AT + SMU_ARB_TABLE, STANDIN_MC_ARB_TABLE},
	        {IMAGE_AT + SMU_FUSE_TABLE, STANDIN_PM_FUSE_TABLE},
	        {IMAGE_AT + 104, STANDIN_AVFS_MEAN_N_SIGMA},
	        {IMAGE_AT + 108, STANDIN_AVFS_SCLK_OFFSETS},
	        {STANDIN_SOFT_REGISTERS + UCODE_LOAD_STATUS, UCODE_ALL},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		c->smu.ram[words[i].address / 4] = words[i].value;
	*card_smc_storage(c, IX_SMC_SYSCON_RESET_CNTL) &= ~RST_REG;
	*card_smc_storage(c, IX_SMC_SYSCON_CLOCK_CNTL_0) &= ~CK_DISABLE;
	c->smu.verified = true;
	boot(c);
}

static void test(struct vcard *c, uint32_t argument)
{
	uint32_t *status = card_smc_storage(c, IX_SMU_STATUS);

	if (argument != TEST_ARGUMENT)
		card_guest_error(c, "Test with argument 0x%x, not 0x20000", argument);
	c->smu.verified = argument == TEST_ARGUMENT && image_good(c);
	*status |= SMU_DONE | (c->smu.verified ? SMU_PASS : 0);
}

static void answer(struct vcard *c)
{
	uint32_t id = c->smu.message, arg = c->reg[DW(SMC_MSG_ARG_0)], r;

	c->smu.busy = false;
	if (c->smu.state == SMU_BOOT && id == PPSMC_MSG_Test) {
		test(c, arg);
		r = SMC_RESP_OK;
	} else if (c->smu.state == SMU_BOOT) {
		r = SMC_RESP_UNKNOWN;
	} else if (c->fault[VCARD_FAULT_SMU_FAILS] == id) {
		r = SMC_RESP_FAILED;
	} else {
		r = card_smu_execute(c, id, &arg);
	}
	if (r == SMC_RESP_UNKNOWN)
		card_guest_error(c, "SMU message 0x%x is unknown", id);
	c->reg[DW(SMC_MSG_ARG_0)] = arg;
	c->reg[DW(SMC_RESP_0)] = r;
}

/* card_smu_message - SMC_MESSAGE_0 was written. */
void card_smu_message(struct vcard *c, uint32_t id)
{
	struct card_smu *s = &c->smu;

	c->reg[DW(SMC_MESSAGE_0)] = id;
	card_smu_tick(c);
	if (s->busy) {
		card_guest_error(
		        c, "SMU message 0x%x sent before 0x%x was answered", id, s->message);
		return;
	}
	c->reg[DW(SMC_RESP_0)] = 0;
	if (s->state == SMU_HELD) {
		card_guest_error(c, "SMU message 0x%x, but the SMU does not run", id);
		return;
	}
	s->busy = true;
	s->message = id & 0xFFFF;
	s->answer_ns = vcard_now(c) + MESSAGE_NS;
}

void card_smu_tick(struct vcard *c)
{
	struct card_smu *s = &c->smu;
	uint64_t now;

	if (!s->boot_ns && !s->busy && !s->loading)
		return;
	now = vcard_now(c);
	if (s->boot_ns && now >= s->boot_ns)
		boot(c);
	if (s->busy && now >= s->answer_ns && !c->fault[VCARD_FAULT_SMU_SILENT])
		answer(c);
	if (s->loading && now >= s->loaded_ns) {
		uint32_t at = card_smu_table(c, SMU_SOFT_REGISTERS) + UCODE_LOAD_STATUS;

		if (at > UCODE_LOAD_STATUS && at < RX_SMC_RAM_BYTES)
			s->ram[at / 4] |= s->loading;
		c->ucode |= s->loading;
		s->loading = 0;
	}
}
