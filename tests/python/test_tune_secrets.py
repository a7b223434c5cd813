"""A real `mneme tune` with a database that wants a password, which is then nowhere."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from native_parts import needs_native
from test_tune_processes import arguments, postgresql
from tune_parts import line_of, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, pytest.mark.slow, needs_native]

PASSWORD = "hush-4711"


def run(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line_of(*words),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def holders(directory: Path) -> list[str]:
    """Files that have the password in their content or their name."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return [str(one) for one in files if PASSWORD in f"{one}{one.read_text(errors='replace')}"]


def test_a_password_is_used_and_never_written(recording: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    again = ("tune", "--resume", "--results-dir", results, "--trials")
    with postgresql(PASSWORD) as url:
        full = url.replace("tuner@", f"tuner:{PASSWORD}@")
        first = arguments(recording, results, "--optuna-storage", full, "--trials", "3")
        shown = run("-v", "debug", *first, "--dump-config", tmp_path / "dumped.json")
        runs = [shown, run("-v", "debug", *first)]
        assert [one.returncode for one in runs] == [0, 0], runs[1].stderr
        assert url in (results / "config.json").read_text()
        # Without the password it does not go on, which shows that it was needed.
        refused = run("-v", "debug", *again, "4")
        assert refused.returncode == 8, refused.stderr
        assert "password" in refused.stderr
        by_url = run(*again, "4", MNEME_STUDY_STORAGE=full)
        by_library = run(*again, "5", PGPASSWORD=PASSWORD)
        reported = run("report", results, "-o", tmp_path / "report.html")
    for done in (by_url, by_library, reported):
        assert done.returncode == 0, done.stderr
    for done in (*runs, refused, by_url, by_library, reported):
        assert PASSWORD not in done.stdout + done.stderr
    assert holders(tmp_path) == []
    for name in ("dumped.json", "results/config.json"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_a_server_that_is_not_there_is_named_without_the_password(
    recording: Path, tmp_path: Path
) -> None:
    url = f"postgresql://me:{PASSWORD}@127.0.0.1:1/nothing"
    done = run(
        "-v", "debug", *arguments(recording, tmp_path, "--trials", "3"), MNEME_STUDY_STORAGE=url
    )
    assert done.returncode == 8, done.stderr
    assert "the study storage 'postgresql://me@127.0.0.1:1/nothing' failed" in done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert holders(tmp_path) == []
