/* decode_priv.h - operand shapes of the operations, shared by decoder and disassembler. Private to
 * gcn3/. A shape byte is kind << 5 | type. opcodes.def writes them as V1, A2, ...: kind letter,
 * then the type.
 */
#ifndef GCN3_DECODE_PRIV_H
#define GCN3_DECODE_PRIV_H

#include "device/virtual/gcn3/decode.h"

enum gcn3_kind { /* what may stand in the slot */
	KIND_NONE,
	KIND_VGPR,
	KIND_SGPR, /* also VCC, M0, EXEC, trap registers */
	KIND_ANY, /* SGPR, inline constant, literal, SCC and friends; in vector instructions VGPR as
	             well */
	KIND_SREG, /* as KIND_SGPR, or SCC and friends */
	KIND_LANE, /* SGPR, M0 or inline constant: lane select of v_readlane, sources of v_writelane
	            */
	KIND_CARRY, /* VCC in short forms, an SGPR pair in VOP3 */
	KIND_K,     /* the literal of v_madmk and v_madak */
};

enum gcn3_type { /* 1 to 16: that many dwords of bits */
	TYPE_B32 = 1,
	TYPE_B64 = 2,
	TYPE_B96 = 3,
	TYPE_B128 = 4,
	TYPE_B256 = 8,
	TYPE_B512 = 16,
	TYPE_F16,
	TYPE_I16,
	TYPE_F64,
};

#define GCN3_KIND(shape) ((enum gcn3_kind)((shape) >> 5))
#define GCN3_TYPE(shape) ((enum gcn3_type)((shape) & 31))

enum gcn3_flags {
	FLAG_F0 = 1 << 0, /* source i is floating point: VOP3, SDWA and DPP may apply abs and neg */
	FLAG_F1 = 1 << 1,
	FLAG_F2 = 1 << 2,
	FLAG_CLAMP = 1 << 3, /* VOP3 may clamp */
	FLAG_OMOD = 1 << 4,  /* VOP3 may scale the result */
	FLAG_SDST = 1 << 5,  /* second, scalar result: VOP3b */
	FLAG_CMP = 1 << 6,   /* the result is a lane mask */
	FLAG_SUB = 1 << 7,   /* has SDWA and, unless a compare, DPP forms */
	FLAG_PAIR = 1 << 8,  /* DS with two 8-bit offsets */
	FLAG_GDS_ONLY = 1 << 9,
	FLAG_NO_GDS = 1 << 10,
	FLAG_ATOMIC = 1 << 11, /* returns the value before when glc is set */
	FLAG_LDS_OK = 1 << 12, /* buffer load that may go to LDS */
	FLAG_LDS_ONLY = 1 << 13,
};

struct gcn3_shape {
	const char *name;
	uint8_t dst, src[3];
	uint16_t flags;
};

extern const struct gcn3_shape gcn3_shapes[GCN3_OP_COUNT];

/* gcn3_dwords - registers a value of @shape takes. */
static inline unsigned gcn3_dwords(uint8_t shape)
{
	enum gcn3_type t = GCN3_TYPE(shape);

	return t <= TYPE_B512 ? (unsigned)t : t == TYPE_F64 ? 2 : 1;
}

#endif
