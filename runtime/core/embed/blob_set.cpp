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

/// Whether code may call a function of any unit: through a pointer that the kernel is given.
bool mayCallAll(const BlobSet& set, const KernelBlob& kernel, const KernelBlob& code) {
  if (!code.callsPointers)
    return false;
  return std::ranges::any_of(set.modules, [&](const auto& module) {
    return std::ranges::any_of(module->globals, [&](const KernelGlobal& global) {
      return global.holdsFunctions && !isFunctionOf(kernel, global);
    });
  });
}

/// Whether `module` has something that `code` lacks.
bool completes(const KernelBlob& module, const KernelBlob& code) {
  const auto offers = [&](const std::string& name) {
    return !module.offered || std::ranges::binary_search(*module.offered, name);
  };
  return std::ranges::any_of(code.undefined, offers) ||
         std::ranges::any_of(code.globals, [&](const KernelGlobal& global) {
           return !global.isDefined && offers(global.name);
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
  const KernelBlob& own = *found->second;
  std::vector<std::shared_ptr<const KernelBlob>> others;
  for (const std::shared_ptr<const KernelBlob>& module : set.modules)
    if (module->arch == own.arch || module->arch.empty()) // empty: variables only
      others.push_back(module);
  std::vector<bool> isNeeded(others.size(), false);
  for (std::vector<const KernelBlob*> open{&own}; !open.empty();) {
    const KernelBlob& code = *open.back();
    open.pop_back();
    const bool isAll = mayCallAll(set, own, code);
    for (size_t index = 0; index < others.size(); ++index)
      if (!isNeeded[index] && (isAll || completes(*others[index], code))) {
        isNeeded[index] = true;
        open.push_back(others[index].get());
      }
  }
  result.push_back(found->second);
  for (size_t index = 0; index < others.size(); ++index)
    if (isNeeded[index])
      result.push_back(others[index]);
  return result;
}

} // namespace mneme::embed
