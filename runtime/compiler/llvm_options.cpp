#include "runtime/compiler/llvm_options.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Support/CommandLine.h>

#include <condition_variable>
#include <mutex>
#include <sstream>
#include <utility>

#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

/// What is set now, and how many compilations count on it.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> options;
  unsigned users = 0;
};

State& state() {
  static State& instance = *new State; // static destructors may compile
  return instance;
}

llvm::cl::Option* optionOf(llvm::StringRef name) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(name);
  return found == options.end() ? nullptr : found->second;
}

bool isHarmlessName(llvm::StringRef name) {
  for (const char* part : {"print", "debug",   "stats", "time",    "view",  "dot",         "verify",
                           "load",  "remarks", "help",  "version", "file",  "bisect",      "dump",
                           "save",  "write",   "read",  "trace",   "crash", "info-output", "cfg"})
    if (name.contains(part))
      return false;
  return true;
}

bool isPlainValue(llvm::StringRef value) {
  double number = 0;
  return value.empty() || value == "true" || value == "false" ||
         (llvm::all_of(value, [](char c) { return llvm::isDigit(c) || c == '.' || c == '-'; }) &&
          !value.getAsDouble(number));
}

bool isAllowed(llvm::StringRef option) {
  const auto [name, value] = option.split('=');
  return isHarmlessName(name) && isPlainValue(value) && optionOf(name);
}

llvm::StringRef nameOf(llvm::StringRef option) { return option.split('=').first; }

void reset(const std::vector<std::string>& options) {
  for (const std::string& option : options)
    optionOf(nameOf(option))->reset();
}

/// Resets them all where LLVM refuses a value of the first `askedCount`.
void set(const std::vector<std::string>& options, size_t askedCount) {
  for (size_t index = 0; index < options.size(); ++index) {
    const auto [name, value] = llvm::StringRef(options[index]).split('=');
    if (!optionOf(name)->addOccurrence(0, name, value) || index >= askedCount)
      continue;
    reset(options);
    throw Error(ErrorCode::InvalidArgument,
                "LLVM's option '-" + name.str() + "' " +
                    (value.empty() ? "needs a value: " + name.str() + "=..."
                                   : "does not take '" + value.str() + "'"));
  }
}

/// Each option once; of those with one name the last.
std::vector<std::string> wordsOf(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    const llvm::StringRef option = llvm::StringRef(word).ltrim('-');
    if (!optionOf(nameOf(option)))
      throw Error(ErrorCode::InvalidArgument,
                  "LLVM has no option '-" + option.str() +
                      "'; 'opt --help-hidden' and 'llc --help-hidden' list those of " +
                      LLVM_VERSION_STRING);
    llvm::erase_if(words, [&](const std::string& one) { return nameOf(one) == nameOf(option); });
    words.push_back(option.str());
  }
  return words;
}

bool hasName(const std::vector<std::string>& options, llvm::StringRef name) {
  return llvm::any_of(options, [&](const std::string& one) { return nameOf(one) == name; });
}

} // namespace

LlvmOptions::LlvmOptions(std::vector<std::string> recorded, const std::string& asked) {
  std::vector<std::string> wanted = wordsOf(asked);
  const size_t askedCount = wanted.size();
  for (std::string& option : recorded) {
    if (!isAllowed(option))
      refused_.push_back(std::move(option));
    else if (!hasName(wanted, nameOf(option)))
      wanted.push_back(std::move(option));
  }
  State& now = state();
  std::unique_lock lock(now.mutex);
  now.changed.wait(lock, [&] { return now.users == 0 || now.options == wanted; });
  if (now.options != wanted) {
    reset(std::exchange(now.options, {}));
    set(wanted, askedCount);
    now.options = std::move(wanted);
  }
  ++now.users;
}

void LlvmOptions::release(void*) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  if (--now.users == 0)
    now.changed.notify_all();
}

LlvmOptions::~LlvmOptions() { release(nullptr); }

} // namespace mneme::compile
