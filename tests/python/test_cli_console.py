"""What is printed shows names from elsewhere as text: no terminal escape, no forged line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deploy_samples import best, facts, write_result
from mneme.cli import _console, main
from mneme.files.visible import visible
from native_parts import needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
RECORD = "16372073875777044691.json"
HOSTILE = "k\x1b[2J\x1b]0;title\x07\r\n\x9b31m\u2028\u202e[red]:smile:\x7f()"
SHOWN = r"k\x1b[2J\x1b]0;title\x07\x0d\x0a\x9b31m\u2028\u202e[red]:smile:\x7f()"


def is_harmless(text: str) -> bool:
    return all(one.isprintable() or one == "\n" for one in text)


@pytest.mark.parametrize("text", ["scale<float>(float*, int)", "größe", "a b", "\U0001f600"])
def test_ordinary_names_are_shown_as_they_are(text: str) -> None:
    assert visible(text) == text


def test_other_characters_are_shown_by_their_code() -> None:
    assert visible(HOSTILE) == SHOWN
    assert visible("\U000e0001\ud800\ufffe") == r"\U000e0001\ud800\ufffe"


def test_a_table_is_a_list_where_it_would_be_a_letter_wide(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = _console.table("results", ("kernel", ">share", "gain", ""))
    content.add_row("heavy", "98 %", "-", "nothing is faster")
    content.add_row("other[x]", "2 %", "-", "")
    monkeypatch.setenv("COLUMNS", "39")
    _console.print_table(content)
    assert capsys.readouterr().out == (
        "results\nheavy\n  share: 98 %\n  gain: -\n  nothing is faster\n"
        "other[x]\n  share: 2 %\n  gain: -\n"
    )
    monkeypatch.setenv("COLUMNS", "40")
    _console.print_table(content)
    lines = capsys.readouterr().out.splitlines()
    assert any("heavy" in line and "98 %" in line for line in lines)
    assert all(len(line) <= 40 for line in lines)


@pytest.mark.parametrize("width", [None, 80, 100, 160, 1000])
def test_a_table_fits_and_its_rows_differ(
    width: int | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = _console.table("t", ("kernel", "place", "record", ">time", "~why", "file"))
    for number in range(20):
        name = f"update_halo_kernel<{'Kokkos::RangePolicy, ' * 10}lambda{number}>"
        why = "the code changed since it was tuned: record and tune it again"
        path = f"/home/a/build/{'folder/' * 6}program"
        content.add_row(
            name, f"update_halo.cpp:{number}", f"{2**63 + number}.json", "1.2 ms", why, path
        )
    if width is None:  # a pipe is as wide as a small terminal
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(width))
    width = width or 80
    _console.print_table(content)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= width for line in lines)
    rows = [line for line in lines if "1.2 ms" in line]
    assert len(set(rows)) == 20
    assert len({line for line in lines if "update_halo_kernel" in line or "lambda" in line}) == 20
    assert len(lines) <= 20 * (7 if width == 80 else 4) + 5


def test_a_long_name_stands_above_its_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = _console.table("", ("kernel", "place", ">launches", ">stored", ">time", "~record"))
    for kind in ("mul", "add"):
        name = f"for_each_kernel<CUDAStream<double>::{kind}::'lambda'>"
        content.add_row(name, "CUDAStream.cu:248", "12000", "5.5 KiB", "78.91 µs", f"{kind}.json")
    monkeypatch.setenv("COLUMNS", "64")
    _console.print_table(content)
    assert capsys.readouterr().out == (
        "kernel\n  place             launches  stored     time\n"
        "─────────────────────────────────────────────\n"
        "for_each_kernel<CUDAStream<double>::mul::'lambda'>\n"
        "  CUDAStream.cu:248    12000 5.5 KiB 78.91 µs\n  record: mul.json\n"
        "for_each_kernel<CUDAStream<double>::add::'lambda'>\n"
        "  CUDAStream.cu:248    12000 5.5 KiB 78.91 µs\n  record: add.json\n"
    )


def test_an_encoding_without_a_letter_shows_its_code() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mneme", "show", GOLDEN / RECORD],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\xb5s" in done.stdout, "of microseconds"


def test_every_way_to_print_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    _console.say(HOSTILE)
    _console.print_line(HOSTILE)
    content = _console.table(HOSTILE, ("name",))
    content.add_row(HOSTILE)
    _console.print_table(content)
    _console.print_json({HOSTILE: HOSTILE})
    _console.print_text(f"{HOSTILE}\nnext")
    _console.say_text(f"{HOSTILE}\nnext\n")
    _console.stderr_console().print(content)
    out, err = capsys.readouterr()
    assert is_harmless(out)
    assert is_harmless(err)
    assert err.startswith(f"mneme: {SHOWN}\n")
    assert out.startswith(f"{SHOWN}\n{SHOWN}")
    assert json.loads("{" + out.partition("{")[2].rpartition("}")[0] + "}") == {HOSTILE: HOSTILE}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording with hostile names."""
    shutil.copytree(GOLDEN, tmp_path / "recording")
    path = tmp_path / "recording" / RECORD
    data: dict[str, Any] = json.loads(path.read_text())
    data.pop("Checksum", None)
    data["DemangledName"] = data["Device"] = data["Arch"] = HOSTILE
    data["ArgNames"] = [HOSTILE for _ in data["ArgNames"]]
    data["ArgTypes"] = [HOSTILE for _ in data["ArgTypes"]]
    path.write_text(json.dumps(data))
    return path


def mneme(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mneme", *(str(one) for one in arguments)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
        env={**os.environ, "MNEME_DEVICE": "cpu"},
    )


VERBS = {
    "ls": ["ls", "{directory}"],
    "show": ["show", "{record}"],
    "replay": ["replay", "-rdb", "{record}", "default<O1>"],
    "compile": ["compile", "{record}", "default<O1>"],
    "tune": ["tune", "-rdb", "{record}", "--trials", "1", "--results-dir", "{out}"],
    "replay of nothing": ["replay", "-rdb", "{record}/" + HOSTILE, "default<O1>"],
    "show of nothing": ["show", HOSTILE],
    "explain of nothing": ["explain", HOSTILE],
    "no such verb": [HOSTILE],
    "no such option": ["ls", f"--{HOSTILE}"],
    "no such pass": ["replay", "-rdb", "{record}", f"no such pass {HOSTILE}"],
    "no such tolerance": ["replay", "-rdb", "{record}", "default<O1>", "--tolerance", HOSTILE],
    "debug": ["-v", "debug", "show", HOSTILE],
    "copy": ["copy", "{record}", "{out}/" + HOSTILE],
}


@pytest.mark.compile
@needs_native
@pytest.mark.parametrize("verb", VERBS)
def test_hostile_names_are_shown_as_text(verb: str, recording: Path, tmp_path: Path) -> None:
    places = {"directory": recording.parent, "record": recording, "out": tmp_path / "out"}
    done = mneme(*(part.format(**places) for part in VERBS[verb]))
    assert is_harmless(done.stdout), done.stdout
    assert is_harmless(done.stderr), done.stderr
    assert r"\x1b" in done.stdout + done.stderr or verb in ("replay", "compile")


def test_deployed_names_are_shown_as_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_result(tmp_path / "results", best(facts=facts(demangled_name=HOSTILE)))

    main(["deploy", str(tmp_path / "results"), "-o", str(tmp_path / "tuned.json")])
    main(["deploy", str(tmp_path / "results"), "--min-gain", "9", "-o", f"{tmp_path}/t.json"])
    out, err = capsys.readouterr()
    assert is_harmless(out)
    assert is_harmless(err)
    assert SHOWN in err
