/* mutants.c - see mutants.h. */
#include "device/core/mutants.h"

#ifdef RX_MUTANTS
enum rx_mutant rx_mutant = RX_MUTANT_NONE;
#endif
