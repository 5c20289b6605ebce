/* cross_entropy.cl - softmax cross-entropy of one row of logits a group; in training the logits
 * become their gradient. */
#include "gpu.h"

/* A row of v values as whole quads, lane l owning quads l, l + 256, ..., and up to three more
 * values, one for each of the first lanes. at, rest: byte offsets. */
#define each_quad(at) for (uint at = lane_id() * 16; at < v / 4 * 16; at += 4096)
#define rest          ((v / 4 * 4 + lane_id()) * 4)

/* lse (base 2) of the row, and its loss stored. */
inline float row_loss(rsrc_t row, uint target, uint v, global float *loss, local float *scratch)
{
	float top = -INFINITY, sum = 0;
	each_quad (at) {
		float4 x = load4(row, at, 0);
		each (i, 4)
			top = max_f(top, x[i]);
	}
	if (lane_id() < v % 4) {
		float x = load1(row, rest, 0);
		top = max_f(top, x);
	}
	top = group_max256(top, scratch) * LOG2E;
	each_quad (at) {
		float4 x = load4(row, at, 0);
		each (i, 4)
			sum += exp2_hw(x[i] * LOG2E - top);
	}
	if (lane_id() < v % 4)
		sum += exp2_hw(load1(row, rest, 0) * LOG2E - top);
	const float lse = top + log2_hw(group_sum256(sum, scratch + 4));
	if (lane_id() == 0)
		*loss = or_nan(target < v, lse * LN2 - load1(row, target * 4, 0));
	return lse;
}

/* target of row b*T + t: id b*(T+1) + t + 1 */
inline uint target_of(global const struct rx_step *step, uint row, uint rows, uint t)
{
	rsrc_t ids = resource(as_constant(struct rx_step, step)->ids, (rows + rows / t) * 2);
	return uniform(load_u16(ids, id_offset(row, t) + 2));
}

inline float gradient(float x, float lse, bool is_target, float scale)
{
	float p = exp2_hw(x * LOG2E - lse);
	return (is_target ? p - 1.0f : p) * scale;
}

GROUP(256)
kernel void cross_entropy_loss(global const struct rx_step *step, global const float *logits,
        global float *loss, uint rows, uint t, uint v)
{
	local float scratch[8];
	const uint row = group_x();
	row_loss(resource((global char *)logits + (uint)(row * v * 4), v * 4),
	        target_of(step, row, rows, t), v, loss + row, scratch);
}

GROUP(256)
kernel void cross_entropy_train(global const struct rx_step *step, global float *logits,
        global float *loss, uint rows, uint t, uint v, float scale)
{
	local float scratch[8];
	const uint row = group_x(), target = target_of(step, row, rows, t);
	const rsrc_t r = resource((global char *)logits + (uint)(row * v * 4), v * 4);
	const float lse = row_loss(r, target, v, loss + row, scratch);
	group_barrier(); /* the target's logit is read before it is replaced */
	each_quad (at) {
		float4 x = load4(r, at, 0);
		each (i, 4)
			x[i] = gradient(x[i], lse, at + i * 4 == target * 4, scale);
		store4(x, r, at, 0);
	}
	if (lane_id() < v % 4)
		store1(gradient(load1(r, rest, 0), lse, rest == target * 4, scale), r, rest, 0);
}
