#include "include/proteus/CppJitModule.h"

#include "include/proteus/Error.h"
#include "runtime/base/error.h"
#include "runtime/frontend/compiled_library.h"
#include "runtime/frontend/cpp_compilers.h"
#include "runtime/frontend/dispatcher_state.h"

namespace proteus {
namespace {

constexpr const char* kInstance = "mneme_instance";

bool hasHostCode(TargetModelType target) { return !isGPUTargetModel(target); }

bool isForCuda(TargetModelType target) {
  return target == TargetModelType::CUDA || target == TargetModelType::HOST_CUDA;
}

/// Of the module with the code of an instance: host code too, which launches it.
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

} // namespace

CppJitModule::CppJitModule(TargetModelType target, std::string code, std::vector<std::string> extra,
                           CppJitCompilerBackend backend, const char* file, unsigned line)
    : Target(target), Code(std::move(code)), ExtraArgs(std::move(extra)), Backend(backend),
      File(file), Line(line), Dispatch(nullptr), Hash(0),
      Mutex(std::make_unique<std::recursive_mutex>()) {
  if (backend == CppJitCompilerBackend::Nvcc && !isForCuda(target))
    fail("nvcc compiles for the targets cuda and host_cuda, not for '" +
         getTargetModelName(target) + "'");
  Dispatch = &Dispatcher::getDispatcher(target);
  const bool isNvcc = backend == CppJitCompilerBackend::Nvcc;
  std::string kind = isNvcc ? "C++ nvcc" : "C++ clang";
  for (const std::string& word : ExtraArgs)
    kind += '\n' + word;
  Hash = Dispatch->hashOf(Code, kind, !isNvcc);
}

void CppJitModule::fail(const std::string& reason) const { throw FatalError(reason, File, Line); }

void CppJitModule::compile() {
  const std::lock_guard lock(*Mutex);
  if (Library)
    return;
  try {
    Library = Dispatch->state().compileSource(Code, Hash, ExtraArgs, Backend);
  } catch (const mneme::Error& error) {
    fail(error.what());
  }
}

void* CppJitModule::getFunctionAddress(const std::string& name, const char* file, unsigned line) {
  if (!hasHostCode(Target))
    throw FatalError("Error: getFunction() applies only to host modules", file, line);
  compile();
  return Dispatch->getFunctionAddress(name, Hash, *Library, file, line);
}

void* CppJitModule::getKernelAddress(const std::string& name, const char* file, unsigned line) {
  if (!isGPUTargetModel(Target))
    throw FatalError("Error: getKernel() applies only to device modules", file, line);
  compile();
  return Dispatch->getFunctionAddress(name, Hash, *Library, file, line);
}

void CppJitModule::setFuncAttribute(void* kernel, JitFuncAttribute attribute, int value,
                                    const char* file, unsigned line) {
  if (hasHostCode(Target))
    throw FatalError("Host launchers do not support direct function attributes", file, line);
  Dispatch->setFuncAttribute(kernel, attribute, value, file, line);
}

CompiledLibrary& CppJitModule::getLibrary() {
  compile();
  return *Library;
}

CppJitInstance& CppJitModule::instance(const std::string& name,
                                       const std::vector<std::string>& words) {
  const std::string expression = joined(name, words);
  const std::lock_guard lock(*Mutex);
  std::unique_ptr<CppJitInstance>& known = Instances[expression];
  if (!known)
    known = std::make_unique<CppJitInstance>(*this, expression);
  return *known;
}

/// The address of the version for these types, null if there is none. Launches that are counted
/// come here every time; else this version is the last then.
void* CppJitInstance::recall(const void* tag, bool isForGpu) {
  const auto found = Present.find(tag);
  if (found == Present.end())
    return nullptr;
  Dispatcher::State& state = Dispatcher::getDispatcher(targetOf(Module->Target, isForGpu)).state();
  if (isForGpu && state.settings.trace.kernels)
    state.countLaunch(found->second->Address);
  else
    Last.store(found->second, std::memory_order_release);
  return found->second->Address;
}

void* CppJitInstance::compile(const void* tag, const std::string& wrapper, bool isForGpu) {
  const std::string header =
      isForGpu ? headerBefore(Module->Code, isForCuda(Module->Target)) : std::string();
  auto part = std::make_unique<CppJitModule>(
      targetOf(Module->Target, isForGpu), header + Module->Code + kTypes + wrapper,
      Module->ExtraArgs, Module->Backend, Module->File, Module->Line);
  part->compile();
  void* const address = part->Dispatch->state().find(kInstance, part->Hash, *part->Library,
                                                     {Expression, isForGpu ? Expression : ""});
  Module->Parts.push_back(std::move(part));
  Present[tag] = &Versions.emplace_back(Version{tag, address});
  return recall(tag, isForGpu);
}

void* CppJitInstance::function(const void* tag, const std::string& result,
                               const std::vector<std::string>& types) {
  const std::lock_guard lock(*Module->Mutex);
  if (void* const present = recall(tag, /*isForGpu=*/false))
    return present;
  if (Module->Target != TargetModelType::HOST)
    Module->fail("run() applies only to instances in host modules; launch() those for a GPU");
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
  const std::lock_guard lock(*Module->Mutex);
  if (void* const present = recall(tag, /*isForGpu=*/true))
    return present;
  if (Module->Target == TargetModelType::HOST)
    Module->fail(
        "launch() applies only to instances in modules for a GPU; run() those of the host");
  const std::string vendor = isForCuda(Module->Target) ? "cuda" : "hip";
  const auto [declared, given] = parameters(types);
  std::string body;
  for (const auto& [attribute, value] : Attributes)
    body += "  if (int status = (int)" + vendor + "FuncSetAttribute((const void*)&" + Expression +
            ", (" + vendor + "FuncAttribute)" + std::to_string(attribute) + ", " +
            std::to_string(value) + "))\n    return status;\n";
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
  if (Module->Target == TargetModelType::HOST)
    throw FatalError("Host launchers do not support direct function attributes", file, line);
  if (value < 0)
    throw FatalError("Function attribute value must be non-negative", file, line);
  const std::lock_guard lock(*Module->Mutex);
  int& known = Attributes.try_emplace(static_cast<int>(attribute), -1).first->second;
  if (known == value)
    return;
  known = value;
  Present.clear(); // they have the attribute in them
  Last.store(nullptr, std::memory_order_release);
}

} // namespace proteus
