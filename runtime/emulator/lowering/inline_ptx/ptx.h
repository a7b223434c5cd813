// Room emulator/lowering: inline PTX. Parsing (parse.cpp), registers and operands
// (ptx_context.cpp), and one table of instructions per group (integer, float, ...).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/emulator/lowering/emit.h"

namespace mneme::compile::cpu {

/// A type in PTX: u32, f16x2, pred, ...
struct PtxType {
  char kind = 'b'; ///< 'b', 'u', 's', 'f' (floating), 'h' (bfloat), 'p'
  unsigned bits = 32;
  unsigned lanes = 1;

  bool isSigned() const { return kind == 's'; }
  bool isFloat() const { return kind == 'f' || kind == 'h'; }
  llvm::Type* ir(llvm::LLVMContext& context) const;
  static std::optional<PtxType> parse(llvm::StringRef text);
};

/// Accessing a missing operand throws std::out_of_range, which makes the instruction unsupported.
struct PtxOperands : std::vector<std::string> {
  using std::vector<std::string>::vector;
  const std::string& operator[](size_t index) const { return at(index); }
};

/// One statement. Handlers remove the parts they support from `parts`; any remaining part makes it
/// unsupported.
struct PtxInstruction {
  std::string text;
  std::string guard; ///< predicate register, or empty
  bool isGuardNegated = false;
  std::vector<std::string> parts; ///< "add", "cc", "u32"
  PtxOperands operands;           ///< as written, vectors with their braces

  bool take(llvm::StringRef part);
  /// Removes the first of `choices` that is present and returns its index, or -1.
  int takeAny(std::initializer_list<llvm::StringRef> choices);
  std::optional<PtxType> takeType();
  std::optional<Rounding> takeRounding();
};

struct PtxProgram {
  std::vector<PtxInstruction> instructions;
  std::map<std::string, PtxType> registers; ///< declared by .reg
};

/// \throws std::string that names the invalid statement
PtxProgram parsePtx(llvm::StringRef text);

/// The registers of an inline assembly statement during its translation.
class PtxContext {
public:
  PtxContext(Emit& emit, llvm::CallInst& call, const PtxProgram& program);

  Emit& e;
  llvm::Value* carry = nullptr; ///< CC.CF, i1

  llvm::Value* read(llvm::StringRef operand, llvm::Type* type);
  llvm::Value* read(llvm::StringRef operand, const PtxType& type);
  llvm::Value* readPredicate(llvm::StringRef operand);
  void write(llvm::StringRef operand, llvm::Value* value);
  /// Returns "[reg+4]" as a pointer in the generic address space; with `isShared`, addresses are
  /// offsets.
  llvm::Value* address(llvm::StringRef operand, bool isShared);
  /// Returns the elements of "{a, b}", or the operand itself.
  static std::vector<std::string> elements(llvm::StringRef operand);
  llvm::LLVMContext& context() { return e.getContext(); }
  /// Runs `action` only if the instruction's guard holds, in its own block.
  void translate(PtxInstruction& instruction);
  /// Returns the call's result, built from its output registers.
  llvm::Value* result();
  [[noreturn]] void unsupported(const PtxInstruction& instruction);

private:
  void translateGuarded(PtxInstruction& instruction);
  void translateUnguarded(PtxInstruction& instruction);
  llvm::Value* coerce(llvm::Value* value, llvm::Type* type);
  llvm::Value* immediate(llvm::StringRef operand, llvm::Type* type);

  llvm::CallInst& call_;
  std::map<std::string, llvm::Value*> values_;
  std::map<std::string, PtxType> declared_;
  std::vector<llvm::Type*> outputs_;
};

using PtxHandler = void (*)(PtxContext&, PtxInstruction&);
struct PtxRule {
  const char* name; ///< the first part
  PtxHandler handler;
};
std::span<const PtxRule> ptxIntegerRules();
std::span<const PtxRule> ptxFloatRules();
std::span<const PtxRule> ptxMemoryRules();
std::span<const PtxRule> ptxSimdRules();
std::span<const PtxRule> ptxSyncRules();
std::span<const PtxRule> ptxBarrierObjectRules();
std::span<const PtxRule> ptxMatrixRules();
std::span<const PtxRule> ptxTextureRules();
/// add, sub, mul, min, ... exist for integers and floats; the float table is searched first.
bool translateFloat(PtxContext& context, PtxInstruction& instruction);
/// Translates cvt from or to pairs of 8-bit floats; returns false for other instructions.
bool convertFp8(PtxContext& context, PtxInstruction& instruction);

} // namespace mneme::compile::cpu
