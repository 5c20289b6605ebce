/* mutants.h - deliberate defects, to prove that the virtual card notices when the driver leaves out
 * something a real card needs. They exist only in the build of the driver that tests/unit/mutants
 * links (RX_MUTANTS); everywhere else rx_mutant is the constant RX_MUTANT_NONE.
 */
#ifndef RX_MUTANTS_H
#define RX_MUTANTS_H

enum rx_mutant {
	RX_MUTANT_NONE,
	RX_MUTANT_NO_HDP_FLUSH,        /* host writes stay in the HDP buffer: polaris.md 3.5 */
	RX_MUTANT_NO_HDP_INVALIDATE,   /* host reads see old HDP data: polaris.md 3.5 */
	RX_MUTANT_NO_CACHE_INVALIDATE, /* shaders see old L1, K$, I$ and L2 lines: polaris.md 7.5 */
	RX_MUTANT_NO_UNLOCK,           /* E3 commands refused: bridge.md 2.7 */
	RX_MUTANT_LENGTH_FOUR,         /* dword E3/34: the stray store of bridge.md 2.10 */
};

#ifdef RX_MUTANTS
extern enum rx_mutant rx_mutant;
#else
#define rx_mutant RX_MUTANT_NONE
#endif

#endif
