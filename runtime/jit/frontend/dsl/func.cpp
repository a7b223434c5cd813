// A function of PJ-DSL, as a program writes it (proteus/JitFrontend.h).
#include "include/proteus/JitFrontend.h"

namespace proteus {

FuncBase::FuncBase(JitModule& Module, IRFunction Function)
    : Module(Module), Builder(Module.makeBuilder(std::move(Function))) {}

FuncBase::~FuncBase() = default;

const std::string& FuncBase::getName() const { return Builder->getFunction().Name; }

void FuncBase::setName(const std::string& Name) { Module.rename(*this, Name); }

bool FuncBase::isKernel() const { return Builder->getFunction().IsKernel; }

void FuncBase::at(const char* File, unsigned Line) {
  if (!File)
    return;
  Builder->setLocation(File, Line);
  if (Module.isCompiled())
    Builder->fail("The module is compiled, no further code can be added");
}

void FuncBase::beginFunction(const char* File, unsigned Line) {
  at(File, Line);
  Builder->beginFunction();
}

void FuncBase::endFunction(const char* File, unsigned Line) {
  at(File, Line);
  Builder->endFunction();
}

void FuncBase::ret(const char* File, unsigned Line) {
  at(File, Line);
  Builder->createRet();
}

void FuncBase::beginIf(const Var<bool>& Condition, const char* File, unsigned Line) {
  at(File, Line);
  Builder->beginIf(detail::own(*Builder, Condition).loadValue());
}

void FuncBase::endIf(const char* File, unsigned Line) {
  at(File, Line);
  Builder->endIf();
}

void FuncBase::endFor(const char* File, unsigned Line, int Unroll) {
  at(File, Line);
  Builder->endFor(Unroll);
}

void FuncBase::endWhile(const char* File, unsigned Line) {
  at(File, Line);
  Builder->endWhile();
}

void* FuncBase::getAddress() {
  void* known = Compiled;
  return known ? known : Module.getFunctionAddress(*this);
}

void* FuncBase::findCallee() {
  if (Module.isDeviceModule())
    Builder->fail("Functions of a GPU module cannot be called from the host: " + getName());
  return Callee = getAddress();
}

} // namespace proteus
