"""Kernels that take all they know in one structure: its members are arguments."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, ROOT, Finished, mneme, run_command
from tuned_runs import TRACE, warnings

from mneme import _native
from mneme.recording.launch_facts import launch_facts
from mneme.recording.recorded_execution import RecordedExecution

pytestmark = pytest.mark.compile
SOURCE = ROOT / "tests/apps/structs/smooth.cu"
# Offsets in struct Smooth: two buffers of 16 bytes, a char, two ints, a double.
COUNT, SWEEPS, WEIGHT = "0+36", "0+40", "0+48"


def build(folder: Path, *options: str) -> Path:
    program = folder / "smooth"
    built = (
        "-O2",
        "-x",
        "cuda",
        "--offload-arch=sm_90",
        *options,
        SOURCE,
        "-o",
        program,
        "-lcudart",
    )
    done = run_command(BUILD / "bin" / "mneme-cxx", *built)
    assert done.returncode == 0, done.stderr
    return program


def on_cpu(program: Path, *arguments: str, **environment: str) -> Finished:
    return mneme("run", "--device", "cpu", "--", program, *arguments, **environment)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("structs"))


@pytest.fixture(scope="module")
def recorded(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the record of a run with 40 launches."""
    database = tmp_path_factory.mktemp("db")
    done = mneme("record", "--device", "cpu", "-rdb", database, "-mr", "10", "--", program)
    assert done.returncode == 0, done.stderr
    (path,) = database.glob("[0-9]*.json")
    return path


def test_launches_that_differ_in_pointers_are_one(recorded: Path) -> None:
    """Nor do members count that the kernel does not read."""
    (instance,) = RecordedExecution.from_json(recorded).values()
    assert instance.occ == 40
    assert list(instance.constants) == [COUNT, SWEEPS, WEIGHT]


def test_launches_that_differ_in_a_member_are_others(program: Path, tmp_path: Path) -> None:
    done = mneme("record", "--device", "cpu", "-rdb", tmp_path, "--", program, "3", "5")
    assert done.returncode == 0, done.stderr
    done = mneme("record", "--device", "cpu", "-rdb", tmp_path, "--", program, "3", "6")
    assert done.returncode == 0, done.stderr
    ids = {
        one for path in tmp_path.glob("[0-9]*.json") for one in RecordedExecution.from_json(path)
    }
    assert len(ids) == 2


def test_members_are_shown_with_their_values(recorded: Path) -> None:
    shown = mneme("show", recorded).stdout
    assert "reads 32 of 56" in shown
    for path, value in ((COUNT, "8192"), (SWEEPS, "16"), (WEIGHT, "0.25")):
        assert re.search(rf"{re.escape(path)} .*{re.escape(value)} .*yes", shown), shown
    narrow = mneme("show", recorded, COLUMNS="80").stdout
    rows = [line for line in narrow.splitlines() if "│ 0+" in line]
    assert len(rows) == 5  # a line for each member
    assert all(len(line) <= 80 for line in narrow.splitlines() if "│" in line)
    assert [row.split()[3] for row in rows[2:]] == [".extent.count", ".extent.sweeps", ".weight"]
    facts = launch_facts(recorded)
    assert [one["path"] for one in facts["members"]] == [COUNT, SWEEPS, WEIGHT]
    assert [one["value"] for one in facts["members"]] == [8192, 16, 0.25]
    # Pointers, and what the kernel does not read, say nothing about a launch.
    assert bytes.fromhex(facts["values"][0]["bytes"])[:36] == bytes(36)


@pytest.mark.parametrize("told", ["", SWEEPS, f"{COUNT},{WEIGHT}"])
def test_members_become_constants(recorded: Path, told: str, tmp_path: Path) -> None:
    code = tmp_path / "code.ll"
    options = ("--specialize", *(("--specialized-args", told) if told else ()), "-ol", code)
    done = mneme("replay", "--device", "cpu", "-rdb", recorded, *options, "default<O3>")
    assert done.returncode == 0, done.stderr
    assert done.result["verified"]
    final = code.read_text()
    assert ("2.500000e-01" in final) is (WEIGHT in (told or WEIGHT))
    assert ("8192" in final) is (COUNT in (told or COUNT))


def test_members_have_names_without_debug_information(recorded: Path) -> None:
    facts = launch_facts(recorded)
    names = ["body.extent.count", "body.extent.sweeps", "body.weight"]
    assert [one["name"] for one in facts["members"]] == names
    options = ("--specialize", "--specialized-args", "0.extent.sweeps", "default<O3>")
    done = mneme("replay", "--device", "cpu", "-rdb", recorded, *options)
    assert done.result["verified"], done.stderr


def without_debug_information(ptx: list[str]) -> list[str]:
    """Return the instructions and declarations: files have other numbers with other types."""
    end = next(at for at, line in enumerate(ptx) if line.lstrip().startswith(".section"))
    marks = (".file", ".loc", "$L__tmp", "$L__func")
    return [line for line in ptx[:end] if not line.lstrip().startswith(marks)]


@pytest.mark.parametrize(
    "options",
    [("-O2",), ("-O0",), ("-O2", "-g"), ("-O2", "-g1"), ("-O2", "-Rpass=inline"), ("-O0", "-g")],
    ids=" ".join,
)
def test_what_names_are_read_from_changes_no_code(options: tuple[str, ...], tmp_path: Path) -> None:
    """Types are removed that the program did not ask for, and no hash knows them."""
    texts, hashes = [], []
    for types in ((), ("-Xclang", "-debug-info-kind=limited")):
        common = (
            *("-x", "cuda", "--offload-arch=sm_90", *options, *types),
            *(f"-fpass-plugin={BUILD / 'lib' / 'libMnemePasses.so'}", "-fno-discard-value-names"),
        )
        code, unit = tmp_path / "code.s", tmp_path / "unit.o"
        for what, path in ((("--cuda-device-only", "-S"), code), (("-c",), unit)):
            compiler = BUILD / "bin" / "mneme-clang++"
            done = run_command(compiler, *common, *what, SOURCE, "-o", path)
            assert done.returncode == 0, done.stderr
        lines = code.read_text().splitlines()
        texts.append([one for one in lines if "__mneme" not in one and "//" not in one])
        if options == ("-O0", "-g"):  # the program asked for types itself, and gets more of them
            texts[-1] = without_debug_information(texts[-1])
        hashes.append([one["static_hash"] for one in _native.describe_binary(unit)])
    assert len(texts[0]) > 50
    assert texts[0] == texts[1]
    assert hashes[0] == hashes[1]


def test_what_no_structure_has_is_refused(recorded: Path) -> None:
    for told in ("0+0", "0+33", "0", "1"):
        done = mneme(
            *("replay", "--device", "cpu", "-rdb", recorded, "--specialize"),
            *("--specialized-args", told, "default<O3>"),
        )
        assert done.returncode != 0
        assert "cannot become a constant" in done.stderr


def tuned_with_other_dimensions(recorded: Path, path: Path, **keys: Any) -> Path:
    """Write a file in which the recorded launch has half as many blocks."""
    facts = launch_facts(recorded)
    args = [
        {"Index": one["index"], "Name": one["name"], "Type": one["type"], "Bytes": one["bytes"]}
        for one in (*facts["args"], *facts["values"])
    ]
    variant = {
        "Pipeline": "default<O3>",
        "Match": {
            "Arch": "cpu",
            "GridDim": facts["grid"],
            "BlockDim": facts["block"],
            "SharedMem": 0,
            "Args": args,
        },
        "Launch": {
            "Rule": "exact",
            "GridDim": {"x": 32, "y": 1, "z": 1},
            "BlockDim": {"x": 128, "y": 1, "z": 1},
        },
        **keys,
    }
    entry = {"Mneme": {"Version": 1, "StaticHash": facts["static_hash"], "Variants": [variant]}}
    path.write_text(json.dumps({facts["kernel_name"]: entry}))
    return path


@pytest.mark.parametrize("split", [False, True], ids=["structure", "arguments"])
def test_other_dimensions_apply_in_production(split: bool, tmp_path: Path) -> None:
    program = build(tmp_path, *(["-DSPLIT"] if split else []))
    database = tmp_path / "db"
    done = mneme("record", "--device", "cpu", "-rdb", database, "--", program, "4")
    assert done.returncode == 0, done.stderr
    (record,) = database.glob("[0-9]*.json")
    tuned = tuned_with_other_dimensions(record, tmp_path / "tuned.json")
    run = {
        "PROTEUS_TUNED_KERNELS": str(tuned),
        "PROTEUS_TRACE_OUTPUT": TRACE,
    }
    same = on_cpu(program, "4", **run)
    assert same.stdout.endswith(", 32 blocks\n"), same.stderr
    assert "fits this launch" in same.stderr
    assert warnings(same.stderr) == []
    other = on_cpu(program, "4", "17", **run)
    assert other.stdout.endswith(", 64 blocks\n"), other.stderr


def test_constant_members_are_checked_in_production(
    program: Path, recorded: Path, tmp_path: Path
) -> None:
    """Each value has a binary of its own, so that every run gets its own result."""
    index, offset = SWEEPS.split("+")
    tuned = tuned_with_other_dimensions(
        recorded,
        tmp_path / "tuned.json",
        SpecializeArgs=True,
        SpecializedArgs=[],
        SpecializedMembers=[{"Arg": int(index), "Offset": int(offset)}],
    )
    trace = "specialization;cache-stats"
    run = {
        "PROTEUS_TUNED_KERNELS": str(tuned),
        "PROTEUS_TRACE_OUTPUT": trace,
    }
    for sweeps in ("16", "17"):
        plain = on_cpu(program, "40", sweeps)
        done = on_cpu(program, "40", sweeps, **run)
        assert done.stdout.split(",")[0] == plain.stdout.split(",")[0]
        assert re.search(rf"argument 0 'body.extent.sweeps' = {sweeps}$", done.stderr, re.MULTILINE)
