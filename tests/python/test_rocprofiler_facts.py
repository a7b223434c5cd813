"""What is recorded of rocprofiler-sdk's headers: how it was read, and that nothing used is left out."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "rocprofiler_facts.py"
NAMES = ROOT / "tests" / "unit" / "profile" / "names.inc"
MEASURING = ROOT / "runtime" / "devices" / "profile" / "hip" / "measuring.cpp"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the script."""
    command = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write(include: Path, header: str, text: str) -> None:
    """Write one of rocprofiler-sdk's headers."""
    file = include / "rocprofiler-sdk" / header
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def test_every_function_that_is_looked_up_is_listed() -> None:
    looked_up = set(re.findall(r'"(rocprofiler_\w+)"', MEASURING.read_text()))
    assert looked_up
    assert looked_up == set(re.findall(r"^FUNCTION\((\w+)", NAMES.read_text(), re.MULTILINE))


@pytest.mark.skipif(not shutil.which("clang++-22"), reason="there is no clang++-22")
def test_headers_are_read_without_those_of_other_libraries(tmp_path: Path) -> None:
    fwd = (
        "#pragma once\n#include <hsa/hsa_amd_tool.h>\n"
        "enum rocprofiler_status_t { ROCPROFILER_STATUS_SUCCESS = HSA_OF_ANOTHER_LIBRARY + 7 };\n"
        "struct rocprofiler_context_id_t { unsigned long handle; };\n"
        "struct rocprofiler_agent_t { HsaCacheType cache; };\n"
        "// rocprofiler_start_context() is in context.h\n"
    )
    write(tmp_path, "fwd.h", fwd)
    buffer = '#include "fwd.h"\nrocprofiler_status_t rocprofiler_flush_buffer(rocprofiler_context_id_t);\n'
    write(tmp_path, "buffer.h", buffer)
    done = run(tmp_path, "--version", "0.9.1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "version": "0.9.1",
        "facts": {
            "ROCPROFILER_STATUS_SUCCESS": "7",
            "sizeof rocprofiler_context_id_t": "8",
            "rocprofiler_flush_buffer": "4(s8)",
        },
    }


def test_a_type_that_mneme_uses_is_not_made_up(tmp_path: Path) -> None:
    write(tmp_path, "fwd.h", "#include <of_another.h>\nvoid take(rocprofiler_context_id_t);\n")
    done = run(tmp_path, "--version", "0.9.1")
    assert done.returncode == 1
    assert done.stderr.startswith(f"rocprofiler_facts: the headers in {tmp_path} cannot be read:\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "there is no rocprofiler-sdk/version.h in {}; name the --version"),
        (["--version", "0.6.0"], "there is no rocprofiler-sdk/fwd.h in {}"),
    ],
)
def test_a_folder_without_headers_is_told_in_a_sentence(
    options: list[str], sentence: str, tmp_path: Path
) -> None:
    done = run(tmp_path, *options)
    assert done.returncode == 1
    assert done.stderr == f"rocprofiler_facts: {sentence.format(tmp_path)}\n"
