#include "runtime/jit/host/function.h"

#include <algorithm>
#include <cstring>

namespace mneme::jit {
namespace {

constexpr size_t kFirstSize = 16;
constexpr uint32_t kKnowsClosure = 2; // version

std::vector<embed::ClosurePlace> placesOf(const mneme_host_function& description) {
  if (description.version < kKnowsClosure || description.closureBytes == 0)
    return {};
  return {{.argument = description.closureArgument,
           .sizeBytes = description.closureBytes,
           .isPointee = true}};
}

} // namespace

HostFunction::HostFunction(mneme_host_function& description)
    : description_(description), name_(description.name) {
  for (uint32_t index = 0; index < description.markCount; ++index)
    sources_.emplace_back(description.marks[index]);
  if (const mneme_closure* entry =
          description.lambda ? mneme_jit_find_closure(description.lambda) : nullptr)
    closure_.emplace(*entry, placesOf(description));
  tables_.push_back(std::make_unique<Table>(kFirstSize));
  table_.store(tables_.back().get(), std::memory_order_release);
}

bool HostFunction::readKey(void** arguments, Key& key, const char*& why) const noexcept {
  for (const ValueSource& source : sources_) {
    const size_t bytes = source.sizeBytes(arguments);
    if (bytes == 0) {
      source.refuseNonsense(arguments);
      why = "a pointer to what becomes constant is null";
      return false;
    }
    // The number of elements separates contents that follow each other.
    if ((source.isPointee() && !key.add(&bytes, sizeof bytes)) ||
        !key.add(source.place(arguments), bytes)) {
      why = "there is no memory for its values";
      return false;
    }
  }
  if (!closure_)
    return true;
  const mneme_closure_fields* fields = closure_->fields();
  const bool isAdded =
      key.add(&fields, sizeof fields) &&
      closure_->visit(fields, arguments, [&](const auto&, const auto& field, const auto* value) {
        return key.add(value, field.sizeBytes);
      });
  if (!isAdded)
    why = "there is no memory for its values";
  return isAdded;
}

std::vector<compile::LambdaValue> HostFunction::lambdaValues(void** arguments) const {
  std::vector<compile::LambdaValue> values;
  if (closure_)
    closure_->visit(closure_->fields(), arguments,
                    [&](const auto&, const mneme_closure_field& field, const std::byte* value) {
                      values.push_back({.slot = field.slot,
                                        .offset = field.offset,
                                        .value = {value, value + field.sizeBytes}});
                      return true;
                    });
  return values;
}

HostVariant* HostFunction::find(uint64_t keyHash, std::span<const std::byte> key) const noexcept {
  const Table& table = *table_.load(std::memory_order_acquire);
  for (size_t index = keyHash & table.mask;; index = (index + 1) & table.mask) {
    HostVariant* variant = table.slots[index].load(std::memory_order_acquire);
    if (!variant)
      return nullptr;
    if (variant->keyHash == keyHash && variant->key.size() == key.size() &&
        std::memcmp(variant->key.data(), key.data(), key.size()) == 0)
      return variant;
  }
}

HostVariant& HostFunction::add(uint64_t keyHash, std::span<const std::byte> key) {
  const std::lock_guard lock(mutex_);
  if (HostVariant* known = find(keyHash, key))
    return *known;
  variants_.push_back(std::make_unique<HostVariant>(keyHash, key));
  Table* table = tables_.back().get();
  if (variants_.size() * 2 > table->mask) {
    auto grown = std::make_unique<Table>((table->mask + 1) * 2);
    for (const auto& variant : variants_)
      insert(*grown, *variant);
    tables_.push_back(std::move(grown));
    table_.store(tables_.back().get(), std::memory_order_release);
  } else {
    insert(*table, *variants_.back());
  }
  return *variants_.back();
}

void HostFunction::insert(Table& table, HostVariant& variant) noexcept {
  size_t index = variant.keyHash & table.mask;
  while (table.slots[index].load(std::memory_order_relaxed))
    index = (index + 1) & table.mask;
  table.slots[index].store(&variant, std::memory_order_release);
}

} // namespace mneme::jit
