/* helper_regs.c - see helper_regs.h. Defines the functions of pci.h and gmc.h the SMU driver uses.
 */
#include "helper_regs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/gmc/gmc.h"
#include "device/pci/pci.h"
#include "device/regs/regs.h"

#define AUTO_INCREMENT (1u << 11)

struct fake *fake;

struct fake *fake_open(void)
{
	fake = calloc(1, sizeof(*fake));
	assert_non_null(fake);
	fake->answer = 1;
	fake->boots = fake->pass = fake->voltage_on = true;
	fake->loads = 0xFFFFFFFF;
	fake->reg[RX_REG_DW(REG_SMC_RESP_0)] = 1;
	*fake_smc(IX_SMC_SYSCON_RESET_CNTL) = 1;
	*fake_smc(IX_SMC_SYSCON_CLOCK_CNTL_0) = 1;
	*fake_smc(IX_RCU_UC_EVENTS) = 0x80;
	*fake_smc(IX_SMU_FIRMWARE) = 0x30000;
	*fake_smc(IX_CG_FDO_CTRL1) = 0x40092587;
	return fake;
}

void fake_close(void)
{
	free(fake->write);
	free(fake);
	fake = NULL;
}

uint32_t *fake_smc(uint32_t ix)
{
	if (ix < 0x40000)
		return &fake->ram[ix / 4];
	for (size_t i = 0; i < fake->highs; i++)
		if (fake->high[i].ix == ix)
			return &fake->high[i].value;
	assert_true(fake->highs < 64);
	fake->high[fake->highs].ix = ix;
	return &fake->high[fake->highs++].value;
}

static void record(bool smc, uint32_t at, uint32_t value)
{
	if (fake->writes == fake->write_room) {
		fake->write_room = fake->write_room ? 2 * fake->write_room : 1024;
		fake->write = realloc(fake->write, fake->write_room * sizeof(*fake->write));
		assert_non_null(fake->write);
	}
	fake->write[fake->writes++] = (struct fake_write){smc, at, value};
}

static void on_message(uint16_t id)
{
	uint32_t *arg = &fake->reg[RX_REG_DW(REG_SMC_MSG_ARG_0)];
	struct fake_message *m = &fake->message[fake->messages++];

	assert_true(fake->messages <= 128);
	m->id = id;
	m->arg = *arg;
	for (size_t i = fake->writes; i-- > 0;) {
		if (!fake->write[i].smc && fake->write[i].at == REG_SMC_MESSAGE_0)
			break;
		m->has_arg |= !fake->write[i].smc && fake->write[i].at == REG_SMC_MSG_ARG_0;
	}
	fake->reg[RX_REG_DW(REG_SMC_RESP_0)] = id == fake->refuse ? 0xFE : fake->answer;
	if (!fake->answer)
		return;
	if (id == 0x100)
		*fake_smc(IX_SMU_STATUS) = fake->pass ? 3 : 1;
	if (id == 0x254)
		fake->ram[(fake->ram[0x20030 / 4] + 108) / 4] |= *arg & fake->loads;
	if (id == 0x109 && fake->voltage_on)
		*fake_smc(IX_FEATURE_STATUS) |= 1u << 13;
	if (id == 0x135)
		*fake_smc(IX_FEATURE_STATUS) = 0;
	if (id < 0x500 && fake->result[id])
		*arg = fake->result[id];
}

static void on_smc(uint32_t ix, uint32_t old, uint32_t value)
{
	bool running = !(*fake_smc(IX_SMC_SYSCON_CLOCK_CNTL_0) & 1);

	if (ix == IX_SMC_SYSCON_RESET_CNTL && old & 1 && !(value & 1) && running && fake->boots) {
		*fake_smc(IX_RCU_UC_EVENTS) |= 1u << 16;
		*fake_smc(IX_FIRMWARE_FLAGS) |= 1;
		*fake_smc(IX_SMC_PC_C) = 0x20100;
	}
}

static uint32_t *port_step(void)
{
	uint32_t *index = &fake->reg[RX_REG_DW(REG_SMC_IND_INDEX_11)];
	uint32_t *at = fake_smc(*index);

	if (fake->reg[RX_REG_DW(REG_SMC_IND_ACCESS_CNTL)] & AUTO_INCREMENT)
		*index += 4;
	return at;
}

int pci_read32(struct pci *p, unsigned bar, uint64_t offset, uint32_t *value)
{
	(void)p;
	assert_int_equal(bar, PCI_BAR_REGISTERS);
	if (fake->fail_at && fake->writes >= fake->fail_at)
		return -EIO;
	fake->reads++;
	*value = offset == REG_SMC_IND_DATA_11 ? *port_step() : fake->reg[offset / 4];
	return 0;
}

int pci_write32(struct pci *p, unsigned bar, uint64_t offset, uint32_t value)
{
	(void)p;
	assert_int_equal(bar, PCI_BAR_REGISTERS);
	if (fake->fail_at && fake->writes >= fake->fail_at)
		return -EIO;
	if (offset == REG_SMC_IND_DATA_11) {
		uint32_t ix = fake->reg[RX_REG_DW(REG_SMC_IND_INDEX_11)];
		uint32_t *at = port_step(), old = *at;

		*at = value;
		record(true, ix, value);
		on_smc(ix, old, value);
		return 0;
	}
	record(false, (uint32_t)offset, value);
	fake->reg[offset / 4] = value;
	if (offset == REG_SMC_MESSAGE_0) {
		fake->writes--; /* the record of this one is not before it */
		on_message((uint16_t)value);
		fake->writes++;
	}
	return 0;
}

int pci_write_port(
        struct pci *p, unsigned bar, uint64_t offset, const uint32_t *values, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = pci_write32(p, bar, offset, values[i]);
	return err;
}

int gmc_window_write(struct gmc *g, uint64_t offset, const void *buf, size_t len)
{
	(void)g;
	assert_true(offset + len <= FAKE_VRAM_BYTES);
	memcpy(fake->vram + offset, buf, len);
	return 0;
}

int gmc_window_read(struct gmc *g, uint64_t offset, void *buf, size_t len)
{
	(void)g;
	assert_true(offset + len <= FAKE_VRAM_BYTES);
	memcpy(buf, fake->vram + offset, len);
	return 0;
}

uint64_t gmc_window_bytes(const struct gmc *g)
{
	(void)g;
	return FAKE_VRAM_BYTES;
}

uint64_t gmc_fb_base(const struct gmc *g)
{
	(void)g;
	return FAKE_FB_BASE;
}

int gmc_hdp_flush(struct gmc *g)
{
	(void)g;
	fake->flushes++;
	return 0;
}

int gmc_hdp_invalidate(struct gmc *g)
{
	(void)g;
	fake->invalidates++;
	return 0;
}

/* ---- looking ---- */

const struct fake_message *fake_sent(uint16_t id, size_t nth)
{
	for (size_t i = 0; i < fake->messages; i++)
		if (fake->message[i].id == id && nth-- == 0)
			return &fake->message[i];
	return NULL;
}

static const struct fake_write *find_last(bool smc, uint32_t at)
{
	for (size_t i = fake->writes; i-- > 0;)
		if (fake->write[i].smc == smc && fake->write[i].at == at)
			return &fake->write[i];
	return NULL;
}

bool fake_written(bool smc, uint32_t at)
{
	return find_last(smc, at);
}

uint32_t fake_last(bool smc, uint32_t at)
{
	const struct fake_write *w = find_last(smc, at);

	if (!w)
		fail_msg("%s 0x%x was never written", smc ? "SMC" : "register", at);
	return w ? w->value : 0;
}
