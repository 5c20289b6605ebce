/* axpy.cl - y = a x + y: the first proof that a card computes. */
#include "gpu.h"

GROUP(256) kernel void axpy(global const float *x, global float *y, float a, uint n)
{
	uint i = group_x() * 256 + lane_id();
	if (i < n)
		y[i] = a * x[i] + y[i];
}
