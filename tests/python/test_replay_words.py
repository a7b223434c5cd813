"""What `mneme replay` says on stderr, and the JSON beside it, are about the same figures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mneme.cli._console import format_ns
from native_parts import needs_native

pytestmark = [needs_native, pytest.mark.compile]

LINK = Path(__file__).resolve().parents[1] / "golden" / "v2" / "16372073875777044691.json"


def replay(cache: Path, *options: str) -> tuple[dict[str, Any], str]:
    done = subprocess.run(
        [sys.executable, "-m", "mneme", "replay", str(LINK), *options],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "MNEME_DEVICE": "cpu", "MNEME_CACHE_DIR": str(cache)},
    )
    return json.loads(done.stdout)["Result"], done.stderr


@pytest.mark.parametrize("options", [("-it", "4"), ("--confidence", "0.5"), ("--warmup", "0")])
def test_fastest_and_median_are_those_of_the_measured_launches(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    result, said = replay(tmp_path, *options)
    measured = result["exec_time"][-result["iterations_used"] :]
    assert f"fastest launch {format_ns(min(measured))}, median " in said
    assert f"median {format_ns(result['median_ns'])}" in said
    assert f" of {len(measured)} on cpu" in said


def test_nothing_is_said_of_times_where_nothing_was_measured(tmp_path: Path) -> None:
    _, said = replay(tmp_path, "-it", "0")
    assert said == "mneme: verified: exact on cpu\n"


def test_times_of_compiling_say_that_they_are_of_earlier(tmp_path: Path) -> None:
    (first, _), (second, _) = (replay(tmp_path) for _ in range(2))
    assert (first["code_from_cache"], second["code_from_cache"]) == (False, True)
    assert first["codegen_time"] == second["codegen_time"] > 0
    other, _ = replay(tmp_path, "--specialize")
    assert other["code_from_cache"] is False
