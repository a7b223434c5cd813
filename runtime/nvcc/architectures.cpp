#include "runtime/nvcc/architectures.h"

#include <algorithm>
#include <array>

#include "runtime/core/base/error.h"

namespace mneme::nvcc {
namespace {

/// In which toolkits (10 * major + minor) an architecture is, and since which clang.
struct Known {
  unsigned number;
  unsigned firstToolkit;
  unsigned lastToolkit;
  unsigned clang;
};

constexpr unsigned kStill = ~0u;

// From the toolkits' release notes, and clang's table of offload architectures. clang 22 writes
// PTX 8.8 at most, which 8.8 and 11.0 are not in.
constexpr std::array kKnown = {
    Known{50, 60, 129, 4},       Known{52, 65, 129, 4},       Known{53, 65, 129, 4},
    Known{60, 80, 129, 4},       Known{61, 80, 129, 4},       Known{62, 80, 129, 4},
    Known{70, 90, 129, 6},       Known{72, 92, 129, 7},       Known{75, 100, kStill, 8},
    Known{80, 110, kStill, 11},  Known{86, 111, kStill, 13},  Known{87, 114, kStill, 16},
    Known{88, 130, kStill, 23},  Known{89, 118, kStill, 16},  Known{90, 118, kStill, 16},
    Known{100, 128, kStill, 20}, Known{103, 129, kStill, 21}, Known{110, 130, kStill, 23},
    Known{120, 128, kStill, 20}, Known{121, 129, kStill, 21},
};

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::InvalidArgument, sentence);
}

void addOnce(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end())
    names.push_back(name);
}

/// Whether `name` is digits, perhaps with one letter behind them (90a, 100f).
bool isArchitecture(std::string_view name) {
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f'))
    name.remove_suffix(1);
  return name.size() >= 2 && name.size() <= 3 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What may stand around a list of codes.
bool isBracket(char letter) {
  return std::string_view("[]\"'\\ ").find(letter) != std::string_view::npos;
}

/// Adds sm_90, compute_90 or lto_90.
void addCode(Targets& targets, std::string_view code) {
  const size_t line = code.find('_');
  const std::string_view kind = code.substr(0, line);
  const std::string name(line == std::string_view::npos ? "" : code.substr(line + 1));
  if (!isArchitecture(name) || (kind != "sm" && kind != "compute" && kind != "lto"))
    refuse("'" + std::string(code) + "' is not an architecture: sm_90, compute_90, lto_90");
  addOnce(kind == "compute" ? targets.ptx : targets.machine, name);
  targets.isForLinkTime |= kind == "lto";
}

std::vector<std::string> splitAt(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find_first_of(separators);
    if (end)
      parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

} // namespace

void Targets::add(const Targets& more) {
  for (const std::string& name : more.machine)
    addOnce(machine, name);
  for (const std::string& name : more.ptx)
    addOnce(ptx, name);
  isForLinkTime |= more.isForLinkTime;
  isNative |= more.isNative;
}

std::vector<unsigned> knownArchitectures(unsigned toolkit) {
  std::vector<unsigned> numbers;
  for (const Known& known : kKnown)
    if (known.clang <= MNEME_LLVM_MAJOR &&
        (toolkit == 0 || (known.firstToolkit <= toolkit && toolkit <= known.lastToolkit)))
      numbers.push_back(known.number);
  return numbers;
}

Targets targetsFor(const std::vector<unsigned>& gpus, unsigned toolkit) {
  const std::vector<unsigned> known = knownArchitectures(toolkit);
  Targets targets;
  for (const unsigned gpu : gpus) {
    const auto above = std::upper_bound(known.begin(), known.end(), gpu);
    if (above == known.begin())
      continue; // older than all that the toolkit knows
    const unsigned nearest = *std::prev(above);
    addOnce(targets.machine, std::to_string(nearest));
    if (nearest != gpu)
      addOnce(targets.ptx, std::to_string(nearest));
  }
  if (!targets.isEmpty() || known.empty())
    return targets;
  // Machine code of 12.0 runs on 12.1, too.
  const auto newest =
      std::find_if(known.rbegin(), known.rend(), [](unsigned number) { return number % 10 == 0; });
  for (const unsigned wanted : {80u, 90u, newest == known.rend() ? known.back() : *newest})
    if (std::find(known.begin(), known.end(), wanted) != known.end())
      addOnce(targets.machine, std::to_string(wanted));
  // 10.0 and 11.0 take PTX of Hopper, what is newer than this toolkit that of the newest.
  for (const std::string& name : targets.machine)
    if (name != "80")
      addOnce(targets.ptx, name);
  return targets;
}

Targets allTargets(unsigned toolkit, bool majorOnly) {
  Targets targets;
  const std::vector<unsigned> known = knownArchitectures(toolkit);
  for (const unsigned number : known)
    if (!majorOnly || number % 10 == 0 || number == known.front())
      targets.machine.push_back(std::to_string(number));
  for (const unsigned number : known)
    if (number % 10 == 0)
      targets.ptx = {std::to_string(number)};
  return targets;
}

Targets targetsOfList(std::string_view list, unsigned toolkit) {
  if (list == "all" || list == "all-major")
    return allTargets(toolkit, list == "all-major");
  Targets targets;
  for (const std::string& part : splitAt(list, ";, ")) {
    const std::string name = part.substr(0, part.find('-'));
    const std::string kind = part.substr(name.size());
    if (part == "native") {
      targets.isNative = true;
      continue;
    }
    if (!isArchitecture(name) || (!kind.empty() && kind != "-real" && kind != "-virtual"))
      refuse("'" + std::string(list) + "' is not a list of architectures, as '80;90-real' is");
    if (kind != "-virtual")
      addOnce(targets.machine, name);
    if (kind != "-real")
      addOnce(targets.ptx, name);
  }
  return targets;
}

void addGenerateCode(Targets& targets, std::string_view specification) {
  bool hasArchitecture = false, hasCode = false, isCode = false;
  for (std::string part : splitAt(specification, ",")) {
    std::erase_if(part, [](char c) { return isBracket(c); });
    if (part.starts_with("arch=")) {
      hasArchitecture = true, isCode = false;
    } else if (part.starts_with("code=") || isCode) {
      isCode = true;
      hasCode = true;
      addCode(targets, part.starts_with("code=") ? part.substr(5) : part);
    } else {
      refuse("'" + std::string(specification) + "' is not arch=compute_90,code=sm_90");
    }
  }
  if (!hasArchitecture || !hasCode)
    refuse("'-gencode " + std::string(specification) + "' names no " +
           (hasArchitecture ? "code" : "arch"));
}

void addArchitecture(Targets& targets, const std::string& architecture,
                     const std::vector<std::string>& codes, unsigned toolkit) {
  if (architecture == "native" || architecture == "all" || architecture == "all-major") {
    if (!codes.empty())
      refuse("'-arch=" + architecture + "' goes without -code");
    targets.add(targetsOfList(architecture, toolkit));
    return;
  }
  for (const std::string& list : codes)
    for (std::string code : splitAt(list, ",")) {
      std::erase_if(code, [](char c) { return isBracket(c); });
      addCode(targets, code);
    }
  if (!codes.empty())
    return;
  addCode(targets, architecture);
  if (architecture.starts_with("sm_"))
    addOnce(targets.ptx, architecture.substr(3));
}

std::vector<std::string> dropUnknownToClang(Targets& targets) {
  std::vector<std::string> dropped;
  const auto drop = [&](const std::string& name) {
    const unsigned number = static_cast<unsigned>(std::stoul(name));
    const bool isUnknown = std::any_of(kKnown.begin(), kKnown.end(), [&](const Known& known) {
      return known.number == number && known.clang > MNEME_LLVM_MAJOR;
    });
    if (isUnknown)
      addOnce(dropped, "sm_" + name);
    return isUnknown;
  };
  std::erase_if(targets.machine, drop);
  std::erase_if(targets.ptx, drop);
  if (!dropped.empty() && targets.isEmpty())
    throw Error(ErrorCode::Unsupported, "clang " + std::to_string(MNEME_LLVM_MAJOR) +
                                            " cannot compile for " + dropped.front());
  return dropped;
}

std::vector<std::string> clangOptions(const Targets& targets) {
  std::vector<std::string> names = targets.machine;
  for (const std::string& name : targets.ptx)
    addOnce(names, name); // clang makes PTX on the way to machine code, and no PTX without it
  std::vector<std::string> words;
  for (const std::string& name : names)
    words.push_back("--offload-arch=sm_" + name);
  if (!names.empty())
    words.push_back("--no-cuda-include-ptx=all");
  for (const std::string& name : targets.ptx)
    words.push_back("--cuda-include-ptx=sm_" + name);
  return words;
}

std::string cmakeList(const Targets& targets) {
  std::string list;
  const auto add = [&](const std::string& part) { list += (list.empty() ? "" : ";") + part; };
  const auto isIn = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& name : targets.machine)
    add(isIn(targets.ptx, name) ? name : name + "-real");
  for (const std::string& name : targets.ptx)
    if (!isIn(targets.machine, name))
      add(name + "-virtual");
  return list;
}

} // namespace mneme::nvcc
