"""Tests of the pass plugin: LLVM's own opt loads it, FileCheck reads the result."""

import os
import re

import lit.formats

config.name = "mneme passes"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".cu"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(
    [config.llvm_tools, config.mneme_tools, os.environ.get("PATH", "")]
)

for tool in ("opt", "llc", "llvm-dis", "FileCheck", "not", "split-file"):
    if not os.path.exists(os.path.join(config.llvm_tools, tool)):
        lit_config.fatal(f"{tool} is missing in {config.llvm_tools}: install LLVM's tools and llc")

run_opt = f"opt -load-pass-plugin={config.mneme_passes} -verify-each"
config.substitutions += [
    ("%opt", run_opt),
    # Metadata of the blobs in a module, one JSON object a line: %embedded FILE
    ("%embedded", f"sh {config.test_source_root}/embedded.sh '{run_opt}'"),
    ("%plugin", config.mneme_passes),
]

# Before LLVM 21, bounds of a kernel are annotations of its module.
if int(config.llvm_major) >= 21:
    config.available_features.add("nvvm-attributes")

# Tests with a real CUDA program need a toolkit: -DMNEME_CUDA_ROOT=<root>, or CUDA_HOME. Without one
# lit reports them as unsupported.
cuda_root = config.cuda_root or os.environ.get("CUDA_HOME", "")


def newest_cuda(clang_major):
    """Newest CUDA whose headers a clang can parse."""
    return 13 if clang_major >= 22 else 12


def cuda_major(root):
    """Version of a toolkit; 0 if there is none."""
    try:
        with open(os.path.join(root, "include", "cuda.h"), encoding="utf-8") as header:
            return int(re.search(r"#define CUDA_VERSION (\d+)", header.read()).group(1)) // 1000
    except (OSError, AttributeError):
        return 0


has_assembler = os.path.exists(os.path.join(cuda_root, "bin", "ptxas"))
if has_assembler and cuda_major(cuda_root) <= newest_cuda(int(config.llvm_major)):
    config.available_features.add("cuda")
    config.environment["PATH"] = os.path.join(cuda_root, "bin") + os.pathsep + config.environment["PATH"]
    clang_cuda = (
        f"clang++ --cuda-path={cuda_root} -isystem {cuda_root}/include/cccl -Wno-unknown-cuda-version"
    )
    config.substitutions += [
        ("%cuda_root", cuda_root),
        ("%clang_cuda", f"{clang_cuda} -x cuda --offload-arch=sm_90 -fpass-plugin={config.mneme_passes}"),
        ("%clang_link_rdc", f"{clang_cuda} --offload-link"),
    ]
