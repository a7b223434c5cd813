"""The blocks of docs/clusters.md that need a batch system, with less to do and fewer processors."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster_parts import CPU, PROGRAM, mneme, mpi, wait_for_client
from mneme.session.result_store import read_trials
from native_parts import needs_native
from slurm_node import slurm_node, wait_for_jobs, why_not

pytestmark = [pytest.mark.compile, needs_native]

PAGE = Path(__file__).parents[2] / "docs" / "clusters.md"
# What one machine without a GPU has, instead of what the page asks for.
SMALLER = {
    "--nodes=2": "--nodes=1",
    "--ntasks-per-node=4": "--ntasks-per-node=1",
    "--ntasks=9": "--ntasks=2",
    " --gpus-per-task=1": "",
    " --gpus-per-node=4": "",
    " --cpus-per-task=8": "",
    "--nthreads 8": "--nthreads 1",
    "--trials 400": "--trials 4",
    "--trials 60": "--trials 4",
    "jobs=2": "jobs=1 --cluster memory=200MB --cluster cores=1",
}


def block(words: str) -> str:
    """Return the block of the page with these words, made smaller."""
    found = re.findall(r"```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (text,) = [one for one in found if words in one]
    for old, new in SMALLER.items():
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    if importlib.util.find_spec("dask_jobqueue") is None:
        pytest.skip("dask-jobqueue is not installed")
    if missing := why_not():
        pytest.skip(missing)
    with slurm_node(tmp_path_factory.mktemp("slurm")) as environment:
        programs = f"{Path(sys.executable).parent}:{environment['PATH']}"
        yield {**environment, "PATH": programs, "MNEME_DEVICE": "cpu"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with `recording` and a `mneme` that is this one."""
    done = mneme("record", "-rdb", tmp_path / "recording", *CPU, "--", PROGRAM, "4096")
    assert done.returncode == 0, done.stderr
    (tmp_path / "bin").mkdir()
    for name in ("mneme", "dask"):
        script = tmp_path / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {name} "$@"\n')
        script.chmod(0o755)
    return tmp_path


def run(folder: Path, environment: dict[str, str], *line: str) -> str:
    """Run a program to its end; return what it said."""
    path = f"{folder / 'bin'}:{environment['PATH']}"
    done = subprocess.run(
        line,
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
        cwd=folder,
        env={**environment, "PATH": path},
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def said_by_jobs(folder: Path) -> str:
    return "".join(one.read_text(errors="replace") for one in folder.glob("slurm-*.out"))


def test_jobs_that_mneme_submits(folder: Path, slurm: dict[str, str]) -> None:
    said = run(folder, slurm, "bash", "-c", block("--on slurm --cluster jobs="))
    assert "#SBATCH -t 00:10:00" in said
    assert len(read_trials(next((folder / "mneme-tune-results").iterdir()))) == 4


def test_a_job_with_a_dask_cluster(folder: Path, slurm: dict[str, str]) -> None:
    (folder / "tune.sbatch").write_text(block("dask scheduler --port 0"))
    run(folder, slurm, "sbatch", "tune.sbatch")
    wait_for_jobs(slurm)
    # This Slurm, without control groups, leaves the job's scheduler running.
    with contextlib.suppress(OSError), wait_for_client(folder / "scheduler.json") as one:
        one.shutdown()
    said = said_by_jobs(folder)
    assert "mneme: 4 trials" in said, said


def test_a_job_with_ranks_of_mpi(
    folder: Path, slurm: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = str(mpi(folder, 2)["LD_LIBRARY_PATH"])
    (folder / "tune-mpi.sbatch").write_text(block("srun mneme tune"))
    # The MPI of this machine, and not the one that a site has made the usual one.
    environment = {**slurm, "LD_LIBRARY_PATH": library, "SLURM_MPI_TYPE": "pmi2"}
    run(folder, environment, "sbatch", "tune-mpi.sbatch")
    wait_for_jobs(slurm)
    said = said_by_jobs(folder)
    assert "mneme: 4 trials" in said, said


def test_a_file_of_options_names_jobs(folder: Path, slurm: dict[str, str]) -> None:
    text = block("cluster:\n  jobs: 4")
    # What this cluster does not have.
    kept = [line for line in text.splitlines() if not re.search("queue|account|job_", line)]
    assert len(kept) == len(text.splitlines()) - 4
    text = "\n".join([*kept, "  memory: 200MB"])
    for old, new in {"jobs: 4": "jobs: 1", "cores: 16": "cores: 1", "02:00:00": "00:05:00"}.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "options.yaml").write_text(text)
    said = run(
        folder, slurm, "mneme", "tune", "recording", "--config", "options.yaml", "--trials", "4"
    )
    assert "#SBATCH -t 00:05:00" in said
    assert "mneme: 4 trials" in said
