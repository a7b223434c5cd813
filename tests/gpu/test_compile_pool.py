"""What is compiled beside the device is what a replay on it asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpu.support import DEVICE, EXAMPLE_NAMES, launches
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.compile_record import CompileOptions, compile_record
from mneme.measure.replay_executor import BaseExecutor

FIXED = {"specialize": True, "specialize_dims": True, "set_launch_bounds": True}


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_a_replay_compiles_nothing_the_pool_has_compiled(
    name: str,
    recording: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, record_id = next(launches(recording(name)))
    cache = tmp_path / "cache"
    monkeypatch.setenv("MNEME_CACHE_DIR", str(cache))
    with BaseExecutor(path, record_id, device=DEVICE) as executor:
        recorded = executor.recorded_configuration()
    pipelines = ["default<O1>", "default<O2>", "default<O3>"]
    configs = [replace(recorded, passes=passes) for passes in pipelines]
    configs += [replace(recorded, **FIXED)]
    with AsyncReplayExecutor(
        path, record_id, 1, tmp_path, 1, 0, device=DEVICE, compile_workers=2
    ) as pool:
        results = [future.result() for future in [pool.submit(config) for config in configs]]
    errors = [result.error for result in results if result and result.failed]
    assert errors == []
    assert len(list(cache.glob("*.mnemec"))) == len(configs)


def test_a_replay_finds_what_the_command_compiled(
    recording: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, record_id = next(launches(recording("vector_add")))
    cache = tmp_path / "cache"
    monkeypatch.setenv("MNEME_CACHE_DIR", str(cache))
    with BaseExecutor(path, record_id, device=DEVICE) as executor:
        assert executor._session is not None
        target, _ = executor._session.code_target()
        options = CompileOptions(target=target, passes="default<O2>")
        assert not compile_record(path, record_id, options).statistics["is_from_cache"]
        recorded = executor.recorded_configuration()
        assert executor.evaluate(replace(recorded, passes="default<O2>")).verified
    assert len(list(cache.glob("*.mnemec"))) == 1
