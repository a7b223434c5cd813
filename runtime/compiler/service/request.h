// Room compiler: what is compiled, and what comes of it, for rooms that hold no LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/core/abi/argument.h"

namespace mneme::compile {

struct LambdaValue {
  std::string function = {}; ///< see mneme_lambda_value; empty for null
  uint32_t slot = 0;
  uint32_t offset = 0;
  uint32_t argument = 0;
  uint64_t place = 0;
  std::vector<std::byte> value;
};

struct GlobalPlace {
  std::string name;
  /// 0: the loader writes the address into the image's constant placeVariable(name), if the image
  /// has it; see mneme_global_place.
  uint64_t address = 0;
};

/// An LLVM pass plugin: its passes have names in the pipeline.
struct PassPlugin {
  std::string path;
  uint64_t contentHash = 0; ///< of the file, for keys
};

/// How a module of MLIR becomes LLVM IR (mlir.h).
struct MlirLowering {
  /// Pass pipelines of mlir-opt. The second is tried where the first does not apply, and so on.
  std::vector<std::string> pipelines = {};
  bool isForGpu = false; ///< what becomes LLVM IR is the one gpu.module
  /// The programs; no part of keys, as what is stored needs none.
  std::string opt = {};
  std::string translate = {};
};

/// Target of a request whose compiler itself makes the image, a shared object or a cubin.
inline constexpr const char* kSourceTarget = "source";

/// See mneme_compile_request; same meaning field by field.
struct Request {
  std::vector<std::vector<std::byte>> modules;
  /// Program and arguments that make IR of the only module, which is source text (source.h); input
  /// and output are added to them.
  std::vector<std::string> sourceCompiler = {};
  MlirLowering mlir = {}; ///< with pipelines: the only module is MLIR
  std::string kernel;
  std::string target = "cpu";
  std::string passes = "default<O3>";
  uint32_t codegenOptLevel = 3;
  bool prune = true;
  bool internalize = true;
  bool setLaunchBounds = false;
  uint32_t maxThreads = 0;
  uint32_t minBlocksPerSm = 0;
  bool specializeDims = false;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  std::vector<ArgValue> specializedArgs;
  std::string optionsJson;
  std::vector<GlobalPlace> placedGlobals;
#define MNEME_CODE_NUMBER(member, key, otherwise, high, deployed, searched, devices, label, text)  \
  uint32_t member = otherwise;
#define MNEME_CODE_TEXT(member, key, deployed, option, metavar, between, label, text)              \
  std::string member;
#define MNEME_CODE_FILES(member, key, deployed, option, metavar, between, label, text)
#include "runtime/core/abi/knobs.def"
  bool wantIr = false;
  bool wantAssembly = false;
  bool boundIndices = false;
  bool wantTrace = false;
  bool wantShape = false; ///< in the statistics
  /// The statistics have what the kernel leaves in memory (module/elements.h), and no code is made.
  bool wantElements = false;
  bool wantCheck = false; ///< of `passes` with `plugins`, and of `llvmOptions`; nothing is made
  /// File name of the entry in the cache; empty: made of the key.
  std::string cacheName = {};
  std::string symbol;
  std::vector<LambdaValue> lambdaValues;
  std::vector<PassPlugin> plugins;
  /// compilerText() of the kernel compiler of another LLVM, which service.h uses; client.h does
  /// not.
  std::string compiler = {};
  uint32_t timeTraceGrain = 0;    ///< microseconds; 0: no time trace
  uint32_t codeObjectVersion = 0; ///< for AMD GPUs: 4, 5 or 6; 0: what the modules were built for
  bool wantStages = false;        ///< IR before and after specialisation
  bool wantReasons = false; ///< in the statistics: remarks, passes, loops (MNEME_OUTPUT_REASONS)
};

/// The numbers that decide about the code, of a Request or a mneme_compile_request: the one list
/// for messages, keys and the C ABI. The dimensions, which do so at times only, are not among them.
template <typename AnyRequest> auto codeNumbersOf(AnyRequest& request) {
  return std::tie(request.codegenOptLevel, request.prune, request.internalize,
                  request.setLaunchBounds, request.maxThreads, request.minBlocksPerSm,
                  request.specializeDims,
#define MNEME_CODE_NUMBER(member, key, otherwise, high, deployed, searched, devices, label, text)  \
  request.member,
#include "runtime/core/abi/knobs.def"
                  request.boundIndices, request.codeObjectVersion);
}

/// Calls `visit` with each number of codeNumbersOf().
template <typename AnyRequest, typename Visit>
void visitCodeNumbers(AnyRequest& request, Visit&& visit) {
  std::apply([&](auto&... numbers) { (visit(numbers), ...); }, codeNumbersOf(request));
}

/// Calls `visit` with key and value of each MNEME_CODE_TEXT of a Request.
template <typename AnyRequest, typename Visit>
void visitCodeTexts(AnyRequest& request, Visit&& visit) {
#define MNEME_CODE_TEXT(member, key, deployed, option, metavar, between, label, text)              \
  visit(std::string(key), request.member);
#define MNEME_CODE_FILES(member, key, deployed, option, metavar, between, label, text)
#include "runtime/core/abi/knobs.def"
}

/// As visitCodeTexts(), without the two that keys have always held in a form of their own.
template <typename Visit> void visitLaterTexts(const Request& request, Visit&& visit) {
  visitCodeTexts(request, [&](const std::string& key, const std::string& text) {
    if (key != "llvm_options" && key != "assembler_options")
      visit(key, text);
  });
}

struct Result {
  std::vector<std::byte> image;
  std::string ir;
  std::string assembly;
  std::string statisticsJson;
  std::string trace;         ///< not of stored results
  std::string printed;       ///< by pass plugins, to stdout; not of stored results
  std::string warnings;      ///< of Request::sourceCompiler and pass plugins, to stderr; likewise
  std::string timeTrace;     ///< JSON; this and what follows: not of stored results
  std::string linkedIr;      ///< before specialisation
  std::string specializedIr; ///< before the pipeline
  bool isFromCache = false;
  unsigned cacheLevel = 0; ///< where, in ServiceOptions::levels
};

} // namespace mneme::compile
