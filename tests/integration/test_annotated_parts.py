"""Parts of a buffer that a program annotates: each is compared by its own rule in a replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import BUILD, Finished, mneme, records, run_command

SOURCE = """
#include <cstdio>
#include <cstdlib>
#include <mneme/MnemeAnnotation.hpp>
constexpr int n = 256, inner = 192;
// What is written depends on the size of the block: a replay with another one differs.
__global__ void fill(double* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i < inner ? 1 + 1e-9 * blockDim.x : 1 + 1e-3 * blockDim.x;
}
mneme::Metadata rule(const char* threshold, const char* tag) {
  mneme::Metadata made;
  made.threshold = atof(threshold);
  made.threshold_kind = mneme::ThresholdKind::Relative;
  made.tag = tag;
  return made;
}
int main(int, char** argv) {
  double* x;
  cudaMalloc(&x, n * sizeof *x);
  bool field = mneme::annotate(x, rule(argv[1], "field"));
  bool halo = mneme::annotate(x + inner, (n - inner) * sizeof *x, rule(argv[2], "halo"));
  bool over = mneme::annotate(x + inner, n * sizeof *x, rule(argv[2], "over"));
  fill<<<n / 64, 64>>>(x);
  printf("%d%d%d %s\\n", field, halo, over, cudaGetErrorString(cudaDeviceSynchronize()));
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("annotated")
    (folder / "a.cu").write_text(SOURCE)
    compiler = BUILD / "bin" / "mneme-cxx"
    done = run_command(compiler, "-O2", folder / "a.cu", "-o", folder / "app")
    assert done.returncode == 0, done.stderr
    return folder / "app"


def replay(program: Path, db: Path, field: str, halo: str) -> Finished:
    """Record with these thresholds, and replay with half the threads in a block."""
    done = mneme("record", "-rdb", db, "--device", "cpu", "--", program, field, halo)
    assert (done.returncode, done.stdout) == (0, "110 no error\n"), done.stderr
    why = "the annotation of 2048 bytes 'over' is left out: the allocation ends before them"
    assert why in done.stderr
    dims = ("--grid-dim-x", "8", "--block-dim-x", "32")
    return mneme("replay", "-rdb", *records(db), *dims, "default<O2>")


def test_each_part_has_its_rule(program: Path, tmp_path: Path) -> None:
    done = replay(program, tmp_path / "both", "1e-6", "0.5")
    assert (done.returncode, done.result["result_class"]) == (0, "within_tolerance"), done.stderr


def test_show_lists_the_parts_below_their_buffer(program: Path, tmp_path: Path) -> None:
    done = mneme("record", "-rdb", tmp_path, "--device", "cpu", "--", program, "1e-6", "0.5")
    assert done.returncode == 0, done.stderr
    shown = mneme("show", "-rdb", *records(tmp_path))
    lines = shown.stdout.replace("│", " ").splitlines()
    rows = [line.split() for line in lines if "0x" in line]
    (number,) = (at for at, row in enumerate(rows) if "field" in row)
    assert rows[number][-2:] == ["field", "f64:rel:1e-06"]
    assert rows[number + 1][1:] == ["512", "B", "part", "halo", "f64:rel:0.5"]

    details = json.loads(mneme("show", "-rdb", *records(tmp_path), "--json").stdout)
    regions = details["instances"][0]["regions"]
    (buffer,) = (one for one in regions if one["tag"] == "field")
    (part,) = buffer["parts"]
    assert int(part["address"], 16) == int(buffer["address"], 16) + 192 * 8
    assert (part["size_bytes"], part["annotation"], part["tag"]) == (512, "f64:rel:0.5", "halo")


def test_a_tolerance_of_a_part_is_known_before_a_search(program: Path, tmp_path: Path) -> None:
    done = mneme("record", "-rdb", tmp_path, "--device", "cpu", "--", program, "1e-6", "0.5")
    assert done.returncode == 0, done.stderr
    words = ("tune", "-rdb", *records(tmp_path), "--trials", "1", "--tolerance")
    place = ("--results-dir", tmp_path / "results", "--no-knowledge")
    tuned = mneme(*words, "halo=rel:1e-6:f64", *place)
    assert tuned.returncode == 0, tuned.stderr


@pytest.mark.parametrize(
    ("field", "halo", "where", "elements"),
    [("1e-6", "1e-6", "annotated as 'halo'", 64), ("0", "0.5", "argument 'x' at", 192)],
)
def test_what_differs_is_told_by_part(
    field: str, halo: str, where: str, elements: int, program: Path, tmp_path: Path
) -> None:
    done = replay(program, tmp_path / "db", field, halo)
    assert (done.returncode, done.result["result_class"]) == (1, "wrong"), done.stderr
    (mismatch,) = done.result["mismatches"]
    assert where in mismatch["region"]
    assert (mismatch["differing"], mismatch["elements"]) == (elements, elements)
