#include "passes/register_kernels.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <vector>

#include "passes/device_module.h"
#include "passes/variable_writes.h"
#include "runtime/core/abi/mneme_rt.h"

namespace mneme::passes {
namespace {

constexpr uint32_t kCudaVendor = 0;
constexpr uint32_t kHipVendor = 1;
// HIP's device variable of a managed one is a pointer to memory that the runtime allocates.
constexpr uint64_t kHipManagedBytes = 8;
// The first priority below which the implementation's own constructors run: a kernel launched by a
// user's static constructor is already known.
constexpr int kConstructorPriority = 101;

// Flags of offload entries (llvm/Frontend/Offloading): the low three bits are the kind.
constexpr uint64_t kOffloadKindMask = 7;
constexpr uint64_t kOffloadManaged = 1;
constexpr uint64_t kOffloadExtern = 8;
constexpr uint64_t kOffloadConstant = 16;
constexpr uint64_t kOffloadHip = 4;

struct Kernel {
  llvm::Constant* handle;
  llvm::Constant* name;
};

struct Global {
  llvm::Constant* shadow;
  llvm::Constant* name;
  uint64_t sizeBytes;
  uint32_t flags;
};

struct Registrations {
  std::vector<Kernel> kernels;
  std::vector<Global> globals;
  llvm::Constant* fatbinWrapper = nullptr;
  uint32_t vendor = kCudaVendor;
};

template <typename Visit> void visitCalls(llvm::Module& module, llvm::StringRef name, Visit visit) {
  llvm::Function* function = module.getFunction(name);
  if (!function)
    return;
  for (llvm::User* user : function->users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user);
        call && call->getCalledOperand() == function)
      visit(*call);
}

uint64_t integerOf(const llvm::Value* value) {
  const auto* integer = llvm::dyn_cast_or_null<llvm::ConstantInt>(value);
  return integer ? integer->getZExtValue() : 0;
}

llvm::Constant* constantOf(const llvm::CallInst& call, unsigned index) {
  return index < call.arg_size() ? llvm::dyn_cast<llvm::Constant>(call.getArgOperand(index))
                                 : nullptr;
}

void readCalls(llvm::Module& module, llvm::StringRef prefix, uint32_t vendor,
               Registrations& found) {
  auto note = [&] { found.vendor = vendor; };
  visitCalls(module, (prefix + "RegisterFunction").str(), [&](llvm::CallInst& call) {
    llvm::Constant* handle = constantOf(call, 1);
    llvm::Constant* name = constantOf(call, 3);
    if (handle && name) {
      found.kernels.push_back({handle, name});
      note();
    }
  });
  visitCalls(module, (prefix + "RegisterVar").str(), [&](llvm::CallInst& call) {
    llvm::Constant* shadow = constantOf(call, 1);
    llvm::Constant* name = constantOf(call, 3);
    if (shadow && name && call.arg_size() >= 7) {
      uint32_t flags = (integerOf(call.getArgOperand(6)) ? MNEME_GLOBAL_CONSTANT : 0) |
                       (integerOf(call.getArgOperand(4)) ? MNEME_GLOBAL_EXTERN : 0);
      found.globals.push_back({shadow, name, integerOf(call.getArgOperand(5)), flags});
      note();
    }
  });
  visitCalls(module, (prefix + "RegisterManagedVar").str(), [&](llvm::CallInst& call) {
    llvm::Constant* shadow = constantOf(call, 1);
    llvm::Constant* name = constantOf(call, 3);
    if (shadow && name && call.arg_size() >= 5) {
      uint64_t size = vendor == kHipVendor ? kHipManagedBytes : integerOf(call.getArgOperand(4));
      found.globals.push_back({shadow, name, size, MNEME_GLOBAL_MANAGED});
      note();
    }
  });
  visitCalls(module, (prefix + "RegisterFatBinary").str(),
             [&](llvm::CallInst& call) { found.fatbinWrapper = constantOf(call, 0); });
}

/// {reserved, version, kind, flags, address, name, size, data, auxiliary} since LLVM 20,
/// {address, name, size, flags, data} before.
void readOffloadEntry(const llvm::GlobalVariable& entry, Registrations& found) {
  const auto* fields = llvm::dyn_cast<llvm::ConstantStruct>(entry.getInitializer());
  if (!fields || (fields->getNumOperands() != 9 && fields->getNumOperands() != 5))
    return;
  bool isNew = fields->getNumOperands() == 9;
  auto field = [&](unsigned sinceTwenty, unsigned before) {
    return fields->getOperand(isNew ? sinceTwenty : before);
  };
  llvm::Constant* address = field(4, 0);
  llvm::Constant* name = field(5, 1);
  uint64_t size = integerOf(field(6, 2));
  uint64_t flags = integerOf(field(3, 3));
  bool isHip = isNew ? (integerOf(fields->getOperand(2)) & kOffloadHip) != 0
                     : entry.getSection().starts_with("hip");
  if (isHip)
    found.vendor = kHipVendor;
  if (size == 0) {
    found.kernels.push_back({address, name});
    return;
  }
  uint64_t kind = flags & kOffloadKindMask;
  if (kind > kOffloadManaged)
    return; // a surface or texture reference
  uint32_t ours = (kind == kOffloadManaged ? MNEME_GLOBAL_MANAGED : 0) |
                  (flags & kOffloadExtern ? MNEME_GLOBAL_EXTERN : 0) |
                  (flags & kOffloadConstant ? MNEME_GLOBAL_CONSTANT : 0);
  if (kind == kOffloadManaged && found.vendor == kHipVendor)
    size = kHipManagedBytes;
  found.globals.push_back({address, name, size, ours});
}

Registrations readRegistrations(llvm::Module& module) {
  Registrations found;
  readCalls(module, "__cuda", kCudaVendor, found);
  readCalls(module, "__hip", kHipVendor, found);
  for (const llvm::GlobalVariable& variable : module.globals()) {
    llvm::StringRef section = variable.getSection();
    if (variable.hasInitializer() && (section.starts_with("llvm_offload_entries") ||
                                      section.starts_with("cuda_offloading_entries") ||
                                      section.starts_with("hip_offloading_entries")))
      readOffloadEntry(variable, found);
  }
  return found;
}

/// Writes the structures of mneme_rt.h as constants.
class EntryWriter {
public:
  explicit EntryWriter(llvm::Module& module)
      : module_(module), context_(module.getContext()),
        ptr_(llvm::PointerType::getUnqual(context_)), i32_(llvm::Type::getInt32Ty(context_)),
        i64_(llvm::Type::getInt64Ty(context_)) {}

  llvm::GlobalVariable* write(const Registrations& found) {
    std::vector<llvm::Constant*> kernels;
    for (const Kernel& kernel : found.kernels)
      kernels.push_back(structure({kernel.handle, kernel.name}));
    std::vector<llvm::Constant*> globals;
    for (const Global& global : found.globals)
      globals.push_back(structure(
          {global.shadow, global.name, word(global.sizeBytes), half(global.flags), half(0)}));
    llvm::Constant* null = llvm::ConstantPointerNull::get(ptr_);
    return constant("__mneme_entry",
                    structure({half(MNEME_RT_ABI), half(found.vendor),
                               found.fatbinWrapper ? found.fatbinWrapper : null,
                               table("__mneme_kernels", kernels), table("__mneme_globals", globals),
                               word(kernels.size()), word(globals.size())}));
  }

private:
  llvm::Constant* half(uint32_t value) { return llvm::ConstantInt::get(i32_, value); }
  llvm::Constant* word(uint64_t value) { return llvm::ConstantInt::get(i64_, value); }

  llvm::Constant* structure(llvm::ArrayRef<llvm::Constant*> fields) {
    return llvm::ConstantStruct::getAnon(context_, fields);
  }

  llvm::Constant* table(const char* name, const std::vector<llvm::Constant*>& rows) {
    if (rows.empty())
      return llvm::ConstantPointerNull::get(ptr_);
    return constant(name, llvm::ConstantArray::get(
                              llvm::ArrayType::get(rows.front()->getType(), rows.size()), rows));
  }

  llvm::GlobalVariable* constant(const char* name, llvm::Constant* value) {
    auto* variable = new llvm::GlobalVariable(module_, value->getType(), true,
                                              llvm::GlobalValue::InternalLinkage, value, name);
    variable->setAlignment(llvm::Align(8));
    return variable;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::PointerType* ptr_;
  llvm::Type* i32_;
  llvm::Type* i64_;
};

llvm::Function* callWithEntry(llvm::Module& module, const char* name, const char* callee,
                              llvm::GlobalVariable* entry) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* none = llvm::Type::getVoidTy(context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(none, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->setUWTableKind(llvm::UWTableKind::Default);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  builder.CreateCall(module.getOrInsertFunction(callee, none, entry->getType()), {entry});
  builder.CreateRetVoid();
  return function;
}

/// Lets libmneme_rt know what HIP calls the unit's device code: it leads to variables by that
/// alone. The linker registers relocatable device code.
void tellHandles(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* none = llvm::Type::getVoidTy(context);
  llvm::Type* ptr = llvm::PointerType::getUnqual(context);
  visitCalls(module, "__hipRegisterFatBinary", [&](llvm::CallInst& call) {
    llvm::IRBuilder<> builder(call.getNextNode());
    builder.CreateCall(module.getOrInsertFunction("mneme_rt_code_registered", none, ptr, ptr),
                       {call.getArgOperand(0), &call});
  });
  visitCalls(module, "__hipUnregisterFatBinary", [&](llvm::CallInst& call) {
    llvm::IRBuilder<> builder(&call);
    builder.CreateCall(module.getOrInsertFunction("mneme_rt_code_unregistered", none, ptr),
                       {call.getArgOperand(0)});
  });
}

/// Lets libmneme_rt register the unit's code with CUDA, which may have none for the GPU it meets.
void routeRegistration(llvm::Module& module) {
  llvm::Type* ptr = llvm::PointerType::getUnqual(module.getContext());
  llvm::SmallVector<llvm::CallInst*, 1> calls;
  visitCalls(module, "__cudaRegisterFatBinary",
             [&](llvm::CallInst& call) { calls.push_back(&call); });
  for (llvm::CallInst* call : calls) {
    llvm::IRBuilder<> builder(call);
    llvm::CallInst* routed =
        builder.CreateCall(module.getOrInsertFunction("mneme_rt_register_code", ptr, ptr, ptr),
                           {call->getArgOperand(0), call->getCalledOperand()});
    routed->takeName(call);
    call->replaceAllUsesWith(routed);
    call->eraseFromParent();
  }
}

} // namespace

bool registerKernels(llvm::Module& module) {
  if (isDeviceModule(module) || module.getNamedValue("__mneme_entry"))
    return false;
  Registrations found = readRegistrations(module);
  if (found.kernels.empty() && found.globals.empty())
    return false;
  tellHandles(module);
  routeRegistration(module);
  for (Global& global : found.globals)
    if (auto* shadow = llvm::dyn_cast<llvm::GlobalVariable>(global.shadow);
        shadow && global.flags == MNEME_GLOBAL_CONSTANT && found.vendor == kCudaVendor &&
        tellWrites(*shadow))
      global.flags |= MNEME_GLOBAL_WRITES_TOLD;
  llvm::GlobalVariable* entry = EntryWriter(module).write(found);
  llvm::appendToGlobalCtors(
      module, callWithEntry(module, "__mneme_register", "mneme_rt_register_module", entry),
      kConstructorPriority);
  llvm::appendToGlobalDtors(
      module, callWithEntry(module, "__mneme_unregister", "mneme_rt_unregister_module", entry),
      kConstructorPriority);
  return true;
}

llvm::PreservedAnalyses RegisterKernelsPass::run(llvm::Module& module,
                                                 llvm::ModuleAnalysisManager&) {
  return registerKernels(module) ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace mneme::passes
