#include "runtime/replay/recorded_code.h"

#include <algorithm>

#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/base/error.h"
#include "runtime/replay/build.h"
#include "runtime/replay/code_without_ir.h"

namespace mneme::replay {

const artifact::Instance& chooseInstance(const artifact::KernelRecord& record,
                                         const std::string& recordId) {
  if (record.instances.empty())
    throw Error(ErrorCode::NotFound, "kernel '" + record.kernelName + "' has no recorded instance");
  std::string known;
  for (const auto& [hash, instance] : record.instances) {
    if (std::to_string(hash) == recordId || (recordId.empty() && record.instances.size() == 1))
      return instance;
    known += (known.empty() ? "" : ", ") + std::to_string(hash);
  }
  if (recordId.empty())
    throw Error(ErrorCode::InvalidArgument,
                "the record has several instances; choose a record id among " + known);
  throw Error(ErrorCode::NotFound,
              "the record has no instance '" + recordId + "'; it has " + known);
}

std::vector<std::vector<std::byte>> readModules(const artifact::KernelRecord& record,
                                                const std::filesystem::path& path) {
  if (record.modules.empty())
    throw Error(ErrorCode::ArtifactCorrupt, "record '" + path.string() + "' names no IR module");
  std::vector<std::vector<std::byte>> modules;
  for (size_t i = 0; i < record.modules.size(); ++i)
    modules.push_back(record.readModule(path.parent_path(), i));
  return modules;
}

RecordedCode::RecordedCode(const std::filesystem::path& record, const std::string& recordId)
    : path_(record), record_(artifact::KernelRecord::load(record)),
      modules_(readModules(record_, record)) {
  if (!recordId.empty())
    instance_ = chooseInstance(record_, recordId);
}

compile::Request RecordedCode::request(const CodeTarget& target, const Configuration& configuration,
                                       const Options& options) {
  requireIr(record_, "code that is compiled anew");
  const std::lock_guard lock(mutex_);
  if (configuration.specialize && !instance_)
    throw Error(ErrorCode::InvalidArgument,
                "argument values can be fixed only for a launch; choose a record id");
  if (configuration.specialize && !values_)
    values_ = artifact::Snapshot::open(path_.parent_path() / instance_->prologue).args();
  return makeRequest(record_, modules_, values_.value_or(std::vector<std::vector<std::byte>>()),
                     target, configuration, options);
}

std::vector<std::byte> RecordedCode::assembled(const std::string& target,
                                               const Configuration& configuration) const {
  artifact::KernelRecord record = record_;
  record.readImages(path_.parent_path());
  const std::optional<OwnCode> own = ownCode(record, modules_, configuration);
  if (!own || (own->record.codeForm != "ptx" && own->record.codeForm != "fatbin"))
    throw Error(ErrorCode::Unsupported,
                "kernel '" + record_.demangledName + "' was recorded without PTX");
  device::Description gpu;
  gpu.id = gpu.target = target;
  return recordedBuild(*own, gpu, configuration, {}).image;
}

compile::Result RecordedCode::described(const std::string& target,
                                        const Configuration& configuration, bool assembles) const {
  artifact::KernelRecord record = record_;
  record.readImages(path_.parent_path());
  const std::optional<OwnCode> own = ownCode(record, modules_, configuration);
  if (!own)
    throw Error(ErrorCode::Unsupported,
                "kernel '" + record_.demangledName + "' has IR, which a compiler has to compile");
  return describedCode(*own, target, configuration, assembles);
}

CodeTarget RecordedCode::recordedTarget(const std::string& name) {
  CodeTarget target{.name = name};
  const bool placesGlobalsOnLoad = name.starts_with("cpu");
  if (!instance_ || placesGlobalsOnLoad)
    return target;
  for (const std::string& file : {instance_->prologue, instance_->epilogue}) {
    const artifact::Snapshot snapshot = artifact::Snapshot::open(path_.parent_path() / file);
    for (const artifact::Region& region : snapshot.regions())
      if (region.kind == artifact::RegionKind::Global && !region.name.empty() &&
          region.sizeBytes > 0)
        target.placedGlobals.push_back({region.name, region.address, region.sizeBytes});
  }
  auto& globals = target.placedGlobals;
  std::sort(globals.begin(), globals.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  const auto end = std::unique(globals.begin(), globals.end(), [](const auto& a, const auto& b) {
    return a.address == b.address && a.sizeBytes == b.sizeBytes;
  });
  globals.erase(end, globals.end());
  return target;
}

} // namespace mneme::replay
