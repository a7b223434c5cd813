// Where kernels and functions that are made at run time run.
#pragma once

#include <string>

#if defined(__GNUC__)
#define PROTEUS_API __attribute__((visibility("default")))
#else
#define PROTEUS_API
#endif

namespace proteus {

/// HOST_CUDA and HOST_HIP: host code with kernels in it, from C++ only.
enum class TargetModelType { HOST, CUDA, HIP, HOST_HIP, HOST_CUDA };

/// "host" or "native", "cuda", "hip", "host_cuda", "host_hip".
/// \throws proteus::FatalError "Unsupported target X", with the place
PROTEUS_API TargetModelType parseTargetModel(const std::string& Target,
                                             const char* File = __builtin_FILE(),
                                             unsigned Line = __builtin_LINE());

/// The word of parseTargetModel().
PROTEUS_API std::string getTargetModelName(TargetModelType Target);

inline bool isHostTargetModel(TargetModelType Target) { return Target == TargetModelType::HOST; }
inline bool isGPUTargetModel(TargetModelType Target) {
  return Target == TargetModelType::CUDA || Target == TargetModelType::HIP;
}

} // namespace proteus
