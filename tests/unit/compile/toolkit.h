// The assemblers of the toolkit the build was configured with, or of the environment's.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>

#include "kernels.h"
#include "runtime/compiler/assembler/tools.h"

namespace mneme::test {

/// True when the tool is there and MNEME_ASSEMBLER asks for it while this object lives. Where the
/// toolkit has no such file the test is skipped and says so; not to find what is there fails it.
class WithAssembler {
public:
  explicit WithAssembler(const char* name)
      : root_("MNEME_CUDA_ROOT", rootInUse().empty() ? nullptr : rootInUse().c_str()),
        assembler_("MNEME_ASSEMBLER", name) {
    const Failure failure = failureOf([] { compile::findAssembler(); });
    isThere_ = failure.code == ErrorCode::Ok;
    if (!isThere_ && isInToolkit(name))
      FAIL_CHECK(failure.message);
    else if (!isThere_)
      MESSAGE("skipped: " << failure.message);
  }
  explicit operator bool() const { return isThere_; }

private:
  /// Wherever a toolkit keeps programs and libraries.
  static bool isInToolkit(const std::string& name) {
    const std::string begin = name == "ptxas" ? "ptxas" : "libnvJitLink";
    for (const char* folder : {"bin", "lib", "lib64"}) {
      std::error_code isMissing;
      for (const auto& file : std::filesystem::directory_iterator(
               std::filesystem::path(rootInUse()) / folder, isMissing))
        if (file.path().filename().string().starts_with(begin))
          return true;
    }
    return false;
  }

  static std::string rootInUse() {
    const char* root = getenv("MNEME_CUDA_ROOT");
    return root ? root : MNEME_TEST_CUDA_ROOT;
  }
  ScopedEnvironment root_;
  ScopedEnvironment assembler_;
  bool isThere_ = false;
};

inline std::string textOf(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

inline bool isCubin(const std::vector<std::byte>& image) {
  constexpr size_t kMachineOffset = 18;
  constexpr auto kCudaMachine = std::byte{190};
  return textOf(image).rfind("\177ELF", 0) == 0 && image[kMachineOffset] == kCudaMachine;
}

/// The number behind "name": in a JSON text; -1 if it is not there.
inline double numberIn(const std::string& json, const std::string& name) {
  const size_t at = json.find("\"" + name + "\":");
  return at == std::string::npos ? -1 : atof(json.c_str() + at + name.size() + 3);
}

} // namespace mneme::test
