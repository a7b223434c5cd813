#include "runtime/devices/cuda/cuda_bulk_code.h"

#include "runtime/devices/cuda/module_loader.h"

namespace mneme::device::cuda {

namespace {

class BulkPtx final : public gpu::BulkCode {
public:
  std::string imageWith(BulkModule module, const char*) const override {
    return module == BulkModule::Memory ? "memory" : "compare";
  }
  CUmodule load(BulkModule module, const char*) const override {
    return loadModule(Driver::get(), bulkPtx(module).data(), "loading the bulk operations");
  }
};

} // namespace

const gpu::BulkCode& bulkCode() {
  static const auto& code = *new BulkPtx();
  return code;
}

} // namespace mneme::device::cuda
