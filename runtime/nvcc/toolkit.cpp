#include "runtime/nvcc/toolkit.h"

#include <cstdlib>
#include <exception>

#include "runtime/core/base/file.h"
#include "runtime/nvcc/command.h"

namespace mneme::nvcc {

namespace fs = std::filesystem;

std::vector<std::string> Toolkit::libraryOptions(const fs::path& prefix) const {
  std::vector<std::string> words;
  fs::path stubs = prefix / "lib" / "driver_stubs";
  for (const char* name : {"lib64", "lib"}) {
    if (words.empty() && fs::exists(root / name / "libcudart.so"))
      words.push_back("-L" + (root / name).string());
    if (fs::exists(root / name / "stubs" / "libcuda.so"))
      stubs = root / name / "stubs";
  }
  words.push_back("-L" + stubs.string());
  return words;
}

std::string Toolkit::fullVersion() const {
  const std::string begin = std::to_string(release / 10) + "." + std::to_string(release % 10) + ".";
  const std::string said = outputOf({{(root / "bin" / "nvcc").string(), "--version"}});
  // A toolkit that was put together may have another's nvcc.
  const size_t at = said.find(", V" + begin);
  if (at == std::string::npos)
    return begin + "0";
  return said.substr(at + 3, said.find_first_not_of("0123456789.", at + 3) - at - 3);
}

Toolkit toolkitAt(const fs::path& root) {
  Toolkit toolkit{root, 0};
  try {
    const std::string header = readTextFile(root / "include" / "cuda.h");
    constexpr std::string_view kName = "#define CUDA_VERSION ";
    if (const size_t at = header.find(kName); at != std::string::npos) {
      const unsigned long version = std::strtoul(header.c_str() + at + kName.size(), nullptr, 10);
      toolkit.release = static_cast<unsigned>(version / 1000 * 10 + version % 1000 / 10);
    }
  } catch (const std::exception&) {
    // A toolkit without headers: clang says what is missing.
  }
  return toolkit;
}

Toolkit findToolkit(const fs::path& bin) {
  const std::string said = outputOf({{(bin / "nvcc").string(), "-v", "__cmake_determine_cuda"}});
  constexpr std::string_view kTop = "#$ TOP=";
  const size_t at = said.find(kTop);
  if (at == std::string::npos)
    return {};
  const size_t begin = at + kTop.size();
  const fs::path root = said.substr(begin, said.find('\n', begin) - begin);
  return fs::exists(root / "nvvm") ? toolkitAt(root) : Toolkit{};
}

} // namespace mneme::nvcc
