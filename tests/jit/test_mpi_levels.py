"""Ranks of an MPI job share compiled code: one compiles, the others find it, and each says so."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from programs import build

from mneme.install import paths as _paths

LIBRARIES = Path(_paths.config()["libdir"])
SOURCE = Path(__file__).parent / "mpi" / "ranks.cpp"
COMPILER = shutil.which("mpicc.mpich") or shutil.which("mpicc")
LAUNCHER = shutil.which("mpiexec.mpich") or shutil.which("mpiexec")
# Each rank writes its output into files of its own, since a launcher mixes them.
WRAPPED = 'exec "$@" >"$OUT/out.$PMI_RANK" 2>"$OUT/err.$PMI_RANK"'
HASHES = 5
SUMS = {1: 62, 4: 5694}

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(not (COMPILER and LAUNCHER), reason="no MPI"),
    pytest.mark.skipif(
        not (LIBRARIES / "libmneme_jit_mpi_mpich.so").is_file(),
        reason="mneme is built without MPICH's headers",
    ),
]


@dataclass(frozen=True)
class Job:
    code: int
    ranks: list[str]
    """Standard output of each."""
    errors: list[str]

    def lines(self, pattern: str) -> list[str]:
        return [
            line for text in self.ranks for line in text.splitlines() if re.search(pattern, line)
        ]


Start = Callable[..., Job]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shown = subprocess.run([str(COMPILER), "-show"], capture_output=True, text=True, check=True)
    words = [word for word in shlex.split(shown.stdout) if word[:2] in ("-I", "-L", "-l")]
    target = tmp_path_factory.mktemp("mpi") / "ranks"
    return build(SOURCE, target, "-O1", "-Wl,--no-as-needed", *words)


@pytest.fixture
def start(program: Path, tmp_path: Path) -> Start:
    """Run a job of so many ranks with a chain of caches."""

    def run(count: int, chain: str, *arguments: str, **variables: str) -> Job:
        command = [LAUNCHER, "-n", count, "sh", "-c", WRAPPED, "sh", program, *arguments]
        for old in tmp_path.glob("*.[0-9]"):
            old.unlink()
        done = subprocess.run(
            [*map(str, command)], capture_output=True, text=True, timeout=300, check=False,
            env={
                **os.environ,
                "OUT": str(tmp_path),
                "PROTEUS_CACHE_DIR": str(tmp_path / "cache"),
                "PROTEUS_OBJECT_CACHE_CHAIN": chain,
                "PROTEUS_TRACE_OUTPUT": "specialization;cache-stats",
                **variables,
            },
        )  # fmt: skip
        texts = [
            [(tmp_path / f"{kind}.{rank}").read_text() for rank in range(count)]
            for kind in ("out", "err")
        ]
        return Job(done.returncode, *texts)

    return run


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("level", ["Local", "Remote"])
def test_one_rank_compiles_and_none_twice(
    start: Start, tmp_path: Path, level: str, count: int
) -> None:
    given = f"MPI-{level.lower()}-lookup"
    cold = start(count, given)
    files = contents(tmp_path / "cache")
    warm = start(count, given)
    for job in (cold, warm):
        assert (job.code, job.errors) == (0, [""] * count)
        assert len(job.lines(rf"^rank \d sum \d+ of {SUMS[count]}$")) == count
        assert job.lines("Added") == [f"[ObjectCacheChain] Added cache level: {given}"] * count
        chain = f"[ObjectCacheChain] Chain for JitEngineHost: MPI{level}Lookup"
        assert job.lines("Chain for") == [chain] * count
    assert len(cold.lines(r"^\[ArgSpec\]")) == HASHES
    assert len(cold.lines(f"Hit at level 0 .MPI{level}Lookup. for hash")) == (count - 1) * HASHES
    assert len(files) == HASHES
    assert all(re.fullmatch(r"cache-jit-\d+\.so", name) for name in files)
    assert warm.lines(r"^\[ArgSpec\]") == []
    for rank, text in enumerate(warm.ranks):
        assert text.endswith(
            f"[proteus][JitEngineHost] ObjectCacheChain rank {rank} with 1 level(s):\n"
            f"[proteus][JitEngineHost] MPI{level}Lookup rank {rank}/{count} "
            f"hits {HASHES} accesses {HASHES}\n"
        )
    assert contents(tmp_path / "cache") == files


def test_directories_of_other_nodes_are_not_needed(start: Start, tmp_path: Path) -> None:
    own = 'PROTEUS_CACHE_DIR="$OUT/node$PMI_RANK" '
    jobs = []
    for _ in range(2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(globals(), "WRAPPED", own + WRAPPED)
            jobs.append(start(4, "mpi-remote-lookup"))
    assert [job.code for job in jobs] == [0, 0]
    assert jobs[1].lines(r"^\[ArgSpec\]") == []
    assert len(contents(tmp_path / "node0")) == HASHES
    assert all(contents(tmp_path / f"node{rank}") == {} for rank in (1, 2, 3))


def test_shared_code_fills_the_files_of_each_rank(start: Start, tmp_path: Path) -> None:
    cold = start(4, "storage,mpi-local-lookup")
    assert cold.code == 0
    assert len(cold.lines(r"^\[ArgSpec\]")) == HASHES
    assert (
        cold.lines("Chain for")
        == ["[ObjectCacheChain] Chain for JitEngineHost: Storage -> MPILocalLookup"] * 4
    )
    names = list(contents(tmp_path / "cache"))
    assert len(names) == 5 * HASHES
    warm = start(4, "storage,mpi-local-lookup")
    assert len(warm.lines(rf"StorageCache rank \d hits {HASHES} accesses {HASHES}$")) == 4
    assert len(warm.lines(r"MPILocalLookup rank \d/4 hits 0 accesses 0$")) == 4


def test_ranks_that_compile_nothing_hold_up_nobody(start: Start) -> None:
    job = start(4, "mpi-local-lookup", "3", "0", "2")
    assert (job.code, job.errors) == (0, [""] * 4)
    assert len(job.lines(r"^\[ArgSpec\]")) == HASHES


def test_damaged_code_is_compiled_again(start: Start, tmp_path: Path) -> None:
    assert start(2, "mpi-local-lookup").code == 0
    sound = contents(tmp_path / "cache")
    victim = tmp_path / "cache" / min(sound)
    victim.write_bytes(sound[victim.name][:-1])
    job = start(2, "mpi-local-lookup")
    assert len(job.lines(r"^\[ArgSpec\]")) == 1
    assert start(2, "mpi-local-lookup").lines(r"^\[ArgSpec\]") == []


@pytest.mark.parametrize("level", ["0", "1", "2"])
def test_threads_of_mpi_have_to_be_many(start: Start, level: str) -> None:
    job = start(1, "mpi-local-lookup", level)
    assert job.code != 0
    assert job.errors[0].startswith("[proteus][FATAL ERROR] ")
    assert "MPI_THREAD_MULTIPLE" in job.errors[0]


def test_without_the_component_the_program_ends(program: Path, tmp_path: Path) -> None:
    libraries = tmp_path / "lib"
    shutil.copytree(
        LIBRARIES, libraries,
        ignore=lambda _, names: [name for name in names if not name.startswith("libmneme")
                                 or "mpi" in name or "compile" in name],
    )  # fmt: skip
    for level, name in (("local", "MPILocalLookup"), ("remote", "MPIRemoteLookup")):
        done = subprocess.run(
            [str(program)], capture_output=True, text=True, check=False,
            env={
                **os.environ,
                "LD_LIBRARY_PATH": str(libraries),
                "PROTEUS_CACHE_DIR": str(tmp_path / "cache"),
                "PROTEUS_OBJECT_CACHE_CHAIN": f"mpi-{level}-lookup",
            },
        )  # fmt: skip
        assert done.returncode == -6
        reason = f" => {name}Cache requested but Proteus built without MPI"
        assert done.stderr.splitlines()[0].endswith(reason)
