/* link_model.c - counters of the link and the time they would have taken (architecture.md, "The
 * link is the scarcest resource"). A command's CBW and CSW, or its IUs, are counted when it is
 * accepted, data bytes as they move, TLPs as they leave the root port.
 */
#include <errno.h>

#include "device/clock.h"
#include "device/virtual/enclosure/venc_priv.h"

/* architecture.md, "The link is the scarcest resource": reproduces the bulk rows of
 * reference-run.md */
#define NS_PER_COMMAND 250000u
#define NS_PER_TLP     5000u
#define NS_PER_BYTE    27u

uint64_t venc_link_model_ns(const struct venc *e)
{
	return e->commands * NS_PER_COMMAND + e->tlps * NS_PER_TLP + e->bytes * NS_PER_BYTE;
}

void venc_link_command(struct venc *e, uint32_t overhead)
{
	e->cbw_wall_ns = now_ns();
	e->cbw_model_ns = venc_link_model_ns(e);
	e->commands++;
	e->bytes += overhead;
}

void venc_link_data(struct venc *e, uint32_t bytes)
{
	e->bytes += bytes;
}

void venc_link_tlp(struct venc *e)
{
	e->tlps++;
}

void venc_link_pace(struct venc *e)
{
	uint64_t end = e->cbw_wall_ns + (venc_link_model_ns(e) - e->cbw_model_ns);
	struct timespec until = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};

	if (e->opt.realtime)
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
			;
}
