"""What constants would give the kernels of a program, told without running it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mneme.cli.exit_codes import ExitCode
from mneme.errors import ArtifactCorrupt, InvalidArgument, NotFound, Unsupported
from mneme.explain import ExplainOptions, Explanation, explain, find_kernel, kernels_of
from mneme.explain.case import Case, Figures
from mneme.explain.shape import WHOLE, Constants, Folds
from mneme.programs.kernels import EmbeddedKernel
from native_parts import needs_native

BUILD = Path(os.environ.get("MNEME_BUILD_DIR", "build"))
SOURCE = Path(__file__).with_name("explain_kernels.cu")

pytestmark = [
    pytest.mark.compile,
    pytest.mark.cuda,
    needs_native,
    pytest.mark.skipif(not (BUILD / "examples" / "vector_add").is_file(), reason="no CUDA toolkit"),
]


def built(folder: Path, *sources: Path, options: tuple[str, ...] = ()) -> Path:
    """Return a program that is made with mneme."""
    path = folder / "program"
    common = ("-x", "cuda", "--offload-arch=sm_90", "-O2", "-lcudart")
    command = [BUILD / "bin" / "mneme-cxx", *common, *options, *sources, "-o", path]
    subprocess.run(command, check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a program of one unit."""
    return built(tmp_path_factory.mktemp("explain"), SOURCE)


def told(program: Path, kernel: str, *values: str, **options: Any) -> Explanation:
    return explain(find_kernel(program, kernel), ExplainOptions(values=values, **options))


def case(explanation: Explanation, *positions: int, contents: tuple[int, ...] = ()) -> Case:
    known = Constants(
        frozenset(one - 1 for one in positions), frozenset(one - 1 for one in contents)
    )
    return next(one for one in explanation.cases if one.known == known)


def figures(explanation: Explanation, *positions: int) -> Figures:
    found = case(explanation, *positions).figures
    assert found is not None
    return found


@pytest.mark.parametrize(
    "wanted",
    [
        *("stencil", "sums::stencil", "sums::sten", "sten", "*stencil*", "_ZN4sums7stencil"),
        "sums::stencil(float const*, float*, float const*, int, int)",
    ],
)
def test_a_kernel_is_found_by_what_people_call_it(program: Path, wanted: str) -> None:
    assert find_kernel(program, wanted).demangled_name.startswith("sums::stencil(")


def test_a_name_that_fits_several_kernels_lists_them(program: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"'fill' fits several of .*<float>.*; .*<int>"):
        find_kernel(program, "fill")
    assert find_kernel(program, "fill<int>").demangled_name == "void fill<int>(int*, int)"


def test_a_name_that_fits_none_lists_what_there_is(program: Path) -> None:
    with pytest.raises(NotFound, match=r"no kernel 'main', .*; it has object\(Shape, float\*\);"):
        find_kernel(program, "main")
    with pytest.raises(NotFound, match="add_mneme"):
        kernels_of("/bin/true")


def test_loops_branches_and_loads_are_told_by_argument(program: Path) -> None:
    explanation = told(program, "stencil")
    assert case(explanation, 4).folds == Folds(loops=1)
    assert case(explanation, 5).folds == Folds(branches=1)
    assert case(explanation, contents=(3,)).folds == Folds()
    both = Constants(frozenset({3}), frozenset({2}))
    assert explanation.shape.folded(both) == Folds(loops=1, loads=1)
    assert dict(explanation.shape.hanging_on(Constants(frozenset({3})))) == {
        Constants(): Folds(loops=1),
        Constants(contents=frozenset({2})): Folds(loads=1),
    }
    assert case(explanation, contents=(3,)).figures is None
    assert figures(explanation, 4).loops < explanation.built.loops
    assert explanation.advice.sentence.startswith(
        "proteus::jit_array(weights, <elements>), proteus::jit_arg(taps), proteus::jit_arg(mode): "
        "folds 1 loop, 1 branch, 1 load, "
    )


def test_what_threads_have_apart_is_not_told_to_fold(program: Path) -> None:
    explanation = told(program, "rows")
    assert explanation.shape.totals["loops"] == 1
    assert not explanation.shape.things
    assert explanation.advice.sentence.startswith("nothing to mark: no loop")


def test_data_is_no_table(program: Path) -> None:
    explanation = told(program, "shift")
    assert case(explanation, contents=(1,)).folds == Folds(loads=1)
    assert explanation.advice.sentence.startswith("nothing to mark: ")


def test_values_of_the_user_take_the_place_of_probes(program: Path) -> None:
    probed = told(program, "power")
    assert (probed.values[1, WHOLE].text, probed.values[1, WHOLE].is_probe) == ("7", True)
    explanation = told(program, "power", "exponent=2")
    assert (explanation.values[1, WHOLE].text, explanation.values[1, WHOLE].is_probe) == (
        "2",
        False,
    )
    assert explanation.values[1, WHOLE].data == b"\2\0\0\0"
    assert figures(explanation, 2).instructions < figures(probed, 2).instructions
    assert told(program, "power", "2=0x2").values[1, WHOLE].data == b"\2\0\0\0"
    assert "marked already (exponent): folds 1 loop, " in explanation.advice.sentence


def test_contents_and_fields_can_be_given(program: Path) -> None:
    explanation = told(program, "stencil", "taps=3", "weights=0.5,0.25,0.25")
    both = next(
        one for one in explanation.cases if one.known.contents and 3 in one.known.args
    ).figures
    assert both is not None
    assert both.loads < figures(explanation, 4).loads
    explanation = told(program, "object", "shape+4=3")
    assert {place: one.text for place, one in explanation.values.items()} == {
        (0, 0): "1.5",
        (0, 4): "3",
    }
    rounds = next(one for one in explanation.cases if one.known.members == {(0, 4)})
    assert rounds.folds == Folds(loops=1)
    assert rounds.figures
    assert rounds.figures.loops == 0
    assert explanation.advice.sentence.startswith(
        "mneme tune --specialized-args 0+4 (shape.rounds): folds 1 loop, "
    )
    assert told(program, "object", "shape.rounds=3").values == explanation.values


@pytest.mark.parametrize(
    ("kernel", "value", "reason"),
    [
        ("stencil", "taps", "write NAME=NUMBER"),
        ("stencil", "none=1", "has no argument 'none'; it has 1 in, 2 out"),
        ("stencil", "6=1", "has no argument '6'"),
        ("stencil", "taps=1.5", "'1.5' is not an integer of 32 bits"),
        ("stencil", "taps=4294967296", "is not an integer of 32 bits"),
        ("stencil", "taps+4=1", "a struct is given field by field"),
        ("stencil", "weights=x", "'x' is not a float"),
        ("stencil", "out=1", "'out' of this kernel cannot be constant"),
        ("object", "shape=1", "a struct is given field by field"),
        ("object", "shape+8=1", r"no field at \+8; it reads \+0 \(float\), \+4 \(i32\)"),
    ],
)
def test_values_that_make_no_sense_are_refused(
    program: Path, kernel: str, value: str, reason: str
) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        told(program, kernel, value)


def test_block_and_grid_become_constant(program: Path) -> None:
    explanation = told(program, "object", "shape+4=3", block=(64, 1, 1), grid=(2, 1, 1))
    known = [one.known for one in explanation.cases]
    assert Constants(dims=True) in known
    assert Constants(members=frozenset({(0, 0), (0, 4)}), dims=True) in known


def test_registers_are_told_by_the_assembler(program: Path) -> None:
    built = told(program, "power").built
    assert built.registers is None or built.registers > 0
    on_processor = told(program, "power", target="cpu")
    assert (on_processor.built.registers, on_processor.built.spill_bytes) == (None, None)
    assert case(on_processor, 2).folds == Folds(loops=1)


def test_functions_of_other_units_count(tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text("""
        #include <cuda_runtime.h>
        __device__ int sum(int count);
        __global__ void kernel(int* out, int count) { out[threadIdx.x] = sum(count); }
        int main() { kernel<<<1, 1>>>(nullptr, 0); }
        """)
    (tmp_path / "function.cu").write_text("""
        __device__ int start;
        __device__ int sum(int count) {
          int result = start;
          for (int i = 0; i < count; ++i)
            result = result * 3 + i;
          return result;
        }
        """)
    sources = (tmp_path / "kernel.cu", tmp_path / "function.cu")
    explanation = told(built(tmp_path, *sources, options=("-fgpu-rdc",)), "kernel")
    assert case(explanation, 2).folds == Folds(loops=1)
    assert figures(explanation, 2).loops == 0


def test_kernels_that_are_not_whole_are_refused() -> None:
    kernel = EmbeddedKernel(
        kernel_name="k", demangled_name="k()", static_hash="0" * 16, file=Path("app"), args=(),
        bitcode=b"", is_linked=True,
    )  # fmt: skip
    with pytest.raises(Unsupported, match="functions of other units"):
        explain(kernel)


def test_a_damaged_program_is_named(program: Path, tmp_path: Path) -> None:
    whole = program.read_bytes()
    cut, newer = tmp_path / "cut", tmp_path / "newer"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArtifactCorrupt, match=f"^'{cut}': "):
        kernels_of(cut)
    newer.write_bytes(whole.replace(b"MNEMEIR1\1", b"MNEMEIR1\7"))
    with pytest.raises(Unsupported, match=f"^'{newer}': .* has version 7"):
        kernels_of(newer)


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mneme", "explain", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "150"},
    )  # fmt: skip


def test_the_command_prints_a_table_and_advice(program: Path) -> None:
    done = command(program, "power", "--value", "exponent=2")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("sums::power(double*, int), compiled for sm_90 with default<O3>")
    row = next(line for line in lines if "2 exponent" in line)
    assert [cell.strip() for cell in row.split("│")][2:5] == ["yes", "2", "1 loop"]
    assert lines[-1].startswith("marked already (exponent): folds 1 loop")
    assert "Probes" not in done.stdout
    assert "Assumed, since no values were given: exponent=7." in command(program, "power").stdout


def test_the_command_prints_json(program: Path) -> None:
    options = ("--block", "16x16", "--grid", "8", "--json")
    data = json.loads(command(program, "power", *options).stdout)
    assert data["arguments"][1] == {
        "position": 2, "name": "exponent", "type": "i32", "marked": True, "value": "7",
        "is_probe": True,
    }  # fmt: skip
    assert [(one["kind"], one["arguments"]) for one in data["hang_on"]] == [("loops", [2])]
    assert data["cases"][0]["folds"] == {"loops": 1, "branches": 0, "loads": 0}
    assert {one["dims"] for one in data["cases"]} == {True, False}
    kernels = json.loads(command(program, "--json").stdout)
    assert [one["marked"] for one in kernels if "power" in one["kernel"]] == [[2]]
    assert len(kernels) == 7


def test_what_a_kernel_reads_of_a_structure_is_shown(program: Path) -> None:
    shown = command(program, "object").stdout
    table = shown[shown.index("structures") :].splitlines()
    cells = [[one.strip() for one in line.split("│")[1:-1]] for line in table if "│" in line]
    assert cells == [
        ["1", "shape", "8 of 8 bytes read", "", ""],
        ["+0", "shape.scale", "float", "1.5", "yes"],
        ["+4", "shape.rounds", "i32", "7", "yes"],
    ]
    data = json.loads(command(program, "object", "--json").stdout)
    shape, out = data["arguments"]
    assert "members" not in out
    assert (shape["size"], shape["read_bytes"]) == (8, 8)
    assert shape["members"][1] == {
        "path": "0+4", "name": "shape.rounds", "type": "i32", "kind": "integer",
        "can_be_constant": True, "value": "7", "is_probe": True,
    }  # fmt: skip
    assert [(one["kind"], one["members"]) for one in data["hang_on"]] == [("loops", ["0+4"])]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("fill",), ExitCode.INVALID_CONFIGURATION),
        (("main",), ExitCode.RECORD_UNREADABLE),
        (("power", "--block", "64"), ExitCode.USAGE),
        (("power", "--block", "0", "--grid", "1"), ExitCode.USAGE),
        (("power", "--value", "x=1"), ExitCode.INVALID_CONFIGURATION),
        (("power", "--arch", "sm_1"), ExitCode.INVALID_CONFIGURATION),
    ],
)
def test_mistakes_are_one_sentence(
    program: Path, arguments: tuple[str, ...], code: ExitCode
) -> None:
    done = command(program, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) == 1
