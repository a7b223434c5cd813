"""`mneme tune --model all`: a search for each model of GPU of a cluster, and one file of all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cluster_parts import CPU, PROGRAM, dask_nodes, mneme
from mneme import deploy
from mneme.deploy.tuning_results import find_results
from mneme.errors import InvalidArgument
from mneme.session import models
from mneme.session.option_files import read_options
from mneme.session.options import TuneOptions
from mneme.session.result_store import read_trials
from native_parts import needs_native

pytestmark = [pytest.mark.compile, needs_native]

# Loaded by a worker of Dask: the CPU device passes for the model of GPU that MODEL names.
RENAMES = """\
import os
from dataclasses import replace
from mneme import devices
from mneme.measure import remote_evaluation

remote_evaluation.device_limits = lambda *names: replace(
    devices.device_limits(*names), name=os.environ["MODEL"]
)
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "recording"
    done = mneme("record", "-rdb", path, *CPU, "--", PROGRAM, "4096")
    assert done.returncode == 0, done.stderr
    return path


def two_models(folder: Path) -> Any:
    (folder / "renames.py").write_text(RENAMES)
    preload = f"export DASK_DISTRIBUTED__WORKER__PRELOAD={folder}/renames.py"
    models = {"node1": "NVIDIA A100", "node2": "NVIDIA H100"}
    return dask_nodes(
        folder, {host: f"{preload}; export MODEL='{name}'" for host, name in models.items()}
    )


def tune(recording: Path, results: Path, *more: str) -> Any:
    known = ("--no-knowledge", "--seed", "1", "--results-dir", results)
    return mneme("tune", recording, *known, *CPU, *more)


def test_every_model_of_a_cluster_is_tuned(recording: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    with two_models(tmp_path) as (on, _):
        done = tune(recording, results, "--on", on, "--model", "all", "--trials", "6")
        again = mneme(
            *("tune", "--resume", "--results-dir", results, "--on", on, "--trials", "9"), *CPU
        )
    assert done.returncode == 0, done.stderr
    assert "tuning for 2 models of GPU: NVIDIA A100, NVIDIA H100" in done.stderr
    for model, host in (("A100", "node1"), ("H100", "node2")):
        assert f"mneme: NVIDIA {model}: 6 trials" in done.stderr
        own = results / f"NVIDIA-{model}"
        executor = json.loads((own / "summary.json").read_text())["executor"]
        assert list(executor["nodes"]) == [host]
        assert read_options(own / "config.json")["model"] == [f"NVIDIA {model}"]
        assert len(read_trials(own)) == 9
    assert again.returncode == 0, again.stderr
    assert (results / "proteus_tuned_kernels.json").is_file()
    assert sorted(one.name for one in find_results(results)) == ["NVIDIA-A100", "NVIDIA-H100"]


def test_named_models_are_tuned_with_every_launch(recording: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    with two_models(tmp_path) as (on, _):
        named = ("--model", "a100", "--model", "h100")
        done = tune(recording, results, "--all", "--on", on, *named, "--trials", "4")
        wrong = ("--model", "h100", "--model", "B200", "--trials", "4")
        refused = tune(recording, tmp_path / "refused", "--on", on, *wrong)
    assert done.returncode == 0, done.stderr
    assert sorted(one.parent.name for one in find_results(results)) == ["a100", "h100"]
    assert refused.returncode == 3
    assert "'B200'; the models there are: NVIDIA A100, NVIDIA H100" in refused.stderr
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"on": "slurm"}, "is for a Dask cluster that runs"),
        ({}, "is for a Dask cluster that runs"),
        ({"on": "dask://a:1", "optuna_storage": "sqlite:///a"}, "leave --optuna-storage out"),
    ],
)
def test_what_cannot_tell_models_apart_is_refused(given: dict[str, Any], sentence: str) -> None:
    options = {"record_database": "r", "trials": 1, **given}
    for names in (["all"], ["A100", "H100"]):
        with pytest.raises(InvalidArgument, match=sentence):
            TuneOptions.from_dict({**options, "model": names}).validate()
    if "optuna_storage" not in given:
        TuneOptions.from_dict({**options, "model": "A100"}).validate()


def has_trials(results: Path) -> bool:
    return (results / "trials.jsonl").exists() and b"\n" in (results / "trials.jsonl").read_bytes()


def test_an_interrupt_ends_every_search(recording: Path, tmp_path: Path) -> None:
    results, said = tmp_path / "results", tmp_path / "stderr"
    models = ("NVIDIA-A100", "NVIDIA-H100")
    with two_models(tmp_path) as (on, _), said.open("w") as errors:
        place = ("--on", on, "--model", "all", "--trials", "100000", "--results-dir", results)
        words = ("tune", recording, "--no-knowledge", *CPU, *place)
        line = [sys.executable, "-m", "mneme", *map(str, words)]
        with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=errors) as search:
            while search.poll() is None and not all(has_trials(results / one) for one in models):
                time.sleep(0.05)
            search.send_signal(signal.SIGINT)
    sentence = f"interrupted; go on with: mneme tune --resume --results-dir {results}"
    assert sentence in said.read_text()
    for model in models:
        assert read_trials(results / model)
        assert json.loads((results / model / "summary.json").read_text())["status"] == "interrupted"


@pytest.mark.parametrize(
    ("codes", "goes_on"), [((1, 6), True), ((8, 0), True), ((1, 3), False), ((0, 0), False)]
)
def test_a_search_that_lost_its_cluster_can_go_on_whatever_the_others_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: tuple[int, ...], goes_on: bool
) -> None:
    left = iter(codes)

    def start(*_: Any) -> Any:
        process = SimpleNamespace(wait=lambda: next(left))
        return SimpleNamespace(process=process, reader=SimpleNamespace(join=lambda: None))

    monkeypatch.setattr(models, "_models", lambda _: ["A100", "H100"])
    monkeypatch.setattr(models, "_start", start)
    told: list[str] = []
    listener = cast("Any", SimpleNamespace(note=told.append))
    options = TuneOptions(
        record_database="r", results_dir=tmp_path, trials=1, no_proteus_output=True
    )
    assert models.tune_models(options, listener) == next((one for one in codes if one), 0)
    assert (told[-1].startswith("go on with all models: mneme tune --resume")) is goes_on


def test_a_model_without_a_winner_leaves_the_others_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one whose only node died."""
    ended, lost = (
        models._Search(name, tmp_path / name, *[cast("Any", None)] * 2) for name in ("A100", "H100")
    )
    (ended.directory / "kernel").mkdir(parents=True)
    (ended.directory / "kernel" / "best.json").write_text("{}")
    lost.directory.mkdir()
    planned: list[Path] = []

    def plan(directories: list[Path]) -> SimpleNamespace:
        planned.extend(directories)
        return SimpleNamespace(left_out=[], deployed=[1])

    monkeypatch.setattr(deploy, "plan_deployment", plan)
    monkeypatch.setattr(deploy, "write_deployment", lambda *_: None)
    told: list[str] = []
    listener = cast("Any", SimpleNamespace(warn=told.append, note=lambda _: None))
    options = TuneOptions.from_dict({"record_database": "r", "trials": 1})
    models._write_tuned_file(options, tmp_path, [ended, lost], listener)
    assert planned == [ended.directory]
    assert told == ["H100 has no winner: the tuned-kernels file is without it"]
