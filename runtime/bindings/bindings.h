// Room bindings: requests in, bytes and numbers out; no logic, no LLVM.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "runtime/replay/replay.h"

namespace mneme::bindings {

namespace py = pybind11;

/// Translates `mneme::Error` into the class of `mneme.errors` for its code.
void registerErrors();

void bindArtifact(py::module_& module);
void bindCompile(py::module_& module);
void bindDevice(py::module_& module);
void bindReplay(py::module_& module);

inline py::bytes toBytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::vector<std::byte> fromBytes(const py::bytes& bytes) {
  const std::string_view view = bytes;
  const auto* data = reinterpret_cast<const std::byte*>(view.data());
  return {data, data + view.size()};
}

/// A replay::CodeTarget in Python: its name; names and addresses of placed globals.
using CodePlace = std::pair<std::string, std::vector<std::pair<std::string, uint64_t>>>;
CodePlace toPlace(const replay::CodeTarget& target);
replay::CodeTarget toCodeTarget(const CodePlace& place);

/// Converts text with an unknown encoding.
inline py::str toText(const std::string& text) {
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!decoded)
    throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

} // namespace mneme::bindings
