// Contexts of the CUDA driver API. Every context is the one device's, and says nothing but who it
// is: memory, streams and modules belong to the device. The primary one is current in a thread from
// its start, as it is in one that has used the runtime.
#include <mutex>
#include <set>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/cuda_driver/forward.h"

using namespace mneme::cpu_runtime::cuda_driver;

namespace {

constexpr unsigned kApiVersion = 3020; // of every context since CUDA 3.2
constexpr int kDeepest = 32;

struct Context {
  unsigned flags = 0;
};

Context& primary() {
  static Context context;
  return context;
}

/// Those that the program made and has not destroyed. Never destroyed itself.
struct Contexts {
  std::mutex mutex;
  std::set<Context*> made;
};
Contexts& contexts() {
  static auto* instance = new Contexts;
  return *instance;
}

bool isContext(void* handle) {
  if (handle == &primary())
    return true;
  const std::lock_guard lock(contexts().mutex);
  return contexts().made.contains(static_cast<Context*>(handle));
}

/// What a thread has made current, the last on top. Plain data: destructors of the program's own
/// may still ask when a thread ends.
struct Stack {
  void* contexts[kDeepest];
  int depth;
  bool isBegun;
};

Stack& stack() {
  static thread_local constinit Stack stack{};
  if (!stack.isBegun) {
    stack.isBegun = true;
    stack.contexts[stack.depth++] = &primary();
  }
  return stack;
}

int push(void* context) {
  if (!isContext(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  Stack& own = stack();
  if (own.depth == kDeepest)
    return CUDA_ERROR_INVALID_VALUE;
  own.contexts[own.depth++] = context;
  return CUDA_SUCCESS;
}

/// A device outside, or none current, is not a context.
int checkCurrent() { return currentContext() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; }

int create(void** context, unsigned flags, int device) {
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  if (const int bad = checkDevice(device); bad != CUDA_SUCCESS)
    return bad;
  auto* made = new Context{flags};
  {
    const std::lock_guard lock(contexts().mutex);
    contexts().made.insert(made);
  }
  *context = made;
  return push(made);
}

/// Flags of a context, the current one for null. Null if there is none.
Context* find(void* handle) {
  void* context = handle ? handle : currentContext();
  return context && isContext(context) ? static_cast<Context*>(context) : nullptr;
}

} // namespace

void* mneme::cpu_runtime::cuda_driver::currentContext() noexcept {
  const Stack& own = stack();
  return own.depth ? own.contexts[own.depth - 1] : nullptr;
}

MNEME_RUNTIME_API int cuCtxCreate_v2(void** context, unsigned flags, int device) {
  return create(context, flags, device);
}

/// What the parameters ask for, a part of the multiprocessors, makes no difference here.
MNEME_RUNTIME_API int cuCtxCreate_v3(void** context, void*, int, unsigned flags, int device) {
  return create(context, flags, device);
}

MNEME_RUNTIME_API int cuCtxCreate_v4(void** context, void*, unsigned flags, int device) {
  return create(context, flags, device);
}

MNEME_RUNTIME_API int cuCtxDestroy_v2(void* handle) {
  auto* context = static_cast<Context*>(handle);
  {
    const std::lock_guard lock(contexts().mutex);
    if (!contexts().made.erase(context))
      return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (currentContext() == handle)
    --stack().depth;
  delete context;
  return CUDA_SUCCESS;
}

MNEME_RUNTIME_API int cuCtxPushCurrent_v2(void* context) { return push(context); }

MNEME_RUNTIME_API int cuCtxPopCurrent_v2(void** context) {
  if (const int bad = checkCurrent(); bad != CUDA_SUCCESS)
    return bad;
  if (context)
    *context = currentContext();
  --stack().depth;
  return CUDA_SUCCESS;
}

MNEME_RUNTIME_API int cuCtxSetCurrent(void* context) {
  if (context && !isContext(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  Stack& own = stack();
  if (own.depth)
    --own.depth;
  return context ? push(context) : CUDA_SUCCESS;
}

MNEME_RUNTIME_API int cuCtxGetCurrent(void** context) { return give(context, currentContext()); }

MNEME_RUNTIME_API int cuCtxGetDevice(int* device) {
  const int bad = checkCurrent();
  return bad == CUDA_SUCCESS ? give(device, 0) : bad;
}

MNEME_RUNTIME_API int cuCtxGetDevice_v2(int* device, void* context) {
  return find(context) ? give(device, 0) : CUDA_ERROR_INVALID_CONTEXT;
}

MNEME_RUNTIME_API int cuCtxGetApiVersion(void* context, unsigned* version) {
  return find(context) ? give(version, kApiVersion) : CUDA_ERROR_INVALID_CONTEXT;
}

MNEME_RUNTIME_API int cuCtxGetFlags(unsigned* flags) {
  const Context* context = find(nullptr);
  return context ? give(flags, context->flags) : CUDA_ERROR_INVALID_CONTEXT;
}

MNEME_RUNTIME_API int cuCtxSetFlags(unsigned flags) {
  Context* context = find(nullptr);
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  context->flags = flags;
  return CUDA_SUCCESS;
}

MNEME_RUNTIME_API int cuCtxGetId(void* context, unsigned long long* id) {
  const Context* found = find(context);
  return found ? give(id, reinterpret_cast<unsigned long long>(found)) : CUDA_ERROR_INVALID_CONTEXT;
}

MNEME_RUNTIME_API int cuCtxSynchronize() { return forward<"cudaDeviceSynchronize">(); }
MNEME_RUNTIME_API int cuCtxSynchronize_v2(void*) { return forward<"cudaDeviceSynchronize">(); }

MNEME_RUNTIME_API int cuCtxSetLimit(int limit, size_t value) {
  return forward<"cudaDeviceSetLimit">(limit, value);
}

MNEME_RUNTIME_API int cuCtxGetLimit(size_t* value, int limit) {
  return forward<"cudaDeviceGetLimit">(value, limit);
}

MNEME_RUNTIME_API int cuCtxSetCacheConfig(int config) {
  return forward<"cudaDeviceSetCacheConfig">(config);
}

MNEME_RUNTIME_API int cuCtxGetCacheConfig(int* config) {
  return forward<"cudaDeviceGetCacheConfig">(config);
}

MNEME_RUNTIME_API int cuCtxSetSharedMemConfig(int config) {
  return forward<"cudaDeviceSetSharedMemConfig">(config);
}

MNEME_RUNTIME_API int cuCtxGetSharedMemConfig(int* config) {
  return forward<"cudaDeviceGetSharedMemConfig">(config);
}

MNEME_RUNTIME_API int cuCtxResetPersistingL2Cache() {
  return forward<"cudaCtxResetPersistingL2Cache">();
}

MNEME_RUNTIME_API int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return forward<"cudaDeviceGetStreamPriorityRange">(least, greatest);
}

MNEME_RUNTIME_API int cuDevicePrimaryCtxRetain(void** context, int device) {
  const int bad = checkDevice(device);
  return bad == CUDA_SUCCESS ? give<void*>(context, &primary()) : bad;
}

MNEME_RUNTIME_API int cuDevicePrimaryCtxRelease_v2(int device) { return checkDevice(device); }

MNEME_RUNTIME_API int cuDevicePrimaryCtxReset_v2(int device) {
  const int bad = checkDevice(device);
  return bad == CUDA_SUCCESS ? forward<"cudaDeviceReset">() : bad;
}

MNEME_RUNTIME_API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  if (device == 0)
    primary().flags = flags;
  return checkDevice(device);
}

MNEME_RUNTIME_API int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* isActive) {
  if (flags)
    *flags = primary().flags;
  if (isActive)
    *isActive = 1;
  return checkDevice(device);
}
