#include "runtime/nvcc/chosen.h"

#include "runtime/core/base/error.h"
#include "runtime/nvcc/gpus.h"

namespace mneme::nvcc {

Chosen chosenFor(const std::string& list, unsigned toolkit) {
  Chosen chosen;
  if (!list.empty()) {
    try {
      chosen = {targetsOfList(list, toolkit), "as CUDAARCHS says"};
    } catch (const Error& failure) {
      throw Error(failure.code(), "CUDAARCHS: " + std::string(failure.what()));
    }
  }
  if (list.empty() || chosen.targets.isNative) {
    const std::vector<unsigned> gpus = gpusHere();
    chosen.targets.isNative = false;
    chosen.targets.add(targetsFor(gpus, toolkit));
    chosen.why = gpus.empty()       ? "as no GPU is at hand"
                 : gpus.size() == 1 ? "for the GPU at hand"
                                    : "for the GPUs at hand";
  }
  return chosen;
}

} // namespace mneme::nvcc
