"""Tests of native parts run everywhere, unless somebody says that there are none.

MNEME_TESTS_WITHOUT_NATIVE=1 skips them where the extension cannot be imported; without it, a missing
extension is a failure, so that no suite is silently empty.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

__all__ = ["needs_native"]

needs_native = pytest.mark.skipif(
    bool(os.environ.get("MNEME_TESTS_WITHOUT_NATIVE"))
    and importlib.util.find_spec("mneme._native") is None,
    reason="mneme._native is not built, and MNEME_TESTS_WITHOUT_NATIVE says so",
)
