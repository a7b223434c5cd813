#include "runtime/jit/kernel.h"

#include <algorithm>
#include <cstring>

namespace mneme::jit {
namespace {

/// Keys are appended to field by field, always the same fields for one kernel and variant.
template <typename Value> void appendBytes(std::string& key, const Value& value) {
  static_assert(std::has_unique_object_representations_v<Value>); // no padding
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

bool sameBytes(const void* left, const void* right, size_t size) noexcept {
  if (size == sizeof(uint32_t)) {
    uint32_t a = 0, b = 0;
    std::memcpy(&a, left, sizeof(a));
    std::memcpy(&b, right, sizeof(b));
    return a == b;
  }
  return std::memcmp(left, right, size) == 0;
}

/// Arguments whose values decide which variant a launch takes, how and with which binary.
std::vector<uint32_t> decisiveArgs(const std::vector<tuned::Variant>& variants,
                                   const embed::KernelBlob& blob) {
  std::vector<uint32_t> indices;
  for (const tuned::Variant& variant : variants) {
    std::ranges::copy(specializedArgs(variant, blob), std::back_inserter(indices));
    std::ranges::copy(variant.guards.args, std::back_inserter(indices));
    if (variants.size() > 1 || variant.launch)
      for (const tuned::ArgMatch& arg : variant.match.args)
        indices.push_back(arg.index);
  }
  std::ranges::sort(indices);
  const auto repeated = std::ranges::unique(indices);
  indices.erase(repeated.begin(), repeated.end());
  return indices;
}

} // namespace

Kernel::Kernel(KernelCode code, std::vector<tuned::Variant> variants)
    : code_(std::move(code)), variants_(std::move(variants)) {
  for (const uint32_t index : decisiveArgs(variants_, *code_.blob))
    args_.push_back({index, static_cast<uint32_t>(code_.blob->args[index].sizeBytes)});
}

const std::string& Kernel::label() const noexcept {
  return code_.blob && !code_.blob->demangled.empty() ? code_.blob->demangled : code_.name;
}

bool Kernel::isSame(const Remembered& one, const LaunchShape& shape, void** args) const noexcept {
  if (!(one.shape == shape))
    return false;
  const std::byte* value = one.values.data();
  for (const Arg& arg : args_) {
    if (!sameBytes(args[arg.index], value, arg.sizeBytes))
      return false;
    value += arg.sizeBytes;
  }
  return true;
}

const Plan* Kernel::recall(const LaunchShape& shape, void** args) const noexcept {
  for (const auto& slot : recent_) {
    const Remembered* one = slot.load(std::memory_order_acquire);
    if (!one)
      return nullptr;
    if (isSame(*one, shape, args))
      return &one->plan;
  }
  return nullptr;
}

void Kernel::makeRecent(const Remembered& one) noexcept {
  // Two threads may have missed the same one.
  for (const auto& slot : recent_)
    if (slot.load(std::memory_order_relaxed) == &one)
      return;
  recent_[nextRecent_].store(&one, std::memory_order_release);
  nextRecent_ = (nextRecent_ + 1) % kRecent;
}

std::vector<std::byte> Kernel::valuesOf(void** args) const {
  std::vector<std::byte> values;
  for (const Arg& arg : args_) {
    const auto* value = static_cast<const std::byte*>(args[arg.index]);
    values.insert(values.end(), value, value + arg.sizeBytes);
  }
  return values;
}

std::string Kernel::keyOf(const LaunchShape& shape, void** args) const {
  std::string key;
  appendBytes(key, shape.device);
  appendBytes(key, shape.mayReshape);
  appendBytes(key, shape.dims);
  appendBytes(key, shape.sharedBytes);
  const std::vector<std::byte> values = valuesOf(args);
  key.append(reinterpret_cast<const char*>(values.data()), values.size());
  return key;
}

std::unique_ptr<const Kernel::Remembered> Kernel::remembered(const LaunchShape& shape, void** args,
                                                             const Plan& plan) const {
  return std::make_unique<const Remembered>(shape, plan, valuesOf(args));
}

BinaryAnswer Kernel::findBinary(size_t variant, int device, const BinarySpec& spec,
                                uint32_t maxBinaries) {
  const tuned::Variant& tuned = variants_[variant];
  std::string key;
  appendBytes(key, variant);
  appendBytes(key, device);
  if (tuned.specializeDims)
    appendBytes(key, spec.dims);
  else if (tuned.launchBounds)
    appendBytes(key, tuned::volume(spec.dims.block).value_or(0));
  for (const compile::ArgValue& arg : spec.values)
    key.append(reinterpret_cast<const char*>(arg.value.data()), arg.value.size());
  if (const auto known = binaries_.find(key); known != binaries_.end())
    return {.binary = known->second.get()};
  uint32_t& count = binaryCounts_[device];
  if (count >= maxBinaries)
    return {};
  const bool mayChange = tuned.specializeDims || !spec.values.empty();
  if (count >= kMadeAtOnce && mayChange && seenOnce_.erase(key) == 0) {
    if (seenOnce_.size() >= kMaxSeenOnce)
      seenOnce_.clear();
    seenOnce_.insert(std::move(key));
    return {.isTooSoon = true};
  }
  ++count;
  Binary* made = binaries_.emplace(std::move(key), std::make_unique<Binary>(*this, tuned, spec))
                     .first->second.get();
  return {.binary = made, .isNew = true};
}

} // namespace mneme::jit
