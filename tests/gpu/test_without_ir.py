"""Code of nvcc, without IR, that a program loads by the driver: cubins, PTX and fat binaries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import support
from gpu.support import mneme, records, run_command, without_ir
from mneme.devices import device_limits

FORMS = {"cubin": ("-cubin",), "ptx": ("-ptx",), "fatbin": ("-fatbin",)}

pytestmark = support.BY_NVCC


def _nvcc(*arguments: str | Path) -> None:
    done = run_command("nvcc", *arguments)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of the driver alone, which loads what it is given."""
    program: Path = tmp_path_factory.mktemp("loader") / "loader"
    _nvcc("-cudart", "none", without_ir.LOADER, "-o", program, "-lcuda")
    return program


@pytest.fixture(scope="module", params=list(FORMS))
def recorded(
    request: pytest.FixtureRequest, loader: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, Path]:
    """The form, the image and the recording."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    source, image = folder / "kernel.cu", folder / f"kernel.{request.param}"
    source.write_text(without_ir.KERNEL)
    _nvcc("-O3", f"-arch={device_limits(support.DEVICE).target}", *FORMS[request.param], source,
          "-o", image)  # fmt: skip
    alone = support.run(loader, str(image))
    assert (alone.returncode, alone.stdout) == (0, without_ir.SUMS), alone.stderr
    done = support.record(folder / "db", loader, str(image))
    assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
    assert "recorded 2 instances of 1 kernel (3 launches)" in done.stderr
    assert "not recorded" not in done.stderr
    return request.param, image, folder / "db"


def test_the_image_is_recorded_as_it_is(recorded: tuple[str, Path, Path]) -> None:
    form, image, recording = recorded
    (record,) = records(recording)
    content = json.loads(record.read_text())
    assert content["CodeForm"] == form
    assert content["ArgSizes"] == [32, 8, 4]
    assert sorted(one["Occurrences"] for one in content["instances"].values()) == [1, 2]
    code = (recording / f"RecordedCode_{record.stem}.{form}").read_bytes()
    # The program's copy of an image may have padding, or a zero, behind it.
    assert image.read_bytes().startswith(code)


def test_launches_replay_exactly(recorded: tuple[str, Path, Path]) -> None:
    _, _, recording = recorded
    for record, record_id in support.launches(recording):
        assert support.replay(record, record_id).result["result_class"] == "exact"
    changed = support.replay(record, record_id, "-bidx", "64", "-gidx", "16")
    assert changed.result["result_class"] == "exact", changed.stderr


def test_what_needs_ir_is_refused(recorded: tuple[str, Path, Path]) -> None:
    _, _, recording = recorded
    record, record_id = next(support.launches(recording))
    done = support.replay(record, record_id, "default<O1>")
    assert "'scale' was recorded without IR (its code is" in done.stderr
    done = support.replay(record, record_id, device="cpu")
    assert done.returncode != 0
    assert "not on the CPU device" in done.stderr


def test_tune_searches_launches(recorded: tuple[str, Path, Path], tmp_path: Path) -> None:
    _, _, recording = recorded
    done = mneme(
        *("tune", recording, "scale@1", "--device", support.DEVICE, "--trials", "4"),
        *("--results-dir", tmp_path / "tuned"),
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "are searched: the code is" in done.stderr
    trials = (tmp_path / "tuned" / "trials.jsonl").read_text().splitlines()
    assert len(trials) > 0
    assert all(json.loads(one)["status"] == "verified" for one in trials)


def test_a_stand_alone_program_leaves_what_was_recorded(
    recorded: tuple[str, Path, Path], tmp_path: Path
) -> None:
    form, _, recording = recorded
    for number, (record, record_id) in enumerate(support.launches(recording)):
        folder = tmp_path / str(number)
        done = mneme("scaffold", "replay", "-rdb", record, "-rid", record_id, "--out", folder)
        assert done.returncode == 0, done.stderr
        words = ("-std=c++17", folder / "main.cpp", "-o", folder / "reproduce", "-ldl")
        _nvcc(*words)
        ran = run_command(folder / "reproduce", folder / f"code.{form}", folder / "memory")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "SAME: the kernel leaves what was recorded" in ran.stdout
        if form == "ptx":
            cubin = folder / "kernel.cubin"
            options = ("--options-file", folder / "ptxas.rsp")
            done = run_command("ptxas", *options, folder / "code.ptx", "-o", cubin)
            assert done.returncode == 0, done.stderr
            ran = run_command(folder / "reproduce", cubin, folder / "memory")
            assert ran.returncode == 0, ran.stdout + ran.stderr
        # The first value of the output is another one.
        (changed,) = (folder / "memory").glob("*.after")
        changed.write_bytes(b"\x17" + changed.read_bytes()[1:])
        ran = run_command(folder / "reproduce", folder / f"code.{form}", folder / "memory")
        assert (ran.returncode, "DIFFERENT: 1 bytes" in ran.stdout) == (1, True), ran.stdout


def test_ptx_takes_limits_and_what_ptxas_takes(recorded: tuple[str, Path, Path]) -> None:
    form, _, recording = recorded
    record, record_id = next(support.launches(recording))
    done = support.replay(record, record_id, "--max-registers", "32")
    if form != "cubin":  # nvcc leaves PTX in a fat binary, too
        assert done.result["result_class"] == "exact", done.stderr
        assert 0 < done.result["reg_usage"] <= 32
        bounds = ("-slb", "--max-threads", "128", "--min-blocks-per-sm", "4")
        for words in (
            *(("--codegen-opt", "0"), ("--ptxas=-dlcm=cg", "--ptxas=--fmad=true")),
            *(bounds, (*bounds, "--codegen-opt", "2")),
        ):
            done = support.replay(record, record_id, *words)
            assert done.result["result_class"] == "exact", done.stderr
    else:
        assert "'scale' was recorded without IR" in done.stderr


CARVED = """
#include <cstdio>
__global__ void twice(float* values) { values[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
int main() {
  float* values;
  cudaMalloc(&values, 4096);
  cudaMemset(values, 1, 4096);
  const auto carve = cudaFuncAttributePreferredSharedMemoryCarveout;
  twice<<<4, 256>>>(values);
  cudaFuncSetAttribute(reinterpret_cast<const void*>(twice), carve, 0);
  twice<<<2, 256>>>(values);
  cudaFuncSetAttribute(reinterpret_cast<const void*>(twice), carve, 50);
  twice<<<1, 256>>>(values);
  std::printf("%d\\n", cudaDeviceSynchronize());
}
"""


def test_carve_outs_are_recorded_and_replays_have_others(tmp_path: Path) -> None:
    (tmp_path / "carved.cu").write_text(CARVED)
    support.compile_by_nvcc(tmp_path / "carved.cu", tmp_path / "carved")
    done = support.record(tmp_path / "db", tmp_path / "carved")
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    (record,) = records(tmp_path / "db")
    instances = json.loads(record.read_text())["instances"]
    found = {one["GridDims"]["x"]: one.get("SharedCarveout", 0) for one in instances.values()}
    assert found == {4: 0, 2: 1, 1: 50}
    for record, record_id in support.launches(tmp_path / "db"):
        hashes = set()
        for words in ((), ("--shared-carveout", "1"), ("--shared-carveout", "100")):
            done = support.replay(record, record_id, *words)
            assert done.result["result_class"] == "exact", done.stderr
            hashes.add(done.result["image_hash"])
        assert len(hashes) == 3  # not the same code for searches and comparisons


NEIGHBOURS = r"""
#include <cstdio>
struct Arrays { float* at[6]; };
__global__ void sum(Arrays arrays, size_t count, double* total) {
  double mine = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    for (float* array : arrays.at) { mine += array[i]; array[i] += 1; }
  if (mine != 0) total[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}
__global__ void fill(float* array, size_t count, unsigned seed) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    array[i] = float((unsigned(i) * 2654435761u + seed) % 1000);
}
int main() {
  Arrays arrays; double* total; double out[1024];
  for (size_t megabytes : {3, 200}) {
    size_t count = megabytes << 18;
    for (int i = 0; i < 6; ++i) cudaMalloc(&arrays.at[i], count * 4);
    cudaMalloc(&total, sizeof out);
    for (int i = 0; i < 6; ++i) fill<<<64, 256>>>(arrays.at[i], count, i);
    sum<<<4, 256>>>(arrays, count, total);
    cudaMemcpy(out, total, sizeof out, cudaMemcpyDeviceToHost);
    double all = 0;
    for (double one : out) all += one;
    std::printf("%.0f\n", all);
  }
}
"""


def test_allocations_that_the_driver_placed_side_by_side(tmp_path: Path) -> None:
    """The driver refuses a copy that reaches from one allocation into the next."""
    (tmp_path / "neighbours.cu").write_text(NEIGHBOURS)
    support.compile_by_nvcc(tmp_path / "neighbours.cu", tmp_path / "neighbours")
    alone = support.run(tmp_path / "neighbours")
    words = ("record", "--kernels", "sum", "--device", support.DEVICE, "-rdb", tmp_path / "db")
    done = mneme(*words, "--", tmp_path / "neighbours", MNEME_ALLOCATIONS="vendor")
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert "recorded 2 instances of 1 kernel" in done.stderr
    for record, record_id in support.launches(tmp_path / "db"):
        assert support.replay(record, record_id).result["result_class"] == "exact"
