"""Sections and labels of scripts, without a recorder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import mneme
from mneme.errors import BackendUnavailable
from mneme.programs.record_request import RecordRequest
from mneme.programs.scripts import marks_sections
from mneme.recording.directory import Recording


def test_without_the_recorder_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "train.py", "a b"])
    with pytest.raises(BackendUnavailable, match="mneme record -- python train.py 'a b'$"):
        mneme.recording("dir", kernels="softmax.*").__enter__()


def test_a_section_that_is_not_required_runs_unrecorded(tmp_path: Path) -> None:
    section = mneme.recording(tmp_path / "none", required=False)

    @section
    def step() -> int:
        with section:
            return 7

    assert step() == 7
    assert not (tmp_path / "none").exists()


def test_a_label_without_a_recorder_does_nothing() -> None:
    with mneme.label("step 3"), mneme.label("ä" * 300):
        pass


def test_recording_is_still_the_package_of_recordings() -> None:
    package: Any = mneme.recording
    assert package is sys.modules["mneme.recording"]
    assert package.Recording is package.directory.Recording is Recording
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = package.other


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import mneme\nwith mneme.recording('dir'):\n  pass\n", True),
        ("from mneme import label, recording\n", True),
        ("from mneme.sections import recording\n", True),
        (
            "import mneme\nmneme.load('recording')\nfrom mneme.recording.directory import Recording\n",
            False,
        ),
        ("from mneme import load  # of a recording\n", False),
    ],
)
def test_scripts_with_sections_are_known(tmp_path: Path, text: str, expected: bool) -> None:
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "script").write_text(f"#!/usr/bin/env python3\n{text}")
    (tmp_path / "other").write_text(text)
    assert marks_sections(["python", str(tmp_path / "a.py"), "x"]) is expected
    assert marks_sections([str(tmp_path / "script")]) is expected
    assert marks_sections(["python", "-c", text]) is expected
    assert not marks_sections(["./app", str(tmp_path / "other"), str(tmp_path), "\0", "-c"])


def test_a_request_says_what_sections_mean(tmp_path: Path) -> None:
    def variables(sections: bool | None) -> dict[str, str]:
        request = RecordRequest(directory=tmp_path, sections=sections, is_directory_chosen=False)
        return request.variables()

    assert variables(None)["MNEME_DATA_DIR_CHOSEN"] == "0"
    assert "MNEME_SECTIONS" not in variables(None)
    assert variables(True)["MNEME_SECTIONS"] == "only"
    assert variables(False)["MNEME_SECTIONS"] == "ignored"
