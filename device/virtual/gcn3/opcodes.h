/* opcodes.h - enum gcn3_op: one value per operation, whatever its encoding. Included through
 * decode.h. */
#ifndef GCN3_OPCODES_H
#define GCN3_OPCODES_H

enum gcn3_op {
	GCN3_OP_INVALID,
#define OP(name, ...) GCN3_##name,
#include "device/virtual/gcn3/opcodes.def"
#undef OP
	GCN3_OP_COUNT
};

#endif
