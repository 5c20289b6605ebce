/* valu_table.c - operand kinds and floating-point class of every vector operation, from the .def
 * files. */
#include "device/virtual/gcn3/valu.h"

#define ROW(FP, DT, AT, BT, CT, FLAGS)                                                             \
	{GCN3_AS_##DT, {GCN3_AS_##AT, GCN3_AS_##BT, GCN3_AS_##CT}, GCN3_FP_##FP, FLAGS, true}

const struct valu_info gcn3_valu_info[GCN3_OP_COUNT] = {
#define V1(NAME, FP, DT, AT, EXPR)            [GCN3_##NAME] = ROW(FP, DT, AT, NONE, NONE, 0),
#define V2(NAME, FP, DT, AT, BT, EXPR)        [GCN3_##NAME] = ROW(FP, DT, AT, BT, NONE, 0),
#define V3(NAME, FP, DT, AT, BT, CT, EXPR)    [GCN3_##NAME] = ROW(FP, DT, AT, BT, CT, 0),
#define V3VCC(NAME, FP, DT, AT, BT, CT, EXPR) [GCN3_##NAME] = ROW(FP, DT, AT, BT, CT, VALU_VCC),
#define V1S(NAME, FP, DT, AT, EXPR)           [GCN3_##NAME] = ROW(FP, DT, AT, NONE, NONE, VALU_SCALAR),
#define V2S(NAME, FP, DT, AT, BT, EXPR)       [GCN3_##NAME] = ROW(FP, DT, AT, BT, NONE, VALU_SCALAR),
#define V3S(NAME, FP, DT, AT, BT, CT, EXPR)   [GCN3_##NAME] = ROW(FP, DT, AT, BT, CT, VALU_SCALAR),
#define A3S(NAME, FP, DT, AT, BT, CT, EXPR)                                                        \
	[GCN3_##NAME] = ROW(FP, DT, AT, BT, CT, VALU_SCALAR | VALU_ACC),
#define M2(NAME, FP, DT, AT, BT, EXPR, BIT)                                                        \
	[GCN3_##NAME] = ROW(FP, DT, AT, BT, NONE, VALU_MASK | VALU_SCALAR),
#define M3(NAME, FP, DT, AT, BT, CT, EXPR, BIT) [GCN3_##NAME] = ROW(FP, DT, AT, BT, CT, VALU_MASK),
#define CMP(NAME, FP, AT, BT, EXPR)                                                                \
	[GCN3_V_CMP_##NAME] = ROW(FP, NONE, AT, BT, NONE, VALU_MASK | VALU_SCALAR),                \
	[GCN3_V_CMPX_##NAME] = ROW(FP, NONE, AT, BT, NONE, VALU_MASK | VALU_SCALAR | VALU_EXEC),
#define V2FN(NAME, FP, DT, AT, BT, FUNCTION)     [GCN3_##NAME] = ROW(FP, DT, AT, BT, NONE, 0),
#define V3FN(NAME, FP, DT, AT, BT, CT, FUNCTION) [GCN3_##NAME] = ROW(FP, DT, AT, BT, CT, 0),
#include "device/virtual/gcn3/valu_hot.def"
#include "device/virtual/gcn3/valu_cold.def"
        /* between lanes, or by M0 */
        [GCN3_V_NOP] = ROW(NONE, NONE, NONE, NONE, NONE, VALU_WAVE),
        [GCN3_V_CLREXCP] = ROW(NONE, NONE, NONE, NONE, NONE, VALU_WAVE),
        [GCN3_V_READFIRSTLANE_B32] = ROW(NONE, S, U, NONE, NONE, VALU_WAVE),
        [GCN3_V_READLANE_B32] = ROW(NONE, S, U, S, NONE, VALU_WAVE),
        [GCN3_V_WRITELANE_B32] = ROW(NONE, U, S, S, NONE, VALU_WAVE),
        [GCN3_V_MOVRELD_B32] = ROW(NONE, U, U, NONE, NONE, VALU_WAVE),
        [GCN3_V_MOVRELS_B32] = ROW(NONE, U, U, NONE, NONE, VALU_WAVE),
        [GCN3_V_MOVRELSD_B32] = ROW(NONE, U, U, NONE, NONE, VALU_WAVE),
};
