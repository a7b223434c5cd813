"""Differences between a winner and the baseline, for users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.files.json_object import read_json_object

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["changes_between", "changes_of"]

_LONGEST = 200


def changes_of(directory: Path) -> list[str]:
    """Return the differences in a result of `mneme tune`, one line each.

    Raises:
        NotFound, ArtifactCorrupt: If the directory is not complete.
    """
    return changes_between(
        read_json_object(directory / "baseline.json")["config"],
        read_json_object(directory / "best.json")["config"],
    )


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the differences of two configurations, one line each."""
    return [
        f"{name.replace('_', ' ')}: {_text(old.get(name))} → {_text(new[name])}"
        for name in new
        if new[name] != old.get(name)
    ]


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return "x".join(str(one) for one in value.values())
    text = str(value).lower() if value is None or isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
