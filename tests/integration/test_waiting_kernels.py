"""Kernels that wait for what the program does next: recorded, the program goes on as it does alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, instances, mneme, records, run_command

SOURCES = ROOT / "tests" / "apps" / "gpu_record"
FLAVOURS = ["cu", pytest.param("hip", marks=pytest.mark.hip)]
WAYS = ["copy", "fill", "managed", "pinned", "other-stream", "cooperative", "freed", "by-handle"]
GIVEN_UP = "kernel 'waitFor(int*, int, int*)' was not recorded: after 1 s it had not ended"


@pytest.fixture(scope="module", params=FLAVOURS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program in both flavours."""
    flavour = request.param
    if flavour == "hip" and not Path("/usr/include/hip/hip_runtime.h").is_file():
        pytest.skip("no HIP headers: install libamdhip64-dev and rocm-device-libs")
    target = {"cu": "--offload-arch=sm_90", "hip": "--offload-arch=gfx90a"}[flavour]
    libraries = {
        "cu": ("-lcudart", "-L", BUILD / "lib", "-lmneme_cuda_driver"),
        "hip": ("-lamdhip64",),
    }[flavour]
    built = tmp_path_factory.mktemp(flavour) / "waiting"
    source = SOURCES / f"waiting.{flavour}"
    done = run_command(
        BUILD / "bin" / "mneme-cxx", "-O2", "-std=c++20", target, source, "-o", built, *libraries, "-pthread"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return built


def record(program: Path, way: str, directory: Path, *options: str) -> str:
    """Record the program, which has to do what it does alone; return what was said."""
    plain = mneme("run", "--device", "cpu", "--", program, way)
    place = ("record", "-rdb", directory, "-mr", "20", "--device", "cpu", *options)
    done = mneme(*place, "--", program, way)
    assert plain.returncode == 0, plain.stdout + plain.stderr
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    return str(done.stderr)


def replayed(directory: Path) -> dict[str, int]:
    """Replay all there is, which has to be exact; return how many launches there are of each kernel."""
    counts: dict[str, int] = {}
    for path in records(directory):
        name = json.loads(path.read_text())["DemangledName"].partition("(")[0]
        for launch in instances(path):
            place = ("-rdb", path, "-rid", launch, "--device", "cpu", "-it", "1", "--warmup", "0")
            done = mneme("replay", *place, "default<O2>")
            assert done.result["result_class"] == "exact", done.stderr
            counts[name] = counts.get(name, 0) + 1
    return counts


@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_that_waits_for_the_program_is_given_up(
    program: Path, way: str, tmp_path: Path
) -> None:
    said = record(program, way, tmp_path, "--kernel-patience", "1")
    assert said.count(GIVEN_UP) == 1
    assert "--kernels leaves it out" in said
    assert replayed(tmp_path) == {"scale": 2}


def test_a_launch_behind_a_kernel_that_waits_is_made_unrecorded(
    program: Path, tmp_path: Path
) -> None:
    options = ("--kernel-patience", "1", "--kernels", "^(?!.*Unseen)")
    said = record(program, "earlier", tmp_path, *options)
    assert "what the device had begun before had not ended" in said
    assert replayed(tmp_path) == {"scale": 2}


def test_a_program_ends_although_a_kernel_waits_for_it(program: Path, tmp_path: Path) -> None:
    said = record(program, "leave", tmp_path, "--kernel-patience", "1")
    assert GIVEN_UP in said
    assert replayed(tmp_path) == {"scale": 1}
