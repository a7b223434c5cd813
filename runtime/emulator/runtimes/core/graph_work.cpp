// What the nodes of a graph do when it is their turn.
#include <algorithm>

#include "runtime/emulator/runtimes/core/copies.h"
#include "runtime/emulator/runtimes/core/event.h"
#include "runtime/emulator/runtimes/core/graph.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/launch.h"

namespace mneme::cpu_runtime {
namespace {

template <typename Element> void fillRow(void* row, unsigned value, size_t count) {
  std::fill_n(static_cast<Element*>(row), count, static_cast<Element>(value));
}

Status fill(const FillWork& work) {
  const MemsetParams& p = work.params;
  const size_t width = p.width * p.elementSize;
  const size_t pitch = p.height * work.depth > 1 ? p.pitch : width;
  // Checks all of it, and is all there is to do for bytes, of which alone there may be many planes.
  const Status status = fillBlock({p.dst, pitch, work.slicePitch}, static_cast<int>(p.value), width,
                                  p.height, work.depth);
  if (status != Status::Success || p.elementSize == 1 || isFaulted())
    return status;
  for (size_t row = 0; row < p.height; ++row) {
    char* start = static_cast<char*>(p.dst) + row * pitch;
    if (p.elementSize == 2)
      fillRow<uint16_t>(start, p.value, p.width);
    else
      fillRow<uint32_t>(start, p.value, p.width);
  }
  return status;
}

struct Runner {
  Status operator()(const KernelWork& work) const { return runKernel(work); }
  Status operator()(const CopyWork& work) const { return copyVolume(work.params); }
  Status operator()(const FillWork& work) const { return fill(work); }
  Status operator()(const HostWork& work) const {
    if (!isFaulted())
      work.params.fn(work.params.userData);
    return Status::Success;
  }
  Status operator()(const ChildWork& work) const {
    for (const Node* node : work.graph->order())
      if (const Status status = node->isEnabled ? runWork(node->work) : Status::Success;
          status != Status::Success)
        return status;
    return Status::Success;
  }
  Status operator()(const EmptyWork&) const { return Status::Success; }
  Status operator()(const WaitWork&) const { return Status::Success; }
  Status operator()(const RecordWork& work) const {
    recordEvent(work.event); // which may be destroyed before its time has come
    return Status::Success;
  }
  Status operator()(const AllocWork& work) const {
    return work.memory->allocate() ? Status::Success : Status::InvalidValue;
  }
  Status operator()(const FreeWork& work) const {
    bool isFreed = false;
    if (!freeGraphMemory(work.pointer, isFreed))
      isFreed = Heap::instance().release(
          work.pointer, [](const Block& block) { return block.kind != MemoryKind::Host; });
    return isFreed ? Status::Success : Status::InvalidValue;
  }
};

} // namespace

bool mayWaitForHost(const Work& work) {
  if (const auto* kernel = std::get_if<KernelWork>(&work))
    return mayWaitForHost(*kernel);
  const auto* child = std::get_if<ChildWork>(&work);
  return child && std::ranges::any_of(child->graph->nodes(),
                                      [](const auto& node) { return mayWaitForHost(node->work); });
}

Status runWork(const Work& work) { return std::visit(Runner{}, work); }

Status prepareWork(const Work& work) {
  if (const auto* kernel = std::get_if<KernelWork>(&work))
    return prepareKernel(*kernel);
  return Status::Success;
}

} // namespace mneme::cpu_runtime
