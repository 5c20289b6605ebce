/* adamw.cl - AdamW over one flat array, decoupled decay below ndecay, gradient clipped by norm[1]
 * on the fly. */
#include "gpu.h"

GROUP(256)
kernel void adamw(global const struct rx_step *step, global float *param, global const float *grad,
        global float *m, global float *v, global const float *norm, uint n, uint ndecay,
        uint groups, float beta1, float beta2, float eps, float decay)
{
	constant float *scalars = as_constant(float, as_constant(struct rx_step, step)->scalars);
	const float lr = scalars[0], m_scale = scalars[1], v_scale = scalars[2];
	const float clip = as_constant(float, norm)[1];
	rsrc_t rp = resource(param, n * 4), rg = resource(grad, n * 4), rm = resource(m, n * 4),
	       rv = resource(v, n * 4);

	for (uint base = group_x() * 4096; base < n * 4; base += groups * 4096) {
		const uint at = base + lane_id() * 16;
		float4 g = load4(rg, at, 0) * clip;
		float4 p = load4(rp, at, 0);
		float4 new_m = load4(rm, at, 0) * beta1 + g * (1.0f - beta1);
		float4 new_v = load4(rv, at, 0) * beta2 + (g * g) * (1.0f - beta2);
		float4 update;
		each (i, 4)
			update[i] = new_m[i] * m_scale * rcp_hw(sqrt_hw(new_v[i] * v_scale) + eps);
		if (at < ndecay * 4)
			update += p * decay;
		store4(new_m, rm, at, 0);
		store4(new_v, rv, at, 0);
		store4(p - update * lr, rp, at, 0);
	}
}
