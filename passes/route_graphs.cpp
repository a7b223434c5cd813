#include "passes/route_graphs.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <array>
#include <string>

#include "passes/device_module.h"
#include "runtime/core/abi/mneme_rt.h"

namespace mneme::passes {
namespace {

enum Vendor : unsigned { Cuda, Hip }; // as mneme_module_entry counts them

struct GraphFunction {
  const char* name;
  mneme_graph_form form;
  Vendor vendor = Cuda;
};

// All take (executable graph or where to write it, graph, ...).
constexpr std::array<GraphFunction, 16> kGraphFunctions{{
    {"cudaGraphInstantiate", MNEME_GRAPH_MADE},
    {"cudaGraphInstantiateWithFlags", MNEME_GRAPH_MADE},
    {"cudaGraphInstantiateWithParams", MNEME_GRAPH_MADE},
    {"cudaGraphInstantiateWithParams_ptsz", MNEME_GRAPH_MADE},
    {"cudaGraphExecUpdate", MNEME_GRAPH_UPDATED},
    {"cuGraphInstantiate", MNEME_GRAPH_MADE},
    {"cuGraphInstantiate_v2", MNEME_GRAPH_MADE},
    {"cuGraphInstantiateWithFlags", MNEME_GRAPH_MADE},
    {"cuGraphInstantiateWithParams", MNEME_GRAPH_MADE},
    {"cuGraphInstantiateWithParams_ptsz", MNEME_GRAPH_MADE},
    {"cuGraphExecUpdate", MNEME_GRAPH_UPDATED},
    {"cuGraphExecUpdate_v2", MNEME_GRAPH_UPDATED},
    {"hipGraphInstantiate", MNEME_GRAPH_MADE, Hip},
    {"hipGraphInstantiateWithFlags", MNEME_GRAPH_MADE, Hip},
    {"hipGraphInstantiateWithParams", MNEME_GRAPH_MADE, Hip},
    {"hipGraphExecUpdate", MNEME_GRAPH_UPDATED, Hip},
}};

bool hasKnownSignature(const llvm::Function& vendor) {
  const llvm::FunctionType& type = *vendor.getFunctionType();
  return !type.isVarArg() && type.getReturnType()->isIntegerTy(32) && type.getNumParams() >= 2 &&
         type.getParamType(0)->isPointerTy() && type.getParamType(1)->isPointerTy();
}

void route(llvm::Function& vendor, const GraphFunction& graphs, const std::string& name) {
  llvm::Module& module = *vendor.getParent();
  llvm::Function* thunk = &replaceByThunk(vendor, name);

  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", thunk));
  llvm::SmallVector<llvm::Value*> arguments;
  for (llvm::Argument& argument : thunk->args())
    arguments.push_back(&argument);
  llvm::CallInst* status = builder.CreateCall(&vendor, arguments);
  status->setCallingConv(vendor.getCallingConv());
  llvm::Type* pointer = builder.getPtrTy();
  const llvm::FunctionCallee changed =
      module.getOrInsertFunction("mneme_graph_changed", builder.getVoidTy(), builder.getInt32Ty(),
                                 builder.getInt32Ty(), builder.getInt32Ty(), pointer, pointer);
  builder.CreateCall(changed, {status, builder.getInt32(graphs.form),
                               builder.getInt32(graphs.vendor), arguments[0], arguments[1]});
  builder.CreateRet(status);
}

} // namespace

llvm::Function& replaceByThunk(llvm::Function& vendor, const llvm::Twine& name) {
  llvm::Module& module = *vendor.getParent();
  auto* thunk = llvm::Function::Create(vendor.getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                       vendor.getAddressSpace(), name, &module);
  thunk->setCallingConv(vendor.getCallingConv());
  for (unsigned index = 0; index < vendor.arg_size(); ++index)
    thunk->addParamAttrs(
        index, llvm::AttrBuilder(module.getContext(), vendor.getAttributes().getParamAttrs(index)));
  thunk->addFnAttr(llvm::Attribute::NoInline);
  thunk->setUWTableKind(llvm::UWTableKind::Default);
  vendor.replaceUsesWithIf(thunk, [](llvm::Use&) { return true; });
  return *thunk;
}

bool routeGraphs(llvm::Module& module) {
  if (isDeviceModule(module))
    return false;
  bool hasChanged = false;
  for (const GraphFunction& graphs : kGraphFunctions) {
    llvm::Function* vendor = module.getFunction(graphs.name);
    const std::string thunk = std::string("__mneme_graph_") + graphs.name;
    if (!vendor || !vendor->isDeclaration() || vendor->use_empty() || !hasKnownSignature(*vendor) ||
        module.getFunction(thunk))
      continue;
    route(*vendor, graphs, thunk);
    hasChanged = true;
  }
  return hasChanged;
}

} // namespace mneme::passes
