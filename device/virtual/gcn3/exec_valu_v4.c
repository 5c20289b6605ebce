/* exec_valu_v4.c - the vector executor for x86-64-v4 (AVX-512). */
#define VALU_EXECUTOR gcn3_exec_valu_v4
#define VALU_SHORTCUT gcn3_valu_shortcut_v4
#include "device/virtual/gcn3/valu_body.h"
