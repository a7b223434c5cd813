#include "runtime/jit/kernel.h"

#include <algorithm>
#include <cstring>
#include <map>

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

/// Values of arguments that variants are chosen by, and their sizes.
using Decisive = std::map<ArgPath, size_t>;

void addMatched(const std::vector<tuned::Variant>& variants, Decisive& decisive) {
  for (const tuned::Variant& variant : variants)
    for (const ArgValue& arg : variant.match.args)
      if (variants.size() > 1 || variant.launch || variant.guards.cover(arg))
        decisive[arg.path()] = arg.bytes.size();
}

} // namespace

Kernel::Kernel(KernelCode code, std::vector<tuned::Variant> variants,
               std::optional<tuned::Variant> own)
    : code_(std::move(code)), variants_(std::move(variants)), own_(std::move(own)) {
  Decisive decisive;
  addMatched(variants_, decisive);
  for (const tuned::Variant& variant : variants_)
    if (!isMarked())
      for (const ArgPath& path : specializedArgs(variant, *code_.blob))
        decisive[path] = placeOf(path, code_.blob->args).sizeBytes;
  for (const auto& [path, sizeBytes] : decisive)
    decisive_.emplace_back(path, sizeBytes);
  if (isMarked() && ((own_ && own_->specializeArgs) ||
                     std::ranges::any_of(variants_, &tuned::Variant::specializeArgs)))
    for (const mneme_jit_mark& mark : *code_.blob->marks)
      decisive_.emplace_back(mark);
  if (isMarked())
    for (const embed::CallOperator& lambda : code_.blob->lambdas)
      if (const mneme_closure* entry = mneme_jit_find_closure(lambda.type.c_str()))
        lambdas_.push_back({lambda.function, Closure(*entry, lambda.places)});
}

std::vector<compile::LambdaValue> Kernel::lambdaValues(void** args) const {
  std::vector<compile::LambdaValue> all;
  for (const KernelLambda& lambda : lambdas_)
    lambda.closure.visit(lambda.closure.fields(), args,
                         [&](const embed::ClosurePlace& place, const mneme_closure_field& field,
                             const std::byte* value) {
                           all.push_back({.function = lambda.function,
                                          .slot = field.slot,
                                          .offset = field.offset,
                                          .argument = place.argument,
                                          .place = place.offset,
                                          .value = {value, value + field.sizeBytes}});
                           return true;
                         });
  return all;
}

std::vector<ValueSource> Kernel::valueSources(const tuned::Variant& variant) const {
  std::vector<ValueSource> sources;
  if (!isMarked())
    for (const ArgPath& path : specializedArgs(variant, *code_.blob))
      sources.emplace_back(path, placeOf(path, code_.blob->args).sizeBytes);
  else if (variant.specializeArgs)
    for (const mneme_jit_mark& mark : *code_.blob->marks)
      sources.emplace_back(mark);
  return sources;
}

const std::string& Kernel::label() const noexcept {
  return code_.blob && !code_.blob->demangled.empty() ? code_.blob->demangled : code_.name;
}

bool Kernel::isSame(const Remembered& one, const LaunchShape& shape, void** args) const noexcept {
  if (!(one.shape == shape))
    return false;
  const std::byte* value = one.values.data();
  for (const ValueSource& source : decisive_) {
    const size_t size = source.sizeBytes(args);
    size_t known = 0;
    std::memcpy(&known, value, sizeof(known));
    value += sizeof(known);
    if (size != known || (size > 0 && !sameBytes(source.place(args), value, size)))
      return false;
    value += size;
  }
  for (const KernelLambda& lambda : lambdas_) {
    const mneme_closure_fields* known = nullptr;
    std::memcpy(&known, value, sizeof(known));
    value += sizeof(known);
    const auto isKnown = [&](const auto&, const mneme_closure_field& field, const std::byte* now) {
      const std::byte* const before = value;
      value += field.sizeBytes;
      return sameBytes(before, now, field.sizeBytes);
    };
    if (known != lambda.closure.fields() || !lambda.closure.visit(known, args, isKnown))
      return false;
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
  for (const ValueSource& source : decisive_) {
    const size_t size = source.sizeBytes(args);
    const auto* sizeBytes = reinterpret_cast<const std::byte*>(&size);
    values.insert(values.end(), sizeBytes, sizeBytes + sizeof(size));
    const auto* value = static_cast<const std::byte*>(source.place(args));
    values.insert(values.end(), value, value + size);
  }
  for (const KernelLambda& lambda : lambdas_) {
    const mneme_closure_fields* const present = lambda.closure.fields();
    const auto* bytes = reinterpret_cast<const std::byte*>(&present);
    values.insert(values.end(), bytes, bytes + sizeof(present));
    lambda.closure.visit(
        present, args, [&](const auto&, const mneme_closure_field& field, const std::byte* value) {
          values.insert(values.end(), value, value + field.sizeBytes);
          return true;
        });
  }
  return values;
}

std::string Kernel::keyOf(const LaunchShape& shape, void** args) const {
  std::string key;
  appendBytes(key, shape.device);
  appendBytes(key, shape.mayReshape);
  appendBytes(key, shape.dims);
  appendBytes(key, shape.sharedBytes);
  appendBytes(key, shape.plugins);
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
  const tuned::Variant& tuned = this->variant(variant);
  std::string key;
  appendBytes(key, variant);
  appendBytes(key, device);
  appendBytes(key, spec.plugins);
  if (tuned.specializeDims || tuned.boundIndices.value_or(false))
    appendBytes(key, spec.dims);
  else if (isMarked())
    appendBytes(key, spec.dims.block);
  else if (tuned.launchBounds)
    appendBytes(key, tuned::volume(spec.dims.block).value_or(0));
  for (const ArgValue& arg : spec.values) {
    appendBytes(key, arg.index);
    appendBytes(key, arg.bytes.size());
    key.append(reinterpret_cast<const char*>(arg.bytes.data()), arg.bytes.size());
  }
  for (const compile::LambdaValue& field : spec.lambdaValues) {
    appendBytes(key, field.slot);
    appendBytes(key, field.offset);
    appendBytes(key, field.argument);
    appendBytes(key, field.place);
    appendBytes(key, field.value.size());
    key += field.function;
    key.append(reinterpret_cast<const char*>(field.value.data()), field.value.size());
  }
  if (const auto known = binaries_.find(key); known != binaries_.end())
    return {.binary = known->second.get()};
  uint32_t& count = binaryCounts_[device];
  if (count >= maxBinaries && !isMarked())
    return {};
  const bool mayChange = !isMarked() && (tuned.specializeDims || !spec.values.empty());
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
