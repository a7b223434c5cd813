"""Levels of the cache on disk: in which order they are asked, what fills them, what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import Run, build, run

pytestmark = [pytest.mark.compile]

SOURCE = Path(__file__).parent / "host" / "recursion.cpp"
CHAIN = [
    "[ObjectCacheChain] Added cache level: storage",
    "[ObjectCacheChain] Added cache level: site",
    "[ObjectCacheChain] Chain for JitEngineHost: Storage -> Site",
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(SOURCE, tmp_path_factory.mktemp("levels") / "program", "-O1")


@pytest.fixture
def site(program: Path, tmp_path: Path) -> Path:
    """What `mneme cache export` makes of the cache of another rank."""
    run(program, cache=tmp_path / "filled", PMI_RANK="5")
    directory = tmp_path / "site"
    command = [sys.executable, "-m", "mneme", "cache", "export", directory]
    subprocess.run(
        [*map(str, command), "--from", str(tmp_path / "filled")], check=True, capture_output=True
    )
    return directory


def level_lines(done: Run) -> list[str]:
    begin = "[proteus][JitEngineHost] "
    lines = [line.removeprefix(begin) for line in done.statistics]
    at = next(index for index, line in enumerate(lines) if line.startswith("ObjectCacheChain"))
    return lines[at:]


def test_site_is_asked_last_and_fills_the_directory(
    program: Path, site: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    first = run(program, cache=cache, MNEME_JIT_SITE_CACHE=str(site))
    second = run(program, cache=cache, MNEME_JIT_SITE_CACHE=str(site))
    count = len(list(site.iterdir()))
    assert first.errors == second.errors == ""
    assert first.lines == second.lines
    for done, level, hits in ((first, "1 (Site)", (0, count)), (second, "0 (Storage)", (count, 0))):
        assert done.traces[:3] == CHAIN
        found = done.traces[3:]
        assert len(found) == count
        assert all(f"Hit at level {level} for hash " in line for line in found)
        assert level_lines(done) == [
            "ObjectCacheChain rank 0 with 2 level(s):",
            f"StorageCache rank 0 hits {hits[0]} accesses {count}",
            f"SiteCache rank 0 hits {hits[1]} accesses {hits[1]}",
        ]
    assert len(list(cache.glob("0-cache-jit-*.so"))) == count


@pytest.mark.parametrize("harm", ["truncated", "foreign", "writable", "open", "missing"])
def test_what_is_wrong_with_a_site_costs_one_warning(
    program: Path, site: Path, tmp_path: Path, harm: str
) -> None:
    for entry in site.iterdir():
        if harm == "truncated":
            os.truncate(entry, entry.stat().st_size - 1)
        elif harm == "foreign":
            entry.write_bytes(b"somebody's notes" * 100)
        elif harm == "writable":
            entry.chmod(0o666)
    if harm == "open":
        site.chmod(0o777)
    place = tmp_path / "none" if harm == "missing" else site
    before = {entry: entry.read_bytes() for entry in site.iterdir()}
    done = run(program, cache=tmp_path / "cache", MNEME_JIT_SITE_CACHE=str(place))
    plain = run(program, cache=tmp_path / "other")
    assert done.lines == plain.lines
    assert len(done.errors.splitlines()) == 1, done.errors
    assert str(place) in done.errors
    assert done.specializations() == plain.specializations()
    assert {entry: entry.read_bytes() for entry in site.iterdir()} == before


def test_without_stored_code_no_level_is_asked(program: Path, site: Path, tmp_path: Path) -> None:
    done = run(
        program, cache=tmp_path / "cache",
        MNEME_JIT_SITE_CACHE=str(site), PROTEUS_USE_STORED_CACHE="0",
    )  # fmt: skip
    assert "ObjectCacheChain" not in "".join(done.traces + done.statistics)
    assert not (tmp_path / "cache").exists()


def test_unknown_level_ends_the_program(program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(program)], capture_output=True, text=True, check=False,
        env={
            **os.environ,
            "PROTEUS_CACHE_DIR": str(tmp_path),
            "PROTEUS_OBJECT_CACHE_CHAIN": "Storage,tape",
        },
    )  # fmt: skip
    assert done.returncode == -6
    fatal = done.stderr.splitlines()[-1]
    assert fatal.startswith("[proteus][FATAL ERROR] ")
    assert fatal.endswith(" => Unknown cache type: tape")
