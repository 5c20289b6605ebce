/* mutants.h - deliberate defects, switched on by unit tests only, to prove that the virtual card
 * notices when the driver leaves out something a real card needs. Nothing but a test ever sets
 * rx_mutant; the default is no defect.
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

extern enum rx_mutant rx_mutant;

#endif
