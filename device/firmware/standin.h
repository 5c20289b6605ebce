/* standin.h - the format of generated microcode for the virtual card. A table both sides of the
 * cable share: the driver generates, the virtual card verifies. It is no microcode, and a real card
 * never gets it.
 *
 * A block of n bytes: {STANDIN_MAGIC, kind, n, filler..., CRC-32}, dwords, little endian. The CRC
 * (IEEE 802.3, reflected, as in zlib) covers every byte of the block before it.
 *   RLC, CE, PFP, ME, SDMA0, SDMA1: the payload is one block of its UCODE id (polaris.md 4.4).
 *   MEC: two blocks one after the other, id 6 up to the jump table and id 7 for the jump table,
 *        because the SMU gets them as two images (JT1 and JT2 both show the second).
 *   MC:  one block of kind STANDIN_MC.
 *   SMC: the payload begins with the SMC firmware header (polaris.md 10.3), then zeros; the three
 *        words stand at STANDIN_SMC_AT. n and the CRC count from the first byte of the payload.
 *        The card sees the payload as dwords in SMC RAM from 0x20000 on; put together little endian
 *        they are these bytes.
 */
#ifndef RX_FIRMWARE_STANDIN_H
#define RX_FIRMWARE_STANDIN_H

#define STANDIN_MAGIC      0x58525346u
#define STANDIN_SMC        0x100u
#define STANDIN_MC         0x101u
#define STANDIN_SMC_AT     0x100u
#define STANDIN_HEAD_BYTES 12u /* magic, kind, n */
#define STANDIN_MIN_BYTES  16u

/* Where the SMC stand-in says its tables are (polaris.md 10.3): SMC RAM byte addresses, distances
 * as in amdgpu-oracle.md 2. Real firmware has its own. */
#define STANDIN_SMC_VERSION       0x00524658u
#define STANDIN_SOFT_REGISTERS    0x3E000u
#define STANDIN_DPM_TABLE         0x3D000u
#define STANDIN_FAN_TABLE         0x3E200u
#define STANDIN_MC_REGISTER_TABLE 0x3E400u
#define STANDIN_MC_ARB_TABLE      0x3E600u
#define STANDIN_PM_FUSE_TABLE     0x3E800u
#define STANDIN_AVFS_MEAN_N_SIGMA 0x3E900u
#define STANDIN_AVFS_SCLK_OFFSETS 0x3EA00u

#endif
