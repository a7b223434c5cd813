"""What a process of a pool raises can be sent to who called it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from cluster_parts import CPU, PROGRAM, dask_nodes, mneme
from mneme.errors import NotFound
from mneme.measure.sent_errors import sends_errors
from native_parts import needs_native

FALLING = """
from mneme.measure import remote_evaluation
def fall(frames, *_):
    if frames:
        fall(frames - 1)
    raise RuntimeError("it fell")
remote_evaluation._open = lambda *_: fall(850)
"""


class _Particular(Exception):  # noqa: N818 - an example
    """It has something in it that cannot be pickled."""

    def __init__(self, one: object, another: object) -> None:
        super().__init__(f"{one} and {another}")
        self.both = lambda: (one, another)


class _Nested(Exception):  # noqa: N818 - an example
    """It has more in it than pickle goes into."""

    def __init__(self, depth: int) -> None:
        super().__init__("nested")
        self.inner: list[Any] = []
        for _ in range(depth):
            self.inner = [self.inner]


@sends_errors
def fails(error: Exception, frames: int = 0) -> None:
    """Raise an error from so many frames below."""
    if frames:
        fails.__wrapped__(error, frames - 1)  # type: ignore[attr-defined]
    raise error


def frames_of(error: BaseException) -> int:
    at, count = error.__traceback__, 0
    while at is not None:
        at, count = at.tb_next, count + 1
    return count


@pytest.mark.parametrize(("frames", "most"), [(10, 20), (900, 5)])
def test_a_traceback_of_very_many_frames_is_not_sent(frames: int, most: int) -> None:
    with pytest.raises(NotFound, match="nowhere") as raised:
        fails(NotFound("nowhere"), frames)
    assert frames_of(raised.value) <= most
    assert raised.value.__context__ is None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (_Particular(1, 2), "_Particular: 1 and 2"),
        (_Nested(5000), "_Nested: nested"),
    ],
)
def test_an_error_that_cannot_be_sent_leaves_its_sentence(error: Exception, sentence: str) -> None:
    with pytest.raises(RuntimeError, match=sentence) as raised:
        fails(error)
    assert str(pickle.loads(pickle.dumps(raised.value))) == sentence


@pytest.mark.compile
@needs_native
def test_a_search_ends_where_a_node_fails_in_very_many_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "falling.py").write_text(FALLING)
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", f'["{tmp_path}/falling.py"]')
    recording = tmp_path / "recording"
    assert mneme("record", "-rdb", recording, *CPU, "--", PROGRAM, "4096").returncode == 0
    search = ("--trials", "4", "--no-knowledge", "--results-dir", tmp_path / "results", *CPU)
    with dask_nodes(tmp_path, {"node1": ""}) as (on, _):
        done = mneme("tune", recording, "--on", on, *search, before=("timeout", "60"))
    assert done.returncode == 1, done.stderr
    assert "A process of the pool failed (RuntimeError: it fell)" in done.stderr
    # Or workers of later tests, in this process, would fail as well.
    assert pytest.importorskip("dask").config.get("distributed.worker.preload") == []
