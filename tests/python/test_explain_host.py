"""What constants would give marked host functions, told from the program without running it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mneme.cli.exit_codes import ExitCode
from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.explain import ExplainOptions, Explanation, explain, find_kernel, kernels_of
from mneme.explain.shape import Constants, Folds
from mneme.install import paths as _paths
from native_parts import needs_native

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """
#include <cstdio>
#include <proteus/JitInterface.h>
double weigh(const double* weights, int count, const double* values, int size) {
  proteus::jit_array(weights, count);
  proteus::jit_arg(size);
  double sum = 0;
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < count; ++i)
      sum += weights[i] * values[i + j];
  return sum;
}
__attribute__((annotate("jit", 2))) double power(double base, int exponent) {
  double result = 1;
  for (int i = 0; i < exponent; ++i)
    result *= base;
  return result;
}
template <typename T> __attribute__((annotate("jit", 1))) inline T twice(T value) { return value + value; }
int unmarked(int n) { return n; }
int main() { printf("it ran %g %g %d %d\\n", weigh(nullptr, 0, nullptr, 0), power(2, 3), twice(1), unmarked(1)); }
"""

pytestmark = [pytest.mark.compile, needs_native]


@pytest.fixture(scope="module", params=["-O2", "-O0 -g"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explain host")
    (folder / "program.cpp").write_text(SOURCE)
    config = _paths.config()
    subprocess.run(
        [
            str(Path(config["llvmdir"]) / "bin" / "clang++"), f"-I{ROOT / 'include'}",
            "-Wl,--gc-sections", "-ffunction-sections", "-fdata-sections",
            *config["cflags"].split(), *request.param.split(), str(folder / "program.cpp"),
            "-o", str(folder / "program"), *config["ldflags"].split(),
        ],
        check=True,
    )  # fmt: skip
    return folder / "program"


def told(program: Path, function: str, *values: str) -> Explanation:
    return explain(find_kernel(program, function), ExplainOptions(values=values))


def test_marked_functions_are_listed_and_no_others(program: Path) -> None:
    listed = {one.demangled_name: one for one in kernels_of(program)}
    assert list(listed) == [
        "int twice<int>(int)",
        "power(double, int)",
        "weigh(double const*, int, double const*, int)",
    ]
    assert all(one.is_host_function and one.arch == "host" for one in listed.values())
    weigh = listed["weigh(double const*, int, double const*, int)"]
    assert [one.name for one in weigh.args] == ["weights", "count", "values", "size"]
    assert [(one.arg, one.count_arg) for one in weigh.marks or ()] == [(0, 1), (3, -1)]


def test_loops_fold_and_code_shrinks(program: Path) -> None:
    explanation = told(program, "power", "exponent=3")
    assert explanation.target == "host"
    case = next(one for one in explanation.cases if one.known == Constants(frozenset({1})))
    assert case.folds == Folds(loops=1)
    assert case.figures is not None
    assert case.figures.loops == 0 < explanation.built.loops
    assert case.figures.instructions < explanation.built.instructions
    assert case.figures.code_bytes is not None
    assert case.figures.code_bytes < (explanation.built.code_bytes or 0)
    assert case.figures.registers is None
    assert explanation.advice.sentence.startswith("marked already (exponent): folds 1 loop, ")


def test_a_pointer_that_is_not_marked_is_data(program: Path) -> None:
    explanation = told(program, "weigh", "count=3", "weights=1,2,3")
    assert explanation.shape.folded(Constants(frozenset({1}), frozenset({0}))) == Folds(
        loops=1, loads=1
    )
    assert explanation.advice.sentence.startswith(
        "proteus::jit_array(weights, count), proteus::jit_arg(count), proteus::jit_arg(size): folds "
    )
    assert "values" not in explanation.advice.sentence


def test_functions_have_no_blocks_and_one_processor(program: Path) -> None:
    function = find_kernel(program, "power")
    for options in (
        ExplainOptions(target="sm_90"),
        ExplainOptions(block=(1, 1, 1), grid=(1, 1, 1)),
    ):
        with pytest.raises(InvalidArgument, match="is a function of the host: it has no block"):
            explain(function, options)


def test_damaged_code_is_named(program: Path, tmp_path: Path) -> None:
    content = bytearray(program.read_bytes())
    at = content.index(b"MNEMEIR1")
    content[at + 200] ^= 0xFF
    (tmp_path / "damaged").write_bytes(content)
    with pytest.raises(ArtifactCorrupt, match="damaged'.* its checksum does not match"):
        kernels_of(tmp_path / "damaged")


def test_the_command_says_it_in_the_same_form(program: Path) -> None:
    command = [sys.executable, "-m", "mneme", "explain", str(program), "power"]
    wide = {**os.environ, "COLUMNS": "160"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=wide)
    assert "power(double, int), compiled for host with default<O3>" in done.stdout
    assert "2 exponent" in done.stdout
    assert "it ran" not in done.stdout
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    data = json.loads(done.stdout)
    assert data["arguments"][1] == {
        "position": 2, "name": "exponent", "type": "i32", "marked": True, "value": "7",
        "is_probe": True,
    }  # fmt: skip
    refused = subprocess.run(
        [*command, "--arch", "sm_90"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == ExitCode.INVALID_CONFIGURATION
    assert len(refused.stderr.splitlines()) == 1
