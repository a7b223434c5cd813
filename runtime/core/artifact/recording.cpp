#include "runtime/core/artifact/recording.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/core/artifact/json_fields.h"
#include "runtime/core/artifact/names.h"
#include "runtime/core/artifact/texture_fields.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

namespace mneme::artifact {
namespace {

using nlohmann::json;

/// The fields of "Limits".
constexpr std::array<std::pair<const char*, uint64_t ContextLimits::*>, 4> kLimits = {
    {{"Stack", &ContextLimits::stackBytes},
     {"Print", &ContextLimits::printBytes},
     {"Heap", &ContextLimits::heapBytes},
     {"Launches", &ContextLimits::ownLaunches}}};

json dimsToJson(const Dim3& dims) { return {{"x", dims.x}, {"y", dims.y}, {"z", dims.z}}; }

Dim3 dimsFromJson(const Fields& fields) {
  return {fields.u32("x"), fields.u32("y"), fields.u32("z")};
}

constexpr uint32_t kMostPercent = 100;

/// The words of "CacheConfig", by number; without a preference there is no such field.
constexpr std::array kCacheConfigs = {"", "PreferShared", "PreferL1", "PreferEqual"};

CacheConfig cacheConfigFromJson(const Fields& fields) {
  const auto found = std::ranges::find(kCacheConfigs, fields.text("CacheConfig"));
  if (found == kCacheConfigs.begin() || found == kCacheConfigs.end())
    fields.refuse("CacheConfig", "is not PreferShared, PreferL1 or PreferEqual");
  return cacheConfigOf(static_cast<int>(found - kCacheConfigs.begin()));
}

/// "ClusterDims": more than one block and no more than any device can have.
Dim3 clusterFromJson(const Fields& fields) {
  if (!fields.has("ClusterDims"))
    return {};
  const Dim3 cluster = dimsFromJson(fields.object("ClusterDims"));
  constexpr uint64_t limit = 1024;
  const uint64_t y = std::min<uint64_t>(cluster.y, limit + 1);
  const uint64_t z = std::min<uint64_t>(cluster.z, limit + 1);
  const uint64_t blocks = std::min<uint64_t>(cluster.x, limit + 1) * y * z;
  if (blocks == 0 || blocks > limit)
    fields.refuse("ClusterDims", "is not a cluster of 1 to 1024 blocks");
  return cluster;
}

/// Those that are not what the device has.
json limitsToJson(const ContextLimits& limits) {
  json value = json::object();
  for (const auto& [name, member] : kLimits)
    if (limits.*member != 0)
      value[name] = limits.*member;
  return value;
}

ContextLimits limitsFromJson(const Fields& fields) {
  ContextLimits limits;
  for (const auto& [name, member] : kLimits)
    if (fields.has(name))
      limits.*member = fields.u64(name);
  return limits;
}

json instanceToJson(const Instance& instance) {
  json value = {{"GridDims", dimsToJson(instance.grid)}, {"BlockDims", dimsToJson(instance.block)},
                {"SharedMem", instance.sharedBytes},     {"Args", json::array()},
                {"Occurrences", instance.occurrences},   {"Prologue", instance.prologue},
                {"Epilogue", instance.epilogue},         {"Cooperative", instance.isCooperative},
                {"RecordedNs", instance.recordedNs}};
  const Dim3& cluster = instance.cluster;
  if (cluster.x != 1 || cluster.y != 1 || cluster.z != 1)
    value["ClusterDims"] = dimsToJson(cluster);
  if (instance.sharedCarveout != 0)
    value["SharedCarveout"] = instance.sharedCarveout;
  if (instance.cacheConfig != CacheConfig::None)
    value["CacheConfig"] = kCacheConfigs[static_cast<size_t>(instance.cacheConfig)];
  if (!instance.labels.empty())
    value["Labels"] = instance.labels;
  if (instance.part.of != 0)
    value["Multiprocessors"] = {{"Used", instance.part.multiprocessors}, {"Of", instance.part.of}};
  if (instance.limits != ContextLimits())
    value["Limits"] = limitsToJson(instance.limits);
  if (const auto& trimming = instance.trimming)
    value["Trimmed"] = {{"Memory", trimming->memoryBytes},
                        {"Unread", trimming->unreadBytes},
                        {"GridDims", dimsToJson(trimming->grid)},
                        {"RecordId", std::to_string(trimming->dynamicHash)}};
  if (!instance.textures.empty())
    value["Textures"] = texturesToJson(instance.textures);
  if (instance.heap.sizeBytes != 0)
    value["DeviceHeap"] = {{"Address", "0x" + toHex(instance.heap.begin)},
                           {"Bytes", instance.heap.sizeBytes}};
  return value;
}

Trimming trimmingFromJson(const Fields& fields) {
  Trimming trimming{.memoryBytes = fields.u64("Memory"),
                    .unreadBytes = fields.u64("Unread"),
                    .grid = dimsFromJson(fields.object("GridDims"))};
  if (!parseDecimal(fields.text("RecordId"), trimming.dynamicHash))
    fields.refuse("RecordId", "is not a decimal number");
  return trimming;
}

Instance instanceFromJson(const Fields& fields, uint64_t dynamicHash) {
  Instance instance;
  instance.dynamicHash = dynamicHash;
  instance.grid = dimsFromJson(fields.object("GridDims"));
  instance.block = dimsFromJson(fields.object("BlockDims"));
  instance.cluster = clusterFromJson(fields);
  instance.sharedBytes = fields.u64("SharedMem");
  if (fields.has("SharedCarveout"))
    instance.sharedCarveout = fields.u32("SharedCarveout");
  if (instance.sharedCarveout > kMostPercent)
    fields.refuse("SharedCarveout", "is not a part in percent");
  if (fields.has("CacheConfig"))
    instance.cacheConfig = cacheConfigFromJson(fields);
  instance.occurrences = fields.u64("Occurrences");
  instance.prologue = fields.fileName("Prologue");
  instance.epilogue = fields.fileName("Epilogue");
  instance.isCooperative = fields.has("Cooperative") && fields.boolean("Cooperative");
  instance.recordedNs = fields.has("RecordedNs") ? fields.u64("RecordedNs") : 0;
  if (fields.has("Labels"))
    instance.labels = fields.strings("Labels");
  if (fields.has("Multiprocessors")) {
    const Fields part = fields.object("Multiprocessors");
    instance.part = {part.u32("Used"), part.u32("Of")};
  }
  if (fields.has("Limits"))
    instance.limits = limitsFromJson(fields.object("Limits"));
  if (fields.has("Trimmed"))
    instance.trimming = trimmingFromJson(fields.object("Trimmed"));
  if (fields.has("Textures"))
    instance.textures = texturesFromJson(fields);
  if (fields.has("DeviceHeap")) {
    const Fields heap = fields.object("DeviceHeap");
    instance.heap = {heap.address("Address"), heap.u64("Bytes")};
  }
  return instance;
}

SourcePlace placeFromJson(const Fields& fields) {
  return {
      .file = fields.text("File"), .line = fields.u32("Line"), .endLine = fields.u32("EndLine")};
}

std::string codeFormFrom(const Fields& fields) {
  std::string form = fields.text("CodeForm");
  if (!isCodeForm(form))
    fields.refuse("CodeForm", "has the unknown form '" + printable(form) + "'");
  return form;
}

std::vector<RecordedImage> imagesFromJson(const Fields& fields) {
  std::vector<RecordedImage> images;
  for (const Fields& one : fields.objects("Images")) {
    RecordedImage image{one.text("Form"), one.fileName("File"), one.text("Hash")};
    if (!isCodeForm(image.form))
      one.refuse("Form", "is the unknown form '" + printable(image.form) + "'");
    images.push_back(std::move(image));
  }
  return images;
}

std::vector<ArgKind> kindsFromJson(const Fields& fields) {
  std::vector<ArgKind> kinds;
  for (const std::string& name : fields.strings("ArgKinds")) {
    const std::optional<ArgKind> kind = argKindOf(name);
    if (!kind)
      fields.refuse("ArgKinds", "has the unknown kind '" + printable(name) + "'");
    kinds.push_back(*kind);
  }
  return kinds;
}

/// Returns the members of the argument with this number that the kernel reads.
std::vector<ArgField> membersFromJson(const Fields& all, const std::string& number,
                                      uint64_t wholeBytes) {
  std::vector<ArgField> members;
  for (const Fields& one : all.objects(number.c_str())) {
    members.push_back({.name = one.has("Name") ? one.text("Name") : "",
                       .type = one.text("Type"),
                       .offset = one.u64("Offset"),
                       .sizeBytes = one.u64("Size"),
                       .kind = argKindOf(one.text("Kind")).value_or(ArgKind::Unknown),
                       .isSpecializable = one.boolean("Specializable")});
    if (members.back().offset > wholeBytes ||
        members.back().sizeBytes > wholeBytes - members.back().offset)
      one.refuse("Offset", "is outside of the argument");
  }
  return members;
}

std::vector<KernelArg> argsFromJson(const Fields& fields) {
  std::vector<KernelArg> args;
  const auto take = [&](const auto& values, auto member) {
    args.resize(std::max(args.size(), values.size()));
    for (size_t index = 0; index < values.size(); ++index)
      args[index].*member = values[index];
  };
  take(fields.strings("ArgNames"), &KernelArg::name);
  take(fields.booleans("Specializations"), &KernelArg::isSpecializable);
  if (fields.has("ArgTypes"))
    take(fields.strings("ArgTypes"), &KernelArg::type);
  if (fields.has("ArgKinds"))
    take(kindsFromJson(fields), &KernelArg::kind);
  if (fields.has("ArgSizes"))
    take(fields.numbers("ArgSizes"), &KernelArg::sizeBytes);
  if (fields.has("ArgFields")) {
    const Fields all = fields.object("ArgFields");
    for (size_t index = 0; index < args.size(); ++index)
      if (const std::string number = std::to_string(index); all.has(number.c_str()))
        args[index].fields = membersFromJson(all, number, args[index].sizeBytes);
  }
  return args;
}

json membersToJson(const std::vector<ArgField>& members) {
  json list = json::array();
  for (const ArgField& member : members) {
    json& out = list.emplace_back(json{{"Offset", member.offset},
                                       {"Size", member.sizeBytes},
                                       {"Type", member.type},
                                       {"Kind", nameOf(member.kind)},
                                       {"Specializable", member.isSpecializable}});
    if (!member.name.empty())
      out["Name"] = member.name;
  }
  return list;
}

void argsToJson(const std::vector<KernelArg>& args, json& out) {
  for (const char* field : {"ArgNames", "Specializations", "ArgTypes", "ArgKinds", "ArgSizes"})
    out[field] = json::array();
  for (const KernelArg& arg : args) {
    out["ArgNames"].push_back(arg.name);
    out["Specializations"].push_back(arg.isSpecializable);
    out["ArgTypes"].push_back(arg.type);
    out["ArgKinds"].push_back(nameOf(arg.kind));
    out["ArgSizes"].push_back(arg.sizeBytes);
  }
  for (size_t index = 0; index < args.size(); ++index)
    if (args[index].fields)
      out["ArgFields"][std::to_string(index)] = membersToJson(*args[index].fields);
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void checkVersionAndChecksum(json& root, const Fields& fields, const std::string& file) {
  if (fields.has("FormatVersion") && fields.u64("FormatVersion") > kFormatVersion)
    throw NewerFormat("'" + file + "' has format version " +
                      std::to_string(fields.u64("FormatVersion")) +
                      "; this mneme reads up to version " + std::to_string(kFormatVersion));
  if (!fields.has("Checksum"))
    return;
  const std::string expected = fields.text("Checksum");
  root.erase("Checksum");
  if (expected != toHex(hash64(dump(root))))
    throw Error(ErrorCode::ArtifactCorrupt,
                "'" + file +
                    "' is damaged: its checksum does not match (if it was edited on "
                    "purpose, remove the field \"Checksum\")");
}

uint64_t dynamicHashOf(const std::string& key, const std::string& file) {
  uint64_t hash = 0;
  if (!parseDecimal(key, hash))
    throw Error(ErrorCode::ArtifactCorrupt, "'" + file + "': instance '" + printable(key) +
                                                "' is not named by a decimal number");
  return hash;
}

/// More than any record or module has: what is larger was not written by a recorder.
constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxModuleBytes = uint64_t{4} << 30;

std::vector<std::byte> readOwn(const std::filesystem::path& path, uint64_t maxBytes) {
  try {
    return readFile(path, maxBytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::OutOfRange)
      throw;
    throw Error(ErrorCode::ArtifactCorrupt, error.what());
  }
}

std::string readRecordText(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = readOwn(path, kMaxRecordBytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

KernelRecord KernelRecord::load(const std::filesystem::path& path) {
  const std::string file = path.string();
  json root = parseJson(readRecordText(path), file);
  const Fields fields(root, file, "");
  checkVersionAndChecksum(root, fields, file);
  KernelRecord record;
  record.staticHash = fields.u64("StaticHash");
  if (fields.has("CodeHash"))
    record.codeHash = fields.address("CodeHash");
  record.kernelName = fields.text("KernelName");
  record.demangledName = fields.text("DemangledName");
  if (fields.has("Place"))
    record.place = placeFromJson(fields.object("Place"));
  record.windowAddress = fields.address("VAddr");
  record.windowBytes = fields.u64("VASize");
  record.modules = fields.fileNames("Modules");
  if (fields.has("ModuleHashes"))
    record.moduleHashes = fields.strings("ModuleHashes");
  if (!record.moduleHashes.empty() && record.moduleHashes.size() != record.modules.size())
    throw Error(ErrorCode::ArtifactCorrupt,
                "'" + file + "': \"ModuleHashes\" and \"Modules\" differ in length");
  if (fields.has("CodeForm"))
    record.codeForm = codeFormFrom(fields);
  if (fields.has("Images"))
    record.images = imagesFromJson(fields);
  record.args = argsFromJson(fields);
  record.optionsJson = fields.has("Options") ? dump(root["Options"]) : "";
  record.arch = fields.has("Arch") ? fields.text("Arch") : "";
  record.device = fields.has("Device") ? fields.text("Device") : "";
  record.launches = fields.has("Launches") ? fields.u64("Launches") : 0;
  const Fields instances = fields.object("instances");
  for (const std::string& key : instances.keys()) {
    const uint64_t hash = dynamicHashOf(key, file);
    record.instances[hash] = instanceFromJson(instances.object(key.c_str()), hash);
  }
  return record;
}

std::string KernelRecord::toJson() const {
  json root = {{"FormatVersion", kFormatVersion},
               {"StaticHash", staticHash},
               {"VAddr", "0x" + toHex(windowAddress)},
               {"VASize", windowBytes},
               {"KernelName", kernelName},
               {"DemangledName", demangledName},
               {"Modules", modules},
               {"BinaryBlobs", json::array()},
               {"ModuleHashes", moduleHashes},
               {"Arch", arch},
               {"Device", device},
               {"Launches", launches},
               {"instances", json::object()}};
  if (!codeForm.empty())
    root["CodeForm"] = codeForm;
  for (const RecordedImage& image : images)
    root["Images"].push_back({{"Form", image.form}, {"File", image.file}, {"Hash", image.hash}});
  if (codeHash != 0)
    root["CodeHash"] = "0x" + toHex(codeHash);
  if (!place.file.empty())
    root["Place"] = {{"File", place.file}, {"Line", place.line}, {"EndLine", place.endLine}};
  argsToJson(args, root);
  if (!optionsJson.empty()) {
    json options = json::parse(optionsJson, nullptr, false);
    root["Options"] = options.is_discarded() ? json(optionsJson) : options;
  }
  for (const auto& [hash, instance] : instances)
    root["instances"][std::to_string(hash)] = instanceToJson(instance);
  // The checksum covers what a reader will see, so it is taken after one round trip of the text.
  const json readBack = json::parse(dump(root));
  root["Checksum"] = toHex(hash64(dump(readBack)));
  return dump(root);
}

void KernelRecord::readImages(const std::filesystem::path& directory) {
  for (RecordedImage& image : images) {
    const std::filesystem::path path = directory / image.file;
    std::vector<std::byte> bytes = readOwn(path, kMaxModuleBytes);
    if (toHex(hash128(bytes)) != image.hash)
      throw Error(ErrorCode::ArtifactCorrupt,
                  "'" + path.string() + "' is damaged: it is not the code that was recorded");
    image.content = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  }
}

const RecordedImage* KernelRecord::imageOf(std::string_view form) const noexcept {
  const auto found = std::ranges::find(images, form, &RecordedImage::form);
  return found == images.end() ? nullptr : &*found;
}

std::vector<std::byte> KernelRecord::readModule(const std::filesystem::path& directory,
                                                size_t index) const {
  if (index >= modules.size())
    throw Error(ErrorCode::OutOfRange,
                "kernel '" + demangledName + "' has no module " + std::to_string(index));
  const std::filesystem::path path = directory / modules[index];
  std::vector<std::byte> bytes = readOwn(path, kMaxModuleBytes);
  if (index < moduleHashes.size() && toHex(hash128(bytes)) != moduleHashes[index])
    throw Error(ErrorCode::ArtifactCorrupt,
                "'" + path.string() + "' is damaged: it is not the module that was recorded");
  return bytes;
}

} // namespace mneme::artifact
