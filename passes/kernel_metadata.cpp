#include "passes/kernel_metadata.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <set>

#include "passes/device_module.h"
#include "passes/lambdas.h"
#include "passes/shared_helpers.h"
#include "passes/shielded.h"
#include "passes/struct_fields.h"
#include "passes/unrecorded_reads.h"
#include "passes/unset_locals.h"
#include "passes/value_kinds.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/compiler/ir/function_cells.h"
#include "runtime/core/abi/argument.h"
#include "runtime/core/abi/blob_format.h"

namespace mneme::passes {
namespace {

using llvm::json::Array;
using llvm::json::Object;

using Fields = llvm::ArrayRef<std::optional<Array>>;

Array describeArgs(const llvm::Function& kernel, const llvm::DataLayout& layout,
                   Fields fields = {}) {
  Array result;
  for (const llvm::Argument& argument : kernel.args()) {
    llvm::Type* inMemory = argument.getType();
    ArgKind kind = kindOf(inMemory);
    llvm::Align align = layout.getABITypeAlign(inMemory);
    uint64_t size = layout.getTypeStoreSize(inMemory).getFixedValue();
    if (llvm::Type* pointee = argument.getPointeeInMemoryValueType();
        pointee && (argument.hasByValAttr() || argument.hasByRefAttr())) {
      inMemory = pointee;
      kind = ArgKind::Aggregate;
      align = argument.getParamAlign().value_or(layout.getABITypeAlign(pointee));
      size = layout.getTypeAllocSize(pointee).getFixedValue();
    }
    std::string name = argument.getName().str();
    Object described{{"name", name.empty() ? "arg" + std::to_string(argument.getArgNo()) : name},
                     {"size", size},
                     {"align", align.value()},
                     {"kind", llvm::StringRef(nameOf(kind))},
                     {"type", typeName(inMemory)},
                     {"specializable", isSpecializable(argument.getType())}};
    if (!fields.empty() && fields[argument.getArgNo()])
      described["fields"] = Array(*fields[argument.getArgNo()]);
    result.push_back(std::move(described));
  }
  return result;
}

Array describeMarks(const Marks& marks) {
  Array result;
  for (const mneme_jit_mark& mark : marks)
    result.push_back(Object{{"arg", mark.argument},
                            {"type", mark.type},
                            {"element", mark.elementType},
                            {"count_arg", mark.countArgument},
                            {"count_size", mark.countBytes},
                            {"size", mark.sizeBytes},
                            {"count", mark.count},
                            {"count_unsigned", (mark.flags & MNEME_JIT_MARK_UNSIGNED_COUNT) != 0},
                            {"by_value", (mark.flags & MNEME_JIT_MARK_BY_VALUE) != 0}});
  return result;
}

/// Call operators of closures, whose fields may be constants once they are registered.
Array describeLambdas(const llvm::Module& module, const llvm::Function* kernel) {
  Array result;
  Bitcode code;
  for (const llvm::Function& function : module) {
    const std::string type = function.isDeclaration() ? "" : closureTypeOf(function);
    if (type.empty())
      continue;
    Array places;
    if (kernel && code.empty())
      code = bitcodeOf(module);
    if (kernel)
      for (const ClosurePlace& place : closurePlaces(code, kernel->getName(), function.getName()))
        places.push_back(
            Object{{"arg", place.argument}, {"offset", place.offset}, {"size", place.sizeBytes}});
    result.push_back(
        Object{{"type", type}, {"function", function.getName()}, {"places", std::move(places)}});
  }
  return result;
}

/// Objects the toolkit's headers declare in place of special registers, and settings its libraries
/// are compiled with: no program reads or writes their memory.
bool isBuiltinVariable(llvm::StringRef name) {
  return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim" ||
         name == "warpSize" || name.starts_with("_ZN17__HIP_Coordinates") ||
         name.starts_with("__oclc_");
}

Array describeGlobals(const llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  Array result;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (!isDeviceGlobal(variable) || isBuiltinVariable(variable.getName()))
      continue;
    llvm::Type* type = variable.getValueType();
    // Constants that hold functions lie in ordinary memory, and their content is not the closure's.
    const bool isTable = holdsFunctions(variable);
    bool isConstant =
        (variable.isConstant() && !isTable) || variable.getAddressSpace() == kConstantSpace;
    uint64_t size = type->isSized() ? layout.getTypeAllocSize(type).getFixedValue() : 0;
    Object described{
        {"name", variable.getName()},
        {"size", size},
        {"align", variable.getAlign().value_or(layout.getPreferredAlign(&variable)).value()},
        {"constant", isConstant},
        {"defined", variable.hasInitializer()}};
    if (isTable)
      described["functions"] = true;
    result.push_back(std::move(described));
  }
  return result;
}

uint64_t staticSharedBytes(const llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  uint64_t total = 0;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() != kSharedSpace || variable.isDeclaration())
      continue;
    llvm::Align align = variable.getAlign().value_or(layout.getPreferredAlign(&variable));
    total = llvm::alignTo(total, align) +
            layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  }
  return total;
}

/// Functions the device runtime itself provides.
bool isDeviceRuntimeFunction(llvm::StringRef name) {
  static const llvm::StringSet<> names = {
      "vprintf",      "malloc",         "free",
      "__assertfail", "__nvvm_reflect", "memcpy",
      "memset",       "memmove",        "__atomic_work_item_fence"};
  return names.contains(name);
}

/// Functions that other units define, or may define in place of a weak one.
Array undefinedFunctions(const llvm::Module& module) {
  Array result;
  for (const llvm::Function& function : module)
    if ((function.isDeclaration() || function.hasWeakAnyLinkage()) && !function.isIntrinsic() &&
        !function.use_empty() && !isDeviceRuntimeFunction(function.getName()))
      result.push_back(function.getName());
  return result;
}

/// What other units may call or refer to.
Array offeredNames(const llvm::Module& module) {
  Array result;
  for (const llvm::GlobalValue& global : module.global_values())
    if (!global.isDeclarationForLinker() && !global.hasLocalLinkage())
      result.push_back(global.getName());
  return result;
}

bool callsPointers(const llvm::Module& module) {
  return llvm::any_of(module, [](const llvm::Function& function) {
    return llvm::any_of(llvm::instructions(function), ir::callsPointer);
  });
}

/// Objects the kernel is given may point to any of the unit's vtables, and these to any table.
Array describeTables(const llvm::Module& original) {
  Array result;
  const llvm::DataLayout& layout = original.getDataLayout();
  for (const llvm::GlobalVariable& variable : original.globals())
    if (variable.isConstant() && holdsFunctions(variable) && !variable.hasLocalLinkage() &&
        !variable.hasAvailableExternallyLinkage() && !ir::isFunctionCell(variable))
      result.push_back(
          Object{{"name", variable.getName()},
                 {"size", layout.getTypeAllocSize(variable.getValueType()).getFixedValue()}});
  return result;
}

uint64_t productOf(llvm::StringRef list) {
  uint64_t product = 1;
  llvm::SmallVector<llvm::StringRef, 3> parts;
  list.split(parts, ',');
  for (llvm::StringRef part : parts) {
    uint64_t factor = 1;
    if (part.trim().getAsInteger(10, factor))
      return 0;
    product *= factor;
  }
  return product;
}

uint64_t maxThreads(const llvm::Function& kernel) {
  if (kernel.hasFnAttribute("nvvm.maxntid"))
    return productOf(kernel.getFnAttribute("nvvm.maxntid").getValueAsString());
  if (kernel.hasFnAttribute("amdgpu-flat-work-group-size"))
    return productOf(
        kernel.getFnAttribute("amdgpu-flat-work-group-size").getValueAsString().split(',').second);
  std::optional<uint64_t> x = nvvmAnnotation(kernel, "maxntidx");
  return x ? *x * nvvmAnnotation(kernel, "maxntidy").value_or(1) *
                 nvvmAnnotation(kernel, "maxntidz").value_or(1)
           : 0;
}

uint64_t minBlocks(const llvm::Function& kernel) {
  if (kernel.hasFnAttribute("nvvm.minctasm"))
    return productOf(kernel.getFnAttribute("nvvm.minctasm").getValueAsString());
  return nvvmAnnotation(kernel, "minctasm").value_or(0);
}

/// How floating-point code was compiled, seen from the instructions of a closure.
struct FloatFacts {
  bool hasContract = false;
  bool hasMulAdd = false; ///< llvm.fmuladd: contraction within a statement
  bool hasPlain = false;  ///< arithmetic without contract, not from a device library
  bool isFast = false;
  bool hasApproximateDivision = false;
  bool hasApproximateSqrt = false;
  bool flushesDenormals = false;
  bool hasOptnone = false;
  bool isRelaxed = false; ///< a part of -ffast-math
  bool mayReadUnset = false;
};

void noteCall(const llvm::CallInst& call, FloatFacts& facts) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee)
    return;
  llvm::StringRef name = callee->getName();
  bool isApproximate = llvm::isa<llvm::FPMathOperator>(call) && call.hasApproxFunc();
  facts.hasMulAdd |= name.starts_with("llvm.fmuladd");
  facts.hasApproximateSqrt |= name.starts_with("llvm.sqrt") && isApproximate;
}

void noteInstruction(const llvm::Instruction& instruction, bool isLibrary, FloatFacts& facts) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && !isLibrary)
    noteCall(*call, facts);
  if (isLibrary || !llvm::isa<llvm::FPMathOperator>(instruction))
    return;
  bool isArithmetic = llvm::is_contained({llvm::Instruction::FAdd, llvm::Instruction::FSub,
                                          llvm::Instruction::FMul, llvm::Instruction::FDiv},
                                         instruction.getOpcode());
  facts.hasContract |= instruction.hasAllowContract() && !instruction.isFast();
  facts.isFast |= instruction.isFast();
  facts.isRelaxed |= instruction.hasAllowReassoc() || instruction.hasAllowReciprocal() ||
                     instruction.hasApproxFunc();
  facts.hasPlain |= isArithmetic && !instruction.hasAllowContract();
  facts.hasApproximateDivision |=
      instruction.getOpcode() == llvm::Instruction::FDiv && instruction.hasApproxFunc();
}

FloatFacts floatFacts(const Closure& closure, const llvm::Module& original,
                      const BuildFacts& build) {
  FloatFacts facts;
  for (const llvm::Function& function : *closure.module) {
    if (function.isDeclaration())
      continue;
    const bool isLibrary = isLibraryFunction(function);
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      noteInstruction(instruction, isLibrary, facts);
    facts.mayReadUnset |= build.leavesUnset && !isLibrary && mayReadUnsetLocals(function);
    facts.isFast |= function.getFnAttribute("unsafe-fp-math").getValueAsBool();
    facts.flushesDenormals |=
        !isLibrary &&
        function.getDenormalMode(llvm::APFloat::IEEEsingle()).Output != llvm::DenormalMode::IEEE;
    const llvm::Function* source = original.getFunction(function.getName());
    facts.hasOptnone |= source && source->hasFnAttribute(llvm::Attribute::OptimizeNone);
  }
  return facts;
}

std::optional<uint64_t> moduleFlag(const llvm::Module& module, llvm::StringRef name) {
  if (const auto* value =
          llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(module.getModuleFlag(name)))
    return value->getZExtValue();
  return std::nullopt;
}

/// How the code generator may fuse multiplications and additions, as -ffp-contract says it.
const char* contractName(const FloatFacts& facts, const BuildFacts& build) {
  if (build.fusesEverywhere.value_or(facts.hasContract || facts.isFast))
    return "fast";
  if (facts.hasContract || facts.isFast)
    return "fast-honor-pragmas";
  return !facts.hasMulAdd && facts.hasPlain ? "off" : "on";
}

/// Returns the local variables that the passes initialised to zero. If the command line does not
/// set -ftrivial-auto-var-init, only the passes initialise variables.
Array zeroedLocals(const llvm::Module& module) {
  std::set<std::string> names;
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      const auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction);
      const llvm::Value* variable = store  ? store->getPointerOperand()
                                    : fill ? fill->getDest()
                                           : nullptr;
      if (variable && instruction.hasMetadata(llvm::LLVMContext::MD_annotation))
        names.insert(readableName(function.getName()) + ": " +
                     (variable->hasName() ? variable->getName().str() : "a variable"));
    }
  Array result;
  for (const std::string& name : names)
    result.push_back(name);
  return result;
}

void describeLoops(const ir::LoopChoices& loops, Object& object) {
  const std::pair<const char*, std::optional<bool>> choices[] = {
      {"unroll_loops", loops.unroll},
      {"interleave_loops", loops.interleave},
      {"vectorize_loops", loops.vectorize},
      {"vectorize_slp", loops.vectorizeSlp}};
  for (const auto& [name, isOn] : choices)
    if (isOn)
      object[name] = *isOn;
}

void describeAssembler(const BuildFacts& build, Object& object) {
  const AssemblerFacts& assembler = build.assembler;
  if (!assembler.level.empty() && assembler.level != ir::codegenLevelOf(build.optLevel))
    object["assembler_level"] = assembler.level;
  if (!assembler.options.empty())
    object["assembler_options"] = Array(assembler.options);
}

Object describeOptions(const Closure& closure, const llvm::Module& original,
                       const BuildFacts& build) {
  FloatFacts facts = floatFacts(closure, original, build);
  const llvm::Module& module = *closure.module;
  bool flushes = facts.flushesDenormals || moduleFlag(module, "nvvm-reflect-ftz").value_or(0) != 0;
  Object object{
      {"fp_contract", contractName(facts, build)},
      {"fast_math", facts.isFast},
      {"flush_denormals", flushes},
      {"precise_division", !facts.isFast && !facts.hasApproximateDivision &&
                               moduleFlag(module, "nvvm-reflect-prec-div").value_or(1) != 0},
      {"precise_sqrt", !facts.isFast && !facts.hasApproximateSqrt &&
                           moduleFlag(module, "nvvm-reflect-prec-sqrt").value_or(1) != 0},
      {"opt_level", build.optLevel.empty() && facts.hasOptnone ? "0" : build.optLevel}};
  if (facts.isRelaxed && !facts.isFast)
    object["relaxed_math"] = true;
  if (facts.mayReadUnset)
    object["unset_locals"] = true;
  if (Array zeroed = zeroedLocals(module); !build.leavesUnset && !zeroed.empty())
    object["zeroed_locals"] = std::move(zeroed);
  if (std::vector<std::string> reads = unrecordedReads(module); !reads.empty())
    object["unrecorded_reads"] = Array(reads);
  describeLoops(build.loops, object);
  if (std::vector<std::string> names = ownFunctions(closure, original); !names.empty())
    object["own_functions"] = Array(names);
  if (Object shared = sharedHelpers(closure, original); !shared.empty())
    object["shared_functions"] = std::move(shared);
  if (!build.llvmOptions.empty())
    object["llvm_options"] = Array(build.llvmOptions);
  describeAssembler(build, object);
  return object;
}

/// "22.1.8" out of "Debian clang version 22.1.8 (1~deb12u1)".
std::string compilerVersion(const llvm::Module& original) {
  if (const llvm::NamedMDNode* ident = original.getNamedMetadata("llvm.ident");
      ident && ident->getNumOperands() > 0 && ident->getOperand(0)->getNumOperands() > 0)
    if (const auto* text = llvm::dyn_cast<llvm::MDString>(ident->getOperand(0)->getOperand(0))) {
      llvm::StringRef version = text->getString().split("clang version ").second;
      if (!version.empty())
        return version.take_while([](char c) { return llvm::isDigit(c) || c == '.'; }).str();
    }
  return LLVM_VERSION_STRING;
}

/// A closure of variables alone has no function to say it; the unit it comes from may.
std::string targetCpu(const llvm::Module& module, const llvm::Module& original) {
  for (const llvm::Module* candidate : {&module, &original})
    for (const llvm::Function& function : *candidate)
      if (function.hasFnAttribute("target-cpu"))
        return function.getFnAttribute("target-cpu").getValueAsString().str();
  return "";
}

} // namespace

std::vector<std::string> ownFunctions(const Closure& closure, const llvm::Module& original) {
  std::vector<std::string> names;
  for (const llvm::Function& function : *closure.module) {
    const llvm::Function* source = original.getFunction(function.getName());
    if (!function.isDeclaration() && function.hasLinkOnceODRLinkage() && source &&
        source->hasExternalLinkage())
      names.push_back(function.getName().str());
  }
  return names;
}

bool hasMinBlocks(const llvm::Function& kernel) { return minBlocks(kernel) != 0; }

llvm::json::Object describeClosure(const Closure& closure, const CodeIdentity& identity,
                                   const llvm::Module& original, const BuildFacts& build) {
  const llvm::Module& module = *closure.module;
  const llvm::Function* kernel =
      closure.kernel.empty() ? nullptr : module.getFunction(closure.kernel);
  const bool isGivenObjects = callsPointers(module) || !kernel;
  Object object{
      {"kernel", closure.kernel},
      {"demangled", readableName(closure.kernel)},
      {"static_hash", llvm::utohexstr(identity.staticHash, true, 16)},
      {"triple", compat::moduleTriple(module).str()},
      {"arch", targetCpu(module, original)},
      {"clang", compilerVersion(original)},
      {"args",
       kernel ? describeArgs(*kernel, module.getDataLayout(), describeFields(closure)) : Array()},
      {"globals", describeGlobals(module)},
      {"shared_bytes", staticSharedBytes(module)},
      {"max_threads", kernel ? maxThreads(*kernel) : 0},
      {"min_blocks", kernel ? minBlocks(*kernel) : 0},
      {"undefined", undefinedFunctions(module)},
      {"calls_pointers", callsPointers(module)},
      {"tables", isGivenObjects ? describeTables(original) : Array()},
      {"options", describeOptions(closure, original, build)}};
  if (!kernel)
    object["offers"] = offeredNames(module);
  if (kernel)
    object["code_hash"] = llvm::utohexstr(identity.codeHash, true, 16);
  if (closure.place)
    object["place"] = Object{{"file", closure.place->file},
                             {"line", closure.place->line},
                             {"end_line", closure.place->endLine}};
  if (closure.marks)
    object["jit"] = Object{{"marks", describeMarks(*closure.marks)},
                           {"lambdas", describeLambdas(module, kernel)}};
  return object;
}

Object describeHostFunction(const llvm::Module& module, llvm::StringRef name, const Marks& marks,
                            uint64_t staticHash) {
  return Object{{"kernel", name},
                {"demangled", readableName(name)},
                {"static_hash", llvm::utohexstr(staticHash, true, 16)},
                {"triple", compat::moduleTriple(module).str()},
                {"arch", embed::kHostArch},
                {"clang", LLVM_VERSION_STRING},
                {"args", describeArgs(*module.getFunction(name), module.getDataLayout())},
                {"globals", Array()},
                {"shared_bytes", 0},
                {"max_threads", 0},
                {"min_blocks", 0},
                {"undefined", Array()},
                {"jit", Object{{"marks", describeMarks(marks)}}}};
}

} // namespace mneme::passes
