// What differs between targets: calls, mathematics, what a thread of a GPU can ask for.
#include "runtime/jit/frontend/dsl/builder_rules.h"
#include "runtime/jit/frontend/dsl/llvm_builder_state.h"
#include "runtime/jit/frontend/dsl/llvm_module.h"
#include "runtime/jit/frontend/dsl/llvm_words.h"

#include "include/proteus/Frontend/LLVMTypeMap.h"

namespace proteus {
namespace {

constexpr IRType kInt16{IRTypeKind::Int16, false, IRTypeKind::Void, 0, {}};
constexpr IRType kInt32{IRTypeKind::Int32, false, IRTypeKind::Void, 0, {}};
constexpr IRType kInt64{IRTypeKind::Int64, false, IRTypeKind::Void, 0, {}};
constexpr IRType kFloat{IRTypeKind::Float, false, IRTypeKind::Void, 0, {}};
constexpr IRType kConstantPointer{IRTypeKind::Pointer, false, IRTypeKind::Int8, 0,
                                  AddressSpace::CONSTANT};

struct MathName {
  const char* intrinsic;
  const char* cuda; ///< of libdevice; nullptr: the intrinsic is machine code there
  const char* hip;  ///< of the device library; nullptr as above
};

constexpr MathName kMath[] = {
    {"llvm.pow.f32", "__nv_powf", "__ocml_pow_f32"},
    {"llvm.sqrt.f32", nullptr, nullptr},
    {"llvm.exp.f32", "__nv_expf", nullptr},
    {"llvm.sin.f32", "__nv_sinf", "__ocml_sin_f32"},
    {"llvm.cos.f32", "__nv_cosf", "__ocml_cos_f32"},
    {"llvm.fabs.f32", nullptr, nullptr},
    {"llvm.trunc.f32", nullptr, nullptr},
    {"llvm.log.f32", "__nv_logf", nullptr},
};

} // namespace

IRValue* LLVMCodeBuilder::createCall(const std::string& Name, IRType Result,
                                     const std::vector<IRValue*>& Args) {
  PendingCall call{Name, Result, {}, File, Line};
  std::string text =
      "call " + extension(Result) + toLLVMType(Result) + " @" + kCallee + Name + kCallee + "(";
  for (IRValue* argument : Args) {
    const IRType& type = argument->Type;
    text += (call.arguments.empty() ? "" : ", ") + toLLVMType(type) + " " + extension(type) +
            argument->Name;
    call.arguments.push_back(type);
  }
  Data->module.call(std::move(call));
  if (!Result.isVoid())
    return assign(Result, "call", text + ")");
  emit(text + ")");
  return nullptr;
}

IRValue* LLVMCodeBuilder::intrinsic(const std::string& Name, IRType Result,
                                    const std::vector<IRValue*>& Args, const char* Attributes) {
  std::string types;
  std::string operands;
  for (IRValue* argument : Args) {
    const char* comma = types.empty() ? "" : ", ";
    types += comma + toLLVMType(argument->Type);
    operands += comma + operand(*argument);
  }
  const std::string result = toLLVMType(Result);
  Data->module.declare(Name, "declare " + result + " @" + Name + "(" + types + ")" + Attributes);
  const std::string flag = Result.isFloatingPoint() ? "contract " : "";
  const std::string call = "call " + flag + result + " @" + Name + "(" + operands + ")";
  if (!Result.isVoid())
    return assign(Result, "call", call);
  emit(call);
  return nullptr;
}

IRValue* LLVMCodeBuilder::createMath(MathOp Op, const std::vector<IRValue*>& Args) {
  const MathName& name = kMath[static_cast<unsigned>(Op)];
  const char* library = Data->module.isCuda()  ? name.cuda
                        : Data->module.isHip() ? name.hip
                                               : nullptr;
  return intrinsic(library ? library : name.intrinsic, kFloat, Args);
}

IRValue* LLVMCodeBuilder::createAtomic(AtomicOp Op, IRValue* Address, IRValue* Value) {
  const IRType& type = Value->Type;
  return assign(type, "atomic",
                std::string("atomicrmw ") + atomicWord(*this, Op, type) + " " + operand(*Address) +
                    ", " + operand(*Value) + " seq_cst, align " +
                    std::to_string(alignmentOf(type)));
}

IRValue* LLVMCodeBuilder::createGpuIndex(GpuIndex What, unsigned Dimension) {
  static const char* const kCuda[] = {"tid", "ctaid", "ntid", "nctaid"};
  const auto index = static_cast<unsigned>(What);
  const char dimension = "xyz"[Dimension];
  if (Data->module.isCuda())
    return intrinsic(std::string("llvm.nvvm.read.ptx.sreg.") + kCuda[index] + "." + dimension,
                     kInt32, {});
  Data->module.requireGpu(*this);
  if (What == GpuIndex::ThreadId || What == GpuIndex::BlockId)
    return intrinsic(std::string("llvm.amdgcn.work") +
                         (What == GpuIndex::ThreadId ? "item" : "group") + ".id." + dimension,
                     kInt32, {});
  return hiddenArgument(What, Dimension);
}

IRValue* LLVMCodeBuilder::hiddenArgument(GpuIndex What, unsigned Dimension) {
  // What follows the arguments of a kernel (code object version 5): three block counts of 32 bits,
  // then three block sizes of 16 bits.
  const bool isGrid = What == GpuIndex::GridDim;
  const uint64_t offset = isGrid ? 4 * Dimension : 12 + 2 * Dimension;
  const IRType type = isGrid ? kInt32 : kInt16;
  IRValue* base = intrinsic("llvm.amdgcn.implicitarg.ptr", kConstantPointer, {});
  IRValue* place = assign(kConstantPointer, "hidden",
                          "getelementptr inbounds i8, " + operand(*base) + ", " +
                              operand(*getConstantInt(kInt64, offset)));
  return createCast(createLoad(type, place), kInt32);
}

void LLVMCodeBuilder::createSyncThreads() {
  if (Data->module.isCuda()) {
    intrinsic("llvm.nvvm.barrier0", {}, {}, " convergent");
    return;
  }
  Data->module.requireGpu(*this);
  emit("fence syncscope(\"workgroup\") release");
  intrinsic("llvm.amdgcn.s.barrier", {}, {}, " convergent");
  emit("fence syncscope(\"workgroup\") acquire");
}

} // namespace proteus
