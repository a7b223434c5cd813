#include <cstdio>
#include <set>

#include <doctest/doctest.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

/// Kernel 2's snapshots refer to content of kernel 1's.
struct TwoKernels {
  TemporaryDirectory from, to;
  Bytes content = noise(4 * kChunkBytes, 1);
  std::filesystem::path first = from.path() / "1.json", second = from.path() / "2.json";
  TwoKernels() {
    writeSmallRecording(from.path(), 1, 10, content, content);
    writeSmallRecording(from.path(), 2, 20, content, content);
  }
  bool isWhole(const std::filesystem::path& directory, const std::string& id) const {
    const KernelRecord record = KernelRecord::load(directory / (id + ".json"));
    const Instance& instance = record.instances.begin()->second;
    record.readModule(directory, 0);
    return contentOf(directory / instance.prologue) == content &&
           contentOf(directory / instance.epilogue) == content;
  }
};

} // namespace

TEST_CASE("a record needs the files it refers to") {
  const TwoKernels kernels;
  const auto files = filesOf(kernels.second);
  CHECK(files.front() == kernels.second);
  CHECK(files.size() == 5); // json, module, two snapshots, kernel 1's prologue
}

TEST_CASE("a copied record is whole without the original directory") {
  TwoKernels kernels;
  copyRecords({kernels.second}, kernels.to.path());
  std::filesystem::remove_all(kernels.from.path());
  CHECK(kernels.isWhole(kernels.to.path(), "2"));
  CHECK(filesIn(kernels.to.path()).size() == 5);
}

TEST_CASE("copying twice is allowed, copying over other content is an error") {
  TwoKernels kernels;
  copyRecords({kernels.first, kernels.second}, kernels.to.path());
  copyRecords({kernels.first, kernels.second}, kernels.to.path());
  const TemporaryDirectory other;
  writeSmallRecording(other.path(), 1, 10, noise(10, 5), noise(10, 5));
  const auto before = filesIn(kernels.to.path());
  CHECK_THROWS_WITH_AS(copyRecords({other.path() / "1.json"}, kernels.to.path()),
                       doctest::Contains("differs"), Error);
  CHECK_THROWS_AS(copyRecords({kernels.first}, kernels.from.path()), Error);
  CHECK(filesIn(kernels.to.path()) == before);
  CHECK(kernels.isWhole(kernels.to.path(), "1"));
}

TEST_CASE("a damaged record is not copied and leaves the destination as it was") {
  TwoKernels kernels;
  const auto snapshot = kernels.from.path() / "DeviceState.prologue.1.10.mneme";
  Bytes bytes = readFile(snapshot);
  bytes[1000] ^= std::byte{1};
  writeFileAtomically(snapshot, bytes);
  CHECK_THROWS_AS(copyRecords({kernels.first}, kernels.to.path()), Error);
  CHECK(filesIn(kernels.to.path()).empty());
}

TEST_CASE("moving a record keeps what others need") {
  TwoKernels kernels;
  moveRecords({kernels.first}, kernels.to.path());
  CHECK(kernels.isWhole(kernels.to.path(), "1"));
  CHECK(kernels.isWhole(kernels.from.path(), "2"));
  CHECK(!std::filesystem::exists(kernels.first));
  moveRecords({kernels.second}, kernels.to.path());
  CHECK(kernels.isWhole(kernels.to.path(), "2"));
}

TEST_CASE("cleaning a record keeps what others need") {
  TwoKernels kernels;
  const auto removed = cleanRecords({kernels.first});
  CHECK(removed.size() == 3); // json, module, epilogue; the prologue is needed
  CHECK(kernels.isWhole(kernels.from.path(), "2"));
}

// For the next one, which starts this program again.
TEST_CASE("print a temporary name" * doctest::skip()) {
  std::printf("<%s>", temporaryName("x").c_str());
}

TEST_CASE("temporary names differ between processes of one number") {
  const auto nameOfAProcess = [] {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    const std::string command =
        "'" + program + "' --no-skip --test-case='print a temporary name' 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string output;
    for (int letter = fgetc(pipe); letter != EOF; letter = fgetc(pipe))
      output += static_cast<char>(letter);
    pclose(pipe);
    const size_t begin = output.find("<x.tmp-");
    REQUIRE(begin != std::string::npos);
    return output.substr(begin + 7, output.find('>', begin) - begin - 7);
  };
  const std::string one = nameOfAProcess(), other = nameOfAProcess();
  CAPTURE(one);
  CHECK(one.substr(one.find('-')) != other.substr(other.find('-')));
  CHECK(temporaryName("x") != temporaryName("x"));
}

TEST_CASE("cleaning everything leaves nothing behind") {
  TwoKernels kernels;
  writeFileAtomically(kernels.from.path() / "DeviceState.prologue.1.2.mneme.tmp-1-0",
                      std::string("half"));
  writeFileAtomically(temporaryName(kernels.from.path() / "1.json"), std::string("half"));
  cleanRecords({kernels.first, kernels.second});
  CHECK(filesIn(kernels.from.path()).empty());
}

TEST_CASE("cleaning touches nothing that only looks like a recording's") {
  TwoKernels kernels;
  const std::set<std::string> others = {"uv.lock",
                                        "2024.json",
                                        "data.tmp-2024",
                                        "x.mneme.tmp-1-0",
                                        "unfinished-1.session",
                                        "unfinished-b.session",
                                        "RecordedIR_2.bc.bak",
                                        "DeviceState.prologue.1.txt",
                                        "1.json.tmp-final",
                                        "RecordedIR_1.txt"};
  for (const std::string& name : others)
    writeFileAtomically(kernels.from.path() / name, std::string("{}"));
  std::filesystem::create_directory(kernels.from.path() / "build.tmp-1");
  CHECK(listDirectory(kernels.from.path()).strangers ==
        std::vector{kernels.from.path() / "2024.json"});
  CHECK_THROWS_AS(cleanRecords({kernels.from.path() / "2024.json"}), Error);
  std::filesystem::resize_file(kernels.second, 10);
  cleanRecords({kernels.second});
  cleanRecords({kernels.first});
  std::set<std::string> left;
  for (const auto& file : filesIn(kernels.from.path()))
    left.insert(file.filename().string());
  CHECK(left.erase("build.tmp-1") == 1);
  CHECK(left == others);
}

TEST_CASE("what is left over goes with the last record, what others call temporary does not") {
  TwoKernels kernels;
  const std::filesystem::path others = kernels.from.path() / "data.tmp-2024";
  writeFileAtomically(others, std::string("{}"));
  writeFileAtomically(temporaryName(kernels.from.path() / "1.json"), std::string("half"));
  cleanRecords({kernels.first, kernels.second});
  CHECK(filesIn(kernels.from.path()) == std::vector{others});
}

TEST_CASE("a file that a record names as its own but no recorder calls so is not cleaned") {
  TwoKernels kernels;
  const std::filesystem::path others = kernels.from.path() / "uv.lock";
  writeFileAtomically(others, std::string("{}"));
  KernelRecord record = KernelRecord::load(kernels.second);
  record.modules.push_back("uv.lock");
  record.moduleHashes.push_back(record.moduleHashes.front());
  writeFileAtomically(kernels.second, record.toJson());
  cleanRecords({kernels.second});
  CHECK_FALSE(std::filesystem::exists(kernels.second));
  CHECK(std::filesystem::exists(others));
}

TEST_CASE("files of another directory stay where they are, whatever is done with the record") {
  TwoKernels kernels;
  const TemporaryDirectory other;
  KernelRecord record = KernelRecord::load(kernels.second);
  for (std::string& name : record.modules)
    name = (kernels.from.path() / name).string();
  for (auto& [hash, instance] : record.instances)
    for (std::string* name : {&instance.prologue, &instance.epilogue})
      *name = (kernels.from.path() / *name).string();
  const std::filesystem::path json = other.path() / "2.json";
  writeFileAtomically(json, record.toJson());
  const auto before = filesIn(kernels.from.path());
  CHECK_THROWS_WITH_AS(copyRecords({json}, other.path() / "to"),
                       doctest::Contains("not in the record's own directory"), Error);
  CHECK_THROWS_AS(moveRecords({json}, other.path() / "to"), Error);
  cleanRecords({json});
  CHECK_FALSE(std::filesystem::exists(json));
  CHECK(filesIn(kernels.from.path()) == before);
}

TEST_CASE("a damaged record can be cleaned") {
  TwoKernels kernels;
  std::filesystem::resize_file(kernels.second, 10);
  CHECK_THROWS_AS(cleanRecords({kernels.first}), Error); // kernel 2 might need its files
  cleanRecords({kernels.second});
  CHECK(kernels.isWhole(kernels.from.path(), "1"));
  CHECK(filesIn(kernels.from.path()).size() == 4);
}

TEST_CASE("listing names records, unfinished files and foreign directories") {
  TwoKernels kernels;
  writeFileAtomically(kernels.from.path() / "DeviceState.prologue.1.2.mneme.tmp-1-0",
                      std::string("half"));
  writeFileAtomically(kernels.from.path() / "unfinished-1.session", std::string("{}"));
  writeFileAtomically(kernels.from.path() / "unfinished-2.json", std::string("{}")); // as once
  const DirectoryListing listing = listDirectory(kernels.from.path());
  CHECK(listing.records.size() == 2);
  CHECK(listing.unfinished.size() == 1);
  CHECK(listing.notes.size() == 2);
  CHECK_THROWS_AS(listDirectory(kernels.first), Error);
  CHECK_THROWS_AS(filesOf(kernels.from.path() / "3.json"), Error);
}

} // namespace mneme::artifact::test
