// Room jit: one marked function of the program and its compiled variants.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/abi/mneme_jit_host.h"
#include "runtime/jit/cache_report.h"
#include "runtime/jit/closure.h"
#include "runtime/jit/host/key.h"
#include "runtime/jit/value_source.h"

namespace mneme::jit {

/// The function compiled for certain values.
struct HostVariant {
  enum class State { New, Building, Loading, Ended };

  HostVariant(uint64_t keyHash, std::span<const std::byte> bytes)
      : keyHash(keyHash), key(bytes.begin(), bytes.end()) {}

  const uint64_t keyHash;
  const std::vector<std::byte> key;
  std::atomic<void*> code{nullptr}; ///< null until it is compiled, and if that failed
  CacheReport::Entry* report = nullptr;
  State state = State::New; ///< guarded by the engine's lock
};

/// Lives as long as the process, because calls may be in flight when the process ends. Its
/// description may disappear earlier, together with its library.
class HostFunction {
public:
  explicit HostFunction(mneme_host_function& description);

  /// Reads the values of a call into `key`. Returns false, with the reason in `why`, if the call
  /// cannot be compiled for its values.
  bool readKey(void** arguments, Key& key, const char*& why) const noexcept;
  /// Returns the variant for a key; null if there is none. Takes no lock.
  HostVariant* find(uint64_t keyHash, std::span<const std::byte> key) const noexcept;
  /// Finds or makes the variant for a key.
  HostVariant& add(uint64_t keyHash, std::span<const std::byte> key);

  mneme_host_function& description() const noexcept { return description_; }
  const std::string& name() const noexcept { return name_; }
  const std::vector<ValueSource>& sources() const noexcept { return sources_; }
  /// The values of a registered closure in a call.
  std::vector<compile::LambdaValue> lambdaValues(void** arguments) const;

private:
  /// A hash table with open addressing. Its size is a power of two; at most half of it is used.
  struct Table {
    explicit Table(size_t size) : mask(size - 1), slots(new std::atomic<HostVariant*>[size]()) {}
    size_t mask;
    std::unique_ptr<std::atomic<HostVariant*>[]> slots;
  };

  static void insert(Table& table, HostVariant& variant) noexcept;

  mneme_host_function& description_;
  const std::string name_;
  std::vector<ValueSource> sources_;
  std::optional<Closure> closure_; ///< set for call operators
  std::atomic<Table*> table_;
  std::mutex mutex_; ///< guards the members below, and writes to table_
  std::vector<std::unique_ptr<HostVariant>> variants_;
  std::vector<std::unique_ptr<Table>> tables_; ///< includes old ones, which may still be read
};

} // namespace mneme::jit
