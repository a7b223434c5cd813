"""Errors of the command line: one sentence, the documented exit code, nothing on stdout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mneme import cli
from mneme.cli.exit_codes import ExitCode


def mneme(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mneme", *(str(one) for one in arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )


def assert_one_sentence(
    done: subprocess.CompletedProcess[str], code: ExitCode, *words: str
) -> None:
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("mneme: ")
    for word in words:
        assert word in done.stderr, done.stderr


def test_no_verb_prints_help() -> None:
    done = mneme()
    assert done.returncode == ExitCode.USAGE
    assert "replay" in done.stderr


def test_help_and_version_are_no_errors() -> None:
    assert mneme("--help").returncode == ExitCode.OK
    assert "  -rdb, " in mneme("replay", "--help").stdout
    assert mneme("--version").stdout == "mneme 0.1.0\n"


def test_unknown_verb() -> None:
    assert_one_sentence(mneme("rewind"), ExitCode.USAGE, "rewind")


def test_unknown_option() -> None:
    assert_one_sentence(mneme("ls", "--frobnicate"), ExitCode.USAGE, "--frobnicate", "ls --help")


def test_verbosity_stands_before_the_verb() -> None:
    done = mneme("replay", "-v", "debug", "x")
    assert_one_sentence(done, ExitCode.USAGE, "before the verb")


def test_number_out_of_range() -> None:
    done = mneme("record", "-vass", "0", "--", "true")
    assert_one_sentence(done, ExitCode.INVALID_CONFIGURATION, "-vass")


def test_record_with_a_window_that_cannot_be_reserved_runs_nothing(tmp_path: Path) -> None:
    limited = f"ulimit -v {100 << 20}; exec {sys.executable} -m mneme record -vass 512"
    ran = tmp_path / "ran"
    done = subprocess.run(
        ["bash", "-c", f"{limited} -rdb {tmp_path / 'db'} -- touch {ran}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert_one_sentence(done, ExitCode.INVALID_CONFIGURATION, "512 GiB", "ulimit -v: 100 GiB")
    assert not ran.exists()


def test_missing_separator() -> None:
    assert_one_sentence(mneme("record", "./app"), ExitCode.USAGE, "put '--' before the program")


def test_missing_program(tmp_path: Path) -> None:
    done = mneme("run", "--device", "cpu", "--", tmp_path / "nothing")
    assert_one_sentence(done, ExitCode.PROGRAM_NOT_FOUND, "nothing", "not found")


def test_program_that_cannot_be_executed(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    done = mneme("run", "--device", "cpu", "--", tmp_path / "data")
    assert_one_sentence(done, ExitCode.CANNOT_EXECUTE, "data", "cannot be executed")


def test_missing_record(tmp_path: Path) -> None:
    done = mneme("replay", "-rdb", tmp_path / "no.json", "default<O1>")
    assert_one_sentence(done, ExitCode.RECORD_UNREADABLE, "no.json", "No such file")


def test_damaged_record(tmp_path: Path) -> None:
    (tmp_path / "17.json").write_text("{")
    done = mneme("show", tmp_path / "17.json")
    assert_one_sentence(done, ExitCode.RECORD_UNREADABLE, "17.json", "truncated")


def test_directory_without_record(tmp_path: Path) -> None:
    done = mneme("replay", "-rdb", tmp_path, "default<O1>")
    assert_one_sentence(done, ExitCode.RECORD_UNREADABLE, "no record")


def test_listing_of_what_is_no_directory(tmp_path: Path) -> None:
    assert_one_sentence(mneme("ls", tmp_path / "no"), ExitCode.RECORD_UNREADABLE, "not a directory")


def test_listing_of_an_empty_directory_is_empty(tmp_path: Path) -> None:
    done = mneme("ls", "--json", tmp_path)
    assert done.returncode == ExitCode.OK, done.stderr
    assert json.loads(done.stdout)["kernels"] == []


def test_listing_names_damaged_records_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "17.json").write_text("{")
    done = mneme("ls", "--json", tmp_path)
    assert done.returncode == ExitCode.RECORD_UNREADABLE
    assert "17.json" in done.stderr
    assert list(json.loads(done.stdout)["damaged"]) == [str(tmp_path / "17.json")]


def test_malformed_tolerance(tmp_path: Path) -> None:
    done = mneme("replay", "-rdb", tmp_path, "--tolerance", "rel:tiny", "default<O1>")
    assert_one_sentence(done, ExitCode.INVALID_CONFIGURATION, "rel:tiny")


def test_unknown_device() -> None:
    done = mneme("run", "--device", "abacus", "--", "true")
    assert_one_sentence(done, ExitCode.INVALID_CONFIGURATION, "abacus", "known devices")


def test_details_come_with_debug(tmp_path: Path) -> None:
    done = mneme("-v", "debug", "replay", "-rdb", tmp_path / "no.json", "default<O1>")
    assert done.returncode == ExitCode.RECORD_UNREADABLE
    assert "Traceback" in done.stderr


def test_closed_pipe_is_no_error() -> None:
    shell = f"{sys.executable} -m mneme --help | true"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize("verb", ["run", "record"])
@pytest.mark.parametrize("code", [0, 1, 77])
def test_exit_code_is_the_programs_own(verb: str, code: int, tmp_path: Path) -> None:
    options = ["-rdb", str(tmp_path)] if verb == "record" else []
    command = [sys.executable, "-m", "mneme", verb, *options, "--device", "cpu", "--"]
    done = subprocess.run(
        [*command, "/bin/sh", "-c", f"cat; exit {code}"],
        input="hello",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "hello")


def test_signal_is_the_programs_own() -> None:
    done = mneme("run", "--device", "cpu", "--", "/bin/sh", "-c", "kill -SEGV $$")
    assert done.returncode == -signal.SIGSEGV


def test_signals_reach_the_program() -> None:
    program = ["/bin/sh", "-c", "echo begun; exec sleep 600"]
    command = [sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", *program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=60) == -signal.SIGTERM


def test_cleaning_a_directory_leaves_what_is_only_called_like_a_record(tmp_path: Path) -> None:
    (tmp_path / "2024.json").write_text("{}")
    (tmp_path / "uv.lock").write_text("version = 1")
    done = mneme("clean", tmp_path)
    assert_one_sentence(done, ExitCode.RECORD_UNREADABLE, "holds no record")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2024.json", "uv.lock"]


@pytest.mark.parametrize("command", ["config cxx", "devices", "--help"])
@pytest.mark.parametrize("closed", ["1>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_are_no_error(command: str, closed: str) -> None:
    line = f"exec {sys.executable} -m mneme {command} {closed}"
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (ExitCode.OK, b"")


def test_a_program_finds_closed_what_was_closed(tmp_path: Path) -> None:
    check = f"exec 5>{tmp_path}/out; for i in 0 1 2; do test -e /proc/self/fd/$i; echo $? >&5; done"
    command = [sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", "sh", "-c", check]
    subprocess.run(["sh", "-c", '"$@" 0<&- 1>&- 2>&-', "sh", *command], check=True, timeout=60)
    assert (tmp_path / "out").read_text().split() == ["1", "1", "1"]


@pytest.mark.parametrize("command", ["config cxx", "--version", "devices", "tune --help"])
def test_a_full_device_is_one_sentence(command: str) -> None:
    line = f"exec {sys.executable} -m mneme {command} >/dev/full"
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == ExitCode.IO_FAILED, done.stderr
    told = b"mneme: standard output cannot be written: No space left on device\n"
    assert done.stderr == told


@pytest.mark.parametrize(
    ("command", "code"), [("ls .", ExitCode.OK), ("ls not-there", ExitCode.RECORD_UNREADABLE)]
)
def test_what_cannot_be_told_on_a_full_disk_is_told_by_the_exit_code(
    command: str, code: ExitCode, tmp_path: Path
) -> None:
    line = f"exec {sys.executable} -m mneme {command} 2>/dev/full"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, check=False, timeout=60)
    assert done.returncode == code


def test_an_interrupt_while_parts_are_loaded_is_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_arguments: list[str]) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_answers_without_parser", interrupted)
    assert cli.main(["ls"]) == ExitCode.INTERRUPTED


def test_a_current_directory_that_is_gone_is_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = mneme("record", "--device", "cpu", "--", "/bin/true")
    assert_one_sentence(done, ExitCode.IO_FAILED, "the current directory does not exist any more")
