"""Marked code under load and bad luck: many threads, a compiler that is killed, a cache that is meddled with."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import BUILD, run_command

SOURCE = Path(__file__).resolve().parents[1] / "apps" / "jit" / "stress.cu"
KILLS = int(os.environ.get("MNEME_TEST_KILLS", "30"))
"""That a compiler process is killed, at the least."""

pytestmark = [
    pytest.mark.compile,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (BUILD / "tests" / "apps" / "api" / "driver").is_file(), reason="no CUDA toolkit"
    ),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("stress") / "stress"
    done = run_command(
        BUILD / "bin" / "mneme-cxx", "-O2", "-x", "cuda", "--offload-arch=sm_90", SOURCE,
        "-o", target, "-lcudart", "-pthread",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return target


class Running:
    """The program on the CPU device, round by round."""

    def __init__(self, program: Path, cache: Path, *arguments: int, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", program]
            + [str(argument) for argument in arguments],
            env={**os.environ, "PROTEUS_CACHE_DIR": str(cache), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.round = 0

    def play(self) -> None:
        """One round, whose results must be right."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == f"round {self.round} right\n"
        self.round += 1

    def end(self) -> list[str]:
        """What it has said on stderr, line by line, each of them once and one of ours."""
        output, errors = self.process.communicate(timeout=300)
        assert self.process.returncode == 0, errors
        assert "WRONG" not in output
        said = errors.splitlines()
        assert len(set(said)) == len(said)
        assert [line for line in said if not line.startswith("mneme: ")] == []
        return said


def test_sixteen_threads_compile_each_specialization_once(program: Path, tmp_path: Path) -> None:
    for hits in (0, 100):
        running = Running(
            program, tmp_path / "cache", 16, 10000, 100, PROTEUS_TRACE_OUTPUT="cache-stats"
        )
        output, errors = running.process.communicate(timeout=600)
        assert (running.process.returncode, errors) == (0, "")
        assert output.startswith("round 0 right\n")
        for engine in ("Host", "Device"):
            begin = f"[proteus][JitEngine{engine}]"
            assert f"{begin} MemoryCache rank 0 hits 159901 accesses 160001\n" in output
            assert f"{begin} StorageCache rank 0 hits {hits} accesses 100\n" in output
    assert len(list((tmp_path / "cache").iterdir())) == 200


def test_processes_on_one_cold_cache_compile_once_and_are_right(
    program: Path, tmp_path: Path
) -> None:
    both = [Running(program, tmp_path / "cache", 4, 200, 20) for _ in range(2)]
    for running in both:
        assert running.end() == []
    assert len(list((tmp_path / "cache").iterdir())) == 40


def processes_of(program: Path) -> Iterator[int]:
    """Compiler processes that are called so."""
    for directory in Path("/proc").iterdir():
        try:
            if (directory / "cmdline").read_bytes().startswith(bytes(program) + b"\0"):
                yield int(directory.name)
        except (OSError, ValueError):
            continue


class Killer(threading.Thread):
    """Kills compiler processes at any time, until told to stop."""

    def __init__(self, compiler: Path, signals: list[signal.Signals]) -> None:
        super().__init__()
        self.compiler, self.signals = compiler, signals
        self.killed = 0
        self.over = threading.Event()
        self.random = random.Random(7)

    def run(self) -> None:
        while not self.over.wait(self.random.uniform(0, 0.2)):
            for process in processes_of(self.compiler):
                try:
                    os.kill(process, self.random.choice(self.signals))
                except ProcessLookupError:
                    continue
                self.killed += 1


@pytest.mark.parametrize("way", ["at once", "behind"])
def test_a_compiler_that_is_killed_costs_no_result(program: Path, tmp_path: Path, way: str) -> None:
    compiler = tmp_path / "compiler"
    compiler.symlink_to(BUILD / "bin" / "mneme-jit-compile")
    environment = {"MNEME_COMPILE_PROGRAM": str(compiler)}
    if way == "behind":
        environment |= {"PROTEUS_ASYNC_COMPILATION": "1", "PROTEUS_ASYNC_THREADS": "3"}
    running = Running(program, tmp_path / "cache", 4, 60, 20, 1_000_000, **environment)
    killer = Killer(compiler, [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
    killer.start()
    limit = time.monotonic() + 10 * KILLS
    try:
        while killer.killed < KILLS and time.monotonic() < limit:
            running.play()
    finally:
        killer.over.set()
        killer.join()
    assert killer.killed >= KILLS
    running.play()  # now in peace
    running.process.kill()
    _, errors = running.process.communicate()
    said = errors.splitlines()
    assert len(set(said)) == len(said)
    ways = (
        r"died of signal \d+ \(\w+( \w+)?\)|ended without an answer|died while it compiled kernel"
    )
    assert [line for line in said if not re.search(ways, line)] == []
    print(f"{killer.killed} kills in {running.round} rounds, {len(said)} lines", *said, sep="\n")
    limit = time.monotonic() + 20
    while list(processes_of(compiler)) and time.monotonic() < limit:
        time.sleep(0.01)
    assert list(processes_of(compiler)) == []


def delete(cache: Path) -> None:
    shutil.rmtree(cache)


def truncate(cache: Path) -> None:
    for file in cache.iterdir():
        os.truncate(file, file.stat().st_size // 2)


def fill(cache: Path) -> None:
    for file in cache.iterdir():
        file.write_bytes(b"\1" * 5000)
    for number in range(300):
        (cache / f"{number:032x}.mnemec").write_bytes(b"x" * 1000)


def become_a_file(cache: Path) -> None:
    shutil.rmtree(cache)
    cache.write_text("no directory")


def become_foreign(cache: Path) -> None:
    os.chown(cache, 12345, 12345)


def become_open(cache: Path) -> None:
    cache.chmod(0o777)


def become_read_only(cache: Path) -> None:
    cache.chmod(0o500)


AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="gives a directory away")
AS_USER = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


@pytest.mark.parametrize(
    ("meddle", "said"),
    [
        (delete, ""),
        (truncate, ""),
        (fill, ""),
        (become_a_file, "is not used"),
        pytest.param(become_foreign, "is not used", marks=AS_ROOT),
        (become_open, "is not used"),
        pytest.param(become_read_only, "is not kept|is not used", marks=AS_USER),
    ],
)
def test_a_cache_that_changes_during_a_run_costs_no_result(
    program: Path, tmp_path: Path, meddle: Callable[[Path], None], said: str
) -> None:
    cache = tmp_path / "cache"
    running = Running(program, cache, 2, 20, 3, 4)
    running.play()
    meddle(cache)
    running.play()
    running.play()
    running.play()
    lines = running.end()
    assert len(lines) == (1 if said else 0)
    assert [line for line in lines if not re.search(said, line)] == []
