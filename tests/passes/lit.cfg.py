"""Tests of the pass plugin: LLVM's own opt loads it, FileCheck reads the result."""

import os

import lit.formats

config.name = "mneme passes"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll"]
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
