#include "runtime/core/embed/jit_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <new>
#include <span>

#include "runtime/core/base/error.h"
#include "runtime/core/embed/device_code.h"

namespace mneme::embed {
namespace {

constexpr std::string_view kMark = "// options of the driver's compiler:";
constexpr size_t kLongestLine = 1024;
constexpr uint64_t kMostBytes = uint64_t{256} << 20; ///< of expanded code

/// CUDA's CUjit_option for: limit of registers, threads of a block, level, target, debug
/// information, cache mode, another compiler for old devices, fast compilation,
/// position-independent code, least blocks on a multiprocessor, most threads of a block, and
/// whether these count more than what the code says. Logs, a fallback and lines of source change no
/// code.
constexpr std::array kOfCode = {
    kJitMaxRegisters, 1, kJitLevel, kJitTarget, 11, 14, 15, 16, 30, kJitMinBlocks,
    kJitMaxThreads,   33};

std::string lineOf(const std::vector<JitOption>& options) {
  std::string text(kMark);
  for (const auto& [number, value] : options)
    text += " " + std::to_string(number) + "=" + std::to_string(value);
  return text + "\n";
}

/// The PTX that a driver chooses of a fat binary; the fat binary if it chooses machine code.
CodeImage ptxIn(const CodeImage& fatBinary, std::string_view architecture) {
  try {
    CodeImage member = copyImage(memberFor(*fatBinary.bytes, architecture, kMostBytes));
    return member.form == "ptx" ? member : fatBinary;
  } catch (const Error&) { // it has neither for this GPU
    return fatBinary;
  }
}

} // namespace

std::vector<JitOption> jitOptionsOf(const GivenOptions& given) noexcept try {
  std::map<int, uint64_t> found; // of an option that is there twice the last one counts
  for (unsigned index = 0; given.options && given.values && index < given.count; ++index)
    if (std::ranges::find(kOfCode, given.options[index]) != kOfCode.end())
      // An unsigned int lies in the place of the pointer; the rest of it may be anything.
      found[given.options[index]] =
          static_cast<uint32_t>(reinterpret_cast<uintptr_t>(given.values[index]));
  return {found.begin(), found.end()};
} catch (const std::bad_alloc&) {
  return {};
}

CodeImage withJitOptions(CodeImage image, const std::vector<JitOption>& options,
                         std::string_view architecture) {
  if (options.empty())
    return image;
  if (image.form == "fatbin")
    image = ptxIn(image, architecture);
  if (image.form != "ptx")
    return image;
  const std::string text = lineOf(options);
  const auto line = std::as_bytes(std::span(text));
  std::vector<std::byte> bytes(line.begin(), line.end());
  bytes.insert(bytes.end(), image.bytes->begin(), image.bytes->end());
  return copyImage(bytes);
}

std::vector<JitOption> jitOptionsAt(const void* image) {
  const auto* text = static_cast<const char*>(image);
  if (std::strncmp(text, kMark.data(), kMark.size()) != 0) // ends at the first other byte
    return {};
  return jitOptionsIn({text, strnlen(text, kLongestLine)});
}

std::vector<JitOption> jitOptionsIn(std::string_view ptx) {
  std::vector<JitOption> found;
  if (!ptx.starts_with(kMark))
    return found;
  const char* at = ptx.data() + kMark.size();
  const char* const end = ptx.data() + ptx.size();
  while (at != end && *at == ' ') {
    JitOption option;
    const auto [equals, error] = std::from_chars(at + 1, end, option.first);
    if (error != std::errc() || equals == end || *equals != '=')
      break;
    const auto [next, otherError] = std::from_chars(equals + 1, end, option.second);
    if (otherError != std::errc())
      break;
    found.push_back(option);
    at = next;
  }
  return found;
}

void setJitNumber(std::string& ptx, int number, uint32_t value) {
  std::vector<JitOption> options = jitOptionsIn(ptx);
  const auto known = std::ranges::find(options, number, &JitOption::first);
  if (value == 0 || known == options.end())
    return;
  known->second = value;
  ptx = lineOf(options) + ptx.substr(ptx.find('\n') + 1);
}

} // namespace mneme::embed
