#include "passes/route_launches.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <array>

#include "passes/device_module.h"
#include "passes/route_graphs.h"
#include "passes/warning.h"
#include "runtime/core/abi/mneme_rt.h"

namespace mneme::passes {
namespace {

struct LaunchFunction {
  const char* name;
  mneme_launch_form form;
};

// hipExtLaunchKernel takes events that no launch here has room for; it stays direct.
constexpr std::array<LaunchFunction, 11> kLaunchFunctions{{
    {"cudaLaunchKernel", MNEME_LAUNCH_PLAIN},
    {"cudaLaunchKernel_ptsz", MNEME_LAUNCH_PLAIN},
    {"cudaLaunchCooperativeKernel", MNEME_LAUNCH_COOPERATIVE},
    {"cudaLaunchCooperativeKernel_ptsz", MNEME_LAUNCH_COOPERATIVE},
    {"cudaLaunchKernelExC", MNEME_LAUNCH_EX},
    {"cudaLaunchKernelExC_ptsz", MNEME_LAUNCH_EX},
    {"hipLaunchKernel", MNEME_LAUNCH_PLAIN},
    {"hipLaunchKernel_spt", MNEME_LAUNCH_PLAIN},
    {"hipLaunchCooperativeKernel", MNEME_LAUNCH_COOPERATIVE},
    {"hipLaunchCooperativeKernel_spt", MNEME_LAUNCH_COOPERATIVE},
    {"hipLaunchKernelExC", MNEME_LAUNCH_EX},
}};

/// Fields of mneme_launch, in order.
enum Field { Version, Form, Kernel, Grid, Block, Args, SharedBytes, Stream, Config, VendorEntry };

constexpr unsigned kDim3Bytes = sizeof(mneme_dim3);
// cudaLaunchConfig_t and hipLaunchConfig_t: two dim3, the dynamic shared memory, the stream.
constexpr unsigned kConfigSharedOffset = 24;
constexpr unsigned kConfigStreamOffset = 32;

llvm::StructType* launchType(llvm::LLVMContext& context) {
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* ptr = llvm::PointerType::getUnqual(context);
  llvm::Type* dim3 = llvm::ArrayType::get(i32, 3);
  return llvm::StructType::get(context, {i32, i32, ptr, dim3, dim3, ptr, i64, ptr, ptr, ptr});
}

/// Builds the body of one thunk.
class ThunkBuilder {
public:
  ThunkBuilder(llvm::Function& vendor, const LaunchFunction& launch, llvm::Function& thunk)
      : vendor_(vendor), launch_(launch), thunk_(thunk), context_(thunk.getContext()),
        layout_(thunk.getParent()->getDataLayout()), type_(launchType(context_)),
        builder_(llvm::BasicBlock::Create(context_, "entry", &thunk)) {}

  void buildWithDims() {
    unsigned last = thunk_.arg_size();
    begin(thunk_.getArg(0));
    set(Args, thunk_.getArg(last - 3));
    set(SharedBytes, builder_.CreateZExt(thunk_.getArg(last - 2), builder_.getInt64Ty()));
    set(Stream, thunk_.getArg(last - 1));
    set(Config, llvm::Constant::getNullValue(pointer()));
    unsigned half = (last - 4) / 2;
    storeDim(Grid, 1, half);
    storeDim(Block, 1 + half, half);
    finish();
  }

  void buildWithConfig() {
    llvm::Value* config = thunk_.getArg(0);
    llvm::BasicBlock* direct = llvm::BasicBlock::Create(context_, "direct", &thunk_);
    llvm::BasicBlock* routed = llvm::BasicBlock::Create(context_, "routed", &thunk_);
    builder_.CreateCondBr(builder_.CreateIsNull(config), direct, routed);
    builder_.SetInsertPoint(direct);
    builder_.CreateRet(
        builder_.CreateCall(&vendor_, {thunk_.getArg(0), thunk_.getArg(1), thunk_.getArg(2)}));

    builder_.SetInsertPoint(routed);
    begin(thunk_.getArg(1));
    set(Config, config);
    set(Args, thunk_.getArg(2));
    copyDim(Grid, config, 0);
    copyDim(Block, config, kDim3Bytes);
    set(SharedBytes, loadAt(builder_.getInt64Ty(), config, kConfigSharedOffset));
    set(Stream, loadAt(pointer(), config, kConfigStreamOffset));
    finish();
  }

private:
  llvm::PointerType* pointer() const { return llvm::PointerType::getUnqual(context_); }

  void begin(llvm::Value* kernel) {
    record_ = builder_.CreateAlloca(type_, nullptr, "launch");
    set(Version, builder_.getInt32(MNEME_RT_ABI));
    set(Form, builder_.getInt32(launch_.form));
    set(Kernel, kernel);
    set(VendorEntry, &vendor_);
  }

  void set(Field field, llvm::Value* value) {
    builder_.CreateStore(value, builder_.CreateStructGEP(type_, record_, field));
  }

  llvm::Value* loadAt(llvm::Type* type, llvm::Value* base, unsigned offset) {
    return builder_.CreateLoad(type,
                               builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, offset));
  }

  void copyDim(Field field, llvm::Value* base, unsigned offset) {
    builder_.CreateMemCpy(builder_.CreateStructGEP(type_, record_, field), llvm::Align(4),
                          builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, offset),
                          llvm::Align(4), kDim3Bytes);
  }

  /// A dim3 arrives as its ABI says: in pieces (x86-64: i64 and i32), as one array of registers
  /// (AArch64, POWER), or as a pointer to a copy.
  void storeDim(Field field, unsigned first, unsigned count) {
    llvm::Value* argument = thunk_.getArg(first);
    if (count == 1 && argument->getType()->isPointerTy()) {
      copyDim(field, argument, 0);
      return;
    }
    llvm::Value* pieces = builder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt64Ty(), 2));
    for (unsigned index = 0, offset = 0; index < count; ++index) {
      argument = thunk_.getArg(first + index);
      builder_.CreateStore(argument,
                           builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pieces, offset));
      offset += layout_.getTypeAllocSize(argument->getType()).getFixedValue();
    }
    copyDim(field, pieces, 0);
  }

  void finish() {
    llvm::FunctionCallee entry = thunk_.getParent()->getOrInsertFunction(
        "mneme_launch_kernel", llvm::FunctionType::get(builder_.getInt32Ty(), {pointer()}, false));
    builder_.CreateRet(builder_.CreateCall(entry, {record_}));
  }

  llvm::Function& vendor_;
  const LaunchFunction& launch_;
  llvm::Function& thunk_;
  llvm::LLVMContext& context_;
  const llvm::DataLayout& layout_;
  llvm::StructType* type_;
  llvm::IRBuilder<> builder_;
  llvm::Value* record_ = nullptr;
};

/// Bytes of `count` parameters from `first` on, or 0 if one of them cannot be part of a dim3.
uint64_t dimBytes(const llvm::FunctionType& type, unsigned first, unsigned count,
                  const llvm::DataLayout& layout) {
  if (count == 1 && type.getParamType(first)->isPointerTy())
    return kDim3Bytes;
  uint64_t bytes = 0;
  for (unsigned index = first; index < first + count; ++index) {
    if (!type.getParamType(index)->isIntegerTy() && !type.getParamType(index)->isAggregateType())
      return 0;
    bytes += layout.getTypeAllocSize(type.getParamType(index)).getFixedValue();
  }
  return bytes;
}

bool hasKnownSignature(const llvm::Function& vendor, mneme_launch_form form) {
  const llvm::FunctionType& type = *vendor.getFunctionType();
  auto isPointer = [&](unsigned index) { return type.getParamType(index)->isPointerTy(); };
  if (type.isVarArg() || !type.getReturnType()->isIntegerTy(32))
    return false;
  unsigned count = type.getNumParams();
  if (form == MNEME_LAUNCH_EX)
    return count == 3 && isPointer(0) && isPointer(1) && isPointer(2);
  if (count < 6 || (count - 4) % 2 != 0 || !isPointer(0) || !isPointer(count - 3) ||
      !isPointer(count - 1))
    return false;
  // Shared memory is a size_t; hipLaunchCooperativeKernel takes an unsigned int.
  if (llvm::Type* shared = type.getParamType(count - 2);
      !shared->isIntegerTy(64) && !shared->isIntegerTy(32))
    return false;
  unsigned half = (count - 4) / 2;
  const llvm::DataLayout& layout = vendor.getParent()->getDataLayout();
  for (unsigned first : {1u, 1 + half})
    if (uint64_t bytes = dimBytes(type, first, half, layout); bytes < kDim3Bytes || bytes > 16)
      return false;
  return true;
}

void route(llvm::Function& vendor, const LaunchFunction& launch) {
  ThunkBuilder builder(vendor, launch,
                       replaceByThunk(vendor, "__mneme_launch_" + vendor.getName()));
  if (launch.form == MNEME_LAUNCH_EX)
    builder.buildWithConfig();
  else
    builder.buildWithDims();
}

} // namespace

std::optional<unsigned> launchArgumentList(const llvm::Function& vendor) {
  for (const LaunchFunction& launch : kLaunchFunctions)
    if (vendor.getName() == launch.name && vendor.isDeclaration() &&
        hasKnownSignature(vendor, launch.form))
      return launch.form == MNEME_LAUNCH_EX ? 2 : vendor.arg_size() - 3;
  return std::nullopt;
}

bool routeLaunches(llvm::Module& module) {
  if (isDeviceModule(module))
    return false;
  bool changed = routeGraphs(module);
  for (const LaunchFunction& launch : kLaunchFunctions) {
    llvm::Function* vendor = module.getFunction(launch.name);
    if (!vendor || !vendor->isDeclaration() || vendor->use_empty() ||
        module.getFunction(("__mneme_launch_" + vendor->getName()).str()))
      continue;
    if (!hasKnownSignature(*vendor, launch.form)) {
      warn(module, llvm::Twine("'") + launch.name +
                       "' is declared with parameters of its own; launches through it are not "
                       "recorded");
      continue;
    }
    route(*vendor, launch);
    changed = true;
  }
  return changed;
}

llvm::PreservedAnalyses RouteLaunchesPass::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  return routeLaunches(module) ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace mneme::passes
