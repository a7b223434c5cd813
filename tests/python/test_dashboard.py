"""The dashboard serves a directory's study and ends when it is told to."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import optuna
import pytest

from mneme.cli.app import run
from mneme.cli.exit_codes import ExitCode
from mneme.errors import InvalidArgument, NotFound
from mneme.report.dashboard import study_place
from mneme.session.storages import open_storage


def make_study(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    storage = open_storage(str(directory / "study.journal"))
    study = optuna.create_study(storage=storage, study_name="mneme")
    study.add_trial(optuna.trial.create_trial(value=17.0))


def test_study_is_served_until_interrupted(tmp_path: Path) -> None:
    pytest.importorskip("optuna_dashboard", reason="optuna-dashboard is not installed")
    make_study(tmp_path)
    line = [sys.executable, "-m", "mneme", "dashboard", str(tmp_path), "--port", "0"]
    server = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr
        said = server.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", said)
        assert found, said + server.stderr.read()
        with urllib.request.urlopen(f"{found[0]}api/studies", timeout=60) as answer:
            (study,) = json.loads(answer.read())["study_summaries"]
        assert study["study_name"] == "mneme"
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == ExitCode.OK
        assert server.stderr.read() == ""
    finally:
        server.kill()
        server.wait()
        if server.stderr:
            server.stderr.close()


def test_port_in_use_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna_dashboard", reason="optuna-dashboard is not installed")
    make_study(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert run(["dashboard", str(tmp_path), "--port", port]) == ExitCode.IO_FAILED
    assert f"cannot listen on port {port}" in capsys.readouterr().err


def test_place_is_the_journal_or_the_shared_storage(tmp_path: Path) -> None:
    make_study(tmp_path)
    assert study_place(tmp_path) == str(tmp_path / "study.journal")
    options = {"optuna_storage": "postgresql://host/db"}
    (tmp_path / "config.json").write_text(json.dumps(options))
    assert study_place(tmp_path) == "postgresql://host/db"


def test_directory_without_or_with_several_studies_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no study"):
        study_place(tmp_path)
    make_study(tmp_path / "a")
    assert study_place(tmp_path) == str(tmp_path / "a" / "study.journal")
    make_study(tmp_path / "b")
    with pytest.raises(InvalidArgument, match="2 launches"):
        study_place(tmp_path)


def test_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_study(tmp_path)
    monkeypatch.setitem(sys.modules, "optuna_dashboard", None)
    assert run(["dashboard", str(tmp_path)]) == ExitCode.UNAVAILABLE
    assert "pip install optuna-dashboard" in capsys.readouterr().err
