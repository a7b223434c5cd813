// How Python loads an image on a device, launches it and copies memory.
#include "runtime/bindings/bindings.h"

#include <array>
#include <map>
#include <memory>

#include "runtime/core/base/error.h"

namespace mneme::bindings {

namespace {

using Dims = std::array<uint32_t, 3>;
using Release = py::call_guard<py::gil_scoped_release>;

/// An image on a device. Keeps the device, which it must not outlive.
struct LoadedKernel {
  std::shared_ptr<device::Device> device;
  std::unique_ptr<device::Module> module;
};

LoadedKernel load(const std::shared_ptr<device::Device>& device, const py::bytes& image,
                  const std::string& kernel,
                  const std::map<std::string, std::pair<uint64_t, uint64_t>>& placements) {
  const std::vector<std::byte> content = fromBytes(image);
  std::vector<device::GlobalPlacement> places;
  for (const auto& [name, range] : placements)
    places.push_back({.name = name, .address = range.first, .sizeBytes = range.second});
  const py::gil_scoped_release release;
  return {device, device->load(content, kernel, places)};
}

/// The values, each behind its pointer and of the size the kernel reads.
std::vector<std::vector<std::byte>> checkedArguments(const LoadedKernel& kernel,
                                                     const std::vector<py::bytes>& values) {
  const std::optional<std::vector<uint64_t>> sizes = kernel.module->argumentSizes();
  if (sizes && sizes->size() != values.size())
    throw Error(ErrorCode::InvalidArgument, "the kernel has " + std::to_string(sizes->size()) +
                                                " arguments, not " + std::to_string(values.size()));
  std::vector<std::vector<std::byte>> arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    arguments.push_back(fromBytes(values[i]));
    if (sizes && arguments[i].size() != (*sizes)[i])
      throw Error(ErrorCode::InvalidArgument, "argument " + std::to_string(i) + " has " +
                                                  std::to_string((*sizes)[i]) + " bytes, not " +
                                                  std::to_string(arguments[i].size()));
  }
  return arguments;
}

uint64_t launch(LoadedKernel& kernel, const Dims& grid, const Dims& block,
                const std::vector<py::bytes>& values, uint64_t sharedBytes, bool isCooperative,
                double timeoutSeconds) {
  std::vector<std::vector<std::byte>> arguments = checkedArguments(kernel, values);
  std::vector<void*> pointers;
  for (std::vector<std::byte>& argument : arguments)
    pointers.push_back(argument.data());
  device::LaunchShape shape{.dynamicSharedBytes = sharedBytes, .isCooperative = isCooperative};
  std::copy(grid.begin(), grid.end(), shape.grid);
  std::copy(block.begin(), block.end(), shape.block);
  const py::gil_scoped_release release;
  return kernel.device->launch(*kernel.module, shape, pointers.data(), timeoutSeconds);
}

py::dict attributesOf(const LoadedKernel& kernel) {
  const device::KernelAttributes facts = kernel.module->attributes();
  py::dict dict;
  dict["static_shared_bytes"] = facts.staticSharedBytes;
  dict["local_bytes"] = facts.localBytes;
  dict["constant_bytes"] = facts.constantBytes;
  dict["registers"] = facts.registers;
  dict["max_threads_per_block"] = facts.maxThreadsPerBlock;
  const auto sizes = kernel.module->argumentSizes();
  dict["argument_sizes"] = sizes ? py::cast(*sizes) : py::none();
  return dict;
}

py::bytes read(device::Device& device, uint64_t address, size_t sizeBytes) {
  std::vector<std::byte> content(sizeBytes);
  {
    const py::gil_scoped_release release;
    device.copyToHost(content.data(), address, sizeBytes);
  }
  return toBytes(content);
}

void write(device::Device& device, uint64_t address, const py::bytes& content) {
  const std::vector<std::byte> bytes = fromBytes(content);
  const py::gil_scoped_release release;
  device.copyToDevice(address, bytes.data(), bytes.size());
}

} // namespace

void bindDevice(py::module_& module) {
  using py::arg;
  py::class_<LoadedKernel>(module, "LoadedKernel")
      .def("attributes", &attributesOf)
      .def("launch", &launch, arg("grid"), arg("block"), arg("args"), arg("shared_mem") = 0,
           arg("is_cooperative") = false, arg("timeout") = 0.0);
  py::class_<device::Device, std::shared_ptr<device::Device>>(module, "Device")
      .def(py::init([](const std::string& id) {
             return std::shared_ptr<device::Device>(device::openDevice(id));
           }),
           arg("id") = "", Release())
      .def("target", [](const device::Device& self) { return self.description().target; })
      .def("granularity", &device::Device::granularity)
      .def("memory_left", &device::Device::memoryLeft, Release())
      .def("reserve", &device::Device::reserve, arg("address"), arg("size"), Release())
      .def("release", &device::Device::release, arg("address"), arg("size"), Release())
      .def("map", &device::Device::map, arg("address"), arg("size"), Release())
      .def("unmap", &device::Device::unmap, arg("address"), arg("size"), Release())
      .def("read", &read, arg("address"), arg("size"))
      .def("write", &write, arg("address"), arg("content"))
      .def("load", &load, arg("image"), arg("kernel"),
           arg("placements") = std::map<std::string, std::pair<uint64_t, uint64_t>>());
}

} // namespace mneme::bindings
