// Room recorder: device variables of the program that have no shadow in its host code. HIP finds
// variables only through shadows, so mneme adds shadows for these.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/recorder/registered_code.h"

namespace mneme::record {

/// Thread-safe.
class ProgramVariables {
public:
  /// Returns the address to pass to hipGetSymbolAddress() for an existing variable; null if the
  /// variable cannot be registered with HIP.
  const void* shadowOf(const VariableSource& source, const std::string& name);

private:
  std::mutex mutex_;
  /// Keyed by registration and name. Never erased, because HIP may still use them.
  std::map<std::pair<uint64_t, std::string>, std::unique_ptr<char>> shadows_;
};

} // namespace mneme::record
