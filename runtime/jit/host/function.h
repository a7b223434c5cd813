// Room jit: one marked function of the program and what it was compiled to so far.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/abi/mneme_jit_host.h"
#include "runtime/jit/cache_report.h"
#include "runtime/jit/closure.h"
#include "runtime/jit/host/key.h"
#include "runtime/jit/value_source.h"

namespace mneme::jit {

/// The function for certain values.
struct HostVariant {
  enum class State { New, Building, Loading, Ended };

  HostVariant(uint64_t keyHash, std::span<const std::byte> bytes)
      : keyHash(keyHash), key(bytes.begin(), bytes.end()) {}

  const uint64_t keyHash;
  const std::vector<std::byte> key;
  std::atomic<void*> code{nullptr}; ///< null until it is there, or will never be
  CacheReport::Entry* report = nullptr;
  State state = State::New; ///< the engine's lock guards it
};

/// Lives as long as the process, since calls may be in flight whenever that ends; the description
/// may go earlier, with the library it is in.
class HostFunction {
public:
  explicit HostFunction(mneme_host_function& description);

  /// The values of a call. Empty: it has none to be compiled for, and `why` says why not.
  bool readKey(void** arguments, Key& key, const char*& why) const noexcept;
  /// The variant for a key; null if there is none. No lock.
  HostVariant* find(uint64_t keyHash, std::span<const std::byte> key) const noexcept;
  /// Finds or makes it.
  HostVariant& add(uint64_t keyHash, std::span<const std::byte> key);

  mneme_host_function& description() const noexcept { return description_; }
  const std::string& name() const noexcept { return name_; }
  const std::vector<ValueSource>& sources() const noexcept { return sources_; }
  /// What the closure of a call was registered with; null if nothing.
  const mneme_lambda_values* lambdaValues(void** arguments) const noexcept {
    return closure_ ? closure_->values(arguments) : nullptr;
  }

private:
  /// Open addressing; the size is a power of two, at most half is used.
  struct Table {
    explicit Table(size_t size) : mask(size - 1), slots(new std::atomic<HostVariant*>[size]()) {}
    size_t mask;
    std::unique_ptr<std::atomic<HostVariant*>[]> slots;
  };

  static void insert(Table& table, HostVariant& variant) noexcept;

  mneme_host_function& description_;
  const std::string name_;
  std::vector<ValueSource> sources_;
  std::optional<Closure> closure_; ///< of a call operator
  std::atomic<Table*> table_;
  std::mutex mutex_; ///< of what follows, and of writing to table_
  std::vector<std::unique_ptr<HostVariant>> variants_;
  std::vector<std::unique_ptr<Table>> tables_; ///< old ones too: somebody may be reading them
};

} // namespace mneme::jit
