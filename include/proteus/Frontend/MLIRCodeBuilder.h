// Writes functions as text of MLIR, of the dialects func, gpu, scf, memref, arith, math and llvm.
#pragma once

#include "proteus/Frontend/CodeBuilder.h"

#include <memory>
#include <string>
#include <vector>

namespace proteus {

class MLIRModuleText;

class PROTEUS_API MLIRCodeBuilder final : public CodeBuilder {
public:
  /// \param Module  outlives the builder
  MLIRCodeBuilder(MLIRModuleText& Module, IRFunction Function);
  ~MLIRCodeBuilder() override;

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
  friend class MLIRModuleText;
  struct State;
  struct Region;
  struct Scope;

  IRValue* value(std::string Name, IRType Type);
  IRValue* assign(IRType Type, const std::string& Hint, const std::string& Operation);
  void emit(const std::string& Instruction);
  void emitBlock(const std::string& Head, const Region& Body, const std::string& Tail = "}");
  IRValue* constant(IRType Type, const std::string& Literal);
  IRValue* convert(const char* Operation, IRValue* Value, IRType To);
  void open(int Kind);
  Scope close(int Kind);
  void closeGuards();
  void openGuard();
  Region takeRegion();
  IRValue* isRunning();
  Region conditionOfFor(const Scope& Loop, IRValue*& Condition);
  void emitFor(const Scope& Loop);
  void emitWhile(const Scope& Loop, Region Test, IRValue* Condition);

  std::unique_ptr<State> Data;
};

} // namespace proteus
