// Room recorder: variables of the program and its libraries, with the sizes that their symbols
// tell.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/base/word_ranges.h"

namespace mneme::record {

/// The files are read when an address in them is asked about for the first time. Not thread-safe.
class HostVariables {
public:
  /// Looks which files are loaded now.
  void look();
  /// Whether the address belongs to a loaded file: its code, its constants or its variables.
  bool covers(uint64_t address) const noexcept;
  /// Returns the part of a range around an address that belongs to no loaded file, in whole pages.
  AddressRange outside(const AddressRange& range, uint64_t address) const noexcept;
  /// Whether it belongs to the program's own file.
  bool isOfProgram(uint64_t address) const noexcept {
    return !loaded_.empty() && fileOf(address) == loaded_.data();
  }
  /// Returns the variable around an address; nothing where no symbol tells.
  std::optional<AddressRange> find(uint64_t address);

private:
  struct Loaded {
    std::string path;
    uint64_t shift = 0; ///< of addresses against those in the file
    std::vector<AddressRange> segments;
    friend bool operator==(const Loaded&, const Loaded&) = default;
  };
  using Symbols = std::vector<AddressRange>; ///< by address, as in the file

  const Loaded* fileOf(uint64_t address) const noexcept;
  static Symbols readSymbols(const std::string& path);

  std::vector<Loaded> loaded_;
  std::map<std::string, Symbols> symbols_; ///< by path
};

} // namespace mneme::record
