"""Places of kernels in the source and labels of launches, from the program to tables and filters."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, ROOT, Finished, mneme, records, run_command

import mneme as package

pytestmark = pytest.mark.compile
APPS = ROOT / "tests/apps/labels"
SOURCE = APPS / "labelled.cu"
LINES = SOURCE.read_text().splitlines()
TOOLS = ("KOKKOS_TOOLS_LIBS", "NVTX_INJECTION64_PATH")


def line_of(text: str) -> int:
    """Return the number of the only line with this text."""
    (found,) = (number for number, line in enumerate(LINES, start=1) if text in line)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the program, and the tools of the user's."""
    folder: Path = tmp_path_factory.mktemp("labels")
    for name in ("kokkos_tool", "nvtx_tool", "roctx"):
        library = folder / f"lib{name}.so"
        done = run_command("c++", "-shared", "-fPIC", "-o", library, APPS / f"{name}.cpp")
        assert done.returncode == 0, done.stderr
    done = run_command(
        BUILD / "bin" / "mneme-cxx", "-O2", "--offload-arch=sm_90", SOURCE, "-o",
        folder / "program", "-lcudart", "-ldl", f"-L{folder}", "-Wl,--no-as-needed", "-lroctx",
        f"-Wl,-rpath,{folder}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def run(program: Path, way: str, **environment: str) -> Finished:
    return mneme("run", "--device", "cpu", "--", program, way, **environment)


def alone(program: Path, way: str, **environment: str) -> Finished:
    """Run the program without labels: only its own tools are named."""
    named = [f"{name}={value}" for name, value in environment.items()]
    unset = [part for name in TOOLS for part in ("-u", name)]
    return mneme("run", "--device", "cpu", "--", "/usr/bin/env", *unset, *named, program, way)


def record(folder: Path, into: Path, way: str, *options: str, **environment: str) -> Finished:
    return mneme(
        "record", "--device", "cpu", "-rdb", into, *options, "--", folder / "program", way,
        **environment,
    )  # fmt: skip


def labels(directory: Path) -> set[tuple[str, ...]]:
    """Return the labels of all recorded launches."""
    found = [json.loads(path.read_text()) for path in records(directory)]
    return {
        tuple(launch.get("Labels", ())) for one in found for launch in one["instances"].values()
    }


def test_a_program_labels_launches(folder: Path, tmp_path: Path) -> None:
    done = record(folder, tmp_path, "api")
    assert done.stdout == alone(folder / "program", "api").stdout == "5\n"
    assert labels(tmp_path) == {(), ("step", "advection"), ("other thread",), ("step",)}


def test_each_kernel_has_the_place_of_its_lambda(folder: Path, tmp_path: Path) -> None:
    record(folder, tmp_path, "api")
    places = {one.name.label: one.place for one in package.load(tmp_path).values()}
    plain = places[""]
    assert plain is not None
    assert (Path(plain.file).name, plain.line) == ("labelled.cu", line_of("void unlabelled("))
    lambda_of_a_thread = places["other thread"]
    assert lambda_of_a_thread is not None
    assert 'label scope("other thread")' in LINES[lambda_of_a_thread.line - 2]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("advection", {("step", "advection")}),
        ("^step$", {("step",)}),
        ("step/adv", {("step", "advection")}),
        ("labelled.cu:{line}", {()}),
        ("apps/labels/labelled.cu:{line}|other", {(), ("other thread",)}),
        ("other.cu:{line}", set()),
    ],
)
def test_filters_know_labels_and_lines(
    folder: Path, tmp_path: Path, wanted: str, found: set[tuple[str, ...]]
) -> None:
    expression = wanted.format(line=line_of("void unlabelled("))
    record(folder, tmp_path, "api", "--kernels", expression)
    assert labels(tmp_path) == found


def test_kernels_are_found_by_line_and_label(folder: Path, tmp_path: Path) -> None:
    record(folder, tmp_path, "api")
    recording = package.load(tmp_path)
    assert recording.kernel("step/advection").labels == ("advection",)
    line = line_of("void unlabelled(")
    assert recording.kernel(f"labelled.cu:{line}").demangled_name == "unlabelled(float*)"
    done = mneme("explain", folder / "program", f"labelled.cu:{line}")
    assert done.stdout.startswith("unlabelled(float*)"), done.stdout + done.stderr
    assert f"labelled.cu:{line}" in done.stdout


def test_kokkos_tells_labels_without_a_setting(folder: Path, tmp_path: Path) -> None:
    done = record(folder, tmp_path, "kokkos")
    # No fence for our sake, and no function that we do not need.
    assert done.stdout == "fences: 0, copies seen: 0\n5\n"
    # A label that Kokkos makes of the type of the lambda is none.
    assert labels(tmp_path) == {(), ("fill x",), ("scan x",)}


def test_a_tool_for_kokkos_works_as_it_does_alone(folder: Path, tmp_path: Path) -> None:
    tools = f"{folder / 'libkokkos_tool.so'};second.so"
    expected = alone(folder / "program", "kokkos", KOKKOS_TOOLS_LIBS=tools).stdout
    assert f"tool: init with {tools}\ntool: begin fill x\ntool: end 7\n" in expected
    assert "fences: 1" in expected
    done = record(folder, tmp_path, "kokkos", KOKKOS_TOOLS_LIBS=tools)
    assert done.stdout == expected
    assert ("fill x",) in labels(tmp_path)


def test_a_missing_tool_is_reported_as_by_kokkos(folder: Path, tmp_path: Path) -> None:
    done = record(folder, tmp_path, "kokkos", KOKKOS_TOOLS_LIBS="/no/such.so")
    assert "Error: Unable to load KokkosP library: /no/such.so" in done.stderr
    assert ("fill x",) in labels(tmp_path)


def test_ranges_of_nvtx_are_labels(folder: Path, tmp_path: Path) -> None:
    done = record(folder, tmp_path, "nvtx")
    assert done.stdout == alone(folder / "program", "nvtx").stdout == "level -2, then -2\n9\n"
    assert labels(tmp_path) == {(), ("outer", "wïde"), ("outer", "registered")}


def test_a_tool_for_nvtx_works_as_it_does_alone(folder: Path, tmp_path: Path) -> None:
    tool = str(folder / "libnvtx_tool.so")
    expected = alone(folder / "program", "nvtx", NVTX_INJECTION64_PATH=tool).stdout
    assert expected == "tool: push outer\ntool: pop\ntool: pop\nlevel 0, then -1\n9\n"
    done = record(folder, tmp_path, "nvtx", NVTX_INJECTION64_PATH=tool)
    assert done.stdout == expected
    assert ("outer", "wïde") in labels(tmp_path)


def test_ranges_of_roctx_are_labels(folder: Path, tmp_path: Path) -> None:
    done = record(folder, tmp_path, "roctx")
    assert (
        done.stdout
        == alone(folder / "program", "roctx").stdout
        == "roctx: push range\nlevel 0\n3\n"
    )
    assert labels(tmp_path) == {(), ("range",)}


@pytest.mark.parametrize("columns", ["80", "100", "160"])
def test_tables_fit_and_show_label_and_place(folder: Path, tmp_path: Path, columns: str) -> None:
    record(folder, tmp_path, "api")
    shown = mneme("ls", tmp_path, COLUMNS=columns)
    lines = shown.stdout.splitlines()
    assert all(len(line) <= int(columns) for line in lines[1:]), (
        shown.stdout
    )  # the first is the folder
    rows = [line for line in lines if re.search(r"\bcpu\b", line)]
    assert len(rows) == len(set(rows)) == 4, shown.stdout
    assert sum("advection" in row for row in rows) == 1
    listed = json.loads(mneme("ls", tmp_path, "--json").stdout)["kernels"]
    assert {one["place"].rpartition("/")[2].partition(":")[0] for one in listed} == {"labelled.cu"}
    assert sorted(one["labels"] for one in listed) == [
        [],
        ["advection"],
        ["other thread"],
        ["step"],
    ]
    shown = mneme("show", records(tmp_path)[0])
    assert "labelled.cu:" in shown.stdout


def test_every_verb_tells_lambdas_of_one_launcher_apart(folder: Path, tmp_path: Path) -> None:
    """Launches of different kernels may have one id: names alone tell what a line is about."""
    done = record(folder, tmp_path, "plain", "--kernels", "launch")
    assert done.returncode == 0, done.stderr
    replayed = mneme("replay", tmp_path, "--all", "default<O3>").stderr.splitlines()
    kernels = [line.split()[1:3] for line in replayed if ": verified:" in line]
    assert len(kernels) == len({tuple(one) for one in kernels}) == 2, replayed
    places = [f"labelled.cu:{line_of(text)}" for text in ("// one", "// other")]
    assert sorted(kernel[1].strip("():") for kernel in kernels) == places
    listed = mneme("kernels", folder / "program", COLUMNS="80").stdout.splitlines()
    assert all(len(line) <= 80 for line in listed[1:])
    assert sum(place in line for line in listed for place in places) == 2
    several = mneme("show", tmp_path).stderr.splitlines()
    assert several[0].endswith(":")
    assert sum(place in line for line in several[1:] for place in places) == 2
    assert all(len(line) <= 80 for line in several[1:])


def test_a_check_takes_one_line_for_a_kernel(folder: Path, tmp_path: Path) -> None:
    record(folder, tmp_path, "api")
    entries: dict[str, Any] = {}
    for one in package.load(tmp_path).values():
        hashes = {"StaticHash": f"{int(one.static_hash):016x}", "CodeHash": one.code_hash}
        variant = {"Pipeline": "default<O3>", "CodeHash": hashes.pop("CodeHash")}
        entries[one.kernel_name] = {"Mneme": {"Version": 1, **hashes, "Variants": [variant]}}
    tuned = tmp_path / "tuned.json"
    tuned.write_text(json.dumps(entries))
    done = mneme("deploy", "--check", tuned, folder / "program", COLUMNS="80")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines[1:]), done.stdout
    assert len([line for line in lines if "matches" in line]) == 4
    assert len(lines) < 4 * 5, done.stdout


def test_a_profiler_may_work_beside_our_tool_for_labels_but_not_beside_the_users() -> None:
    """CUPTI serves one tool at a time: who drives it is found out from the environment."""
    ask = "from mneme import _native; print(_native.driving_tool())"

    def driving_tool(**environment: str) -> str:
        done = mneme("run", "--device", "cpu", "--", sys.executable, "-c", ask, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert not driving_tool()
    assert driving_tool(NVTX_INJECTION64_PATH="/opt/tool/libtool.so") == "MNEME_NVTX_INJECTION"


def test_a_filter_that_matches_nothing_is_answered_with_what_was_launched(
    folder: Path, tmp_path: Path
) -> None:
    missed = record(folder, tmp_path / "missed", "api", "--kernels", "nosuch")
    assert "--kernels matches none of the kernels launched: " in missed.stderr
    assert "unlabelled(float*)" in missed.stderr
    for wanted in ("advection", "unlabelled", f"labelled.cu:{line_of('unlabelled(float')}"):
        found = record(folder, tmp_path / wanted, "api", "--kernels", wanted)
        assert "matches none" not in found.stderr, found.stderr
        assert records(tmp_path / wanted)
