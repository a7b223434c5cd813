"""Kernels that wait for what the program does next: recorded, the program goes on as it does alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, Finished, mneme, replay_all, run_command

SOURCES = ROOT / "tests" / "apps" / "gpu_record"
STAND_IN = BUILD / "lib" / "stand_in" / "libamdhip64.so.6"
WAYS = ["copy", "fill", "managed", "pinned", "other-stream", "cooperative", "freed", "by-handle"]
# On a busy machine it is waited for longer: ten times the longest kernel.
GIVEN_UP = "kernel 'waitFor(int volatile*, int, int*)' was not recorded: after "


@dataclass(frozen=True)
class Target:
    """A program, and where it runs."""

    program: Path
    device: str
    environment: dict[str, str]

    def run(self, *arguments: str | Path) -> Finished:
        """Run mneme so that it finds the device."""
        return mneme(*arguments, timeout=120, **self.environment)


def build(flavour: str, folder: Path) -> Path:
    """Compile the program as CUDA or as HIP, as a Makefile would."""
    if flavour == "hip" and not Path("/usr/include/hip/hip_runtime.h").is_file():
        pytest.skip("no HIP headers: install libamdhip64-dev and rocm-device-libs")
    target = {"cu": "--offload-arch=sm_90", "hip": "--offload-arch=gfx90a"}[flavour]
    driver: tuple[str | Path, ...] = ("-lcudart", "-L", BUILD / "lib", "-lmneme_cuda_driver")
    libraries = {"cu": driver, "hip": ("-lamdhip64",)}[flavour]
    line = ("-O2", "-std=c++20", target, SOURCES / f"waiting.{flavour}", "-pthread")
    program = folder / "waiting"
    done = run_command(
        BUILD / "bin" / "mneme-cxx", *line, "-o", program, *libraries, MNEME_CARRY_IR="1"
    )
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(
    scope="module",
    params=[
        "cu",
        pytest.param("hip", marks=pytest.mark.hip),
        pytest.param("stand-in", marks=pytest.mark.hip),
    ],
)
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Target:
    """The program in both flavours on the CPU device, and under the stand-in for AMD's runtime."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param != "stand-in":
        return Target(build(request.param, folder), "cpu", {})
    if not STAND_IN.is_file():
        pytest.skip("the stand-in is built with the tests, on x86-64")
    environment = {
        "LD_LIBRARY_PATH": str(STAND_IN.parent),
        "MNEME_HIP_LIBRARY": str(STAND_IN),
        "MNEME_CARRY_IR": "1",
    }
    return Target(build("hip", folder), "hip:0", environment)


def record(target: Target, way: str, directory: Path, *options: str) -> str:
    """Record the program, which has to do what it does alone; return what was said."""
    device = ("--device", target.device)
    plain = target.run("run", *device, "--", target.program, way)
    place = ("record", "-rdb", directory, "-mr", "20", *device)
    done = target.run(*place, *options, "--", target.program, way)
    assert plain.returncode == 0, plain.stdout + plain.stderr
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    return str(done.stderr)


def replayed(target: Target, directory: Path) -> dict[str, int]:
    """Replay all there is, which has to be exact; return how many launches there are of each kernel."""
    found = replay_all(directory, device=target.device, **target.environment)
    assert {one.result_class for one in found} == {"exact"}, found
    return Counter(one.kernel for one in found)


@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_that_waits_for_the_program_is_given_up(
    target: Target, way: str, tmp_path: Path
) -> None:
    said = record(target, way, tmp_path, "--kernel-patience", "1")
    assert said.count(GIVEN_UP) == 1
    assert "--kernels leaves it out" in said
    assert replayed(target, tmp_path) == {"scale": 2}


def test_a_launch_behind_a_kernel_that_waits_is_made_unrecorded(
    target: Target, tmp_path: Path
) -> None:
    options = ("--kernel-patience", "1", "--kernels", "^(?!.*Unseen)")
    said = record(target, "earlier", tmp_path, *options)
    assert "earlier work on the device had not ended" in said
    # Under a vendor's runtime it may be known a moment too late that the device is idle again.
    assert replayed(target, tmp_path)["scale"] in ((2,) if target.device == "cpu" else (1, 2))


def test_a_program_ends_although_a_kernel_waits_for_it(target: Target, tmp_path: Path) -> None:
    said = record(target, "leave", tmp_path, "--kernel-patience", "1")
    assert GIVEN_UP in said
    assert replayed(target, tmp_path) == {"scale": 1}
