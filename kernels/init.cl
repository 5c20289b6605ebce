/* init.cl - weights from a seed, on the card. Philox 4x32-10: Salmon et al., "Parallel random
 * numbers: as easy as 1, 2, 3", SC11. */
#include "gpu.h"

#define PHILOX_M0                                                                                  \
	0xd2511f53u /* multipliers and Weyl increments: the paper, table 2 and section 4.3 */
#define PHILOX_M1 0xcd9e8d57u
#define PHILOX_W0 0x9e3779b9u
#define PHILOX_W1 0xbb67ae85u

inline uint mul_high(uint a, uint b)
{
	return (uint)(((ulong)a * b) >> 32);
}

inline uint4 philox(uint4 c, uint2 key)
{
	for (int round = 0; round < 10; round++) {
		uint4 next;
		next.x = mul_high(PHILOX_M1, c.z) ^ c.y ^ key.x;
		next.y = PHILOX_M1 * c.z;
		next.z = mul_high(PHILOX_M0, c.x) ^ c.w ^ key.y;
		next.w = PHILOX_M0 * c.x;
		c = next;
		key += (uint2)(PHILOX_W0, PHILOX_W1);
	}
	return c;
}

/* Box-Muller. The top 24 bits of a word are exact in a float; v_sin_f32 and v_cos_f32 take
 * revolutions. */
inline float2 normal_pair(uint a, uint b)
{
	float u = ((float)(a >> 8) + 0.5f) * 0x1p-24f;
	float turn = (float)(b >> 8) * 0x1p-24f;
	float radius = sqrt_hw(-2.0f * LN2 * log2_hw(u));
	return (float2)(radius * __builtin_amdgcn_cosf(turn), radius * __builtin_amdgcn_sinf(turn));
}

GROUP(256)
kernel void init_normal(
        global float *x, uint n, float std, uint seed_lo, uint seed_hi, uint stream, uint groups)
{
	rsrc_t r = resource(x, n * 4);
	for (uint base = group_x() * 4096; base < n * 4; base += groups * 4096) {
		uint at = base + lane_id() * 16;
		uint4 w = philox((uint4)(at / 16, stream, 0, 0), (uint2)(seed_lo, seed_hi));
		float4 value = (float4)(normal_pair(w.x, w.y), normal_pair(w.z, w.w));
		store4(value * std, r, at, 0);
	}
}

GROUP(256) kernel void init_constant(global float *x, uint n, float value, uint groups)
{
	rsrc_t r = resource(x, n * 4);
	for (uint base = group_x() * 4096; base < n * 4; base += groups * 4096)
		store4((float4)(value), r, base + lane_id() * 16, 0);
}
