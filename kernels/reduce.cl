/* reduce.cl - sums in a fixed order (loss, gradient norm) and a plain copy. */
#include "gpu.h"

GROUP(256) kernel void loss_mean(global const float *loss, global float *out, uint n)
{
	local float scratch[4];
	rsrc_t r = resource(loss, n * 4);
	float sum = 0;
	for (uint i = 0; i < n; i += 256)
		sum += load1(r, (i + lane_id()) * 4, 0);
	sum = group_sum256(sum, scratch);
	if (lane_id() == 0)
		out[0] = sum / (float)n;
}

GROUP(256) kernel void grad_sumsq(global const float *grad, global float *part, uint n, uint groups)
{
	local float scratch[4];
	rsrc_t r = resource(grad, n * 4);
	float sum = 0;
	for (uint base = group_x() * 4096; base < n * 4; base += groups * 4096) {
		float4 g = load4(r, base + lane_id() * 16, 0);
		sum = g.x * g.x + sum;
		sum = g.y * g.y + sum;
		sum = g.z * g.z + sum;
		sum = g.w * g.w + sum;
	}
	sum = group_sum256(sum, scratch);
	if (lane_id() == 0)
		part[group_x()] = sum;
}

GROUP(256)
kernel void grad_norm(global const float *part, global float *norm, uint groups, float clip)
{
	local float scratch[4];
	rsrc_t r = resource(part, groups * 4);
	float sum = 0;
	for (uint i = 0; i < groups; i += 256)
		sum += load1(r, (i + lane_id()) * 4, 0);
	sum = group_sum256(sum, scratch);
	if (lane_id() == 0) {
		float length = sqrt_hw(sum);
		float factor = clip / (length + 1e-6f);
		norm[0] = length;
		norm[1] = clip > 0 && factor < 1 ? factor : 1.0f;
	}
}

GROUP(256) kernel void copy(global const float *src, global float *dst, uint n, uint groups)
{
	rsrc_t from = resource(src, n * 4), to = resource(dst, n * 4);
	for (uint base = group_x() * 4096; base < n * 4; base += groups * 4096)
		store4(load4(from, base + lane_id() * 16, 0), to, base + lane_id() * 16, 0);
}
