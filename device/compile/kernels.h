/* moved: use device/plan/kernels.h */
#include "device/plan/kernels.h"
