// Writes functions as text of LLVM IR.
#pragma once

#include "proteus/Frontend/CodeBuilder.h"

#include <memory>
#include <string>
#include <vector>

namespace proteus {

class LLVMModuleText;

class PROTEUS_API LLVMCodeBuilder final : public CodeBuilder {
public:
  /// \param Module  outlives the builder
  LLVMCodeBuilder(LLVMModuleText& Module, IRFunction Function);
  ~LLVMCodeBuilder() override;

  IRFunction& getFunction() override;
  IRValue* getArg(std::size_t Index) override;

  IRValue* createSlot(IRType Type, const std::string& Name) override;
  IRValue* createArray(IRType Type, const std::string& Name) override;
  IRValue* createLoad(IRType Type, IRValue* Address, const std::string& Name = "") override;
  void createStore(IRValue* Value, IRValue* Address) override;
  IRValue* createElementAddress(IRType Element, IRValue* Base, IRValue* Index) override;
  IRValue* createGenericAddress(IRValue* Address) override;

  IRValue* getConstantInt(IRType Type, uint64_t Value) override;
  IRValue* getConstantFP(IRType Type, double Value) override;
  IRValue* createArith(ArithOp Op, IRValue* L, IRValue* R) override;
  IRValue* createCmp(CmpOp Op, IRValue* L, IRValue* R) override;
  IRValue* createNeg(IRValue* Value) override;
  IRValue* createSelect(IRValue* Condition, IRValue* IfTrue, IRValue* IfFalse) override;
  IRValue* createCast(IRValue* Value, IRType To) override;
  IRValue* createBitCast(IRValue* Value, IRType To) override;
  IRValue* createZExt(IRValue* Value, IRType To) override;

  IRValue* createCall(const std::string& Name, IRType Result,
                      const std::vector<IRValue*>& Args) override;
  IRValue* createMath(MathOp Op, const std::vector<IRValue*>& Args) override;
  IRValue* createAtomic(AtomicOp Op, IRValue* Address, IRValue* Value) override;
  IRValue* createGpuIndex(GpuIndex What, unsigned Dimension) override;
  void createSyncThreads() override;

  void beginFunction() override;
  void endFunction() override;
  void createRet(IRValue* Value = nullptr) override;
  void beginIf(IRValue* Condition) override;
  void endIf() override;
  void beginFor(IRType Type, IRValue* Slot, IRValue* Bound, IRValue* Step) override;
  void endFor(int Unroll = -1) override;
  void beginWhile() override;
  void beginWhileBody(IRValue* Condition) override;
  void endWhile() override;

private:
  friend class LLVMModuleText;
  struct State;
  struct Scope;

  IRValue* value(std::string Name, IRType Type);
  IRValue* assign(IRType Type, const std::string& Hint, const std::string& Operation);
  void emit(const std::string& Instruction);
  IRValue* convert(const char* Operation, IRValue* Value, IRType To);
  IRValue* intrinsic(const std::string& Name, IRType Result, const std::vector<IRValue*>& Args,
                     const char* Attributes = "");
  IRValue* hiddenArgument(GpuIndex What, unsigned Dimension);
  Scope closeScope(int Kind);
  void closeLoop(const Scope& Closed, int Unroll);

  std::unique_ptr<State> Data;
};

} // namespace proteus
