// What modules of any text have in common (proteus/Frontend/TextModule.h).
#include "include/proteus/Frontend/TextModule.h"

#include "include/proteus/Error.h"

namespace proteus {
namespace detail {

TextModule::TextModule(TargetModelType target, std::string code, const std::string& kind,
                       bool isOurCode, const char* file, unsigned line)
    : Target(target), Code(std::move(code)), File(file), Line(line),
      Dispatch(&Dispatcher::getDispatcher(target)), Hash(Dispatch->hashOf(Code, kind, isOurCode)),
      Mutex(std::make_shared<std::recursive_mutex>()) {}

void TextModule::fail(const std::string& reason) const { throw FatalError(reason, File, Line); }

void TextModule::compile(bool) {
  const std::lock_guard lock(*Mutex);
  if (!Library)
    Library = compileCode();
}

void* TextModule::getFunctionAddress(const std::string& name, const char* file, unsigned line) {
  if (isGPUTargetModel(Target))
    throw FatalError("Error: getFunction() applies only to host modules", file, line);
  return Dispatch->getFunctionAddress(name, Hash, getLibrary(), file, line);
}

void* TextModule::getKernelAddress(const std::string& name, const char* file, unsigned line) {
  if (!isGPUTargetModel(Target))
    throw FatalError("Error: getKernel() applies only to device modules", file, line);
  return Dispatch->getFunctionAddress(name, Hash, getLibrary(), file, line);
}

void TextModule::setFuncAttribute(void* kernel, JitFuncAttribute attribute, int value,
                                  const char* file, unsigned line) {
  if (!isGPUTargetModel(Target))
    throw FatalError("Host launchers do not support direct function attributes", file, line);
  Dispatch->setFuncAttribute(kernel, attribute, value, file, line);
}

CompiledLibrary& TextModule::getLibrary() {
  compile();
  return *Library;
}

} // namespace detail
} // namespace proteus
