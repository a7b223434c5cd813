#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "runtime/nvcc/missing_header.h"

using namespace mneme::nvcc;

namespace {

namespace fs = std::filesystem;

/// A toolkit that has nothing but these headers; removed at the end.
struct Root {
  explicit Root(const std::vector<std::string>& headers)
      : path(fs::temp_directory_path() / ("mneme-headers-" + std::to_string(getpid()))) {
    fs::create_directories(path);
    for (const std::string& header : headers) {
      fs::create_directories((path / header).parent_path());
      std::ofstream(path / header).put('\n');
    }
  }
  ~Root() { fs::remove_all(path); }
  fs::path path;
};

} // namespace

TEST_CASE("the missing header is read from clang's messages") {
  CHECK(missingHeader("a.cu:1:10: fatal error: 'nvml.h' file not found\n 1 | #include\n") ==
        "nvml.h");
  CHECK(missingHeader("a.cu:1:1: error: 'nvml.h' is nothing\n").empty());
}

TEST_CASE("packages are named for the toolkit's release") {
  const std::string now = sourceOfHeader("nvml.h", {"/cuda", 130});
  CHECK(now == "'nvml.h' belongs to NVML, which the CUDA toolkit in '/cuda' lacks: install "
               "nvidia-nvml-dev (PyPI), cuda-nvml-dev-13-0 (apt) or cuda-nvml-dev (conda)");
  const std::string before = sourceOfHeader("cublas_v2.h", {"/cuda", 129});
  CHECK(before.find("nvidia-cublas-cu12 (PyPI), libcublas-dev-12-9 (apt)") != std::string::npos);
  const std::string none = sourceOfHeader("cufft.h", {});
  CHECK(none.find("is not at hand: install nvidia-cufft (PyPI), libcufft-dev (apt)") !=
        std::string::npos);
}

TEST_CASE("a header of the toolkit needs a directory, not a package") {
  const Root root({"extras/CUPTI/include/cupti.h", "include/nvml.h", "include/cccl/cub/cub.cuh"});
  for (const auto& [header, folder] : {std::pair("cupti.h", "extras/CUPTI/include"),
                                       {"nvml.h", "include"},
                                       {"cub/cub.cuh", "include/cccl"}})
    CHECK(sourceOfHeader(header, {root.path, 130}) ==
          "'" + std::string(header) + "' is in the CUDA toolkit in '" + root.path.string() +
              "': give the compiler -I" + (root.path / folder).string());
}

TEST_CASE("NVTX of CUDA 13 has another name") {
  const Root root({"include/nvtx3/nvToolsExt.h"});
  CHECK(sourceOfHeader("nvToolsExt.h", {root.path, 130}) ==
        "'nvToolsExt.h' is 'nvtx3/nvToolsExt.h' since CUDA 13: include that");
  CHECK(sourceOfHeader("nvToolsExt.h", {"/cuda", 130}).ends_with("as 'nvtx3/nvToolsExt.h'"));
}

TEST_CASE("headers of others are not explained") {
  CHECK(sourceOfHeader("own.h", {"/cuda", 130}).empty());
  CHECK(sourceOfHeader("nvmlx.h", {"/cuda", 130}).empty());
}
