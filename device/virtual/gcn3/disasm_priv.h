/* disasm_priv.h - between disasm.c (operands) and disasm_fields.c (immediates with a language of
 * their own). */
#ifndef GCN3_DISASM_PRIV_H
#define GCN3_DISASM_PRIV_H

#include "device/virtual/gcn3/decode_priv.h"

struct gcn3_text {
	char *buf;
	size_t size, len;  /* @len counts what would have been written, as snprintf does */
	unsigned operands; /* so far, for the commas */
};

void gcn3_put(struct gcn3_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gcn3_put_sopp(struct gcn3_text *t, const struct gcn3_insn *i);
void gcn3_put_hwreg(struct gcn3_text *t, uint16_t imm);
void gcn3_put_gpr_idx(struct gcn3_text *t, unsigned imm);
void gcn3_put_sdwa(struct gcn3_text *t, const struct gcn3_insn *i);
void gcn3_put_dpp(struct gcn3_text *t, const struct gcn3_insn *i);
void gcn3_put_swizzle(struct gcn3_text *t, unsigned imm);
void gcn3_put_buffer_format(struct gcn3_text *t, const struct gcn3_insn *i);

#endif
