// Registration entry points that compilers emit calls to for CUDA only.
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/kernels.h"

using namespace mneme::cpu_runtime;

MNEME_RUNTIME_API void __cudaRegisterFatBinaryEnd(void**) {}

MNEME_RUNTIME_API void __cudaRegisterManagedVar(void** handle, void** hostPointer, char*,
                                                const char* deviceName, int, size_t bytes, int,
                                                int) {
  always([&] {
    if (void* address = registerGlobal(handle, hostPointer, deviceName, bytes))
      *hostPointer = address;
    return Status::Success;
  });
}

MNEME_RUNTIME_API void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

MNEME_RUNTIME_API char __cudaInitModule(void**) { return 1; }
