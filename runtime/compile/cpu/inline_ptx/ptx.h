// Room compile/cpu: inline PTX. Parsing (parse.cpp), registers and operands (context.cpp),
// and one table of instructions per group (integer, float, ...).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/compile/cpu/emit.h"

namespace mneme::compile::cpu {

/// u32, f16x2, pred, ... as PTX writes it.
struct PtxType {
  char kind = 'b'; ///< 'b', 'u', 's', 'f' (floating), 'h' (bfloat), 'p'
  unsigned bits = 32;
  unsigned lanes = 1;

  bool isSigned() const { return kind == 's'; }
  bool isFloat() const { return kind == 'f' || kind == 'h'; }
  llvm::Type* ir(llvm::LLVMContext& context) const;
  static std::optional<PtxType> parse(llvm::StringRef text);
};

/// Asking for an operand that is not there throws std::out_of_range, which makes the instruction
/// unsupported.
struct PtxOperands : std::vector<std::string> {
  using std::vector<std::string>::vector;
  const std::string& operator[](size_t index) const { return at(index); }
};

/// One statement. Handlers take what they know from `parts`; what is left makes it unsupported.
struct PtxInstruction {
  std::string text;
  std::string guard; ///< predicate register, or empty
  bool isGuardNegated = false;
  std::vector<std::string> parts; ///< "add", "cc", "u32"
  PtxOperands operands;           ///< as written, vectors with their braces

  bool take(llvm::StringRef part);
  /// Takes the first of `choices` present; its index, or -1.
  int takeAny(std::initializer_list<llvm::StringRef> choices);
  std::optional<PtxType> takeType();
  std::optional<Rounding> takeRounding();
};

struct PtxProgram {
  std::vector<PtxInstruction> instructions;
  std::map<std::string, PtxType> registers; ///< declared by .reg
};

/// \throws std::string naming the statement that does not parse
PtxProgram parsePtx(llvm::StringRef text);

/// Registers of one inline assembly statement while it is translated.
class PtxContext {
public:
  PtxContext(Emit& emit, llvm::CallInst& call, const PtxProgram& program);

  Emit& e;
  llvm::Value* carry = nullptr; ///< CC.CF, i1

  llvm::Value* read(llvm::StringRef operand, llvm::Type* type);
  llvm::Value* read(llvm::StringRef operand, const PtxType& type);
  llvm::Value* readPredicate(llvm::StringRef operand);
  void write(llvm::StringRef operand, llvm::Value* value);
  /// "[reg+4]" as a pointer into the generic space; `isShared` addresses are offsets.
  llvm::Value* address(llvm::StringRef operand, bool isShared);
  /// Elements of "{a, b}", or the operand itself.
  static std::vector<std::string> elements(llvm::StringRef operand);
  llvm::LLVMContext& context() { return e.getContext(); }
  /// Runs `action` only if the instruction's guard holds, in its own block.
  void translate(PtxInstruction& instruction);
  /// The call's result, built from its output registers.
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
/// add, sub, mul, min... exist for integers and floats: the float table is asked first.
bool translateFloat(PtxContext& context, PtxInstruction& instruction);
/// cvt from or to pairs of 8-bit numbers; false if this is none.
bool convertFp8(PtxContext& context, PtxInstruction& instruction);

} // namespace mneme::compile::cpu
