"""A program's descriptors, limits and signals are its own, recorded and with tuned kernels."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Finished, mneme, run_command
from test_killed import replay_everything
from tuned_runs import TRACE, counts, kernels_of, warnings, write_tuned

GAMES = {
    "a daemon's loop": "launch close-loop open launch launch launch check",
    "everything between launches": (
        "launch close-from=3 open launch close-from=3 launch open launch check"
    ),
    "before the first call": "close-from=3 launch open=5 launch check",
    "a thread that closes": "closer launch launch launch launch",
    "stderr is a file": "launch error-file launch",
    "stderr is moved": "launch error-moved launch",
    "stderr is /dev/null": "error-null launch launch",
    "stderr is closed": "launch error-closed open=3 launch check",
    "everything is closed": "launch close-from=0 open=5 launch launch check",
    "stderr is closed at first": "error-closed close-from=3 open=3 launch launch check",
    "few files": "files=64 launch exhaust launch open=20 check",
    "very few files": "files=16 exhaust launch launch open=5 check exhaust",
    "all files": "launch exhaust launch exhaust",
}
SIZES = {
    "no file at all": "launch count-signals file-size=1 launch launch",
    "one page": "launch count-signals file-size=4096 launch launch",
    "small files": "launch count-signals file-size=65536 launch launch",
    "by default": "launch file-size=4096 launch launch",
}
# Where launches do not wait for their code, a busy machine has it by then.
SECONDS_BEHIND = 3
TUNED = {
    "at once": {},
    "behind": {"PROTEUS_ASYNC_COMPILATION": "1"},
    "behind, waited for": {"PROTEUS_ASYNC_COMPILATION": "1", "PROTEUS_ASYNC_TEST_BLOCKING": "1"},
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("program") / "descriptors"
    flags = {key: mneme("config", key).stdout.split() for key in ("cxx", "cflags", "ldflags")}
    built = run_command(
        *flags["cxx"], "-O1", "-pthread", "--offload-arch=sm_90", *flags["cflags"],
        ROOT / "tests" / "apps" / "gpu_record" / "descriptors.cu", "-o", target,
        *flags["ldflags"], "-lcudart",
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return target


def own_files(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text().replace(str(directory), "") for path in directory.iterdir()}


def compare(program: Path, steps: str, directory: Path, *how: str | Path, **env: str) -> Finished:
    """Run the steps alone and as `how` says; what is printed and written must be the same."""
    alone, other = directory / "alone", directory / "other"
    alone.mkdir(exist_ok=True)
    other.mkdir(exist_ok=True)
    plain = mneme("run", "--device", "cpu", "--", program, alone, *steps.split())
    done = mneme(*how, "--device", "cpu", "--", program, other, *steps.split(), **env)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    assert own_files(other) == own_files(alone)
    assert own_files(alone).get("own-error", "") == ""
    return done


@pytest.mark.parametrize("game", GAMES)
def test_recording_takes_and_loses_no_descriptor(game: str, program: Path, tmp_path: Path) -> None:
    steps = GAMES[game]
    done = compare(program, steps, tmp_path, "record", "-rdb", tmp_path / "db", "-mr", "10")
    launches = steps.count("launch")
    assert replay_everything(tmp_path / "db") == launches
    summary = f"recorded {launches} instances of 1 kernel ({launches} launches)"
    # Closed with all others, the second stderr is gone; a file of the program is never written to.
    assert summary in done.stderr or "closed at first" in game or "everything is" in game


def test_a_daemon_is_left_alone(program: Path, tmp_path: Path) -> None:
    steps = "daemon launch launch open=4 check"
    done = compare(program, steps, tmp_path, "record", "-rdb", tmp_path / "db")
    assert "launch 2" in done.stdout


@pytest.mark.parametrize("size", SIZES)
def test_a_limit_on_files_costs_recordings_only(size: str, program: Path, tmp_path: Path) -> None:
    done = compare(program, SIZES[size], tmp_path, "record", "-rdb", tmp_path / "db", "-mr", "10")
    assert "signals: 0 0" in done.stdout
    assert re.search(r"lost \d instances?\n", done.stderr)
    assert "File too large" in done.stderr
    assert "launch 3" in done.stdout


# A thread that begins when there is no memory left ends the program: glibc registers what it destroys
# at its end. On a busy machine the recorder's begin half a second after the first launch.
@pytest.mark.parametrize(
    "steps",
    ["small launch sleep-ms=1000 memory=1 launch launch", "launch sleep-ms=1000 memory=1 launch"],
)
def test_a_limit_on_memory_costs_recordings_only(steps: str, program: Path, tmp_path: Path) -> None:
    done = compare(program, steps, tmp_path, "record", "-rdb", tmp_path / "db", "-mr", "10")
    assert "launch 2" in done.stdout


@pytest.mark.parametrize("mode", TUNED)
@pytest.mark.parametrize(
    "steps",
    [
        "launch close-loop open launch launch compile launch check",
        "closer launch launch launch compile launch",
        "close-from=3 launch open=5 compile launch check",
        "launch error-file launch compile launch",
        "files=16 launch exhaust compile launch exhaust open=5 check",
        "count-signals launch file-size=4096 launch compile launch",
    ],
)
def test_tuned_kernels_take_and_lose_no_descriptor(
    steps: str, mode: str, program: Path, tmp_path: Path
) -> None:
    seconds = SECONDS_BEHIND if mode == "behind" else 0
    steps = steps.replace("compile", f"sleep-ms={1000 * seconds}")
    done = compare(program, steps, tmp_path, "run", **tuned(program, tmp_path), **TUNED[mode])
    said = warnings(done.stderr)
    if "file-size" in steps:
        # What is still being compiled when the limit comes cannot be stored.
        said = [one for one in said if "File too large" not in one]
    assert said == []
    found = counts(done.stderr)
    assert (found.tuned > 0, found.failed) == (True, 0), done.stderr


def tuned(program: Path, directory: Path) -> dict[str, str]:
    return {
        "PROTEUS_TUNED_KERNELS": str(write_tuned(directory / "t.json", kernels_of([program]))),
        "PROTEUS_CACHE_DIR": str(directory / "cache"),
        "PROTEUS_TRACE_OUTPUT": TRACE,
    }


def test_what_is_too_large_to_be_written_is_said_once(program: Path, tmp_path: Path) -> None:
    environment = {**tuned(program, tmp_path), "PROTEUS_ASYNC_COMPILATION": "1"}
    steps = "count-signals launch sleep-ms=1 file-size=300 launch sleep-ms=500 launch launch"
    done = compare(program, steps, tmp_path, "run", **environment)
    assert "signals: 0 0" in done.stdout
    said = warnings(done.stderr)
    assert len(said) == len(set(said)) <= 2  # neither kept in the cache nor in memory
    assert all("File too large" in line for line in said)


@pytest.mark.parametrize("counted", ["", "count-signals"])
@pytest.mark.parametrize("mode", ["record", "run"])
def test_nobody_reads_stderr(mode: str, counted: str, program: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    read, write = os.pipe()
    os.close(read)
    store = ["-rdb", str(tmp_path / "db")] if mode == "record" else []
    environment = {**os.environ, **(tuned(program, tmp_path) if mode == "run" else {})}
    command = [sys.executable, "-m", "mneme", mode, *store, "--device", "cpu", "--"]
    command += [str(program), str(tmp_path / "own"), *f"{counted} launch launch".split()]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=write, text=True, check=False, env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL),
    )  # fmt: skip
    os.close(write)
    assert done.returncode == 0
    assert done.stdout.endswith("signals: 0 0\n")
    assert mode == "run" or replay_everything(tmp_path / "db") == 2


@pytest.mark.parametrize("limit", [16, 64, 1024, 0], ids=["16", "64", "1024", "highest"])
def test_limits_that_were_there_before(limit: int, program: Path, tmp_path: Path) -> None:
    limit = limit or resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    steps = ["launch", "exhaust", "launch", "open=5", "check"]
    (tmp_path / "own").mkdir()

    def run_limited(*how: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mneme", *how, "--device", "cpu", "--", str(program)]
        return subprocess.run(
            [*command, str(tmp_path / "own"), *steps],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
        )

    plain, done = run_limited("run"), run_limited("record", "-rdb", str(tmp_path / "db"))
    assert done.stdout == plain.stdout, done.stderr
    assert "recorded 2 instances" in done.stderr
    assert replay_everything(tmp_path / "db") == 2
