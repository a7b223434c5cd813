#include <cuda_runtime.h>

#include "threads.h"
