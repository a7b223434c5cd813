#include "passes/value_bytes.h"

#include <llvm/IR/DerivedTypes.h>

namespace mneme::passes {
namespace {

constexpr size_t kMaxRuns = 512;

using Runs = llvm::SmallVector<ByteRun>;

void addRun(Runs& runs, uint64_t offset, uint64_t sizeBytes) {
  if (sizeBytes == 0)
    return;
  if (!runs.empty() && runs.back().offset + runs.back().sizeBytes == offset)
    runs.back().sizeBytes += sizeBytes;
  else
    runs.push_back({offset, sizeBytes});
}

void addRuns(llvm::Type* type, uint64_t offset, const llvm::DataLayout& layout, Runs& runs) {
  if (runs.size() > kMaxRuns)
    return;
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    llvm::Type* element = array->getElementType();
    const uint64_t stride = layout.getTypeAllocSize(element).getFixedValue();
    if (!element->isAggregateType() && layout.getTypeStoreSize(element).getFixedValue() == stride)
      return addRun(runs, offset, stride * array->getNumElements());
    for (uint64_t index = 0; index < array->getNumElements() && runs.size() <= kMaxRuns; ++index)
      addRuns(element, offset + index * stride, layout, runs);
    return;
  }
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* members = layout.getStructLayout(structure);
    for (unsigned index = 0; index < structure->getNumElements(); ++index)
      addRuns(structure->getElementType(index),
              offset + members->getElementOffset(index).getFixedValue(), layout, runs);
    return;
  }
  addRun(runs, offset, layout.getTypeStoreSize(type).getFixedValue());
}

} // namespace

Runs valueBytes(llvm::Type* type, const llvm::DataLayout& layout) {
  Runs runs;
  addRuns(type, 0, layout, runs);
  if (runs.size() > kMaxRuns)
    runs.assign({{0, layout.getTypeAllocSize(type).getFixedValue()}});
  return runs;
}

Runs paddingBytes(llvm::Type* type, const llvm::DataLayout& layout) {
  Runs padding;
  uint64_t end = 0;
  for (const ByteRun& run : valueBytes(type, layout)) {
    addRun(padding, end, run.offset - end);
    end = run.offset + run.sizeBytes;
  }
  addRun(padding, end, layout.getTypeAllocSize(type).getFixedValue() - end);
  return padding;
}

} // namespace mneme::passes
