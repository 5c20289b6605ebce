/* helper_kernel.h - two tiny gfx803 kernels and the packets that run them, for tests of queues and
 * caches. */
#ifndef HELPER_KERNEL_H
#define HELPER_KERNEL_H

#include "device/cp/pm4_build.h"
#include "helper_card.h"

#define KERNEL_BYTES 256u /* room for each at a 256-byte aligned VRAM offset */

/* kernel_upload_copy - one lane: the dword at s[0:1], read through the scalar cache, is stored at
 * s[2:3].
 * @constant: not 0: stores this inline constant (1..64) instead. */
void kernel_upload_copy(struct rx580 *rx, uint64_t offset, unsigned constant);
/* kernel_upload_endless - never ends. */
void kernel_upload_endless(struct rx580 *rx, uint64_t offset);
/* kernel_dispatch - one group of one lane of the kernel at VRAM offset @code; user data: MC
 * addresses of src and dst. */
void kernel_dispatch(struct pm4 *p, struct rx580 *rx, uint64_t code, uint64_t src, uint64_t dst);

#endif
