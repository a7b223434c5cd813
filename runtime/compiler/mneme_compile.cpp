// Room compiler: the C ABI over CompileJob. Exceptions and LLVM's fatal errors end here.
#include "runtime/core/abi/mneme_compile.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "runtime/compiler/compile_job.h"
#include "runtime/compiler/fatal_guard.h"
#include "runtime/compiler/host_job.h"
#include "runtime/compiler/isolation.h"
#include "runtime/compiler/module/loader.h"
#include "runtime/compiler/pass_names.h"
#include "runtime/compiler/pass_pipeline.h"
#include "runtime/compiler/pass_plugins.h"
#include "runtime/compiler/stage.h"
#include "runtime/core/base/error.h"

struct mneme_compile_result {
  mneme::compile::JobOutputs outputs;
  std::string printed;
  std::string message;
};

namespace mneme::compile {
namespace {

/// Runs `action(State&)` on a fresh State under the fatal guard; a fatal error leaks the State and
/// is reported as `error(const State&)` says, with LLVM's words behind it.
template <typename State, typename Action, typename FatalError>
void runJob(std::unique_ptr<State> state, Action&& action, FatalError&& error) {
  const GuardResult guarded = runGuarded([&] { action(*state); });
  if (!guarded.isFatal)
    return;
  const Error kind = error(*state.release());
  throw Error(kind.code(), std::string(kind.what()) + ": " + guarded.message);
}

/// Turns exceptions into a code and a message.
template <typename Action> int atBorder(std::string& message, Action&& action) noexcept {
  try {
    action();
    return static_cast<int>(ErrorCode::Ok);
  } catch (const Error& error) {
    message = error.what();
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    return static_cast<int>(ErrorCode::OutOfMemory);
  } catch (const std::exception& error) {
    message = error.what();
    return static_cast<int>(ErrorCode::Internal);
  }
}

void checkRequest(const mneme_compile_request& request) {
  if (request.abi != MNEME_COMPILE_ABI)
    throw Error(ErrorCode::InvalidArgument,
                "the compile request has ABI " + std::to_string(request.abi) +
                    ", this library speaks " + std::to_string(MNEME_COMPILE_ABI) +
                    "; caller and libmneme_compile.so are of different versions");
  if (!request.modules || !request.kernel || !request.target || !request.passes)
    throw Error(ErrorCode::InvalidArgument,
                "the compile request lacks its modules, kernel, target or passes");
}

/// What mneme_compile_convert_ir needs while it runs.
struct Conversion {
  Diagnostics diagnostics;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

std::string convertLoaded(Conversion& state, mneme_bytes input, bool wantText) {
  state.diagnostics.attach(state.context);
  state.module = loadModule(input, "the input", state.context, state.diagnostics);
  std::string output;
  llvm::raw_string_ostream stream(output);
  if (wantText)
    state.module->print(stream, nullptr);
  else
    llvm::WriteBitcodeToFile(*state.module, stream);
  return output;
}

std::string convert(mneme_bytes input, bool wantText) {
  std::string output;
  runJob(
      std::make_unique<Conversion>(),
      [&](Conversion& state) { output = convertLoaded(state, input, wantText); },
      [](const Conversion&) {
        return Error(ErrorCode::ArtifactCorrupt, "LLVM cannot read the IR");
      });
  return output;
}

template <typename Job>
void compileWith(const mneme_compile_request& request, JobOutputs& outputs, const char* what) {
  runJob(
      std::make_unique<Job>(request),
      [&](Job& job) {
        const TimeTrace trace(request.timeTraceGrain);
        outputs = job.run();
        outputs.timeTrace = trace.text();
      },
      [&](const Job& job) {
        return job.isLoaded()
                   ? Error(ErrorCode::CompileFailed, "LLVM gave up on the " + (what + job.hint()))
                   : Error(ErrorCode::ArtifactCorrupt, "LLVM cannot read the IR");
      });
}

mneme_bytes bytesOf(const std::string& text) { return {text.data(), text.size()}; }

} // namespace
} // namespace mneme::compile

using namespace mneme::compile;

int mneme_compile(const mneme_compile_request* request, mneme_compile_result** result) {
  *result = new (std::nothrow) mneme_compile_result;
  if (!*result)
    return static_cast<int>(mneme::ErrorCode::OutOfMemory);
  return atBorder((*result)->message, [&] {
    checkRequest(*request);
    std::optional<CapturedStandardOutput> captured;
    if (request->passPluginCount > 0)
      captured.emplace();
    if (strcmp(request->target, kHostTarget) == 0)
      compileWith<HostJob>(*request, (*result)->outputs, "function");
    else
      compileWith<CompileJob>(*request, (*result)->outputs, "kernel");
    if (captured)
      (*result)->printed = captured->text();
  });
}

const char* mneme_compile_message(const mneme_compile_result* result) {
  return result ? result->message.c_str() : "out of memory";
}

mneme_bytes mneme_compile_output(const mneme_compile_result* result, uint32_t which) {
  if (!result)
    return {nullptr, 0};
  switch (which) {
  case MNEME_OUTPUT_IMAGE:
    return bytesOf(result->outputs.image);
  case MNEME_OUTPUT_IR:
    return bytesOf(result->outputs.ir);
  case MNEME_OUTPUT_ASSEMBLY:
    return bytesOf(result->outputs.assembly);
  case MNEME_OUTPUT_INPUT_IR:
    return bytesOf(result->outputs.inputIr);
  case MNEME_OUTPUT_TRACE:
    return bytesOf(result->outputs.trace);
  case MNEME_OUTPUT_LINKED_IR:
    return bytesOf(result->outputs.linkedIr);
  case MNEME_OUTPUT_TIME_TRACE:
    return bytesOf(result->outputs.timeTrace);
  case MNEME_OUTPUT_PRINTED:
    return bytesOf(result->printed);
  default:
    return {nullptr, 0};
  }
}

const char* mneme_compile_statistics(const mneme_compile_result* result) {
  return result ? result->outputs.statisticsJson.c_str() : "";
}

void mneme_compile_destroy(mneme_compile_result* result) { delete result; }

int mneme_compile_check_passes(const char* passes, char** message) {
  std::string text;
  const int code = atBorder(text, [&] {
    if (!passes)
      throw mneme::Error(mneme::ErrorCode::InvalidArgument, "no pass pipeline was given");
    runJob(
        std::make_unique<std::string>(passes),
        [](std::string& pipeline) { checkPassPipeline(pipeline); },
        [](const std::string& pipeline) {
          return mneme::Error(mneme::ErrorCode::InvalidArgument,
                              "invalid pass pipeline '" + pipeline + "'");
        });
  });
  if (message)
    *message = code ? strdup(text.c_str()) : nullptr;
  return code;
}

int mneme_compile_pass_names(char** names) {
  std::string message;
  std::string text;
  const int code = atBorder(message, [&] {
    runJob(
        std::make_unique<std::string>(), [&](std::string&) { text = passNames(); },
        [](const std::string&) {
          return mneme::Error(mneme::ErrorCode::Internal, "LLVM cannot list its passes");
        });
  });
  *names = code ? nullptr : strdup(text.c_str());
  return code;
}

int mneme_compile_convert_ir(mneme_bytes input, uint32_t wantText, mneme_compile_result** result) {
  *result = new (std::nothrow) mneme_compile_result;
  if (!*result)
    return static_cast<int>(mneme::ErrorCode::OutOfMemory);
  return atBorder((*result)->message, [&] {
    // Tools bring IR from anywhere here; what comes out was written by LLVM and can be trusted.
    (*result)->outputs.ir = runIsolated([&] { return convert(input, wantText != 0); }, "the input");
  });
}

void mneme_compile_free(char* text) { free(text); }
