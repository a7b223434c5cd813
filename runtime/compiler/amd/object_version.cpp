#include "runtime/compiler/amd/object_version.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include <array>

#include "runtime/compiler/ir/compat.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

using namespace llvm;

constexpr const char* kVersionFlag = "amdhsa_code_object_version";
constexpr const char* kVersionInLibraries = "__oclc_ABI_version";

/// What both layouts have, by bytes behind a kernel's own arguments.
struct Moved {
  unsigned before5, since5;
};
constexpr std::array<Moved, 7> kMoved = {{
    {0, 40}, // offset of the grid, three times 8 bytes
    {8, 48},
    {16, 56},
    {24, 80},  // hostcall buffer
    {32, 104}, // default queue
    {40, 112}, // completion action
    {48, 88},  // multigrid
}};
constexpr unsigned kPrintfBefore5 = 24, kPrintfSince5 = 72; // instead of the hostcall buffer
constexpr const char* kBytesBefore5 = "56";
constexpr const char* kBytesSince5 = "256";

bool usesPrintfBuffer(const Module& module) {
  const auto* kind = dyn_cast_or_null<MDString>(module.getModuleFlag("amdgpu_printf_kind"));
  return kind && kind->getString() == "buffered";
}

/// Moves reads of hidden arguments between the layouts.
class HiddenArguments {
public:
  HiddenArguments(Module& module, unsigned version)
      : module_(module), version_(version), hasBuffer_(usesPrintfBuffer(module)) {}

  /// \param decided  functions that choose a layout themselves
  void layOutAnew(const SmallPtrSetImpl<Function*>& decided) {
    SmallVector<CallInst*> calls;
    for (Function& function : module_) {
      if (function.hasFnAttribute("amdgpu-implicitarg-num-bytes"))
        function.addFnAttr("amdgpu-implicitarg-num-bytes",
                           version_ < 500 ? kBytesBefore5 : kBytesSince5);
      if (version_ < 500)
        function.removeFnAttr("amdgpu-no-dispatch-ptr"); // what an earlier pipeline found
      if (decided.contains(&function))
        continue;
      for (Instruction& instruction : instructions(function))
        if (auto* call = dyn_cast<CallInst>(&instruction);
            call && call->getIntrinsicID() == Intrinsic::amdgcn_implicitarg_ptr)
          calls.push_back(call);
    }
    for (CallInst* call : calls)
      follow(*call, *call, 0);
  }

private:
  [[noreturn]] void refuse(const Instruction& use, const std::string& what) const {
    throw Error(ErrorCode::Unsupported,
                "'" + use.getFunction()->getName().str() + "' reads " + what +
                    ", which code objects of version " + std::to_string(version_ / 100) +
                    " do not have in this way: build the program with -mcode-object-version=" +
                    std::to_string(version_ / 100));
  }

  /// Everything that reads `pointer`, which is `offset` bytes behind what `call` gives.
  void follow(CallInst& call, Value& pointer, int64_t offset) {
    for (User* user : make_early_inc_range(pointer.users())) {
      auto& use = *cast<Instruction>(user);
      if (auto* element = dyn_cast<GetElementPtrInst>(&use)) {
        APInt more(module_.getDataLayout().getIndexTypeSizeInBits(element->getType()), 0);
        if (!element->accumulateConstantOffset(module_.getDataLayout(), more))
          refuse(use, "hidden arguments by an index");
        follow(call, *element, offset + more.getSExtValue());
      } else if (isa<AddrSpaceCastInst>(use) || isa<BitCastInst>(use)) {
        follow(call, use, offset);
      } else if (auto* load = dyn_cast<LoadInst>(&use)) {
        replace(*load, call, static_cast<unsigned>(offset));
      } else {
        refuse(use, "hidden arguments through a pointer");
      }
    }
  }

  void replace(LoadInst& load, CallInst& call, unsigned offset) {
    IRBuilder<> builder(&load);
    Value* value = movedRead(builder, load, call, offset);
    if (!value && version_ < 500)
      value = fromPacket(builder, offset, load.getType()->getScalarSizeInBits());
    if (!value || value->getType() != load.getType())
      refuse(load, "the hidden argument at byte " + std::to_string(offset));
    value->takeName(&load);
    load.replaceAllUsesWith(value);
    load.eraseFromParent();
  }

  Value* movedRead(IRBuilder<>& builder, const LoadInst& load, CallInst& call, unsigned offset) {
    const Moved buffer = {kPrintfBefore5, hasBuffer_ ? kPrintfSince5 : 80};
    for (Moved place : kMoved) {
      if (place.before5 == buffer.before5)
        place = buffer;
      if (offset == (version_ < 500 ? place.since5 : place.before5))
        return builder.CreateAlignedLoad(
            load.getType(),
            builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), &call,
                                               version_ < 500 ? place.before5 : place.since5),
            Align(8));
    }
    return nullptr;
  }

  /// Version 4 passes launch dimensions only in HSA's dispatch packet: the block's size at byte 4,
  /// that of the grid, in threads, at byte 12, the number of dimensions in the lowest bits of byte
  /// 2.
  Value* fromPacket(IRBuilder<>& builder, unsigned offset, unsigned bits) {
    if (offset == 64 && bits == 16)
      return builder.CreateAnd(packetField(builder, 2, 16), 3);
    const bool isCount = offset < 12 && offset % 4 == 0 && bits == 32;
    const bool isSize = offset >= 12 && offset < 18 && offset % 2 == 0 && bits == 16;
    const bool isRest = offset >= 18 && offset < 24 && offset % 2 == 0 && bits == 16;
    if (!isCount && !isSize && !isRest)
      return nullptr;
    const unsigned axis = isCount ? offset / 4 : (offset - (isSize ? 12 : 18)) / 2;
    Value* size = packetField(builder, 4 + 2 * axis, 16);
    if (isSize)
      return size;
    Value* threads = packetField(builder, 12 + 4 * axis, 32);
    Value* wide = builder.CreateZExt(size, builder.getInt32Ty());
    return isCount ? builder.CreateUDiv(threads, wide)
                   : builder.CreateTrunc(builder.CreateURem(threads, wide), builder.getInt16Ty());
  }

  Value* packetField(IRBuilder<>& builder, unsigned offset, unsigned bits) {
    Value* packet = builder.CreateIntrinsic(Intrinsic::amdgcn_dispatch_ptr, ArrayRef<Type*>(),
                                            ArrayRef<Value*>());
    return builder.CreateAlignedLoad(
        builder.getIntNTy(bits),
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), packet, offset), Align(bits / 8));
  }

  Module& module_;
  const unsigned version_;
  const bool hasBuffer_;
};

/// Functions of the device libraries query the version and choose a layout; this function inserts
/// the version.
SmallPtrSet<Function*, 8> decideInLibraries(Module& module, unsigned version) {
  SmallPtrSet<Function*, 8> decided;
  GlobalVariable* variable = module.getNamedGlobal(kVersionInLibraries);
  if (!variable || !variable->hasInitializer())
    return decided;
  variable->setInitializer(ConstantInt::get(variable->getValueType(), version));
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* load = dyn_cast<LoadInst>(&instruction);
          load && load->getPointerOperand()->stripPointerCasts() == variable)
        decided.insert(&function);
  return decided;
}

} // namespace

unsigned objectVersionOf(const llvm::Module& module) {
  const auto* flag = mdconst::extract_or_null<ConstantInt>(module.getModuleFlag(kVersionFlag));
  return flag ? static_cast<unsigned>(flag->getZExtValue()) : compat::kUsualCodeObjectVersion;
}

bool saysObjectVersion(const llvm::Module& module) {
  return module.getModuleFlag(kVersionFlag) != nullptr;
}

void chooseObjectVersion(Module& module, unsigned version, const std::string& cpu) {
  if (version != 0 && (version < 4 || version > 6))
    throw Error(ErrorCode::InvalidArgument, "there is no code object version " +
                                                std::to_string(version) + "; known are 4, 5 and 6");
  const unsigned own = objectVersionOf(module);
  const unsigned wanted = version == 0 ? own : version * 100;
  if (wanted < 600 && StringRef(cpu).ends_with("-generic"))
    throw Error(ErrorCode::Unsupported,
                "'" + cpu + "' is for several GPUs and needs code objects of version 6, " + "not " +
                    std::to_string(wanted / 100));
  if (wanted == own && (version == 0 || saysObjectVersion(module)))
    return;
  module.setModuleFlag(
      Module::Error, kVersionFlag,
      ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(module.getContext()), wanted)));
  const auto decided = decideInLibraries(module, wanted);
  if ((own < 500) != (wanted < 500))
    HiddenArguments(module, wanted).layOutAnew(decided);
}

} // namespace mneme::compile
