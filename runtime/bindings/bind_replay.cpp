// The devices, and sessions that replay configurations, as Python has them.
#include "runtime/bindings/bindings.h"

#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"
#include "runtime/devices/driving_tool.h"
#include "runtime/replay/graph_replay.h"
#include "runtime/replay/replay.h"
#include "runtime/replay/trim.h"

namespace mneme::bindings {

namespace {

/// A replay::Session that can be closed before Python forgets it.
class ReplaySession {
public:
  ReplaySession(const std::string& record, const std::string& recordId, const std::string& device)
      : session_(std::make_unique<replay::Session>(record, recordId, device)) {}

  std::string recorded() const { return replay::toJson(open().recorded()); }

  py::tuple run(const std::string& configurationJson, const std::string& optionsJson,
                const py::bytes& ir) {
    replay::Options options = replay::optionsFromJson(optionsJson);
    options.ir = fromBytes(ir);
    replay::Result result;
    {
      py::gil_scoped_release release;
      result = open().run(replay::configurationFromJson(configurationJson), options);
    }
    return py::make_tuple(toText(replay::toJson(result)), toText(result.ir),
                          toText(result.assembly));
  }

  py::str build(const std::string& configurationJson, const std::string& optionsJson,
                const py::bytes& ir) {
    replay::Options options = replay::optionsFromJson(optionsJson);
    options.ir = fromBytes(ir);
    std::string statistics;
    {
      py::gil_scoped_release release;
      statistics = open().build(replay::configurationFromJson(configurationJson), options);
    }
    return toText(statistics);
  }

  CodePlace codeTarget() const { return toPlace(open().codeTarget()); }

  void close() { session_.reset(); }

  replay::Session& open() const {
    if (!session_)
      throw Error(ErrorCode::InvalidArgument, "the replay session is closed");
    return *session_;
  }

private:
  std::unique_ptr<replay::Session> session_;
};

using PyFill = std::tuple<uint64_t, uint64_t, int>;
using PyRange = std::tuple<uint64_t, uint64_t>;

/// Trials with a session, which they need for themselves.
class Trim {
public:
  Trim(const ReplaySession& session, const std::string& configurationJson, double timeout)
      : trim_(session.open(), replay::configurationFromJson(configurationJson), timeout) {}

  py::dict takeReference(const std::tuple<uint32_t, uint32_t, uint32_t>& grid) {
    replay::TrimReference reference;
    {
      py::gil_scoped_release release;
      reference = trim_.takeReference({std::get<0>(grid), std::get<1>(grid), std::get<2>(grid)});
    }
    py::dict dict;
    dict["refusal"] = toText(reference.refusal);
    dict["changed_bytes"] = reference.changedBytes;
    return dict;
  }

  py::dict trial(const std::vector<PyFill>& fills, std::optional<int> noted) {
    replay::TrimTrial trial;
    {
      py::gil_scoped_release release;
      std::optional<replay::Pattern> pattern;
      if (noted)
        pattern = toPattern(*noted);
      trial = trim_.trial(toFills(fills), pattern);
    }
    py::dict dict;
    dict["difference"] = toText(trial.difference);
    dict["is_device_usable"] = trial.isDeviceUsable;
    return dict;
  }

  std::vector<PyRange> untouched() const {
    std::vector<PyRange> ranges;
    for (const auto& [address, size] : trim_.untouched())
      ranges.emplace_back(address, size);
    return ranges;
  }

  uint64_t untouchedBytes() const { return trim_.untouchedBytes(); }

  void write(const std::string& directory, const std::vector<PyRange>& unread,
             const std::vector<PyRange>& unallocated) {
    replay::TrimOrder order;
    for (const auto& [address, size] : unread)
      order.unread.push_back({address, size});
    for (const auto& [address, size] : unallocated)
      order.unallocated.push_back({address, size});
    py::gil_scoped_release release;
    trim_.write(directory, order);
  }

  bool notesAgree() const { return trim_.doNotesAgree(); }

private:
  static replay::Pattern toPattern(int number) {
    if (number < 0 || number >= static_cast<int>(replay::kPatterns))
      throw Error(ErrorCode::InvalidArgument, "there is no such pattern");
    return replay::Pattern(number);
  }

  static std::vector<replay::Fill> toFills(const std::vector<PyFill>& fills) {
    std::vector<replay::Fill> list;
    for (const auto& [address, size, pattern] : fills)
      list.push_back({address, size, toPattern(pattern)});
    return list;
  }

  replay::Trim trim_;
};

using PyStep = std::tuple<std::string, std::string, std::string>;

py::str replayGraph(const std::vector<PyStep>& steps, const std::string& device,
                    const std::string& optionsJson) {
  std::vector<replay::GraphStep> graph;
  for (const auto& [record, recordId, configurationJson] : steps)
    graph.push_back({record, recordId, replay::configurationFromJson(configurationJson)});
  const replay::Options options = replay::optionsFromJson(optionsJson);
  std::string json;
  {
    py::gil_scoped_release release;
    json = replay::toJson(replay::replayGraph(graph, device, options));
  }
  return toText(json);
}

py::list devices() {
  py::list list;
  for (const device::DeviceStatus& status : device::listDevices()) {
    py::dict entry;
    entry["id"] = toText(status.id);
    entry["is_available"] = status.isAvailable;
    entry["name"] = toText(status.name);
    entry["why_unavailable"] = toText(status.whyUnavailable);
    list.append(entry);
  }
  return list;
}

py::tuple toTuple(const uint32_t (&dims)[3]) { return py::make_tuple(dims[0], dims[1], dims[2]); }

py::dict describeDevice(const std::string& id) {
  const device::Description facts = [&] {
    py::gil_scoped_release release;
    return device::describeDevice(id);
  }();
  py::dict dict;
  dict["id"] = toText(facts.id);
  dict["name"] = toText(facts.name);
  dict["target"] = toText(facts.target);
  dict["total_memory_bytes"] = facts.totalMemoryBytes;
  dict["multiprocessors"] = facts.multiprocessors;
  dict["warp_size"] = facts.warpSize;
  dict["max_threads_per_block"] = facts.maxThreadsPerBlock;
  dict["max_block"] = toTuple(facts.maxBlock);
  dict["max_grid"] = toTuple(facts.maxGrid);
  dict["max_shared_per_block_bytes"] = facts.maxSharedPerBlockBytes;
  dict["max_shared_per_block_optin_bytes"] = facts.maxSharedPerBlockOptinBytes;
  dict["l2_cache_bytes"] = facts.l2CacheBytes;
  dict["max_registers_per_block"] = facts.maxRegistersPerBlock;
  dict["max_cluster_blocks"] = facts.maxClusterBlocks;
  dict["driver"] = toText(facts.driver);
  return dict;
}

} // namespace

CodePlace toPlace(const replay::CodeTarget& target) {
  CodePlace place{target.name, {}};
  for (const device::GlobalPlacement& global : target.placedGlobals)
    place.second.emplace_back(global.name, global.address);
  return place;
}

replay::CodeTarget toCodeTarget(const CodePlace& place) {
  replay::CodeTarget target{.name = place.first};
  for (const auto& [name, address] : place.second)
    target.placedGlobals.push_back({.name = name, .address = address});
  return target;
}

void bindReplay(py::module_& module) {
  using py::arg;
  using Release = py::call_guard<py::gil_scoped_release>;
  module.def("devices", &devices);
  module.def("describe_device", &describeDevice, arg("id"));
  module.def("replay_graph", &replayGraph, arg("steps"), arg("device"), arg("options_json") = "{}");
  module.def("driving_tool", &device::drivingTool);
  py::class_<ReplaySession>(module, "ReplaySession")
      .def(py::init<const std::string&, const std::string&, const std::string&>(), arg("record"),
           arg("record_id") = "", arg("device") = "", Release())
      .def("recorded", &ReplaySession::recorded)
      .def("code_target", &ReplaySession::codeTarget)
      .def("build", &ReplaySession::build, arg("configuration_json"), arg("options_json") = "{}",
           arg("ir") = py::bytes())
      .def("run", &ReplaySession::run, arg("configuration_json"), arg("options_json") = "{}",
           arg("ir") = py::bytes())
      .def("close", &ReplaySession::close, Release())
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](ReplaySession& self, const py::args&) { self.close(); });
  py::class_<Trim>(module, "Trim")
      .def(py::init<const ReplaySession&, const std::string&, double>(), arg("session"),
           arg("configuration_json"), arg("timeout"), py::keep_alive<1, 2>(), Release())
      .def("take_reference", &Trim::takeReference, arg("grid"))
      .def("trial", &Trim::trial, arg("fills"), arg("noted") = py::none())
      .def("notes_agree", &Trim::notesAgree)
      .def("untouched", &Trim::untouched)
      .def("untouched_bytes", &Trim::untouchedBytes)
      .def("write", &Trim::write, arg("directory"), arg("unread"), arg("unallocated"));
}

} // namespace mneme::bindings
