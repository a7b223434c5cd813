#include "runtime/device/cuda/cuda_module.h"

#include "runtime/base/error.h"
#include "runtime/device/cuda/cubin.h"
#include "runtime/device/cuda/module_loader.h"
#include "runtime/device/cuda/ptx.h"

namespace mneme::device::cuda {

namespace {

std::string_view textOf(std::span<const std::byte> image) {
  return {reinterpret_cast<const char*>(image.data()), image.size()};
}

} // namespace

CudaModule::CudaModule(Context& context, const Description& device,
                       std::span<const std::byte> image, const std::string& kernel)
    : context_(context), kernel_(kernel) {
  context_.requireUsable();
  const CubinFacts facts = readCubin(image, kernel);
  const ContextScope scope = context_.use();
  load(device, image, facts.target);
  try {
    const Driver& driver = context_.driver();
    const CUresult found = driver.cuModuleGetFunction(&function_, module_, kernel.c_str());
    if (found == CUDA_ERROR_NOT_FOUND)
      throw Error(ErrorCode::NotFound, "the image has no kernel '" + kernel + "'");
    context_.check(found, "finding kernel '" + kernel + "'");
    readAttributes();
    readArgumentSizes(isElf(image) ? facts.argumentSizes
                                   : argumentSizesOfPtx(textOf(image), kernel));
    for (const CubinVariable& variable : facts.variables) {
      CUdeviceptr address = 0;
      size_t sizeBytes = 0;
      // Variables the driver does not name cannot be reached by anyone else either.
      if (driver.cuModuleGetGlobal(&address, &sizeBytes, module_, variable.name.c_str()) ==
          CUDA_SUCCESS)
        globals_.push_back({variable.name, address, sizeBytes, variable.isConstant});
    }
  } catch (...) {
    context_.driver().cuModuleUnload(module_);
    throw;
  }
}

CudaModule::~CudaModule() {
  CUcontext ignored = nullptr;
  if (context_.isHung() || context_.driver().cuCtxPushCurrent(context_.raw()) != CUDA_SUCCESS)
    return;
  context_.driver().cuModuleUnload(module_);
  context_.driver().cuCtxPopCurrent(&ignored);
}

void CudaModule::load(const Description& device, std::span<const std::byte> image,
                      const std::string& target) {
  const std::string what = "loading kernel '" + kernel_ + "'";
  std::string text; // PTX for the driver ends with a zero
  std::string madeFor = target;
  if (!isElf(image)) {
    text = textOf(image);
    madeFor = targetOfPtx(text);
    if (madeFor.empty())
      throw Error(ErrorCode::CompileFailed,
                  what + " failed: the image is neither a cubin nor PTX text");
  }
  try {
    module_ =
        loadModule(context_.driver(),
                   text.empty() ? static_cast<const void*>(image.data()) : text.c_str(), what);
  } catch (const Error& failure) {
    context_.probe();
    if (failure.code() != ErrorCode::CompileFailed || madeFor.empty() ||
        madeFor.starts_with(device.target))
      throw;
    throw Error(ErrorCode::CompileFailed, std::string(failure.what()) + "; the image is for " +
                                              madeFor + ", device " + device.id + " (" +
                                              device.name + ") is " + device.target);
  }
}

int CudaModule::functionAttribute(CUfunction_attribute attribute) const {
  int value = 0;
  return context_.driver().cuFuncGetAttribute(&value, attribute, function_) == CUDA_SUCCESS ? value
                                                                                            : 0;
}

void CudaModule::readAttributes() {
  const auto read = [&](CUfunction_attribute attribute) {
    int value = 0;
    context_.check(context_.driver().cuFuncGetAttribute(&value, attribute, function_),
                   "asking for the resources of kernel '" + kernel_ + "'");
    return static_cast<uint32_t>(value);
  };
  attributes_.staticSharedBytes = read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  attributes_.localBytes = read(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  attributes_.constantBytes = read(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  attributes_.registers = read(CU_FUNC_ATTRIBUTE_NUM_REGS);
  attributes_.maxThreadsPerBlock = read(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

void CudaModule::readArgumentSizes(const std::vector<uint64_t>& fromImage) {
  argumentSizes_ = fromImage;
  const Driver& driver = context_.driver();
  if (!driver.cuFuncGetParamInfo)
    return;
  std::vector<uint64_t> sizes;
  size_t offset = 0, size = 0;
  CUresult result = CUDA_SUCCESS;
  while ((result = driver.cuFuncGetParamInfo(function_, sizes.size(), &offset, &size)) ==
         CUDA_SUCCESS)
    sizes.push_back(size);
  if (result == CUDA_ERROR_INVALID_VALUE) // past the last one
    argumentSizes_ = sizes;
}

} // namespace mneme::device::cuda
