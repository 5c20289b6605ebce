/* residual.cl - out = x + y. The matmuls fuse this; here for models that cannot. */
#include "gpu.h"

GROUP(256)
kernel void residual_add(global const float *x, global const float *y, global float *out, uint n)
{
	uint i = group_x() * 256 + lane_id();
	if (i < n)
		out[i] = x[i] + y[i];
}
