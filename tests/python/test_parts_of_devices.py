"""Sentences about the part of a device that a launch had: said once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mneme.cli._replay_output import tell
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.session.events import TuneListener
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, recording, steady

__all__ = ["recording"]

PART = "ran on 32 of 132 multiprocessors, as the recorded launch"

pytestmark = [pytest.mark.compile, needs_native]


class Heard(TuneListener):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


def test_tune_names_it_once(recording: Path, tmp_path: Path) -> None:
    listener = Heard()
    options = TuneOptions(record_database=recording, results_dir=tmp_path, sampler="exhaustive")
    executor = FakeExecutor(lambda config: replace(steady(config), part=PART))
    tuning = TuningSession(options, listener, space=Levels(), make_executor=executor)
    assert tuning.run() == 0
    assert listener.notes.count(PART) == 1


def test_results_of_another_part_are_not_continued(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tune(*, resume: bool) -> TuningSession:
        options = TuneOptions(
            record_database=recording, results_dir=tmp_path, sampler="exhaustive", resume=resume
        )
        executor = FakeExecutor(lambda config: replace(steady(config), multiprocessors=32))
        tuning = TuningSession(options, space=Levels(), make_executor=executor)
        tuning.run()
        return tuning

    monkeypatch.setenv("MNEME_MULTIPROCESSORS", "32")
    assert tune(resume=False).error == ""
    (machine,) = json.loads((tmp_path / "origin.json").read_text())["machines"]
    assert machine["multiprocessors"] == 32
    assert tune(resume=True).error == ""
    monkeypatch.delenv("MNEME_MULTIPROCESSORS")
    assert "MULTIPROCESSORS was 32, and it is not set: times on" in tune(resume=True).error


def test_replay_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    config = ExperimentConfiguration(grid=dim3(1, 1, 1), block=dim3(32, 1, 1))
    assert tell(config, replace(steady(config), part=PART), instance=None, name="walk@1: ") == 0
    assert f"walk@1: {PART}\n" in capsys.readouterr().err
