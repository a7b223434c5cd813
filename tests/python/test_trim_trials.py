"""What counts as unread, with a process whose answers are made up."""

from __future__ import annotations

import io
import time
from typing import Any, cast

import pytest

from mneme.trim.holes import unallocated_in
from mneme.trim.ranges import Range
from mneme.trim.trial_process import TrialProcess
from mneme.trim.trials import Region, Trials


class Answering:
    """Answers as the process does that replays."""

    def __init__(self, *, differs_with: int | None, notes_agree: bool) -> None:
        self.differs_with = differs_with
        self.notes_agree = notes_agree
        self.asked: list[str] = []

    def ask(self, what: str, *words: Any, seconds: float = 0) -> object:
        del seconds
        self.asked.append(what)
        if what == "take_reference":
            return {"refusal": ""}
        if what == "notes_agree":
            return self.notes_agree
        fills, _ = words
        is_other = any(pattern == self.differs_with for _, _, pattern in fills)
        return {"is_device_usable": True, "difference": "other memory" if is_other else ""}

    def close(self) -> None:
        """Nothing runs."""

    @property
    def recorded(self) -> str:
        return "{}"


@pytest.mark.parametrize(
    ("differs_with", "notes_agree", "is_unread"),
    [
        (None, True, True),
        (0, True, False),
        (1, True, False),
        (2, True, False),
        (None, False, False),  # a sum swallows small numbers, and what is written tells
    ],
)
def test_every_pattern_and_what_is_written_count(
    differs_with: int | None, notes_agree: bool, is_unread: bool
) -> None:
    process = Answering(differs_with=differs_with, notes_agree=notes_agree)
    trials = Trials(
        record="",
        record_id="",
        device="cpu",
        regions=[Region(address=4096, size=4096, kind="device")],
        log=io.BytesIO(),
        ends=time.monotonic() + 60,
        _process=cast("TrialProcess", process),
    )
    unread = Range(0, 0, 4096)
    assert trials.hold_together([unread]) == is_unread
    assert trials.is_same([], [unread]) == is_unread
    assert "trial" in process.asked


def test_memory_that_textures_show_stays_allocated() -> None:
    begin, size = 0x6000_0000_0000, 1 << 20
    region = Region(address=begin, size=size, kind="allocation")
    untouched = [(begin, size)]
    assert unallocated_in([region], untouched, [], []) == untouched
    for shown in (begin, begin + size - 1):
        assert unallocated_in([region], untouched, [], [shown]) == []
    assert unallocated_in([region], untouched, [], [begin + size]) == untouched
