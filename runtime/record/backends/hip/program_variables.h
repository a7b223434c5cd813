// Room record: device variables of the program that its host code has no shadow of. HIP finds
// variables by shadows alone: these get one of ours.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/record/registered_code.h"

namespace mneme::record {

/// Thread-safe.
class ProgramVariables {
public:
  /// What hipGetSymbolAddress() takes for the variable, which is there; null if HIP cannot be told.
  const void* shadowOf(const VariableSource& source, const std::string& name);

private:
  std::mutex mutex_;
  /// By registration and name. Never erased: HIP may have them.
  std::map<std::pair<uint64_t, std::string>, std::unique_ptr<char>> shadows_;
};

} // namespace mneme::record
