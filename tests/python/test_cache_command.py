"""`mneme cache` on entries as the runtime writes them, damaged ones, and other people's files."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from native_parts import needs_native

pytestmark = needs_native

KEYS = [f"{number:032x}" for number in range(1, 4)]


def entry(key: str, image: bytes, **statistics: str) -> bytes:
    from mneme import _native  # noqa: PLC0415 - where there is one

    payload = b""
    for text in (image, b"", b"", json.dumps(statistics).encode()):
        payload += len(text).to_bytes(8, "little") + text
    halves = [bytes.fromhex(word)[::-1] for word in (key, _native.content_hash(payload))]
    return b"MNEMECC1" + b"".join(halves) + payload


def put(directory: Path, name: str, content: bytes, days: float = 0) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_bytes(content)
    then = time.time() - days * 86400
    os.utime(path, (then, then))
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Two kernels, a host function, and files that are not entries."""
    folder = tmp_path / "cache"
    put(folder, f"{KEYS[0]}.mnemec", entry(KEYS[0], b"a" * 1000, kernel="_Z1av", target="sm_90"), 3)
    put(folder, "0-cache-jit-17.o", entry(KEYS[1], b"b" * 2000, kernel="_Z1bv", target="cpu"), 2)
    put(folder, "1-cache-jit-18.so", entry(KEYS[2], b"c" * 4000, passes="default<O3>"), 1)
    put(folder, f"{KEYS[1]}.mnemec", b"MNEMECC1 a lookalike" + b" " * 100)
    put(folder, f"{KEYS[2]}.mnemec", entry(KEYS[0], b"key of another"))
    put(folder, "notes.txt", b"mine")
    put(folder, "cache-jit-1.o", b"")
    (folder / "cache-jit-2.o").symlink_to(folder / "0-cache-jit-17.o")
    return folder


def mneme(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mneme", "cache", *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, **variables},
    )  # fmt: skip


def read(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    done = mneme(*arguments, "--json")
    assert (done.returncode, done.stderr) == (code, "")
    facts = json.loads(done.stdout)
    assert isinstance(facts, dict)
    return facts


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_entries_are_listed_by_their_last_use_with_what_they_hold(cache: Path) -> None:
    entries = read("ls", cache)["entries"]
    facts = [[Path(one["file"]).name, *list(one.values())[3:]][1:] for one in entries]
    assert [Path(one["file"]).name for one in entries] == [
        "1-cache-jit-18.so", "0-cache-jit-17.o", f"{KEYS[0]}.mnemec",
    ]  # fmt: skip
    assert [one[1:] for one in facts] == [
        ["host function", "", ""],
        ["kernel", "_Z1bv", "cpu"],
        ["kernel", "_Z1av", "sm_90"],
    ]
    assert [one["key"] for one in entries] == KEYS[::-1]
    table = mneme("ls", cache)
    assert "b()" in table.stdout
    assert "notes" not in table.stdout


def test_totals_are_those_of_the_entries(cache: Path) -> None:
    facts = read("stats", cache)
    assert (facts["entries"], facts["kernels"], facts["host_functions"]) == (3, 2, 1)
    assert facts["bytes"] == sum(one["bytes"] for one in read("ls", cache)["entries"])
    assert "3 entries" in mneme("stats", cache).stdout


def test_damaged_entries_are_named_and_deleted_when_asked(cache: Path) -> None:
    assert read("verify", cache)["damaged"] == []
    victim = cache / "0-cache-jit-17.o"
    content = bytearray(victim.read_bytes())
    content[300] ^= 1
    victim.write_bytes(content)
    assert read("verify", cache, code=1)["damaged"] == [str(victim)]
    assert str(victim) in mneme("verify", cache).stdout
    before = names(cache)
    assert mneme("verify", cache, "--delete").returncode == 1
    assert before - names(cache) == {victim.name}
    assert read("verify", cache)["entries"] == 2


@pytest.mark.parametrize("cut", [0, 39, 41, 100, 2000])
def test_truncated_entries_are_no_sound_ones(cut: int, tmp_path: Path) -> None:
    put(tmp_path, "0-cache-jit-1.o", entry(KEYS[0], b"x" * 3000)[:cut])
    facts = read("verify", tmp_path, code=1 if cut > 39 else 0)
    assert len(facts["damaged"]) == facts["entries"] == (1 if cut > 39 else 0)


def test_what_was_not_used_for_longest_goes_first(cache: Path) -> None:
    others = {name for name in names(cache) if name[0] in "nc"} | {
        f"{key}.mnemec" for key in KEYS[1:]
    }
    facts = read("prune", cache, "--max-bytes", "7K")
    assert [Path(name).name for name in facts["deleted"]] == [f"{KEYS[0]}.mnemec"]
    assert facts["entries"] == 2
    facts = read("prune", cache, "--older-than", "36h")
    assert [Path(name).name for name in facts["deleted"]] == ["0-cache-jit-17.o"]
    assert mneme("prune", cache, "--max-bytes", "0").returncode == 0
    assert names(cache) == others


def test_sound_entries_are_exported_under_names_of_all_ranks(cache: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    put(cache, "2-cache-jit-17.o", (cache / "0-cache-jit-17.o").read_bytes())
    put(cache, "3-cache-jit-19.o", entry("f" * 32, b"y")[:-1])
    facts = read("export", site, "--from", cache, code=1)
    assert len(facts["exported"]) == 3
    assert [Path(name).name for name in facts["damaged"]] == ["3-cache-jit-19.o"]
    assert names(site) == {f"{key}.mnemec" for key in KEYS}
    assert stat.S_IMODE(site.stat().st_mode) == 0o755
    assert {stat.S_IMODE(path.stat().st_mode) for path in site.iterdir()} == {0o644}
    assert read("verify", site)["entries"] == 3
    again = mneme("export", site, "--from", cache)
    assert "copied 0 of 5 entries" in again.stderr


def test_damaged_entries_of_a_site_are_replaced(cache: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    read("export", site, "--from", cache)
    victim = site / f"{KEYS[1]}.mnemec"
    victim.write_bytes(victim.read_bytes()[:-3])
    assert read("export", site, "--from", cache)["exported"] == [str(victim)]
    assert read("verify", site)["damaged"] == []


def test_without_a_directory_it_is_that_of_programs(cache: Path) -> None:
    done = mneme("stats", "--json", PROTEUS_CACHE_DIR=str(cache))
    assert json.loads(done.stdout)["entries"] == 3
    done = mneme("stats", "--replays", "--json", MNEME_CACHE_DIR=str(cache.parent / "own"))
    assert json.loads(done.stdout)["directory"] == str(cache.parent / "own")


def test_a_cache_among_other_things_is_in_a_directory_of_its_own(tmp_path: Path) -> None:
    put(tmp_path, "notes.txt", b"mine")
    put(tmp_path / "mneme-cache", "0-cache-jit-1.o", entry(KEYS[0], b"x"))
    assert read("stats", tmp_path)["entries"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["ls", "none"], 4, "'none' is not a cache: there is no such directory"),
        (["prune", "{}"], 3, "prune needs --max-bytes, --older-than or both"),
        (["prune", "{}", "--max-bytes", "many"], 2, "'many' is not a number such as 500M or 2G"),
        (["prune", "{}", "--older-than", "-1d"], 2, "'-1d' is not a number such as 12h or 30d"),
        (["export"], 3, "export needs the directory to copy to"),
        (["export", "site", "--from", "none"], 4, "'none' is not a cache"),
        (["ls", "{}", "--replays"], 3, "are two caches; name one"),
        (["melt"], 2, "'melt' is not one of"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], code: int, sentence: str, tmp_path: Path
) -> None:
    done = mneme(*(one.format(tmp_path) for one in arguments))
    assert done.returncode == code
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert sentence in done.stderr


def test_options_of_other_actions_are_said_to_do_nothing(cache: Path) -> None:
    done = mneme("stats", cache, "--delete", "--max-bytes", "1K")
    assert done.returncode == 0
    assert "--delete does nothing without verify" in done.stderr
    assert "--max-bytes does nothing without prune" in done.stderr
