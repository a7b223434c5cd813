// Device variables, asked for and copied.

#include "runtime/emulator/runtimes/core/at_once.h"
#include "runtime/emulator/runtimes/core/copies.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/graph_params.h"
#include "runtime/emulator/runtimes/core/kernels.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/stream.h"
#include "runtime/emulator/runtimes/core/types.h"

using namespace mneme::cpu_runtime;

namespace {

Status toSymbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                CopyKind kind) {
  if (kind != CopyKind::HostToDevice && kind != CopyKind::DeviceToDevice &&
      kind != CopyKind::Default)
    return Status::InvalidMemcpyDirection;
  // Overwriting the whole variable needs no initial value, hence no compiler.
  auto global = findGlobal(symbol, false);
  if (!global)
    return Status::InvalidSymbol;
  if (offset > global->bytes || bytes > global->bytes - offset)
    return Status::InvalidValue;
  const bool isWhole = bytes == global->bytes;
  if (!isWhole)
    global = findGlobal(symbol, true);
  const Status status = copyBytes(static_cast<char*>(global->address) + offset, source, bytes);
  if (status == Status::Success && isWhole)
    markInitialised(*global);
  return status;
}

Status fromSymbol(void* destination, const void* symbol, size_t bytes, size_t offset,
                  CopyKind kind) {
  if (kind != CopyKind::DeviceToHost && kind != CopyKind::DeviceToDevice &&
      kind != CopyKind::Default)
    return Status::InvalidMemcpyDirection;
  const auto global = findGlobal(symbol, true);
  if (!global)
    return Status::InvalidSymbol;
  if (offset > global->bytes || bytes > global->bytes - offset)
    return Status::InvalidValue;
  return copyBytes(destination, static_cast<const char*>(global->address) + offset, bytes);
}

} // namespace

MNEME_RUNTIME_API Status gpuMemcpyToSymbol(const void* symbol, const void* source, size_t bytes,
                                           size_t offset, CopyKind kind) {
  return atOnce([&] { return toSymbol(symbol, source, bytes, offset, kind); });
}

MNEME_RUNTIME_API Status gpuMemcpyFromSymbol(void* destination, const void* symbol, size_t bytes,
                                             size_t offset, CopyKind kind) {
  return atOnce([&] { return fromSymbol(destination, symbol, bytes, offset, kind); });
}

MNEME_RUNTIME_API Status gpuMemcpyToSymbolAsync(const void* symbol, const void* source,
                                                size_t bytes, size_t offset, CopyKind kind,
                                                void* stream) {
  const auto makeWork = [&](Work& work) {
    return toSymbolWork(symbol, source, bytes, offset, kind, work);
  };
  return api([&] {
    return onStream(stream, makeWork,
                    [&] { return toSymbol(symbol, source, bytes, offset, kind); });
  });
}

MNEME_RUNTIME_API Status gpuMemcpyFromSymbolAsync(void* destination, const void* symbol,
                                                  size_t bytes, size_t offset, CopyKind kind,
                                                  void* stream) {
  const auto makeWork = [&](Work& work) {
    return fromSymbolWork(destination, symbol, bytes, offset, kind, work);
  };
  return api([&] {
    return onStream(stream, makeWork,
                    [&] { return fromSymbol(destination, symbol, bytes, offset, kind); });
  });
}

MNEME_RUNTIME_API Status gpuGetSymbolAddress(void** address, const void* symbol) {
  return api([&] {
    if (!address)
      return Status::InvalidValue;
    const auto global = findGlobal(symbol, true);
    if (!global)
      return Status::InvalidSymbol;
    *address = global->address;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGetSymbolSize(size_t* bytes, const void* symbol) {
  return api([&] {
    if (!bytes)
      return Status::InvalidValue;
    const auto global = findGlobal(symbol, false);
    if (!global)
      return Status::InvalidSymbol;
    *bytes = global->bytes;
    return Status::Success;
  });
}
