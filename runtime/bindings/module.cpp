#include "runtime/bindings/bindings.h"

PYBIND11_MODULE(_native, module) {
  module.doc() = "The runtime of mneme: recordings, devices, compiler and replay.";
  module.def("version", [] { return MNEME_VERSION; });
  mneme::bindings::registerErrors();
  mneme::bindings::bindArtifact(module);
  mneme::bindings::bindCompile(module);
  mneme::bindings::bindReplay(module);
}
