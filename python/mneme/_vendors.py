"""The table of names that differ between vendors; the rest of the package is vendor-independent."""

from __future__ import annotations

__all__ = [
    "CMAKE_ARCH_QUESTION",
    "CMAKE_DEVICE_LANGUAGE",
    "CODEGEN_BY_ARCH_PREFIX",
    "CPU_DRIVER",
    "CPU_RUNTIMES",
    "CPU_STAND_INS",
    "DEFAULT_CMAKE_ARCH",
    "DEVICE_BY_RUNTIME",
    "DEVICE_CODE_SECTIONS",
    "DRIVER_LIBRARY",
    "DRIVER_MARK_ON_CPU",
    "KERNEL_LIBRARIES",
    "PRELOADS_PROFILER",
    "PROFILER",
    "PROFILER_VARIABLES",
    "RUNTIME_BY_SECTION",
    "SEEN_BY_DRIVER",
    "SHARED_RUNTIME_HINT",
    "SPACK_TOOLKIT_HINT",
    "STATIC_RUNTIME_MARKS",
    "TOOLKIT_COMPILER",
    "TOOLKIT_HEADERS",
    "TOOLKIT_HINT",
    "TOOLKIT_NAME",
    "TOOLKIT_PARTS",
    "TOOLKIT_QUESTION",
    "TOOLKIT_SPACK_PACKAGE",
    "TOOLKIT_USUAL_PLACE",
    "TOOLKIT_VARIABLES",
    "TOOLKIT_VERSION_FILE",
    "TOOLKIT_VERSION_MACRO",
    "TOOLKIT_WHEELS",
    "codegen_of",
    "compiler_maker",
]

# Runtimes on the CPU device, preloaded for programs that are linked to the vendor's.
CPU_RUNTIMES = ("libmneme_cudart.so", "libmneme_hiprt.so")

# The driver's API on the CPU device, and the library it replaces.
CPU_DRIVER = "libmneme_cuda_driver.so"
DRIVER_LIBRARY = "libcuda.so.1"
# The same for libraries that few programs are linked to: what replaces which.
CPU_STAND_INS = {
    "libnvidia-ml.so.1": "libmneme_nvml.so",
    "libcurand.so.10": "libmneme_curand.so",
}
# A symbol that it exports on the CPU device and no real driver exports.
DRIVER_MARK_ON_CPU = "mneme_cuda_driver_on_cpu"

# The library that measures kernels on GPUs, the variable with which a kind of device loads it, and
# where it is preloaded instead.
PROFILER = "libmneme_profiler.so"
PROFILER_VARIABLES = {"cuda": "CUDA_INJECTION64_PATH"}
PRELOADS_PROFILER = frozenset({"hip"})

# "CodeGen" of a tuned kernel, by the beginning of the recorded architecture.
CODEGEN_BY_ARCH_PREFIX = {"sm_": "rtc", "gfx": "serial"}

# The language of CMake projects that `mneme config cmake-args` configures, what names the GPUs at
# hand, in the prefix's bin, and what is built for where that is missing.
CMAKE_DEVICE_LANGUAGE = "CUDA"
CMAKE_ARCH_QUESTION = ("mneme-offload-arch", "--cmake")
DEFAULT_CMAKE_ARCH = "90"

# Sections with device code in programs, and the shared runtime such programs are linked to.
RUNTIME_BY_SECTION = {".nv_fatbin": "libcudart.so", ".hip_fatbin": "libamdhip64.so"}
DEVICE_CODE_SECTIONS = frozenset(RUNTIME_BY_SECTION)

# How symbols begin that a vendor's static runtime leaves in programs: by these the CPU device finds
# its functions.
STATIC_RUNTIME_MARKS = {"libcudart.so": "libcudart_static_"}

# The kind of device, besides the CPU device, that a program linked to a runtime can use.
DEVICE_BY_RUNTIME = {"libcudart.so": "cuda", "libamdhip64.so": "hip"}

# Devices whose driver the recorder stands before: it sees a runtime inside of a program there.
SEEN_BY_DRIVER = frozenset({"cuda"})

# How to make CMake link the shared runtime.
SHARED_RUNTIME_HINT = "CMake: CUDA_RUNTIME_LIBRARY Shared, which add_mneme() sets"

# Namespaces of libraries whose kernels' own names say more than what a program gives them.
KERNEL_LIBRARIES = frozenset(("camp", "cub", "cuda", "desul", "std", "thrust"))

# The toolkit that programs are built with: how to ask the compiler wrappers for its path, where its
# release is stated (1000 * major + 10 * minor), and what to do without one.
TOOLKIT_NAME = "CUDA toolkit"
TOOLKIT_QUESTION = ("nvcc", "-", "__cmake_determine_cuda")
TOOLKIT_VERSION_FILE = "include/cuda.h"
TOOLKIT_VERSION_MACRO = "CUDA_VERSION"
TOOLKIT_COMPILER = "nvcc"
TOOLKIT_VARIABLES = ("CUDA_HOME", "CUDA_PATH")
TOOLKIT_USUAL_PLACE = "/usr/local/cuda"
TOOLKIT_WHEELS = "nvidia/cu[1-9]*"
# Files that a complete toolkit contains.
TOOLKIT_PARTS = ("nvvm/libdevice", "bin/ptxas")
TOOLKIT_SPACK_PACKAGE = "cuda"
# A header that clang's headers include, and what it belongs to.
TOOLKIT_HEADERS = ("include/curand_mtgp32_kernel.h", "cuRAND's headers")
TOOLKIT_HINT = "set CUDA_HOME, or: pip install 'mneme-gpu[cuda-toolkit]'"
SPACK_TOOLKIT_HINT = "set CUDA_HOME, or: spack load cuda"


def compiler_maker(said: str) -> str:
    """Return the maker of the clang with this version text, if not LLVM or a distribution.

    AMD builds ROCm's clang between LLVM's releases: plugins for those do not fit.
    """
    return "AMD" if "AMD clang version " in said or said.startswith("AMD AFAR ") else ""


def codegen_of(arch: str) -> str:
    """Return "CodeGen" of a tuned kernel that was recorded in a program built for `arch`."""
    methods = (name for start, name in CODEGEN_BY_ARCH_PREFIX.items() if arch.startswith(start))
    return next(methods, "rtc")
