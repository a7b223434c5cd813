"""What `mneme bisect` makes of code that crashes a pass, with programs in place of LLVM's."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mneme.bisect.reduction import LlvmTools, reduce_crash


def tools(tmp_path: Path, opt: str, reduce: str) -> LlvmTools:
    found = LlvmTools(opt=tmp_path / "opt", reduce=tmp_path / "llvm-reduce")
    for path, script in ((found.opt, opt), (found.reduce, reduce)):
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return found


@pytest.fixture
def output(tmp_path: Path) -> Path:
    path = tmp_path / "with 'quotes' and blanks"
    path.mkdir()
    (path / "before.ll").write_text("one\ntwo\n")
    return path


def test_what_does_not_crash_alone_is_left(output: Path, tmp_path: Path) -> None:
    made = tools(tmp_path, "exit 0", "exit 1")
    assert "does not crash in opt" in reduce_crash(output, "gvn", {}, made, 60)
    assert [one.name for one in output.iterdir()] == ["before.ll"]


def test_a_plugin_is_named_without_its_hash(output: Path, tmp_path: Path) -> None:
    plugins = "/a@b/one.so:/a@b/two.so@0123456789abcdef"
    made = tools(tmp_path, "kill -SEGV $$", 'for last; do :; done; echo less > "$last"')
    told = reduce_crash(output, "gvn", {"pass_plugins": plugins}, made, 60)
    assert told == "reduced.ll: 2 lines became 1, on which gvn still crashes"
    test = (output / "crashes.sh").read_text()
    assert "-load-pass-plugin=/a@b/one.so -load-pass-plugin=/a@b/two.so " in test


def test_at_the_limit_processes_and_files_of_the_reduction_go(
    output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    pid = tmp_path / "pid"
    reduce = f'touch "$TMPDIR/variant"; sleep 600 & echo $! > "{pid}"; wait'
    made = tools(tmp_path, "kill -SEGV $$", reduce)
    begin = time.monotonic()
    told = reduce_crash(output, "gvn", {}, made, 2)
    assert told.endswith("2 lines became 2, on which gvn still crashes, in 2 seconds")
    assert list(temporary.iterdir()) == []
    if pid.exists():  # it had begun
        assert not _runs(int(pid.read_text()), begin)


def _runs(process: int, begin: float) -> bool:
    """Whether a process is there, which the kernel may still be ending."""
    while time.monotonic() < begin + 60:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        os.sched_yield()
    return True
