// What mneme_compile_version() says: LLVM, its targets, the processor, and the key of caches.
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <exception>
#include <string>
#include <utility>

#include "runtime/compiler/target_machine.h"
#include "runtime/core/abi/mneme_compile.h"
#include "runtime/core/base/hash.h"

namespace {

// Raise when generated code changes although LLVM and the host do not.
constexpr const char* kCodeVersion = "mneme-compile-1";

std::string describe() {
  mneme::compile::initializeTargets();
  const std::string identity = std::string(kCodeVersion) + "|" + LLVM_VERSION_STRING + "|" +
                               mneme::compile::hostCpu() + "|" + mneme::compile::hostFeatures();
  llvm::json::Array targets{"cpu", "nvptx"};
  if (mneme::compile::hasAmdTarget())
    targets.push_back("amdgpu");
  llvm::json::Object object{
      {"llvm", LLVM_VERSION_STRING},
      {"targets", std::move(targets)},
      {"host_cpu", mneme::compile::hostCpu()},
      {"cache_key",
       mneme::toHex(mneme::hash128(std::as_bytes(std::span(identity.data(), identity.size()))))},
  };
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::json::Value(std::move(object));
  return text;
}

} // namespace

const char* mneme_compile_version() {
  try {
    static const std::string text = describe();
    return text.c_str();
  } catch (const std::exception&) {
    return "{}";
  }
}
