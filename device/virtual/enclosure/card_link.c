/* card_link.c - the last stretch to the card, the same behind every bridge: requests are counted,
 * and injected faults hit them (bridge.md 5.5).
 */
#include "device/virtual/enclosure/venc_priv.h"

bool venc_card_linked(const struct venc *e)
{
	return e->card && !e->fault[VENC_FAULT_LINK_DOWN];
}

enum vcard_completion venc_card_tlp(struct venc *e, struct vcard_tlp *tlp)
{
	bool config = tlp->type == VCARD_CFG_READ || tlp->type == VCARD_CFG_WRITE;

	if (tlp->type == VCARD_CFG_READ && !tlp->address && venc_take_fault(e, VENC_FAULT_CRS))
		return VCARD_CRS;
	if (!config && e->fault[VENC_FAULT_GPU_HANG])
		return tlp->type == VCARD_MEM_WRITE ? VCARD_SC : VCARD_TIMEOUT;
	return vcard_tlp(e->card, tlp);
}
