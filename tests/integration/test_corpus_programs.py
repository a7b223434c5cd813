"""Corpora of recorded programs: two that share a kernel, and what benchmarks/corpus builds."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest
from conftest import BUILD, EXAMPLES, ROOT, mneme, run_command

from mneme import Corpus
from mneme.corpus.container import zstd_module
from mneme.errors import BackendUnavailable

BUILDER = ROOT / "benchmarks" / "corpus" / "build.py"
SHARED = """
#include <vector>
__global__ void scale(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = 2.0f * data[i] + 1.0f;
}
void run(int n) {
  float* data = nullptr;
  cudaMalloc(&data, n * sizeof(float));
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i)
    host[i] = (i * 7919) % 1013 * 0.37f;
  cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<n / 256, 256>>>(data, n);
  cudaDeviceSynchronize();
}
"""
PROGRAMS = {
    "one": "int main() { run(1 << 18); }",
    "two": """
__global__ void own(int* out) { out[threadIdx.x] = threadIdx.x; }
int main() {
  int* out = nullptr;
  cudaMalloc(&out, 1024);
  own<<<1, 32>>>(out);
  run(1 << 18);
}
""",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of two programs with one kernel in common, on the same data."""
    folder = tmp_path_factory.mktemp("programs")
    for name, text in PROGRAMS.items():
        (folder / f"{name}.cu").write_text(SHARED + text)
        built = run_command(
            BUILD / "bin" / "mneme-cxx",
            *("-O2", folder / f"{name}.cu", "-o", folder / name, "-lcudart"),
        )
        assert built.returncode == 0, built.stderr
        recording = folder / "recorded" / name
        device = ("--device", "cpu")
        recorded = mneme("record", "-rdb", recording, *device, "--", folder / name)
        assert recorded.returncode == 0, recorded.stderr
        labels = ("--program", name, "--licence", "MIT")
        added = mneme("corpus", "add", folder / "corpus", recording, *labels, "--json")
        assert added.returncode == 0, added.stderr
        (folder / f"{name}.json").write_text(added.stdout)
    return folder / "corpus"


@pytest.mark.cuda
@pytest.mark.compile
def test_programs_with_a_kernel_in_common_share_its_code(corpus: Path) -> None:
    first, second = (json.loads((corpus.parent / f"{name}.json").read_text()) for name in PROGRAMS)
    assert (first["shared_files"], first["same_code"]) == (0, {})
    assert second["shared_files"] == 1
    assert second["same_code"] == {"scale(float*, int)": ["one"]}
    code = list(corpus.rglob("RecordedIR_*.bc"))
    assert len({path.stat().st_ino for path in code}) == len(code) - 1 == 2


@pytest.mark.cuda
@pytest.mark.compile
def test_memory_that_programs_have_in_common_is_packed_once(corpus: Path, tmp_path: Path) -> None:
    try:
        zstd_module()
    except BackendUnavailable as error:
        pytest.skip(str(error))
    packed = mneme("corpus", "pack", corpus, "-o", tmp_path / "c.tar.zst", "--json")
    sizes = json.loads(packed.stdout)
    assert sizes["content_bytes"] > 200_000
    assert sizes["packed_bytes"] < 0.4 * sizes["content_bytes"]


@pytest.mark.cuda
@pytest.mark.compile
def test_recordings_that_were_packed_replay_as_before(corpus: Path, tmp_path: Path) -> None:
    packed, again = tmp_path / "c.tar", tmp_path / "again"
    assert mneme("corpus", "pack", corpus, "-o", packed).returncode == 0
    assert mneme("corpus", "unpack", packed, "-o", again).returncode == 0
    verified = mneme("corpus", "verify", again, "--replay", "--device", "cpu", "--json")
    assert verified.returncode == 0, verified.stderr
    facts = json.loads(verified.stdout)
    assert (facts["problems"], facts["launches"], facts["not_verified"]) == ([], 3, [])


def build(folder: Path, *names: str) -> list[dict[str, object]]:
    """Run the builder; return its results."""
    words = ("--device", "cpu", "-o", folder / "corpus", "--programs", BUILD)
    done = run_command(sys.executable, BUILDER, *words, "--output", folder / "rows", *names)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in (folder / "rows").read_text().splitlines()[1:]]


@pytest.mark.compile
def test_the_builder_records_programs_of_its_table(tmp_path: Path) -> None:
    rows = build(tmp_path, "vector_add", "multi_unit")
    assert [one["program"] for one in rows] == ["vector_add", "multi_unit"]
    assert [one["kernels"] for one in rows] == [1, 3]
    assert [one["left_out"] for one in rows] == [[], []]
    entries = {one.program: one for one in Corpus(tmp_path / "corpus")}
    assert entries["vector_add"].arguments == "65536"
    assert entries["vector_add"].labels == {"source": "examples/vector_add"}
    assert "Apache-2.0" in entries["vector_add"].licence


@pytest.mark.compile
def test_the_builder_leaves_out_kernels_that_take_too_short(tmp_path: Path) -> None:
    size = ("--size", "large", "--microseconds")
    (row,) = build(tmp_path / "all", "linked_list", *size, "0", "1e9")
    assert (row["arguments"], row["kernels"], row["left_out"]) == ("200", 2, [])
    times = row["microseconds"]
    assert isinstance(times, dict)
    assert set(times) == {"link", "walk"}
    assert min(times.values()) > 0
    (row,) = build(tmp_path / "none", "linked_list", *size, "1e8", "1e9")
    assert row["failed"] == "no kernel is left"
    reasons = row["left_out"]
    assert isinstance(reasons, list)
    assert all("it takes" in reason for reason in reasons)


def test_the_table_of_programs_is_sound() -> None:
    with (BUILDER.parent / "programs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [one["program"] for one in rows]
    assert len(set(names)) == len(names) >= 60
    assert all((EXAMPLES / Path(one["file"]).name).exists() for one in rows[:8])
    folders = {"examples", "benchmarks", "tests"}
    assert {one["file"].partition("/")[0] for one in rows} == folders
    assert sum(one["large"] != "-" for one in rows) >= 25
    # What takes long on a GPU takes too long on the CPU device, not the other way round.
    assert all(one["gpu"] != "-" for one in rows)
