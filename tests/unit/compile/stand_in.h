// Tests of the compiler's process: what may stand in its place, and what becomes of it.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/types.h>

#include "kernels.h"
#include "runtime/compiler/service/library_identity.h"

namespace mneme::test {

/// PTX for the driver: needs no CUDA toolkit.
inline const ScopedEnvironment& withoutToolkit() {
  static const ScopedEnvironment assembler("MNEME_ASSEMBLER", "driver");
  return assembler;
}

inline compile::Request smallRequest(const std::string& passes = "default<O1>") {
  withoutToolkit();
  compile::Request request = vectorAddRequest("sm_90");
  request.passes = passes;
  return request;
}

/// A shell script in the place of the compiler program; $real is the real one.
class StandIn {
public:
  explicit StandIn(const std::string& script)
      : path_((directory_.path() / "program").string()),
        program_("MNEME_COMPILE_PROGRAM", nullptr) {
    const std::string real = compile::compileProgramPath();
    std::ofstream(path_) << "#!/bin/sh\nreal='" << real << "'\nmarks='" << marks().string() << "'\n"
                         << script << "\n";
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    std::filesystem::create_directory(marks());
    setenv("MNEME_COMPILE_PROGRAM", path_.c_str(), 1);
  }
  std::filesystem::path marks() const { return directory_.path() / "marks"; }
  size_t countMarks() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(marks()), {}));
  }

private:
  TemporaryDirectory directory_;
  std::string path_;
  ScopedEnvironment program_;
};

/// Whether a process that is not our child is gone, or soon is.
inline bool hasEnded(pid_t process) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string id, name, state;
    if (!(file >> id >> name >> state) || state == "Z")
      return true;
  }
  return false;
}

} // namespace mneme::test
