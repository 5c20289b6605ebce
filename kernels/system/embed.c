/* embed.c - the plan engine's own code object (system/plan.cl) as bytes in the daemon. */
#include <stddef.h>

extern const unsigned char rx_system_co[], rx_system_co_end[];

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global rx_system_co\n"
        "rx_system_co:\n"
        ".incbin \"plan.co\"\n"
        ".global rx_system_co_end\n"
        "rx_system_co_end:\n"
        ".byte 0\n"
        ".previous\n");
