// Modules of C++, CUDA or HIP text, and instances of their templates (proteus/CppJitModule.h).
#include "include/proteus/CppJitModule.h"

#include <mutex>

#include "include/proteus/Error.h"
#include "runtime/core/base/error.h"
#include "runtime/jit/frontend/compiled_library.h"
#include "runtime/jit/frontend/cpp_compilers.h"
#include "runtime/jit/frontend/dispatcher_state.h"

namespace proteus {
namespace {

constexpr const char* kInstance = "mneme_instance";

bool isForCuda(TargetModelType target) {
  return target == TargetModelType::CUDA || target == TargetModelType::HOST_CUDA;
}

/// What the module with the code of an instance is for: the host, too, which launches it.
TargetModelType targetOf(TargetModelType module, bool isForGpu) {
  if (!isForGpu)
    return module;
  return isForCuda(module) ? TargetModelType::HOST_CUDA : TargetModelType::HOST_HIP;
}

/// "foo<3, int>".
std::string joined(const std::string& name, const std::vector<std::string>& words) {
  std::string text = name + "<";
  for (size_t index = 0; index < words.size(); ++index)
    text += (index ? ", " : "") + words[index];
  // Two closing brackets are one word before C++11 only.
  return text + ">";
}

/// ", int a0, float* a1" and "a0, a1".
std::pair<std::string, std::string> parameters(const std::vector<std::string>& types) {
  std::string declared, given;
  for (size_t index = 0; index < types.size(); ++index) {
    const std::string name = "a" + std::to_string(index);
    declared += ", mneme_type<" + types[index] + "> " + name;
    given += (index ? ", " : "") + name;
  }
  return {declared, given};
}

// A type's name can stand before a parameter's only as the argument of a template: int (*)(int).
constexpr const char* kTypes = "\ntemplate <typename T> using mneme_type = T;\n";

/// What launches in `code` need before it: clang includes CUDA's header by itself, but not HIP's,
/// and kernels need it where they are defined. Its place may matter to code that includes it.
std::string headerBefore(const std::string& code, bool isCuda) {
  return isCuda || code.find("hip/hip_runtime.h") != std::string::npos
             ? ""
             : "#include <hip/hip_runtime.h>\n#line 1 \"CppJitModule\"\n";
}

/// What `kind` is of what is stored, if the compiler can compile for the target.
std::string keyOf(TargetModelType target, const std::vector<std::string>& extra,
                  CppJitCompilerBackend backend, const char* file, unsigned line) {
  const bool isNvcc = backend == CppJitCompilerBackend::Nvcc;
  if (isNvcc && !isForCuda(target))
    throw FatalError("nvcc compiles for the targets cuda and host_cuda, not for '" +
                         getTargetModelName(target) + "'",
                     file, line);
  std::string kind = isNvcc ? "C++ nvcc" : "C++ clang";
  for (const std::string& word : extra)
    kind += '\n' + word;
  return kind;
}

} // namespace

struct detail::CppTemplates {
  [[noreturn]] void fail(const std::string& reason) const { throw FatalError(reason, file, line); }

  TargetModelType target;
  std::string code;
  std::vector<std::string> extra;
  CppJitCompilerBackend backend;
  const char* file;
  unsigned line;
  std::recursive_mutex mutex; ///< of what follows; code may use its own module while it is loaded
  std::map<std::string, std::unique_ptr<CppJitInstance>> instances;
};

CppJitModule::CppJitModule(TargetModelType target, std::string code, std::vector<std::string> extra,
                           CppJitCompilerBackend backend, const char* file, unsigned line)
    : TextModule(target, std::move(code), keyOf(target, extra, backend, file, line),
                 backend != CppJitCompilerBackend::Nvcc, file, line),
      ExtraArgs(std::move(extra)), Backend(backend) {
  Templates.reset(new detail::CppTemplates{Target, Code, ExtraArgs, Backend, File, Line, {}, {}});
}

std::shared_ptr<CompiledLibrary> CppJitModule::compileCode() {
  try {
    return Dispatch->state().compileSource(Code, Hash, ExtraArgs, Backend);
  } catch (const mneme::Error& error) {
    fail(error.what());
  }
}

CppJitInstance& CppJitModule::instance(const std::string& name,
                                       const std::vector<std::string>& words) {
  const std::string expression = joined(name, words);
  const std::lock_guard lock(Templates->mutex);
  std::unique_ptr<CppJitInstance>& known = Templates->instances[expression];
  if (!known)
    known = std::make_unique<CppJitInstance>(*Templates, expression);
  return *known;
}

/// The address of the version for these types, null if there is none. Launches that are counted
/// come here every time; else this version is the last then.
void* CppJitInstance::recall(const void* tag, bool isForGpu) {
  const auto found = Present.find(tag);
  if (found == Present.end())
    return nullptr;
  Dispatcher::State& state = Dispatcher::getDispatcher(targetOf(Source->target, isForGpu)).state();
  if (isForGpu && state.settings.trace.kernels)
    state.countLaunch(found->second->Address);
  else
    Last.store(found->second, std::memory_order_release);
  return found->second->Address;
}

void* CppJitInstance::compile(const void* tag, const std::string& wrapper, bool isForGpu) {
  const std::string header =
      isForGpu ? headerBefore(Source->code, isForCuda(Source->target)) : std::string();
  CppJitModule part(targetOf(Source->target, isForGpu), header + Source->code + kTypes + wrapper,
                    Source->extra, Source->backend, Source->file, Source->line);
  // It stays when `part` goes.
  CompiledLibrary& library = part.getLibrary();
  void* const address = part.Dispatch->state().find(kInstance, part.Hash, library,
                                                    {Expression, isForGpu ? Expression : ""});
  Present[tag] = &Versions.emplace_back(Version{tag, address});
  return recall(tag, isForGpu);
}

void* CppJitInstance::function(const void* tag, const std::string& result,
                               const std::vector<std::string>& types) {
  const std::lock_guard lock(Source->mutex);
  if (void* const present = recall(tag, /*isForGpu=*/false))
    return present;
  if (Source->target != TargetModelType::HOST)
    Source->fail("run() applies only to instances in host modules; launch() those for a GPU");
  auto [declared, given] = parameters(types);
  declared = declared.empty() ? "" : declared.substr(2);
  // Results of any type are passed by the compiler that the caller's agrees with.
  return compile(tag,
                 "#pragma clang diagnostic ignored \"-Wreturn-type-c-linkage\"\n"
                 "extern \"C\" mneme_type<" +
                     result + "> " + kInstance + "(" + declared + ") {\n  return " + Expression +
                     "(" + given + ");\n}\n",
                 /*isForGpu=*/false);
}

void* CppJitInstance::launcher(const void* tag, const std::vector<std::string>& types) {
  const std::lock_guard lock(Source->mutex);
  if (void* const present = recall(tag, /*isForGpu=*/true))
    return present;
  if (Source->target == TargetModelType::HOST)
    Source->fail(
        "launch() applies only to instances in modules for a GPU; run() those of the host");
  const std::string vendor = isForCuda(Source->target) ? "cuda" : "hip";
  const auto [declared, given] = parameters(types);
  std::string body;
  // An error that is returned is not the next launch's.
  for (const auto& [attribute, value] : Attributes)
    body += "  if (int status = (int)" + vendor + "FuncSetAttribute((const void*)&" + Expression +
            ", (" + vendor + "FuncAttribute)" + std::to_string(attribute) + ", " +
            std::to_string(value) + ")) {\n    (void)" + vendor +
            "GetLastError();\n    return status;\n  }\n";
  const std::string include = vendor == "cuda" ? "#include <cuda_runtime.h>\n" : "";
  return compile(tag,
                 include + "extern \"C\" int " + kInstance +
                     "(const unsigned* grid, const unsigned* block, unsigned long bytes, void* "
                     "stream" +
                     declared + ") {\n" + body + "  " + Expression +
                     "<<<dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]), "
                     "bytes, (" +
                     vendor + "Stream_t)stream>>>(" + given + ");\n  return (int)" + vendor +
                     "GetLastError();\n}\n",
                 /*isForGpu=*/true);
}

void CppJitInstance::setFuncAttribute(JitFuncAttribute attribute, int value, const char* file,
                                      unsigned line) {
  if (Source->target == TargetModelType::HOST)
    throw FatalError("Host launchers do not support direct function attributes", file, line);
  if (value < 0)
    throw FatalError("Function attribute value must be non-negative", file, line);
  const std::lock_guard lock(Source->mutex);
  int& known = Attributes.try_emplace(static_cast<int>(attribute), -1).first->second;
  if (known == value)
    return;
  known = value;
  Present.clear(); // they have the attribute in them
  Last.store(nullptr, std::memory_order_release);
}

} // namespace proteus
