/* vram_info.h - VRAM_Info 2.2 of a VBIOS: memory modules, and the register values that belong to
 * memory clocks. Pure. Source: atombios.md 10.3.
 */
#ifndef RX_VBIOS_VRAM_INFO_H
#define RX_VBIOS_VRAM_INFO_H

#include "device/vbios/info.h"

#define VBIOS_MAX_MODULES   16
#define VBIOS_MAX_MC_REGS   128
#define VBIOS_MAX_MC_BLOCKS 128
#define VBIOS_MAX_TILES     8

/* clang-format off */
#define VBIOS_VRAM_MODULE(X) \
	X(uint32_t, channel_map, 0x00) /* MC_SHARED_CHREMAP */ \
	X(uint16_t, module_size, 0x04) \
	X(uint16_t, mc_arb_ramcfg, 0x06) \
	X(uint16_t, enable_channels, 0x08) /* bit mask */ \
	X(uint8_t, ext_memory_id, 0x0A) \
	X(uint8_t, memory_type, 0x0B) /* high nibble 5: GDDR5 */ \
	X(uint8_t, channels, 0x0C) /* log2, low confidence */ \
	X(uint8_t, channel_width, 0x0D) \
	X(uint8_t, density, 0x0E) \
	X(uint8_t, bank_col, 0x0F) \
	X(uint8_t, misc, 0x10) \
	X(uint16_t, memory_size_mb, 0x14) \
	X(uint8_t, tuning_set, 0x16) \
	X(uint8_t, row, 0x17) \
	X(uint16_t, emrs2, 0x18) \
	X(uint16_t, emrs3, 0x1A) \
	X(uint8_t, vendor_id, 0x1C) /* 7:4 revision, 3:0 vendor; 0: not detected */ \
	X(uint8_t, refresh, 0x1D) \
	X(uint8_t, fifo_depth, 0x1E) \
	X(uint8_t, cdr_bandwidth, 0x1F) \
	X(uint32_t, channel_map_high, 0x20) \
	X(uint32_t, bank_map, 0x24)

#define VBIOS_VRAM_HEADER(X) \
	X(uint16_t, mem_adjust, 4) /* offsets from the table, 0: absent */ \
	X(uint16_t, mem_clk_patch, 6) \
	X(uint16_t, mc_adjust_per_tile, 8) \
	X(uint16_t, mc_phy_init, 10) \
	X(uint16_t, dram_data_remap, 12) \
	X(uint8_t, module_count, 16) \
	X(uint8_t, clk_patch_ver, 17) \
	X(uint8_t, module_ver, 18) \
	X(uint8_t, phy_tiles, 19)
/* clang-format on */

/* registers, and their values for ranges of memory clocks */
struct vbios_mc_regs {
	unsigned regs, blocks;
	uint16_t block_bytes;
	struct {
		uint16_t reg; /* dword index */
		uint8_t code; /* low nibble 4: has a value of its own, 0: that of the one before */
	} reg[VBIOS_MAX_MC_REGS];
	struct vbios_mc_block {
		uint32_t max_clock; /* 10 kHz */
		uint8_t module;     /* number of the module, or of the tile */
		uint32_t value[VBIOS_MAX_MC_REGS];
	} block[VBIOS_MAX_MC_BLOCKS];
};

/* how the bits of a tile's two channels are wired */
struct vbios_remap {
	uint8_t byte[2];
	uint32_t bit[2][4];
};

struct vbios_vram_info {
	VBIOS_VRAM_HEADER(VBIOS_MEMBER)
	struct vbios_vram_module {
		VBIOS_VRAM_MODULE(VBIOS_MEMBER)
		char part[32];
	} module[VBIOS_MAX_MODULES];
	struct vbios_mc_regs adjust, clk_patch, per_tile, phy_init;
	unsigned remaps;
	struct vbios_remap remap[VBIOS_MAX_TILES];
};

/* vbios_vram_info - decode VRAM_Info. The struct is large (about 300 KiB): allocate it.
 * Return: as the functions of info.h.
 */
int vbios_vram_info(const struct vbios_rom *rom, struct vbios_vram_info *out);

#endif
