/* exec_valu_base.c - the vector executor for any x86-64. */
#define VALU_EXECUTOR gcn3_exec_valu_base
#define VALU_SHORTCUT gcn3_valu_shortcut_base
#include "device/virtual/gcn3/valu_body.h"
