"""Files that users name: outputs go through what is there, inputs are files and end."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cli_parts import mneme_here
from deploy_samples import write_result
from mneme.cli.exit_codes import ExitCode
from native_parts import needs_native
from report_samples import write_results

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
RECORD = GOLDEN / "16372073875777044691.json"

pytestmark = [pytest.mark.compile, needs_native]


def mneme(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return mneme_here(*arguments, cwd=cwd, MNEME_DEVICE="cpu")


@pytest.fixture
def null(tmp_path: Path) -> Path:
    """A device that takes everything: one of our own for root, who could replace the real one."""
    path = tmp_path / "null.yaml"
    if os.geteuid() == 0:
        os.mknod(path, 0o666 | stat.S_IFCHR, Path("/dev/null").stat().st_rdev)
    else:
        path.symlink_to("/dev/null")
    return path


OUTPUTS = {
    "compile": ["compile", RECORD, "default<O1>", "--arch", "cpu", "-o", "{}"],
    "compile text": [
        "compile",
        RECORD,
        "default<O1>",
        "--arch",
        "cpu",
        "--ptx",
        "{}",
        "--ll",
        "{}",
    ],
    "replay": ["replay", "-rdb", RECORD, "default<O1>", "-ol", "{}", "--output-asm", "{}"],
    "report": ["report", "results", "-o", "{}"],
    "deploy": ["deploy", "best", "-o", "{}"],
    "deploy merged": ["deploy", "best", "--merge", "-o", "{}"],
    "tune": ["tune", "-rdb", RECORD, "--trials", "1", "--dump-config", "{}"],
}


@pytest.mark.parametrize("verb", OUTPUTS)
def test_an_output_that_is_a_device_is_written_to(verb: str, null: Path, tmp_path: Path) -> None:
    write_results(tmp_path / "results")
    write_result(tmp_path / "best")
    line = [str(part).format(null) for part in OUTPUTS[verb]]
    done = mneme(*line, cwd=tmp_path)
    assert done.returncode == ExitCode.OK, done.stderr
    assert stat.S_ISCHR(null.stat().st_mode)
    assert not [name for name in os.listdir(tmp_path) if "tmp-" in name or "partial" in name]


@pytest.mark.parametrize("verb", OUTPUTS)
def test_an_output_that_is_a_link_stays_one(verb: str, tmp_path: Path) -> None:
    write_results(tmp_path / "results")
    write_result(tmp_path / "best")
    (tmp_path / "link.yaml").symlink_to("target.yaml")
    line = [str(part).format(tmp_path / "link.yaml") for part in OUTPUTS[verb]]
    done = mneme(*line, cwd=tmp_path)
    assert done.returncode == ExitCode.OK, done.stderr
    assert (tmp_path / "link.yaml").is_symlink()
    assert (tmp_path / "target.yaml").stat().st_size > 0


def test_an_output_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    write_results(tmp_path / "results")
    done = mneme("report", "results", "-o", "/dev/full", cwd=tmp_path)
    assert done.returncode == ExitCode.IO_FAILED
    assert done.stderr == "mneme: cannot write '/dev/full': No space left on device\n"


INPUTS = {
    "show": (["show", "{}"], ExitCode.RECORD_UNREADABLE),
    "replay": (["replay", "-rdb", "{}", "default<O1>"], ExitCode.RECORD_UNREADABLE),
    "replay --ir": (
        ["replay", "-rdb", RECORD, "--ir", "{}", "default<O1>"],
        ExitCode.RECORD_UNREADABLE,
    ),
    "compile": (["compile", "{}"], ExitCode.RECORD_UNREADABLE),
    "explain": (["explain", "{}"], ExitCode.RECORD_UNREADABLE),
    "tune": (["tune", "-rdb", "{}", "--trials", "1"], ExitCode.RECORD_UNREADABLE),
    "tune --config": (["tune", "--config", "{}"], ExitCode.INVALID_CONFIGURATION),
    "tune --pipeline-file": (
        ["tune", "-rdb", RECORD, "--trials", "1", "--pipeline-file", "{}"],
        ExitCode.INVALID_CONFIGURATION,
    ),
    "deploy": (["deploy", "{}", "-o", "out"], ExitCode.RECORD_UNREADABLE),
    "deploy --check": (["deploy", "--check", "{}", sys.executable], ExitCode.RECORD_UNREADABLE),
    "report": (["report", "{}"], ExitCode.RECORD_UNREADABLE),
    "dashboard": (["dashboard", "{}"], ExitCode.RECORD_UNREADABLE),
    "ls": (["ls", "{}"], ExitCode.RECORD_UNREADABLE),
    "copy": (["copy", "{}", "copies"], ExitCode.RECORD_UNREADABLE),
    "move": (["move", "{}", "copies"], ExitCode.RECORD_UNREADABLE),
    "clean": (["clean", "{}"], ExitCode.RECORD_UNREADABLE),
    "scaffold": (["scaffold", "tune", "-rdb", "{}"], ExitCode.RECORD_UNREADABLE),
}


@pytest.mark.parametrize("kind", ["device", "fifo", "large"])
@pytest.mark.parametrize("verb", INPUTS)
def test_an_input_that_is_no_file_of_ours_ends_at_once(
    verb: str, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "input.yaml"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "large":
        with path.open("wb") as file:
            file.truncate(8 << 40)
    line, code = INPUTS[verb]
    place = "/dev/zero" if kind == "device" else path
    done = mneme(*(str(part).format(place) for part in line), cwd=tmp_path)
    assert done.returncode in (code, ExitCode.IO_FAILED), done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert str(place) in done.stderr


@pytest.mark.parametrize("field", ["Modules", "Prologue", "Epilogue"])
@pytest.mark.parametrize("verb", ["show", "replay", "compile"])
def test_what_a_record_names_is_a_file(field: str, verb: str, tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path, dirs_exist_ok=True)
    record = tmp_path / RECORD.name
    names = [path for path in tmp_path.iterdir() if RECORD.stem in path.name and path != record]
    marks = {"Modules": "RecordedIR", "Prologue": "prologue", "Epilogue": "epilogue"}
    (named,) = (path for path in names if marks[field] in path.name)
    named.unlink()
    os.mkfifo(named)
    lines = {"show": ["show", record], "compile": ["compile", record, "default<O1>"]}
    done = mneme(*lines.get(verb, ["replay", "-rdb", record, "default<O1>"]))
    assert len(done.stderr.splitlines()) <= 1, done.stderr


def test_a_pipe_of_the_shell_is_a_config_file(tmp_path: Path) -> None:
    command = (
        f"{sys.executable} -m mneme tune --config <(echo '{{\"trials\": 3}}') -rdb {RECORD} "
        f"--dump-config {tmp_path}/out.json"
    )
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == ExitCode.OK, done.stderr
    assert '"trials": 3' in (tmp_path / "out.json").read_text()


def test_records_that_differ_are_told_apart_by_their_own_places(tmp_path: Path) -> None:
    for name in ("first", "second"):
        shutil.copytree(GOLDEN, tmp_path / name)
    module = tmp_path / "second" / f"RecordedIR_{RECORD.stem}.bc"
    module.write_bytes(module.read_bytes() + b"more")
    done = mneme("copy", "first", "second", "all", cwd=tmp_path)
    assert done.returncode != 0
    assert f"'second/{module.name}' differs" in done.stderr
    assert "tmp-" not in done.stderr
