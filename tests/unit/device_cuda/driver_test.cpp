#include <doctest/doctest.h>

#include <array>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

#include "runtime/devices/cuda/application.h"
#include "runtime/devices/cuda/cuda_driver.h"
#include "support.h"

using namespace mneme;
using namespace mneme::device;
using test::failureOf;

std::string test::outputOfChild(const std::string& name, const char* variable, const char* value) {
  setenv(variable, value, 1);
  const std::string command =
      "/proc/" + std::to_string(getpid()) + "/exe --no-skip -tc='" + name + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  unsetenv(variable);
  std::string output;
  std::array<char, 4096> part;
  while (const size_t size = fread(part.data(), 1, part.size(), pipe))
    output.append(part.data(), size);
  const int status = pclose(pipe);
  return output + (WIFEXITED(status) ? "" : "killed by a signal");
}

/// Moved elsewhere without the fake, this program has nothing to test.
[[maybe_unused]] const bool isFakeHere = [] {
  if (access(FAKE_CUDA, R_OK) == 0)
    return true;
  std::puts("skipped: the driver without a GPU is not at " FAKE_CUDA);
  std::fflush(stdout);
  _exit(0);
}();

TEST_CASE("child: lists devices" * doctest::skip()) {
  test::openFakeDriver();
  for (const DeviceStatus& status : listDevices())
    std::printf("%s|%s|%s\n", status.id.c_str(), status.name.c_str(),
                status.whyUnavailable.c_str());
  std::printf("default: %s\n", openDevice("")->description().id.c_str());
}

TEST_CASE("child: lists devices without a driver" * doctest::skip()) {
  for (const DeviceStatus& status : listDevices())
    std::printf("%s|%s\n", status.id.c_str(), status.whyUnavailable.c_str());
}

TEST_CASE("child: uses the driver in a forked process" * doctest::skip()) {
  test::openFakeDriver();
  REQUIRE(cuda::Driver::find());
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::printf("forked: %s %d\n", failureOf([] { cuda::Driver::get(); }).message.c_str(),
                cuda::Driver::find() != nullptr);
    std::fflush(nullptr);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

TEST_CASE("every GPU is listed by name, and the first one is the default") {
  const std::string output =
      test::outputOfChild("child: lists devices", "MNEME_FAKE_CUDA", "none=0");
  CHECK(output.find("cuda:0|Fake GPU 0|\n") != std::string::npos);
  CHECK(output.find("cuda:1|Fake GPU 1|\n") != std::string::npos);
  CHECK(output.find("default: cuda:0") != std::string::npos);
}

TEST_CASE("MNEME_DEVICE chooses the default") {
  const std::string output = test::outputOfChild("child: lists devices", "MNEME_DEVICE", "cpu");
  CHECK(output.find("default: cpu") != std::string::npos);
}

TEST_CASE("a driver that does not start says why and what to do") {
  const auto listing = [](const char* failure) {
    return test::outputOfChild("child: lists devices", "MNEME_FAKE_CUDA", failure);
  };
  const std::string noDevice = listing("cuInit=100");
  CHECK(noDevice.find("cuda|NVIDIA GPU|the CUDA driver does not start: no CUDA-capable device is "
                      "detected (CUDA_ERROR_NO_DEVICE, 100); check that") != std::string::npos);
  CHECK(noDevice.find("default: cpu") != std::string::npos);
  CHECK(listing("cuInit=803").find("different driver versions") != std::string::npos);
  CHECK(
      listing("cuInit=999").find("unknown error (CUDA_ERROR_OTHER, 999); see whether nvidia-smi") !=
      std::string::npos);
  CHECK(listing("cuDeviceGetCount=46").find("counting the GPUs failed") != std::string::npos);
}

TEST_CASE("a machine without a driver says so") {
  const std::string output =
      test::outputOfChild("child: lists devices without a driver", "MNEME_FAKE_CUDA", "");
  if (output.find("cuda:0|") != std::string::npos)
    return; // this machine has one
  CHECK(output.find("cuda|") != std::string::npos);
  CHECK((output.find("no NVIDIA driver found: cannot load 'libcuda.so.1'") != std::string::npos ||
         output.find("the CUDA driver does not start") != std::string::npos));
}

TEST_CASE("a forked process is told to start afresh") {
  const std::string output = test::outputOfChild("child: uses the driver in a forked process",
                                                 "MNEME_FAKE_CUDA", "none=0");
  CHECK(output.find("forked: CUDA was started before this process was forked") !=
        std::string::npos);
  CHECK(output.find("(\"spawn\") 0\n") != std::string::npos);
}

TEST_CASE("codes become errors a caller can react to") {
  test::openFakeDriver();
  const auto codeOf = [](cuda::CUresult result) {
    return failureOf([&] { cuda::check(result, "x"); }).code;
  };
  CHECK(codeOf(cuda::CUDA_SUCCESS) == ErrorCode::Ok);
  CHECK(codeOf(cuda::CUDA_ERROR_OUT_OF_MEMORY) == ErrorCode::OutOfMemory);
  CHECK(codeOf(cuda::CUDA_ERROR_NO_BINARY_FOR_GPU) == ErrorCode::CompileFailed);
  CHECK(codeOf(cuda::CUDA_ERROR_ILLEGAL_ADDRESS) == ErrorCode::DeviceFailed);
  CHECK(failureOf([] { cuda::check(cuda::CUDA_ERROR_ILLEGAL_ADDRESS, "kernel 'k'"); }).message ==
        "kernel 'k' failed: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, "
        "700)");
}

TEST_CASE("the driver tells whose kernel a handle is that nobody saw made") {
  static char library, other, module, kernel, function, ofModule, unknown;
  cuda::Driver driver;
  driver.cuKernelGetLibrary = [](cuda::CUlibrary* found, cuda::CUkernel handle) {
    *found = reinterpret_cast<cuda::CUlibrary>(&library);
    return reinterpret_cast<char*>(handle) == &kernel ? cuda::CUDA_SUCCESS
                                                      : cuda::CUDA_ERROR_INVALID_HANDLE;
  };
  driver.cuFuncGetModule = [](cuda::CUmodule* found, cuda::CUfunction handle) {
    const bool isOfModule = reinterpret_cast<char*>(handle) == &ofModule;
    *found = reinterpret_cast<cuda::CUmodule>(isOfModule ? &module : &unknown);
    return reinterpret_cast<char*>(handle) == &kernel ? cuda::CUDA_ERROR_INVALID_HANDLE
                                                      : cuda::CUDA_SUCCESS;
  };
  driver.cuLibraryGetKernel = [](cuda::CUkernel* found, cuda::CUlibrary of, const char* name) {
    const bool has = reinterpret_cast<char*>(of) == &library && std::string(name) == "k";
    *found = reinterpret_cast<cuda::CUkernel>(&kernel);
    return has ? cuda::CUDA_SUCCESS : cuda::CUDA_ERROR_NOT_FOUND;
  };
  driver.cuKernelGetFunction = [](cuda::CUfunction* found, cuda::CUkernel) {
    *found = reinterpret_cast<cuda::CUfunction>(&function);
    return cuda::CUDA_SUCCESS;
  };
  const std::array<void*, 1> modules = {&module};
  const std::array<void*, 2> libraries = {&other, &library};
  const auto owner = [&](const void* handle, const char* name = "k") {
    return cuda::ownerOf(driver, handle, name, modules, libraries);
  };
  CHECK(owner(&kernel) == &library);
  CHECK(owner(&ofModule) == &module);
  CHECK(owner(&function) == &library); // whose module in the context is not known
  CHECK(owner(&function, "another") == nullptr);
  CHECK(owner(&unknown) == nullptr);
  driver.cuKernelGetLibrary = nullptr; // before CUDA 12.5
  driver.cuLibraryGetKernel = nullptr;
  CHECK(owner(&ofModule) == &module);
  CHECK(owner(&function) == nullptr);
}
