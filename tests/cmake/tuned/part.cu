#undef EXTERNAL_PART
#define part inlinePart
#include "part.h"
#undef part

__device__ double part(const double* tile, int at, int step) { return inlinePart(tile, at, step); }
