#include "runtime/compiler/service/client.h"

#include <cstring>
#include <memory>
#include <mutex>

#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/library_identity.h"
#include "runtime/core/abi/mneme_compile.h"
#include "runtime/core/base/dynamic_library.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::compile {
namespace {

/// The functions of libmneme_compile.so.
struct Library {
  decltype(&mneme_compile) compile;
  decltype(&mneme_compile_message) message;
  decltype(&mneme_compile_output) output;
  decltype(&mneme_compile_statistics) statistics;
  decltype(&mneme_compile_destroy) destroy;
  decltype(&mneme_compile_check_passes) checkPasses;
  decltype(&mneme_compile_version) version;
  decltype(&mneme_compile_convert_ir) convertIr;
  decltype(&mneme_compile_pass_names) passNames;
  decltype(&mneme_compile_free) freeText;
};

template <typename Function>
void resolve(const DynamicLibrary& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(library.symbol(name));
}

DynamicLibrary openLibrary(const std::string& path) {
  try {
    return DynamicLibrary::open(path);
  } catch (const Error& error) {
    throw Error(ErrorCode::BackendUnavailable,
                std::string("cannot load the kernel compiler: ") + error.what() +
                    "; --llvm and MNEME_COMPILE_LIBRARY take the path of a libmneme_compile.so");
  }
}

const Library& loadLibrary(const std::string& path) {
  const DynamicLibrary library = openLibrary(path);
  auto functions = std::make_unique<Library>();
  resolve(library, "mneme_compile", functions->compile);
  resolve(library, "mneme_compile_message", functions->message);
  resolve(library, "mneme_compile_output", functions->output);
  resolve(library, "mneme_compile_statistics", functions->statistics);
  resolve(library, "mneme_compile_destroy", functions->destroy);
  resolve(library, "mneme_compile_check_passes", functions->checkPasses);
  resolve(library, "mneme_compile_version", functions->version);
  resolve(library, "mneme_compile_convert_ir", functions->convertIr);
  resolve(library, "mneme_compile_pass_names", functions->passNames);
  resolve(library, "mneme_compile_free", functions->freeText);
  // The library is linked with -z nodelete: its functions outlive this handle.
  return *functions.release();
}

/// Opens the library at the first call that succeeds; pass plugins need another one.
const Library& theLibrary(bool isForPlugins = false) {
  static std::mutex mutex;
  static const Library* loaded[2] = {};
  const std::lock_guard lock(mutex);
  const Library*& library = loaded[isForPlugins ? 1 : 0];
  if (!library)
    library = &loadLibrary(isForPlugins ? pluginLibraryPath() : compileLibraryPath());
  return *library;
}

/// Owns a mneme_compile_result and turns a failure into an exception.
class RawResult {
public:
  explicit RawResult(const Library& library) : library_(library) {}
  RawResult(const RawResult&) = delete;
  RawResult& operator=(const RawResult&) = delete;
  ~RawResult() { library_.destroy(raw_); }

  mneme_compile_result** address() { return &raw_; }
  void throwIfFailed(int code) const {
    if (code != 0)
      throw Error(static_cast<ErrorCode>(code), library_.message(raw_));
  }
  std::string text(uint32_t which) const {
    const mneme_bytes bytes = library_.output(raw_, which);
    return std::string(static_cast<const char*>(bytes.data), bytes.size);
  }
  std::vector<std::byte> bytes(uint32_t which) const {
    const mneme_bytes bytes = library_.output(raw_, which);
    const auto* begin = static_cast<const std::byte*>(bytes.data);
    return std::vector<std::byte>(begin, begin + bytes.size);
  }
  std::string statistics() const { return library_.statistics(raw_); }

private:
  const Library& library_;
  mneme_compile_result* raw_ = nullptr;
};

/// Views of a Request in the form of the C ABI; valid while the Request is.
struct RawRequest {
  explicit RawRequest(const Request& request) {
    for (const auto& module : request.modules)
      modules.push_back({module.data(), module.size()});
    for (const ArgValue& argument : request.specializedArgs)
      arguments.push_back({argument.index,
                           argument.offset ? MNEME_CONSTANT_MEMBER : argument.content,
                           argument.offset.value_or(0),
                           {argument.bytes.data(), argument.bytes.size()}});
    for (const GlobalPlace& place : request.placedGlobals)
      places.push_back({place.name.c_str(), place.address});
    for (const LambdaValue& lambda : request.lambdaValues)
      lambdas.push_back({lambda.function.empty() ? nullptr : lambda.function.c_str(),
                         lambda.slot,
                         lambda.offset,
                         lambda.argument,
                         lambda.place,
                         {lambda.value.data(), lambda.value.size()}});
    for (const PassPlugin& plugin : request.plugins)
      plugins.push_back(plugin.path.c_str());
    raw.abi = MNEME_COMPILE_ABI;
    raw.outputs = (request.wantElements ? MNEME_OUTPUT_ELEMENTS : MNEME_OUTPUT_IMAGE) |
                  (request.wantIr ? MNEME_OUTPUT_IR : 0u) |
                  (request.wantAssembly ? MNEME_OUTPUT_ASSEMBLY : 0u) |
                  (request.wantTrace ? MNEME_OUTPUT_TRACE : 0u) |
                  (request.wantShape ? MNEME_OUTPUT_SHAPE : 0u) |
                  (request.wantReasons ? MNEME_OUTPUT_REASONS : 0u) |
                  (request.wantStages ? MNEME_OUTPUT_LINKED_IR | MNEME_OUTPUT_INPUT_IR : 0u);
    if (request.wantCheck)
      raw.outputs = MNEME_OUTPUT_CHECK;
    raw.timeTraceGrain = request.timeTraceGrain;
    raw.modules = modules.data();
    raw.moduleCount = modules.size();
    raw.kernel = request.kernel.c_str();
    raw.target = request.target.c_str();
    raw.passes = request.passes.c_str();
    codeNumbersOf(raw) = codeNumbersOf(request);
    memcpy(raw.grid, request.grid, sizeof raw.grid);
    memcpy(raw.block, request.block, sizeof raw.block);
    raw.specializedArgs = arguments.data();
    raw.specializedArgCount = arguments.size();
    raw.optionsJson = request.optionsJson.empty() ? nullptr : request.optionsJson.c_str();
    raw.placedGlobals = places.data();
    raw.placedGlobalCount = places.size();
    raw.symbol = request.symbol.c_str();
    raw.lambdaValues = lambdas.data();
    raw.lambdaValueCount = lambdas.size();
    raw.passPlugins = plugins.data();
    raw.passPluginCount = plugins.size();
#define MNEME_CODE_TEXT(member, key, deployed, option, metavar, between, label, text)              \
  raw.member = request.member.c_str();
#define MNEME_CODE_FILES(member, key, deployed, option, metavar, between, label, text)
#include "runtime/core/abi/knobs.def"
  }

  std::vector<mneme_bytes> modules;
  std::vector<mneme_arg_value> arguments;
  std::vector<mneme_global_place> places;
  std::vector<mneme_lambda_value> lambdas;
  std::vector<const char*> plugins;
  mneme_compile_request raw = {};
};

std::vector<std::byte> convert(const std::vector<std::byte>& ir, uint32_t wantText) {
  const Library& library = theLibrary();
  RawResult result(library);
  result.throwIfFailed(library.convertIr({ir.data(), ir.size()}, wantText, result.address()));
  return result.bytes(MNEME_OUTPUT_IR);
}

} // namespace

Result compile(const Request& request) {
  const Library& library = theLibrary(!request.plugins.empty());
  const RawRequest raw(request);
  RawResult compiled(library);
  compiled.throwIfFailed(library.compile(&raw.raw, compiled.address()));
  Result result;
  result.image = compiled.bytes(MNEME_OUTPUT_IMAGE);
  result.ir = compiled.text(MNEME_OUTPUT_IR);
  result.assembly = compiled.text(MNEME_OUTPUT_ASSEMBLY);
  result.trace = compiled.text(MNEME_OUTPUT_TRACE);
  result.printed = compiled.text(MNEME_OUTPUT_PRINTED);
  result.timeTrace = compiled.text(MNEME_OUTPUT_TIME_TRACE);
  result.linkedIr = compiled.text(MNEME_OUTPUT_LINKED_IR);
  result.specializedIr = compiled.text(MNEME_OUTPUT_INPUT_IR);
  result.statisticsJson = compiled.statistics();
  return result;
}

namespace {

Result storedOrCompiled(const Request& request) {
  const std::optional<std::filesystem::path> directory = cacheDirectory();
  const std::string identity = directory ? libraryIdentity(compileLibraryPath()) : std::string();
  if (identity.empty())
    return compile(request);
  const Hash128 key = cacheKey(request, identity);
  if (std::optional<Result> stored = loadCached(*directory, key))
    return std::move(*stored);
  Result result = compile(request);
  const std::string problem = storeCached(*directory, key, result, cacheBytesLimit());
  if (!problem.empty())
    log(LogLevel::Info, "a compiled kernel was not stored: " + problem);
  return result;
}

} // namespace

Result compileCached(const Request& request) {
  return apart([&] { return storedOrCompiled(request); });
}

void checkPasses(const std::string& passes) {
  const Library& library = theLibrary();
  char* message = nullptr;
  const int code = library.checkPasses(passes.c_str(), &message);
  const std::string text = message ? message : "";
  library.freeText(message);
  if (code != 0)
    throw Error(static_cast<ErrorCode>(code), text);
}

std::string versionJson() { return theLibrary().version(); }

std::string passNamesJson() {
  const Library& library = theLibrary();
  char* names = nullptr;
  const int code = library.passNames(&names);
  const std::string text = names ? names : "";
  library.freeText(names);
  if (code != 0)
    throw Error(static_cast<ErrorCode>(code), "the kernel compiler cannot list its passes");
  return text;
}

std::string irToText(const std::vector<std::byte>& ir) {
  const std::vector<std::byte> text = convert(ir, 1);
  return std::string(reinterpret_cast<const char*>(text.data()), text.size());
}

std::vector<std::byte> irToBitcode(const std::vector<std::byte>& ir) { return convert(ir, 0); }

} // namespace mneme::compile
