// Stand-in for AMD's runtime: the faults of the real one that tests ask for.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/log.h"
#include "tests/hip_stand_in/stand_in.h"

namespace mneme::stand_in {
namespace {

struct ErrorName {
  int code;
  const char* name;
};
constexpr ErrorName kNames[] = {
#include "runtime/emulator/runtimes/hip/error_names.inc"
};

struct Rule {
  std::string function;
  Fault fault;
  uint64_t call = 0; ///< counted from 1; 0: every one
  std::atomic<uint64_t> calls{0};
};

constexpr struct {
  std::string_view name;
  FaultKind kind;
} kKinds[] = {{"missing:", FaultKind::Missing},
              {"hang:", FaultKind::Hang},
              {"elsewhere:", FaultKind::Elsewhere}};

int statusNamed(std::string_view name) {
  for (const ErrorName& known : kNames)
    if (name == known.name)
      return known.code;
  notice("MNEME_STAND_IN_FAULT: '" + std::string(name) + "' is not a HIP error");
  return kNotSupported;
}

void read(std::string_view text, Rule& rule) {
  for (const auto& [name, kind] : kKinds)
    if (text.starts_with(name)) {
      rule.fault.kind = kind;
      text.remove_prefix(name.size());
    }
  if (const size_t equals = text.find('='); equals != text.npos) {
    rule.fault.status = statusNamed(text.substr(equals + 1));
    text = text.substr(0, equals);
  }
  const size_t colon = text.find(':');
  if (colon != text.npos)
    rule.call = std::strtoull(std::string(text.substr(colon + 1)).c_str(), nullptr, 10);
  rule.function = text.substr(0, colon);
}

std::deque<Rule>& rules() noexcept {
  static auto* const read = [] {
    auto* made = new std::deque<Rule>;
    const char* said = environmentValue("MNEME_STAND_IN_FAULT");
    for (std::string_view text = said ? said : ""; !text.empty();) {
      const size_t comma = text.find(',');
      stand_in::read(text.substr(0, comma), made->emplace_back());
      text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
    }
    return made;
  }();
  return *read;
}

} // namespace

bool hasFaults(const char* function) noexcept {
  for (const Rule& rule : rules())
    if (rule.function == function)
      return true;
  return false;
}

const Fault* faultOfCall(const char* function) noexcept {
  const Fault* found = nullptr;
  for (Rule& rule : rules())
    if (rule.function == function && rule.fault.kind != FaultKind::Missing) {
      const uint64_t call = ++rule.calls;
      if (rule.call == 0 || rule.call == call)
        found = &rule.fault;
    }
  return found;
}

void visitMissing(void (*act)(const char* function)) noexcept {
  for (const Rule& rule : rules())
    if (rule.fault.kind == FaultKind::Missing)
      act(rule.function.c_str());
}

bool canHang() noexcept {
  for (const Rule& rule : rules())
    if (rule.fault.kind == FaultKind::Hang)
      return true;
  return false;
}

} // namespace mneme::stand_in
