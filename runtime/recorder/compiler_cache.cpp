#include "runtime/recorder/compiler_cache.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

namespace mneme::record {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = 64ull << 20;
/// Triton cuts longer names of files.
constexpr size_t kLongestName = 150;
/// Caches may be on slow disks, and have an entry for each kernel that was ever compiled.
constexpr std::chrono::nanoseconds kMostTime = std::chrono::seconds(2);
/// What searches that found nothing have taken of it.
std::atomic<int64_t> spentNs{0};

std::string variable(const char* name) {
  const char* value = environmentValue(name);
  return value ? value : "";
}

/// Calls visit(directory) until it returns true.
template <typename Visit> bool visitDirectories(const fs::path& cache, const Visit& visit) {
  std::error_code failure;
  for (fs::directory_iterator entry(cache, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (visit(entry->path()))
      return true;
  return false;
}

std::string textOf(const fs::path& path) {
  try {
    return readTextFile(path, kMostBytes);
  } catch (const Error&) { // that a file is missing says that nothing is known
    return {};
  }
}

bool hasContent(const fs::path& path, std::span<const std::byte> content) {
  std::error_code failure;
  const uint64_t sizeBytes = fs::file_size(path, failure);
  // The file may have padding that the driver's reader does not see.
  if (failure || sizeBytes < content.size() || sizeBytes > content.size() + 64)
    return false;
  try {
    const std::vector<std::byte> bytes = readFile(path, kMostBytes);
    return bytes.size() >= content.size() &&
           std::equal(content.begin(), content.end(), bytes.begin());
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::byte> bytesOf(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

bool isWordLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? std::string_view()
                            : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// The parts between the parenthesis that follows `head` and its partner, divided by commas outside
/// of brackets and quotes; nothing if the text has no such head.
std::optional<std::vector<std::string_view>> listBehind(std::string_view text,
                                                        const std::string& head) {
  size_t at = text.find(head + "(");
  if (at == text.npos)
    return std::nullopt;
  at += head.size() + 1;
  std::vector<std::string_view> parts;
  int depth = 0;
  bool isQuoted = false;
  for (size_t begin = at; at < text.size(); ++at) {
    const char letter = text[at];
    isQuoted ^= letter == '"';
    const bool isEnd = !isQuoted && depth == 0 && letter == ')';
    if (isEnd || (!isQuoted && depth == 0 && letter == ',')) {
      if (const std::string_view part = trimmed(text.substr(begin, at - begin)); !part.empty())
        parts.push_back(part);
      begin = at + 1;
    }
    if (isEnd)
      return parts;
    if (!isQuoted && letter != '\0')
      depth += (std::string_view("([{<").find(letter) != std::string_view::npos) -
               (std::string_view(")]}>").find(letter) != std::string_view::npos);
  }
  return std::nullopt;
}

/// Where the IR defines the kernel: "define ptx_kernel void @NAME" begins the rest.
std::string_view definitionIn(std::string_view ir, const std::string& kernel) {
  for (size_t at = ir.find("\ndefine "); at != ir.npos; at = ir.find("\ndefine ", at + 1)) {
    const std::string_view line = ir.substr(at, ir.find('\n', at + 1) - at);
    if (line.find("@" + kernel + "(") != line.npos)
      return line;
  }
  return {};
}

/// Sets type and kind by how a parameter of LLVM IR begins. Returns false for another size.
bool setType(KernelArg& arg, std::string_view parameter) {
  const std::string type(parameter.substr(0, parameter.find(' ')));
  if (type == "ptr") {
    arg.kind = ArgKind::Pointer;
    arg.type = type;
    return arg.sizeBytes == sizeof(uint64_t);
  }
  const auto is = [&](std::string_view name, uint64_t sizeBytes) {
    return type == name && arg.sizeBytes == sizeBytes;
  };
  const bool isFloat = is("float", 4) || is("double", 8) || is("half", 2) || is("bfloat", 2);
  const bool isInteger = is("i1", 1) || is("i8", 1) || is("i16", 2) || is("i32", 4) || is("i64", 8);
  if (isFloat || isInteger) {
    arg.kind = isFloat ? ArgKind::Float : ArgKind::Integer;
    arg.type = type;
    arg.isSpecializable = true;
    return true;
  }
  // Structures and vectors, which Triton passes for descriptors.
  return type.starts_with("%") || type.starts_with("{") || type.starts_with("[") ||
         type.starts_with("<");
}

/// Returns x for "%x: !tt.ptr<f32> loc(...)". Triton's older IR numbers arguments instead.
std::string nameIn(std::string_view parameter) {
  const std::string_view name =
      parameter.substr(parameter.starts_with('%'), parameter.find(':') - 1);
  const bool isName = !name.empty() && std::ranges::all_of(name, isWordLetter);
  const bool isNumber = name.starts_with("arg") && name.size() > 3 &&
                        name.find_first_not_of("0123456789", 3) == name.npos;
  if (isName && !isNumber)
    return std::string(name);
  // loc("x"(#loc))
  constexpr std::string_view kPlace = "loc(\"";
  const size_t place = parameter.rfind(kPlace);
  if (place == parameter.npos)
    return {};
  const std::string_view rest = parameter.substr(place + kPlace.size());
  const std::string_view told = rest.substr(0, rest.find('"'));
  return !told.empty() && std::ranges::all_of(told, isWordLetter) ? std::string(told) : "";
}

/// "sm_90a" of a line ".target sm_90a, debug".
std::string targetIn(std::string_view ptx) {
  constexpr std::string_view kTarget = ".target ";
  const size_t at = ptx.find(kTarget);
  if (at == ptx.npos)
    return {};
  const std::string_view rest = trimmed(ptx.substr(at + kTarget.size(), 32));
  const std::string_view name =
      rest.substr(0, std::ranges::find_if_not(rest, isWordLetter) - rest.begin());
  return name.starts_with("sm_") ? std::string(name) : "";
}

/// 87 of ".version 8.7"; 0 if it does not say.
unsigned versionIn(const std::string& ptx) {
  unsigned major = 0, minor = 0;
  const size_t at = ptx.find(".version");
  const bool isKnown =
      at != ptx.npos && std::sscanf(ptx.c_str() + at, ".version %2u.%1u", &major, &minor) == 2;
  return isKnown ? major * 10 + minor : 0;
}

std::string producerIn(const std::string& metadata) {
  const nlohmann::json json = nlohmann::json::parse(metadata, nullptr, false);
  const auto version = json.is_object() ? json.find("triton_version") : json.end();
  return version != json.end() && version->is_string() ? "Triton " + version->get<std::string>()
                                                       : "Triton";
}

std::optional<CachedCode> readEntry(const fs::path& directory, const std::string& file,
                                    const std::string& kernel, const std::vector<KernelArg>& args) {
  const auto part = [&](const char* end) { return textOf(directory / (file + end)); };
  const std::string ir = part(".llir"), ptx = part(".ptx");
  auto known = argumentsIn(ir, part(".ttir"), kernel, args);
  if (!known || ptx.empty())
    return std::nullopt;
  return CachedCode{.ir = bytesOf(ir),
                    .ptx = std::make_shared<const std::vector<std::byte>>(bytesOf(ptx)),
                    .arch = targetIn(ptx),
                    .ptxVersion = versionIn(ptx),
                    .producer = producerIn(part(".json")),
                    .args = std::move(*known)};
}

} // namespace

std::optional<std::vector<KernelArg>> argumentsIn(const std::string& ir,
                                                  const std::string& tritonIr,
                                                  const std::string& kernel,
                                                  std::vector<KernelArg> args) {
  const auto types = listBehind(definitionIn("\n" + ir, kernel), "@" + kernel);
  if (!types || types->size() != args.size())
    return std::nullopt;
  for (size_t index = 0; index < args.size(); ++index)
    if (!setType(args[index], (*types)[index]))
      return std::nullopt;
  const auto names = listBehind(tritonIr, "tt.func public @" + kernel);
  for (size_t index = 0; names && index < std::min(names->size(), args.size()); ++index)
    args[index].name = nameIn((*names)[index]);
  return args;
}

std::vector<fs::path> compilerCaches() {
  const auto firstOf = [](const std::string& value, const std::string& otherwise) {
    return value.empty() ? otherwise : value;
  };
  const std::string own = variable("TRITON_CACHE_DIR");
  const std::string home = firstOf(variable("TRITON_HOME"), variable("HOME"));
  std::vector<fs::path> caches;
  if (!own.empty())
    caches.emplace_back(own);
  if (!home.empty())
    caches.push_back(fs::path(home) / ".triton" / "cache");
  const std::string user = firstOf(variable("LOGNAME"), variable("USER"));
  const fs::path inductor =
      firstOf(variable("TORCHINDUCTOR_CACHE_DIR"),
              firstOf(variable("TMPDIR"), "/tmp") + "/torchinductor_" + firstOf(user, "root"));
  visitDirectories(inductor / "triton", [&](const fs::path& ofDevice) {
    caches.push_back(ofDevice);
    return false;
  });
  return caches;
}

std::optional<CachedCode> findCachedCode(const std::vector<fs::path>& caches,
                                         const std::string& kernel,
                                         std::span<const std::byte> cubin,
                                         const std::vector<KernelArg>& args) {
  const std::string file = kernel.substr(0, kLongestName);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto end = begin + kMostTime - std::chrono::nanoseconds(spentNs.load());
  std::optional<CachedCode> found;
  const auto isThere = [&](const fs::path& directory) {
    if (hasContent(directory / (file + ".cubin"), cubin))
      found = readEntry(directory, file, kernel, args);
    return found || Clock::now() > end;
  };
  for (const fs::path& cache : caches)
    if (Clock::now() > end || visitDirectories(cache, isThere))
      break;
  if (!found)
    spentNs += std::chrono::nanoseconds(Clock::now() - begin).count();
  return found;
}

} // namespace mneme::record
