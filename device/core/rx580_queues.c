/* rx580_queues.c - the public face of the two queues. */
#include "device/clock.h"
#include "device/core/rx580_priv.h"
#include "device/cp/pm4.h"
#include "device/err.h"

#define DRAIN_MS       1000 /* rx580.h, rx_plan_queue_stop */
#define DRAIN_SLICE_MS 50   /* one look at the queue: nobody else gets the card meanwhile */
#define CLEAN_MS       1000

int rx_queues_up(const struct rx580 *rx)
{
	if (rx->info.queues_running)
		return 0;
	return rx->info.state == RX_OVERHEATED_OFF ? -EIO : -ENODATA;
}

int rx_service(struct rx580 *rx, const uint32_t *packets, size_t ndw, unsigned timeout_ms)
{
	int err = cp_service_submit(rx->service, packets, ndw, timeout_ms);
	bool recovered = err == -ETIMEDOUT && cp_service_running(rx->service);

	if (err == -ECANCELED && rx->info.state == RX_OVERHEATED_OFF)
		err = -EIO;
	rx_done(rx, recovered ? 0 : err); /* a hang that was overcome leaves the card ready */
	return err;
}

int rx_service_submit(struct rx580 *rx, const uint32_t *packets, size_t ndw, unsigned timeout_ms)
{
	int err = rx_alive(rx);

	if (!err)
		err = rx_queues_up(rx);
	return err ? err : rx_service(rx, packets, ndw, timeout_ms);
}

int rx_plan_queue_read(struct rx580 *rx, struct rx_plan_queue_state *out)
{
	struct cp_queue_state s = {0};
	int err = rx_alive(rx);

	if (!err)
		err = rx_done(rx, cp_queue_read(rx->plan_queue, &s));
	*out = (struct rx_plan_queue_state){s.active, s.rptr, s.wptr, s.error};
	return err;
}

/* idle_plan_queue - an active queue that has drained may be re-activated; one at work may not
 * (resident-plans.md 2, G2). */
static int idle_plan_queue(struct rx580 *rx)
{
	struct cp_queue_state s;
	int err = cp_queue_read(rx->plan_queue, &s);

	if (err || !s.active)
		return err;
	if (s.error)
		return cp_queue_kill(rx->plan_queue);
	if (s.rptr != s.wptr)
		return -EBUSY;
	err = cp_queue_drain(rx->plan_queue, DRAIN_SLICE_MS);
	return err == -ETIMEDOUT ? -EBUSY : err;
}

int rx_plan_queue_start(struct rx580 *rx, uint64_t ring, unsigned log2_dw, uint32_t wptr)
{
	int err = rx_alive(rx);

	if (!err)
		err = rx_queues_up(rx);
	if (err)
		return err;
	rx->hold++; /* a queue half programmed is nobody's business */
	err = idle_plan_queue(rx);
	if (!err)
		err = gmc_hdp_flush(rx->gmc);
	if (!err)
		err = cp_queue_activate(rx->plan_queue, ring, log2_dw, wptr);
	rx->hold--;
	return rx_done(rx, err);
}

static int drain_plan_queue(struct rx580 *rx)
{
	uint64_t deadline = deadline_in_ms(DRAIN_MS);
	int err;

	while ((err = cp_queue_drain(rx->plan_queue, DRAIN_SLICE_MS)) == -ETIMEDOUT &&
	        !deadline_passed(deadline))
		rx_let_others_in(rx);
	return err;
}

/* write_back - what killed waves left in L2 must not land on words the host writes later: any
 * submission writes L2 back and forgets it (service.c, frame). */
static int write_back(struct rx580 *rx)
{
	const uint32_t nop = PM4_FILLER;

	return rx->info.queues_running ? rx_service(rx, &nop, 1, CLEAN_MS) : 0;
}

int rx_plan_queue_stop(struct rx580 *rx, bool kill)
{
	int err = rx_alive(rx);

	if (err)
		return err;
	err = kill ? -ETIMEDOUT : drain_plan_queue(rx);
	if (err == -ETIMEDOUT) {
		err = cp_queue_kill(rx->plan_queue);
		if (!err)
			err = write_back(rx);
	}
	return rx_done(rx, err);
}

int rx_reset_soft(struct rx580 *rx)
{
	int err = rx_alive(rx);

	if (!err)
		err = rx_may_reset(rx);
	if (err)
		return err;
	err = cp_queue_kill(rx->plan_queue);
	if (!err)
		err = cp_service_reset(rx->service);
	if (!err && rx->heat.state == RX_OVERHEATED)
		err = rx_heat_over(rx);
	pthread_mutex_lock(&rx->lock);
	rx->info.generation++;
	rx->info.queues_running = !err;
	pthread_mutex_unlock(&rx->lock);
	if (!err)
		err = write_back(rx);
	pthread_mutex_lock(&rx->lock);
	rx->info.state = err ? RX_HUNG : RX_READY;
	pthread_mutex_unlock(&rx->lock);
	if (!err)
		rx_log(LOG_INFO, "card", "both queues were reset; VRAM is kept");
	return rx_done(rx, err);
}
