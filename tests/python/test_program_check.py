"""Remarks on programs that cannot be recorded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mneme.programs.check import brings_own_runtime, remark_on_cpu_run, remark_on_program
from mneme.programs.elf import read_elf

ECHO = Path("/bin/echo")
DEVICE_CODE = (
    '__attribute__((section(".nv_fatbin"), used)) char a[8] = {1}; int main(void) { return a[0]; }'
)


def build(tmp_path: Path, *options: str, source: str = "int main(void) { return 0; }") -> Path:
    compiler = shutil.which("clang-22") or shutil.which("cc")
    assert compiler, "a C compiler is needed"
    (tmp_path / "a.c").write_text(source)
    command = [compiler, str(tmp_path / "a.c"), "-o", str(tmp_path / "a"), *options]
    subprocess.run(command, check=True)
    return tmp_path / "a"


def test_facts_of_a_dynamic_program() -> None:
    facts = read_elf(ECHO)
    assert facts is not None
    assert not facts.is_static
    assert any(name.startswith("libc.so") for name in facts.needed)
    assert ".text" in facts.sections


def built_with(tmp_path: Path, *names: str, source: str) -> Path:
    """Build a program that is linked with libraries of these names."""
    (tmp_path / "library").mkdir()
    found = [tmp_path / name for name in names]
    for one in found:
        options = ("-shared", "-fPIC", f"-Wl,-soname,{one.name}")
        build(tmp_path / "library", *options, source="int used;").rename(one)
    return build(tmp_path, "-Wl,--no-as-needed", *map(str, found), source=source)


@pytest.mark.compile
def test_program_without_instrumentation_is_told_to_use_add_mneme(tmp_path: Path) -> None:
    program = built_with(tmp_path, "libcudart.so.13", source=DEVICE_CODE)
    assert "add_mneme" in remark_on_program(program)
    assert "add_mneme" in remark_on_program(program, device="hip:0")


@pytest.mark.compile
def test_program_without_instrumentation_is_recorded_without_ir_on_nvidia_gpus(
    tmp_path: Path,
) -> None:
    program = built_with(tmp_path, "libcudart.so.13", source=DEVICE_CODE)
    remark = remark_on_program(program, device="cuda:1")
    assert "add_mneme" not in remark
    assert "recorded without IR" in remark


@pytest.mark.compile
@pytest.mark.parametrize("library", ["mneme_rt", "mneme_frontend"])
def test_program_with_a_library_of_ours_is_not_remarked(tmp_path: Path, library: str) -> None:
    names = (f"lib{library}.so", "libcudart.so.13")
    assert remark_on_program(built_with(tmp_path, *names, source=DEVICE_CODE)) == ""


@pytest.mark.compile
def test_nothing_is_said_about_a_program_without_kernels(tmp_path: Path) -> None:
    program = built_with(tmp_path, "libcudart.so.13", source="int main(void) { return 0; }")
    assert [remark_on_program(program, device=one) for one in ("cpu", "cuda:1")] == ["", ""]
    assert "add_mneme" in remark_on_program(ECHO)
    source = "int main(void) { return 0; }\nvoid libcudart_static_0123(void) {}"
    assert remark_on_program(build(tmp_path, source=source)) == ""


@pytest.mark.compile
def test_static_program_cannot_be_recorded(tmp_path: Path) -> None:
    assert "statically linked" in remark_on_program(build(tmp_path, "-static"))


@pytest.mark.compile
def test_static_runtime_cannot_be_recorded(tmp_path: Path) -> None:
    program = build(tmp_path, source=DEVICE_CODE)
    assert "no shared libcudart.so" in remark_on_program(program)
    assert "recorded without IR" in remark_on_program(program, device="cuda:0")


@pytest.mark.compile
def test_static_runtime_with_its_symbols_is_replaced_on_the_cpu_device(tmp_path: Path) -> None:
    source = DEVICE_CODE + "\nvoid libcudart_static_0123(void) {}"
    program = build(tmp_path, source=source)
    assert remark_on_cpu_run(program) == ""
    assert not brings_own_runtime(program)
    assert "not instrumented" in remark_on_program(program)
    assert "no shared libcudart.so" in remark_on_program(program, device="hip:0")
    subprocess.run(["strip", program], check=True)
    assert "do not strip it, or link the shared runtime" in remark_on_cpu_run(program)
    assert "do not strip it, or link the shared runtime" in remark_on_program(program)
    assert brings_own_runtime(program)


@pytest.mark.compile
def test_a_run_on_the_cpu_device_that_has_no_effect_is_remarked(tmp_path: Path) -> None:
    program = build(tmp_path, source=DEVICE_CODE)
    assert "nothing of it runs on the CPU device" in remark_on_cpu_run(program)
    done = subprocess.run(
        [sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("nothing of it runs on the CPU device") == 1
    assert "link it shared" in remark_on_cpu_run(build(tmp_path, "-static", source=DEVICE_CODE))
    assert remark_on_cpu_run(ECHO) == ""


@pytest.mark.compile
def test_a_program_that_gains_rights_is_remarked(tmp_path: Path) -> None:
    program = build(tmp_path)
    program.chmod(0o6755)
    assert "more rights" not in remark_on_program(program)
    if os.geteuid() == 0:
        os.chown(program, 65534, 65534)
        program.chmod(0o6755)
        assert "more rights than you have" in remark_on_program(program)
        assert "more rights than you have" in remark_on_cpu_run(program)


def test_launchers_are_not_judged() -> None:
    assert remark_on_cpu_run("/bin/bash") == ""
    assert remark_on_program("/bin/bash") == ""
    assert remark_on_program(sys.executable) == ""


def test_scripts_are_not_judged(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    assert remark_on_program(tmp_path / "run.sh") == ""
    assert remark_on_program(tmp_path / "nothing") == ""


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None
)
@given(st.integers(0, 20_000), st.binary(min_size=1, max_size=8))
def test_damaged_programs_are_survived(tmp_path: Path, place: int, junk: bytes) -> None:
    content = bytearray(ECHO.read_bytes())
    place %= len(content)
    content[place : place + len(junk)] = junk
    (tmp_path / "mutated").write_bytes(content)
    remark_on_program(tmp_path / "mutated")
