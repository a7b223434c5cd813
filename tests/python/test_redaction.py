"""Passwords in addresses, and what is left where they are taken out."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import optuna
import pytest

from mneme.cli import _console
from mneme.cli._passwords import warn_of_readable_password
from mneme.errors import InvalidArgument, IoFailed
from mneme.files.publish import publish_own_text, publish_text
from mneme.files.redaction import has_secret, redacted, redacted_text
from mneme.report.dashboard import study_place
from mneme.session import trusted_options
from mneme.session.option_files import combine_options, write_options
from mneme.session.options import TuneOptions
from mneme.session.storages import STORAGE_VARIABLE, open_storage, storage_errors


@pytest.mark.parametrize(
    ("address", "left"),
    [
        ("postgresql://me:hidden@host/db", "postgresql://me@host/db"),
        ("postgresql+psycopg://me:hid%40den@host:5432/db?a=b", None),
        ("postgresql://me:hidden@[::1]:5432/db", "postgresql://me@[::1]:5432/db"),
        ("redis://:hidden@host/0", "redis://host/0"),
        # Signs that should have been written as %..: who forgot to does not lose the password.
        ("mysql://me:hid@den@host/db", "mysql://me@host/db"),
        ("mysql://me:hid/den?x@host/db?a=b@c", "mysql://me@host/db?a=b@c"),
        ("postgresql://host/db?user=me&password=hidden", "postgresql://host/db?user=me"),
        ("postgresql://host/db?PASSWORD=hidden", "postgresql://host/db"),
        ("postgresql://host/db?sslpassword=hidden&passfile=/f", "postgresql://host/db?passfile=/f"),
        ("mssql+pyodbc:///?odbc_connect=DSN%3Dx%3BPWD%3Dhidden", "mssql+pyodbc:///"),
    ],
)
def test_an_address_is_left_without_its_password(address: str, left: str | None) -> None:
    left = left or "postgresql+psycopg://me@host:5432/db?a=b"
    assert redacted(address) == left
    assert has_secret(address)
    assert not has_secret(left)
    assert redacted(left) == left


@pytest.mark.parametrize(
    "text",
    [
        *("journal:a:b@c", "study.journal", "sqlite:////tmp/a:b@c.db", "postgresql://me@host/db"),
        *("postgresql://host:5432/db", "http://127.0.0.1:8080/", "", "://", "a sentence: with @"),
    ],
)
def test_what_has_no_password_stays_as_it_is(text: str) -> None:
    assert redacted(text) == text
    assert redacted_text(f"<{text}>") == f"<{text}>"


def test_a_sentence_is_left_without_whole_and_partial_quotes() -> None:
    address = "postgresql://me:hid%2Fden@sec@host/db"
    said = f"cannot open {address}: no host 'sec@host', password 'hid/den@sec'"
    text = redacted_text(said, address)
    assert "postgresql://me@host/db" in text
    for part in ("hid", "den", "sec"):
        assert part not in text


def test_what_is_printed_has_no_password(capsys: pytest.CaptureFixture[str]) -> None:
    _console.say("cannot open 'postgresql://me:hidden@host/db'")
    _console.say_text("Traceback\n  connect('mysql://me:hidden@host/db')")
    said = capsys.readouterr().err
    assert "'postgresql://me@host/db'" in said
    assert "'mysql://me@host/db'" in said


def options(storage: str, **more: object) -> TuneOptions:
    return TuneOptions(
        record_database="x", sampler="random", trials=4, optuna_storage=storage, **more
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["config.json", "config.yaml"])
def test_files_of_options_hold_no_password_and_are_their_owners(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.touch(0o644)
    write_options(path, options("postgresql://me:hidden@host/db"))
    assert "hidden" not in path.read_text()
    assert combine_options({}, path).optuna_storage == "postgresql://me@host/db"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    write_options(tmp_path / "plain.json", options("study.journal"))
    assert (tmp_path / "plain.json").stat().st_mode & 0o044


@pytest.mark.parametrize("publish", [publish_text, publish_own_text])
def test_a_private_file_is_its_owners_also_where_it_was_not(
    tmp_path: Path, publish: object
) -> None:
    assert callable(publish)
    path, linked = tmp_path / "file", tmp_path / "second name"
    path.touch(0o664)
    linked.hardlink_to(path)  # such a file is written in place
    for _ in range(2):
        publish(path, "text", is_private=True)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_errors_of_storages_hold_no_password(tmp_path: Path) -> None:
    address = "postgresql://me:hid:den@host/db"
    with pytest.raises(IoFailed) as failure, storage_errors(address):
        raise OSError(f"cannot reach {address}: port 'den@host' is not a number")
    assert "hid" not in str(failure.value)
    assert "den" not in str(failure.value)
    for wrong in ("mysql+nothing://me:hidden@h/db", "postgresql+psycopg://me:hidden@h:x:y/db"):
        with pytest.raises(InvalidArgument) as refusal:
            open_storage(wrong)
        assert "hidden" not in str(refusal.value)
        assert refusal.value.__cause__ is None


def test_a_stored_address_gets_its_password_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(optuna.storages, "RDBStorage", lambda url, **_: opened.append(url))
    stored = "mysql://me@host/db"
    for given in ("mysql://me:hidden@host/db", "mysql://me:hidden@elsewhere/db", ""):
        monkeypatch.setenv(STORAGE_VARIABLE, given)
        open_storage(stored)
    assert opened == ["mysql://me:hidden@host/db", stored, stored]


def test_old_files_that_hold_a_password_are_quoted_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"optuna_storage": "postgresql://me:hidden@host/db"}')
    path.chmod(0o666)  # which is nobody's own
    with pytest.raises(InvalidArgument) as refusal:
        study_place(tmp_path)
    assert "hidden" not in str(refusal.value)
    with pytest.raises(InvalidArgument) as refusal:
        trusted_options.check_trusted(path, {"optuna_storage": "mysql://me:hidden@host/db"}, {})
    assert "--optuna-storage mysql://me@host/db" in str(refusal.value)


def test_a_password_among_the_arguments_is_named_as_visible(tmp_path: Path) -> None:
    url = "postgresql://me:s3cr3t@127.0.0.1:1/study"
    line = [sys.executable, "-m", "mneme", "tune", "-rdb", str(tmp_path), "--trials", "1"]
    hidden = {**os.environ, STORAGE_VARIABLE: url}
    told = []
    for more, environment in (["--optuna-storage", url], dict(os.environ)), ([], hidden):
        done = subprocess.run(
            [*line, *more], capture_output=True, text=True, check=False, env=environment, timeout=60
        )
        assert "s3cr3t" not in done.stdout + done.stderr
        told.append("visible to everybody on this machine" in done.stderr)
    assert told == [True, False]
    for words in (["study", url], ["scaffold", "slurm", str(tmp_path), "--storage", url]):
        done = subprocess.run(
            [sys.executable, "-m", "mneme", *words], capture_output=True, text=True, check=False
        )
        assert "visible to everybody on this machine" in done.stderr
        assert "s3cr3t" not in done.stdout + done.stderr


@pytest.mark.parametrize(("mode", "is_told"), [(0o644, True), (0o640, True), (0o600, False)])
def test_a_password_in_a_file_of_options_that_others_read_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: int, *, is_told: bool
) -> None:
    url, file = "postgresql://me:s3cr3t@127.0.0.1:1/study", tmp_path / "options.yaml"
    file.write_text(f"optuna_storage: '{url}'\n")
    file.chmod(mode)
    warn_of_readable_password(url, file)
    said = capsys.readouterr().err
    assert (f"say 'chmod 600 {file}'" in said) == is_told
    assert "s3cr3t" not in said
    warn_of_readable_password("postgresql://me:other@127.0.0.1:1/study", file)
    warn_of_readable_password("study.journal", file)
    assert not capsys.readouterr().err
