#include "runtime/nvcc/missing_header.h"

#include <algorithm>
#include <array>

namespace mneme::nvcc {
namespace {

namespace fs = std::filesystem;

/// A part of the toolkit with the packages that have its headers. `#` stands for what a package's
/// name says of the toolkit's release: nothing or "-cu12" on PyPI, "-13-0" in NVIDIA's packages for
/// distributions.
struct Part {
  std::string_view name;
  std::string_view headers; ///< names divided by blanks; with an asterisk, what begins so
  std::string_view pypi, apt, conda;
};

constexpr std::array kParts{
    Part{"the CUDA runtime",
         "cuda.h cuda_runtime* cuComplex.h cuda_fp16.h cuda_bf16.h vector_types.h driver_types.h",
         "nvidia-cuda-runtime#", "cuda-cudart-dev#", "cuda-cudart-dev"},
    Part{"NVML", "nvml.h", "nvidia-nvml-dev#", "cuda-nvml-dev#", "cuda-nvml-dev"},
    Part{"cuBLAS", "cublas*", "nvidia-cublas#", "libcublas-dev#", "libcublas-dev"},
    Part{"cuSPARSE", "cusparse*", "nvidia-cusparse#", "libcusparse-dev#", "libcusparse-dev"},
    Part{"cuSOLVER", "cusolver*", "nvidia-cusolver#", "libcusolver-dev#", "libcusolver-dev"},
    Part{"cuFFT", "cufft*", "nvidia-cufft#", "libcufft-dev#", "libcufft-dev"},
    Part{"cuRAND", "curand*", "nvidia-curand#", "libcurand-dev#", "libcurand-dev"},
    Part{"NVRTC", "nvrtc.h", "nvidia-cuda-nvrtc#", "cuda-nvrtc-dev#", "cuda-nvrtc-dev"},
    Part{"nvJitLink", "nvJitLink.h", "nvidia-nvjitlink#", "libnvjitlink-dev#", "libnvjitlink-dev"},
    Part{"NVTX", "nvtx3/* nvToolsExt*", "nvidia-nvtx#", "cuda-nvtx#", "cuda-nvtx-dev"},
    Part{"CUPTI", "cupti*", "nvidia-cuda-cupti#", "cuda-cupti-dev#", "cuda-cupti-dev"},
    Part{"the profiler's interface", "cuda_profiler_api.h cudaProfiler.h",
         "nvidia-cuda-profiler-api#", "cuda-profiler-api#", "cuda-profiler-api"},
    Part{"NPP", "npp*", "nvidia-npp#", "libnpp-dev#", "libnpp-dev"},
    Part{"nvJPEG", "nvjpeg.h", "nvidia-nvjpeg#", "libnvjpeg-dev#", "libnvjpeg-dev"},
    Part{"cuFile", "cufile.h", "nvidia-cufile#", "libcufile-dev#", "libcufile-dev"},
    Part{"CCCL", "thrust/* cub/* cuda/* nv/target", "nvidia-cuda-cccl#", "cuda-cccl#", "cuda-cccl"},
};

bool isNamed(std::string_view names, std::string_view header) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (name.ends_with('*') ? header.starts_with(name.substr(0, name.size() - 1)) : header == name)
      return true;
  }
  return false;
}

std::string packageName(std::string_view name, const std::string& release) {
  const size_t at = name.find('#');
  return std::string(name.substr(0, at)) + (at == std::string_view::npos ? "" : release);
}

/// Where a toolkit has the header, if not where compilers look by themselves.
fs::path placeIn(const fs::path& root, const std::string& header) {
  if (!root.empty())
    for (const char* folder : {"include", "include/cccl", "extras/CUPTI/include"})
      if (fs::exists(root / folder / header))
        return root / folder;
  return {};
}

/// What the source has to include instead, since this toolkit has the header under another name.
std::string otherName(const std::string& header, unsigned release) {
  return release >= 130 && header.starts_with("nvToolsExt") ? "nvtx3/" + header : "";
}

} // namespace

std::string missingHeader(std::string_view messages) {
  constexpr std::string_view kBefore = "fatal error: '", kBehind = "' file not found";
  const size_t end = messages.find(kBehind);
  if (end == std::string_view::npos)
    return {};
  const std::string_view line = messages.substr(0, end);
  const size_t begin = line.rfind(kBefore);
  return begin == std::string_view::npos ? "" : std::string(line.substr(begin + kBefore.size()));
}

std::string sourceOfHeader(const std::string& header, const Toolkit& toolkit) {
  const Part* const part = std::find_if(kParts.begin(), kParts.end(), [&](const Part& known) {
    return isNamed(known.headers, header);
  });
  if (part == kParts.end())
    return {};
  const std::string root = "the CUDA toolkit in '" + toolkit.root.string() + "'";
  if (const fs::path place = placeIn(toolkit.root, header); !place.empty())
    return "'" + header + "' is in " + root + ": give the compiler -I" + place.string();
  const std::string other = otherName(header, toolkit.release);
  if (!other.empty() && !placeIn(toolkit.root, other).empty())
    return "'" + header + "' is '" + other + "' since CUDA 13: include that";
  const std::string major = std::to_string(toolkit.release / 10);
  const std::string release = major + "-" + std::to_string(toolkit.release % 10);
  const bool isKnown = toolkit.release != 0;
  return "'" + header + "' belongs to " + std::string(part->name) + ", which " +
         (toolkit.root.empty() ? "is not at hand" : root + " lacks") + ": install " +
         packageName(part->pypi, isKnown && toolkit.release < 130 ? "-cu" + major : "") +
         " (PyPI), " + packageName(part->apt, isKnown ? "-" + release : "") + " (apt) or " +
         std::string(part->conda) + " (conda)" +
         (other.empty() ? "" : ", and include it as '" + other + "'");
}

} // namespace mneme::nvcc
