"""A search on a cluster whose study is in a database that is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest

from cluster_parts import CPU, PROGRAM, address_of, dask_cluster, mneme
from mneme.search.study_trials import RESULT_ATTRIBUTE
from mneme.session.result_store import read_trials
from native_parts import needs_native
from postgresql_parts import Server, postgresql_server

pytestmark = [pytest.mark.compile, pytest.mark.slow, needs_native]

MORE = 10


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "recording"
    done = mneme("record", "-rdb", path, *CPU, "--", PROGRAM, "4096")
    assert done.returncode == 0, done.stderr
    return path


def known_to(server: Server) -> list[str]:
    """Return the configurations that have a result in the study, once for each trial."""
    url = server.url.replace("postgresql:", "postgresql+psycopg:")
    storage = optuna.storages.RDBStorage(url)
    study = optuna.load_study(study_name="mneme", storage=storage)
    told = [one.user_attrs.get(RESULT_ATTRIBUTE) for one in study.trials]
    storage.engine.dispose()
    return [str(one["config_hash"]) for one in told if one and not one.get("repeated")]


def wait_for_trials(results: Path, search: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 120
    while len(read_trials(results)) < MORE:
        assert search.poll() is None, search.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_search_outlives_its_database(recording: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    known = ("--no-knowledge", "--seed", "1", "--results-dir", str(results), *CPU)
    with postgresql_server() as server, dask_cluster(2) as cluster:
        place = ("--on", address_of(cluster), "--optuna-storage", server.url)
        line = ("tune", "-rdb", str(recording), *known, *place)
        search = subprocess.Popen(
            [sys.executable, "-m", "mneme", *line, "--trials", "5000", "--quiet"],
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        try:
            wait_for_trials(results, search)
            server.kill()
            _, told = search.communicate(timeout=120)
        finally:
            search.kill()
        assert search.returncode == 8, told
        (sentence,) = [one for one in told.splitlines() if one.startswith("mneme: ")]
        assert f"the study storage '{server.url}' failed: " in sentence
        assert "every trial that finished is kept, go on with --resume " in sentence
        assert sentence.endswith(f"--results-dir {results}")
        kept = {one.candidate.config_hash: one.metric for one in read_trials(results)}
        assert len(kept) >= MORE
        server.start()
        trials = str(len(kept) + MORE)
        done = mneme(*line, "--resume", "--trials", trials)
        assert done.returncode == 0, done.stderr
        found = read_trials(results)
        assert len(found) == len(kept) + MORE
        after = {one.candidate.config_hash: one.metric for one in found}
        assert len(after) == len(found)  # nothing was measured twice
        assert {name: after[name] for name in kept} == kept
        assert sorted(known_to(server)) == sorted(after)
