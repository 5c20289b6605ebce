/* decode_table.c - name and operand shape of every operation, from opcodes.def. */
#include "device/virtual/gcn3/decode_priv.h"

#define SHAPE(kind, type) ((kind) << 5 | (type))

#define NO  0
#define V1  SHAPE(KIND_VGPR, TYPE_B32)
#define V2  SHAPE(KIND_VGPR, TYPE_B64)
#define V3  SHAPE(KIND_VGPR, TYPE_B96)
#define V4  SHAPE(KIND_VGPR, TYPE_B128)
#define S1  SHAPE(KIND_SGPR, TYPE_B32)
#define S2  SHAPE(KIND_SGPR, TYPE_B64)
#define S4  SHAPE(KIND_SGPR, TYPE_B128)
#define S8  SHAPE(KIND_SGPR, TYPE_B256)
#define S16 SHAPE(KIND_SGPR, TYPE_B512)
#define A1  SHAPE(KIND_ANY, TYPE_B32)
#define A2  SHAPE(KIND_ANY, TYPE_B64)
#define AH  SHAPE(KIND_ANY, TYPE_F16)
#define AI  SHAPE(KIND_ANY, TYPE_I16)
#define AD  SHAPE(KIND_ANY, TYPE_F64)
#define R1  SHAPE(KIND_SREG, TYPE_B32)
#define R2  SHAPE(KIND_SREG, TYPE_B64)
#define L1  SHAPE(KIND_LANE, TYPE_B32)
#define C2  SHAPE(KIND_CARRY, TYPE_B64)
#define KL  SHAPE(KIND_K, TYPE_B32)

#define F0       FLAG_F0
#define F1       FLAG_F1
#define F2       FLAG_F2
#define CLAMP    FLAG_CLAMP
#define OMOD     FLAG_OMOD
#define SDST     FLAG_SDST
#define CMP      FLAG_CMP
#define SUB      FLAG_SUB
#define PAIR     FLAG_PAIR
#define GDS_ONLY FLAG_GDS_ONLY
#define NO_GDS   FLAG_NO_GDS
#define ATOMIC   FLAG_ATOMIC
#define LDS_OK   FLAG_LDS_OK
#define LDS_ONLY FLAG_LDS_ONLY

const struct gcn3_shape gcn3_shapes[GCN3_OP_COUNT] = {
        [GCN3_OP_INVALID] = {.name = "invalid"},
#define OP(op, mnemonic, d, s0, s1, s2, f) [GCN3_##op] = {#mnemonic, d, {s0, s1, s2}, f},
#include "device/virtual/gcn3/opcodes.def"
#undef OP
};

const char *gcn3_op_name(unsigned op)
{
	return op < GCN3_OP_COUNT ? gcn3_shapes[op].name : gcn3_shapes[GCN3_OP_INVALID].name;
}
