// Runs a program with librecord.so preloaded and looks at what it left.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/snapshot.h"

namespace mneme::record::test {

namespace fs = std::filesystem;

struct Run {
  std::string output; ///< stdout
  std::string said;   ///< stderr
  int status = 0;     ///< as wait() reports it
  double seconds = 0;
  fs::path directory;
  Run() = default;
  Run(Run&&) = default; // which leaves no directory
  Run& operator=(Run&&) = delete;
  ~Run() {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
  }
};

inline std::string readAll(const fs::path& path) {
  std::string text;
  if (FILE* file = std::fopen(path.c_str(), "r")) {
    std::array<char, 4096> part{};
    for (size_t size; (size = std::fread(part.data(), 1, part.size(), file)) > 0;)
      text.append(part.data(), size);
    std::fclose(file);
  }
  return text;
}

inline Run run(const std::string& mode, bool isRecorded, const std::string& environment = "",
               const std::string& guest = MNEME_TEST_GUEST) {
  Run result;
  std::string name = (fs::temp_directory_path() / "mneme-test-XXXXXX").string();
  result.directory = mkdtemp(name.data());
  const fs::path data = result.directory / "data";
  fs::create_directory(data);
  const std::string recorder =
      isRecorded ? " LD_PRELOAD=" MNEME_TEST_RECORD " MNEME_DATA_DIR=data" : "";
  // A sanitizer's symbolizer would be preloaded with the recorder, too.
  const std::string command = "cd " + result.directory.string() +
                              " && exec env ASAN_OPTIONS=symbolize=0 UBSAN_OPTIONS=symbolize=0 " +
                              environment + recorder + " " + guest + " " + mode + " >" +
                              (result.directory / "out").string() + " 2>" +
                              (result.directory / "err").string();
  const auto begin = std::chrono::steady_clock::now();
  result.status = std::system(command.c_str());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.output = readAll(result.directory / "out");
  result.said = readAll(result.directory / "err");
  return result;
}

/// Checks every instance; returns how many there are.
inline size_t wholeInstances(const Run& run) {
  size_t count = 0;
  for (const fs::path& path : artifact::listDirectory(run.directory / "data").records)
    for (const auto& [hash, instance] : artifact::KernelRecord::load(path).instances) {
      artifact::Snapshot::open(path.parent_path() / instance.prologue).verifyAll();
      artifact::Snapshot::open(path.parent_path() / instance.epilogue).verifyAll();
      ++count;
    }
  return count;
}

} // namespace mneme::record::test
