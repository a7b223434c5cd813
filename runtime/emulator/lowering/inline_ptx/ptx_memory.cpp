// Memory instructions of PTX: loads, stores, atomics, fences, address spaces.
#include "runtime/emulator/lowering/inline_ptx/ptx.h"
#include "runtime/emulator/lowering/mbarrier.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kSharedSpace = 3;

struct Access {
  bool isShared = false;
  bool isVolatile = false;
  bool isPastCache = false; ///< ld.cg
  AtomicOrdering ordering = AtomicOrdering::NotAtomic;
  unsigned lanes = 1;
  PtxType type;
};

bool takeSpace(PtxInstruction& i) {
  bool isShared = i.take("shared");
  if (i.take("shared::cta") || i.take("shared::cluster"))
    isShared = true;
  i.take("global");
  i.take("const");
  i.take("param");
  i.take("local");
  return isShared;
}

void takeScopesAndHints(PtxInstruction& i) {
  for (const char* word : {"cta", "gpu", "sys", "cluster", "ca", "cg", "cs", "lu", "cv", "wb", "wt",
                           "nc", "noftz", "weak", "evict_first", "evict_last", "no_allocate"})
    i.take(word);
  if (i.take("L2::cache_hint") && !i.operands.empty())
    i.operands.pop_back(); // the policy, a hint like the others
  for (auto part = i.parts.begin(); part != i.parts.end();)
    part = StringRef(*part).starts_with("L1::") || StringRef(*part).starts_with("L2::")
               ? i.parts.erase(part)
               : part + 1;
}

Access takeAccess(PtxContext& c, PtxInstruction& i) {
  Access access;
  access.isShared = takeSpace(i);
  access.isVolatile = i.take("volatile") || i.take("mmio");
  switch (i.takeAny({"relaxed", "acquire", "release", "acq_rel", "sc"})) {
  case 0:
    access.ordering = AtomicOrdering::Monotonic;
    break;
  case 1:
    access.ordering = AtomicOrdering::Acquire;
    break;
  case 2:
    access.ordering = AtomicOrdering::Release;
    break;
  case 3:
    access.ordering = AtomicOrdering::AcquireRelease;
    break;
  case 4:
    access.ordering = AtomicOrdering::SequentiallyConsistent;
    break;
  default:
    break;
  }
  access.isVolatile |= i.take("cv");
  access.isPastCache = i.take("cg");
  takeScopesAndHints(i);
  switch (i.takeAny({"v2", "v4", "v8"})) {
  case 0:
    access.lanes = 2;
    break;
  case 1:
    access.lanes = 4;
    break;
  case 2:
    access.lanes = 8;
    break;
  default:
    break;
  }
  std::optional<PtxType> type = i.takeType();
  if (!type)
    c.unsupported(i);
  access.type = *type;
  return access;
}

Value* element(PtxContext& c, Value* base, const Access& access, unsigned lane) {
  return lane ? c.e.CreateConstInBoundsGEP1_64(access.type.ir(c.context()), base, lane) : base;
}

Type* memoryType(PtxContext& c, const Access& access) {
  return c.e.i(access.type.bits * access.type.lanes);
}

void load(PtxContext& c, PtxInstruction& i) {
  Access access = takeAccess(c, i);
  if (i.operands.size() != 2)
    c.unsupported(i);
  Value* base = c.address(i.operands[1], access.isShared);
  auto targets = PtxContext::elements(i.operands[0]);
  if (targets.size() != access.lanes)
    c.unsupported(i);
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    Type* type = memoryType(c, access);
    Align align(access.type.bits * access.type.lanes / 8);
    LoadInst* load =
        c.e.CreateAlignedLoad(type, element(c, base, access, lane), align, access.isVolatile);
    if (access.ordering != AtomicOrdering::NotAtomic)
      load->setAtomic(access.ordering);
    if (access.isPastCache)
      load->setMetadata(kPastCacheMetadata, MDNode::get(c.context(), {}));
    Value* value = load;
    if (access.type.isSigned() && access.type.bits < 32)
      value = c.e.CreateSExt(value, c.e.i(32));
    c.write(targets[lane], value);
  }
}

void store(PtxContext& c, PtxInstruction& i) {
  Access access = takeAccess(c, i);
  if (i.operands.size() != 2)
    c.unsupported(i);
  Value* base = c.address(i.operands[0], access.isShared);
  auto sources = PtxContext::elements(i.operands[1]);
  if (sources.size() != access.lanes)
    c.unsupported(i);
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    Value* value = c.read(sources[lane], memoryType(c, access));
    Align align(access.type.bits * access.type.lanes / 8);
    StoreInst* store =
        c.e.CreateAlignedStore(value, element(c, base, access, lane), align, access.isVolatile);
    if (access.ordering != AtomicOrdering::NotAtomic)
      store->setAtomic(access.ordering);
  }
}

AtomicRMWInst::BinOp takeOperation(PtxContext& c, PtxInstruction& i, PtxType type) {
  using Op = AtomicRMWInst;
  switch (i.takeAny({"add", "exch", "min", "max", "and", "or", "xor", "inc", "dec"})) {
  case 0:
    return type.isFloat() ? Op::FAdd : Op::Add;
  case 1:
    return Op::Xchg;
  case 2:
    return type.isFloat() ? Op::FMin : (type.isSigned() ? Op::Min : Op::UMin);
  case 3:
    return type.isFloat() ? Op::FMax : (type.isSigned() ? Op::Max : Op::UMax);
  case 4:
    return Op::And;
  case 5:
    return Op::Or;
  case 6:
    return Op::Xor;
  case 7:
    return Op::UIncWrap;
  case 8:
    return Op::UDecWrap;
  default:
    c.unsupported(i);
  }
}

AtomicOrdering atLeastRelaxed(AtomicOrdering ordering) {
  return ordering == AtomicOrdering::NotAtomic ? AtomicOrdering::Monotonic : ordering;
}

/// Each element of a vector by itself, as PTX has it. Returns what was there.
std::vector<Value*> update(PtxContext& c, PtxInstruction& i, const Access& access, Value* base,
                           StringRef operand) {
  const auto operation = takeOperation(c, i, access.type);
  const auto sources = PtxContext::elements(operand);
  if (sources.size() != access.lanes)
    c.unsupported(i);
  std::vector<Value*> old;
  for (unsigned lane = 0; lane < access.lanes; ++lane)
    old.push_back(c.e.CreateAtomicRMW(operation, element(c, base, access, lane),
                                      c.read(sources[lane], access.type), MaybeAlign(),
                                      atLeastRelaxed(access.ordering)));
  return old;
}

void atomic(PtxContext& c, PtxInstruction& i) {
  bool isCompare = i.take("cas");
  Access access = takeAccess(c, i);
  AtomicOrdering ordering = atLeastRelaxed(access.ordering);
  if (i.operands.size() != (isCompare ? 4u : 3u) || (isCompare && access.lanes != 1))
    c.unsupported(i);
  Value* pointer = c.address(i.operands[1], access.isShared);
  if (isCompare) {
    Type* type = memoryType(c, access);
    Value* pair = c.e.CreateAtomicCmpXchg(pointer, c.read(i.operands[2], type),
                                          c.read(i.operands[3], type), MaybeAlign(), ordering,
                                          AtomicCmpXchgInst::getStrongestFailureOrdering(ordering));
    return c.write(i.operands[0], c.e.CreateExtractValue(pair, 0));
  }
  const std::vector<Value*> old = update(c, i, access, pointer, i.operands[2]);
  const auto targets = PtxContext::elements(i.operands[0]);
  if (targets.size() != old.size())
    c.unsupported(i);
  for (size_t lane = 0; lane < old.size(); ++lane)
    c.write(targets[lane], old[lane]);
}

void reduce(PtxContext& c, PtxInstruction& i) {
  i.take("async");
  Access access = takeAccess(c, i);
  if (i.operands.size() != 2)
    c.unsupported(i);
  update(c, i, access, c.address(i.operands[0], access.isShared), i.operands[1]);
}

void fence(PtxContext& c, PtxInstruction& i) {
  for (const char* word : {"acq_rel", "sc", "acquire", "release", "mbarrier_init", "cta", "gl",
                           "gpu", "sys", "cluster"})
    i.take(word);
  if (i.take("proxy") && i.takeAny({"async", "alias"}) >= 0)
    takeSpace(i);
  c.e.CreateFence(AtomicOrdering::SequentiallyConsistent);
}

/// cvta.<space>.u64 d, a and cvta.to.<space>.u64 d, a
void convertAddress(PtxContext& c, PtxInstruction& i) {
  bool isTo = i.take("to");
  bool isShared = takeSpace(i);
  std::optional<PtxType> type = i.takeType();
  if (!type || i.operands.size() != 2)
    c.unsupported(i);
  Type* number = c.e.i(64);
  if (!isShared)
    return c.write(i.operands[0], c.read(i.operands[1], number));
  Type* shared = PointerType::get(c.context(), kSharedSpace);
  if (isTo) {
    Value* pointer = c.e.CreateAddrSpaceCast(c.read(i.operands[1], c.e.getPtrTy()), shared);
    return c.write(i.operands[0], c.e.CreatePtrToInt(pointer, number));
  }
  Value* pointer = c.e.CreateIntToPtr(c.read(i.operands[1], number), shared);
  c.write(i.operands[0],
          c.e.CreatePtrToInt(c.e.CreateAddrSpaceCast(pointer, c.e.getPtrTy()), number));
}

void isSpace(PtxContext& c, PtxInstruction& i) {
  bool isGlobal = i.take("global");
  bool isShared = i.take("shared") || i.take("shared::cta") || i.take("shared::cluster");
  if (!isGlobal && !isShared && i.takeAny({"local", "const"}) < 0)
    c.unsupported(i);
  Value* inShared =
      c.e.intrinsic("mneme.is.shared", c.e.getInt1Ty(), {c.read(i.operands[1], c.e.getPtrTy())});
  Value* result = isShared ? inShared : (isGlobal ? c.e.CreateNot(inShared) : c.e.getFalse());
  c.write(i.operands[0], result);
}

/// The arrival a copy triggers: the copy is complete already. Without .noinc the object's count was
/// raised by one for it, which cancels out.
void copyArrival(PtxContext& c, PtxInstruction& i) {
  i.take("b64");
  if (!i.take("arrive") || !(i.take("shared") || i.take("shared::cta")) || i.operands.size() != 1)
    c.unsupported(i);
  if (i.take("noinc"))
    mbarrierArrive(c.e, c.address(i.operands[0], true), c.e.getInt32(1), false);
}

/// Copies of a size known at run time, between global memory and the block's own shared memory.
void copyBulk(PtxContext& c, PtxInstruction& i) {
  if (i.takeAny({"commit_group", "wait_group"}) >= 0) {
    i.take("read");
    return;
  }
  takeScopesAndHints(i);
  const bool toShared = i.parts.at(0) != "global";
  const bool isCounted = i.take("mbarrier::complete_tx::bytes");
  if (!i.take("global") || i.takeAny({"shared::cta", "shared::cluster"}) < 0 ||
      isCounted != toShared || (!isCounted && !i.take("bulk_group")) ||
      i.operands.size() != (isCounted ? 4u : 3u))
    c.unsupported(i);
  Value* size = c.read(i.operands[2], c.e.i(32));
  c.e.CreateMemCpy(c.address(i.operands[0], toShared), MaybeAlign(),
                   c.address(i.operands[1], !toShared), MaybeAlign(),
                   c.e.CreateZExt(size, c.e.i(64)));
  if (isCounted)
    mbarrierCompleteBytes(c.e, c.address(i.operands[3], true), size);
}

/// Copies at once: an asynchronous copy may be complete as soon as it is issued.
void copyAsync(PtxContext& c, PtxInstruction& i) {
  if (!i.take("async"))
    c.unsupported(i);
  if (i.take("bulk"))
    return copyBulk(c, i);
  if (i.takeAny({"commit_group", "wait_group", "wait_all"}) >= 0)
    return;
  if (i.take("mbarrier"))
    return copyArrival(c, i);
  takeScopesAndHints(i);
  if (!i.take("shared") && !i.take("shared::cta"))
    c.unsupported(i);
  uint64_t size = 0;
  if (!i.take("global") || i.operands.size() < 3 || i.operands.size() > 4)
    c.unsupported(i);
  auto* constant = dyn_cast<ConstantInt>(c.read(i.operands[2], c.e.i(32)));
  if (!constant)
    c.unsupported(i);
  size = constant->getZExtValue();
  Value* to = c.address(i.operands[0], true);
  Value* from = c.address(i.operands[1], false);
  Value* count = c.e.getInt64(size);
  if (i.operands.size() == 4) { // the rest is filled with zeros
    c.e.CreateMemSet(to, c.e.getInt8(0), size, MaybeAlign());
    count = c.e.CreateZExt(c.read(i.operands[3], c.e.i(32)), c.e.i(64));
    count = c.e.CreateBinaryIntrinsic(Intrinsic::umin, count, c.e.getInt64(size));
  }
  c.e.CreateMemCpy(to, MaybeAlign(), from, MaybeAlign(), count);
}

void drop(PtxContext&, PtxInstruction& i) { i.parts.clear(); }

/// How a cache keeps lines: nothing to keep here.
void createPolicy(PtxContext& c, PtxInstruction& i) {
  c.write(i.operands.at(0), c.e.getInt64(0));
  i.parts.clear();
}

constexpr PtxRule kRules[] = {
    {"ld", load},
    {"ldu", load},
    {"st", store},
    {"atom", atomic},
    {"red", reduce},
    {"fence", fence},
    {"membar", fence},
    {"cvta", convertAddress},
    {"isspacep", isSpace},
    {"cp", copyAsync},
    {"prefetch", drop},
    {"prefetchu", drop},
    {"applypriority", drop},
    {"createpolicy", createPolicy},
    {"pragma", drop},
};

} // namespace

std::span<const PtxRule> ptxMemoryRules() { return kRules; }

} // namespace mneme::compile::cpu
