/* start.c - the SMU's firmware: polaris.md 4.3. A retail card runs in protected mode: the SMU's
 * boot code checks the image and tells in SMU_STATUS what it thinks of it. */
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"
#include "device/smu/smu_priv.h"

/* fields: polaris.md 4.3 */
#define RST_REG                (1u << 0)   /* SMC_SYSCON_RESET_CNTL */
#define CK_DISABLE             (1u << 0)   /* SMC_SYSCON_CLOCK_CNTL_0 */
#define BOOT_SEQ_DONE          (1u << 7)   /* RCU_UC_EVENTS */
#define RCU_INTERRUPTS_ENABLED (1u << 16)  /* RCU_UC_EVENTS */
#define SMU_DONE               (1u << 0)   /* SMU_STATUS */
#define SMU_PASS               (1u << 1)   /* SMU_STATUS */
#define SRAM_RD_BLOCK_EN       (1u << 3)   /* SMU_FIRMWARE */
#define SMU_MODE               (1u << 16)  /* SMU_FIRMWARE */
#define SMU_SEL                (1u << 17)  /* SMU_FIRMWARE */
#define INTERRUPTS_ENABLED     (1u << 0)   /* FIRMWARE_FLAGS */
#define JUMP_TO_FIRMWARE       0xE0008040u /* step 3 */
#define SAMPLES                8
#define BOOT_SCLK              30000u /* 10 kHz: polaris.md 1.4 */
#define BOOT_AGAIN_US          100000 /* polaris.md 4.3 step 6: the order of a first boot's limit */

int smu_new(struct smu **out, struct mmio *mmio, struct gmc *gmc)
{
	struct smu *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->mmio = mmio;
	s->gmc = gmc;
	*out = s;
	return 0;
}

void smu_free(struct smu *s)
{
	free(s);
}

const struct smu_header *smu_header(const struct smu *s)
{
	return &s->header;
}

bool smu_dpm_enabled(const struct smu *s)
{
	return s->dpm;
}

int smu_look(struct smu *s, struct smu_state *out)
{
	uint32_t clock, pc, firmware;
	int err = smc_read(s->mmio, IX_SMC_SYSCON_CLOCK_CNTL_0, &clock);

	if (!err)
		err = smc_read(s->mmio, IX_SMC_PC_C, &pc);
	if (!err)
		err = smc_read(s->mmio, IX_SMU_FIRMWARE, &firmware);
	if (err)
		return err;
	*out = (struct smu_state){
	        .running = !(clock & CK_DISABLE) && pc >= SMU_RUNNING_PC,
	        .protected_mode = firmware & SMU_MODE,
	        .smu_sel = firmware & SMU_SEL,
	        .pc = pc,
	};
	return 0;
}

/* hold - in reset, as a cold card is. */
static int hold(struct smu *s, bool on)
{
	return smc_update(s->mmio, IX_SMC_SYSCON_RESET_CNTL, RST_REG, on ? RST_REG : 0);
}

static int wait_for(struct smu *s, uint32_t ix, uint32_t mask, const char *what)
{
	uint32_t last = 0;
	int err = smc_wait(s->mmio, ix, mask, mask, SMU_TIMEOUT_MS, &last);

	if (err == -ETIMEDOUT)
		return rx_fail("smu", err,
		        "start: %s does not come (0x%08x at SMC 0x%08x, bit 0x%x expected, after "
		        "%d ms)",
		        what, last, ix, mask, SMU_TIMEOUT_MS);
	return err;
}

/* ---- the image ---- */

/* check_sample - a few dwords back, the last among them. Not where the SMU forbids reading. */
static int check_sample(struct smu *s, const struct fw_image *smc)
{
	size_t n = smc->payload_bytes / 4;
	uint32_t firmware, value;
	int err = smc_read(s->mmio, IX_SMU_FIRMWARE, &firmware);

	if (!err && firmware & SRAM_RD_BLOCK_EN)
		rx_log(LOG_INFO, "smu",
		        "SMU_FIRMWARE reads 0x%08x, bit 3 clear expected: SMC RAM cannot be read "
		        "back, the image goes unchecked",
		        firmware);
	if (err || firmware & SRAM_RD_BLOCK_EN)
		return err;
	for (size_t i = 1; i <= SAMPLES; i++) {
		size_t at = n * i / SAMPLES - (n >= SAMPLES);
		uint32_t want = get_le32(smc->payload + 4 * at);

		err = smc_read(s->mmio, SMU_IMAGE + 4 * (uint32_t)at, &value);
		if (err)
			return err;
		if (value != want)
			return rx_fail("smu", -EBADMSG,
			        "upload: SMC RAM 0x%zx reads 0x%08x, expected 0x%08x",
			        SMU_IMAGE + 4 * at, value, want);
	}
	return 0;
}

/* upload - unswapped, step 5. 130 KB, one register write a dword: the longest step of a cold
 * start. */
static int upload(struct smu *s, const struct fw_image *smc)
{
	size_t n = smc->payload_bytes / 4;
	RX_CLEANUP(free) uint32_t *values = malloc(4 * n);

	if (!values)
		return -ENOMEM;
	if (smc->start_address != SMU_IMAGE)
		rx_log(LOG_WARN, "smu", "%s wants to be loaded at 0x%x; it goes to 0x%x as always",
		        smc->name, smc->start_address, SMU_IMAGE);
	for (size_t i = 0; i < n; i++)
		values[i] = get_le32(smc->payload + 4 * i);
	int err = smc_write_run(s->mmio, SMU_IMAGE, values, n);

	return err ? err : check_sample(s, smc);
}

/* ---- both ways to start ---- */

static int release(struct smu *s)
{
	int err = smc_update(s->mmio, IX_SMC_SYSCON_CLOCK_CNTL_0, CK_DISABLE, 0);

	return err ? err : hold(s, false);
}

/* ask_for_check - the boot code checks the image at the address given (step 4). */
static int ask_for_check(struct smu *s, const struct fw_image *smc)
{
	uint32_t status;
	int err = smu_message_arg(s, PPSMC_MSG_Test, SMU_IMAGE);

	if (!err)
		err = wait_for(s, IX_SMU_STATUS, SMU_DONE, "SMU_STATUS.SMU_DONE");
	if (!err)
		err = smc_read(s->mmio, IX_SMU_STATUS, &status);
	if (!err && !(status & SMU_PASS))
		return rx_fail("smu", -EBADMSG,
		        "the SMU refuses %s (SMU_STATUS 0x%x, bit 0x%x expected): wrong variant "
		        "for this card, or damaged on its way",
		        smc->name, status, SMU_PASS);
	return err;
}

/* wait_boot - after the release. @before: RCU_UC_EVENTS of an earlier start; the event stays, so
 * then nothing but time tells. */
static int wait_boot(struct smu *s, uint32_t before)
{
	if (before & RCU_INTERRUPTS_ENABLED)
		sleep_us(BOOT_AGAIN_US);
	return wait_for(
	        s, IX_RCU_UC_EVENTS, RCU_INTERRUPTS_ENABLED, "RCU_UC_EVENTS.INTERRUPTS_ENABLED");
}

/* start_protected - step 4. */
static int start_protected(struct smu *s, const struct fw_image *smc)
{
	uint32_t events;
	int err = hold(s, true);

	if (!err)
		err = upload(s, smc);
	if (!err)
		err = smc_read(s->mmio, IX_RCU_UC_EVENTS, &events);
	if (!err)
		err = smc_write_checked(s->mmio, IX_SMU_STATUS, 0);
	if (!err)
		err = release(s);
	if (!err)
		err = wait_boot(s, events);
	if (!err)
		err = ask_for_check(s, smc);
	if (!err)
		err = smc_write_checked(s->mmio, IX_FIRMWARE_FLAGS, 0);
	if (!err)
		err = hold(s, true);
	if (!err)
		err = hold(s, false);
	return err;
}

/* start_unprotected - step 3; no retail card is known to want it. */
static int start_unprotected(struct smu *s, const struct fw_image *smc)
{
	int err = wait_for(s, IX_RCU_UC_EVENTS, BOOT_SEQ_DONE, "RCU_UC_EVENTS.boot_seq_done");

	if (!err)
		err = smc_write_checked(s->mmio, IX_FIRMWARE_FLAGS, 0);
	if (!err)
		err = hold(s, true);
	if (!err)
		err = upload(s, smc);
	if (!err)
		err = smc_write(s->mmio, 0, JUMP_TO_FIRMWARE);
	return err ? err : release(s);
}

static int refuse_running(const struct smu_state *state)
{
	return rx_fail("smu", -EBUSY,
	        "start: firmware already runs (SMC_PC_C 0x%x); reset the card first", state->pc);
}

int smu_halt(struct smu *s)
{
	int err = hold(s, true);
	int off = smc_update(s->mmio, IX_SMC_SYSCON_CLOCK_CNTL_0, CK_DISABLE, CK_DISABLE);

	s->answered = false;
	return err ? err : off;
}

/* tell_running - polaris.md 13.3 steps 30 and 32. Neither decides anything now: a program counter
 * is a moment's, and who answers one message has a mailbox. */
static int tell_running(struct smu *s, const char *name, bool protected_mode)
{
	uint32_t pc, sclk = 0;
	int err = smc_read(s->mmio, IX_SMC_PC_C, &pc);

	if (!err)
		err = smu_query(s, PPSMC_MSG_API_GetSclkFrequency, &sclk);
	if (err && err != -EOPNOTSUPP && err != -EIO)
		return err;
	rx_log(LOG_INFO, "smu", "firmware 0x%08x runs (%s, %s mode), SMC_PC_C 0x%x, engine %u MHz",
	        s->header.version, name, protected_mode ? "protected" : "unprotected", pc,
	        sclk / 100);
	if (pc < SMU_RUNNING_PC)
		rx_log(LOG_WARN, "smu",
		        "SMC_PC_C reads 0x%x, expected 0x%x or more of firmware that runs: the "
		        "next owner may not notice that it does",
		        pc, SMU_RUNNING_PC);
	if (sclk < BOOT_SCLK * 9 / 10 || sclk > BOOT_SCLK * 11 / 10)
		rx_log(LOG_WARN, "smu",
		        "API_GetSclkFrequency answers %u, expected about %u (10 kHz), the boot "
		        "clock",
		        sclk, BOOT_SCLK);
	return 0;
}

int smu_start(struct smu *s, const struct fw_image *smc)
{
	struct smu_state state;
	int err = smu_look(s, &state);

	if (err || state.running)
		return err ? err : refuse_running(&state);
	s->answered = true; /* in reset: no message is under way, whatever SMC_RESP_0 has kept */
	err = state.protected_mode ? start_protected(s, smc) : start_unprotected(s, smc);
	if (!err)
		err = wait_for(s, IX_FIRMWARE_FLAGS, INTERRUPTS_ENABLED,
		        "FIRMWARE_FLAGS.INTERRUPTS_ENABLED");
	if (!err)
		err = smu_read_header(s);
	if (!err)
		err = tell_running(s, smc->name, state.protected_mode);
	if (err) /* nothing half started */
		smu_halt(s);
	return err;
}

/* ---- what runs: polaris.md 10.3 ---- */

/* One pointer of the firmware header; a table of @bytes there must fit. */
struct pointer {
	const char *name;
	uint32_t offset, bytes;
	uint32_t *out;
	bool optional;
};

static int read_pointer(struct smu *s, const struct pointer *p)
{
	int err = smc_read(s->mmio, SMU_IMAGE + p->offset, p->out);

	if (err)
		return err;
	bool sound = *p->out % 4 == 0 && *p->out >= 4 && range_ok(*p->out, p->bytes, SMU_RAM_END);

	if (!sound && p->optional)
		*p->out = 0;
	else if (!sound)
		return rx_fail("smu", -EPROTO,
		        "firmware header: %s at 0x%x, expected a place below 0x%x in SMC RAM; this "
		        "is no SMU firmware of a Polaris 10",
		        p->name, *p->out, SMU_RAM_END);
	return 0;
}

int smu_read_header(struct smu *s)
{
	struct smu_header *h = &s->header;
	const struct pointer list[] = {
	        {"SoftRegisters", 48, SOFT_BYTES, &h->soft_registers, false},
	        {"DpmTable", 52, SMU74_DPM_TABLE_BYTES, &h->dpm_table, false},
	        {"FanTable", 56, SMU74_FAN_TABLE_BYTES, &h->fan_table, false},
	        {"mcArbDramTimingTable", 72, SMU74_MC_ARB_TABLE_BYTES, &h->mc_arb_table, false},
	        {"PmFuseTable", 76, SMU74_PM_FUSES_BYTES, &h->pm_fuse_table, false},
	        {"AvfsMeanNSigma", 104, SMU74_MEAN_N_SIGMA_BYTES, &h->avfs_mean_n_sigma, true},
	        {"AvfsSclkOffsetTable", 108, SMU74_SCLK_OFFSETS_BYTES, &h->avfs_sclk_offsets, true},
	};
	int err = smc_read(s->mmio, SMU_IMAGE + 20, &h->version);

	for (size_t i = 0; i < ARRAY_SIZE(list) && !err; i++)
		err = read_pointer(s, &list[i]);
	return err;
}

int smu_attach(struct smu *s)
{
	uint32_t features;
	int err = smu_find_mailbox(s);

	if (!err)
		err = smu_read_header(s);
	if (!err)
		err = smc_read(s->mmio, IX_FEATURE_STATUS, &features);
	if (err)
		return err;
	s->dpm = features & VOLTAGE_CONTROLLER_ON;
	rx_log(LOG_INFO, "smu", "firmware 0x%08x runs already, power management %s",
	        s->header.version, s->dpm ? "on" : "off: 300/300 MHz");
	return 0;
}
