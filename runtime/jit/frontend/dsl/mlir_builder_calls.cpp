// Calls, mathematics, what a thread of a GPU can ask for.
#include "runtime/jit/frontend/dsl/builder_rules.h"
#include "runtime/jit/frontend/dsl/mlir_builder_state.h"
#include "runtime/jit/frontend/dsl/mlir_module.h"
#include "runtime/jit/frontend/dsl/mlir_words.h"

#include "runtime/jit/frontend/dsl/llvm_words.h"

namespace proteus {
namespace {

constexpr IRType kInt32{IRTypeKind::Int32, false, IRTypeKind::Void, 0, {}};

} // namespace

IRValue* MLIRCodeBuilder::createCall(const std::string& Name, IRType Result,
                                     const std::vector<IRValue*>& Args) {
  PendingCall call{Name, Result, {}, File, Line};
  std::string operands;
  std::string types;
  for (IRValue* argument : Args) {
    // A variable that is given by its address.
    IRValue* given = argument->Type.isPointer() ? createGenericAddress(argument) : argument;
    const char* comma = operands.empty() ? "" : ", ";
    operands += comma + given->Name;
    types += comma + mlirType(given->Type);
    call.arguments.push_back(given->Type);
  }
  Data->module.call(std::move(call));
  const std::string text = std::string("func.call @") + kCallee + Name + kCallee + "(" + operands +
                           ") : (" + types + ") -> ";
  if (!Result.isVoid())
    return assign(Result, "call", text + mlirType(Result));
  emit(text + "()");
  return nullptr;
}

IRValue* MLIRCodeBuilder::createMath(MathOp Op, const std::vector<IRValue*>& Args) {
  static const char* const kNames[] = {"powf", "sqrt", "exp", "sin", "cos", "absf", "trunc", "log"};
  std::string operands;
  for (IRValue* argument : Args)
    operands += (operands.empty() ? " " : ", ") + argument->Name;
  const IRType type = Args.front()->Type;
  return assign(type, "math",
                std::string("math.") + kNames[static_cast<unsigned>(Op)] + operands +
                    " fastmath<contract> : " + mlirType(type));
}

IRValue* MLIRCodeBuilder::createAtomic(AtomicOp Op, IRValue* Address, IRValue* Value) {
  const IRType& type = Value->Type;
  IRValue* place = createGenericAddress(Address);
  return assign(type, "atomic",
                std::string("llvm.atomicrmw ") + atomicWord(*this, Op, type) + " " + place->Name +
                    ", " + Value->Name + " seq_cst {alignment = " +
                    std::to_string(alignmentOf(type)) + " : i64} : !llvm.ptr, " + mlirType(type));
}

IRValue* MLIRCodeBuilder::createGpuIndex(GpuIndex What, unsigned Dimension) {
  static const char* const kNames[] = {"thread_id", "block_id", "block_dim", "grid_dim"};
  Data->module.requireGpu(*this);
  IRValue* index =
      assign(kInt32, "index",
             std::string("gpu.") + kNames[static_cast<unsigned>(What)] + " " + "xyz"[Dimension]);
  return assign(kInt32, "index", "arith.index_cast " + index->Name + " : index to i32");
}

void MLIRCodeBuilder::createSyncThreads() {
  Data->module.requireGpu(*this);
  emit("gpu.barrier");
}

} // namespace proteus
