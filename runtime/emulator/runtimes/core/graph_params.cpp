#include "runtime/emulator/runtimes/core/graph_params.h"

#include <cstring>

#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/arrays.h"
#include "runtime/emulator/runtimes/core/event.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/kernels.h"
#include "runtime/emulator/runtimes/core/vendor.h"

namespace mneme::cpu_runtime {
namespace {

constexpr size_t kSlotBytes = sizeof(std::max_align_t);

/// Arguments in one buffer, as `extra` has them: pairs of a tag and a pointer.
const char* packedArguments(void** extra) {
  constexpr uintptr_t kBuffer = 1;
  for (; extra && extra[0] && reinterpret_cast<uintptr_t>(extra[0]) <= 2; extra += 2)
    if (reinterpret_cast<uintptr_t>(extra[0]) == kBuffer)
      return static_cast<const char*>(extra[1]);
  return nullptr;
}

size_t roundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

Status copyArguments(const Kernel& kernel, const KernelNodeParams& params, KernelWork& work) {
  const auto& args = kernel.blob->args;
  const char* packed = params.kernelParams ? nullptr : packedArguments(params.extra);
  if (!args.empty() && !params.kernelParams && !packed)
    return Status::InvalidValue;
  size_t slots = 0;
  for (const auto& arg : args)
    slots += roundUp(arg.sizeBytes, kSlotBytes) / kSlotBytes;
  auto copies = std::make_shared<KernelArguments>();
  copies->bytes.resize(slots);
  size_t slot = 0, offset = 0;
  for (size_t index = 0; index < args.size(); ++index) {
    const size_t bytes = args[index].sizeBytes;
    offset = roundUp(offset, args[index].alignBytes ? args[index].alignBytes : 1);
    void* copy = copies->bytes.data() + slot;
    std::memcpy(copy, packed ? packed + offset : params.kernelParams[index], bytes);
    copies->pointers.push_back(copy);
    offset += bytes;
    slot += roundUp(bytes, kSlotBytes) / kSlotBytes;
  }
  work.arguments = std::move(copies);
  return Status::Success;
}

bool isKind(CopyKind kind) {
  return (kind >= CopyKind::HostToHost && kind <= CopyKind::Default) ||
         (kind == CopyKind::DeviceToDeviceByEngine && vendor.copiesByEngine);
}

Status symbolPlace(const void* symbol, size_t bytes, size_t offset, char** place) {
  const auto global = findGlobal(symbol, true);
  if (!global)
    return Status::InvalidSymbol;
  if (offset > global->bytes || bytes > global->bytes - offset)
    return Status::InvalidValue;
  *place = static_cast<char*>(global->address) + offset;
  return Status::Success;
}

} // namespace

Status makeKernelWork(const KernelNodeParams& params, KernelWork& work) {
  const auto kernel = findKernel(params.func);
  if (!kernel)
    return Status::InvalidDeviceFunction;
  if (const Status status = describe(*kernel); status != Status::Success)
    return status;
  work.function = params.func;
  work.grid = params.gridDim;
  work.block = params.blockDim;
  work.sharedBytes = params.sharedMemBytes;
  return copyArguments(*kernel, params, work);
}

Status toWork(const KernelNodeParams* params, Work& work) {
  if (!params)
    return Status::InvalidValue;
  KernelWork kernel;
  const Status status = makeKernelWork(*params, kernel);
  work = std::move(kernel);
  return status;
}

KernelNodeParams paramsOf(const KernelWork& work) {
  auto** pointers = const_cast<void**>(work.arguments->pointers.data());
  return {work.function, work.grid, work.block, static_cast<unsigned>(work.sharedBytes),
          pointers,      nullptr};
}

Status toWork(const Memcpy3DParms* params, Work& work) {
  if (!params)
    return Status::InvalidValue;
  if (!isKind(params->kind))
    return Status::InvalidMemcpyDirection;
  Memcpy3DParms resolved = *params;
  if (const Status bad = resolveArrays(resolved); bad != Status::Success)
    return bad;
  if (!resolved.srcPtr.ptr || !resolved.dstPtr.ptr)
    return Status::InvalidValue;
  work = CopyWork{resolved};
  return Status::Success;
}

Status toWork(const MemsetParams* params, Work& work) {
  if (!params || !params->dst ||
      (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4) ||
      (params->height > 1 && params->pitch < params->width * params->elementSize))
    return Status::InvalidValue;
  work = FillWork{*params, 1, 0};
  return Status::Success;
}

Status toWork(const HostNodeParams* params, Work& work) {
  if (!params || !params->fn)
    return Status::InvalidValue;
  work = HostWork{*params};
  return Status::Success;
}

Status copyWork(void* destination, const void* source, size_t bytes, CopyKind kind, Work& work) {
  Memcpy3DParms params{};
  params.srcPtr = {const_cast<void*>(source), bytes, bytes, 1};
  params.dstPtr = {destination, bytes, bytes, 1};
  params.extent = {bytes, 1, 1};
  params.kind = kind;
  return toWork(&params, work);
}

Status toSymbolWork(const void* symbol, const void* source, size_t bytes, size_t offset,
                    CopyKind kind, Work& work) {
  if (kind == CopyKind::HostToHost || kind == CopyKind::DeviceToHost)
    return Status::InvalidMemcpyDirection;
  char* place = nullptr;
  const Status status = symbolPlace(symbol, bytes, offset, &place);
  return status == Status::Success ? copyWork(place, source, bytes, kind, work) : status;
}

Status fromSymbolWork(void* destination, const void* symbol, size_t bytes, size_t offset,
                      CopyKind kind, Work& work) {
  if (kind == CopyKind::HostToHost || kind == CopyKind::HostToDevice)
    return Status::InvalidMemcpyDirection;
  char* place = nullptr;
  const Status status = symbolPlace(symbol, bytes, offset, &place);
  return status == Status::Success ? copyWork(destination, place, bytes, kind, work) : status;
}

Status childWork(void* handle, Work& work) {
  const auto graph = findGraph(handle);
  if (!graph || graph->hasMemory())
    return graph ? Status::NotSupported : Status::InvalidValue;
  ChildWork child{graph->clone()};
  child.graph->isChild = true;
  work = std::move(child);
  return Status::Success;
}

template <typename EventWork> Status eventWork(void* event, Work& work) {
  work = EventWork{event};
  return isEvent(event) ? Status::Success : Status::InvalidValue;
}
template Status eventWork<RecordWork>(void* event, Work& work);
template Status eventWork<WaitWork>(void* event, Work& work);

Status allocWork(MemAllocNodeParams* params, Work& work) {
  if (!params || params->bytesize == 0 || params->poolProps.handleTypes != 0)
    return Status::InvalidValue;
  auto memory = GraphMemory::make(params->bytesize);
  if (!memory)
    return Status::MemoryAllocation;
  params->dptr = memory->address();
  work = AllocWork{std::move(memory), params->poolProps};
  return Status::Success;
}

Status freeWork(void* pointer, Work& work) {
  const auto block = Heap::instance().find(pointer);
  if (!block || reinterpret_cast<void*>(block->base) != pointer)
    return Status::InvalidValue;
  work = FreeWork{pointer};
  return Status::Success;
}

Status toWork(GraphNodeParams* params, Work& work) {
  if (!params)
    return Status::InvalidValue;
  switch (params->type) {
  case NodeType::Kernel:
    return toWork(&params->kernel, work);
  case NodeType::Memcpy:
    return toWork(&params->memcpy.copyParams, work);
  case NodeType::Memset:
    return toWork(&params->memset, work);
  case NodeType::Host:
    return toWork(&params->host, work);
  case NodeType::Graph:
    return childWork(params->graph, work);
  case NodeType::Empty:
    work = EmptyWork{};
    return Status::Success;
  case NodeType::WaitEvent:
    return eventWork<WaitWork>(params->event, work);
  case NodeType::EventRecord:
    return eventWork<RecordWork>(params->event, work);
  case NodeType::MemAlloc:
    return allocWork(&params->alloc, work);
  case NodeType::MemFree:
    return freeWork(params->freed, work);
  }
  noticeOnce("graph nodes of type " + std::to_string(static_cast<int>(params->type)) +
             " (conditional nodes, semaphores) are not supported on the CPU device");
  return Status::NotSupported;
}

} // namespace mneme::cpu_runtime
