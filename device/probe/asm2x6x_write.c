/* asm2x6x_write.c - bridge.md 7.3, steps 5 and 6: BARs get addresses, registers and memory are read
 * and written. BARs and command register are put back at the end (pci_stop).
 */
#include "device/bytes.h"
#include "device/err.h"
#include "device/pci/pci.h"
#include "device/probe/asm2x6x_priv.h"
#include "device/regs/regs.h"

#define CFG_COMMAND    0x04 /* bridge.md 4 */
#define CFG_BAR0       0x10
#define COMMAND_MEMORY 0x0002u
#define BAR_FLAGS      0xFu
#define ASIC_INIT_DONE 0x200u      /* BIOS_SCRATCH_7: polaris.md 1.5 */
#define VRAM_OFFSET    0x100000u   /* any will do */
#define UNCLAIMED      0xE0000000u /* inside the windows, far above the BARs: pci/place.c */
#define REGISTERS      PCI_BAR_REGISTERS

static bool step_bars(struct probe *p)
{
	probe_step_begin(p, "5", "BARs sized and placed", "doc", "bridge.md 4.4, 4.5");
	p->step->writes = true;
	int err = pci_start(p->pci);

	if (err)
		return probe_step_failed(p, err);
	for (unsigned i = 0; i < 6; i++) {
		const struct pci_bar *b = &pci_info(p->pci)->bar[i];

		if (b->memory && b->size)
			probe_step_value(p, "%sBAR%u %llx+%llx", i ? ", " : "", i,
			        (unsigned long long)b->addr, (unsigned long long)b->size);
	}
	return probe_step_end(p, PROBE_AS_EXPECTED, "put back at the end") &&
	       probe_asm_heartbeat(p);
}

static bool step_registers(struct probe *p)
{
	struct probe_report *r = p->out;
	uint32_t scratch = 0;

	probe_step_begin(p, "5", "the card's registers", "doc", "bridge.md 3.4");
	int err = pci_read32(p->pci, REGISTERS, REG_CONFIG_MEMSIZE, &r->memory_mib);

	if (!err)
		err = pci_read32(p->pci, REGISTERS, REG_BIOS_SCRATCH_7, &scratch);
	if (err)
		return probe_step_failed(p, err);
	r->posted = scratch != 0xFFFFFFFF && (scratch & ASIC_INIT_DONE);
	probe_step_value(p, "CONFIG_MEMSIZE %u MiB, BIOS_SCRATCH_7 %08x", r->memory_mib, scratch);
	if (r->memory_mib == 0xFFFFFFFF)
		return probe_step_end(p, PROBE_SURPRISE,
		        "BAR5 gives no register's value: memory reads do not reach the card");
	return r->posted ? probe_step_end(p, PROBE_AS_EXPECTED, "the card's VBIOS has run")
	                 : probe_step_end(p, PROBE_NOTED,
	                           "the card's VBIOS has not run: its memory cannot be used yet");
}

/* What a read that nobody answers looks like, and that the card is still there after it. */
static bool step_unclaimed(struct probe *p)
{
	enum asm_outcome o;
	uint32_t value;

	probe_step_begin(p, "5", "a read nobody answers", "doc", "bridge.md 3.4");
	int err = asm2x6x_try_read(p->bridge, UNCLAIMED, &value, &o);

	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "%s", asm_outcome_words(o));
	bool on = o == ASM_UNSUPPORTED ? probe_step_end(p, PROBE_AS_EXPECTED, "errors are visible")
	          : o == ASM_SUCCESS
	                  ? probe_step_end(
	                            p, PROBE_SURPRISE, "somebody answers where nobody should be")
	                  : probe_step_end(p, PROBE_NOTED, "\"unsupported request\" was expected");

	p->out->unclaimed_us = p->step->us;
	return on && probe_asm_heartbeat(p);
}

/* ---- step 6 ---- */

static bool step_command(struct probe *p)
{
	uint32_t before, after = 0;

	probe_step_begin(p, "6", "the command register, unchanged", "doc", "bridge.md 3.4");
	p->step->writes = true;
	int err = pci_cfg_read(p->pci, CFG_COMMAND, 2, &before);

	if (!err)
		err = pci_cfg_write(p->pci, CFG_COMMAND, 2, before);
	if (!err)
		err = pci_cfg_read(p->pci, CFG_COMMAND, 2, &after);
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "%04x, after writing it %04x", before, after);
	return probe_step_end(p, before == after ? PROBE_AS_EXPECTED : PROBE_SURPRISE,
	               before == after ? NULL : "writing what was there has changed it") &&
	       probe_asm_heartbeat(p);
}

static bool step_scratch(struct probe *p)
{
	static const uint32_t patterns[] = {0x52583538, 0xA5C3693C};
	uint32_t before, now = 0;
	bool ok = true;

	probe_step_begin(p, "6", "BIOS_SCRATCH_0", "doc", "bridge.md 3.4");
	p->step->writes = true;
	int err = pci_read32(p->pci, REGISTERS, REG_BIOS_SCRATCH_0, &before);

	for (size_t i = 0; i < ARRAY_SIZE(patterns) && !err; i++) {
		err = pci_write32(p->pci, REGISTERS, REG_BIOS_SCRATCH_0, patterns[i]);
		if (!err)
			err = pci_read32(p->pci, REGISTERS, REG_BIOS_SCRATCH_0, &now);
		ok &= !err && now == patterns[i];
		probe_step_value(p, "%s%08x", i ? " " : "", now);
	}
	if (!err)
		err = pci_write32(p->pci, REGISTERS, REG_BIOS_SCRATCH_0, before);
	if (!err)
		err = pci_read32(p->pci, REGISTERS, REG_BIOS_SCRATCH_0, &now);
	if (err)
		return probe_step_failed(p, err);
	ok &= now == before;
	return probe_step_end(p, ok ? PROBE_AS_EXPECTED : PROBE_SURPRISE,
	               ok ? "both patterns came back; the old value is restored"
	                  : "register writes do not arrive: the card cannot be driven") &&
	       probe_asm_heartbeat(p);
}

/* move_bar0 - with memory decode off, as half an address would claim somebody else's. */
static int move_bar0(struct probe *p, uint64_t to)
{
	uint32_t command, low = 0, high = 0;
	int err = pci_cfg_read(p->pci, CFG_COMMAND, 2, &command);

	if (!err)
		err = pci_cfg_write(p->pci, CFG_COMMAND, 2, command & ~COMMAND_MEMORY);
	if (err)
		return err;
	err = pci_cfg_write(p->pci, CFG_BAR0, 4, (uint32_t)to);
	if (!err)
		err = pci_cfg_write(p->pci, CFG_BAR0 + 4, 4, (uint32_t)(to >> 32));
	if (!err)
		err = pci_cfg_read(p->pci, CFG_BAR0, 4, &low);
	if (!err)
		err = pci_cfg_read(p->pci, CFG_BAR0 + 4, 4, &high);
	int again = pci_cfg_write(p->pci, CFG_COMMAND, 2, command);

	if (!err && !again && ((uint64_t)high << 32 | (low & ~BAR_FLAGS)) != to)
		err = rx_fail("probe", -EIO, "BAR0 reads 0x%08x%08x", high, low);
	return err ? err : again;
}

/* One dword of VRAM by either kind of address must be the same dword. */
static bool step_wide(struct probe *p)
{
	const struct pci_bar *bar = &pci_info(p->pci)->bar[PCI_BAR_VRAM];
	uint32_t narrow = 0, wide = 0;
	struct bridge_info info;
	enum asm_outcome o = ASM_NO_ANSWER;

	p->bridge->ops->read_info(p->bridge, &info);
	if (!info.wide_start || !p->out->posted || !bar->wide) /* VRAM only after POST */
		return true;
	probe_step_begin(p, "6", "64-bit addresses", "doc", "bridge.md 3.3, 3.5");
	p->step->writes = true;
	int err = pci_read32(p->pci, PCI_BAR_VRAM, VRAM_OFFSET, &narrow);

	if (!err)
		err = move_bar0(p, align_up(info.wide_start, bar->size));
	if (!err)
		err = asm2x6x_try_read(
		        p->bridge, align_up(info.wide_start, bar->size) + VRAM_OFFSET, &wide, &o);
	int back = move_bar0(p, bar->addr);

	if (err || back)
		return probe_step_failed(p, err ? err : back);
	bool ok = o == ASM_SUCCESS && wide == narrow;

	probe_step_value(p, "%08x, above 4 GiB %08x (%s)", narrow, wide, asm_outcome_words(o));
	p->out->wide = ok ? PROBE_PROVEN : PROBE_NO;
	return probe_step_end(p, ok ? PROBE_AS_EXPECTED : PROBE_NOTED,
	               ok ? "BAR0 is back" : "twice the same was expected; BAR0 is back") &&
	       probe_asm_heartbeat(p);
}

bool probe_asm_write_card(struct probe *p)
{
	if (pci_new(&p->pci, p->bridge))
		return false;
	bool on = step_bars(p) && step_registers(p) && step_unclaimed(p) && step_command(p) &&
	          step_scratch(p) && step_wide(p);

	pci_stop(p->pci);
	pci_free(p->pci);
	p->pci = NULL;
	return on;
}
