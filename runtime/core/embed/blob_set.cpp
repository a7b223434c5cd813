#include "runtime/core/embed/blob_set.h"

#include <algorithm>
#include <utility>

#include "runtime/core/embed/carried_kernels.h"
#include "runtime/core/embed/containers.h"

namespace mneme::embed {
namespace {

bool isFunctionOf(const KernelBlob& blob, const KernelGlobal& global) {
  return std::ranges::any_of(blob.globals,
                             [&](const KernelGlobal& known) { return known.name == global.name; });
}

/// Whether the kernel's own module is all that a launch can run.
bool isComplete(const BlobSet& set, const KernelBlob& kernel) {
  if (!kernel.undefined.empty() || !std::ranges::all_of(kernel.globals, &KernelGlobal::isDefined))
    return false;
  if (!kernel.callsPointers)
    return true;
  return std::ranges::none_of(set.modules, [&](const auto& module) {
    return std::ranges::any_of(module->globals, [&](const KernelGlobal& global) {
      return global.holdsFunctions && !isFunctionOf(kernel, global);
    });
  });
}

/// A fat binary may have machine code and PTX of one unit, and the module in both.
void addModule(BlobSet& set, std::shared_ptr<const KernelBlob> module) {
  const auto isSame = [&](const auto& known) {
    return known->arch == module->arch && known->metadataJson == module->metadataJson &&
           known->bitcode == module->bitcode;
  };
  if (std::ranges::none_of(set.modules, isSame))
    set.modules.push_back(std::move(module));
}

} // namespace

void add(BlobSet& all, BlobSet more) {
  all.kernels.merge(more.kernels);
  all.architectures.merge(more.architectures);
  for (auto& module : more.modules)
    addModule(all, std::move(module));
}

BlobSet readDeviceImage(std::span<const std::byte> bytes) {
  BlobSet set;
  visitImage(bytes, [&](BlobKind kind, Bytes content) {
    if (kind == BlobKind::CodeObject) {
      for (KernelBlob& kernel : kernelsThatCarryIr(content)) {
        auto carried = std::make_shared<const KernelBlob>(std::move(kernel));
        set.architectures.insert(carried->arch);
        set.kernels.try_emplace(carried->kernel, carried);
      }
      return;
    }
    auto blob = std::make_shared<const KernelBlob>(KernelBlob::parse(content));
    set.architectures.insert(blob->arch);
    if (kind == BlobKind::Module)
      addModule(set, std::move(blob));
    else if (kind == BlobKind::Kernel)
      set.kernels.try_emplace(blob->kernel, blob);
  });
  return set;
}

BlobSet readFatBinary(const void* fatbin) {
  return fatbin ? readDeviceImage(imageInMemory(fatbin)) : BlobSet{};
}

std::vector<std::shared_ptr<const KernelBlob>> modulesFor(const BlobSet& set,
                                                          const std::string& kernel) {
  std::vector<std::shared_ptr<const KernelBlob>> result;
  auto found = set.kernels.find(kernel);
  if (found == set.kernels.end())
    return result;
  result.push_back(found->second);
  if (isComplete(set, *found->second))
    return result;
  for (const std::shared_ptr<const KernelBlob>& module : set.modules)
    if (module->arch == found->second->arch || module->arch.empty()) // empty: variables only
      result.push_back(module);
  return result;
}

} // namespace mneme::embed
