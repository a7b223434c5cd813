"""Values that are refused by one verb are refused by all that have such an option, alike."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mneme.cli.exit_codes import ExitCode
from native_parts import needs_native

pytestmark = [needs_native, pytest.mark.compile]

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
VERBS = {
    "replay": ["replay", GOLDEN, "link", "-slb", "--specialize"],
    "compile": ["compile", GOLDEN, "link", "-slb", "--specialize"],
    "tune": ["tune", GOLDEN, "link", "--trials", "1", "--print-space"],
    "optimize": ["optimize", "{}", "--", "true"],
    "deploy": ["deploy", "results", "-o", "tuned.json"],
}


def mneme(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mneme", *(str(one) for one in arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=folder,
        env={**os.environ, "MNEME_DEVICE": "cpu"},
    )


def run(verb: str, options: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    words = VERBS[verb]
    if "{}" not in words:
        return mneme(*words, *options, folder=folder)
    at = words.index("{}")
    return mneme(*words[:at], *options, *words[at + 1 :], folder=folder)


@pytest.mark.parametrize(
    "cases",
    [
        {
            "replay": ["--max-registers", "1025"],
            "compile": ["--max-registers", "1025"],
            "tune": ["--max-registers-range", "0:1025"],
        },
        {"replay": ["--max-registers", "-1"], "tune": ["--fixed-max-registers", "-1"]},
        {"replay": ["-co", "4"], "compile": ["-co", "4"], "tune": ["--fixed-codegen-opt", "4"]},
        {
            "replay": ["--min-blocks-per-sm", "4294967296"],
            "compile": ["--min-blocks-per-sm", "4294967296"],
            "tune": ["--fixed-min-blocks-per-sm", "4294967296"],
        },
        {"replay": ["--confidence", "nan"], "tune": ["--confidence", "nan"]},
        {"replay": ["--confidence", "2"], "tune": ["--confidence", "2"]},
        {"replay": ["--timeout", "inf"], "tune": ["--timeout", "inf"]},
        {"replay": ["--warmup", "-1"], "tune": ["--warmup", "-1"]},
        {
            "replay": ["--specialized-args", "9"],
            "compile": ["--specialized-args", "9"],
            "tune": ["--specialized-args", "9"],
        },
        {
            "replay": ["--tolerance", "rel:tiny"],
            "tune": ["--tolerance", "rel:tiny"],
            "optimize": ["--tolerance", "rel:tiny"],
        },
        {"tune": ["--seed", "4294967296"], "optimize": ["--seed", "4294967296"]},
        {"deploy": ["--min-gain", "0.5"], "optimize": ["--min-gain", "0.5"]},
    ],
)
def test_value_is_refused_alike(cases: dict[str, list[str]], tmp_path: Path) -> None:
    for verb, options in cases.items():
        done = run(verb, options, tmp_path)
        assert done.returncode == ExitCode.INVALID_CONFIGURATION, (verb, done.stderr)
        assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("value", ["300", "0"])
def test_value_is_taken_alike(value: str, tmp_path: Path) -> None:
    for verb, option in (
        ("replay", "--max-registers"),
        ("compile", "--max-registers"),
        ("tune", "--fixed-max-registers"),
    ):
        assert run(verb, [option, value], tmp_path).returncode == ExitCode.OK


def test_what_is_no_number_is_no_value_anywhere(tmp_path: Path) -> None:
    for verb in ("replay", "tune"):
        assert run(verb, ["--warmup", "x"], tmp_path).returncode == ExitCode.USAGE


@pytest.mark.parametrize("words", [["deploy", "-o", "t.json"], ["report"], ["dashboard"]])
def test_results_that_are_nowhere_do_not_exist(words: list[str], tmp_path: Path) -> None:
    done = mneme(*words, "nothere", folder=tmp_path)
    assert (done.returncode, done.stdout) == (ExitCode.RECORD_UNREADABLE, "")
    assert "'nothere' does not exist; name the results directory of a tuning" in done.stderr
