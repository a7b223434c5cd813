// Writes a function of PJ-DSL as MLIR: regions, conditions and loops.
#include "runtime/jit/frontend/dsl/mlir_builder_state.h"
#include "runtime/jit/frontend/dsl/mlir_words.h"

namespace proteus {
namespace {

constexpr IRType kBool{IRTypeKind::Int1, false, IRTypeKind::Void, 0, {}};

void append(std::vector<std::string>& lines, const std::vector<std::string>& nested) {
  for (const std::string& line : nested)
    lines.push_back("  " + line);
}

} // namespace

void MLIRCodeBuilder::emitBlock(const std::string& Head, const Region& Body,
                                const std::string& Tail) {
  Region& region = Data->regions.back();
  if (region.isClosed)
    return;
  region.lines.push_back(Head);
  append(region.lines, Body.lines);
  region.lines.push_back(Tail);
}

MLIRCodeBuilder::Region MLIRCodeBuilder::takeRegion() {
  Region taken = std::move(Data->regions.back());
  Data->regions.pop_back();
  return taken;
}

void MLIRCodeBuilder::closeGuards() {
  while (!Data->regions.back().guard.empty()) {
    const Region guarded = takeRegion();
    emitBlock("scf.if " + guarded.guard + " {", guarded);
  }
}

IRValue* MLIRCodeBuilder::isRunning() {
  IRValue* over = createLoad(kBool, Data->returned, "over");
  return createCmp(CmpOp::Eq, over, getConstantInt(kBool, 0));
}

/// Guards what comes behind a region that may have returned.
void MLIRCodeBuilder::openGuard() {
  if (Data->regions.back().isClosed)
    return;
  std::string guard = isRunning()->Name;
  Data->regions.push_back({.guard = std::move(guard)});
}

void MLIRCodeBuilder::open(int Kind) {
  openScope(Data->scopes, Kind, File, Line);
  Data->regions.push_back({.isClosed = Data->regions.back().isClosed});
}

MLIRCodeBuilder::Scope MLIRCodeBuilder::close(int Kind) {
  Scope closed = takeScope(*this, Data->scopes, Kind);
  closeGuards();
  closed.body = takeRegion();
  return closed;
}

void MLIRCodeBuilder::beginFunction() {
  Data->begin(File, Line);
  openScope(Data->scopes, kFunctionScope, File, Line);
}

void MLIRCodeBuilder::endFunction() {
  takeScope(*this, Data->scopes, kFunctionScope);
  const IRType type = Data->function.ReturnType;
  if (!Data->regions.back().isClosed && !type.isVoid())
    fail("Function " + Data->function.Name + " does not end with ret()");
  closeGuards();
  if (!Data->regions.back().isClosed) { // else it has just returned
    IRValue* result = Data->result ? createLoad(type, Data->result, "result") : nullptr;
    emit((Data->function.IsKernel ? "gpu.return" : "return") +
         (result ? " " + result->Name + " : " + mlirType(type) : std::string()));
  }
  Data->isEnded = true;
}

void MLIRCodeBuilder::createRet(IRValue* Value) {
  const IRType type = Data->function.ReturnType;
  Data->requireResult(Value);
  if (Value && type.isPointer())
    Value = createGenericAddress(Value);
  IRValue* result = Value ? createCast(Value, type) : nullptr;
  if (Data->regions.size() == 1) {
    emit((Data->function.IsKernel ? "gpu.return" : "return") +
         (result ? " " + result->Name + " : " + mlirType(type) : std::string()));
  } else if (!Data->regions.back().isClosed) {
    if (!Data->returned)
      Data->returned = createSlot(kBool, "returned");
    if (result && !Data->result)
      Data->result = createSlot(type, "result");
    if (result)
      createStore(result, Data->result);
    createStore(getConstantInt(kBool, 1), Data->returned);
    getConstantInt(kBool, 0); // how it begins
    for (Scope& scope : Data->scopes)
      scope.mayReturn = true;
  }
  Data->regions.back().isClosed = true;
}

void MLIRCodeBuilder::beginIf(IRValue* Condition) {
  open(kIfScope);
  Data->scopes.back().condition = Condition;
}

void MLIRCodeBuilder::endIf() {
  const Scope closed = close(kIfScope);
  emitBlock("scf.if " + closed.condition->Name + " {", closed.body);
  if (closed.mayReturn)
    openGuard();
}

void MLIRCodeBuilder::beginFor(IRType Type, IRValue* Slot, IRValue* Bound, IRValue* Step) {
  open(kForScope);
  Scope& scope = Data->scopes.back();
  scope.type = Type;
  scope.slot = Slot;
  scope.bound = Bound;
  scope.step = Step;
}

/// The body runs for the values that `scf.for` counts through.
void MLIRCodeBuilder::emitFor(const Scope& Loop) {
  IRValue* begin = createLoad(Loop.type, Loop.slot, "begin");
  IRValue* counter = value(Data->newName("i"), Loop.type);
  Data->regions.push_back({.isClosed = Data->regions.back().isClosed});
  createStore(counter, Loop.slot);
  for (const std::string& line : Loop.body.lines)
    emit(line);
  // What it is behind the loop.
  createStore(createArith(ArithOp::Add, counter, Loop.step), Loop.slot);
  const Region body = takeRegion();
  emitBlock(std::string("scf.for ") + (Loop.type.Signed ? "" : "unsigned ") + counter->Name +
                " = " + begin->Name + " to " + Loop.bound->Name + " step " + Loop.step->Name +
                " : " + mlirType(Loop.type) + " {",
            body);
}

MLIRCodeBuilder::Region MLIRCodeBuilder::conditionOfFor(const Scope& Loop, IRValue*& Condition) {
  Data->regions.push_back({.isClosed = Data->regions.back().isClosed});
  Condition = createCmp(CmpOp::Lt, createLoad(Loop.type, Loop.slot), Loop.bound);
  return takeRegion();
}

void MLIRCodeBuilder::emitWhile(const Scope& Loop, Region Test, IRValue* Condition) {
  Data->regions.push_back({.isClosed = Data->regions.back().isClosed});
  std::string condition = Condition->Name;
  if (Loop.mayReturn) {
    const std::string running = isRunning()->Name;
    condition = Data->newName("goes_on");
    Test.lines.push_back("scf.yield " + Condition->Name + " : i1");
    emitBlock(condition + " = scf.if " + running + " -> (i1) {", Test, "} else {");
    emit("  scf.yield " + running + " : i1");
    emit("}");
  } else {
    for (const std::string& line : Test.lines)
      emit(line);
  }
  emit("scf.condition(" + condition + ")");
  const Region before = takeRegion();
  Region after = Loop.body;
  after.lines.emplace_back("scf.yield");
  emitBlock("scf.while : () -> () {", before, "} do {");
  append(Data->regions.back().lines, after.lines);
  emit("}");
  if (Loop.mayReturn)
    openGuard();
}

void MLIRCodeBuilder::endFor(int) {
  Scope closed = close(kForScope);
  if (Data->regions.back().isClosed)
    return;
  const bool isCounted = closed.type.isInteger() && !closed.mayReturn && !closed.isSlotChanged &&
                         Data->isSlot(*closed.slot) &&
                         !Data->takenAddresses.count(closed.slot->Name);
  if (isCounted) {
    emitFor(closed);
    return;
  }
  // As the body may change the index.
  Data->regions.push_back(std::move(closed.body));
  closeGuards();
  if (!Data->regions.back().isClosed) {
    IRValue* index = createLoad(closed.type, closed.slot);
    createStore(createArith(ArithOp::Add, index, closed.step), closed.slot);
  }
  closed.body = takeRegion();
  IRValue* condition = nullptr;
  Region test = conditionOfFor(closed, condition);
  emitWhile(closed, std::move(test), condition);
}

void MLIRCodeBuilder::beginWhile() { open(kWhileScope); }

void MLIRCodeBuilder::beginWhileBody(IRValue* Condition) {
  closeGuards();
  Scope& scope = Data->scopes.back();
  scope.test = takeRegion();
  scope.condition = Condition;
  Data->regions.push_back({.isClosed = Data->regions.back().isClosed});
}

void MLIRCodeBuilder::endWhile() {
  Scope closed = close(kWhileScope);
  if (!Data->regions.back().isClosed)
    emitWhile(closed, std::move(closed.test), closed.condition);
}

} // namespace proteus
