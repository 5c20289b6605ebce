/* embed.cl - token and position embedding, and their gradients without atomics. */
#include "gpu.h"

/* All input ids of the step as a resource; row b*T + t is at id_offset(row, T). */
inline rsrc_t ids_of(global const struct rx_step *step, uint rows, uint t)
{
	return resource(as_constant(struct rx_step, step)->ids, (rows + rows / t) * 2);
}

GROUP(256)
kernel void embed_forward(global const struct rx_step *step, global const float *wte,
        global const float *wpe, global float *x, uint rows, uint t, uint c, uint v)
{
	const uint lane = lane_id() & 63, row = group_x() * 4 + uniform(lane_id() >> 6),
	           bytes = c * 4;
	if (row >= rows)
		return;
	const uint id = uniform(load_u16(ids_of(step, rows, t), id_offset(row, t)));
	const rsrc_t rt =
	        resource((global const char *)wte + (uint)((id < v ? id : 0) * bytes), bytes);
	const rsrc_t rp = resource((global const char *)wpe + (uint)(row % t * bytes), bytes);
	const rsrc_t rx = resource((global char *)x + (uint)(row * bytes), bytes);
	for (uint at = lane * 4; at < bytes; at += 256) {
		float value = load1(rt, at, 0) + load1(rp, at, 0);
		store1(or_nan(id < v, value), rx, at, 0);
	}
}

GROUP(64)
kernel void embed_backward_wpe(
        global const float *dx, global float *dwpe, uint rows, uint t, uint c)
{
	const uint column = group_x() * 64 + lane_id(), position = group_y();
	const rsrc_t rd = resource(dx, rows * c * 4);
	if (column >= c)
		return;
	float sum = 0;
	for (uint row = position; row < rows; row += t)
		sum += load1(rd, (row * c + column) * 4, 0);
	dwpe[position * c + column] = sum;
}

/* The group of a token's first occurrence adds the rows of all its occurrences, in order; the
 * others leave. */
GROUP(64)
kernel void embed_backward_wte(global const struct rx_step *step, global const float *dx,
        global float *dwte, uint rows, uint t, uint c, uint v)
{
	const uint lane = lane_id(), column = group_x() * 64 + lane, first = group_y();
	const rsrc_t ids = ids_of(step, rows, t), rd = resource(dx, rows * c * 4);
	const uint id = uniform(load_u16(ids, id_offset(first, t)));
	if (id >= v)
		return;
	const rsrc_t out = resource((global char *)dwte + (uint)(id * c * 4), c * 4);
	const uint at = column < c ? column * 4 : FAR_AWAY;
	float sum = load1(out, at, 0);
	uint sequence =
	        0; /* of the rows base..base+63, which is what id_offset() would divide for */
	for (uint base = 0, end = t; base < rows; base += 64) {
		if (base == end) {
			sequence++;
			end += t;
		}
		const uint other = load_u16(ids, (base + lane + sequence) * 2);
		ulong same = __builtin_amdgcn_ballot_w64(other == id);
		while (same) {
			uint found = base + (uint)__builtin_ctzl(same);
			if (found < first)
				return;
			sum += load1(rd, at, found * c * 4);
			same &= same - 1;
		}
	}
	store1(sum, out, at, 0);
}

GROUP(64)
kernel void take_row(global const struct rx_step *step, global const float *x, global float *y,
        uint rows, uint c)
{
	const uint column = group_x() * 64 + lane_id();
	const float position = as_constant(float, as_constant(struct rx_step, step)->scalars)[0];
	const uint row = position >= 0 && position < (float)rows ? (uint)position : rows;
	if (column < c)
		y[column] = or_nan(row < rows, x[(row < rows ? row : 0) * c + column]);
}
