"""How many measurements go together as one task of a pool."""

from __future__ import annotations

import queue
import threading
import time
from types import SimpleNamespace

import pytest

from mneme.measure import batches
from mneme.measure.batches import Batches


class Clock:
    """A clock that a test turns on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        # Other threads of this process keep their own.
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=time.sleep)
        monkeypatch.setattr(batches, "time", clock)


@pytest.mark.parametrize(
    ("processes", "milliseconds", "first", "size"),
    [
        (1, 100, 1, 1),
        (1, 9, 1, 4),
        (1, 1, 1, 16),
        (4, 1, 1, 16),
        (8, 100, 1, 1),
        (64, 1000, 2, 1),
        (64, 100, 2, 5),  # 640 tasks a second are too many for a scheduler
        (256, 100, 2, 16),
    ],
)
def test_tasks_of_processes_that_end_together_are_not_taken_for_short_ones(
    monkeypatch: pytest.MonkeyPatch, processes: int, milliseconds: int, first: int, size: int
) -> None:
    clock = Clock(monkeypatch)
    held = Batches[int](lambda _: None, processes)
    assert held.known_size == 1
    found = []
    for _ in range(100):
        clock.now += milliseconds / 1e3
        for _ in range(processes):
            held.note_end(1, milliseconds / 1e3)
            found.append(held.size)
    assert found[0] == first
    assert set(found[len(found) // 2 :]) == {size}
    assert held.known_size == size


def test_the_pace_of_batches_is_that_of_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    held = Batches[int](lambda _: None, 64)
    for _ in range(20):
        clock.now += 0.4
        for _ in range(64):
            held.note_end(4)
    assert 5 <= held.size <= 7  # nobody says how long they take


def test_a_scheduler_that_cannot_keep_up_gets_larger_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    held = Batches[int](lambda _: None, 64)
    for _ in range(1000):
        clock.now += 0.01  # a hundred a second
        held.note_end(1, 0.1)
    assert held.size == 5


@pytest.mark.parametrize(
    ("threads", "milliseconds", "first", "size"),
    [
        (16, 3, 4, 8),  # 333 a second: more at a time would hold back what is finished
        (16, 9, 4, 4),
        (16, 100, 4, 2),
        (4, 9, 2, 2),
        (2, 3, 2, 3),  # a scheduler takes no more tasks a second
    ],
)
def test_processes_that_compile_ahead_of_several_tasks_get_a_few_items_in_each(
    monkeypatch: pytest.MonkeyPatch, threads: int, milliseconds: int, first: int, size: int
) -> None:
    clock = Clock(monkeypatch)
    held = Batches[int](lambda _: None)
    held.resize(1, threads, ahead=threads + 8)
    assert held.size == first
    assert held.useful == threads + 8 + 2 * first
    for _ in range(100):
        clock.now += 2 * milliseconds / 1e3
        held.note_end(2, 40 * milliseconds / 1e3)  # most of the time it waits for its turn
    assert held.size == size
    assert held.useful == threads + 8 + 2 * size


@pytest.mark.parametrize(("away", "more"), [(0.0, 0), (0.05, 16), (10.0, 24)])
def test_what_is_on_its_way_is_not_what_a_process_compiles(
    monkeypatch: pytest.MonkeyPatch, away: float, more: int
) -> None:
    clock = Clock(monkeypatch)
    held = Batches[int](lambda _: None)
    held.resize(1, 16, ahead=24)
    for _ in range(100):
        clock.now += 0.024
        held.note_end(8, 0.1, 0.1 + away)  # 333 a second
    assert held.useful == 24 + 2 * 8 + more


def test_items_wait_for_others_while_processes_have_enough_to_compile() -> None:
    sent: queue.Queue[list[int]] = queue.Queue()
    held = Batches[int](sent.put)
    held.resize(1, 16, ahead=24)
    held.add(0)
    assert sent.get(timeout=30) == [0]  # the first one goes at once
    for _ in range(6):
        held.note_task(4)
    held.note_task(2)
    held.add(1)
    with pytest.raises(queue.Empty):
        sent.get(timeout=0.2)
    for number in (2, 3, 4):
        held.add(number)
    assert sent.get(timeout=30) == [1, 2, 3, 4]
    held.add(5)
    with pytest.raises(queue.Empty):
        sent.get(timeout=0.2)
    held.note_lost(2)  # a process has less than it needs
    assert sent.get(timeout=30) == [5]
    held.close()


def test_items_wait_for_others_while_each_process_has_a_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    sent: queue.Queue[list[int]] = queue.Queue()
    held = Batches[int](sent.put, 2)
    for _ in range(32):
        held.note_task()
        clock.now += 0.0045  # four go together
        held.note_end(1)
    assert held.size == 4
    held.note_task()
    held.note_task()
    held.add(1)
    with pytest.raises(queue.Empty):
        sent.get(timeout=0.2)
    for number in (2, 3, 4):
        held.add(number)
    assert sent.get(timeout=30) == [1, 2, 3, 4]
    held.add(5)
    with pytest.raises(queue.Empty):
        sent.get(timeout=0.2)
    held.note_end(1)  # a process has nothing to do
    assert sent.get(timeout=30) == [5]
    held.close()


def test_the_last_items_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    sent: queue.Queue[list[int]] = queue.Queue()
    held = Batches[int](sent.put, 2)
    for _ in range(32):
        held.note_task()
        clock.now += 0.0045
        held.note_end(1)
    held.note_task()
    held.note_task()
    held.expect(12)
    for number in range(12):
        held.add(number)
    found = [sent.get(timeout=30) for _ in range(5)]
    assert found == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [10], [11]]
    assert held.size == 4  # of what may come later
    held.close()


@pytest.mark.parametrize(("processes", "seconds"), [(4, 0.001), (256, 1 / 130)])
def test_tasks_that_are_not_whole_come_no_faster_than_a_scheduler_takes_them(
    monkeypatch: pytest.MonkeyPatch, processes: int, seconds: float
) -> None:
    slept: list[float] = []
    sent: queue.Queue[list[int]] = queue.Queue()
    held = Batches[int](sent.put, processes)

    def sleep(seconds: float) -> None:
        if threading.current_thread() is held._thread:
            slept.append(seconds)
        else:  # of another test
            time.sleep(seconds)

    clock = SimpleNamespace(monotonic=time.monotonic, sleep=sleep)
    monkeypatch.setattr(batches, "time", clock)
    others = Batches[int](lambda _: None, processes)
    monkeypatch.setattr(others, "_size_now", lambda: 8)
    others.add(1)
    monkeypatch.setattr(held, "_size_now", lambda: 8)
    held.add(1)
    assert sent.get(timeout=30) == [1]
    held.close()
    others.close()
    assert slept == [seconds]


def test_the_last_items_of_many_processes_go_in_quarters(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    sent: queue.Queue[list[int]] = queue.Queue()
    held = Batches[int](sent.put, 256)
    for _ in range(20):
        clock.now += 0.1
        for _ in range(256):
            held.note_task()
            held.note_end(1, 0.1)
    assert held.size == 16
    for _ in range(256):
        held.note_task()
    held.expect(8)
    for number in range(8):
        held.add(number)
    assert [sent.get(timeout=30) for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    held.close()


def test_parts_of_a_task_wait_while_each_process_has_one() -> None:
    sent: queue.Queue[list[int]] = queue.Queue()
    held = Batches[int](sent.put)
    held.resize(2, 2, whole=3)
    held.note_task()
    held.note_task()
    held.add(1)
    with pytest.raises(queue.Empty):
        sent.get(timeout=0.2)
    held.note_end(1)
    assert sent.get(timeout=30) == [1]
    held.note_task()
    for number in range(2, 6):
        held.add(number)
    assert sent.get(timeout=30) == [2, 3, 4]
    held.close()
    assert sent.get(timeout=30) == [5]


def test_what_is_dropped_is_never_sent() -> None:
    sent: queue.Queue[list[int]] = queue.Queue()
    held = Batches[int](sent.put)
    held.resize(1, 1, whole=3)  # so that one item waits
    held.note_task()
    held.add(1)
    held.drop()
    held.add(2)
    held.close()
    assert sent.get(timeout=30) == [2]
    assert sent.empty()
