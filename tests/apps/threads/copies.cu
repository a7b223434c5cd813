#include <cuda_runtime.h>

#define HIP_SYMBOL(symbol) symbol

#include "copies.h"
