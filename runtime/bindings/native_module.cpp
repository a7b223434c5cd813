// The module mneme._native: each bind_*.cpp adds its part.
#include <pybind11/stl/filesystem.h>
#include <regex>

#include "runtime/bindings/bindings.h"
#include "runtime/core/base/error.h"
#include "runtime/jit/tuned/file.h"

namespace {

/// As the recorder reads MNEME_RR_KERNELS, in a program where a mistake would cost the recording.
void checkRegex(const std::string& text) {
  try {
    std::regex(text, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    throw mneme::Error(mneme::ErrorCode::InvalidArgument,
                       "'" + text + "' is not a regular expression (" + error.what() + ")");
  }
}

} // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "The runtime of mneme: recordings, devices, compiler and replay.";
  module.def("version", [] { return MNEME_VERSION; });
  mneme::bindings::registerErrors();
  module.def("check_regex", &checkRegex, pybind11::arg("text"));
  module.def("check_tuned_kernels", &mneme::tuned::checkText, pybind11::arg("text"),
             pybind11::arg("path"), pybind11::call_guard<pybind11::gil_scoped_release>());
  mneme::bindings::bindArtifact(module);
  mneme::bindings::bindCompile(module);
  mneme::bindings::bindDevice(module);
  mneme::bindings::bindReplay(module);
}
