// Kernels made by NVRTC while the program runs: libnvrtc and the driver are opened, not linked, so
// that the program starts where there is neither.
#pragma once

#include <cstdio>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

/// Functions of a library, found by name.
class Library {
public:
  explicit Library(std::vector<const char*> names) {
    for (const char* name : names)
      if (!handle_)
        handle_ = dlopen(name, RTLD_NOW);
    if (!handle_)
      throw std::runtime_error(std::string("there is no ") + names.front());
  }
  /// Calls a function and takes any result but 0 for a failure.
  template <typename... Args> void call(const char* name, Args... args) const {
    if (const int result = tryCall(name, args...))
      throw std::runtime_error(std::string(name) + " returned " + std::to_string(result));
  }
  template <typename... Args> int tryCall(const char* name, Args... args) const {
    auto* function = reinterpret_cast<int (*)(Args...)>(dlsym(handle_, name));
    if (!function)
      throw std::runtime_error(std::string("there is no function ") + name);
    return function(args...);
  }

private:
  void* handle_ = nullptr;
};

/// A kernel template for values that are known now.
class NvrtcKernel {
public:
  /// `expression` names an instance of a template in `source`: "productsOf<8, 65536>".
  NvrtcKernel(const std::string& source, const std::string& expression,
              const std::vector<std::string>& definitions) {
    const Library nvrtc({"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"});
    std::vector<std::string> options = {architecture(), "--std=c++17"};
    options.insert(options.end(), definitions.begin(), definitions.end());
    std::vector<const char*> texts;
    for (const std::string& option : options)
      texts.push_back(option.c_str());
    void* program = nullptr;
    nvrtc.call("nvrtcCreateProgram", &program, source.c_str(), "bodies.cuh", 0,
               static_cast<const char* const*>(nullptr), static_cast<const char* const*>(nullptr));
    nvrtc.call("nvrtcAddNameExpression", program, expression.c_str());
    if (nvrtc.tryCall("nvrtcCompileProgram", program, static_cast<int>(texts.size()),
                      texts.data()) != 0)
      throw std::runtime_error(logOf(nvrtc, program));
    const char* name = nullptr;
    nvrtc.call("nvrtcGetLoweredName", program, expression.c_str(), &name);
    const std::string lowered = name;
    size_t size = 0;
    nvrtc.call("nvrtcGetCUBINSize", program, &size);
    std::string image(size, '\0');
    nvrtc.call("nvrtcGetCUBIN", program, image.data());
    nvrtc.call("nvrtcDestroyProgram", &program);
    void* module = nullptr;
    driver_.call("cuModuleLoadData", &module, static_cast<const void*>(image.data()));
    driver_.call("cuModuleGetFunction", &function_, module, lowered.c_str());
  }

  template <typename... Args> void launch(unsigned grid, unsigned block, Args... args) const {
    void* pointers[] = {&args...};
    launchAll(grid, block, pointers);
  }
  /// `pointers`: to each argument.
  void launchAll(unsigned grid, unsigned block, void** pointers) const {
    driver_.call("cuLaunchKernel", function_, grid, 1u, 1u, block, 1u, 1u, 0u,
                 static_cast<void*>(nullptr), pointers, static_cast<void**>(nullptr));
  }

private:
  static std::string architecture() {
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    return "--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor);
  }
  static std::string logOf(const Library& nvrtc, void* program) {
    size_t size = 0;
    nvrtc.call("nvrtcGetProgramLogSize", program, &size);
    std::string log(size, '\0');
    nvrtc.call("nvrtcGetProgramLog", program, log.data());
    return log;
  }

  Library driver_{{"libcuda.so.1"}};
  void* function_ = nullptr;
};
