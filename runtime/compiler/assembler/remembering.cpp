#include "runtime/compiler/assembler/remembering.h"

#include <algorithm>

#include "runtime/core/base/packing.h"

namespace mneme::compile {

namespace {

constexpr size_t kRemembered = 256;

Hash128 keyOf(const AssemblyRequest& request) {
  Packer packer;
  packer.add(bytesOf(request.ptx));
  packer.add(bytesOf(request.kernel));
  packer.add(bytesOf(request.arch));
  packer.add(uint64_t{request.optLevel});
  packer.add(uint64_t{request.maxRegisters});
  for (const std::string& option : request.options)
    packer.add(bytesOf(option));
  return hash128(packer.packed());
}

} // namespace

std::shared_ptr<const Assembly> RememberingAssembler::find(const Hash128& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.first == key; });
  if (found == entries_.end())
    return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->second;
}

Assembly RememberingAssembler::assemble(const AssemblyRequest& request) const {
  const Hash128 key = keyOf(request);
  if (const auto known = find(key))
    return *known;
  auto made = std::make_shared<const Assembly>(tool_->assemble(request));
  const std::lock_guard lock(mutex_);
  entries_.emplace_front(key, made);
  if (entries_.size() > kRemembered)
    entries_.pop_back();
  return *made;
}

} // namespace mneme::compile
