"""How a session shares out the time it is given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mneme.session.options import TuneOptions
from mneme.session.policy import (
    final_seconds,
    seconds_to_spare,
    warmup_launches,
    within_time,
)


def test_everything_fits_into_the_time_that_is_given() -> None:
    options = TuneOptions(record_database="x", timeout=60.0, times_everything=True)
    short = within_time(options, 1e5, spent=5.0, launch_seconds=1e-3, cold_seconds=1e-2)
    assert (short.top, short.final_rounds) == (5, 12)
    assert 40 < (short.timeout or 0) < 55
    # A kernel of a tenth of a second: its last rounds alone would take the whole time.
    long = within_time(options, 1e8, spent=5.0, launch_seconds=0.15, cold_seconds=0.16)
    assert (long.top, long.final_rounds) == (1, 6)
    last = final_seconds(long, 1e8, 0.15, 0.16)
    assert (long.timeout or 0) == pytest.approx(max(1.0, 55 - last))
    # One of a quarter is launched less often: not to warm up, and not with cold caches.
    longer = within_time(options, 2.5e8, spent=5.0, launch_seconds=0.3, cold_seconds=0.3)
    assert (longer.top, longer.final_rounds) == (2, 8)
    assert [warmup_launches(options, ns) for ns in (1e6, 1e8, 2.5e8)] == [options.warmup, 1, 0]
    assert (
        within_time(options, 1e9, spent=70.0, launch_seconds=2.0, cold_seconds=2.0).timeout == 1.0
    )
    endless = replace(options, timeout=None)
    assert within_time(endless, 1e5, spent=5.0, launch_seconds=1.0, cold_seconds=1.0) is endless


def test_a_search_goes_on_where_the_last_rounds_need_less_than_foreseen() -> None:
    asked = TuneOptions(record_database="x", timeout=30.0, times_everything=True)
    pace = {"launch_seconds": 0.035, "cold_seconds": 0.05}
    options = within_time(asked, 30e6, spent=2.0, **pace)
    spent = 2.0 + (options.timeout or 0)

    def spare(finalists: list[tuple[float, bool]], at: float) -> float:
        return seconds_to_spare(options, 30e6, finalists, whole=30.0, spent=at, **pace)

    # A winner that is five times as fast and keeps the launch takes less than two that are not.
    fast, slow = spare([(6e6, True)] * 5, spent), spare([(30e6, False)] * 10, spent)
    assert fast > 1.5
    assert fast > slow
    # Where there is nothing to measure again yet, there is time for one that may come.
    assert spare([], spent) == spare([(30e6, True)], spent)
    assert spent + spare([], spent) < 25
    # It comes to an end.
    assert spare([(6e6, True)] * 5, spent + fast) == 0.0
    assert spare([], 28.5) == 0.0
