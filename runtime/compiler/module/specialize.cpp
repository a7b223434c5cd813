#include "runtime/compiler/module/specialize.h"

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <string>

#include "runtime/compiler/ir/compat.h"
#include "runtime/compiler/module/constant_content.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

constexpr const char* kRegister = "llvm.nvvm.read.ptx.sreg.";
constexpr const char* kAxes[] = {".x", ".y", ".z"};

/// Appends "<begin><value as LLVM prints it>\n".
void note(TraceText trace, const std::string& begin, const llvm::Value& value) {
  if (!trace)
    return;
  std::string text;
  llvm::raw_string_ostream(text) << value;
  // Omit the address space in which AMD GPUs have constants.
  if (const size_t space = text.find("private addrspace(4) "); space != std::string::npos)
    text.erase(space + strlen("private "), strlen("addrspace(4) "));
  *trace += begin + text + '\n';
}

void note(TraceText trace, const std::string& line) {
  if (trace)
    *trace += line + '\n';
}

llvm::Constant* constantOf(const llvm::Argument& argument, mneme_bytes value) {
  llvm::Type* type = argument.getType();
  const llvm::DataLayout& layout = argument.getParent()->getParent()->getDataLayout();
  const std::string what = "argument " + std::to_string(argument.getArgNo()) + " of kernel '" +
                           argument.getParent()->getName().str() + "'";
  const bool isObject = argument.hasPointeeInMemoryValueAttr() && !argument.hasStructRetAttr();
  if (isObject || !(type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy() ||
                    type->isVectorTy()))
    throw Error(ErrorCode::InvalidArgument,
                what + " cannot be specialised: only integers, floating point numbers and "
                       "pointers can");
  const uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
  if (value.size != size || !value.data)
    throw Error(ErrorCode::InvalidArgument, what + " has " + std::to_string(size) +
                                                " bytes, but a value of " +
                                                std::to_string(value.size) + " was given");
  return constantFrom(type, {static_cast<const char*>(value.data), size}, layout);
}

void replaceReads(llvm::Module& module, const std::string& intrinsic, uint32_t value,
                  TraceText trace) {
  llvm::Function* function = module.getFunction(intrinsic);
  if (!function)
    return;
  for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledFunction() != function)
      continue;
    llvm::Constant* constant = llvm::ConstantInt::get(call->getType(), value);
    note(trace, "[DimSpec] Replace call to " + intrinsic + " with constant ", *constant);
    call->replaceAllUsesWith(constant);
    call->eraseFromParent();
  }
}

void boundReads(llvm::Module& module, const std::string& intrinsic, uint32_t bound,
                TraceText trace) {
  llvm::Function* function = module.getFunction(intrinsic);
  if (!function || bound == 0)
    return;
  const llvm::ConstantRange range(llvm::APInt(32, 0), llvm::APInt(32, bound));
  for (llvm::User* user : function->users()) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledFunction() != function || !call->getType()->isIntegerTy(32))
      continue;
    call->addRetAttr(llvm::Attribute::get(call->getContext(), llvm::Attribute::Range, range));
    note(trace, "[DimSpec] Range " + intrinsic + " [0," + std::to_string(bound) + ")");
  }
}

void dropAnnotations(llvm::Function& kernel) {
  llvm::NamedMDNode* annotations = kernel.getParent()->getNamedMetadata("nvvm.annotations");
  if (!annotations)
    return;
  std::vector<llvm::MDNode*> kept;
  for (llvm::MDNode* node : annotations->operands()) {
    const bool isPair = node->getNumOperands() == 3;
    const auto* name =
        isPair ? llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(1).get()) : nullptr;
    const auto* value =
        isPair ? llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(node->getOperand(0).get()) : nullptr;
    const bool isBound =
        name && value && value->getValue() == &kernel &&
        (name->getString().starts_with("maxntid") || name->getString() == "minctasm");
    if (!isBound)
      kept.push_back(node);
  }
  annotations->clearOperands();
  for (llvm::MDNode* node : kept)
    annotations->addOperand(node);
}

std::string boundsText(uint32_t maxThreads, uint32_t minBlocks) {
  return "[LaunchBoundSpec] MaxThreads " + std::to_string(maxThreads) + " MinBlocksPerSM " +
         std::to_string(minBlocks);
}

/// What __launch_bounds__ of HIP's headers is.
void setAmdBounds(llvm::Function& kernel, uint32_t maxThreads, uint32_t minBlocks) {
  if (maxThreads != 0)
    kernel.addFnAttr("amdgpu-flat-work-group-size", "1," + std::to_string(maxThreads));
  if (minBlocks != 0)
    kernel.addFnAttr("amdgpu-waves-per-eu", std::to_string(minBlocks));
}

/// AMDGCN kernels read their dimensions from memory whose meaning only the lowering knows.
void noteDimensions(llvm::Module& module, const uint32_t grid[3], const uint32_t block[3]) {
  llvm::NamedMDNode* note = module.getOrInsertNamedMetadata("mneme.dimensions");
  note->clearOperands();
  llvm::IntegerType* type = llvm::Type::getInt32Ty(module.getContext());
  for (const uint32_t* numbers : {block, grid})
    for (unsigned axis = 0; axis < 3; ++axis)
      note->addOperand(llvm::MDNode::get(
          module.getContext(),
          llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(type, numbers[axis]))));
}

/// gridDim.x and its like are functions in HIP's headers: "operator unsigned" of
/// __HIP_Coordinates<__HIP_GridDim>::__X.
void foldHipCoordinates(llvm::Module& module, const uint32_t grid[3], const uint32_t block[3],
                        TraceText trace) {
  const std::pair<const char*, const uint32_t*> coordinates[] = {{"13__HIP_GridDim", grid},
                                                                 {"14__HIP_BlockDim", block}};
  for (const auto& [name, sizes] : coordinates)
    for (unsigned axis = 0; axis < 3; ++axis)
      replaceReads(module,
                   std::string("_ZNK17__HIP_CoordinatesI") + name + "E3__" + "XYZ"[axis] + "cvjEv",
                   sizes[axis], trace);
}

} // namespace

void specializeArguments(llvm::Function& kernel, const mneme_arg_value* values, size_t count,
                         TraceText trace) {
  llvm::SmallVector<llvm::Constant*> unnamed;
  for (size_t position = 0; position < count; ++position) {
    const mneme_arg_value& given = values[position];
    if (given.content == MNEME_CONSTANT_MEMBER) // specializeMembers() has these
      continue;
    if (given.index >= kernel.arg_size())
      throw Error(ErrorCode::InvalidArgument, "kernel '" + kernel.getName().str() + "' has " +
                                                  std::to_string(kernel.arg_size()) +
                                                  " arguments; there is no argument " +
                                                  std::to_string(given.index) + " to specialise");
    llvm::Argument& argument = *kernel.getArg(given.index);
    llvm::Constant* value = nullptr;
    if (given.content == MNEME_CONSTANT_NONE)
      argument.replaceAllUsesWith(value = constantOf(argument, given.value));
    else
      unnamed.push_back(value = specializeContent(argument, given));
    note(trace,
         "[ArgSpec] Replaced Function " + kernel.getName().str() + " ArgNo " +
             std::to_string(given.index) + " with value ",
         *value);
  }
  // The lines number what has no name; code generators want names and alignment.
  for (llvm::Constant* content : unnamed)
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(content)) {
      variable->setName("mneme_content");
      variable->setAlignment(llvm::Align(kContentAlign));
    }
}

void setLaunchBounds(llvm::Function& kernel, uint32_t maxThreads, uint32_t minBlocks,
                     TraceText trace) {
  if (compat::moduleTriple(*kernel.getParent()).isAMDGCN()) {
    setAmdBounds(kernel, maxThreads, minBlocks);
    note(trace, boundsText(maxThreads, minBlocks));
    return;
  }
  kernel.removeFnAttr("nvvm.maxntid");
  kernel.removeFnAttr("nvvm.minctasm");
  dropAnnotations(kernel);
  // The exact number stays, and the assembler takes one of the two.
  if (maxThreads != 0 && !kernel.hasFnAttribute("nvvm.reqntid"))
    compat::setMaxThreads(kernel, maxThreads);
  if (minBlocks != 0)
    compat::setMinBlocks(kernel, minBlocks);
  note(trace, boundsText(maxThreads, minBlocks));
}

void foldDimensions(llvm::Module& module, const uint32_t grid[3], const uint32_t block[3],
                    TraceText trace) {
  if (compat::moduleTriple(module).isAMDGCN()) {
    foldHipCoordinates(module, grid, block, trace);
    noteDimensions(module, grid, block);
    return;
  }
  const std::pair<const char*, const uint32_t*> registers[] = {{"nctaid", grid}, {"ntid", block}};
  for (const auto& [name, sizes] : registers)
    for (unsigned axis = 0; axis < 3; ++axis)
      replaceReads(module, std::string(kRegister) + name + kAxes[axis], sizes[axis], trace);
}

void boundIndices(llvm::Module& module, const uint32_t grid[3], const uint32_t block[3],
                  TraceText trace) {
  const bool isAmd = compat::moduleTriple(module).isAMDGCN();
  const std::pair<const char*, const uint32_t*> registers[] = {
      {isAmd ? "llvm.amdgcn.workitem.id" : "llvm.nvvm.read.ptx.sreg.tid", block},
      {isAmd ? "llvm.amdgcn.workgroup.id" : "llvm.nvvm.read.ptx.sreg.ctaid", grid}};
  for (const auto& [name, sizes] : registers)
    for (unsigned axis = 0; axis < 3; ++axis)
      boundReads(module, std::string(name) + kAxes[axis], sizes[axis], trace);
}

} // namespace mneme::compile
