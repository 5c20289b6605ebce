/* plan.cl - the kernels the plan engine adds to every step (docs/plan-format.md 3, 5), and those
 * that load a plan (7). One group each. Floats are tested as bits: the compiler may assume there
 * are no NaNs. */
#include "step.h"

enum {
	GOOD,
	BAD_LENGTH,
	BAD_CHECKSUM,
	BAD_SEQUENCE,
	BAD_LOSS,
	BAD_GRAD_NORM
}; /* docs/plan-format.md 3, record */
enum { NEXT_SEQUENCE, CONSUMED, HALT, STEP }; /* words of the state block */

#define LANE __builtin_amdgcn_workitem_id_x()

static bool finite(global const float *x)
{
	return (as_uint(*x) & 0x7f800000u) != 0x7f800000u;
}

/* Checksum of n dwords over 64 lanes; the result is valid in every lane. One wave: no barrier
 * needed (lockstep), but the sum order is fixed all the same. */
static uint checksum(global const uint *words, uint n, local uint *part)
{
	uint sum = 0;
	for (uint i = LANE; i < n; i += 64)
		sum += (words[i] + 0x9e3779b9u) * (2 * i + 1);
	part[LANE] = sum;
	__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
	sum = 0;
	for (uint i = 0; i < 64; i++)
		sum += part[i];
	return sum;
}

/* plan_begin - take the slot the command processor announced, check it, fill the step context.
 * group 64. */
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void plan_begin(global const uint *in,
        global struct rx_step *step, global const uint *state, uint payload_bytes, uint nscalars,
        uint nids)
{
	local uint part[64];
	ulong slot = in[0] | (ulong)in[1] << 32;
	global const uint *words = (global const uint *)slot;
	uint n = (payload_bytes + 3) / 4;
	uint sum = checksum(words, n, part);
	if (LANE != 0)
		return;
	uint verdict = GOOD;
	if (words[n + 2] != state[NEXT_SEQUENCE])
		verdict = BAD_SEQUENCE;
	if (words[n + 1] != sum)
		verdict = BAD_CHECKSUM;
	if (words[n] != payload_bytes)
		verdict = BAD_LENGTH;
	if (state[HALT])
		verdict = state[HALT];
	step->sequence = words[n + 2];
	step->go = verdict == GOOD;
	step->scalars = slot;
	step->ids = slot + 4 * (ulong)nscalars;
	step->nscalars = nscalars;
	step->nids = nids;
	step->step = state[STEP];
	step->reserved[0] = verdict;
}

/* plan_check - the decision before anything changes; always writes every triple. group 64. */
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void plan_check(global struct rx_step *step,
        global const float *loss, global const float *grad_norm, global uint *triples,
        global const uint *sizes, uint words, global uint *state, global uint *fuse)
{
	uint verdict = step->reserved[0];
	if (verdict == GOOD && loss && !finite(loss))
		verdict = BAD_LOSS;
	if (verdict == GOOD && grad_norm && !finite(grad_norm))
		verdict = BAD_GRAD_NORM;
	for (uint i = LANE; i < words; i += 64)
		triples[i] = verdict == GOOD ? sizes[i] : 0;
	if (LANE != 0)
		return;
	if (verdict == GOOD)
		return;
	step->go = 0;
	step->reserved[0] = verdict;
	state[HALT] = verdict;
	*fuse = 0;
}

/* plan_record - one record, then the counters. group 64, lane 0 works. */
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void plan_record(
        global const struct rx_step *step, global const float *loss, global const float *grad_norm,
        global uint *state, global uint *records, uint mask)
{
	if (LANE != 0)
		return;
	global uint *r = records + (state[CONSUMED] & mask) * 8;
	ulong clock = __builtin_amdgcn_s_memrealtime();
	uint verdict = step->reserved[0];
	r[0] = step->sequence;
	r[1] = verdict;
	r[2] = loss ? as_uint(*loss) : 0;
	r[3] = grad_norm ? as_uint(*grad_norm) : 0;
	r[4] = step->step;
	r[5] = 0;
	r[6] = (uint)clock;
	r[7] = (uint)(clock >> 32);
	state[CONSUMED] += 1;
	if (verdict != GOOD)
		return;
	state[NEXT_SEQUENCE] += 1;
	state[STEP] += 1;
}

enum { WINDOW = 8192 }; /* dwords: PACK_WINDOW of device/plan/pack.h */

/* plan_unpack - @words dwords of a load stream into what they stand for, @room dwords. A damaged
 * stream writes nothing beyond; plan_sum finds it. group 64. */
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void plan_unpack(
        global const uint *packed, global uint *out, uint words, uint room)
{
	local uint window[WINDOW];
	uint at = 0;
	for (uint i = 0; i < words;) {
		uint op = packed[i++];
		uint literals = op & 0xff, copied = op >> 8 & 0x7ff, distance = op >> 19;
		if (literals > words - i || literals + copied > room - at)
			return;
		for (uint k = LANE; k < literals; k += 64) {
			uint w = packed[i + k];
			window[(at + k) % WINDOW] = w;
			out[at + k] = w;
		}
		i += literals;
		at += literals;
		__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
		for (uint k = LANE; k < copied; k += 64) {
			uint back = k < distance ? k : k % distance;
			uint w = window[(at - distance + back) % WINDOW];
			window[(at + k) % WINDOW] = w;
			out[at + k] = w;
		}
		at += copied;
		__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
	}
}

/* plan_sum - checksum of what lies in memory, for the host to compare. group 64. */
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void plan_sum(
        global const uint *words, uint n, global uint *result)
{
	local uint part[64];
	uint sum = checksum(words, n, part);
	if (LANE == 0)
		*result = sum;
}
