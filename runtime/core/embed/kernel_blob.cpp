#include "runtime/core/embed/kernel_blob.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "runtime/core/abi/blob_format.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/embed/bitcode.h"
#include "runtime/core/embed/byte_view.h"

namespace mneme::embed {
namespace {

using nlohmann::json;

// Far above any kernel seen (tens of MiB of bitcode), far below what harms a process.
constexpr uint64_t kMaxBitcodeBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxMetadataBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxCompressionRatio = 4096;
constexpr uint64_t kMaxMarkedBytes = uint64_t{1} << 30;
constexpr int kMaxJsonDepth = 16;

[[noreturn]] void corrupt(const std::string& why) {
  throw Error(ErrorCode::ArtifactCorrupt, "the embedded kernel IR is damaged: " + why);
}

BlobHeader readHeader(Bytes bytes) {
  if (bytes.size() < sizeof(BlobHeader))
    corrupt("it is cut off");
  auto header = readAt<BlobHeader>(bytes, 0, "header");
  if (std::memcmp(header.magic, kBlobMagic, sizeof(header.magic)) != 0)
    corrupt("it does not start with its magic number");
  if (header.version != kBlobVersion)
    throw Error(ErrorCode::Unsupported,
                "the embedded kernel IR has version " + std::to_string(header.version) +
                    ", this library reads version " + std::to_string(kBlobVersion) +
                    "; build program and library from one release");
  if (header.headerBytes < sizeof(BlobHeader) || header.metadataBytes > kMaxMetadataBytes ||
      header.bitcodeRawBytes > kMaxBitcodeBytes || header.bitcodeBytes > kMaxBitcodeBytes ||
      header.bitcodeRawBytes / kMaxCompressionRatio > header.bitcodeBytes)
    corrupt("its sizes make no sense");
  return header;
}

json parseMetadata(Bytes bytes) {
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  auto limitDepth = [](int depth, json::parse_event_t, json&) {
    if (depth > kMaxJsonDepth)
      corrupt("its metadata is nested too deeply");
    return true;
  };
  return json::parse(begin, begin + bytes.size(), limitDepth);
}

ArgField fieldFrom(const json& value, uint64_t wholeBytes) {
  const auto kindName = value.at("kind").get<std::string>();
  ArgField field{.name = value.value("name", ""),
                 .type = value.at("type").get<std::string>(),
                 .offset = value.at("offset").get<uint64_t>(),
                 .sizeBytes = value.at("size").get<uint64_t>(),
                 .kind = argKindOf(kindName).value_or(ArgKind::Unknown),
                 .isSpecializable = value.at("specializable").get<bool>()};
  if (field.offset > wholeBytes || field.sizeBytes > wholeBytes - field.offset)
    corrupt("a member lies outside its argument");
  return field;
}

KernelArg argFrom(const json& value) {
  const auto kindName = value.at("kind").get<std::string>();
  const ArgKind kind = argKindOf(kindName).value_or(ArgKind::Unknown);
  if (kind == ArgKind::Unknown)
    corrupt("an argument has the unknown kind '" + kindName + "'");
  KernelArg arg{.name = value.at("name").get<std::string>(),
                .type = value.at("type").get<std::string>(),
                .sizeBytes = value.at("size").get<uint64_t>(),
                .alignBytes = value.at("align").get<uint64_t>(),
                .kind = kind,
                .isSpecializable = value.at("specializable").get<bool>()};
  if (value.contains("fields")) {
    arg.fields.emplace();
    for (const json& field : value.at("fields"))
      arg.fields->push_back(fieldFrom(field, arg.sizeBytes));
  }
  return arg;
}

KernelGlobal globalFrom(const json& value) {
  return {.name = value.at("name").get<std::string>(),
          .sizeBytes = value.at("size").get<uint64_t>(),
          .alignBytes = value.at("align").get<uint64_t>(),
          .isConstant = value.at("constant").get<bool>(),
          .isDefined = value.at("defined").get<bool>(),
          .holdsFunctions = value.value("functions", false)};
}

uint32_t flagsFrom(const json& value) {
  return (value.at("by_value").get<bool>() ? MNEME_JIT_MARK_BY_VALUE : 0u) |
         (value.value("count_unsigned", false) ? MNEME_JIT_MARK_UNSIGNED_COUNT : 0u);
}

mneme_jit_mark markFrom(const json& value, size_t argCount) {
  const mneme_jit_mark mark{.argument = value.at("arg").get<uint32_t>(),
                            .type = value.at("type").get<int32_t>(),
                            .elementType = value.at("element").get<int32_t>(),
                            .countArgument = value.at("count_arg").get<int32_t>(),
                            .sizeBytes = value.at("size").get<uint64_t>(),
                            .count = value.at("count").get<uint64_t>(),
                            .countBytes = value.at("count_size").get<uint32_t>(),
                            .flags = flagsFrom(value)};
  if (mark.argument >= argCount || mark.countArgument >= static_cast<int64_t>(argCount) ||
      mark.sizeBytes > kMaxMarkedBytes || mark.count > kMaxMarkedBytes)
    corrupt("a mark of an argument makes no sense");
  return mark;
}

CallOperator operatorFrom(const json& value, const std::vector<KernelArg>& args) {
  CallOperator result{
      value.at("type").get<std::string>(), value.at("function").get<std::string>(), {}};
  for (const json& place : value.value("places", json::array())) {
    const ClosurePlace read{.argument = place.at("arg").get<uint32_t>(),
                            .offset = place.at("offset").get<uint64_t>(),
                            .sizeBytes = place.at("size").get<uint64_t>()};
    if (read.argument >= args.size() || read.offset > args[read.argument].sizeBytes ||
        read.sizeBytes > args[read.argument].sizeBytes - read.offset)
      corrupt("a closure lies outside its argument");
    result.places.push_back(read);
  }
  return result;
}

void readMetadata(const json& value, KernelBlob& blob) {
  blob.kernel = value.at("kernel").get<std::string>();
  blob.demangled = value.at("demangled").get<std::string>();
  blob.arch = value.at("arch").get<std::string>();
  blob.triple = value.at("triple").get<std::string>();
  for (const json& arg : value.at("args"))
    blob.args.push_back(argFrom(arg));
  for (const json& global : value.at("globals"))
    blob.globals.push_back(globalFrom(global));
  blob.undefined = value.at("undefined").get<std::vector<std::string>>();
  if (value.contains("offers")) {
    blob.offered = value.at("offers").get<std::vector<std::string>>();
    std::ranges::sort(*blob.offered);
  }
  blob.callsPointers = value.value("calls_pointers", false);
  if (const std::string hash = value.value("code_hash", ""); !hash.empty())
    std::from_chars(hash.data(), hash.data() + hash.size(), blob.codeHash, 16);
  if (value.contains("place"))
    blob.place = {.file = value.at("place").at("file").get<std::string>(),
                  .line = value.at("place").at("line").get<uint32_t>(),
                  .endLine = value.at("place").at("end_line").get<uint32_t>()};
  for (const json& table : value.value("tables", json::array()))
    blob.tables.push_back({.name = table.at("name").get<std::string>(),
                           .sizeBytes = table.at("size").get<uint64_t>(),
                           .holdsFunctions = true});
  if (value.contains("jit")) {
    blob.marks.emplace();
    for (const json& mark : value.at("jit").at("marks"))
      blob.marks->push_back(markFrom(mark, blob.args.size()));
    for (const json& lambda : value.at("jit").value("lambdas", json::array()))
      blob.lambdas.push_back(operatorFrom(lambda, blob.args));
  }
  blob.sharedBytes = value.at("shared_bytes").get<uint64_t>();
  blob.maxThreads = value.at("max_threads").get<uint32_t>();
  blob.minBlocks = value.at("min_blocks").get<uint32_t>();
  if (value.at("static_hash").get<std::string>() != toHex(blob.staticHash))
    corrupt("its metadata has another hash than its header");
}

} // namespace

std::string KernelBlob::shownName() const {
  constexpr size_t kLongest = 80;
  if (demangled.size() <= kLongest || place.file.empty())
    return demangled;
  return place.file.substr(place.file.rfind('/') + 1) + ":" + std::to_string(place.line);
}

KernelBlob KernelBlob::parse(std::span<const std::byte> bytes) {
  BlobHeader header = readHeader(bytes);
  uint64_t payloadBytes = header.metadataBytes + header.bitcodeBytes;
  std::optional<Bytes> payload = slice(bytes, header.headerBytes, payloadBytes);
  if (!payload)
    corrupt("it is cut off");
  if (hash64(*payload) != header.checksum)
    corrupt("its checksum does not match");
  KernelBlob blob;
  blob.staticHash = header.staticHash;
  Bytes metadata = payload->first(header.metadataBytes);
  blob.metadataJson.assign(reinterpret_cast<const char*>(metadata.data()), metadata.size());
  try {
    readMetadata(parseMetadata(metadata), blob);
  } catch (const json::exception& failure) {
    corrupt(failure.what());
  }
  blob.bitcode = decompressBitcode(payload->subspan(header.metadataBytes), header.bitcodeRawBytes);
  return blob;
}

std::vector<KernelBlob> readHostFunctions(std::span<const std::byte> section) {
  std::vector<KernelBlob> found;
  uint64_t step = 0;
  for (uint64_t offset = 0; offset < section.size(); offset += step) {
    step = kHostAlignment; // padding
    const std::optional<Bytes> magic = slice(section, offset, sizeof(kBlobMagic));
    if (!magic || std::memcmp(magic->data(), kBlobMagic, sizeof(kBlobMagic)) != 0)
      continue;
    const Bytes rest = section.subspan(offset);
    const BlobHeader header = readHeader(rest);
    KernelBlob blob = KernelBlob::parse(rest);
    const uint64_t size = header.headerBytes + header.metadataBytes + header.bitcodeBytes;
    step = (size + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
    if (std::ranges::find(found, blob.kernel, &KernelBlob::kernel) == found.end())
      found.push_back(std::move(blob));
  }
  return found;
}

} // namespace mneme::embed
