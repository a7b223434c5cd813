"""A program's descriptors, limits and signals on the GPU, recorded and with tuned kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD, launches, on_gpus, tuned_runs

PROGRAM = BUILD / "tests" / "apps" / "gpu_record" / "descriptors"
GAMES = on_gpus(
    (
        "launch error-file launch",
        "launch error-moved open-some=5 launch check",
        "launch error-closed open-some=3 launch check",
        "close-from=3 launch open-some=20 launch check",
        "files=64 launch launch open-some=20 launch check",
        "launch count-signals file-size=65536 launch launch",
        "daemon launch open-some=5 launch check",
    )
)


def own_files(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text().replace(str(directory), "") for path in directory.iterdir()}


def run_alone(steps: str, directory: Path) -> tuple[str, dict[str, str]]:
    own = directory / "alone"
    own.mkdir()
    done = support.run(PROGRAM, str(own), *steps.split())
    assert done.returncode == 0, done.stderr
    return done.stdout, own_files(own)


@pytest.mark.parametrize("steps", GAMES)
def test_recording_leaves_them_alone(steps: str, tmp_path: Path) -> None:
    plain, files = run_alone(steps, tmp_path)
    own = tmp_path / "recorded"
    own.mkdir()
    done = support.record(tmp_path / "db", PROGRAM, str(own), *steps.split())
    assert (done.stdout, own_files(own)) == (plain, files), done.stderr
    for path, record_id in launches(tmp_path / "db"):
        replayed = support.replay(path, record_id, "default<O3>")
        assert replayed.returncode == 0, replayed.stderr


@pytest.mark.parametrize("is_async", ["0", "1"])
@pytest.mark.parametrize("steps", GAMES)
def test_tuned_kernels_leave_them_alone(steps: str, is_async: str, tmp_path: Path) -> None:
    plain, files = run_alone(steps, tmp_path)
    own = tmp_path / "tuned"
    own.mkdir()
    kernels = tuned_runs.kernels_of([PROGRAM])
    environment = {
        "PROTEUS_TUNED_KERNELS": str(tuned_runs.write_tuned(tmp_path / "tuned.json", kernels)),
        "PROTEUS_CACHE_DIR": str(tmp_path / "cache"),
        "PROTEUS_ASYNC_COMPILATION": is_async,
    }
    done = support.run(PROGRAM, str(own), *steps.split(), **environment)
    assert (done.stdout, own_files(own)) == (plain, files), done.stderr
    assert done.stderr == ""
