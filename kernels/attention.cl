/* attention.cl - causal attention, forward and backward, without a T x T matrix, for three head
 * sizes; attention_head.h is the code. */
#include "gpu.h"

#define KEEP(x)                                                                                    \
	__asm__ volatile(                                                                          \
	        "" ::"v"(x)) /* orders the products around it against later uniform loads */
#define IN_VGPR(x)                                                                                 \
	__asm__ volatile(""                                                                        \
	        : "+v"(x)) /* computed here and kept, instead of what it was computed from */
#define LOWEST -1e30f      /* a masked score; finite, so that differences of two stay numbers */

#define HEAD          16
#define SCALE         0.25f
#define FORWARD_WAVES 4
#define GRAD_WAVES    3
#define DV_WAVES      4
#include "attention_head.h"

#define HEAD          32
#define SCALE         0.17677669529663687f
#define FORWARD_WAVES 3
#define GRAD_WAVES    2
#define DV_WAVES      3
#include "attention_head.h"

#define HEAD          64
#define SCALE         0.125f
#define FORWARD_WAVES 1
#define GRAD_WAVES    1
#define DV_WAVES      1
#include "attention_head.h"
