// The frontends as C functions, which Python calls (abi/mneme_frontend.h).
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "include/proteus/CppJitModule.h"
#include "include/proteus/Error.h"
#include "include/proteus/LLVMIRJitModule.h"
#include "include/proteus/MLIRJitModule.h"
#include "runtime/core/abi/mneme_frontend.h"
#include "runtime/jit/frontend/mlir_tools.h"

struct mneme_frontend_module {
  std::variant<proteus::CppJitModule, proteus::LLVMIRJitModule, proteus::MLIRJitModule> module;
};

namespace {

thread_local std::string lastError;

/// Errors of modules begin with a place in C++ that the caller does not have.
std::string reasonOf(const char* words) {
  constexpr std::string_view arrow = " => ";
  const std::string text = words;
  const size_t at = text.starts_with("[proteus]") ? text.find(arrow) : std::string::npos;
  return at == std::string::npos ? text : text.substr(at + arrow.size());
}

/// The result of `call`, or nothing if it threw.
template <typename Call> auto guarded(const Call& call) -> std::optional<decltype(call())> {
  try {
    return call();
  } catch (const std::exception& error) {
    lastError = reasonOf(error.what());
  } catch (...) {
    lastError = "an exception that is not a std::exception";
  }
  return std::nullopt;
}

mneme_frontend_module* compiled(const mneme_frontend_source& source) {
  if (source.version != MNEME_FRONTEND_ABI)
    throw proteus::FatalError("this libmneme_frontend belongs to another version of the caller");
  std::string code(source.code, source.codeBytes);
  const std::string target = source.target;
  std::unique_ptr<mneme_frontend_module> made;
  if (source.language == MNEME_FRONTEND_LLVM_IR) {
    made =
        std::make_unique<mneme_frontend_module>(proteus::LLVMIRJitModule(target, std::move(code)));
  } else if (source.language == MNEME_FRONTEND_MLIR) {
    made = std::make_unique<mneme_frontend_module>(proteus::MLIRJitModule(target, std::move(code)));
  } else {
    std::vector<std::string> extra(source.extraArguments,
                                   source.extraArguments + source.extraCount);
    const auto compiler = source.compiler == MNEME_FRONTEND_NVCC
                              ? proteus::CppJitCompilerBackend::Nvcc
                              : proteus::CppJitCompilerBackend::Clang;
    made = std::make_unique<mneme_frontend_module>(
        proteus::CppJitModule(target, std::move(code), std::move(extra), compiler));
  }
  std::visit([](auto& module) { module.compile(); }, made->module);
  return made.release();
}

} // namespace

mneme_frontend_module* mneme_frontend_compile(const mneme_frontend_source* source) {
  return guarded([&] { return compiled(*source); }).value_or(nullptr);
}

void mneme_frontend_close(mneme_frontend_module* module) { delete module; }

void* mneme_frontend_function(mneme_frontend_module* module, const char* name) {
  return guarded([&] {
           return std::visit([&](auto& held) { return held.getFunctionAddress(name); },
                             module->module);
         })
      .value_or(nullptr);
}

void* mneme_frontend_kernel(mneme_frontend_module* module, const char* name) {
  return guarded([&] {
           return std::visit([&](auto& held) { return held.getKernelAddress(name); },
                             module->module);
         })
      .value_or(nullptr);
}

int mneme_frontend_launch(mneme_frontend_module* module, void* kernel, const uint32_t* grid,
                          const uint32_t* block, void** arguments, uint64_t sharedBytes,
                          void* stream, int* status) {
  const auto launched = guarded([&] {
    return std::visit(
        [&](auto& held) {
          return held
              .launch(kernel, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]},
                      arguments, sharedBytes, stream)
              .Ret;
        },
        module->module);
  });
  if (!launched)
    return -1;
  *status = *launched;
  return 0;
}

const char* mneme_frontend_mlir_opt(void) {
  thread_local std::string path;
  path = guarded([] { return proteus::mlirOptPath(); }).value_or("");
  return path.empty() ? nullptr : path.c_str();
}

const char* mneme_frontend_error(void) { return lastError.c_str(); }
