/* pm4.h - PM4 packets of the gfx8 compute queues (MEC): opcodes and field positions. A table only,
 * no logic. Shared by both sides of the cable. Names follow the vendor headers. Little-endian
 * dwords. Source: polaris.md 7.1-7.5, corrected by resident-plans.md 1-6 and 16. Dword numbers
 * count the header as 0.
 */
#ifndef CP_PM4_H
#define CP_PM4_H

#include <stdint.h>

/* Header (polaris.md 7.1): type 3, count = dwords - 2 */
#define PM4_TYPE_SHIFT   30
#define PM4_TYPE3        3u
#define PM4_COUNT_SHIFT  16
#define PM4_COUNT_MASK   0x3FFFu
#define PM4_OPCODE_SHIFT 8
#define PM4_OPCODE_MASK  0xFFu
#define PM4_MAX_DWORDS   0x4000u /* count 0x3FFE + 2; count 0x3FFF is the one-dword filler */
#define PKT3(op, dwords)                                                                           \
	(PM4_TYPE3 << PM4_TYPE_SHIFT | ((uint32_t)(dwords) - 2) << PM4_COUNT_SHIFT |               \
	        (uint32_t)(op) << PM4_OPCODE_SHIFT)
#define PM4_FILLER 0xFFFF1000u /* one-dword NOP */

/* Opcodes (polaris.md 7.2; resident-plans.md 16.3 for the last two) */
#define PKT3_NOP               0x10
#define PKT3_DISPATCH_DIRECT   0x15 /* 5 dwords */
#define PKT3_DISPATCH_INDIRECT 0x16 /* 4 dwords on MEC */
#define PKT3_ATOMIC_MEM        0x1E /* 9 dwords */
#define PKT3_COND_EXEC         0x22 /* 5 dwords */
#define PKT3_WRITE_DATA        0x37 /* 4 + n dwords */
#define PKT3_WAIT_REG_MEM      0x3C /* 7 dwords */
#define PKT3_INDIRECT_BUFFER   0x3F /* 4 dwords; 14 as COND_INDIRECT_BUFFER */
#define PKT3_COPY_DATA         0x40 /* 6 dwords */
#define PKT3_COND_WRITE        0x45 /* 9 dwords */
#define PKT3_EVENT_WRITE       0x46 /* 2 dwords, 4 with address */
#define PKT3_RELEASE_MEM       0x49 /* 7 dwords */
#define PKT3_DMA_DATA          0x50 /* 7 dwords */
#define PKT3_ACQUIRE_MEM       0x58 /* 7 dwords */
#define PKT3_REWIND            0x59 /* 2 dwords */
#define PKT3_SET_SH_REG        0x76 /* 2 + n dwords */
#define PKT3_SET_UCONFIG_REG   0x79 /* 2 + n dwords */
#define PKT3_PRED_EXEC         0x23

/* Register spaces in dwords (polaris.md 7.1); SET_* offsets are relative to these */
#define PACKET3_SET_SH_REG_START      0x2C00u
#define PACKET3_SET_SH_REG_END        0x3000u
#define PACKET3_SET_UCONFIG_REG_START 0xC000u
#define PACKET3_SET_UCONFIG_REG_END   0x10000u
#define PM4_SET_REG_OFFSET_MASK       0xFFFFu

/* Compute registers as SET_SH_REG offsets: dword index - 0x2C00 (polaris.md 9.1) */
#define SH_COMPUTE_DISPATCH_INITIATOR     0x200
#define SH_COMPUTE_DIM_X                  0x201
#define SH_COMPUTE_START_X                0x204
#define SH_COMPUTE_NUM_THREAD_X           0x207
#define SH_COMPUTE_PIPELINESTAT_ENABLE    0x20A
#define SH_COMPUTE_PERFCOUNT_ENABLE       0x20B
#define SH_COMPUTE_PGM_LO                 0x20C
#define SH_COMPUTE_PGM_HI                 0x20D
#define SH_COMPUTE_TBA_LO                 0x20E
#define SH_COMPUTE_TMA_LO                 0x210
#define SH_COMPUTE_PGM_RSRC1              0x212
#define SH_COMPUTE_PGM_RSRC2              0x213
#define SH_COMPUTE_VMID                   0x214
#define SH_COMPUTE_RESOURCE_LIMITS        0x215
#define SH_COMPUTE_STATIC_THREAD_MGMT_SE0 0x216
#define SH_COMPUTE_STATIC_THREAD_MGMT_SE1 0x217
#define SH_COMPUTE_TMPRING_SIZE           0x218
#define SH_COMPUTE_STATIC_THREAD_MGMT_SE2 0x219
#define SH_COMPUTE_STATIC_THREAD_MGMT_SE3 0x21A
#define SH_COMPUTE_RESTART_X              0x21B
#define SH_COMPUTE_THREAD_TRACE_ENABLE    0x21E
#define SH_COMPUTE_MISC_RESERVED          0x21F
#define SH_COMPUTE_USER_DATA_0            0x240 /* .. 0x24F */

/* COMPUTE_NUM_THREAD_X/Y/Z, COMPUTE_PGM_RSRC2, COMPUTE_TMPRING_SIZE (polaris.md 9.1) */
#define COMPUTE_NUM_THREAD_FULL_MASK     0xFFFFu
#define COMPUTE_NUM_THREAD_PARTIAL_SHIFT 16
#define COMPUTE_PGM_RSRC2_LDS_SIZE_SHIFT 15 /* units of 512 bytes, 9 bits */
#define COMPUTE_TMPRING_WAVES_MASK       0xFFFu
#define COMPUTE_TMPRING_WAVESIZE_SHIFT   12 /* units of 1 KiB a wave, 13 bits */

/* Dispatch initiator, last dword of DISPATCH_* (polaris.md 7.3) */
#define COMPUTE_SHADER_EN      (1u << 0)
#define PARTIAL_TG_EN          (1u << 1)
#define FORCE_START_AT_000     (1u << 2)
#define ORDERED_APPEND_ENBL    (1u << 3)
#define USE_THREAD_DIMENSIONS  (1u << 5)
#define ORDER_MODE             (1u << 6)
#define DISPATCH_DATA_ATC      (1u << 12)
#define DISPATCH_INITIATOR_PAL 0x45u /* SHADER_EN | FORCE_START_AT_000 | ORDER_MODE */

/* Selectors of WRITE_DATA, COPY_DATA, DMA_DATA (polaris.md 7.3) */
#define DATA_SEL_REGISTER      0u
#define DATA_SEL_MEMORY        1u /* sync, through GRBM */
#define DATA_SEL_TC_L2         2u
#define DATA_SEL_GDS           3u
#define DATA_SEL_IMMEDIATE     5u /* COPY_DATA source */
#define DATA_SEL_MEMORY_ASYNC  5u /* destination */
#define DATA_SEL_GPU_CLOCK     9u /* COPY_DATA source */
#define WRITE_DATA_DST_SHIFT   8
#define WRITE_DATA_ONE_ADDRESS (1u << 16)
#define WRITE_DATA_WR_CONFIRM  (1u << 20)
#define COPY_DATA_SRC_MASK     0xFu
#define COPY_DATA_DST_SHIFT    8
#define COPY_DATA_COUNT_64     (1u << 16)
#define COPY_DATA_WR_CONFIRM   (1u << 20)
#define DATA_SEL_MASK          0xFu

/* WAIT_REG_MEM dword 1; COND_WRITE uses the same functions (polaris.md 7.3, resident-plans.md 3) */
#define WAIT_FUNCTION_MASK     0x7u
#define WAIT_ALWAYS            0u
#define WAIT_LESS              1u
#define WAIT_LESS_EQUAL        2u
#define WAIT_EQUAL             3u
#define WAIT_NOT_EQUAL         4u
#define WAIT_GREATER_EQUAL     5u
#define WAIT_GREATER           6u
#define WAIT_SPACE_SHIFT       4
#define WAIT_SPACE_MASK        0x3u
#define WAIT_SPACE_REGISTER    0u
#define WAIT_SPACE_MEMORY      1u
#define WAIT_OPERATION_SHIFT   6
#define WAIT_OPERATION_MASK    0x3u
#define WAIT_OP_WAIT           0u
#define WAIT_OP_WRITE_WAIT     1u /* write reference to register 1, then wait on register 2 */
#define WAIT_ENGINE_SHIFT      8
#define WAIT_UNCACHED          (1u << 10)
#define WAIT_MEM_EQUAL         0x413u /* memory, uncached, == */
#define WAIT_MEM_NOT_EQUAL     0x414u
#define WAIT_MEM_GREATER_EQUAL 0x415u
#define WAIT_HDP_FLUSH         0x043u /* write GPU_HDP_FLUSH_REQ, wait for DONE */
#define WAIT_POLL_INTERVAL     0x20u
#define COND_WRITE_POLL_MEMORY (1u << 4)
#define COND_WRITE_DST_SHIFT   8 /* 0 register, 1 memory, 2 scratch */
#define COND_WRITE_DST_MASK    0x3u
#define COND_EXEC_COUNT_MASK   0x3FFFu

/* DMA_DATA (polaris.md 7.3) */
#define DMA_DATA_DST_SEL_SHIFT  20
#define DMA_DATA_SRC_SEL_SHIFT  29
#define DMA_DATA_SEL_MASK       0x3u
#define DMA_DATA_SEL_ADDRESS    0u
#define DMA_DATA_SEL_GDS        1u
#define DMA_DATA_SEL_DATA       2u /* source: immediate fill */
#define DMA_DATA_SEL_ADDRESS_L2 3u
#define DMA_DATA_CP_SYNC        (1u << 31)
#define DMA_DATA_BYTES_MASK     0x1FFFFFu
#define DMA_DATA_SAS            (1u << 26) /* source is register space */
#define DMA_DATA_DAS            (1u << 27)
#define DMA_DATA_SAIC           (1u << 28) /* no increment */
#define DMA_DATA_DAIC           (1u << 29)
#define DMA_DATA_RAW_WAIT       (1u << 30)

/* INDIRECT_BUFFER dword 3 (resident-plans.md 1) */
#define IB_SIZE_MASK       0xFFFFFu
#define IB_CHAIN           (1u << 20)
#define IB_OFFLOAD_POLLING (1u << 21) /* keep 0 */
#define IB_VALID           (1u << 23)
#define IB_VMID_SHIFT      24
#define IB_VMID_MASK       0xFu

/* Events: EVENT_WRITE and RELEASE_MEM dword 1 (polaris.md 7.3, 7.4) */
#define EVENT_TYPE_MASK              0x3Fu
#define EVENT_INDEX_SHIFT            8
#define EVENT_INDEX_MASK             0xFu
#define EVENT_OFFLOAD                (1u << 31)
#define CACHE_FLUSH_TS               0x04u
#define CS_PARTIAL_FLUSH             0x07u
#define CACHE_FLUSH_AND_INV_TS_EVENT 0x14u
#define BOTTOM_OF_PIPE_TS            0x28u
#define CS_DONE                      0x2Fu
#define EVENT_INDEX_PARTIAL_FLUSH    4u
#define EVENT_INDEX_TS               5u
#define EVENT_INDEX_EOS              6u
#define EVENT_WRITE_CS_PARTIAL_FLUSH 0x407u
#define RELEASE_MEM_TC_WB_ACTION     (1u << 15)
#define RELEASE_MEM_TCL1_ACTION      (1u << 16)
#define RELEASE_MEM_TC_ACTION        (1u << 17)
#define RELEASE_MEM_CACHE_FLUSH                                                                    \
	0x00038514u /* CACHE_FLUSH_AND_INV_TS, index 5, TC_WB | TCL1 | TC                          \
	             */
#define RELEASE_MEM_DST_SEL_SHIFT 16
#define RELEASE_MEM_DST_SEL_MASK  0x3u
#define RELEASE_MEM_INT_SEL_SHIFT 24
#define RELEASE_MEM_INT_SEL_MASK  0x7u
#define RELEASE_MEM_DATA_AFTER_CONFIRM                                                             \
	3u /* the INT_SEL for polled fences (resident-plans.md 16.1) */
#define RELEASE_MEM_DATA_SEL_SHIFT 29
#define RELEASE_MEM_DATA_SEL_MASK  0x7u
#define RELEASE_MEM_DATA_NONE      0u
#define RELEASE_MEM_DATA_32        1u
#define RELEASE_MEM_DATA_64        2u
#define RELEASE_MEM_DATA_GPU_CLOCK 3u
#define RELEASE_MEM_WRITE_32       0x23000000u
#define RELEASE_MEM_WRITE_64       0x43000000u
#define RELEASE_MEM_WRITE_CLOCK    0x63000000u

/* ACQUIRE_MEM dword 1 = CP_COHER_CNTL (polaris.md 7.5; combinations resident-plans.md 5) */
#define TC_NC_ACTION_ENA      (1u << 3)
#define TC_WB_ACTION_ENA      (1u << 18)
#define TCL1_ACTION_ENA       (1u << 22)
#define TC_ACTION_ENA         (1u << 23)
#define SH_KCACHE_ACTION_ENA  (1u << 27)
#define SH_ICACHE_ACTION_ENA  (1u << 29)
#define ACQUIRE_L1_K          0x08400000u /* TCL1 | KCACHE: between dependent dispatches */
#define ACQUIRE_DATA          0x08C40000u /* + TC | TC_WB: L2 too */
#define ACQUIRE_DATA_CODE     0x28C40000u /* + ICACHE: after code upload */
#define ACQUIRE_L2_WRITEBACK  0x00040008u /* TC_WB | TC_NC */
#define ACQUIRE_SIZE_ALL      0xFFFFFFFFu
#define ACQUIRE_SIZE_HI_ALL   0xFFu
#define ACQUIRE_POLL_INTERVAL 0x0Au

/* REWIND dword 1 (polaris.md 7.3) */
#define REWIND_VALID (1u << 31)

/* ATOMIC_MEM dword 1 (polaris.md 7.3) */
#define ATOMIC_MEM_OP_MASK          0x7Fu
#define ATOMIC_MEM_COMMAND_SHIFT    8
#define ATOMIC_MEM_COMMAND_MASK     0xFu
#define ATOMIC_MEM_LOOP             1u /* repeat until the compare holds */
#define TC_OP_ATOMIC_SWAP_RTN_32    0x07u
#define TC_OP_ATOMIC_CMPSWAP_RTN_32 0x08u
#define TC_OP_ATOMIC_ADD_RTN_32     0x0Fu
#define TC_OP_ATOMIC_DEC_RTN_32     0x19u
#define TC_OP_ATOMIC_64             0x20u /* added: 64-bit operand */
#define TC_OP_ATOMIC_NO_RETURN      0x40u /* added: no return value */

#endif
