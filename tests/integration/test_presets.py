"""Every preset of the built-in search space on every example: what is tried compiles and verifies."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from conftest import EXAMPLE_NAMES, records

from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.recording.recorded_execution import RecordedExecution
from mneme.search.builtin_spaces import PRESETS, BuiltinTuneSearchSpace

SAMPLES = 3


@pytest.mark.compile
@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_every_preset_gives_right_configurations(
    name: str, recordings: dict[str, Path], tmp_path: Path
) -> None:
    for path in records(recordings[name]):
        record = RecordedExecution.from_json(path)
        record_id, instance = next(iter(record.items()))
        with AsyncReplayExecutor(
            path, record_id, 1, tmp_path, 1, 0, device="cpu", timeout=60.0
        ) as executor:
            tried = []
            for preset in PRESETS:
                space = BuiltinTuneSearchSpace(instance, preset=preset, device="cpu")
                space.adapt(executor.evaluate)
                rng = random.Random(f"{name} {preset}")
                configs = [space.baseline(), *(space.sample_random(rng) for _ in range(SAMPLES))]
                tried += [executor.submit(config) for config in configs]
            results = [(future.config, future.result()) for future in tried]
        wrong = [(config, result) for config, result in results if not (result and result.verified)]
        assert wrong == []
        assert len(results) == len(PRESETS) * (SAMPLES + 1)
