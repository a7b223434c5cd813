"""Kernels that read what no recording holds, on the CPU device."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from conftest import BUILD, instances, mneme, records

if TYPE_CHECKING:
    from pathlib import Path


def record_reads(program: Path, directory: Path) -> tuple[dict[str, Path], str]:
    done = mneme("record", "-rdb", directory, "--device", "cpu", "--", program)
    assert done.stdout.endswith("ok\n"), done.stdout + done.stderr
    found = {}
    for path in records(directory):
        name = str(json.loads(path.read_text())["DemangledName"])
        found[name.partition("(")[0]] = path
    return found, done.stderr


def check_reads(found: dict[str, Path], said: str) -> None:
    reads = {"stamps": "clocks", "timed": "clocks", "places": "multiprocessor numbers"}
    for kernel, read in reads.items():
        assert said.count(f"kernel '{kernel}(") == 1
        assert f"reads what a recording does not hold ({read})" in said
        assert f"{read}: its replays may differ" in mneme("show", found[kernel]).stdout
    assert "kernel 'plain(" not in said
    classes = {}
    for kernel, path in found.items():
        place = ("replay", "-rdb", path, "-rid", instances(path)[0], "--device", "cpu", "-it", "1")
        done = mneme(*place, "default<O3>")
        classes[kernel] = done.result["result_class"]
        if classes[kernel] != "exact":
            assert (
                f"The kernel reads {reads[kernel]}, which a recording does not hold" in done.stderr
            )
    assert classes["stamps"] in ("nondeterministic", "unreproducible")
    assert classes["timed"] == classes["plain"] == "exact"
    assert "wrong" not in classes.values()


def test_cuda_kernels_that_read_clocks_are_named(tmp_path: Path) -> None:
    program = BUILD / "tests" / "apps" / "api" / "unrecorded_reads"
    if not program.is_file():
        pytest.skip("tests/apps/api is not built: no CUDA toolkit")
    found, said = record_reads(program, tmp_path)
    check_reads(found, said)
    # On the CPU device a texture is memory, which is recorded.
    assert "kernel 'sampled(" not in said
