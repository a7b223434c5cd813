"""Recordings of every format version, as they were written, still replay verified."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from conftest import ROOT, instances, reads_golden, records

from mneme import _native

VERSIONS = sorted(path for path in (ROOT / "tests" / "golden").iterdir() if path.is_dir())


@reads_golden
@pytest.mark.parametrize("directory", VERSIONS, ids=lambda path: path.name)
def test_golden_recording_replays(directory: Path) -> None:
    count = 0
    for record in records(directory):
        for record_id in instances(record):
            with closing(_native.ReplaySession(str(record), record_id, "cpu")) as session:
                text, _, _ = session.run(session.recorded(), "{}")
            result = json.loads(text)
            assert result["verified"], result
            assert result["result_class"] == "exact"
            count += 1
    assert count > 0


def test_there_is_a_golden_recording_of_every_version() -> None:
    header = (ROOT / "runtime" / "core" / "artifact" / "recording.h").read_text()
    current = int(header.split("kFormatVersion = ")[1].split(";")[0])
    assert [path.name for path in VERSIONS] == [f"v{number}" for number in range(1, current + 1)]
