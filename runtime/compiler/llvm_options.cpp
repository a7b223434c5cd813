#include "runtime/compiler/llvm_options.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Support/CommandLine.h>

#include <condition_variable>
#include <mutex>

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

void set(const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    const auto [name, value] = llvm::StringRef(option).split('=');
    optionOf(name)->addOccurrence(0, name, value);
  }
}

void reset(const std::vector<std::string>& options) {
  for (const std::string& option : options)
    optionOf(llvm::StringRef(option).split('=').first)->reset();
}

} // namespace

LlvmOptions::LlvmOptions(std::vector<std::string> options) {
  std::vector<std::string> wanted;
  for (std::string& option : options)
    (isAllowed(option) ? wanted : refused_).push_back(std::move(option));
  State& now = state();
  std::unique_lock lock(now.mutex);
  now.changed.wait(lock, [&] { return now.users == 0 || now.options == wanted; });
  if (now.options != wanted) {
    reset(now.options);
    set(wanted);
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
