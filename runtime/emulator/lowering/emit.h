// Room emulator/lowering: the operations that device code is translated to, shared by the tables of
// intrinsics and of PTX. Internal to this folder.
#pragma once

#include <string>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace mneme::compile::cpu {

/// PTX rounding: rn, rz, rm, rp.
enum class Rounding { Nearest, Zero, Down, Up };
/// The rounding of conversions to TF32: ties away from zero, ties to even, or towards zero.
enum class Tf32Rounding { NearestAway, NearestEven, Zero };

/// Placeholder functions for the logical thread's context until the kernel has its final form.
inline constexpr const char* kContextPlaceholder = "mneme.context";
/// Prefix of a special register's name. NVVM's own functions are unsuitable, because they promise a
/// GPU's ranges.
inline constexpr const char* kRegisterPrefix = "mneme.register.";
/// Prefix of an offset in mneme_cpu_services; denotes a function of the runtime.
inline constexpr const char* kServicePrefix = "mneme.service.";
/// Metadata of loads that do not see stale values of a multiprocessor's own cache (__ldcg).
inline constexpr const char* kPastCacheMetadata = "mneme.past_cache";
/// Metadata of reads and writes that must not be separated by another thread, for objects that
/// threads wait on.
inline constexpr const char* kIndivisibleMetadata = "mneme.indivisible";
inline constexpr const char* kServicesGlobal = "mneme.services";

/// Emits host IR before one instruction of a module.
class Emit : public llvm::IRBuilder<> {
public:
  explicit Emit(llvm::Instruction& position)
      : llvm::IRBuilder<>(&position), module_(*position.getModule()) {}

  llvm::Module& module() { return module_; }

  // Types.
  llvm::IntegerType* i(unsigned bits) { return getIntNTy(bits); }
  llvm::Type* f32() { return getFloatTy(); }
  llvm::Type* f64() { return getDoubleTy(); }

  // Floating-point arithmetic (emit_float.cpp). Operands of half and bfloat (scalar or vector) are
  // computed precisely enough that the result is rounded once.
  /// Replaces denormals by zeros of the same sign.
  llvm::Value* flush(llvm::Value* value);
  /// Clamps to [0, 1]; NaN gives +0.
  llvm::Value* saturate(llvm::Value* value);
  /// Emits fadd, fsub, fmul, fdiv, fma or sqrt by IR name with the given rounding.
  llvm::Value* arithmetic(llvm::StringRef operation, llvm::ArrayRef<llvm::Value*> operands,
                          Rounding rounding = Rounding::Nearest);
  /// PTX min and max: a NaN operand loses (`nan` false) or wins; -0 < +0.
  llvm::Value* minMax(bool isMax, llvm::Value* a, llvm::Value* b, bool nan = false);

  // Conversions (emit_convert.cpp).
  /// PTX cvt to an integer: rounds, then saturates. NaN gives what PTX says for the pair of types.
  llvm::Value* toInteger(llvm::Value* value, llvm::Type* type, bool isSigned, Rounding rounding);
  llvm::Value* fromInteger(llvm::Value* value, llvm::Type* type, bool isSigned, Rounding rounding);
  /// Between floating-point types of any width, scalar or vector.
  llvm::Value* toFloat(llvm::Value* value, llvm::Type* type, Rounding rounding = Rounding::Nearest);
  llvm::Value* roundToIntegral(llvm::Value* value, Rounding rounding);
  /// A float with the 10 bits of mantissa of TF32. `isFinite`: too large becomes the largest.
  llvm::Value* toTf32(llvm::Value* value, Tf32Rounding rounding, bool isFinite);

  // Integer helpers (emit_integer.cpp).
  llvm::Value* multiplyHigh(llvm::Value* a, llvm::Value* b, bool isSigned);
  llvm::Value* bytePermute(llvm::Value* a, llvm::Value* b, llvm::Value* selector);
  llvm::Value* funnelShift(bool isLeft, bool isClamped, llvm::Value* low, llvm::Value* high,
                           llvm::Value* amount);
  /// Position of the most significant bit that is not a sign bit; -1 if none.
  llvm::Value* findLeading(llvm::Value* value, bool isSigned, bool asShiftAmount);
  llvm::Value* bitFieldExtract(llvm::Value* value, llvm::Value* position, llvm::Value* length,
                               bool isSigned);
  llvm::Value* bitFieldInsert(llvm::Value* field, llvm::Value* base, llvm::Value* position,
                              llvm::Value* length);
  llvm::Value* absoluteDifference(llvm::Value* a, llvm::Value* b, bool isSigned);
  /// dp4a (lanes 4) and dp2a's low or high half (lanes 2).
  llvm::Value* dotProduct(llvm::Value* a, llvm::Value* b, llvm::Value* sum, bool isSignedA,
                          bool isSignedB, unsigned lanes, llvm::Value* isHigh);
  /// Shifts as PTX does: amounts of the width or more shift everything out.
  llvm::Value* shift(llvm::Instruction::BinaryOps operation, llvm::Value* value,
                     llvm::Value* amount);

  // The runtime (emit_service.cpp).
  llvm::Value* context();
  /// Calls the function at `offset` of mneme_cpu_services.
  llvm::CallInst* service(size_t offset, llvm::Type* result, llvm::ArrayRef<llvm::Value*> operands);
  /// A field of the context (or of the launch behind it) by offset.
  llvm::Value* contextField(llvm::Value* context, size_t offset, llvm::Type* type);
  llvm::Value* launchField(llvm::Value* context, size_t offset, llvm::Type* type);
  /// A special register; `name` as in llvm.nvvm.read.ptx.sreg.<name>.
  llvm::Value* specialRegister(llvm::StringRef name);
  /// A function of libm, without side effects, never taken apart by the optimiser.
  llvm::Value* libm(llvm::StringRef name, llvm::Type* result,
                    llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* intrinsic(llvm::StringRef name, llvm::Type* result,
                         llvm::ArrayRef<llvm::Value*> operands);

private:
  llvm::Value* roundedCall(llvm::StringRef operation, llvm::Type* result,
                           llvm::ArrayRef<llvm::Value*> operands, Rounding rounding);
  llvm::Value* halfArithmetic(llvm::StringRef operation, llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* narrowFloat(llvm::Value* value, llvm::Type* type, Rounding rounding);
  llvm::Value* floatToBfloat(llvm::Value* value, Rounding rounding);
  llvm::Value* doubleToFloatOdd(llvm::Value* value);
  llvm::Value* widen(llvm::Value* value);

  llvm::Module& module_;
};

/// Replaces `call` by `value` (null for void results) and erases it.
void replaceCall(llvm::CallInst& call, llvm::Value* value);

/// "llvm.nvvm.foo in function 'bar'" and the like.
[[noreturn]] void throwUnsupported(const llvm::Twine& what, const llvm::Function& where);

} // namespace mneme::compile::cpu
