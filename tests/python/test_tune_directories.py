"""What belongs into a results directory, and what its log says."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from mneme.session.result_store import read_trials
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from test_tune_session import Heard, read, session
from tune_parts import FakeExecutor, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]


@pytest.mark.parametrize("file", ["baseline.json", "summary.json"])
@pytest.mark.parametrize(
    ("name", "value"), [("static_hash", "00000000000000aa"), ("kernel_name", "_Z5otherv")]
)
def test_measurements_of_other_code_are_not_taken_over(
    recording: Path, tmp_path: Path, file: str, name: str, value: str
) -> None:
    session(recording, tmp_path, sampler="random", trials=2).run()
    content = read(tmp_path / file)
    mine = content["record"][name]
    content["record"][name] = value
    for old in ("baseline.json", "summary.json"):
        (tmp_path / old).unlink()
    (tmp_path / file).write_text(json.dumps(content))
    executor = FakeExecutor()
    again = session(recording, tmp_path, executor, sampler="random", trials=3, resume=True)
    assert again.run() == 3
    assert re.search(f"holds measurements of .*{value}.* this is .*{mine}", again.error)
    assert again.error.endswith("; name another --results-dir")
    assert executor.submitted == []
    assert len(read_trials(tmp_path)) == 2


def test_overloads_of_a_kernel_have_directories_of_their_own(
    recording: Path, tmp_path: Path
) -> None:
    shutil.copytree(recording, tmp_path / "both")
    (path,) = (tmp_path / "both").glob("[0-9]*.json")
    record = json.loads(path.read_text())
    record["StaticHash"] = 170 << 56
    del record["Checksum"]
    (path.parent / f"{record['StaticHash']}.json").write_text(json.dumps(record))
    options = TuneOptions(
        record_database=path.parent,
        results_dir=tmp_path / "results",
        all=True,
        trials=2,
        device="cpu",
        no_proteus_output=True,
    )
    assert TuningSession(options, make_executor=FakeExecutor()).run() == 0
    entries = read(tmp_path / "results" / "all.json")["instances"]
    assert len({one["directory"] for one in entries}) == 2
    assert len({one["record_id"] for one in entries}) == 1
    found = [tmp_path / "results" / one["directory"] for one in entries]
    hashes = {read(one / "best.json")["record"]["static_hash"] for one in found}
    assert len(hashes) == 2
    assert "aa00000000000000" in hashes
    assert any(one.name.startswith("vectorAdd-aa000000-") for one in found)


@pytest.mark.parametrize("can_pin", [True, False])
def test_whether_the_last_rounds_had_one_device_is_said(
    recording: Path, tmp_path: Path, can_pin: bool
) -> None:
    executor = FakeExecutor()
    executor.can_pin = can_pin
    tuning = session(recording, tmp_path, executor, sampler="random", trials=2)
    assert tuning.run() == 0
    assert isinstance(tuning.listener, Heard)
    told = any(
        "only if all devices of its pool are alike" in one for one in tuning.listener.sentences
    )
    logged = "only if all devices of its pool are alike" in (tmp_path / "logs/tune.log").read_text()
    assert (told, logged) == (not can_pin, not can_pin)
