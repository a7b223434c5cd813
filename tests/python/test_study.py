"""`mneme study`: what a shared study holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from native_parts import needs_native

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"

pytestmark = [pytest.mark.compile, needs_native]


def mneme(*line: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mneme", *map(str, line)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **variables},
    )


@pytest.fixture(scope="module")
def storages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a journal and a database, each with a study that two processes share."""
    folder = tmp_path_factory.mktemp("studies")
    mneme("record", "-rdb", folder / "recording", "--device", "cpu", "--", PROGRAM, "4096")
    for storage in (folder / "study.journal", f"sqlite:///{folder}/study.db"):
        for job, trials in (("one", "4"), ("two", "8")):
            line = ["--trials", trials, "--device", "cpu", "--no-knowledge", "--seed", "1"]
            results = folder / f"{job}-{Path(str(storage)).name}"
            shared = ["--optuna-storage", storage, "--study-name", "ours", "--results-dir", results]
            done = mneme("tune", "-rdb", folder / "recording", *line, *shared)
            assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", ["study.journal", "sqlite:///{}/study.db"])
def test_trials_of_all_processes_are_counted(storages: Path, name: str) -> None:
    place = name.format(storages) if "://" in name else str(storages / name)
    done = mneme("study", place, "--json")
    assert done.returncode == 0, done.stderr
    (study,) = json.loads(done.stdout)
    assert (study["name"], study["trials"], study["running"]) == ("ours", 8, 0)
    assert [one["finished"] for one in study["processes"]] == [4, 4]
    assert {one["host"] for one in study["processes"]} == {os.uname().nodename}
    rows = [
        json.loads(line)
        for path in storages.glob(f"*-{Path(place).name}/trials.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert study["failed"] == sum(row["status"] != "verified" for row in rows)
    fastest = min(row["metric"] for row in rows if row["status"] == "verified")
    assert study["best_ns"] == fastest
    assert study["passes"] in {row["config"]["passes"] for row in rows}
    shown = mneme("study", MNEME_STUDY_STORAGE=place).stdout
    assert "ours" in shown
    assert study["passes"] in shown


def test_what_is_not_there_is_named(storages: Path) -> None:
    done = mneme("study", storages / "nothing")
    assert (done.returncode, done.stdout) == (4, "")
    assert f"there is no study storage '{storages / 'nothing'}'" in done.stderr
    assert not (storages / "nothing").exists()
    done = mneme("study", storages / "study.journal", "--study-name", "theirs")
    assert done.returncode == 4
    assert "there is no study 'theirs' in this storage; it holds ours" in done.stderr


def test_passwords_are_not_shown() -> None:
    done = mneme("study", "postgresql://me:hush4711@127.0.0.1:1/study")
    assert done.returncode != 0
    assert "4711" not in done.stderr + done.stdout
