// Instructions of PTX by which threads talk to each other, or stop. They become the intrinsics of
// the same meaning.
#include <cstddef>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/inline_ptx/ptx.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

Value* call(PtxContext& c, const std::string& name, Type* result, ArrayRef<Value*> operands) {
  return c.e.intrinsic("llvm.nvvm." + name, result, operands);
}

Value* number(PtxContext& c, StringRef operand) { return c.read(operand, c.e.i(32)); }

void takeBarrierWords(PtxInstruction& i) {
  i.take("cta");
  i.take("aligned");
}

void barrier(PtxContext& c, PtxInstruction& i) {
  if (i.take("warp")) {
    if (!i.take("sync"))
      c.unsupported(i);
    call(c, "bar.warp.sync", c.e.getVoidTy(), {number(c, i.operands[0])});
    return;
  }
  if (i.take("cluster")) {
    for (const char* word : {"release", "acquire", "relaxed", "aligned"})
      i.take(word);
    if (i.take("wait"))
      call(c, "barrier.cluster.wait", c.e.getVoidTy(), {});
    else if (!i.take("arrive"))
      c.unsupported(i);
    return;
  }
  takeBarrierWords(i);
  if (i.take("sync")) {
    Value* id = number(c, i.operands.at(0));
    if (i.operands.size() > 1)
      call(c, "barrier.cta.sync.aligned.count", c.e.getVoidTy(), {id, number(c, i.operands[1])});
    else
      call(c, "barrier.cta.sync.aligned.all", c.e.getVoidTy(), {id});
    return;
  }
  if (i.take("arrive")) {
    call(c, "barrier.cta.arrive.aligned.count", c.e.getVoidTy(),
         {number(c, i.operands[0]), number(c, i.operands[1])});
    return;
  }
  if (!i.take("red") || i.operands.size() != 3)
    c.unsupported(i);
  int operation = i.takeAny({"popc", "and", "or"});
  i.takeType();
  if (operation < 0)
    c.unsupported(i);
  constexpr const char* kNames[] = {"popc", "and", "or"};
  Type* type = operation == 0 ? c.e.i(32) : c.e.i(1);
  c.write(i.operands[0],
          call(c, std::string("barrier.cta.red.") + kNames[operation] + ".aligned.all", type,
               {number(c, i.operands[1]), c.readPredicate(i.operands[2])}));
}

void shuffle(PtxContext& c, PtxInstruction& i) {
  bool isSync = i.take("sync");
  int mode = i.takeAny({"idx", "up", "down", "bfly"});
  i.takeType();
  if (!isSync || mode < 0 || i.operands.size() != 5)
    c.unsupported(i);
  constexpr const char* kNames[] = {"idx", "up", "down", "bfly"};
  Type* type = StructType::get(c.e.i(32), c.e.i(1));
  Value* pair = call(c, std::string("shfl.sync.") + kNames[mode] + ".i32p", type,
                     {number(c, i.operands[4]), number(c, i.operands[1]), number(c, i.operands[2]),
                      number(c, i.operands[3])});
  auto [value, predicate] = StringRef(i.operands[0]).split('|');
  c.write(value, c.e.CreateExtractValue(pair, 0));
  if (!predicate.empty())
    c.write(predicate, c.e.CreateExtractValue(pair, 1));
}

void vote(PtxContext& c, PtxInstruction& i) {
  bool isSync = i.take("sync");
  int mode = i.takeAny({"all", "any", "uni", "ballot"});
  i.takeType();
  if (!isSync || mode < 0 || i.operands.size() != 3)
    c.unsupported(i);
  constexpr const char* kNames[] = {"all", "any", "uni", "ballot"};
  c.write(i.operands[0],
          call(c, std::string("vote.") + kNames[mode] + ".sync", mode == 3 ? c.e.i(32) : c.e.i(1),
               {number(c, i.operands[2]), c.readPredicate(i.operands[1])}));
}

void match(PtxContext& c, PtxInstruction& i) {
  bool isAll = i.take("all");
  bool isAny = i.take("any");
  std::optional<PtxType> type = i.takeType();
  if (!i.take("sync") || isAll == isAny || !type || i.operands.size() != 3)
    c.unsupported(i);
  std::string width = "i" + std::to_string(type->bits);
  Value* mask = number(c, i.operands[2]);
  Value* value = c.read(i.operands[1], c.e.i(type->bits));
  if (isAny)
    return c.write(i.operands[0], call(c, "match.any.sync." + width, c.e.i(32), {mask, value}));
  Value* pair =
      call(c, "match.all.sync." + width + "p", StructType::get(c.e.i(32), c.e.i(1)), {mask, value});
  auto [target, predicate] = StringRef(i.operands[0]).split('|');
  c.write(target, c.e.CreateExtractValue(pair, 0));
  if (!predicate.empty())
    c.write(predicate, c.e.CreateExtractValue(pair, 1));
}

void warpReduce(PtxContext& c, PtxInstruction& i) {
  bool isSync = i.take("sync");
  int operation = i.takeAny({"add", "min", "max", "and", "or", "xor"});
  std::optional<PtxType> type = i.takeType();
  if (!isSync || operation < 0 || !type || type->isFloat() || i.operands.size() != 3)
    c.unsupported(i);
  constexpr const char* kNames[] = {"add", "min", "max", "and", "or", "xor"};
  std::string name = kNames[operation];
  if ((operation == 1 || operation == 2) && !type->isSigned())
    name = "u" + name;
  c.write(i.operands[0], call(c, "redux.sync." + name, c.e.i(32),
                              {number(c, i.operands[1]), number(c, i.operands[2])}));
}

void activeMask(PtxContext& c, PtxInstruction& i) {
  i.takeType();
  c.write(i.operands[0], call(c, "activemask", c.e.i(32), {}));
}

void elect(PtxContext& c, PtxInstruction& i) {
  if (!i.take("sync") || i.operands.size() != 2)
    c.unsupported(i);
  Value* pair =
      call(c, "elect.sync", StructType::get(c.e.i(32), c.e.i(1)), {number(c, i.operands[1])});
  auto [leader, predicate] = StringRef(i.operands[0]).split('|');
  c.write(leader, c.e.CreateExtractValue(pair, 0));
  if (!predicate.empty())
    c.write(predicate, c.e.CreateExtractValue(pair, 1));
}

void sleep(PtxContext& c, PtxInstruction& i) {
  i.takeType();
  call(c, "nanosleep", c.e.getVoidTy(), {number(c, i.operands[0])});
}

void trap(PtxContext& c, PtxInstruction&) {
  c.e.service(offsetof(mneme_cpu_services, trap), c.e.getVoidTy(), {c.e.context()})
      ->setDoesNotReturn();
}

void exitThread(PtxContext& c, PtxInstruction&) { call(c, "exit", c.e.getVoidTy(), {}); }

void drop(PtxContext&, PtxInstruction& i) { i.parts.clear(); }

constexpr PtxRule kRules[] = {
    {"bar", barrier},         {"barrier", barrier},  {"shfl", shuffle},          {"vote", vote},
    {"match", match},         {"redux", warpReduce}, {"activemask", activeMask}, {"elect", elect},
    {"nanosleep", sleep},     {"trap", trap},        {"exit", exitThread},       {"brkpt", drop},
    {"griddepcontrol", drop},
};

} // namespace

std::span<const PtxRule> ptxSyncRules() { return kRules; }

} // namespace mneme::compile::cpu
