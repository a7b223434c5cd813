// Writes the code of one function, an instruction after the other, in some intermediate language.
#pragma once

#include "proteus/Error.h"
#include "proteus/Frontend/IRFunction.h"
#include "proteus/Frontend/IRType.h"
#include "proteus/Frontend/IRValue.h"
#include "proteus/Frontend/TargetModel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace proteus {

enum class ArithOp { Add, Sub, Mul, Div, Rem };
enum class CmpOp { Lt, Le, Gt, Ge, Eq, Ne };
enum class AtomicOp { Add, Sub, Max, Min };
enum class MathOp { Pow, Sqrt, Exp, Sin, Cos, Fabs, Trunc, Log };
/// What a thread of a GPU can ask for, in each of three dimensions.
enum class GpuIndex { ThreadId, BlockId, BlockDim, GridDim };

/// Values belong to the builder. Operations take operands of equal types; signs are those of the
/// types. What cannot be written ends the program, with the line of the user that was last set.
class PROTEUS_API CodeBuilder {
public:
  virtual ~CodeBuilder();
  CodeBuilder() = default;
  CodeBuilder(const CodeBuilder&) = delete;
  CodeBuilder& operator=(const CodeBuilder&) = delete;

  /// The line of the user that asks for what comes next.
  void setLocation(const char* InFile, unsigned InLine) {
    File = InFile;
    Line = InLine;
  }
  [[noreturn]] void fail(const std::string& Reason) const { reportFatalError(Reason, File, Line); }

  virtual IRFunction& getFunction() = 0;
  virtual IRValue* getArg(std::size_t Index) = 0;

  // Memory. Slots are variables of the function; arrays lie in the address space of their type.
  virtual IRValue* createSlot(IRType Type, const std::string& Name) = 0;
  virtual IRValue* createArray(IRType Type, const std::string& Name) = 0;
  virtual IRValue* createLoad(IRType Type, IRValue* Address, const std::string& Name = "") = 0;
  virtual void createStore(IRValue* Value, IRValue* Address) = 0;
  /// The address, in the default address space, of an element of an array or behind a pointer.
  virtual IRValue* createElementAddress(IRType Element, IRValue* Base, IRValue* Index) = 0;
  /// The same address in the default address space.
  virtual IRValue* createGenericAddress(IRValue* Address) = 0;

  // Values.
  virtual IRValue* getConstantInt(IRType Type, uint64_t Value) = 0;
  virtual IRValue* getConstantFP(IRType Type, double Value) = 0;
  virtual IRValue* createArith(ArithOp Op, IRValue* L, IRValue* R) = 0;
  virtual IRValue* createCmp(CmpOp Op, IRValue* L, IRValue* R) = 0;
  virtual IRValue* createNeg(IRValue* Value) = 0;
  virtual IRValue* createSelect(IRValue* Condition, IRValue* IfTrue, IRValue* IfFalse) = 0;
  /// As C++ converts.
  virtual IRValue* createCast(IRValue* Value, IRType To) = 0;
  virtual IRValue* createBitCast(IRValue* Value, IRType To) = 0;
  virtual IRValue* createZExt(IRValue* Value, IRType To) = 0;

  // Calls. Without a result they return nullptr.
  virtual IRValue* createCall(const std::string& Name, IRType Result,
                              const std::vector<IRValue*>& Args) = 0;
  virtual IRValue* createMath(MathOp Op, const std::vector<IRValue*>& Args) = 0;
  virtual IRValue* createAtomic(AtomicOp Op, IRValue* Address, IRValue* Value) = 0;
  virtual IRValue* createGpuIndex(GpuIndex What, unsigned Dimension) = 0;
  virtual void createSyncThreads() = 0;

  // Flow. Scopes nest; the line of their beginning is that of the location.
  virtual void beginFunction() = 0;
  virtual void endFunction() = 0;
  /// \param Value  nullptr: none
  virtual void createRet(IRValue* Value = nullptr) = 0;
  virtual void beginIf(IRValue* Condition) = 0;
  virtual void endIf() = 0;
  /// `for (; *Slot < Bound; *Slot += Step)`
  virtual void beginFor(IRType Type, IRValue* Slot, IRValue* Bound, IRValue* Step) = 0;
  /// \param Unroll unroll factor; 0: the compiler decides, -1: no unroll metadata
  virtual void endFor(int Unroll = -1) = 0;
  /// What computes the condition comes next, then beginWhileBody().
  virtual void beginWhile() = 0;
  virtual void beginWhileBody(IRValue* Condition) = 0;
  virtual void endWhile() = 0;

protected:
  const char* File = "unknown";
  unsigned Line = 0;
};

} // namespace proteus
