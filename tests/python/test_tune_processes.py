"""Real `mneme tune` processes: killed, interrupted, several on one study."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import optuna
import pytest

from mneme.session.owners import OWNER_ATTRIBUTE
from mneme.session.result_store import read_trials
from native_parts import needs_native
from postgresql_parts import postgresql
from tune_parts import command, line_of, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, pytest.mark.slow, needs_native]

SPACE = Path(__file__).parent / "tune_parts.py"
FIRST_TRIALS = 4


def arguments(recording: Path, results: Path, *more: str | Path) -> list[str | Path]:
    space = ("--space-preset", "compiler", "--iterations", "2", "--warmup", "0")
    quick = ("--final-rounds", "6", "--top", "1", "--confidence", "0", "--device", "cpu")
    return ["tune", "-rdb", recording, "--results-dir", results, *space, *quick, *more]


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        line_of(*arguments), stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def lines(results: Path) -> int:
    try:
        return (results / "trials.jsonl").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def wait_for_trials(results: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while lines(results) < FIRST_TRIALS:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_killed_session_goes_on_where_it_was(recording: Path, tmp_path: Path) -> None:
    process = start(*arguments(recording, tmp_path, "--trials", "5000"))
    wait_for_trials(tmp_path, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = (tmp_path / "trials.jsonl").read_bytes()
    count = before.count(b"\n")
    done = command("tune", "--resume", "--results-dir", tmp_path, "--trials", str(count + 3))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "trials.jsonl").read_bytes().startswith(before[: before.rindex(b"\n")])
    trials = read_trials(tmp_path)
    assert len(trials) == count + 3
    assert len({one.candidate.config_hash for one in trials}) == len(trials)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["status"] == "completed"
    assert summary["executor"]["submitted"] == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_cleanly_and_says_how_to_go_on(
    recording: Path, tmp_path: Path, number: signal.Signals
) -> None:
    process = start(*arguments(recording, tmp_path, "--trials", "5000"))
    wait_for_trials(tmp_path, process)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"go on with: mneme tune --resume --results-dir {tmp_path}" in said
    assert "Traceback" not in said
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["status"] == "interrupted"
    assert summary["num_trials_completed"] == lines(tmp_path) >= FIRST_TRIALS
    # Its workers are gone too: nobody is left in its session.
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def two_processes(recording: Path, directory: Path, storage: str) -> list[list[Any]]:
    shared = ("--optuna-storage", storage, "--study-name", "both", "--trials", "10")
    processes = [
        start(*arguments(recording, directory / name, "--sampler", "tpe", *shared))
        for name in ("a", "b")
    ]
    ends = [process.communicate(timeout=100) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], [one[1] for one in ends]
    return [read_trials(directory / name) for name in ("a", "b")]


def check_both(found: list[list[Any]], study: optuna.Study) -> None:
    results = [one.user_attrs.get("mneme.result") for one in study.trials]
    counted = [one for one in results if one is not None and not one.get("repeated")]
    assert sum(map(len, found)) == len(counted) == 10
    assert all(one.state.is_finished() for one in study.trials)
    # Trials of one are known to the other by their owner.
    assert len({one["owner"] for one in counted}) == sum(bool(one) for one in found)


def test_two_processes_share_a_journal(recording: Path, tmp_path: Path) -> None:
    found = two_processes(recording, tmp_path, str(tmp_path / "shared.journal"))
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "shared.journal"))
    storage = optuna.storages.JournalStorage(backend)
    check_both(found, optuna.load_study(study_name="both", storage=storage))


def test_two_processes_share_a_database_file(recording: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    found = two_processes(recording, tmp_path, url)
    storage = optuna.storages.RDBStorage(url)
    check_both(found, optuna.load_study(study_name="both", storage=storage))
    storage.engine.dispose()


def test_two_processes_share_a_postgresql_server(recording: Path, tmp_path: Path) -> None:
    with postgresql() as url:
        found = two_processes(recording, tmp_path, url)
        driven = url.replace("postgresql:", "postgresql+psycopg:")
        storage = optuna.storages.RDBStorage(driven)
        check_both(found, optuna.load_study(study_name="both", storage=storage))
        storage.engine.dispose()


def test_a_dead_process_leaves_no_running_trial(recording: Path, tmp_path: Path) -> None:
    journal = tmp_path / "shared.journal"
    shared = ("--optuna-storage", journal, "--study-name", "both", "--sampler", "tpe")
    process = start(*arguments(recording, tmp_path / "a", *shared, "--trials", "5000"))
    wait_for_trials(tmp_path / "a", process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    count = lines(tmp_path / "a") + 6
    done = command(*arguments(recording, tmp_path / "b", *shared, "--trials", str(count)))
    assert done.returncode == 0, done.stderr
    backend = optuna.storages.journal.JournalFileBackend(str(journal))
    study = optuna.load_study(study_name="both", storage=optuna.storages.JournalStorage(backend))
    # One that was killed before it was signed is not known to be dead, for ten minutes.
    running = [one for one in study.trials if not one.state.is_finished()]
    assert [one for one in running if OWNER_ATTRIBUTE in one.user_attrs] == []
    assert len(running) <= 1


def test_every_launch_of_a_recording_is_tuned(recording: Path, tmp_path: Path) -> None:
    quick = ("--final-rounds", "6", "--device", "cpu", "--space-preset", "quick")
    done = command(
        "tune", "--all", "-rdb", recording, "--results-dir", tmp_path, "--trials", "4", *quick
    )
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads((tmp_path / "all.json").read_text())["instances"]
    best = json.loads((tmp_path / entry["directory"] / "best.json").read_text())
    code = best["facts"]["static_hash"][:8]
    assert entry["directory"] == f"vectorAdd-{code}-{entry['record_id']}"
    assert entry["weight"] == 1.0
    assert entry["baseline_ns"] > 0
    assert len(read_trials(tmp_path / entry["directory"])) == 4
    assert (tmp_path / entry["directory"] / "best.json").is_file()
    assert (tmp_path / "proteus_tuned_kernels.json").is_file()
    assert "vectorAdd" in done.stdout


def test_a_space_of_the_users_own_on_two_workers(recording: Path, tmp_path: Path) -> None:
    space = ("--space-module", f"{SPACE}:Levels", "--space-arg", "baseline_level=3")
    done = command(*arguments(recording, tmp_path, "--sampler", "grid", "--workers", "2", *space))
    assert done.returncode == 0, done.stderr
    assert len(read_trials(tmp_path)) == 16
    assert json.loads((tmp_path / "search_space.json").read_text())["type"] == "custom"
    baseline = json.loads((tmp_path / "baseline.json").read_text())
    assert baseline["config"]["codegen_opt"] == 3
    assert {one.name for one in tmp_path.glob("Worker-*.log")} == {"Worker-0.log", "Worker-1.log"}


def test_failures_of_a_real_search_are_told_apart(recording: Path, tmp_path: Path) -> None:
    space = ("--space-module", f"{SPACE}:Failing", "--no-adaptive-invalid-ban")
    done = command(*arguments(recording, tmp_path, "--sampler", "grid", *space))
    assert done.returncode == 0, done.stderr
    found = {one.candidate.params["what"]: one.status for one in read_trials(tmp_path)}
    assert found == {
        "fine": "verified",
        "no such pass": "invalid_config",
        "too many threads": "invalid_launch",
        "too much shared memory": "invalid_launch",
        "bounds below the block": "invalid_config",
        "too few blocks": "failed_verification",
    }


def test_print_space_and_dry_run_measure_nothing(recording: Path, tmp_path: Path) -> None:
    for flag, key in (("--print-space", "search_space"), ("--dry-run", "configurations")):
        done = command(*arguments(recording, tmp_path / "r", flag))
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)[key]
    assert not (tmp_path / "r").exists()


def test_a_bad_command_line_is_one_sentence(recording: Path, tmp_path: Path) -> None:
    done = command("tune", "-rdb", recording, "--sampler", "random")
    assert done.returncode == 3
    assert done.stderr == (
        "mneme: --sampler random needs --trials N, the number of configurations to try "
        "(or --timeout SECONDS)\n"
    )
    done = command("tune", "-rdb", tmp_path / "none", "--trials", "3")
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1


def test_options_are_dumped_and_used_again(recording: Path, tmp_path: Path) -> None:
    file = tmp_path / "tune.yaml"
    line = ("tune", "-rdb", recording, "--trials", "3", "--passes", "default<O1>", "default<O2>")
    assert command(*line, "--dump-config", file).returncode == 0
    done = command("tune", "--config", file, "--dry-run")
    assert done.returncode == 0, done.stderr
    passes = json.loads(done.stdout)["search_space"]["dimensions"]["passes"]
    assert passes["choices"] == ["default<O1>", "default<O2>"]
