// How Python has IR, or the code of a recording, compiled.
#include "runtime/bindings/bindings.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <pybind11/stl/filesystem.h>
#include <span>
#include <string_view>

#include "runtime/compiler/service/client.h"
#include "runtime/compiler/service/configuration.h"
#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/library_identity.h"
#include "runtime/compiler/service/other_compiler.h"
#include "runtime/compiler/service/pass_plugin_files.h"
#include "runtime/compiler/service/service.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/pinned_file.h"
#include "runtime/replay/recorded_code.h"

namespace mneme::bindings {

namespace {

using Dims = std::array<uint32_t, 3>;

py::dict toDict(const compile::Result& result) {
  py::dict answer;
  answer["image"] = toBytes(result.image);
  answer["ir"] = toText(result.ir);
  answer["assembly"] = toText(result.assembly);
  answer["statistics"] = toText(result.statisticsJson);
  answer["is_from_cache"] = result.isFromCache;
  return answer;
}

/// `apartSeconds`: not 0: in a process of its own, which then ends, and nothing is stored.
compile::Result compileRequest(const compile::Request& request, bool useCache,
                               double apartSeconds = 0) {
  if (apartSeconds > 0) {
    compile::Result result =
        compile::compileApart(request, {.cacheDirectory = {}, .timeoutSeconds = apartSeconds});
    compile::showPrinted(result);
    return result;
  }
  return compile::compileForReplay(request, useCache);
}

py::dict compileIr(const std::vector<py::bytes>& modules, const std::string& kernel,
                   const std::string& target, const std::string& passes, uint32_t codegenOpt,
                   bool prune, bool internalize, bool setLaunchBounds, uint32_t maxThreads,
                   uint32_t minBlocksPerSm, bool specializeDims, const Dims& grid,
                   const Dims& block, const std::map<uint32_t, py::bytes>& specializedArgs,
                   const std::map<std::pair<uint32_t, uint32_t>, py::bytes>& specializedMembers,
                   const std::map<uint32_t, std::pair<int32_t, py::bytes>>& specializedContents,
                   const std::string& optionsJson,
                   const std::map<std::string, uint64_t>& placedGlobals,
                   const std::map<std::string, uint32_t>& codeNumbers,
                   const std::map<std::string, std::string>& codeTexts, bool wantIr,
                   bool wantAssembly, bool wantShape, bool useCache, double apartSeconds) {
  compile::Request request;
  for (const py::bytes& bytes : modules)
    request.modules.push_back(fromBytes(bytes));
  request.kernel = kernel;
  request.target = target;
  request.passes = passes;
  request.codegenOptLevel = codegenOpt;
  request.prune = prune;
  request.internalize = internalize;
  request.setLaunchBounds = setLaunchBounds;
  request.maxThreads = maxThreads;
  request.minBlocksPerSm = minBlocksPerSm;
  request.specializeDims = specializeDims;
  std::copy(grid.begin(), grid.end(), request.grid);
  std::copy(block.begin(), block.end(), request.block);
  for (const auto& [index, value] : specializedArgs)
    request.specializedArgs.push_back({index, fromBytes(value)});
  for (const auto& [path, value] : specializedMembers)
    request.specializedArgs.push_back(
        {.index = path.first, .bytes = fromBytes(value), .offset = path.second});
  for (const auto& [index, content] : specializedContents)
    request.specializedArgs.push_back(
        {.index = index, .bytes = fromBytes(content.second), .content = content.first});
  request.optionsJson = optionsJson;
  for (const auto& [name, address] : placedGlobals)
    request.placedGlobals.push_back({name, address});
  for (const auto& [key, value] : codeNumbers)
    compile::codeNumber(request, key) = value;
  for (const auto& [key, value] : codeTexts)
    compile::setCodeText(request, key, value);
  request.wantIr = wantIr;
  request.wantAssembly = wantAssembly;
  request.wantShape = wantShape;
  compile::Result result;
  {
    py::gil_scoped_release release;
    result = compileRequest(request, useCache, apartSeconds);
  }
  return toDict(result);
}

py::dict compileConfiguration(replay::RecordedCode& code, const std::string& configurationJson,
                              const CodePlace& place, const std::string& optionsJson,
                              const py::bytes& ir, const std::string& assemblerOptions,
                              uint32_t codeObjectVersion, bool wantReasons) {
  const replay::Configuration configuration = replay::configurationFromJson(configurationJson);
  replay::Options options = replay::optionsFromJson(optionsJson);
  options.ir = fromBytes(ir);
  compile::Result result;
  {
    py::gil_scoped_release release;
    compile::Request request = code.request(toCodeTarget(place), configuration, options);
    if (!assemblerOptions.empty())
      request.assemblerOptions = assemblerOptions;
    request.codeObjectVersion = codeObjectVersion;
    request.wantReasons = wantReasons;
    result = compileRequest(request, options.useCache);
  }
  return toDict(result);
}

std::string cacheDirectory() {
  const auto directory = compile::cacheDirectory();
  return directory ? directory->string() : std::string();
}

} // namespace

void bindCompile(py::module_& module) {
  using py::arg;
  module.def("processor_hash", [] { return toHex(hash64(compile::hostIdentity())); });
  module.def("compiler_version", &compile::versionJson, py::call_guard<py::gil_scoped_release>());
  module.def("llvm_passes", &compile::passNamesJson, py::call_guard<py::gil_scoped_release>());
  module.def(
      "check_passes",
      [](const std::string& passes, const std::string& plugins, const std::string& llvmOptions,
         const std::string& llvm) {
        if (plugins.empty() && llvmOptions.empty() && llvm.empty())
          compile::checkPasses(passes);
        else
          compile::checkPassesOf(compile::passPluginsIn(plugins), passes, llvmOptions, llvm);
      },
      arg("passes"), arg("pass_plugins") = "", arg("llvm_options") = "", arg("llvm") = "",
      py::call_guard<py::gil_scoped_release>());
  module.def(
      "ir_to_text", [](const py::bytes& ir) { return toText(compile::irToText(fromBytes(ir))); },
      arg("ir"));
  module.def(
      "ir_to_bitcode",
      [](const py::bytes& ir) { return toBytes(compile::irToBitcode(fromBytes(ir))); }, arg("ir"));
  module.def("pass_plugin", &compile::passPluginText, arg("path"));
  module.def("pinned_file", &pinnedText, arg("path"), arg("what"));
  module.def("other_compiler", &compile::compilerText, arg("path"));
  const Dims one = {1, 1, 1};
  module.def("cache_directory", &cacheDirectory);
  module.def(
      "content_hash",
      [](std::string_view content) {
        return toHex(hash128(std::as_bytes(std::span(content.data(), content.size()))));
      },
      arg("content"));
  py::class_<replay::RecordedCode>(module, "RecordedCode")
      .def_property_readonly("has_ir", &replay::RecordedCode::hasIr)
      .def(py::init<const std::filesystem::path&, const std::string&>(), arg("record"),
           arg("record_id") = "", py::call_guard<py::gil_scoped_release>())
      .def(
          "recorded_target",
          [](replay::RecordedCode& code, const std::string& name) {
            return toPlace(code.recordedTarget(name));
          },
          arg("name"))
      .def(
          "assembled",
          [](const replay::RecordedCode& code, const std::string& target,
             const std::string& configurationJson) {
            const auto configuration = replay::configurationFromJson(configurationJson);
            std::vector<std::byte> image;
            {
              py::gil_scoped_release release;
              image = code.assembled(target, configuration);
            }
            return toBytes(image);
          },
          arg("target"), arg("configuration_json"))
      .def(
          "described",
          [](const replay::RecordedCode& code, const std::string& target,
             const std::string& configurationJson, bool assembles) {
            const auto configuration = replay::configurationFromJson(configurationJson);
            compile::Result result;
            {
              py::gil_scoped_release release;
              result = code.described(target, configuration, assembles);
            }
            return toDict(result);
          },
          arg("target"), arg("configuration_json"), arg("assembles") = true)
      .def("compile", &compileConfiguration, arg("configuration_json"), arg("target"),
           arg("options_json") = "{}", arg("ir") = py::bytes(), py::kw_only(),
           arg("assembler_options") = "", arg("code_object_version") = 0,
           arg("want_reasons") = false);
  module.def("compile_ir", &compileIr, arg("modules"), arg("kernel"), py::kw_only(),
             arg("target") = "cpu", arg("passes") = "default<O3>", arg("codegen_opt") = 3,
             arg("prune") = true, arg("internalize") = true, arg("set_launch_bounds") = false,
             arg("max_threads") = 0, arg("min_blocks_per_sm") = 0, arg("specialize_dims") = false,
             arg("grid") = one, arg("block") = one,
             arg("specialized_args") = std::map<uint32_t, py::bytes>(),
             arg("specialized_members") = std::map<std::pair<uint32_t, uint32_t>, py::bytes>(),
             arg("specialized_contents") = std::map<uint32_t, std::pair<int32_t, py::bytes>>(),
             arg("options_json") = "", arg("placed_globals") = std::map<std::string, uint64_t>(),
             arg("code_numbers") = std::map<std::string, uint32_t>(),
             arg("code_texts") = std::map<std::string, std::string>(), arg("want_ir") = false,
             arg("want_assembly") = false, arg("want_shape") = false, arg("use_cache") = true,
             arg("apart_seconds") = 0.0);
}

} // namespace mneme::bindings
