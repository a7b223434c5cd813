#include "runtime/compiler/assembler/remembering.h"

#include <algorithm>
#include <map>
#include <string>

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

std::shared_ptr<const Assembler> openAssembler(const AssemblerTool& tool) {
  if (tool.kind == AssemblerKind::Driver)
    return nullptr;
  static std::mutex mutex;
  // Kept for ever: a tool may be in use while static objects go away.
  static auto& opened = *new std::map<std::string, std::shared_ptr<const Assembler>>;
  const std::string identity = assemblerIdentity(tool);
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Assembler>& known = opened[identity];
  if (!known)
    known = std::make_shared<RememberingAssembler>(
        tool.kind == AssemblerKind::Ptxas ? openPtxas(tool.path) : openNvJitLink(tool.path));
  return known;
}

} // namespace mneme::compile
