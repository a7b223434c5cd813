#include "runtime/compiler/service/disk_cache.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/compiler/assembler/tools.h"
#include "runtime/compiler/service/cache_files.h"
#include "runtime/compiler/service/cache_limit.h"
#include "runtime/compiler/service/library_identity.h"
#include "runtime/core/abi/carried_ir.h"
#include "runtime/core/abi/jit_mark.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/packing.h"
#include "runtime/core/base/start_directory.h"

namespace mneme::compile {
namespace {

std::optional<std::filesystem::path> configuredDirectory() {
  if (const char* path = environmentValue("MNEME_CACHE_DIR"); path && *path)
    return startDirectory() / path;
  if (const char* path = environmentValue("XDG_CACHE_HOME"); path && *path == '/')
    return std::filesystem::path(path) / "mneme";
  if (const char* path = environmentValue("HOME"); path && *path == '/')
    return std::filesystem::path(path) / ".cache" / "mneme";
  return std::nullopt;
}

/// Makes the directory if it is missing; `isMade` says so. Empty: only this user can write to it.
std::string whyUnusable(const std::filesystem::path& directory, bool& isMade) {
  struct stat status = {};
  if (stat(directory.c_str(), &status) != 0) {
    std::error_code ignored;
    if (directory.has_parent_path())
      std::filesystem::create_directories(directory.parent_path(), ignored);
    isMade = mkdir(directory.c_str(), 0700) == 0;
    if (!isMade && errno != EEXIST)
      return systemMessage("it cannot be made", errno);
    if (stat(directory.c_str(), &status) != 0)
      return systemMessage("it cannot be read", errno);
  }
  const bool isOurs = S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
                      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return isOurs ? ""
                : "it must be a directory of this user that nobody else can write to (chmod go-w)";
}

} // namespace

std::filesystem::path entryPath(const std::filesystem::path& directory, const Hash128& key,
                                const std::string& name) {
  return directory / (name.empty() ? toHex(key) + std::string(kEntrySuffix) : name);
}

DirectoryCheck checkCacheDirectory(const std::filesystem::path& directory) {
  bool isMade = false;
  if (std::string why = whyUnusable(directory, isMade); !why.empty())
    return {.isUsable = false, .place = {}, .whyNot = std::move(why)};
  std::filesystem::path place = cachePlaceIn(directory);
  if (place == directory)
    return {.isUsable = true, .place = std::move(place), .whyNot = {}};
  isMade = false;
  if (const std::string why = whyUnusable(place, isMade); !why.empty())
    return {.isUsable = false,
            .place = {},
            .whyNot =
                "it holds other files, and of '" + place.filename().string() + "' in it: " + why};
  if (isMade)
    adoptEntries(directory, place);
  return {.isUsable = true, .place = std::move(place), .whyNot = {}};
}

std::optional<std::filesystem::path> cacheDirectory() {
  const auto directory = configuredDirectory();
  if (!directory)
    return std::nullopt;
  const DirectoryCheck check = checkCacheDirectory(*directory);
  if (check.isUsable)
    return check.place;
  log(LogLevel::Warn,
      "the cache directory '" + directory->string() + "' is not used: " + check.whyNot);
  return std::nullopt;
}

Hash128 cacheKey(const Request& request, const std::string& libraryIdentity) {
  Packer packer;
  packer.add(bytesOf(libraryIdentity));
  packer.add(bytesOf(request.target));
  // Functions of the program say for which processor they are; modules made at run time are for
  // this one.
  if (request.target.rfind("cpu", 0) == 0 || (request.target == "host" && request.kernel.empty()))
    packer.add(bytesOf(hostIdentity()));
  else if (request.target != "host" && request.target != kSourceTarget)
    packer.add(bytesOf(assemblerIdentity(findAssembler())));
  if (const char* carriesIr = environmentValue(kCarryIrVariable))
    packer.add(bytesOf(std::string(carriesIr)));
  packer.add(uint64_t{request.modules.size()});
  for (const auto& module : request.modules)
    packer.add(std::span<const std::byte>(module));
  packer.add(uint64_t{request.sourceCompiler.size()});
  for (const std::string& word : request.sourceCompiler)
    packer.add(bytesOf(word));
  packer.add(uint64_t{request.mlir.pipelines.size()});
  for (const std::string& pipeline : request.mlir.pipelines)
    packer.add(bytesOf(pipeline));
  packer.add(uint64_t{request.mlir.isForGpu});
  packer.add(bytesOf(request.kernel));
  packer.add(bytesOf(request.passes));
  packer.add(bytesOf(request.optionsJson));
  visitCodeNumbers(request, [&](uint64_t number) { packer.add(number); });
  for (const bool isWanted :
       {request.wantIr, request.wantAssembly, request.wantShape, request.wantElements})
    packer.add(uint64_t{isWanted});
  packer.add(bytesOf(request.assemblerOptions));
  packer.add(bytesOf(request.llvmOptions));
  packer.add(uint64_t{request.placedGlobals.size()});
  for (const GlobalPlace& place : request.placedGlobals) {
    packer.add(bytesOf(place.name));
    packer.add(place.address);
  }
  // The dimensions matter only where the code depends on them.
  if (request.specializeDims || request.boundIndices ||
      (request.setLaunchBounds && request.maxThreads == 0))
    for (unsigned axis = 0; axis < 3; ++axis) {
      packer.add(uint64_t{request.grid[axis]});
      packer.add(uint64_t{request.block[axis]});
    }
  packer.add(uint64_t{request.specializedArgs.size()});
  for (const ArgValue& argument : request.specializedArgs) {
    packer.add(uint64_t{argument.index});
    packer.add(static_cast<uint64_t>(argument.offset ? MNEME_CONSTANT_MEMBER : argument.content));
    if (argument.offset)
      packer.add(uint64_t{*argument.offset});
    packer.add(std::span<const std::byte>(argument.bytes));
  }
  packer.add(bytesOf(request.symbol));
  packer.add(uint64_t{request.lambdaValues.size()});
  for (const LambdaValue& lambda : request.lambdaValues) {
    packer.add(bytesOf(lambda.function));
    packer.add(uint64_t{lambda.slot});
    packer.add(uint64_t{lambda.offset});
    packer.add(uint64_t{lambda.argument});
    packer.add(lambda.place);
    packer.add(std::span<const std::byte>(lambda.value));
  }
  packer.add(uint64_t{request.plugins.size()});
  for (const PassPlugin& plugin : request.plugins) // wherever the file is
    packer.add(plugin.contentHash);
  if (!request.compiler.empty()) // wherever its library is
    packer.add(bytesOf(request.compiler.substr(request.compiler.rfind('@') + 1)));
  if (request.wantReasons) // others have the keys they always had
    packer.add(uint64_t{1});
  visitLaterTexts(request, [&](const std::string& knob, const std::string& text) {
    if (!text.empty()) {
      packer.add(bytesOf(knob));
      packer.add(bytesOf(text));
    }
  });
  return hash128(packer.packed());
}

std::vector<std::byte> packEntry(const Hash128& key, const Result& result) {
  Packer packer;
  packer.add(bytesOf(result.image));
  packer.add(bytesOf(result.ir));
  packer.add(bytesOf(result.assembly));
  packer.add(bytesOf(result.statisticsJson));
  const Hash128 checksum = hash128(packer.packed());
  EntryHeader header = {};
  memcpy(header.magic, kEntryMagic, sizeof kEntryMagic);
  header.keyLow = key.low;
  header.keyHigh = key.high;
  header.checksumLow = checksum.low;
  header.checksumHigh = checksum.high;
  std::vector<std::byte> entry(sizeof header);
  memcpy(entry.data(), &header, sizeof header);
  entry.insert(entry.end(), packer.packed().begin(), packer.packed().end());
  return entry;
}

std::optional<Result> unpackEntry(std::span<const std::byte> entry, const Hash128& key) {
  EntryHeader header;
  if (entry.size() < sizeof header)
    return std::nullopt;
  memcpy(&header, entry.data(), sizeof header);
  const auto payload = entry.subspan(sizeof header);
  if (memcmp(header.magic, kEntryMagic, sizeof kEntryMagic) != 0 ||
      Hash128{header.keyLow, header.keyHigh} != key ||
      Hash128{header.checksumLow, header.checksumHigh} != hash128(payload))
    return std::nullopt;
  Result result;
  Unpacker unpacker(payload);
  unpacker.take(result.image);
  unpacker.take(result.ir);
  unpacker.take(result.assembly);
  unpacker.take(result.statisticsJson);
  if (!unpacker.isGood())
    return std::nullopt;
  result.isFromCache = true;
  return result;
}

std::optional<Result> loadCached(const std::filesystem::path& directory, const Hash128& key,
                                 const std::string& name) {
  std::optional<Result> result;
  try {
    result = unpackEntry(readFile(entryPath(directory, key, name), kMaxEntryBytes), key);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (result)
    noteUse(entryPath(directory, key, name));
  return result;
}

std::string storeCached(const std::filesystem::path& directory, const Hash128& key,
                        const Result& result, uint64_t maxBytes, const std::string& name) {
  const std::vector<std::byte> entry = packEntry(key, result);
  try {
    // Damaged entries are found by their checksum and compiled again.
    writeFileAtomically(entryPath(directory, key, name), entry, Durability::UntilPowerFails);
  } catch (const Error& error) {
    return error.what();
  }
  limitCache(directory, maxBytes, entry.size());
  return {};
}

uint64_t cacheBytesLimit() {
  constexpr uint64_t kDefaultBytes = uint64_t{10} << 30;
  const char* text = environmentValue("MNEME_CACHE_BYTES");
  if (!text || !*text)
    return kDefaultBytes;
  char* end = nullptr;
  const uint64_t number = strtoull(text, &end, 10);
  constexpr std::string_view kUnits = "KMGT";
  const size_t unit = *end ? kUnits.find(*end) : std::string_view::npos;
  const bool isPlain = end != text && *end == '\0';
  if (isPlain)
    return number;
  if (end != text && unit != std::string_view::npos && end[1] == '\0')
    return number << (10 * (unit + 1));
  log(LogLevel::Warn, std::string("MNEME_CACHE_BYTES is '") + text +
                          "', which is not a size such as 500M or 10G; 10G is used");
  return kDefaultBytes;
}

} // namespace mneme::compile
