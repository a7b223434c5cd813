#include "runtime/devices/cuda/cuda_module.h"

#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/module_loader.h"

namespace mneme::device::cuda {

namespace {

std::string_view textOf(std::span<const std::byte> image) {
  return {reinterpret_cast<const char*>(image.data()), image.size()};
}

/// What the driver loads. \throws Error{CompileFailed} where it would find nothing to load
embed::DeviceCode codeOf(std::span<const std::byte> image, const Description& device,
                         const std::string& kernel) {
  try {
    return embed::readDeviceCode(image, device.target);
  } catch (const Error& error) {
    throw Error(ErrorCode::CompileFailed,
                "loading kernel '" + kernel + "' failed: " + error.what());
  }
}

std::optional<std::vector<uint64_t>> argumentSizesOf(const embed::DeviceCode& code,
                                                     const std::string& kernel) {
  const embed::DeviceKernel* found = code.find(kernel);
  if (!found || !found->parameters)
    return std::nullopt;
  std::vector<uint64_t> sizes;
  for (const embed::DeviceParameter& parameter : *found->parameters)
    sizes.push_back(parameter.sizeBytes);
  return sizes;
}

} // namespace

CudaModule::CudaModule(Context& context, const Description& device,
                       std::span<const std::byte> image, const std::string& kernel)
    : LoadedKernel(kernel), context_(context) {
  context_.requireUsable();
  const embed::DeviceCode code = codeOf(image, device, kernel);
  const ContextScope scope = context_.use();
  try {
    load(image);
    readAttributes();
    argumentSizes_ = argumentSizesOf(code, kernel);
    if (!argumentSizes_)
      argumentSizes_ = askArgumentSizes();
    readGlobals(code.variables);
  } catch (const Error& failure) {
    context_.probe();
    if (module_ && !context_.isHung())
      context_.driver().cuModuleUnload(module_);
    if (failure.code() != ErrorCode::CompileFailed || code.architecture.starts_with(device.target))
      throw;
    throw Error(ErrorCode::CompileFailed, std::string(failure.what()) + "; the image is for " +
                                              code.architecture + ", device " + device.id + " (" +
                                              device.name + ") is " + device.target);
  }
}

CudaModule::~CudaModule() {
  context_.whenFreeing([this] { context_.driver().cuModuleUnload(module_); });
}

void CudaModule::load(std::span<const std::byte> image) {
  const Driver& driver = context_.driver();
  const std::string what = "loading kernel '" + kernel_ + "'";
  if (elf::isElf(image) || embed::isFatBinary(image)) {
    module_ = loadModule(driver, image.data(), what);
  } else { // the driver wants a zero behind the text
    module_ = loadModule(driver, std::string(textOf(image)).c_str(), what);
  }
  const CUresult found = driver.cuModuleGetFunction(&function_, module_, kernel_.c_str());
  if (found == CUDA_ERROR_NOT_FOUND)
    throw Error(ErrorCode::NotFound, "the image has no kernel '" + kernel_ + "'");
  context_.check(found, what);
}

void CudaModule::readGlobals(const std::vector<embed::DeviceVariable>& variables) {
  for (const embed::DeviceVariable& variable : variables) {
    CUdeviceptr address = 0;
    size_t sizeBytes = 0;
    // Variables the driver does not name cannot be reached by anyone else either.
    if (context_.driver().cuModuleGetGlobal(&address, &sizeBytes, module_, variable.name.c_str()) ==
        CUDA_SUCCESS)
      globals_.push_back({variable.name, address, sizeBytes, variable.isConstant});
  }
}

int CudaModule::functionAttribute(CUfunction_attribute attribute) const {
  int value = 0;
  return context_.driver().cuFuncGetAttribute(&value, attribute, function_) == CUDA_SUCCESS ? value
                                                                                            : 0;
}

std::optional<std::vector<uint64_t>> CudaModule::askArgumentSizes() const {
  const Driver& driver = context_.driver();
  std::vector<uint64_t> sizes;
  size_t offset = 0, sizeBytes = 0;
  while (driver.cuFuncGetParamInfo &&
         driver.cuFuncGetParamInfo(function_, sizes.size(), &offset, &sizeBytes) == CUDA_SUCCESS)
    sizes.push_back(sizeBytes);
  // A driver that names none may only not know them.
  return sizes.empty() ? std::nullopt : std::optional(std::move(sizes));
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

} // namespace mneme::device::cuda
