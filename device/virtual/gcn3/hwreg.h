/* hwreg.h - hardware registers as s_getreg and s_setreg see them. Private to gcn3/.
 * @field: SIMM16: register [5:0], offset [10:6], size - 1 [15:11] (GCN3 ISA manual, S_GETREG_B32).
 */
#ifndef GCN3_HWREG_H
#define GCN3_HWREG_H

#include "device/virtual/gcn3/wave.h"

enum gcn3_status gcn3_getreg(const struct gcn3_wave *w, uint32_t field, uint32_t *out);

/* Only MODE is writable; writes to the others are dropped, as an unprivileged wave's are. */
enum gcn3_status gcn3_setreg(struct gcn3_wave *w, uint32_t field, uint32_t value);

#endif
