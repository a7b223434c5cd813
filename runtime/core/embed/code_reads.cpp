#include "runtime/core/embed/code_reads.h"

#include <algorithm>
#include <array>

#include "runtime/core/abi/read_words.h"
#include "runtime/core/embed/device_runtime.h"

namespace mneme::embed {
namespace {

constexpr const char* kClocks = "clocks";
constexpr const char* kMultiprocessors = "multiprocessor numbers";
constexpr const char* kTextures = "textures";
constexpr const char* kSurfaces = "surfaces";

struct Sign {
  std::string_view begin; ///< of a word
  const char* read;
};
constexpr Sign kRegisters[] = {{"%clock", kClocks},         {"%globaltimer", kClocks},
                               {"%smid", kMultiprocessors}, {"%nsmid", kMultiprocessors},
                               {"%warpid", "warp slots"},   {"%nwarpid", "warp slots"},
                               {"%gridid", "grid numbers"}, {"%envreg", "environment registers"}};
constexpr Sign kInstructions[] = {{"tex", kTextures},  {"tld4", kTextures}, {"txq", kTextures},
                                  {"suld", kSurfaces}, {"sust", kSurfaces}, {"sured", kSurfaces},
                                  {"suq", kSurfaces}};

/// An instruction has 16 bytes and begins with nine bits that say what it does, and three that say
/// where its operands are.
constexpr uint64_t kInstructionBytes = 16, kOperation = 0x1ff;
/// As nvcc 13 encodes them for sm_75 to sm_120: texture fetches and queries, with and without a
/// handle in a register; surface loads, stores and reductions.
constexpr std::array<uint16_t, 12> kTextureOperations = {0x160, 0x161, 0x163, 0x164, 0x166, 0x167,
                                                         0x169, 0x16a, 0x16c, 0x16d, 0x16f, 0x170};
constexpr std::array<uint16_t, 5> kSurfaceOperations = {0x198, 0x199, 0x19c, 0x19d, 0x19f};
/// Reads of special registers, whose number is in bits 72 to 79.
constexpr std::array<uint16_t, 3> kRegisterOperations = {0x119, 0x005, 0x1c3};
/// What loops that wait are made of on sm_75 to sm_120: loads, arithmetic with integers, votes,
/// branches and barriers; no stores, atomics or calls.
constexpr std::array<uint16_t, 46> kHarmlessOperations = {
    0x002, 0x005, 0x006, 0x00c, 0x010, 0x011, 0x012, 0x016, 0x019, 0x01c, 0x024, 0x025,
    0x027, 0x031, 0x035, 0x036, 0x082, 0x086, 0x08c, 0x090, 0x091, 0x092, 0x097, 0x099,
    0x0a4, 0x0a5, 0x0b9, 0x0ca, 0x118, 0x119, 0x11a, 0x11d, 0x141, 0x145, 0x146, 0x147,
    0x148, 0x14d, 0x15d, 0x180, 0x181, 0x182, 0x183, 0x18f, 0x1ac, 0x1c3};
constexpr uint64_t kFirstClock = 0x50, kLastClock = 0x53, kMultiprocessor = 0x43;

template <size_t Count>
bool contains(const std::array<uint16_t, Count>& operations, uint64_t operation) {
  return std::ranges::find(operations, operation) != operations.end();
}

} // namespace

void noteMachineCode(Bytes instructions, Reads& reads) {
  for (uint64_t at = 0; at + kInstructionBytes <= instructions.size(); at += kInstructionBytes) {
    const uint64_t operation = *valueAt<uint64_t>(instructions, at) & kOperation;
    if (contains(kTextureOperations, operation))
      reads.insert(kTextures);
    else if (contains(kSurfaceOperations, operation))
      reads.insert(kSurfaces);
    else if (contains(kRegisterOperations, operation)) {
      const uint64_t number = *valueAt<uint64_t>(instructions, at + 8) >> 8 & 0xff;
      if (number >= kFirstClock && number <= kLastClock)
        reads.insert(kClocks);
      else if (number == kMultiprocessor)
        reads.insert(kMultiprocessors);
    }
  }
}

bool mayWrite(Bytes instructions) {
  for (uint64_t at = 0; at + kInstructionBytes <= instructions.size(); at += kInstructionBytes)
    if (!contains(kHarmlessOperations, *valueAt<uint64_t>(instructions, at) & kOperation))
      return true;
  return false;
}

bool mayWrite(std::string_view word) {
  constexpr std::array<std::string_view, 16> kWriting = {
      "st",       "atom",      "red",      "cp",      "call",
      "sust",     "sured",     "stmatrix", "wmma",    "multimem",
      "mbarrier", "tensormap", "discard",  "tcgen05", "clusterlaunchcontrol",
      "brkpt"};
  return std::ranges::find(kWriting, word) != kWriting.end();
}

void noteFunction(std::string_view name, Reads& reads) {
  if (const char* const read = device_runtime::readOf(name))
    reads.insert(read);
}

void notePtx(std::string_view word, Reads& reads) {
  const bool isPlace = word.starts_with("%") && read_words::isGridBarrier(word.substr(1));
  for (const Sign& sign : kRegisters)
    if (word.starts_with(sign.begin) && !isPlace)
      reads.insert(sign.read);
  for (const Sign& sign : kInstructions)
    if (word == sign.begin)
      reads.insert(sign.read);
}

} // namespace mneme::embed
