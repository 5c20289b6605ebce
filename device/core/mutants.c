/* mutants.c - see mutants.h. */
#include "device/core/mutants.h"

enum rx_mutant rx_mutant = RX_MUTANT_NONE;
