"""Whatever is wrong with tuned kernels, the program says so once and computes the same."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, Finished, mneme
from tuned_runs import TRACE, Counts, counts, kernels_of, warnings, write_tuned

PROGRAM = BUILD / "tests" / "apps" / "tuned" / "reset"  # one kernel with variables
STALE = """{"_Z7advancePii":
  {"Mneme": {"Version": 1, "StaticHash": "0123456789abcdef", "Variants": [{}]}}}"""
OTHERS = json.dumps({f"other{number}": {} for number in range(100)})
RunTuned = Callable[..., Finished]


def guarded(guard: str, **match: Any) -> str:
    """A file whose variant is for launches or devices that do not come."""
    return json.dumps({"_Z7advancePii": {"Match": match, "Guards": [guard]}})


@pytest.fixture(scope="module")
def plain() -> Finished:
    """The program without tuned kernels."""
    assert PROGRAM.exists(), f"{PROGRAM} is not built: run scripts/test"
    done = mneme("run", "--", PROGRAM)
    assert done.returncode == 0, done.stdout
    return done


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A good file of tuned kernels and an empty cache."""
    tuned = write_tuned(tmp_path / "tuned.json", kernels_of([PROGRAM]))
    return {
        "PROTEUS_TUNED_KERNELS": str(tuned),
        "PROTEUS_CACHE_DIR": str(tmp_path / "cache"),
        "PROTEUS_TRACE_OUTPUT": TRACE,
    }


@pytest.fixture
def run_tuned(plain: Finished, environment: dict[str, str]) -> RunTuned:
    """Runs the program tuned and checks that it prints the same."""

    def run(**changed: str) -> Finished:
        done = mneme("run", "--", PROGRAM, **{**environment, **changed})
        assert done.stdout == plain.stdout, done.stderr
        assert done.returncode == 0, done.stderr
        return done

    return run


def the_warning(done: Finished) -> str:
    said = warnings(done.stderr)
    assert len(said) == 1, done.stderr
    return said[0]


def entries(cache: Path) -> list[Path]:
    """Files of the cache with an image in them."""
    return [path for path in cache.rglob("*") if path.is_file() and path.stat().st_size > 0]


def test_nothing_is_said_when_all_is_well(run_tuned: RunTuned) -> None:
    done = run_tuned()
    assert warnings(done.stderr) == []
    assert counts(done.stderr) == Counts(9, 0, 1, 0, 0)
    assert counts(run_tuned().stderr) == Counts(9, 0, 1, 1, 0)
    silent = run_tuned(PROTEUS_TRACE_OUTPUT="")
    assert silent.stderr == ""


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("{", "tuned.json"),
        ("[]", "tuned.json"),
        ("\0\1\2", "tuned.json"),
        ('{"_Z7advancePii": 3}', "_Z7advancePii"),
        ('{"_Z7advancePii": {"Pipeline": 7}}', "Pipeline"),
        ('{"_Z7advancePii": {"Pipeline": "no-such-pass"}}', "no-such-pass"),
        (STALE, "tune it again"),
        ("{}", "names no kernel"),
        (OTHERS, "for 100 kernel(s) ('other0', 'other1', 'other10', ...), none of which is in"),
        (guarded("Arch", Arch="sm_10"), "not used on 'cpu': the file has it for sm_10 only"),
        (guarded("Grid", GridDim={"x": 12345}), "met the guards of its variants"),
    ],
    ids=[
        *("cut off", "a list", "no text", "a number", "wrong type", "unknown pass", "stale"),
        *("no kernel", "other kernels", "other device", "other launches"),
    ],
)
def test_a_bad_file_costs_its_kernels_only(
    content: str, word: str, run_tuned: RunTuned, environment: dict[str, str]
) -> None:
    Path(environment["PROTEUS_TUNED_KERNELS"]).write_text(content)
    done = run_tuned()
    assert word in the_warning(done)
    assert counts(done.stderr).tuned == 0


def test_a_missing_file_is_named(run_tuned: RunTuned) -> None:
    assert "/nowhere/tuned.json" in the_warning(
        run_tuned(PROTEUS_TUNED_KERNELS="/nowhere/tuned.json")
    )


def test_a_cache_that_cannot_be_made(run_tuned: RunTuned, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = run_tuned(PROTEUS_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert "file/cache" in the_warning(done)
    assert counts(done.stderr).tuned == 9


def test_a_cache_that_others_can_write_to(run_tuned: RunTuned, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    done = run_tuned()
    assert str(cache) in the_warning(done)
    assert counts(done.stderr).tuned == 9
    assert entries(cache) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")
def test_a_cache_of_somebody_else(run_tuned: RunTuned, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    os.chown(cache, 65534, 65534)
    done = run_tuned()
    assert str(cache) in the_warning(done)
    assert counts(done.stderr).tuned == 9
    assert entries(cache) == []


def test_a_full_disk(plain: Finished, environment: dict[str, str], tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=4k,mode=0700 tmpfs '{disk}' && printf x >'{disk}/filler'"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], check=False).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    command = f"{mount} && exec '{sys.executable}' -m mneme run -- '{PROGRAM}'"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", command],
        env={**os.environ, **environment, "PROTEUS_CACHE_DIR": str(disk)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == (plain.stdout, 0), done.stderr
    assert "not kept" in the_warning(Finished(done.returncode, done.stdout, done.stderr))
    assert counts(done.stderr).tuned == 9


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("kill -SEGV $$", "signal 11"),
        ("exec sleep 1000", "was ended after"),
        ("echo nonsense", "without an answer"),
        ("exit 3", "without an answer"),
    ],
    ids=["crashes", "hangs", "lies", "fails"],
)
def test_a_compiler_that(text: str, word: str, run_tuned: RunTuned, tmp_path: Path) -> None:
    done = run_tuned(
        MNEME_COMPILE_PROGRAM=script(tmp_path / "compiler", text), MNEME_JIT_TIMEOUT="1"
    )
    assert word in the_warning(done)
    assert counts(done.stderr).tuned == 0


def test_a_compiler_that_is_not_there(run_tuned: RunTuned) -> None:
    done = run_tuned(MNEME_COMPILE_PROGRAM="/nowhere/compiler")
    assert "/nowhere/compiler" in the_warning(done)
    assert counts(done.stderr).tuned == 0


def test_eight_processes_compile_once(run_tuned: RunTuned) -> None:
    with ThreadPoolExecutor(8) as pool:
        finished = [run.result() for run in [pool.submit(run_tuned) for _ in range(8)]]
    assert all(warnings(done.stderr) == [] for done in finished)
    total = counts("\n".join(done.stderr for done in finished))
    assert total.binaries - total.stored_before == 1


def test_kill_while_compiling_and_storing(
    run_tuned: RunTuned, environment: dict[str, str], tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    for files in range(1, 4):  # killed with so many files there
        process = subprocess.Popen(
            [sys.executable, "-m", "mneme", "run", "--", str(PROGRAM)],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while process.poll() is None and len(list(cache.rglob("*"))) < files:
            pass
        with contextlib.suppress(ProcessLookupError):  # it was quicker
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        done = run_tuned()
        assert warnings(done.stderr) == []
        assert counts(done.stderr).tuned == 9
        for path in entries(cache):
            path.unlink()


@pytest.mark.parametrize("damage", ["flipped", "cut off", "empty"])
def test_a_damaged_cache_entry_is_compiled_again(
    damage: str, run_tuned: RunTuned, tmp_path: Path
) -> None:
    run_tuned()
    found = entries(tmp_path / "cache")
    assert found
    for path in found:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0xFF
        kept = {"flipped": len(content), "cut off": len(content) // 2, "empty": 0}[damage]
        path.write_bytes(content[:kept])
    done = run_tuned()
    assert len(warnings(done.stderr)) <= 1
    assert counts(done.stderr) == Counts(9, 0, 1, 0, 0)
    assert counts(run_tuned().stderr) == Counts(9, 0, 1, 1, 0)
