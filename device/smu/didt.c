/* didt.c - limits on how fast current may ramp, and the current estimator's weights: polaris.md
 * 10.8. Written per shader engine, as the stock driver does. */
#include "device/bytes.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/smu/smu_priv.h"

#define SHADER_ENGINES 4                                   /* polaris.md 1.4 */
#define SELECT_SE(n)   (0x60000000u | (uint32_t)(n) << 16) /* amdgpu-oracle.md 7 */
#define GC_CAC_CNTL    0x0u
#define DIDT_CTRL_EN   1u /* of DIDT_*_CTRL0: polaris.md 10.8 */
/* Didt_Block_Function: SQ, TD and TCP with their ways to throttle, from the stock driver's trace */
#define DIDT_BLOCKS 0x01050303u

/* GC_CAC_CNTL is a port: the same index, one write after the other (polaris.md 10.8). */
static const struct {
	uint32_t first, count;
} cac[] = {{0x00060013, 9}, {0x000E0013, 5}, {0x00100013, 6}};
#define CAC_STEP 0x00800000u

static const struct {
	uint32_t index, mask, value;
} didt[] = {
        {0x00, 0x0003FFFF, 0x00010401},
        {0x01, 0xFFFFFFFF, 0xFFFF0000},
        {0x02, 0xFFFFFFFF, 0x005A3853},
        {0x03, 0xFFFFFFFF, 0xFFFF0000},
        {0x04, 0xFFFFFFFF, 0x01D76083},
        {0x05, 0x1FFFFFFF, 0x18A9F0A7},
        {0x10, 0xFFFFFFFF, 0x5A84AB73},
        {0x11, 0xFFFFFFFF, 0x46278467},
        {0x12, 0xFFFFFFFF, 0x000000AA},
        {0x40, 0x0003FFFF, 0x00009241},
        {0x41, 0xFFFFFFFF, 0xFFFF0000},
        {0x42, 0xFFFFFFFF, 0x000F3FFF},
        {0x43, 0xFFFFFFFF, 0x00FF0000},
        {0x44, 0xFFFFFFFF, 0x00354083},
        {0x45, 0x1FFFFFFF, 0x06EF1BBC},
        {0x50, 0xFFFFFFFF, 0x2F17100A},
        {0x51, 0xFFFFFFFF, 0x00005D46},
        {0x60, 0x0003FFFF, 0x00010401},
        {0x61, 0xFFFFFFFF, 0xFFFF0000},
        {0x62, 0xFFFFFFFF, 0x00323DDE},
        {0x63, 0xFFFFFFFF, 0xFFFF0000},
        {0x64, 0xFFFFFFFF, 0x00354083},
        {0x65, 0x1FFFFFFF, 0x1EEF7BBD},
        {0x70, 0xFFFFFFFF, 0xFF013704},
        {0x71, 0xFFFFFFFF, 0x00000054},
};

/* DIDT_*_EDC_*, the order of the VBIOS' tables: smu7_hwmgr.c, DIDTEDCConfig_P12. Of each block four
 * stall patterns, threshold, control. */
#define EDC_BLOCK(at) (at) + 5, (at) + 6, (at) + 7, (at) + 8, (at) + 4, (at) + 3
static const uint32_t edc[VBIOS_EDC_REGISTERS] = {
        EDC_BLOCK(0x10), /* SQ */
        EDC_BLOCK(0x50), /* TD */
        EDC_BLOCK(0x70), /* TCP */
        EDC_BLOCK(0x30), /* DB */
};

static int write_cac(struct smu *s)
{
	int err = reg_write(s->mmio, REG_GC_CAC_IND_INDEX, GC_CAC_CNTL);

	for (size_t i = 0; i < ARRAY_SIZE(cac); i++)
		for (uint32_t n = 0; n < cac[i].count && !err; n++)
			err = reg_write(s->mmio, REG_GC_CAC_IND_DATA, cac[i].first + n * CAC_STEP);
	return err;
}

static int write_didt(struct smu *s)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(didt) && !err; i++) {
		err = reg_write(s->mmio, REG_DIDT_IND_INDEX, didt[i].index);
		if (err)
			break;
		err = didt[i].mask == 0xFFFFFFFF
		              ? reg_write(s->mmio, REG_DIDT_IND_DATA, didt[i].value)
		              : reg_update(s->mmio, REG_DIDT_IND_DATA, didt[i].mask, didt[i].value);
	}
	return err;
}

int smu_write_edc(struct smu *s, const uint32_t value[VBIOS_EDC_REGISTERS])
{
	int err = 0;

	for (size_t i = 0; i < VBIOS_EDC_REGISTERS && !err; i++) {
		err = reg_write(s->mmio, REG_DIDT_IND_INDEX, edc[i]);
		if (!err)
			err = reg_write(s->mmio, REG_DIDT_IND_DATA, value[i]);
	}
	return err;
}

/* switch_on - every block, DB included, which has no rows of its own above; in all engines. */
static int switch_on(struct smu *s)
{
	static const uint32_t ctrl0[] = {0x00, 0x20, 0x40, 0x60}; /* SQ, DB, TD, TCP */
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ctrl0) && !err; i++) {
		err = reg_write(s->mmio, REG_DIDT_IND_INDEX, ctrl0[i]);
		if (!err)
			err = reg_update(s->mmio, REG_DIDT_IND_DATA, DIDT_CTRL_EN, DIDT_CTRL_EN);
	}
	return err;
}

int smu_enable_didt(struct smu *s)
{
	int err = 0;

	for (unsigned se = 0; se < SHADER_ENGINES && !err; se++) {
		err = reg_write(s->mmio, REG_GRBM_GFX_INDEX, SELECT_SE(se));
		if (!err)
			err = write_cac(s);
		if (!err)
			err = write_didt(s);
	}
	int all = reg_select_all(s->mmio); /* also on error: nobody expects one engine */

	if (!err)
		err = all;
	if (!err)
		err = switch_on(s);
	return err ? err : smu_message_arg(s, PPSMC_MSG_Didt_Block_Function, DIDT_BLOCKS);
}
