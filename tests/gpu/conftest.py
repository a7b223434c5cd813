"""Every test here is marked `gpu`; without the device all skip, with the device's own reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu import support


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    reason = support.why_no_device()
    for item in items:
        if folder in item.path.parents:
            item.add_marker(pytest.mark.gpu)
            if support.IS_GPU:  # which has one user at a time
                item.add_marker(pytest.mark.alone)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = [
        f"{name}: {value}"
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if getattr(report, "when", "") == "call"
    ]
    if lines:
        terminalreporter.section("distances from what was recorded")
        for line in sorted(set(lines)):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the recording of an example on the device, made when it is first asked for."""
    made: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in made:
            directory = tmp_path_factory.mktemp(name)
            done = support.record(directory, support.example(name))
            assert done.returncode == 0, done.stderr
            made[name] = directory
        return made[name]

    return get


@pytest.fixture
def only_gpu() -> None:
    """Skips where the tests run on the CPU device."""
    if not support.IS_GPU:
        pytest.skip("makes sense on a GPU only")
