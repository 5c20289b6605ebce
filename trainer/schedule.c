/* schedule.c - see schedule.h. */
#include "trainer/schedule.h"

#include <math.h>

double schedule_lr(const struct schedule *s, uint64_t step)
{
	if (step < s->warmup)
		return s->lr * (double)(step + 1) / (double)s->warmup;
	if (step >= s->steps || s->steps <= s->warmup)
		return s->lr_min;
	double done = (double)(step - s->warmup) / (double)(s->steps - s->warmup);
	return s->lr_min + (s->lr - s->lr_min) * 0.5 * (1 + cos(M_PI * done));
}

void schedule_scalars(
        const struct schedule *s, double beta1, double beta2, uint64_t step, float out[3])
{
	double t = (double)step + 1;

	out[0] = (float)schedule_lr(s, step);
	out[1] = (float)(1 / (1 - pow(beta1, t)));
	out[2] = (float)(1 / (1 - pow(beta2, t)));
}
