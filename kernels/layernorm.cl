/* layernorm.cl - one wave a row (forward, backward); one lane a column for the gradients of gamma
 * and beta. */
#include "gpu.h"

#define EPS 1e-5f

/* The row of this wave, as a resource that covers the row only; rows beyond the last get an empty
 * one. */
#define ROW(p) resource((global char *)(p) + (uint)(row * c * 4), bytes)

GROUP(256)
kernel void layernorm_forward(global const float *x, global const float *gamma,
        global const float *beta, global float *y, global float *stat, uint rows, uint c)
{
	const uint lane = lane_id() & 63, row = group_x() * 4 + uniform(lane_id() >> 6),
	           bytes = c * 4;
	if (row >= rows)
		return;
	const rsrc_t rx = ROW(x), ry = ROW(y), rg = resource(gamma, bytes),
	             rb = resource(beta, bytes);
	const float inverse = 1.0f / (float)c;
	float sum = 0, squares = 0;
	for (uint at = lane * 4; at < bytes; at += 256)
		sum += load1(rx, at, 0);
	const float mean = wave_sum(sum) * inverse;
	for (uint at = lane * 4; at < bytes; at += 256) {
		float d = load1(rx, at, 0) - mean;
		squares = d * d + squares;
	}
	const float rstd = rsq_hw(wave_sum(squares) * inverse + EPS);
	for (uint at = lane * 4; at < bytes; at += 256)
		store1((load1(rx, at, 0) - mean) * rstd * load1(rg, at, 0) + load1(rb, at, 0), ry,
		        at, 0);
	if (lane == 0) {
		stat[row * 2] = mean;
		stat[row * 2 + 1] = rstd;
	}
}

/* dx = residual + rstd (g - mean(g) - xhat mean(g xhat)), g = dy gamma, xhat = (x - mean) rstd */
#define BACKWARD(RESIDUAL)                                                                         \
	const uint lane = lane_id() & 63, row = group_x() * 4 + uniform(lane_id() >> 6),           \
	           bytes = c * 4;                                                                  \
	if (row >= rows)                                                                           \
		return;                                                                            \
	const rsrc_t rx = ROW(x), rd = ROW(dy), rout = ROW(dx), rg = resource(gamma, bytes);       \
	const float mean = as_constant(float, stat)[row * 2],                                      \
	            rstd = as_constant(float, stat)[row * 2 + 1];                                  \
	const float inverse = 1.0f / (float)c;                                                     \
	float s = 0, sx = 0;                                                                       \
	for (uint at = lane * 4; at < bytes; at += 256) {                                          \
		float g = load1(rd, at, 0) * load1(rg, at, 0);                                     \
		s += g;                                                                            \
		sx = g * ((load1(rx, at, 0) - mean) * rstd) + sx;                                  \
	}                                                                                          \
	s = wave_sum(s) * inverse;                                                                 \
	sx = wave_sum(sx) * inverse;                                                               \
	for (uint at = lane * 4; at < bytes; at += 256) {                                          \
		float g = load1(rd, at, 0) * load1(rg, at, 0);                                     \
		float xhat = (load1(rx, at, 0) - mean) * rstd;                                     \
		store1(RESIDUAL + rstd * (g - s - xhat * sx), rout, at, 0);                        \
	}

GROUP(256)
kernel void layernorm_backward(global const float *x, global const float *stat,
        global const float *gamma, global const float *dy, global const float *residual,
        global float *dx, uint rows, uint c){BACKWARD(load1(ROW(residual), at, 0))}

GROUP(256) kernel void layernorm_backward_first(global const float *x, global const float *stat,
        global const float *gamma, global const float *dy, global float *dx, uint rows,
        uint c){BACKWARD(0.0f)}

/* 16 waves share the 64 columns of the group: wave w sums rows w, w + 16, ...; then the waves are
   added in order. */
GROUP(1024) kernel void layernorm_param_grad(global const float *x, global const float *stat,
        global const float *dy, global float *dgamma, global float *dbeta, uint rows, uint c)
{
	local float parts[2][16][64];
	const uint lane = lane_id() & 63, wave = uniform(lane_id() >> 6),
	           column = group_x() * 64 + lane;
	const rsrc_t rx = resource(x, rows * c * 4), rd = resource(dy, rows * c * 4);
	constant float *statistics = as_constant(float, stat);
	const uint at = column < c ? column * 4 : FAR_AWAY;
	float g = 0, b = 0;
	for (uint row = wave; row < rows; row += 16) {
		float d = load1(rd, at, row * c * 4);
		float xhat = (load1(rx, at, row * c * 4) - statistics[row * 2]) *
		             statistics[row * 2 + 1];
		g = d * xhat + g;
		b += d;
	}
	parts[0][wave][lane] = g;
	parts[1][wave][lane] = b;
	group_barrier();
	if (wave != 0 || column >= c)
		return;
	for (uint w = 1; w < 16; w++) {
		g += parts[0][w][lane];
		b += parts[1][w][lane];
	}
	dgamma[column] = g;
	dbeta[column] = b;
}
