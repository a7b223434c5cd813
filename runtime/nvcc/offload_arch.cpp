// The program mneme-offload-arch: what the compiler wrappers and `mneme config` build for where
// nothing is chosen.
//
//   mneme-offload-arch --clang|--cmake|--tell [<CUDA toolkit>]
//
// --clang prints clang's options, one a line; --cmake a value of CMAKE_CUDA_ARCHITECTURES; --tell a
// sentence.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "runtime/core/base/environment.h"
#include "runtime/nvcc/chosen.h"
#include "runtime/nvcc/command.h"
#include "runtime/nvcc/toolkit.h"

using namespace mneme;
using namespace mneme::nvcc;

namespace {

int print(const std::string& form, const Toolkit& toolkit) {
  const char* const list = environmentValue("CUDAARCHS");
  const Chosen chosen = chosenFor(list ? list : "", toolkit.release);
  if (form == "--cmake") {
    std::printf("%s\n", cmakeList(chosen.targets).c_str());
  } else if (form == "--clang") {
    for (const std::string& word : clangOptions(chosen.targets))
      std::printf("%s\n", word.c_str());
  } else {
    std::printf("built with %s, %s\n", shellText(clangOptions(chosen.targets)).c_str(),
                chosen.why.c_str());
  }
  return 0;
}

} // namespace

int main(int count, char** arguments) {
  keepEnvironment();
  const std::string form = count == 2 || count == 3 ? arguments[1] : "";
  if (form != "--clang" && form != "--cmake" && form != "--tell") {
    std::fputs("usage: mneme-offload-arch --clang|--cmake|--tell [<CUDA toolkit>]\n", stderr);
    return 2;
  }
  try {
    const auto bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return print(form, count == 3 ? toolkitAt(arguments[2]) : findToolkit(bin));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "mneme-offload-arch: %s\n", failure.what());
    return 1;
  }
}
