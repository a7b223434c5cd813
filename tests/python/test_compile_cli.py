"""`mneme compile`: machine code of a recorded kernel on a machine without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mneme.errors import InvalidArgument, NotFound
from mneme.measure.compile_record import CompileOptions, compile_record
from mneme.measure.replay_executor import BaseExecutor
from mneme.mneme_types import dim3
from mneme.recording.recorded_execution import RecordedExecution
from native_parts import needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v1"
TWO_LAUNCHES = GOLDEN / "1416834155090425783.json"
ONE_LAUNCH = GOLDEN / "14750330367451325428.json"

pytestmark = [pytest.mark.compile, needs_native]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_CACHE_DIR", str(tmp_path / "cache"))


def command(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "mneme", "compile", *(str(one) for one in arguments)]
    environment = {**os.environ, **variables}
    return subprocess.run(
        line, capture_output=True, text=True, check=False, timeout=120, env=environment
    )


def statistics(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout)["statistics"])


def test_without_options_the_kernel_is_compiled_for_what_it_was_built_for(tmp_path: Path) -> None:
    image, ptx, ir = tmp_path / "image", tmp_path / "ptx", tmp_path / "ll"
    done = command(ONE_LAUNCH, "-o", image, "--ptx", ptx, "--ll", ir)
    found = statistics(done)
    assert json.loads(done.stdout)["target"] == "sm_90"
    assert found["target_cpu"] == "sm_90"
    assert found["obj_size"] == image.stat().st_size
    assert ".target sm_90" in ptx.read_text()
    assert "define" in ir.read_text()
    if found["assembler"] == "driver":
        assert image.read_text() == ptx.read_text()
    else:
        assert image.read_bytes()[:4] == b"\x7fELF"
        assert found["reg_usage"] > 0


def test_another_architecture_and_the_cpu_can_be_asked_for() -> None:
    assert statistics(command(ONE_LAUNCH, "--arch", "sm_80"))["target_cpu"] == "sm_80"
    assert "assembler" not in statistics(command(ONE_LAUNCH, "--arch", "cpu"))


def test_without_an_assembler_the_image_is_ptx(tmp_path: Path) -> None:
    image = tmp_path / "image"
    done = command(ONE_LAUNCH, "-o", image, MNEME_ASSEMBLER="driver")
    assert statistics(done)["assembler"] == "driver"
    assert image.read_text().lstrip().startswith("//")


def test_a_second_compilation_is_found_in_the_cache_unless_it_is_switched_off() -> None:
    assert statistics(command(ONE_LAUNCH))["is_from_cache"] is False
    assert statistics(command(ONE_LAUNCH))["is_from_cache"] is True
    assert statistics(command(ONE_LAUNCH, "--no-cache"))["is_from_cache"] is False
    other = statistics(command(ONE_LAUNCH, MNEME_ASSEMBLER="driver"))
    assert (other["is_from_cache"], other["assembler"]) == (False, "driver")


def test_fixing_values_takes_those_of_one_launch() -> None:
    done = command(TWO_LAUNCHES, "--specialize")
    assert done.returncode == 0
    assert "2 launches of" in done.stderr
    assert command(TWO_LAUNCHES).returncode == 0
    record_id = next(iter(json.loads(TWO_LAUNCHES.read_text())["instances"]))
    fixed = statistics(command(TWO_LAUNCHES, "--specialize", "-rid", record_id))
    assert fixed["ir_hash"] != statistics(command(TWO_LAUNCHES))["ir_hash"]


def test_code_for_another_launch_knows_its_dimensions() -> None:
    bounds = {"set_launch_bounds": True, "max_threads": 32, "specialize_dims": True}
    options = CompileOptions(
        target="sm_90", grid=dim3(7), block=dim3(32), want_assembly=True, want_ir=True, **bounds
    )
    compiled = compile_record(ONE_LAUNCH, options=options)
    assert ".maxntid 32" in compiled.assembly
    assert "%ntid" not in compiled.assembly
    with pytest.raises(InvalidArgument, match="allow 32 threads but the block has"):
        compile_record(ONE_LAUNCH, options=replace(options, block=None))


def test_launch_bounds_and_register_limit_reach_the_code() -> None:
    options = CompileOptions(
        set_launch_bounds=True,
        max_threads=256,
        min_blocks_per_sm=2,
        max_registers=40,
        want_assembly=True,
    )
    compiled = compile_record(ONE_LAUNCH, options=options)
    assert ".maxntid 256" in compiled.assembly
    assert ".minnctapersm 2" in compiled.assembly
    assert compiled.statistics["reg_usage"] <= 40


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--arch", "sm_9"], "target 'sm_9' names a processor LLVM does not know"),
        (["--arch", "vax"], "unknown target 'vax'"),
        (["no-such-pass"], "no-such-pass"),
        (["--assembler-options=-o=x"], "assembler option '-o=x' cannot be given"),
    ],
)
def test_bad_requests_end_with_one_sentence(arguments: list[str], sentence: str) -> None:
    done = command(ONE_LAUNCH, *arguments)
    assert done.returncode == 3
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_errors_are_those_of_the_runtime() -> None:
    with pytest.raises(NotFound):
        compile_record(GOLDEN / "no.json")
    with pytest.raises(InvalidArgument, match="holds 2 kernels: .*name one"):
        compile_record(GOLDEN)
    with pytest.raises(InvalidArgument, match="unknown target"):
        compile_record(ONE_LAUNCH, options=CompileOptions(target="vax"))


@pytest.mark.parametrize("extra", [{}, {"specialize": True}, {"set_launch_bounds": True}])
def test_a_replay_finds_what_was_compiled(extra: dict[str, bool], tmp_path: Path) -> None:
    (record_id,) = json.loads(ONE_LAUNCH.read_text())["instances"]
    options = CompileOptions(target="cpu", passes="default<O1>", **extra)  # type: ignore[arg-type]
    assert compile_record(ONE_LAUNCH, record_id, options).statistics["is_from_cache"] is False
    compiled = list((tmp_path / "cache").glob("*.mnemec"))
    with BaseExecutor(ONE_LAUNCH, record_id, device="cpu") as executor:
        config = executor.recorded_configuration()
        config.passes = "default<O1>"
        config.max_threads, config.min_blocks_per_sm = 0, 0
        for name, value in extra.items():
            setattr(config, name, value)
        assert executor.evaluate(config).verified
    assert list((tmp_path / "cache").glob("*.mnemec")) == compiled


def test_globals_are_placed_where_they_were_recorded() -> None:
    from mneme import _native  # noqa: PLC0415 - not without the extension

    record_id, launch = next(iter(RecordedExecution.from_json(TWO_LAUNCHES).items()))
    with launch.prologue as memory:
        found = [
            (region["name"], region["address"])
            for region in memory.snapshot.regions()
            if region["kind"] == "global"
        ]
    code = _native.RecordedCode(TWO_LAUNCHES, record_id)
    assert found
    assert code.recorded_target("sm_90") == ("sm_90", sorted(found, key=lambda one: one[1]))
    assert code.recorded_target("cpu") == ("cpu", [])
    assert _native.RecordedCode(TWO_LAUNCHES).recorded_target("sm_90") == ("sm_90", [])
