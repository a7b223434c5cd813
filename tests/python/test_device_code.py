"""Device code that other compilers made, as people see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mneme.cli.app import run
from mneme.errors import InvalidArgument
from mneme.programs.device_code import device_code

IMAGES = Path(__file__).resolve().parents[1] / "unit" / "embed" / "images"


def test_kernels_of_the_newest_code_are_listed() -> None:
    found = device_code(IMAGES / "zstd.fatbin")
    assert found.code == ("cubin sm_100f",)
    assert found.members == ("cubin sm_75", "cubin sm_90a", "cubin sm_100f", "PTX compute_75")
    scale, none = found.kernels
    assert scale.demangled_name == "scale(float*, int, char, double, Big, short)"
    assert scale.parameters == ((0, 8), (8, 4), (12, 1), (16, 8), (24, 32), (56, 2))
    assert (scale.shared_bytes, none.max_threads, none.has_ir) == (1024, 128, False)
    assert [one.name for one in found.variables] == ["coefficients", "counter", "table"]


def test_code_is_what_a_gpu_would_run() -> None:
    assert device_code(IMAGES / "zstd.fatbin", arch="sm_120").code == ("PTX sm_75",)
    assert device_code(IMAGES / "lto.fatbin").problems == (
        "the fat binary has neither machine code nor PTX for any GPU, but LTO-IR (lto_90)",
    )
    with pytest.raises(InvalidArgument, match="'new' is not an architecture"):
        device_code(IMAGES / "zstd.fatbin", arch="new")


def test_the_verb_says_what_it_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["kernels", str(IMAGES / "zstd.fatbin"), "--arch", "sm_80"]) == 0
    shown = capsys.readouterr().out
    assert "scale(float*, int, char, double, Big, short)" in shown
    assert "read: PTX sm_75 of cubin sm_75, cubin sm_90a, cubin sm_100f, PTX compute_75" in shown
    assert run(["kernels", str(IMAGES / "lz4.fatbin"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernels"][0]["registers"] == 16
    assert run(["kernels", str(IMAGES / "lto.fatbin")]) == 6
    assert "but LTO-IR (lto_90)" in capsys.readouterr().err
