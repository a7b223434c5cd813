// AMD's device libraries but for their math and images: settings, launch dimensions, printf, the
// heap, and what threads of a block or grid do together.
#include <cstddef>

#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"
#include "runtime/emulator/lowering/function_body.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

Value* blockBarrier(Emit& e) {
  e.service(offsetof(mneme_cpu_services, barrier), e.getVoidTy(),
            {e.context(), e.getInt32(0), e.getInt32(0)});
  return nullptr;
}

// Launch dimensions: functions of the dimension's number.

using Axis = Value* (*)(Emit&, unsigned);

Value* registerOf(Emit& e, const char* family, unsigned axis) {
  constexpr const char* kAxes[] = {".x", ".y", ".z"};
  return e.CreateZExt(e.specialRegister(std::string(family) + kAxes[axis]), e.i(64));
}
Value* localId(Emit& e, unsigned d) { return registerOf(e, "tid", d); }
Value* groupId(Emit& e, unsigned d) { return registerOf(e, "ctaid", d); }
Value* localSize(Emit& e, unsigned d) { return registerOf(e, "ntid", d); }
Value* groupCount(Emit& e, unsigned d) { return registerOf(e, "nctaid", d); }
Value* globalSize(Emit& e, unsigned d) { return e.CreateMul(localSize(e, d), groupCount(e, d)); }
Value* globalId(Emit& e, unsigned d) {
  return e.CreateAdd(e.CreateMul(groupId(e, d), localSize(e, d)), localId(e, d));
}

struct AxisRule {
  const char* name;
  Axis value;
  unsigned beyond; ///< for dimensions from 3 on
};
constexpr AxisRule kAxisRules[] = {
    {"__ockl_get_local_id", localId, 0},
    {"__ockl_get_group_id", groupId, 0},
    {"__ockl_get_local_size", localSize, 1},
    {"__ockl_get_num_groups", groupCount, 1},
    {"__ockl_get_global_size", globalSize, 1},
    {"__ockl_get_global_id", globalId, 0},
    {"__ockl_get_enqueued_local_size", localSize, 1},
};

Value* byAxis(Emit& e, Function& f, const AxisRule& rule) {
  Value* result = e.getInt64(rule.beyond);
  for (unsigned d = 3; d-- > 0;)
    result = e.CreateSelect(e.CreateICmpEQ(f.getArg(0), e.getInt32(d)), rule.value(e, d), result);
  return e.CreateZExtOrTrunc(result, f.getReturnType());
}

// Everything else.

using Body = Value* (*)(Emit&, Function&, unsigned variant);

Value* printBegin(Emit& e, Function&, unsigned toErrors) {
  return e.service(offsetof(mneme_cpu_services, print_begin), e.i(64),
                   {e.context(), e.getInt32(toErrors)});
}

/// append_args(print, count, seven values, isLast)
Value* printValues(Emit& e, Function& f, unsigned) {
  constexpr unsigned kMost = 7;
  AllocaInst* values = e.CreateAlloca(ArrayType::get(e.i(64), kMost));
  for (unsigned index = 0; index < kMost; ++index)
    e.CreateStore(f.getArg(2 + index), e.CreateConstInBoundsGEP1_64(e.i(64), values, index));
  return e.service(offsetof(mneme_cpu_services, print_values), e.i(64),
                   {e.context(), f.getArg(0), values, f.getArg(1), f.getArg(9)});
}

/// append_string_n(print, text, sizeBytes, isLast)
Value* printText(Emit& e, Function& f, unsigned) {
  return e.service(offsetof(mneme_cpu_services, print_text), e.i(64),
                   {e.context(), f.getArg(0), f.getArg(1), f.getArg(2), f.getArg(3)});
}

Value* allocate(Emit& e, Function& f, unsigned) {
  Value* memory = e.service(offsetof(mneme_cpu_services, device_malloc), e.getPtrTy(),
                            {e.context(), e.CreateZExtOrTrunc(f.getArg(0), e.i(64))});
  return f.getReturnType()->isPointerTy() ? memory : e.CreatePtrToInt(memory, f.getReturnType());
}

Value* release(Emit& e, Function& f, unsigned) {
  Value* memory = f.getArg(0);
  if (!memory->getType()->isPointerTy())
    memory = e.CreateIntToPtr(memory, e.getPtrTy());
  e.service(offsetof(mneme_cpu_services, device_free), e.getVoidTy(), {e.context(), memory});
  return nullptr;
}

Value* blockReduce(Emit& e, Function& f, unsigned operation) {
  Value* predicate = e.CreateZExt(e.CreateIsNotNull(f.getArg(0)), e.i(32));
  return e.service(offsetof(mneme_cpu_services, barrier_reduce), e.i(32),
                   {e.context(), e.getInt32(0), e.getInt32(operation), predicate});
}

/// flags, order, scope: the strongest is right for all.
Value* memoryFence(Emit& e, Function&, unsigned) {
  e.CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::System);
  return nullptr;
}

Value* one(Emit& e, Function& f, unsigned) { return ConstantInt::get(f.getReturnType(), 1); }
Value* zero(Emit& e, Function& f, unsigned) { return ConstantInt::get(f.getReturnType(), 0); }

Value* gridSize(Emit& e, Function& f, unsigned) {
  Value* size = e.CreateMul(e.CreateMul(globalSize(e, 0), globalSize(e, 1)), globalSize(e, 2));
  return e.CreateZExtOrTrunc(size, f.getReturnType());
}

/// Blocks first, then threads in them.
Value* gridRank(Emit& e, Function& f, unsigned) {
  const auto rank = [&](Axis id, Axis size) {
    Value* plane = e.CreateAdd(e.CreateMul(id(e, 2), size(e, 1)), id(e, 1));
    return e.CreateAdd(e.CreateMul(plane, size(e, 0)), id(e, 0));
  };
  Value* threads = e.CreateMul(e.CreateMul(localSize(e, 0), localSize(e, 1)), localSize(e, 2));
  Value* first = e.CreateMul(rank(groupId, groupCount), threads);
  return e.CreateZExtOrTrunc(e.CreateAdd(first, rank(localId, localSize)), f.getReturnType());
}

/// One thread of each block arrives for it.
Value* gridSync(Emit& e, Function&, unsigned) {
  blockBarrier(e);
  Value* rank = e.CreateOr(e.CreateOr(e.specialRegister("tid.x"), e.specialRegister("tid.y")),
                           e.specialRegister("tid.z"));
  Value* isFirst = e.CreateIsNull(rank);
  Instruction* end = &*e.GetInsertPoint();
  Emit first(*SplitBlockAndInsertIfThen(isFirst, end, false));
  Value* blocks = first.CreateMul(first.CreateMul(groupCount(first, 0), groupCount(first, 1)),
                                  groupCount(first, 2));
  gridArrival(first, blocks);
  e.SetInsertPoint(end);
  return blockBarrier(e);
}

struct BodyRule {
  const char* name;
  unsigned parameters;
  Body body;
  unsigned variant = 0;
};
constexpr BodyRule kBodies[] = {
    {"__ockl_printf_begin", 1, printBegin, 0},
    {"__ockl_fprintf_stdout_begin", 0, printBegin, 0},
    {"__ockl_fprintf_stderr_begin", 0, printBegin, 1},
    {"__ockl_printf_append_args", 10, printValues},
    {"__ockl_fprintf_append_args", 10, printValues},
    {"__ockl_printf_append_string_n", 4, printText},
    {"__ockl_fprintf_append_string_n", 4, printText},
    {"__ockl_dm_alloc", 1, allocate},
    {"__ockl_dm_dealloc", 1, release},
    {"__ockl_wgred_add_i32", 1, blockReduce, MNEME_REDUCE_POPC},
    {"__ockl_wgred_and_i32", 1, blockReduce, MNEME_REDUCE_AND},
    {"__ockl_wgred_or_i32", 1, blockReduce, MNEME_REDUCE_OR},
    {"__atomic_work_item_fence", 3, memoryFence},
    {"__ockl_grid_sync", 0, gridSync},
    {"__ockl_grid_is_valid", 0, one},
    // A launch on several devices is one on a single device here: its grids are one.
    {"__ockl_multi_grid_sync", 0, gridSync},
    {"__ockl_multi_grid_is_valid", 0, one},
    {"__ockl_multi_grid_num_grids", 0, one},
    {"__ockl_multi_grid_grid_rank", 0, zero},
    {"__ockl_multi_grid_size", 0, gridSize},
    {"__ockl_multi_grid_thread_rank", 0, gridRank},
};

/// Their bodies talk to the host or to other devices in ways that only AMD's runtime understands.
/// Without bodies, a kernel that reaches them is refused by name.
bool isHostCall(StringRef name) {
  return name.starts_with("__ockl_hostcall") || name.starts_with("__ockl_call_host_function") ||
         name == "__ockl_devmem_request" || name == "__ockl_sanitizer_report";
}

/// The runtime's own: vendor_calls.cpp knows their declarations.
bool isRuntimeCall(StringRef name) {
  return name == "__assert_fail" || name == "__assertfail" || name == "malloc" || name == "free" ||
         name == "__cxa_pure_virtual" || name == "__cxa_deleted_virtual";
}

void makeDeclaration(Function& function) {
  function.deleteBody();
  function.setLinkage(GlobalValue::ExternalLinkage);
  function.setVisibility(GlobalValue::DefaultVisibility);
}

/// Where an optimizer took parameters out, as it does with functions that only their module sees,
/// the body is that of one use and stays.
void define(Function& function, StringRef name) {
  for (const AxisRule& rule : kAxisRules)
    if (name == rule.name && function.arg_size() == 1) {
      ReturnInst* place = startBody(function);
      Emit emit(*place);
      finishBody(place, byAxis(emit, function, rule));
    }
  for (const BodyRule& rule : kBodies)
    if (name == rule.name && function.arg_size() == rule.parameters) {
      ReturnInst* place = startBody(function);
      Emit emit(*place);
      finishBody(place, rule.body(emit, function, rule.variant));
    }
}

/// Every library function decides by these which of its bodies counts.
void defineSettings(Module& module, const AmdgcnTraits& traits, const CpuLoweringOptions& options) {
  const std::pair<const char*, uint64_t> settings[] = {
      {"__oclc_finite_only_opt", 0},
      {"__oclc_unsafe_math_opt", 0},
      {"__oclc_daz_opt", options.flushDenormals},
      {"__oclc_correctly_rounded_sqrt32", options.preciseSqrt},
      {"__oclc_wavefrontsize64", traits.waveSize == 64},
      {"__oclc_wavefrontsize_log2", traits.waveSize == 64 ? 6 : 5},
      {"__oclc_ISA_version", traits.isaVersion},
      {"__oclc_ABI_version", traits.codeObject},
  };
  SmallPtrSet<Function*, 32> changed;
  for (auto [name, value] : settings) {
    GlobalVariable* setting = module.getNamedGlobal(name);
    if (!setting || !setting->getValueType()->isIntegerTy())
      continue;
    Constant* constant = ConstantInt::get(setting->getValueType(), value);
    for (User* user : make_early_inc_range(setting->users()))
      if (auto* load = dyn_cast<LoadInst>(user); load && load->getType() == constant->getType()) {
        changed.insert(load->getFunction());
        foldTo(*load, *constant);
      }
    setting->setInitializer(constant);
    setting->setConstant(true);
    setting->setLinkage(GlobalValue::InternalLinkage);
  }
  for (Function* function : changed)
    dropDeadBranches(*function);
}

} // namespace

void replaceAmdgcnLibraries(Module& module, const AmdgcnTraits& traits,
                            const CpuLoweringOptions& options) {
  defineSettings(module, traits, options);
  replaceAmdgcnMath(module);
  for (Function& function : module) {
    StringRef name = libraryName(function);
    if (isHostCall(name) || (isRuntimeCall(name) && function.getName() == name))
      makeDeclaration(function);
    else if (!defineAmdgcnImage(function, name))
      define(function, name);
  }
}

} // namespace mneme::compile::cpu
