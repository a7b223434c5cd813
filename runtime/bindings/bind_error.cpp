// Makes of a mneme::Error the exception of Python that mneme.errors has for its code.
#include "runtime/bindings/bindings.h"

#include "runtime/core/base/error.h"

namespace mneme::bindings {

namespace {

const char* className(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
    return "InvalidArgument";
  case ErrorCode::NotFound:
    return "NotFound";
  case ErrorCode::ArtifactCorrupt:
    return "ArtifactCorrupt";
  case ErrorCode::AddressUnavailable:
    return "AddressUnavailable";
  case ErrorCode::BackendUnavailable:
    return "BackendUnavailable";
  case ErrorCode::OutOfRange:
    return "OutOfRange";
  case ErrorCode::OutOfMemory:
    return "OutOfMemory";
  case ErrorCode::CompileFailed:
    return "CompileFailed";
  case ErrorCode::DeviceFailed:
    return "DeviceFailed";
  case ErrorCode::VerificationFailed:
    return "VerificationFailed";
  case ErrorCode::IoFailed:
    return "IoFailed";
  case ErrorCode::Unsupported:
    return "Unsupported";
  case ErrorCode::Ok:
  case ErrorCode::Internal:
    break;
  }
  return "InternalError";
}

} // namespace

void registerErrors() {
  py::register_local_exception_translator([](std::exception_ptr pending) {
    try {
      if (pending)
        std::rethrow_exception(pending);
    } catch (const Error& error) {
      try {
        const py::object type = py::module_::import("mneme.errors").attr(className(error.code()));
        PyErr_SetObject(type.ptr(), toText(error.what()).ptr());
      } catch (py::error_already_set& failure) {
        failure.discard_as_unraisable("mneme._native");
        PyErr_SetString(PyExc_RuntimeError, error.what());
      }
    }
  });
}

} // namespace mneme::bindings
