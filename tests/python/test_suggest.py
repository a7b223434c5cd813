"""`mneme suggest`: what it lists, how it says it, and what it does with whole files."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from knowledge_samples import entry
from mneme.cli.exit_codes import ExitCode
from mneme.knowledge.entry import NOTHING, Entry
from mneme.knowledge.store import KnowledgeStore
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.launch_facts import static_hash_text
from mneme.recording.recorded_execution import RecordedExecution
from mneme.session.memory import kernel_of
from native_parts import needs_native
from tune_parts import line_of, recorded_launch, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]

BASELINE = ExperimentConfiguration(**recorded_launch(), max_threads=0, min_blocks_per_sm=0)
WINNER = ExperimentConfiguration(
    grid={"x": 8, "y": 1, "z": 1},
    block={"x": 128, "y": 1, "z": 1},
    passes="default<O2>,function(gvn)",
    specialize=True,
    set_launch_bounds=True,
    max_threads=128,
    min_blocks_per_sm=2,
    codegen_opt=2,
)


class Known:
    """A knowledge file, and `mneme suggest` with it."""

    def __init__(self, path: Path, recording: Path) -> None:
        self.store = KnowledgeStore(path)
        (self.file,) = recording.glob("[0-9]*.json")
        self.record = RecordedExecution.from_json(self.file)

    def of_this(self, **changes: Any) -> Entry:
        code = static_hash_text(self.record.static_hash)
        values = {
            "static_hash": code,
            "baseline": BASELINE.to_dict(),
            "config": WINNER.to_dict(),
            "features": self.features(),
        }
        return entry(**{**values, **changes})

    def of_similar(self, **changes: Any) -> Entry:
        features = self.features()
        other = {"features": {**features, "loads": features["loads"] + 0.5}}
        return self.of_this(**{"static_hash": "b" * 16, "demangled": "other()", **other, **changes})

    def features(self) -> dict[str, float]:
        return kernel_of(self.record, next(iter(self.record.values())), "cpu", "").features

    def suggest(self, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            line_of("suggest", *arguments),
            env={**os.environ, "MNEME_KNOWLEDGE": str(self.store.path), **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.fixture
def known(recording: Path, tmp_path: Path) -> Known:
    return Known(tmp_path / "knowledge.sqlite", recording)


def test_it_says_what_helped_and_how_to_try_it(known: Known) -> None:
    known.store.add(
        [known.of_this(), known.of_similar(gain=1.1, low=None, high=None, arch="sm_90")]
    )
    done = known.suggest(known.file)
    assert done.returncode == ExitCode.OK
    lines = done.stdout.splitlines()
    assert lines[0].startswith("vectorAdd(")
    assert "1. 1.500x [1.400, 1.600]: this kernel on cpu, 2026-11-23, 10 trials" in lines
    for change in ("grid: 4x1x1 → 8x1x1", "block: 256x1x1 → 128x1x1", "specialize: false → true"):
        assert f"     {change}" in lines
    command = next(line for line in lines if "try it" in line).partition(": ")[2]
    (record_id,) = known.record
    place = ["-rdb", str(known.file), "-rid", record_id]
    assert shlex.split(command) == [
        *("mneme", "replay", *place, "-gidx", "8", "-bidx", "128", "--specialize"),
        *("--set-launch-bounds", "--max-threads", "128", "--min-blocks-per-sm", "2"),
        *("--codegen-opt", "2", "default<O2>,function(gvn)"),
    ]
    (similar,) = [line for line in lines if line.startswith("2. ")]
    assert similar.startswith("2. about 1.10x: other(), ")
    assert "% alike, on sm_90" in similar
    assert "     and other launch dimensions, which may not suit this launch" in lines
    assert sum("grid:" in line for line in lines) == 1, "blocks of another kernel say nothing"
    assert lines[-1].startswith(f"A search begins with them: mneme tune {shlex.join(place)} ")


def test_what_it_suggests_can_be_run(known: Known) -> None:
    known.store.add([known.of_this()])
    (told,) = json.loads(known.suggest(known.file, "--json").stdout)["suggestions"]
    words = shlex.split(told["command"])
    done = subprocess.run(
        line_of(*words[1:], "--device", "cpu"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ran = json.loads(done.stdout)["Replay-config"]
    assert (ran["block"]["x"], ran["passes"]) == (128, "default<O2>,function(gvn)")


def test_json_says_everything(known: Known) -> None:
    known.store.add([known.of_this(params={"n": 1}), known.of_this(rank=NOTHING, arch="sm_90")])
    told = json.loads(known.suggest(known.file.parent, "--json").stdout)
    assert told["kernel"] == known.record.kernel_name
    assert [one["arch"] for one in told["nothing_faster"]] == ["sm_90"]
    (one,) = told["suggestions"]
    assert one["is_same"] is True
    assert (one["similarity"], one["gain"], one["low"], one["high"]) == (1.0, 1.5, 1.4, 1.6)
    assert one["params"] == {"n": 1}
    assert one["config"]["passes"] == WINNER.passes
    assert "specialize: false → true" in one["changes"]


def test_only_so_many_are_listed(known: Known) -> None:
    known.store.add([known.of_this(gain=1 + n / 10, shared_mem=n) for n in range(9)])
    told = json.loads(known.suggest(known.file, "--json", "--limit", "2").stdout)
    assert [one["gain"] for one in told["suggestions"]] == [1.8, 1.7]
    assert len(json.loads(known.suggest(known.file, "--json").stdout)["suggestions"]) == 5


def test_nothing_known_is_a_sentence_and_exit_code_1(known: Known) -> None:
    done = known.suggest(known.file)
    assert (done.returncode, done.stdout) == (ExitCode.NOT_VERIFIED, "")
    assert "nothing is known of vectorAdd" in done.stderr
    assert not known.store.path.exists()
    known.store.add([known.of_this(rank=NOTHING, trials=77)])
    done = known.suggest(known.file)
    assert done.returncode == ExitCode.NOT_VERIFIED
    assert "77 trials on cpu found nothing faster (2026-11-23)" in done.stderr
    done = known.suggest(known.file, MNEME_KNOWLEDGE="off")
    assert done.returncode == ExitCode.NOT_VERIFIED
    assert "MNEME_KNOWLEDGE is off" in done.stderr


def test_names_from_files_of_others_are_harmless(known: Known) -> None:
    known.store.add([known.of_similar(demangled="\x1b[2Jgone\n", family="cpu")])
    done = known.suggest(known.file)
    assert "\x1b" not in done.stdout
    assert "\\x1b[2Jgone\\x0a" in done.stdout


def test_files_are_exported_imported_and_forgotten(known: Known, tmp_path: Path) -> None:
    shared = tmp_path / "shared.sqlite"
    done = known.suggest("--export", shared)
    assert done.returncode == ExitCode.NOT_VERIFIED
    assert "nothing is known yet" in done.stderr
    known.store.add([known.of_this(), known.of_similar()])
    done = known.suggest("--export", shared)
    assert (done.returncode, done.stderr) == (0, f"mneme: wrote 2 configurations to '{shared}'\n")
    done = known.suggest("--forget")
    assert done.returncode == 0
    assert f"forgetting 2 configurations of 2 kernels: deleting '{known.store.path}'" in done.stderr
    assert not known.store.path.exists()
    done = known.suggest("--import", shared)
    assert done.returncode == 0
    assert f"'{shared}' has 2 configurations; 2 of them are new in" in done.stderr
    assert known.suggest(known.file).returncode == 0
    done = known.suggest("--forget")
    assert known.suggest("--forget").returncode == ExitCode.NOT_VERIFIED


def test_a_device_of_the_environment_is_for_other_commands(known: Known, tmp_path: Path) -> None:
    done = known.suggest("--export", tmp_path / "shared.sqlite", MNEME_DEVICE="cpu")
    assert "--device" not in done.stderr
    done = known.suggest("--export", tmp_path / "shared.sqlite", "--device", "cuda:0")
    assert "--device does nothing without a RECORD" in done.stderr


def test_a_foreign_file_is_refused(known: Known, tmp_path: Path) -> None:
    foreign = tmp_path / "notes"
    foreign.write_text("my notes")
    for variables in ({}, {"MNEME_KNOWLEDGE": str(foreign)}):
        arguments = ("--import", foreign) if not variables else ("--forget",)
        done = known.suggest(*arguments, **variables)
        assert done.returncode == ExitCode.RECORD_UNREADABLE
        assert f"'{foreign}' is not a knowledge file of mneme" in done.stderr
    assert foreign.read_text() == "my notes"


@pytest.mark.parametrize(
    "arguments", [[], ["{record}", "--forget"], ["--export", "a", "--import", "b"]]
)
def test_one_thing_at_a_time(known: Known, arguments: list[str]) -> None:
    done = known.suggest(*(one.format(record=known.file) for one in arguments))
    assert done.returncode == ExitCode.USAGE
    assert "name a RECORDING, or one of --export, --import and --forget" in done.stderr
