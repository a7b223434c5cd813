// Finds the arguments of a kernel that contain the closures it calls (lambdas.h).
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "passes/lambdas.h"
#include "passes/shielded.h"
#include "runtime/compiler/ir/closure_calls.h"
#include "runtime/compiler/ir/closure_content.h"

namespace mneme::passes {
namespace {

/// Returns the type of the closure whose fields a call operator reads. Unoptimised code stores the
/// address of the closure in a local variable first and loads it again.
llvm::StructType* closureStructOf(const llvm::Argument& closure) {
  for (const llvm::User* user : closure.users()) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (!store || store->getValueOperand() != &closure)
      continue;
    for (const llvm::User* reader : store->getPointerOperand()->users())
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(reader))
        for (const llvm::User* field : load->users())
          if (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(field))
            if (auto* type = llvm::dyn_cast<llvm::StructType>(address->getSourceElementType()))
              return type;
  }
  return nullptr;
}

llvm::SmallVector<ir::ByteRange> fieldsOf(llvm::StructType& type, const llvm::DataLayout& layout) {
  llvm::SmallVector<ir::ByteRange> fields;
  for (unsigned index = 0; index < type.getNumElements(); ++index)
    if (llvm::Type* field = type.getElementType(index); field->isSingleValueType())
      fields.push_back({layout.getStructLayout(&type)->getElementOffset(index).getFixedValue(),
                        layout.getTypeStoreSize(field).getFixedValue()});
  return fields;
}

} // namespace

std::vector<ClosurePlace> closurePlaces(const Bitcode& code, llvm::StringRef kernelName,
                                        llvm::StringRef operatorName) {
  std::vector<ClosurePlace> places;
  const std::string problem =
      runShielded(code, [&](llvm::Module& module, llvm::TargetMachine& machine) {
        llvm::Function& kernel = *module.getFunction(kernelName);
        llvm::Function& callOperator = *module.getFunction(operatorName);
        llvm::Argument* closure = ir::closureArgument(callOperator);
        llvm::StructType* type = closure ? closureStructOf(*closure) : nullptr;
        if (!type || type->isOpaque())
          return std::string();
        const llvm::DataLayout& layout = module.getDataLayout();
        const llvm::SmallVector<ir::ByteRange> fields = fieldsOf(*type, layout);
        ir::exposeClosureCalls(kernel, callOperator, fields, machine);
        ir::ClosureContent content(kernel, callOperator);
        for (llvm::CallBase* call : ir::callsIn(kernel, callOperator))
          for (const ir::ByteRange& field : fields) {
            const auto offset = static_cast<int64_t>(field.offset);
            const std::optional<ir::ArgumentBytes> found =
                content.source(*call->getArgOperand(closure->getArgNo()), offset, field.sizeBytes);
            if (!found || found->offset < offset)
              continue;
            const ClosurePlace place{found->argument, uint64_t(found->offset - offset),
                                     layout.getTypeAllocSize(type).getFixedValue()};
            if (!llvm::is_contained(places, place))
              places.push_back(place);
          }
        return std::string();
      });
  if (!problem.empty())
    places.clear();
  return places;
}

} // namespace mneme::passes
