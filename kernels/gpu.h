/* gpu.h - what the kernels need from gfx803 beyond OpenCL C, which is compiled without a device
 * library. Buffer resources: no 64-bit address arithmetic and bounds checked by num_records
 * (kernels.md 2.1). a*b+c becomes v_mac_f32 (round, then round); fma() would run at quarter rate.
 */
#ifndef RX_GPU_H
#define RX_GPU_H

#include "step.h"

/* Loops that are unrolled completely, so that arrays they index are registers. */
#define each(i, n) each_from (i, 0, n, 1)
#define each_from(i, from, to, stride)                                                             \
	_Pragma("unroll") for (uint i = (from); i < (to); i += (stride))
#define GROUP(n) __attribute__((reqd_work_group_size(n, 1, 1)))
/* a fixed occupancy sets the register budget of the compiler: 2 waves a SIMD = 128 VGPRs, 3 = 84, 4
 * = 64 */
#define WAVES(n) __attribute__((amdgpu_waves_per_eu(n, n)))

#define lane_id()   ((uint)__builtin_amdgcn_workitem_id_x())
#define group_x()   ((uint)__builtin_amdgcn_workgroup_id_x())
#define group_y()   ((uint)__builtin_amdgcn_workgroup_id_y())
#define group_z()   ((uint)__builtin_amdgcn_workgroup_id_z())
#define uniform(x)  ((uint)__builtin_amdgcn_readfirstlane((int)(x)))
#define exp2_hw(x)  __builtin_amdgcn_exp2f(x)
#define log2_hw(x)  __builtin_amdgcn_logf(x) /* v_log_f32 is base 2 */
#define rcp_hw(x)   __builtin_amdgcn_rcpf(x)
#define sqrt_hw(x)  __builtin_amdgcn_sqrtf(x)
#define rsq_hw(x)   __builtin_amdgcn_rsqf(x)
#define max_f(a, b) ((a) > (b) ? (a) : (b))
#define LOG2E       1.4426950408889634f
#define LN2         0.6931471805599453f
#define FAR_AWAY                                                                                   \
	0x7ffffff0u /* a byte offset no resource covers: loads give 0, stores are dropped */

/* A uniform value the compiler can no longer reason about. */
#define OPAQUE(x) __asm__ volatile("" : "+s"(x))

/* @x, or NaN, which is made of bits the compiler cannot see: it may drop a float it knows to be NaN
 * (-fno-honor-nans). */
inline float or_nan(bool ok, float x)
{
	uint bits = 0x7fc00000u;
	OPAQUE(bits);
	return as_float(ok ? as_uint(x) : bits);
}

typedef __amdgpu_buffer_rsrc_t rsrc_t;

/* word 3: data format 32, float; untyped accesses only need it to be valid (kernels.md 2.1) */
#define resource(p, bytes)                                                                         \
	__builtin_amdgcn_make_buffer_rsrc((global void *)(p), 0, (int)(bytes), 0x00027000)
#define load1(r, offset, soffset)                                                                  \
	as_float(__builtin_amdgcn_raw_buffer_load_b32(r, (int)(offset), (int)(soffset), 0))
#define load4(r, offset, soffset)                                                                  \
	as_float4(__builtin_amdgcn_raw_buffer_load_b128(r, (int)(offset), (int)(soffset), 0))
#define load_u16(r, offset)                                                                        \
	((uint)(ushort)__builtin_amdgcn_raw_buffer_load_b16(r, (int)(offset), 0, 0))
#define store1(v, r, offset, soffset)                                                              \
	__builtin_amdgcn_raw_buffer_store_b32(as_uint(v), r, (int)(offset), (int)(soffset), 0)
#define store4(v, r, offset, soffset)                                                              \
	__builtin_amdgcn_raw_buffer_store_b128(as_uint4(v), r, (int)(offset), (int)(soffset), 0)

/* A pointer whose loads may go through the scalar cache: nothing in this dispatch writes what it
 * points to. */
#define as_constant(type, p) ((constant type *)(ulong)(p))

inline void group_barrier(void)
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#define dpp(x, control)     as_float(__builtin_amdgcn_update_dpp(0, as_int(x), control, 0xf, 0xf, true))
#define lane_value(x, lane) as_float(__builtin_amdgcn_readlane(as_int(x), lane))

/* Sum over the 64 lanes of a wave, the same bits in every lane: pairs, quads, halves of 16, 16,
 * then the four rows in order. DPP controls (GCN3 ISA, DPP_CTRL): quad_perm [1,0,3,2] = 0xb1,
 * [2,3,0,1] = 0x4e, row_half_mirror 0x141, row_mirror 0x140. */
inline float wave_sum(float x)
{
	x += dpp(x, 0xb1);
	x += dpp(x, 0x4e);
	x += dpp(x, 0x141);
	x += dpp(x, 0x140);
	return ((lane_value(x, 0) + lane_value(x, 16)) + lane_value(x, 32)) + lane_value(x, 48);
}

inline float wave_max(float x)
{
	float y;
	y = dpp(x, 0xb1), x = max_f(x, y);
	y = dpp(x, 0x4e), x = max_f(x, y);
	y = dpp(x, 0x141), x = max_f(x, y);
	y = dpp(x, 0x140), x = max_f(x, y);
	return max_f(max_f(lane_value(x, 0), lane_value(x, 16)),
	        max_f(lane_value(x, 32), lane_value(x, 48)));
}

/* Sum over a group of 256, waves in order; @scratch: 4 floats, free again after the next barrier.
 */
inline float group_sum256(float x, local float *scratch)
{
	x = wave_sum(x);
	scratch[lane_id() >> 6] = x;
	group_barrier();
	return ((scratch[0] + scratch[1]) + scratch[2]) + scratch[3];
}

inline float group_max256(float x, local float *scratch)
{
	x = wave_max(x);
	scratch[lane_id() >> 6] = x;
	group_barrier();
	return max_f(max_f(scratch[0], scratch[1]), max_f(scratch[2], scratch[3]));
}

/* Offset in bytes of input id @row of the step: row b*T + t is id b*(T+1) + t. */
inline uint id_offset(uint row, uint t)
{
	return (row + row / t) * 2;
}

#endif
