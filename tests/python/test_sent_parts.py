"""Launches are sent without memory to which no pointer leads, unless they reach it all the same."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cluster_parts import CPU, PROGRAM, dask_nodes, mneme
from mneme.measure.sent_part import pack_part
from mneme.measure.sent_recordings import find_sent, pack, remove_sent, send
from mneme.recording.directory import Recording
from native_parts import needs_native

pytestmark = [pytest.mark.compile, needs_native]

# A list leads from the argument to one block of 1 MiB. Of two blocks of 24 MiB of random words, no
# pointer leads to one; the address of the other is hidden, and one kernel computes it.
KERNELS = """
#include <cstdint>
#include <mneme/MnemeAnnotation.hpp>
struct Node { long value; unsigned* words; };
__global__ void fill(unsigned* p, unsigned seed) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i + seed;
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  p[i] = x ^ x >> 16;
}
__global__ void follow(Node* node, unsigned* out) {
  out[threadIdx.x] = node->words[threadIdx.x * 1000] + 1;
}
__global__ void annotated(Node* node, unsigned* out) {
  out[threadIdx.x] = node->words[threadIdx.x * 1000] + 1;
}
__global__ void compute(uintptr_t hidden, unsigned* out) {
  out[threadIdx.x] = reinterpret_cast<unsigned*>(~hidden)[threadIdx.x * 1000] + 1;
}
__global__ void change(uintptr_t hidden, unsigned* out) {
  out[threadIdx.x] = ++reinterpret_cast<unsigned*>(~hidden)[threadIdx.x * 1000];
}
int main() {
  unsigned *a, *b, *c, *out;
  Node* node;
  cudaMalloc(&a, 24 << 20);
  cudaMalloc(&b, 24 << 20);
  cudaMalloc(&c, 1 << 20);
  cudaMalloc(&node, sizeof(Node));
  cudaMalloc(&out, 4096);
  fill<<<24576, 256>>>(a, 1);
  fill<<<24576, 256>>>(b, 1 << 30);
  fill<<<1024, 256>>>(c, 1 << 29);
  Node one{7, c + 5};
  cudaMemcpy(node, &one, sizeof one, cudaMemcpyHostToDevice);
  follow<<<1, 64>>>(node, out);
  compute<<<1, 64>>>(~reinterpret_cast<uintptr_t>(b), out);
  change<<<1, 64>>>(~reinterpret_cast<uintptr_t>(b), out);
  mneme::annotate(out, {.threshold = 2.0, .tag = "result"});
  mneme::annotate(c + 64, 256, {.tag = "some words"});
  annotated<<<1, 64>>>(node, out);
  return cudaDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    (folder / "a.cu").write_text(KERNELS)
    compiler = PROGRAM.parents[1] / "bin" / "mneme-cxx"
    subprocess.run([compiler, "-O1", folder / "a.cu", "-o", folder / "app"], check=True)
    chosen = ("--kernels", "follow|compute|change|annotated")
    done = mneme("record", "-rdb", folder / "recording", *chosen, *CPU, "--", folder / "app")
    assert done.returncode == 0, done.stderr
    return folder / "recording"


def launch_of(recording: Path, kernel: str) -> tuple[Path, str]:
    (record,) = (one for one in Recording(recording).values() if kernel in one.kernel_name)
    (launch,) = record
    return record.path, launch


def replayed(package: Any, record: Path, launch: str) -> subprocess.CompletedProcess[str]:
    send(package, "parts", lambda function, *given: function(*given))
    try:
        sent = find_sent("parts", package.name, str(record))
        assert sent is not None
        return mneme("replay", "-rdb", sent, "-rid", launch, *CPU)
    finally:
        remove_sent("parts")


@pytest.mark.parametrize("kernel", ["follow", "annotated"])
def test_memory_to_which_no_pointer_leads_is_not_sent(recording: Path, kernel: str) -> None:
    from mneme import _native  # noqa: PLC0415 - tests may run without it

    record, launch = launch_of(recording, kernel)
    package, whole = pack_part(record, launch), pack(record, launch)
    assert package is not None
    assert package.name != whole.name
    assert whole.bytes > 49 << 20
    # The block to which the list leads goes.
    assert 1 << 20 < package.bytes < 2 << 20
    part = next(Path(package.directory).glob("*prologue*.part.*"))
    annotations = [one["annotation"] for one in _native.Snapshot(str(part)).regions()]
    tags = {one["tag"] for one in annotations if one}
    assert ("result" in tags) == (kernel == "annotated")
    done = replayed(package, record, launch)
    assert done.returncode == 0, done.stderr
    assert "exact" in done.stdout + done.stderr


def test_a_launch_that_computes_an_address_does_not_replay(recording: Path) -> None:
    record, launch = launch_of(recording, "compute")
    package = pack_part(record, launch)
    assert package is not None
    done = replayed(package, record, launch)
    assert done.returncode != 0
    assert "exact" not in done.stdout


def test_a_launch_that_changes_memory_without_a_pointer_is_sent_as_a_whole(recording: Path) -> None:
    assert pack_part(*launch_of(recording, "change")) is None


@pytest.mark.parametrize(("kernel", "is_whole"), [("follow", False), ("compute", True)])
def test_a_node_is_sent_all_memory_if_the_launch_does_not_replay_without(
    recording: Path, tmp_path: Path, kernel: str, *, is_whole: bool
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    hidden = f"mount -t tmpfs none {recording}; export TMPDIR='{scratch}'"
    with dask_nodes(tmp_path, {"node1": hidden}) as (on, _):
        done = mneme("replay", recording, kernel, "--on", on, *CPU, "--json")
        assert not list(scratch.glob("mneme-*"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("the launch is sent with all memory") == is_whole
    assert json.loads(done.stdout)["Result"]["verified"]
