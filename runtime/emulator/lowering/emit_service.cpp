// Calls of the device's services, special registers and functions of the math library (emit.h).
#include "runtime/emulator/lowering/emit.h"

#include "runtime/core/abi/cpu_image.h"
#include "runtime/core/base/error.h"

using namespace llvm;

namespace mneme::compile::cpu {

Value* Emit::context() {
  FunctionType* type = FunctionType::get(getPtrTy(), false);
  FunctionCallee callee = module_.getOrInsertFunction(kContextPlaceholder, type);
  auto* function = cast<Function>(callee.getCallee());
  function->setMemoryEffects(MemoryEffects::none());
  function->setDoesNotThrow();
  function->setWillReturn();
  return CreateCall(callee);
}

CallInst* Emit::service(size_t offset, Type* result, ArrayRef<Value*> operands) {
  auto* call = cast<CallInst>(intrinsic(kServicePrefix + std::to_string(offset), result, operands));
  call->getCalledFunction()->setDoesNotThrow();
  return call;
}

Value* Emit::contextField(Value* context, size_t offset, Type* type) {
  return CreateLoad(type, CreateConstInBoundsGEP1_64(getInt8Ty(), context, offset));
}

Value* Emit::launchField(Value* context, size_t offset, Type* type) {
  Value* launch = contextField(context, offsetof(mneme_cpu_context, launch), getPtrTy());
  return CreateLoad(type, CreateConstInBoundsGEP1_64(getInt8Ty(), launch, offset));
}

Value* Emit::specialRegister(StringRef name) {
  bool isWide = name == "clock64" || name == "globaltimer" || name == "gridid";
  auto* call = cast<CallInst>(
      intrinsic(kRegisterPrefix + name.str(), isWide ? getInt64Ty() : getInt32Ty(), {}));
  Function* read = call->getCalledFunction();
  read->setDoesNotThrow();
  read->setWillReturn();
  if (!name.starts_with("clock") && !name.starts_with("globaltimer"))
    read->setMemoryEffects(MemoryEffects::none());
  return call;
}

Value* Emit::intrinsic(StringRef name, Type* result, ArrayRef<Value*> operands) {
  SmallVector<Type*> types;
  for (Value* operand : operands)
    types.push_back(operand->getType());
  return CreateCall(module_.getOrInsertFunction(name, FunctionType::get(result, types, false)),
                    operands);
}

Value* Emit::libm(StringRef name, Type* result, ArrayRef<Value*> operands) {
  auto* call = cast<CallInst>(intrinsic(name, result, operands));
  bool touchesMemory = any_of(operands, [](Value* v) { return v->getType()->isPointerTy(); });
  auto* function = cast<Function>(call->getCalledFunction());
  function->addFnAttr("mneme-host");
  function->setDoesNotThrow();
  function->setWillReturn();
  function->setDoesNotFreeMemory();
  // errno is not part of device code, so these are pure except for their explicit outputs.
  function->setMemoryEffects(touchesMemory ? MemoryEffects::argMemOnly(ModRefInfo::Mod)
                                           : MemoryEffects::none());
  // Rewrites like pow(x, 2) -> x * x would make results depend on the pipeline.
  call->addFnAttr(Attribute::NoBuiltin);
  return call;
}

void replaceCall(CallInst& call, Value* value) {
  if (!call.getType()->isVoidTy()) {
    if (value->getType() != call.getType())
      throw Error(ErrorCode::Internal, "the translation of '" +
                                           call.getCalledOperand()->getName().str() +
                                           "' has the wrong type");
    if (!isa<Constant>(value))
      value->takeName(&call);
    call.replaceAllUsesWith(value);
  }
  call.eraseFromParent();
}

void throwUnsupported(const Twine& what, const Function& where) {
  throw Error(
      ErrorCode::Unsupported,
      ("the CPU device cannot execute " + what + " (in function '" + where.getName() + "')").str());
}

} // namespace mneme::compile::cpu
