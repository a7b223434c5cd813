"""Tunings that remember: the next one begins with the winner, and `mneme suggest` names it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import example, mneme, optimize, records

from mneme.knowledge.store import KnowledgeStore

PIPELINES = ("function(reg2mem)", "default<O0>", "function(mem2reg)", "default<O1>", "default<O3>")


def tune(record: Path, results: Path, trials: int, **variables: str) -> dict[str, Any]:
    done = mneme(
        *("tune", "-rdb", record, "--device", "cpu", "--sampler", "auto", "--trials", str(trials)),
        *("--results-dir", results, "--launch-dim", "none", "--seed", "1", "--final-rounds", "20"),
        *("--passes", *PIPELINES),
        **variables,
    )
    assert done.returncode == 0, done.stderr
    return {
        "best": json.loads((results / "best.json").read_text()),
        "trials": [json.loads(one) for one in (results / "trials.jsonl").read_text().splitlines()],
        "said": done.stderr,
    }


def remember_as_winner(file: Path, trial: dict[str, Any]) -> None:
    """Store a trial as a certain winner: whether one is found depends on how busy the machine is."""
    store = KnowledgeStore(file)
    (found, *_) = store.entries()
    winner = replace(
        found,
        config=trial["config"],
        params=trial["params"],
        rank=0,
        gain=2.0,
        low=1.9,
        high=2.1,
    )
    store.forget()
    store.add([winner])


@pytest.mark.compile
def test_the_next_search_begins_with_the_winner(
    recordings: dict[str, Path], tmp_path: Path
) -> None:
    (record,) = records(recordings["stencil2d"])
    file = tmp_path / "data" / "mneme" / "knowledge.sqlite"
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    tune(record, tmp_path / "off", 2, MNEME_KNOWLEDGE="off", **home)
    assert not file.exists()
    said = mneme("suggest", record, MNEME_KNOWLEDGE="", **home)
    assert said.returncode == 1
    assert "nothing is known" in said.stderr

    first = tune(record, tmp_path / "first", 30, MNEME_KNOWLEDGE="", **home)
    assert file.is_file()
    trial = next(one for one in reversed(first["trials"]) if one["config"]["specialize"])
    remember_as_winner(file, trial)
    listed = mneme("suggest", record, "--json", MNEME_KNOWLEDGE="", **home)
    assert listed.returncode == 0, listed.stderr
    told = json.loads(listed.stdout)["suggestions"]
    assert told[0]["config"] == trial["config"]
    assert told[0]["gain"] == 2.0
    replayed = mneme(*shlex.split(told[0]["command"])[1:], "--device", "cpu")
    assert replayed.returncode == 0, replayed.stderr
    assert replayed.result["verified"] is True

    again = tune(record, tmp_path / "again", 6, MNEME_KNOWLEDGE="", **home)
    assert "that helped this kernel before" in again["said"]
    assert len(again["trials"]) == 6
    assert trial["config"] in [one["config"] for one in again["trials"]]


@pytest.mark.compile
def test_all_launches_of_a_program_are_remembered(
    recordings: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "knowledge.sqlite"
    done = mneme(
        *("tune", "--all", "-rdb", recordings["spmv_cg"], "--device", "cpu", "--trials", "10"),
        *("--passes", *PIPELINES, "--launch-dim", "none", "--results-dir", tmp_path / "results"),
        MNEME_KNOWLEDGE=str(file),
    )
    assert done.returncode == 0, done.stderr
    kernels = set()
    for record in records(recordings["spmv_cg"]):
        for record_id in json.loads(record.read_text())["instances"]:
            listed = mneme(
                "suggest", record, "-rid", record_id, "--json", MNEME_KNOWLEDGE=str(file)
            )
            told = json.loads(listed.stdout)
            found = [*told["suggestions"], *told["nothing_faster"]]
            assert found, listed.stderr
            kernels.add(told["kernel"])
    assert len(kernels) == 2


@pytest.mark.compile
@pytest.mark.slow
def test_optimize_remembers_unless_it_is_told_not_to(tmp_path: Path) -> None:
    files = {}
    for options in ((), ("--no-knowledge",)):
        files[options] = tmp_path / f"knowledge{len(options)}"
        optimize(
            *("--device", "cpu", "-o", tmp_path / str(len(options)), *options),
            *("--", example("stencil2d")),
            trials=2,
            MNEME_KNOWLEDGE=str(files[options]),
        )
        assert list((tmp_path / str(len(options))).glob("results/*/best.json"))
    assert [file.exists() for file in files.values()] == [True, False]
