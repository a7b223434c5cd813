"""`mneme deploy --measure -- ./app`: what shows no gain in the program is not deployed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, Finished, mneme, run_command

from mneme.knowledge.store import KnowledgeStore

WRAPPER = BUILD / "bin" / "mneme-cxx"


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Kernels with several wait for each to get its turn on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNEME_CPU_THREADS", "1")
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a program, two of its kernels tuned, and what is known of them."""
    folder = tmp_path_factory.mktemp("measured")
    source = ROOT / "tests/apps/optimize/many.cu"
    options = ["-x", "cuda", "--offload-arch=sm_90", source, "-o", folder / "many"]
    done = run_command(WRAPPER, *options, "-lcudart")
    assert done.returncode == 0, done.stderr
    record = ("record", "-rdb", folder / "rec", "--kernels", "heavy|middle", "-mr", "1")
    assert mneme(*record, "--device", "cpu", "--", folder / "many").returncode == 0
    tuning = ("tune", "-rdb", folder / "rec", "--all", "--trials", "16", "--seed", "1")
    where = ("--results-dir", folder / "results", "--device", "cpu", "--baseline", "program")
    known = {"MNEME_KNOWLEDGE": str(folder / "knowledge.sqlite")}
    done = mneme(*tuning, *where, timeout=300, **known)
    assert done.returncode == 0, done.stderr
    return folder


def measure(folder: Path, output: Path, *command: str | Path) -> Finished:
    options = ("deploy", folder / "results", "-o", output, "--measure", "--device", "cpu", "--json")
    return mneme(*options, *command)


def test_what_gains_in_the_program_is_deployed(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "tuned.json"
    # Fewer than six pairs prove nothing if a busy machine interrupts one of them.
    done = measure(folder, output, "--pairs", "6", "--", folder / "many")
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)["measured"]
    kept = {one["name"] for one in measured["kernels"] if one["is_kept"]}
    assert "_Z5heavyPKfPfiijj" in kept
    assert set(json.loads(output.read_text())) == kept
    assert all(len(measured[f"{one}_seconds"]) == 6 for one in ("built", "tuned"))
    assert all(one["production"]["low"] > 1 for one in measured["kernels"] if one["is_kept"])


def test_what_the_program_showed_is_remembered(tmp_path: Path, folder: Path) -> None:
    shutil.copy(folder / "knowledge.sqlite", tmp_path)
    store = KnowledgeStore(tmp_path / "knowledge.sqlite")
    before = {one.key: (one.gain, one.low, one.high) for one in store.entries()}
    known = {"MNEME_KNOWLEDGE": str(tmp_path / "knowledge.sqlite"), "COLUMNS": "200"}
    options = ("--measure", "--device", "cpu", "--pairs", "3", "--", folder / "many")
    done = mneme("deploy", folder / "results", "-o", tmp_path / "tuned.json", *options, **known)
    # A machine that does other things may show no certain gain, which is remembered as well.
    assert done.returncode in (0, 1), done.stderr
    after = {one.key: (one.gain, one.low, one.high) for one in store.entries()}
    assert after.keys() == before.keys()
    changed = [gain for key, gain in after.items() if gain != before[key]]
    assert changed
    for ratio, low, high in changed:
        assert f"{ratio:.3f}x (95 %: {low:.3f} to {high:.3f})" in done.stdout + done.stderr


def test_a_kernel_that_changes_the_output_is_left_out(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "tuned.json"
    done = measure(folder, output, "--", folder / "many", "wrong")
    assert done.returncode == 1
    assert "with it the program goes wrong: line 1 of its output has" in done.stderr
    assert not output.exists()


def test_a_program_of_other_kernels_is_refused(folder: Path, tmp_path: Path) -> None:
    other = BUILD / "examples" / "vector_add"
    done = measure(folder, tmp_path / "tuned.json", "--", other)
    assert done.returncode == 3
    assert "launches none of the kernels that would be deployed (2)" in done.stderr


def test_a_program_is_asked_for(folder: Path, tmp_path: Path) -> None:
    done = measure(folder, tmp_path / "tuned.json")
    assert done.returncode == 2
    assert "put '--' before the program" in done.stderr
    done = measure(folder, tmp_path / "tuned.json", "--compare", "sum", "--", folder / "many")
    assert done.returncode == 3
    assert "'sum' has no group" in done.stderr
    done = mneme("deploy", folder / "results", "-o", tmp_path / "tuned.json", "--pairs", "3")
    assert "--pairs does nothing without --measure" in done.stderr
    plain = ("deploy", folder / "results", "-o", tmp_path / "tuned.json")
    done = mneme(*plain, "--device", "cpu")
    assert "--device does nothing without --measure" in done.stderr
    assert "does nothing" not in mneme(*plain, MNEME_DEVICE="cpu").stderr


def test_its_end_is_that_of_the_program_and_of_what_it_wrote(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    script = f"echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; sleep 600"
    options = ["deploy", folder / "results", "-o", tmp_path / "tuned.json", "--device", "cpu"]
    running = subprocess.Popen(
        [sys.executable, "-m", "mneme", *options, "--measure", "--", "/bin/sh", "-c", script],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch")},
    )
    while not (tmp_path / "pid").is_file() and running.poll() is None:
        time.sleep(0.05)
    started = int((tmp_path / "pid").read_text())
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(started, 0)
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize(
    ("output", "sentence"),
    [("no/tuned.json", "there is no directory"), ("other.json", "is not a JSON object")],
)
def test_where_nothing_can_be_written_nothing_is_run(
    folder: Path, tmp_path: Path, output: str, sentence: str
) -> None:
    (tmp_path / "other.json").write_text("[1]")
    done = measure(folder, tmp_path / output, "--", "touch", tmp_path / "ran")
    assert done.returncode != 0
    assert sentence in done.stderr
    assert not (tmp_path / "ran").exists()
