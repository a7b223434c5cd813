#include "runtime/core/base/error.h"

#include <cstring>

namespace mneme {

const char* errorCodeName(ErrorCode code) noexcept {
  switch (code) {
  case ErrorCode::Ok:
    return "ok";
  case ErrorCode::InvalidArgument:
    return "invalid argument";
  case ErrorCode::NotFound:
    return "not found";
  case ErrorCode::ArtifactCorrupt:
    return "artifact corrupt";
  case ErrorCode::AddressUnavailable:
    return "address unavailable";
  case ErrorCode::BackendUnavailable:
    return "backend unavailable";
  case ErrorCode::OutOfRange:
    return "out of range";
  case ErrorCode::OutOfMemory:
    return "out of memory";
  case ErrorCode::CompileFailed:
    return "compile failed";
  case ErrorCode::DeviceFailed:
    return "device failed";
  case ErrorCode::VerificationFailed:
    return "verification failed";
  case ErrorCode::IoFailed:
    return "input/output failed";
  case ErrorCode::Unsupported:
    return "unsupported";
  case ErrorCode::Internal:
    return "internal error";
  }
  return "unknown error";
}

std::string systemMessage(const std::string& what, int errorNumber) {
  return what + ": " + std::strerror(errorNumber);
}

} // namespace mneme
