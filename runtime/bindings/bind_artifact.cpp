// What Python reads of recordings, snapshots and programs with embedded kernels.
#include "runtime/bindings/bindings.h"

#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>

#include <pybind11/stl/filesystem.h>

#include "runtime/bindings/binary_kernels.h"
#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/partial_snapshot.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/base/demangled.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/compare.h"

namespace mneme::bindings {

namespace {

using Path = std::filesystem::path;
using Paths = std::vector<Path>;

const char* kindName(artifact::RegionKind kind) {
  switch (kind) {
  case artifact::RegionKind::Allocation:
    return "allocation";
  case artifact::RegionKind::Managed:
    return "managed";
  case artifact::RegionKind::HostPinned:
    return "host_pinned";
  case artifact::RegionKind::Global:
    return "global";
  }
  return "unknown";
}

py::object toDict(const artifact::Annotation& annotation) {
  if (!annotation.isSet)
    return py::none();
  py::dict dict;
  dict["data_type"] = device::nameOf(static_cast<device::DataType>(annotation.dataType));
  dict["threshold"] = annotation.threshold;
  dict["threshold_kind"] = annotation.thresholdKind;
  dict["norm"] = annotation.norm;
  dict["tag"] = toText(annotation.tag);
  return dict;
}

py::object toList(const std::vector<ArgField>& fields) {
  py::list list;
  for (const ArgField& field : fields) {
    py::dict dict;
    dict["name"] = toText(field.name);
    dict["type"] = toText(field.type);
    dict["kind"] = nameOf(field.kind);
    dict["offset"] = field.offset;
    dict["size"] = field.sizeBytes;
    dict["is_specializable"] = field.isSpecializable;
    list.append(dict);
  }
  return list;
}

py::list toList(const std::vector<KernelArg>& args) {
  py::list list;
  for (const KernelArg& arg : args) {
    py::dict dict;
    dict["name"] = toText(arg.name);
    dict["type"] = toText(arg.type);
    dict["kind"] = nameOf(arg.kind);
    dict["size"] = arg.sizeBytes;
    dict["is_specializable"] = arg.isSpecializable;
    dict["fields"] = arg.fields ? toList(*arg.fields) : py::none();
    list.append(dict);
  }
  return list;
}

py::dict toDict(const embed::DeviceKernel& kernel) {
  py::object parameters = py::none();
  if (kernel.parameters) {
    py::list places;
    for (const embed::DeviceParameter& one : *kernel.parameters)
      places.append(py::make_tuple(one.offset, one.sizeBytes));
    parameters = places;
  }
  py::dict dict;
  dict["name"] = toText(kernel.name);
  dict["demangled"] = toText(demangled(kernel.name));
  dict["parameters"] = parameters;
  dict["registers"] = kernel.registers;
  dict["shared_bytes"] = kernel.staticSharedBytes;
  dict["local_bytes"] = kernel.localBytes;
  dict["barriers"] = kernel.barriers;
  dict["constant_bytes"] = kernel.constantBytes;
  dict["register_limit"] = kernel.registerLimit;
  dict["code_bytes"] = kernel.codeBytes;
  dict["max_threads"] = kernel.maxThreads;
  dict["exact_threads"] = kernel.exactThreads;
  return dict;
}

py::dict toDict(const FoundCode& found) {
  py::list members, kernels, variables;
  for (const std::string& member : found.members)
    members.append(toText(member));
  for (const embed::DeviceKernel& kernel : found.code.kernels)
    kernels.append(toDict(kernel));
  for (const embed::DeviceVariable& variable : found.code.variables)
    variables.append(
        py::make_tuple(toText(variable.name), variable.sizeBytes, variable.isConstant));
  py::dict dict;
  dict["members"] = members;
  dict["form"] = embed::formName(found.code.form);
  dict["architecture"] = toText(found.code.architecture);
  dict["kernels"] = kernels;
  dict["variables"] = variables;
  dict["problem"] = toText(found.problem);
  return dict;
}

py::dict toDict(const embed::KernelBlob& blob, const py::list& linked) {
  py::dict dict;
  dict["kernel"] = toText(blob.kernel);
  dict["demangled"] = toText(blob.demangled);
  dict["static_hash"] = blob.staticHash;
  dict["arch"] = toText(blob.arch);
  dict["args"] = toList(blob.args);
  dict["metadata"] = toText(blob.metadataJson);
  dict["bitcode"] = toBytes(blob.bitcode);
  dict["linked"] = linked;
  return dict;
}

py::list partsOf(const artifact::Region& region) {
  py::list list;
  for (const artifact::AnnotatedPart& part : region.parts) {
    py::dict dict;
    dict["offset"] = part.offset;
    dict["size"] = part.sizeBytes;
    dict["annotation"] = toDict(part.annotation);
    list.append(dict);
  }
  return list;
}

py::list regionsOf(const artifact::Snapshot& snapshot) {
  py::list list;
  for (const artifact::Region& region : snapshot.regions()) {
    py::dict dict;
    dict["address"] = region.address;
    dict["size"] = region.sizeBytes;
    dict["kind"] = kindName(region.kind);
    dict["is_constant"] = region.isConstant;
    dict["name"] = toText(region.name);
    dict["annotation"] = toDict(region.annotation);
    dict["parts"] = partsOf(region);
    list.append(dict);
  }
  return list;
}

py::list argsOf(const artifact::Snapshot& snapshot) {
  py::list list;
  for (const std::vector<std::byte>& value : snapshot.args())
    list.append(toBytes(value));
  return list;
}

py::bytes readRegion(const artifact::Snapshot& snapshot, size_t region, uint64_t offset,
                     uint64_t size) {
  if (region >= snapshot.regions().size())
    throw Error(ErrorCode::OutOfRange, "the snapshot has no region " + std::to_string(region));
  const uint64_t available = snapshot.regions()[region].sizeBytes;
  if (offset > available || size > available - offset)
    throw Error(ErrorCode::OutOfRange, "region " + std::to_string(region) + " has only " +
                                           std::to_string(available) + " bytes");
  py::bytes bytes = py::reinterpret_steal<py::bytes>(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!bytes)
    throw py::error_already_set();
  auto* data = reinterpret_cast<std::byte*>(PyBytes_AS_STRING(bytes.ptr()));
  py::gil_scoped_release release;
  snapshot.read(region, offset, {data, size});
  return bytes;
}

py::dict sizesOf(const artifact::Snapshot& snapshot) {
  const artifact::SnapshotSizes sizes = snapshot.sizes();
  py::dict dict;
  dict["raw"] = sizes.rawBytes;
  dict["unique"] = sizes.uniqueBytes;
  dict["stored"] = sizes.storedBytes;
  dict["tables"] = sizes.tables;
  dict["table_bytes"] = sizes.tableBytes;
  return dict;
}

/// Bytes of an epilogue in chunks that its prologue has otherwise.
uint64_t changedBytes(const artifact::Snapshot& epilogue, const artifact::Snapshot& prologue) {
  uint64_t bytes = 0;
  for (size_t index = 0; index < epilogue.regions().size(); ++index)
    for (const artifact::ChangedRange& range : artifact::changedRanges(prologue, epilogue, index))
      bytes += range.sizeBytes;
  return bytes;
}

/// The name itself where it is not a mangled one.
std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return readable ? readable.get() : name;
}

std::vector<std::string> toStrings(const Paths& paths) { return {paths.begin(), paths.end()}; }

py::dict listDirectory(const Path& directory) {
  artifact::DirectoryListing listing;
  {
    py::gil_scoped_release release;
    listing = artifact::listDirectory(directory);
  }
  py::dict dict;
  dict["records"] = toStrings(listing.records);
  dict["strangers"] = toStrings(listing.strangers);
  dict["unfinished"] = toStrings(listing.unfinished);
  py::list notes;
  for (const std::string& note : listing.notes)
    notes.append(toText(note));
  dict["notes"] = notes;
  return dict;
}

} // namespace

void bindArtifact(py::module_& module) {
  using py::arg;
  using Release = py::call_guard<py::gil_scoped_release>;
  using artifact::Snapshot;
  py::class_<Snapshot>(module, "Snapshot")
      .def(py::init([](const Path& path) { return Snapshot::open(path); }), arg("path"), Release())
      .def("regions", &regionsOf)
      .def("args", &argsOf)
      .def("read", &readRegion, arg("region"), arg("offset"), arg("size"))
      .def("sizes", &sizesOf)
      .def("references", [](const Snapshot& self) { return self.references(); })
      .def("needed_files",
           [](const Snapshot& self) {
             const auto names = self.neededFiles();
             return std::vector<std::string>(names.begin(), names.end());
           })
      .def("needed_ranges",
           [](const Snapshot& self) {
             std::map<std::string, std::vector<std::pair<uint64_t, uint64_t>>> found;
             for (const auto& [name, ranges] : self.neededRanges())
               for (const artifact::ByteRange& range : ranges)
                 found[name].emplace_back(range.offset, range.sizeBytes);
             return found;
           })
      .def("changed_bytes", &changedBytes, arg("before"), Release())
      .def("verify", &Snapshot::verifyAll, Release());
  module.def("write_partial_snapshot", &artifact::writePartial, arg("target"), arg("whole"),
             arg("zero"), Release());
  module.def("demangle", &demangle, arg("name"));
  module.def("list_directory", &listDirectory, arg("directory"));
  module.def(
      "files_of", [](const Path& record) { return toStrings(artifact::filesOf(record)); },
      arg("record"), Release());
  module.def("copy_records", &artifact::copyRecords, arg("records"), arg("destination"), Release());
  module.def("move_records", &artifact::moveRecords, arg("records"), arg("destination"), Release());
  module.def(
      "clean_records",
      [](const Paths& records) { return toStrings(artifact::cleanRecords(records)); },
      arg("records"), Release());
  module.def(
      "load_record",
      [](const Path& path) { return toText(artifact::KernelRecord::load(path).toJson()); },
      arg("path"));
  module.def(
      "record_arguments",
      [](const Path& path) { return toList(artifact::KernelRecord::load(path).args); },
      arg("path"));
  module.def(
      "describe_binary",
      [](const Path& path) {
        py::list list;
        const embed::BlobSet blobs = readBinaryKernels(path);
        for (const auto& [name, kernel] : blobs.kernels) {
          py::list linked;
          for (const auto& module : embed::modulesFor(blobs, name))
            if (module != kernel)
              linked.append(py::make_tuple(toBytes(module->bitcode), toText(module->metadataJson)));
          list.append(toDict(*kernel, linked));
        }
        return list;
      },
      arg("path"));
  module.def(
      "describe_device_code",
      [](const Path& path, const std::string& architecture) {
        py::list list;
        for (const FoundCode& found : readDeviceCode(path, architecture))
          list.append(toDict(found));
        return list;
      },
      arg("path"), arg("architecture") = "");
  module.def(
      "describe_device_image",
      [](const py::bytes& image, const std::string& architecture) {
        const std::vector<std::byte> bytes = fromBytes(image);
        const auto read = [&] {
          const py::gil_scoped_release release;
          return codeIn(bytes, architecture);
        };
        return toDict(read());
      },
      arg("image"), arg("architecture") = "");
  module.def(
      "describe_host_functions",
      [](const Path& path) {
        py::list list;
        for (const embed::KernelBlob& function : readHostFunctions(path))
          list.append(toDict(function, py::list()));
        return list;
      },
      arg("path"));
}

} // namespace mneme::bindings
