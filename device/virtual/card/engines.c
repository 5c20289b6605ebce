/* engines.c - an engine that is let run needs the microcode that the SMU loads
 * (polaris.md 4.4, 6.3, 6.4; strict mode item 7 of 14.13). Without it nothing runs and the guest
 * made an error. A card that starts posted has its microcode.
 */
#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

#define DW(r)        (REG_##r / 4)
#define MEC_ME1_HALT (1u << 30) /* polaris.md 6.4 */
#define ME_HALTS     0x15000000u
#define RLC_ENABLE   0x1u
#define F32_HALT     0x1u /* polaris.md 8.1 */

static bool has(const struct vcard *c, unsigned id)
{
	return c->ucode & 1u << id;
}

void card_engine_check_mec(struct vcard *c)
{
	bool halted = c->reg[DW(CP_MEC_CNTL)] & MEC_ME1_HALT;

	if (halted || !c->opt.cold)
		c->mec_blocked = false;
	else if (!has(c, UCODE_MEC))
		c->mec_blocked = true;
	else
		c->mec_blocked = !has(c, UCODE_RLC) || !(c->reg[DW(RLC_CNTL)] & RLC_ENABLE);
	if (c->mec_blocked)
		card_guest_error(c, "CP_MEC_CNTL lets MEC1 run, but %s",
		        has(c, UCODE_MEC) ? "the RLC does not" : "it has no microcode");
}

static void need(struct vcard *c, unsigned id, const char *engine)
{
	if (c->opt.cold && !has(c, id))
		card_guest_error(c, "%s is let run without microcode", engine);
}

/* card_engine_check - after a write to a register with a halt or enable bit. */
void card_engine_check(struct vcard *c, uint32_t off)
{
	uint32_t v = c->reg[off / 4];

	if (off == REG_RLC_CNTL && v & RLC_ENABLE)
		need(c, UCODE_RLC, "RLC");
	else if (off == REG_CP_ME_CNTL && (v & ME_HALTS) != ME_HALTS)
		need(c, UCODE_ME, "ME");
	else if (off == REG_SDMA0_F32_CNTL && !(v & F32_HALT))
		need(c, UCODE_SDMA0, "SDMA0");
	else if (off == REG_SDMA1_F32_CNTL && !(v & F32_HALT))
		need(c, UCODE_SDMA1, "SDMA1");
}
