"""Tests of the pass plugin: LLVM's own opt loads it, FileCheck reads the result."""

import os

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

# Tests with a real CUDA program need a toolkit: -DMNEME_CUDA_ROOT=<root>, or CUDA_HOME. Without one
# lit reports them as unsupported.
cuda_root = config.cuda_root or os.environ.get("CUDA_HOME", "")
if os.path.exists(os.path.join(cuda_root, "bin", "ptxas")):
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
