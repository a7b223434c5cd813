"""What all tests share: none touches what the user's own tunings have found.

Programs and scripts that tests start inherit it; tests of the knowledge file name one of their own.
"""

from __future__ import annotations

import os

import pytest

os.environ["MNEME_KNOWLEDGE"] = "off"
# One architecture is enough where a test names none: several take several times as long.
os.environ.setdefault("CUDAARCHS", "90")
# Tests look for whole names in tables, which a pipe gets 80 columns wide. Once readline is loaded, it puts
# COLUMNS=80 into the environment of C, which the processes of pytest-xdist inherit.
os.environ["COLUMNS"] = "160"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that have slow tests: all processes wait for one that begins late."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
