/* exec_valu_v3.c - the vector executor for x86-64-v3 (AVX2, FMA). */
#define VALU_EXECUTOR gcn3_exec_valu_v3
#define VALU_SHORTCUT gcn3_valu_shortcut_v3
#include "device/virtual/gcn3/valu_body.h"
