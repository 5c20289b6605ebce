/* helper_kernel.c - see helper_kernel.h. Machine code as assembled by clang for gfx803. */
#include "helper_kernel.h"

#include "device/bytes.h"
#include "device/regs/regs.h"

static void upload(struct rx580 *rx, uint64_t offset, const uint32_t *code, size_t n)
{
	uint8_t bytes[KERNEL_BYTES] = {0};

	for (size_t i = 0; i < n; i++)
		put_le32(bytes + 4 * i, code[i]);
	assert_int_equal(rx_vram_write(rx, offset, bytes, sizeof(bytes)), 0);
}

void kernel_upload_copy(struct rx580 *rx, uint64_t offset, unsigned constant)
{
	uint32_t code[] = {
	        0xC0020100, 0x00000000, /* s_load_dword s4, s[0:1], 0x0 */
	        0xBF8C007F,             /* s_waitcnt lgkmcnt(0) */
	        0x7E000202,             /* v_mov_b32 v0, s2 */
	        0x7E020203,             /* v_mov_b32 v1, s3 */
	        0x7E040204,             /* v_mov_b32 v2, s4 */
	        0xDC700000, 0x00000200, /* flat_store_dword v[0:1], v2 */
	        0xBF810000,             /* s_endpgm */
	};

	if (constant)
		code[5] =
		        0x7E040280 + constant; /* v_mov_b32 v2, constant: inline operand 128 + n */
	upload(rx, offset, code, ARRAY_SIZE(code));
}

void kernel_upload_endless(struct rx580 *rx, uint64_t offset)
{
	const uint32_t code[] = {0xBF82FFFF /* s_branch to itself */};

	upload(rx, offset, code, ARRAY_SIZE(code));
}

void kernel_dispatch(struct pm4 *p, struct rx580 *rx, uint64_t code, uint64_t src, uint64_t dst)
{
	struct rx_info info;

	rx_read_info(rx, &info);
	uint64_t pc = info.fb_base + code, s = info.fb_base + src, d = info.fb_base + dst;
	const uint32_t threads[3] = {1, 1, 1};
	const uint32_t pgm[2] = {(uint32_t)(pc >> 8), (uint32_t)(pc >> 40)};
	/* RSRC1: 4 VGPRs, 16 SGPRs, FLOAT_MODE 0xC0, DX10_CLAMP, IEEE; RSRC2: 4 user SGPRs
	 * (polaris.md 9.1) */
	const uint32_t rsrc[2] = {1u << 6 | 0xC0u << 12 | 1u << 21 | 1u << 23, 4u << 1};
	const uint32_t user[4] = {
	        (uint32_t)s, (uint32_t)(s >> 32), (uint32_t)d, (uint32_t)(d >> 32)};

	pm4_set_sh(p, REG_COMPUTE_NUM_THREAD_X, threads, 3);
	pm4_set_sh(p, REG_COMPUTE_PGM_LO, pgm, 2);
	pm4_set_sh(p, REG_COMPUTE_PGM_RSRC1, rsrc, 2);
	pm4_set_sh(p, REG_COMPUTE_USER_DATA_0, user, 4);
	pm4_dispatch(p, 1, 1, 1);
}
