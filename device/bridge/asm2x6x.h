/* asm2x6x.h - vendor commands of ASMedia ASM2362/2364 ("236x") and ASM2464PD ("246x") for whoever
 * examines a bridge step by step (device/probe); everybody else uses bridge.h. A struct bridge
 * given to asm2x6x_* must be of this family. All facts:
 * bridge.md 3; nothing of it was run on hardware by this project. Fields are big endian.
 */
#ifndef ASM2X6X_H
#define ASM2X6X_H

#include <stdbool.h>
#include <stdint.h>

#include "device/bridge/bridge.h"

#define ASM_CDB_BYTES     6       /* bridge.md 3.1 */
#define ASM_TIMEOUT_MS    10000u  /* bridge.md 1.7 */
#define ASM_OP_READ       0xE4    /* XDATA read: CDB[1] bytes */
#define ASM_OP_WRITE      0xE5    /* XDATA write: CDB[1] is the byte; no data phase */
#define ASM_VERSION       0x07F0u /* bridge.md 3.2 */
#define ASM_VERSION_BYTES 6
#define ASM_MAX_READ      255u
/* bridge.md 3.3: the TLP engine's own registers; bytes are big endian words */
#define ASM_TLP_HEADER   0xB210u /* format and type, attributes, length, requester, byte enables */
#define ASM_TLP_ADDRESS  0xB218u /* low word, then high word */
#define ASM_TLP_DATA     0xB220u
#define ASM_COMPLETION   0xB224u /* 12 bytes */
#define ASM_TLP_ARM      0xB254u
#define ASM_TLP_HAS_DATA 0xB284u
#define ASM_TLP_STATUS   0xB296u
#define ASM_ARM          0x0Fu
#define ASM_STATUS_ERROR 0x01u /* write 1 clears */
#define ASM_STATUS_DONE  0x02u /* write 1 clears */
#define ASM_STATUS_READY 0x04u /* write: send */
/* bridge.md 3.6: 246x only */
#define ASM_LTSSM 0xB450u
#define ASM_LINK  0xB455u

enum asm_chip { ASM_UNKNOWN, ASM_236X, ASM_246X };

/* What a request to the engine came to. "Done" does not mean success: bridge.md 3.4. */
enum asm_outcome {
	ASM_SUCCESS,
	ASM_UNSUPPORTED, /* completion status: bridge.md 3.3 */
	ASM_RETRY_LATER,
	ASM_ABORTED,
	ASM_NONSENSE,  /* a completion that does not fit the request */
	ASM_NO_ANSWER, /* the engine's error bit: completion timeout, or no link */
};
const char *asm_outcome_words(enum asm_outcome o);

/* asm_build_cdb - layout of bridge.md 3.1. @param: bytes to read, or the byte to write. */
void asm_build_cdb(
        uint8_t cdb[ASM_CDB_BYTES], enum asm_chip chip, uint8_t op, uint8_t param, uint16_t addr);
/* asm_refusal - the one list of vendor commands this driver may send to a bridge of this family
 * (bridge.md 3.1, 7.3); ASM_UNKNOWN: those that find out which chip it is. Return: NULL when
 * allowed, else why not, in words.
 */
const char *asm_refusal(enum asm_chip chip, const uint8_t cdb[ASM_CDB_BYTES]);

/* asm_identify - which chip, by reading its version (bridge.md 2.18, 3.1). Only for a device whose
 * names say ASMedia (bridge_maker_of). Return: 0; -ENOTSUP neither, or no plausible version (not
 * logged); as scsi_exec. */
int asm_identify(struct scsi *s, enum asm_chip *chip, uint8_t version[ASM_VERSION_BYTES]);
/* asm_version_text - "240417_85_00_00": bridge.md 3.1. */
void asm_version_text(char out[32], const uint8_t version[ASM_VERSION_BYTES]);
/* asm_link_up - whether this LTSSM value means L0: bridge.md 3.6. */
bool asm_link_up(uint8_t ltssm);

/* asm2x6x_attach - a bridge whose engine may be used by the calls below, and by nothing else before
 * asm2x6x_find_card; @chip and @version from asm_identify. Takes ownership of @scsi only when it
 * succeeds. Return: 0; -ENODEV the link is known to be down (logged); the errors of bridge.h. */
int asm2x6x_attach(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks,
        enum asm_chip chip, const uint8_t version[ASM_VERSION_BYTES]);
/* asm2x6x_find_card - open the way to the card (bridge.md 3.5); bridge_free closes it. Return: 0;
 * -ENODEV no card (logged); the errors of bridge.h. */
int asm2x6x_find_card(struct bridge *b);

struct asm_where {
	uint8_t bus, dev, fn;
};
/* asm2x6x_card - where it was found. */
struct asm_where asm2x6x_card(const struct bridge *b);
/* asm2x6x_try_cfg, asm2x6x_try_read - one dword; what came of it is no error of the call and not
 * logged. */
int asm2x6x_try_cfg(struct bridge *b, struct asm_where at, unsigned reg, uint32_t *value,
        enum asm_outcome *outcome);
int asm2x6x_try_read(struct bridge *b, uint64_t addr, uint32_t *value, enum asm_outcome *outcome);

#endif
