#include "passes/host_functions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/xxhash.h>

#include "passes/device_module.h"
#include "passes/host_closure.h"
#include "passes/jit_marks.h"
#include "passes/kernel_metadata.h"
#include "passes/lambdas.h"
#include "passes/module_blob.h"
#include "passes/route_launches.h"
#include "passes/shielded.h"
#include "passes/warning.h"
#include "runtime/compiler/ir/closure_content.h"
#include "runtime/core/abi/blob_format.h"
#include "runtime/core/abi/mneme_jit_host.h"

namespace mneme::passes {
namespace {

constexpr llvm::StringRef kFind = "mneme_jit_host_function";

/// Whether a function was converted already: a build may load the plugin by two names, as does one
/// for the reference tool that names its own pass and links what brings ours.
bool isStub(const llvm::Function& function) {
  return !function.empty() && llvm::any_of(function.getEntryBlock(), [](const auto& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->getName() == kFind;
  });
}

bool isHostFunction(const llvm::Function& function) {
  return !function.isDeclarationForLinker() && !function.getName().contains("__device_stub__") &&
         !isStub(function);
}

/// Why a function cannot have another one run in its place; empty if it can.
llvm::StringRef whyNotReplaced(const llvm::Function& function) {
  if (function.hasFnAttribute(llvm::Attribute::Naked))
    return "it is naked";
  if (function.hasFnAttribute(llvm::Attribute::PresplitCoroutine))
    return "it is a coroutine";
  for (const llvm::Argument& argument : function.args())
    if (argument.hasInAllocaAttr() || argument.hasPreallocatedAttr() ||
        argument.hasSwiftErrorAttr())
      return "of the way its arguments are passed";
  return "";
}

/// A function and what it was.
struct Entry {
  llvm::Function* stub;
  llvm::Function* built;
  const Marks* marks;
};

/// Puts a function without a body in the place of `built`, which becomes internal.
llvm::Function* makeStub(llvm::Function& built) {
  auto* stub = llvm::Function::Create(built.getFunctionType(), built.getLinkage(),
                                      built.getAddressSpace(), "", built.getParent());
  stub->copyAttributesFrom(&built);
  stub->setComdat(built.getComdat());
  stub->takeName(&built);
  stub->setPersonalityFn(nullptr);
  stub->setPrefixData(nullptr);
  stub->setPrologueData(nullptr);
  // What holds for the function does not hold for one that asks the program's run time first.
  for (const llvm::Attribute::AttrKind kind :
       {llvm::Attribute::Memory, llvm::Attribute::NoFree, llvm::Attribute::NoSync,
        llvm::Attribute::Speculatable, llvm::Attribute::WillReturn, llvm::Attribute::OptimizeNone,
        llvm::Attribute::NoInline, llvm::Attribute::AlwaysInline})
    stub->removeFnAttr(kind);
  stub->addFnAttr(llvm::Attribute::NoInline);
  built.setName(stub->getName() + ".built");
  built.replaceUsesWithIf(
      stub, [](const llvm::Use& use) { return !llvm::isa<llvm::BlockAddress>(use.getUser()); });
  built.setLinkage(llvm::GlobalValue::InternalLinkage);
  built.setVisibility(llvm::GlobalValue::DefaultVisibility);
  built.setComdat(nullptr);
  return stub;
}

/// Builds the constants that describe one function.
class Describer {
public:
  Describer(llvm::Module& module, const Entry& entry)
      : module_(module), context_(module.getContext()), entry_(entry) {}

  llvm::GlobalVariable* describe(const HostClosure& closure) {
    const llvm::SmallVector<char, 0> bitcode = bitcodeOf(*closure.module);
    const llvm::StringRef raw(bitcode.data(), bitcode.size());
    const uint64_t hash = llvm::xxh3_64bits(raw);
    const llvm::StringRef name = entry_.stub->getName();
    const Blob blob =
        packBlob(raw, describeHostFunction(*closure.module, name, *entry_.marks, hash), hash);

    const std::string lambda = closureTypeOf(*entry_.stub);
    const llvm::Argument* const self = lambda.empty() ? nullptr : ir::closureArgument(*entry_.stub);
    llvm::Constant* fields[] = {number(32, MNEME_HOST_FUNCTION_ABI),
                                number(32, entry_.marks->size()),
                                text(name),
                                compressedBitcode(blob),
                                number(64, blob.bytes.size() - blob.bitcodeOffset),
                                number(64, bitcode.size()),
                                number(64, hash),
                                marks(),
                                addresses(closure),
                                number(64, closure.addresses.size()),
                                entry_.built,
                                nothing(),
                                lambda.empty() ? nothing() : text(lambda),
                                number(32, self ? self->getArgNo() : 0),
                                number(32, self ? self->getDereferenceableBytes() : 0)};
    auto* variable = constant(llvm::ConstantStruct::getAnon(fields));
    variable->setConstant(false);
    return variable;
  }

private:
  llvm::Constant* number(unsigned bits, uint64_t value) {
    return llvm::ConstantInt::get(llvm::IntegerType::get(context_, bits), value);
  }
  llvm::Constant* nothing() {
    return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context_));
  }
  llvm::Constant* text(llvm::StringRef text) {
    return constant(llvm::ConstantDataArray::getString(context_, text));
  }

  /// Goes where the function goes, which may be one of many equal ones.
  llvm::GlobalVariable* constant(llvm::Constant* content) {
    auto* variable =
        new llvm::GlobalVariable(module_, content->getType(), true,
                                 llvm::GlobalValue::InternalLinkage, content, "__mneme_jit");
    variable->setComdat(entry_.stub->getComdat());
    return variable;
  }

  /// Stands behind the rest of the blob, which only tools read.
  llvm::Constant* compressedBitcode(const Blob& blob) {
    auto* variable =
        constant(llvm::ConstantDataArray::get(context_, llvm::ArrayRef<char>(blob.bytes)));
    variable->setSection(embed::kHostSection);
    variable->setAlignment(llvm::Align(embed::kHostAlignment));
    llvm::Type* byte = llvm::Type::getInt8Ty(context_);
    return llvm::ConstantExpr::getInBoundsGetElementPtr(byte, variable,
                                                        number(64, blob.bitcodeOffset));
  }

  llvm::Constant* addresses(const HostClosure& closure) {
    if (closure.addresses.empty())
      return nothing();
    auto* type =
        llvm::ArrayType::get(llvm::PointerType::getUnqual(context_), closure.addresses.size());
    return constant(llvm::ConstantArray::get(type, closure.addresses));
  }

  llvm::Constant* marks() {
    llvm::SmallVector<llvm::Constant*> rows;
    for (const mneme_jit_mark& mark : *entry_.marks)
      rows.push_back(llvm::ConstantStruct::getAnon(
          {number(32, mark.argument), number(32, static_cast<uint32_t>(mark.type)),
           number(32, static_cast<uint32_t>(mark.elementType)),
           number(32, static_cast<uint32_t>(mark.countArgument)), number(64, mark.sizeBytes),
           number(64, mark.count), number(32, mark.countBytes), number(32, mark.flags)}));
    if (rows.empty())
      return nothing();
    return constant(
        llvm::ConstantArray::get(llvm::ArrayType::get(rows.front()->getType(), rows.size()), rows));
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const Entry& entry_;
};

/// stub(arguments...) { return mneme_jit_host_function(&description, {&arguments...})(arguments...)
/// }
void fillStub(llvm::Function& stub, llvm::GlobalVariable& description) {
  llvm::LLVMContext& context = stub.getContext();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", &stub));
  llvm::PointerType* pointer = builder.getPtrTy();
  auto* table = llvm::ArrayType::get(pointer, stub.arg_size());
  llvm::Value* arguments = llvm::ConstantPointerNull::get(pointer);
  if (!stub.arg_empty())
    arguments = builder.CreateAlloca(table, nullptr, "arguments");
  llvm::SmallVector<llvm::Value*> passed;
  for (llvm::Argument& argument : stub.args()) {
    llvm::Value* place = &argument; // a struct by value is already in memory
    if (!argument.hasPassPointeeByValueCopyAttr()) {
      place = builder.CreateAlloca(argument.getType());
      builder.CreateStore(&argument, place);
    }
    builder.CreateStore(
        place, builder.CreateConstInBoundsGEP2_32(table, arguments, 0, argument.getArgNo()));
    passed.push_back(&argument);
  }
  llvm::FunctionCallee find = stub.getParent()->getOrInsertFunction(
      kFind, llvm::FunctionType::get(pointer, {pointer, pointer}, false));
  llvm::Value* code = builder.CreateCall(find, {&description, arguments});
  llvm::CallInst* call = builder.CreateCall(stub.getFunctionType(), code, passed);
  call->setCallingConv(stub.getCallingConv());
  const llvm::AttributeList attributes = stub.getAttributes();
  llvm::SmallVector<llvm::AttributeSet> ofArguments;
  for (unsigned index = 0; index < stub.arg_size(); ++index)
    ofArguments.push_back(attributes.getParamAttrs(index));
  call->setAttributes(llvm::AttributeList::get(context, llvm::AttributeSet(),
                                               attributes.getRetAttrs(), ofArguments));
  call->setTailCallKind(llvm::CallInst::TCK_MustTail);
  if (stub.getReturnType()->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
}

/// The function is again what it was.
void undo(const Entry& entry) {
  llvm::Function& built = *entry.built;
  built.setLinkage(entry.stub->getLinkage());
  built.setVisibility(entry.stub->getVisibility());
  built.setComdat(entry.stub->getComdat());
  entry.stub->replaceAllUsesWith(&built);
  built.takeName(entry.stub);
  entry.stub->eraseFromParent();
}

/// Whether `optnone` is the compiler's (-O0) and not the source's: then every function has it that
/// may.
bool isCompiledWithoutOptimizing(const llvm::Module& module) {
  return llvm::all_of(module, [](const llvm::Function& function) {
    return function.isDeclaration() || function.getName().starts_with("_") ||
           function.hasFnAttribute(llvm::Attribute::AlwaysInline) ||
           function.hasFnAttribute(llvm::Attribute::OptimizeNone);
  });
}

} // namespace

bool convertHostFunctions(llvm::Module& module, bool dropsMarks) {
  if (isDeviceModule(module))
    return false;
  bool changed = fillLambdaCalls(module);
  llvm::MapVector<llvm::Function*, Marks> marks;
  if (!dropsMarks)
    marks = readMarks(module, isHostFunction);
  changed |= eraseMarkCalls(module);
  if (marks.empty())
    return changed;
  if (!llvm::compression::zstd::isAvailable()) {
    warn(module, "marked functions run as they were built: this compiler's LLVM has no zstd");
    return changed;
  }
  const bool dropsOptnone = isCompiledWithoutOptimizing(module);
  routeLaunches(module); // in their copies too
  llvm::SmallVector<Entry> entries;
  llvm::DenseSet<const llvm::Function*> stubs;
  for (const auto& [function, ofFunction] : marks) {
    if (const llvm::StringRef why = whyNotReplaced(*function); !why.empty()) {
      warn(module, "'" + function->getName() + "' runs as it was built, because " + why);
      continue;
    }
    llvm::Function* stub = makeStub(*function);
    entries.push_back({stub, function, &ofFunction});
    stubs.insert(stub);
  }
  for (const Entry& entry : entries) {
    const HostClosure closure =
        extractHostFunction(*entry.built, entry.stub->getName(), stubs, dropsOptnone);
    if (!closure.module) {
      warn(module, "'" + entry.stub->getName() + "' runs as it was built: " + closure.whyNot);
      undo(entry);
      continue;
    }
    fillStub(*entry.stub, *Describer(module, entry).describe(closure));
  }
  return true;
}

llvm::PreservedAnalyses HostFunctionsPass::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  return convertHostFunctions(module, dropsMarks_) ? llvm::PreservedAnalyses::none()
                                                   : llvm::PreservedAnalyses::all();
}

} // namespace mneme::passes
