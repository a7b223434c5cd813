// Room emulator/executor: device-side printf on the process's own stdout.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace mneme::device::cpu {

/// Formats `format` with CUDA's packed argument buffer: C-promoted values, each aligned to its
/// size; strings are plain pointers. \p argumentCount receives the number of arguments taken. %n is
/// not a conversion on devices and is printed unchanged.
std::string formatPacked(const char* format, const void* packedArgs, int32_t& argumentCount);
/// As formatPacked, with 8 bytes for every argument.
std::string formatSlots(const char* format, const uint64_t* values);

/// Writes with one fwrite to stdout. Returns what device printf returns: the number of arguments,
/// or -1 for a null format.
int32_t devicePrintf(const char* format, const void* packedArgs);

/// A printf given in pieces: the format first, then values of 8 bytes and texts.
class DevicePrint {
public:
  explicit DevicePrint(bool toErrors) : toErrors_(toErrors) {}

  void addValues(const uint64_t* values, uint64_t count);
  /// `text` (null: none) with or without its final zero.
  void addText(const char* text, uint64_t sizeBytes);
  /// Writes to stdout or stderr. Returns how many bytes, or -1 without a format.
  int64_t print() const;

private:
  bool toErrors_;
  bool hasPieces_ = false;
  bool hasFormat_ = false;
  std::string format_;
  std::vector<uint64_t> values_;
  std::deque<std::string> texts_; ///< `values_` points into them
};

} // namespace mneme::device::cpu
