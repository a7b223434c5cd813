// The toolkit's header, which takes the compiler for nvcc where a program is compiled with
// -D__NVCC__.
#pragma push_macro("__NVCC__")
#undef __NVCC__
#include_next <cuda/std/__cccl/compiler.h>
#pragma pop_macro("__NVCC__")
