#include "runtime/nvcc/inputs.h"

#include <algorithm>
#include <exception>
#include <map>

#include "runtime/core/base/file.h"

namespace mneme::nvcc {

namespace fs = std::filesystem;

Kind kindOf(const fs::path& input, std::string_view language) {
  static const std::map<std::string_view, Kind> kKinds = {
      {".cu", Kind::Cuda},        {".cpp", Kind::Cxx},     {".cxx", Kind::Cxx},
      {".cc", Kind::Cxx},         {".C", Kind::Cxx},       {".c++", Kind::Cxx},
      {".CPP", Kind::Cxx},        {".c", Kind::C},         {".i", Kind::Source},
      {".ii", Kind::Source},      {".s", Kind::Source},    {".S", Kind::Source},
      {".ptx", Kind::Ptx},        {".gpu", Kind::Refused}, {".cubin", Kind::Refused},
      {".fatbin", Kind::Refused}, {".cup", Kind::Cuda},
  };
  const std::string suffix = input.extension().string();
  const auto found = kKinds.find(suffix);
  const Kind named = found == kKinds.end() ? Kind::Linked : found->second;
  const bool isObject = suffix == ".o" || suffix == ".a" || suffix == ".so" || suffix == ".obj" ||
                        suffix == ".lo" || input.string().find(".so.") != std::string::npos;
  if (language.empty() || isObject || named == Kind::Refused)
    return named;
  return language == "cu" ? Kind::Cuda : language == "c" ? Kind::C : Kind::Cxx;
}

bool haveRelocatableCode(const std::vector<fs::path>& files) {
  return std::any_of(files.begin(), files.end(), [](const fs::path& file) {
    try {
      return readTextFile(file).find(".llvm.offloading") != std::string::npos;
    } catch (const std::exception&) {
      return false;
    }
  });
}

fs::path archiveOf(const std::string& name, const std::vector<fs::path>& directories) {
  for (const fs::path& directory : directories) {
    if (fs::exists(directory / ("lib" + name + ".so")))
      return {};
    if (fs::exists(directory / ("lib" + name + ".a")))
      return directory / ("lib" + name + ".a");
  }
  return {};
}

} // namespace mneme::nvcc
