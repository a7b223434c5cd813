// Writes a function of PJ-DSL as LLVM IR: blocks, conditions and loops.
#include "runtime/jit/frontend/dsl/llvm_builder_state.h"
#include "runtime/jit/frontend/dsl/llvm_module.h"
#include "runtime/jit/frontend/dsl/llvm_words.h"

#include <string>

namespace proteus {

Block* LLVMCodeBuilder::State::newBlock(const std::string& hint) {
  blocks.push_back({newName(hint), {}});
  return &blocks.back();
}

void LLVMCodeBuilder::State::place(Block* block) { order.push_back(block); }

Block& LLVMCodeBuilder::State::open() {
  if (order.back()->isClosed)
    place(newBlock("unreached"));
  return *order.back();
}

void LLVMCodeBuilder::State::branch(Block* target, const std::string& suffix) {
  Block& from = *order.back();
  if (from.isClosed)
    return;
  from.lines.push_back("br label %" + target->name + suffix);
  from.isClosed = true;
  target->isReached |= from.isReached;
}

void LLVMCodeBuilder::State::branchIf(const IRValue& condition, Block* yes, Block* no) {
  Block& from = open();
  from.lines.push_back("br " + operand(condition) + ", label %" + yes->name + ", label %" +
                       no->name);
  from.isClosed = true;
  yes->isReached |= from.isReached;
  no->isReached |= from.isReached;
}

LLVMCodeBuilder::Scope LLVMCodeBuilder::closeScope(int Kind) {
  return takeScope(*this, Data->scopes, Kind);
}

void LLVMCodeBuilder::beginFunction() {
  Data->begin(File, Line);
  openScope(Data->scopes, kFunctionScope, File, Line);
}

void LLVMCodeBuilder::endFunction() {
  closeScope(kFunctionScope);
  Block& last = *Data->order.back();
  if (!last.isClosed) {
    const bool hasResult = !Data->function.ReturnType.isVoid();
    if (last.isReached && hasResult)
      fail("Function " + Data->function.Name + " does not end with ret()");
    last.lines.push_back(last.isReached ? "ret void" : "unreachable");
    last.isClosed = true;
  }
  Data->isEnded = true;
}

void LLVMCodeBuilder::createRet(IRValue* Value) {
  Data->requireResult(Value);
  emit(Value ? "ret " + operand(*createCast(Value, Data->function.ReturnType)) : "ret void");
  Data->order.back()->isClosed = true;
}

void LLVMCodeBuilder::beginIf(IRValue* Condition) {
  Block* then = Data->newBlock("if.then");
  Scope& scope = openScope(Data->scopes, kIfScope, File, Line);
  scope.next = Data->newBlock("if.cont");
  Data->branchIf(*Condition, then, scope.next);
  Data->place(then);
}

void LLVMCodeBuilder::endIf() {
  const Scope closed = closeScope(kIfScope);
  Data->branch(closed.next);
  Data->place(closed.next);
}

void LLVMCodeBuilder::beginFor(IRType Type, IRValue* Slot, IRValue* Bound, IRValue* Step) {
  Scope& scope = openScope(Data->scopes, kForScope, File, Line);
  scope.again = Data->newBlock("loop.cond");
  scope.next = Data->newBlock("loop.end");
  scope.type = Type;
  scope.slot = Slot;
  scope.step = Step;
  Block* body = Data->newBlock("loop.body");
  Data->branch(scope.again);
  Data->place(scope.again);
  Data->branchIf(*createCmp(CmpOp::Lt, createLoad(Type, Slot), Bound), body, scope.next);
  Data->place(body);
}

void LLVMCodeBuilder::closeLoop(const Scope& Closed, int Unroll) {
  const std::string node =
      Unroll < 0 ? "" : ", !llvm.loop !" + std::to_string(Data->module.unrollNode(Unroll));
  Data->branch(Closed.again, node);
  Data->place(Closed.next);
}

void LLVMCodeBuilder::endFor(int Unroll) {
  const Scope closed = closeScope(kForScope);
  Block* step = Data->newBlock("loop.inc");
  Data->branch(step);
  Data->place(step);
  IRValue* index = createLoad(closed.type, closed.slot);
  createStore(createArith(ArithOp::Add, index, closed.step), closed.slot);
  closeLoop(closed, Unroll);
}

void LLVMCodeBuilder::beginWhile() {
  Scope& scope = openScope(Data->scopes, kWhileScope, File, Line);
  scope.again = Data->newBlock("while.cond");
  Data->branch(scope.again);
  Data->place(scope.again);
}

void LLVMCodeBuilder::beginWhileBody(IRValue* Condition) {
  Block* body = Data->newBlock("while.body");
  Scope& scope = Data->scopes.back();
  scope.next = Data->newBlock("while.end");
  Data->branchIf(*Condition, body, scope.next);
  Data->place(body);
}

void LLVMCodeBuilder::endWhile() { closeLoop(closeScope(kWhileScope), -1); }

} // namespace proteus
