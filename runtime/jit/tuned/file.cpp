#include "runtime/jit/tuned/file.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/grouped_notices.h"
#include "runtime/core/base/hash.h"
#include "runtime/jit/tuned/document.h"
#include "runtime/jit/tuned/json_object.h"

namespace mneme::tuned {
namespace {

constexpr uint64_t kMaxArgIndex = 1 << 16;
constexpr uint64_t kMaxArgBytes = 1 << 15; // of a kernel's parameters together
constexpr uint64_t kMaxCodeBytes = kMaxFileBytes / 2;
// 1: all variants are for code of one hash; 2: for several; 3: for code without IR, too
constexpr uint32_t kKnownVersion = 3;
constexpr uint64_t kPointerBytes = 8;
constexpr int64_t kMaxBlocksPerSm = 1024;

std::optional<mneme_dim3> readDims(const JsonObject& object, const char* key) {
  const std::optional<JsonObject> value = object.object(key);
  if (!value)
    return std::nullopt;
  mneme_dim3 dims{1, 1, 1};
  for (auto [axis, target] : {std::pair{"x", &dims.x}, {"y", &dims.y}, {"z", &dims.z}})
    *target = static_cast<uint32_t>(value->integer(axis, 1, UINT32_MAX).value_or(1));
  return dims;
}

std::vector<std::byte>
readHex(const JsonObject& object, const char* key, uint64_t mostBytes = kMaxArgBytes,
        const char* wanted = "the bytes of a value as pairs of hexadecimal digits") {
  const std::string text = object.text(key).value_or("");
  if (text.empty() || text.size() % 2 != 0 || text.size() > 2 * mostBytes)
    object.refuseValue(key, wanted);
  std::vector<std::byte> bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    unsigned value = 0;
    const char* end = text.data() + 2 * i + 2;
    const auto [stop, error] = std::from_chars(end - 2, end, value, 16);
    if (error != std::errc() || stop != end)
      object.refuseValue(key, wanted);
    bytes[i] = static_cast<std::byte>(value);
  }
  return bytes;
}

ArgValue readArg(const JsonObject& object) {
  ArgValue arg;
  const std::optional<uint64_t> index = object.integer("Index", 0, kMaxArgIndex);
  if (!index)
    object.refuse("Index", "is missing");
  arg.index = static_cast<uint32_t>(*index);
  arg.bytes = readHex(object, "Bytes");
  const std::string type = object.text("Type").value_or("");
  if (type.size() > 1 && type[0] == 'i' && arg.bytes.size() <= sizeof(uint64_t) &&
      type.find_first_not_of("0123456789", 1) == std::string::npos)
    arg.kind = ArgKind::Integer;
  else if (type == "half" || type == "bfloat" || type == "float" || type == "double")
    arg.kind = ArgKind::Float;
  return arg;
}

/// Adds what identifies a launch: all but the pointers, each of which begins at one of `Pointers`.
void addParts(std::vector<ArgValue>& parts, const ArgValue& arg, std::vector<uint64_t> pointers) {
  std::ranges::sort(pointers);
  pointers.push_back(arg.bytes.size());
  uint64_t begin = 0;
  for (const uint64_t pointer : pointers) {
    if (begin < pointer)
      parts.push_back({.index = arg.index,
                       .bytes = {arg.bytes.begin() + begin, arg.bytes.begin() + pointer},
                       .offset = static_cast<uint32_t>(begin)});
    begin = pointer + kPointerBytes;
  }
}

Match readMatch(const JsonObject& object) {
  Match match;
  match.arch = object.text("Arch").value_or("");
  match.grid = readDims(object, "GridDim");
  match.block = readDims(object, "BlockDim");
  match.sharedBytes = object.integer("SharedMem", 0, UINT64_MAX);
  std::unordered_set<uint32_t> known;
  for (const JsonObject& arg : object.objects("Args")) {
    const ArgValue value = readArg(arg);
    if (!known.insert(value.index).second)
      arg.refuse("Index", "names an argument that is listed already");
    if (match.argSizes.size() <= value.index)
      match.argSizes.resize(value.index + 1);
    match.argSizes[value.index] = value.bytes.size();
    const std::vector<uint64_t> pointers = arg.integers("Pointers", kMaxArgBytes);
    for (const uint64_t pointer : pointers)
      if (pointer % kPointerBytes != 0 || pointer + kPointerBytes > value.bytes.size())
        arg.refuse("Pointers", "names bytes that the argument does not have");
    if (pointers.empty())
      match.args.push_back(value);
    else
      addParts(match.args, value, pointers);
  }
  return match;
}

/// A guard that is not understood must not be taken for one that holds.
Guards readGuards(const JsonObject& variant, const Match& match) {
  Guards guards;
  std::unordered_set<uint32_t> known;
  for (const ArgValue& arg : match.args)
    known.insert(arg.index);
  const auto require = [&](const std::string& guard, bool hasValue) {
    if (!hasValue)
      variant.refuse("Guards", "has '" + guard + "' but Match does not say what it has to be");
    return true;
  };
  for (const std::string& guard : variant.texts("Guards")) {
    if (guard == "Arch")
      guards.arch = require(guard, !match.arch.empty());
    else if (guard == "Grid")
      guards.grid = require(guard, match.grid.has_value());
    else if (guard == "Block")
      guards.block = require(guard, match.block.has_value());
    else if (guard == "SharedMem")
      guards.sharedBytes = require(guard, match.sharedBytes.has_value());
    else if (guard == "Args")
      for (const ArgValue& arg : match.args)
        guards.args.push_back({arg.index});
    else if (guard.starts_with("Arg:")) {
      const std::optional<ArgPath> path = argPathOf(std::string_view(guard).substr(4));
      require(guard, path && known.contains(path->index));
      guards.args.push_back(*path);
    } else
      variant.refuse("Guards", "has '" + guard + "', which this release does not know");
  }
  std::ranges::sort(guards.args);
  const auto repeated = std::ranges::unique(guards.args);
  guards.args.erase(repeated.begin(), repeated.end());
  return guards;
}

std::optional<LaunchOverride> readLaunch(const JsonObject& variant, const Match& match) {
  const std::optional<JsonObject> object = variant.object("Launch");
  if (!object)
    return std::nullopt;
  const std::optional<mneme_dim3> grid = readDims(*object, "GridDim");
  const std::optional<mneme_dim3> block = readDims(*object, "BlockDim");
  if (!grid || !block)
    object->refuse("GridDim", "and BlockDim have to be there both");
  if (!match.grid || !match.block || !match.sharedBytes)
    variant.refuse("Launch", "needs GridDim, BlockDim and SharedMem in Match");
  LaunchOverride launch{.matched = {*match.grid, *match.block}, .tuned = {*grid, *block}};
  const std::string rule = object->text("Rule").value_or("");
  if (rule == "exact")
    launch.rule = LaunchRule::Exact;
  else if (rule == "cover")
    launch.rule = LaunchRule::Cover;
  else if (rule == "agnostic")
    launch.rule = LaunchRule::Agnostic;
  else
    object->refuseValue("Rule", "exact, cover or agnostic");
  return launch;
}

std::string optLevelOf(const JsonObject& object) {
  // Existing readers take OptLevel as a text and ignore the number that existing writers write.
  return object.has("OptLevel") ? object.textOr("OptLevel", "3") : "3";
}

std::optional<uint64_t> readHash(const JsonObject& object, const char* key) {
  const std::optional<std::string> text = object.text(key);
  if (!text)
    return std::nullopt;
  uint64_t hash = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, hash, 16);
  if (error != std::errc() || stop != end || text->size() != 16)
    object.refuseValue(key, "16 hexadecimal digits");
  return hash;
}

std::vector<ArgPath> readSpecialized(const JsonObject& variant) {
  std::vector<ArgPath> paths;
  for (const uint64_t index : variant.integers("SpecializedArgs", kMaxArgIndex))
    paths.push_back({static_cast<uint32_t>(index)});
  for (const JsonObject& member : variant.objects("SpecializedMembers")) {
    const std::optional<uint64_t> index = member.integer("Arg", 0, kMaxArgIndex);
    const std::optional<uint64_t> offset = member.integer("Offset", 0, UINT32_MAX);
    if (!index || !offset)
      member.refuse("Arg", "and Offset have to be there both");
    paths.push_back({static_cast<uint32_t>(*index), static_cast<uint32_t>(*offset)});
  }
  std::ranges::sort(paths);
  const auto repeated = std::ranges::unique(paths);
  paths.erase(repeated.begin(), repeated.end());
  return paths;
}

Variant readVariant(const JsonObject& object) {
  Variant variant;
  variant.launchBounds = object.boolean("LaunchBounds").value_or(true);
  const std::optional<bool> specializeArgs = object.boolean("SpecializeArgs");
  variant.saysSpecializeArgs = specializeArgs.has_value();
  variant.specializeArgs = specializeArgs.value_or(false);
  variant.specializeDims = object.boolean("SpecializeDims").value_or(true);
  const std::optional<std::string> pipeline = object.text("Pipeline");
  variant.namesPipeline = pipeline.has_value();
  variant.optLevel = optLevelOf(object);
  variant.pipeline = pipeline.value_or("default<O" + variant.optLevel + ">");
  variant.boundIndices = object.booleanIfAny("SpecializeDimsRange");
  variant.codegenOptLevel = uint32_t(object.integer("CodeGenOptLevel", 0, 3).value_or(3));
  variant.tunedMaxThreads = object.signedInteger("TunedMaxThreads").value_or(-1);
  variant.minBlocksPerSm = static_cast<uint32_t>(
      std::clamp<int64_t>(object.signedInteger("MinBlocksPerSM").value_or(0), 0, kMaxBlocksPerSm));
#define MNEME_CODE_NUMBER(member, key, otherwise, high, deployed, searched, devices, label, text)  \
  variant.member = uint32_t(object.integer(deployed, 0, high).value_or(otherwise));
#define MNEME_CODE_TEXT(member, key, deployed, option, metavar, between, label, sentence)          \
  variant.member = object.text(deployed).value_or("");
#include "runtime/core/abi/knobs.def"
  if (object.has("SpecializedArgs"))
    variant.specializedArgs = readSpecialized(object);
  if (const std::optional<JsonObject> match = object.object("Match"))
    variant.match = readMatch(*match);
  variant.guards = readGuards(object, variant.match);
  variant.launch = readLaunch(object, variant.match);
  variant.weight = object.real("Weight").value_or(0);
  variant.staticHash = readHash(object, "StaticHash");
  variant.codeHash = readHash(object, "CodeHash");
  variant.codeForm = object.text("CodeForm").value_or("");
  variant.processor = object.text("Processor").value_or("");
  if (object.has("Cubin")) {
    if (variant.codeForm.empty() || variant.match.arch.empty())
      object.refuse("Cubin", "needs CodeForm, and Arch in Match");
    variant.cubin = std::make_shared<const std::vector<std::byte>>(
        readHex(object, "Cubin", kMaxCodeBytes, "machine code as pairs of hexadecimal digits"));
  }
  return variant;
}

/// The reference tool's keys with values of other kinds count as if they were not there.
void dropOtherKinds(nlohmann::json& entry) {
  const auto drop = [&](std::initializer_list<const char*> keys, auto isKind) {
    for (const char* key : keys)
      if (const auto found = entry.find(key); found != entry.end() && !isKind(*found))
        entry.erase(found);
  };
  using Json = nlohmann::json;
  if (!entry.is_object())
    return;
  drop({"Pipeline", "CodeGen", "OptLevel"}, [](const Json& value) { return value.is_string(); });
  drop({"SpecializeArgs", "LaunchBounds", "SpecializeDims", "SpecializeDimsRange"},
       [](const Json& value) { return value.is_boolean(); });
  drop({"CodeGenOptLevel", "TunedMaxThreads", "MinBlocksPerSM"},
       [](const Json& value) { return value.is_number_integer(); });
}

/// Makes kernels of the pieces of a document.
class Builder final : public Visitor {
public:
  Builder(const std::string& name, OtherKinds otherKinds)
      : place_("'" + name + "'"), otherKinds_(otherKinds) {}

  void beginVariants() override { pending_ = {}; }

  void variant(size_t index, nlohmann::json value) override {
    const std::string place = "Mneme, Variants " + std::to_string(index);
    if (!value.is_object()) { // the writer did not know what a variant is
      pending_.whyBroken = place + " has to be an object";
      return;
    }
    try {
      pending_.variants.push_back(readVariant(JsonObject(std::move(value), place)));
    } catch (const Error& error) {
      pending_.leftOut.add(error.what());
    }
  }

  void kernel(const std::string& symbol, nlohmann::json value) override {
    Pending pending = std::exchange(pending_, {});
    const std::string place = place_ + ", kernel '" + symbol + "'";
    file_.kernels.erase(symbol); // of a key that is there twice the last one counts
    if (otherKinds_ == OtherKinds::AreDropped)
      dropOtherKinds(value);
    try {
      Kernel kernel = readKernel(JsonObject(std::move(value), ""), pending);
      for (const std::string& why : pending.leftOut.sentences())
        problems_.add(place + ", " + why + "; this variant is not used", "'" + symbol + "'");
      if (!kernel.variants.empty())
        file_.kernels.emplace(symbol, std::move(kernel));
      else if (pending.leftOut.isEmpty())
        problems_.add(place + ": there is no variant that can be used; the kernel runs as it was "
                              "built",
                      "'" + symbol + "'");
    } catch (const Error& error) {
      file_.needsNewerRelease |= error.code() == ErrorCode::Unsupported;
      problems_.add(place + error.what() + "; the kernel runs as it was built", "'" + symbol + "'");
    }
  }

  File finish() {
    for (const auto& [name, kernel] : file_.kernels)
      for (const Variant& variant : kernel.variants)
        if (variant.codeHash)
          file_.names.emplace(*variant.codeHash, name);
    file_.warnings = problems_.sentences();
    return std::move(file_);
  }

private:
  /// What precedes the end of a kernel.
  struct Pending {
    std::vector<Variant> variants;
    Grouped leftOut;
    std::string whyBroken = {};
  };

  static Kernel readKernel(const JsonObject& entry, Pending& pending) {
    Kernel kernel;
    const std::optional<JsonObject> ours = entry.object("Mneme");
    if (!ours) {
      kernel.variants.push_back(readVariant(entry));
      return kernel;
    }
    const uint64_t version = ours->integer("Version", 1, UINT32_MAX).value_or(kKnownVersion);
    if (version > kKnownVersion)
      throw Error(ErrorCode::Unsupported, ", Mneme: Version " + std::to_string(version) +
                                              " is newer than this release of mneme; update it");
    const std::optional<uint64_t> staticHash = readHash(*ours, "StaticHash");
    ours->objects("Variants"); // an array, if it is there
    if (!pending.whyBroken.empty())
      throw Error(ErrorCode::ArtifactCorrupt, ", " + pending.whyBroken);
    kernel.variants = std::move(pending.variants);
    for (Variant& variant : kernel.variants)
      if (!variant.staticHash)
        variant.staticHash = staticHash;
    std::erase_if(kernel.variants, [&](const Variant& variant) {
      const bool isUnbound = !variant.codeForm.empty() && !variant.staticHash;
      if (isUnbound)
        pending.leftOut.add("Mneme: a variant with CodeForm needs StaticHash");
      return isUnbound;
    });
    return kernel;
  }

  const std::string place_;
  const OtherKinds otherKinds_;
  Pending pending_;
  Grouped problems_;
  File file_;
};

} // namespace

bool Guards::cover(const ArgValue& arg) const {
  return std::ranges::binary_search(args, ArgPath{arg.index}) ||
         std::ranges::binary_search(args, arg.path());
}

std::vector<Variant> Kernel::variantsFor(uint64_t staticHash, uint64_t codeHash) const {
  std::vector<Variant> fitting;
  std::ranges::copy_if(variants, std::back_inserter(fitting),
                       [&](const Variant& variant) { return variant.isFor(staticHash, codeHash); });
  return fitting;
}

OfCode File::variantsFor(const std::string& name, uint64_t staticHash, uint64_t codeHash) const {
  OfCode found;
  if (const Kernel* const own = find(name)) {
    found.hasName = true;
    found.variants = own->variantsFor(staticHash, codeHash);
  }
  const auto other = names.find(codeHash);
  if (!found.variants.empty() || codeHash == 0 || other == names.end())
    return found;
  found.otherName = other->second;
  std::ranges::copy_if(kernels.at(other->second).variants, std::back_inserter(found.variants),
                       [&](const Variant& variant) { return variant.codeHash == codeHash; });
  return found;
}

void keepOnly(File& file, CodeKind kind) {
  for (auto& [name, kernel] : file.kernels)
    std::erase_if(kernel.variants, [&](const Variant& variant) {
      return variant.codeForm.empty() != (kind == CodeKind::WithIr);
    });
  std::erase_if(file.kernels, [](const auto& item) { return item.second.variants.empty(); });
  std::erase_if(file.names, [&](const auto& item) { return !file.kernels.contains(item.second); });
}

std::string Kernel::hashesText() const {
  std::set<uint64_t> known;
  std::string text;
  for (const Variant& variant : variants)
    if (variant.staticHash && known.insert(*variant.staticHash).second)
      text += (text.empty() ? "" : ", ") + toHex(*variant.staticHash);
  return text;
}

std::string nameWithoutHash(const std::string& name) {
  for (const auto& [begin, end] :
       {std::pair<std::string_view, std::string_view>{"$jit$", "$"}, {".jit.", ""}}) {
    const size_t at = name.rfind(begin);
    if (at == std::string::npos || at == 0 || !name.ends_with(end))
      continue;
    const size_t from = at + begin.size(), to = name.size() - end.size();
    if (from < to && name.find_first_not_of("0123456789", from) >= to)
      return name.substr(0, at);
  }
  return name;
}

std::vector<std::string> File::namesLike(const std::string& name) const {
  std::vector<std::string> alike;
  const std::string base = nameWithoutHash(name);
  if (base == name)
    return alike;
  for (const auto& [other, kernel] : kernels)
    if (other != name && other.starts_with(base) && other != base && nameWithoutHash(other) == base)
      alike.push_back(other);
  std::ranges::sort(alike);
  return alike;
}

const Kernel* File::find(const std::string& name) const {
  if (const auto own = kernels.find(name); own != kernels.end())
    return &own->second;
  for (const std::string& other : namesLike(name))
    if (const Kernel& kernel = kernels.at(other);
        std::ranges::any_of(kernel.variants, [](const Variant& one) { return !one.staticHash; }))
      return &kernel;
  return nullptr;
}

File parseFile(const std::string& text, const std::string& name, OtherKinds otherKinds) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error(ErrorCode::ArtifactCorrupt,
                "'" + name +
                    "' is empty, not a tuned-kernels file; write it again with 'mneme deploy', or "
                    "unset PROTEUS_TUNED_KERNELS to run without");
  Builder builder(name, otherKinds);
  walkDocument(text, "'" + name + "'", builder);
  return builder.finish();
}

void checkText(const std::string& text, const std::filesystem::path& path) {
  const File file = parseFile(text, path.string());
  if (!file.warnings.empty())
    throw Error(file.needsNewerRelease ? ErrorCode::Unsupported : ErrorCode::ArtifactCorrupt,
                file.warnings.front());
}

File readFile(const std::filesystem::path& path, OtherKinds otherKinds) {
  try {
    return parseFile(readTextFile(path, kMaxFileBytes), path.string(), otherKinds);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::OutOfRange)
      throw;
    throw Error(ErrorCode::ArtifactCorrupt, "'" + path.string() +
                                                "' is not a tuned-kernels file: it has more than " +
                                                std::to_string(kMaxFileBytes >> 20) + " MiB");
  }
}

} // namespace mneme::tuned
