"""Paths with a hash behind them, by which configurations name files: "/opt/passes.so@0123…"."""

from __future__ import annotations

from typing import Final

__all__ = ["hash_in", "path_in"]

_DIGITS: Final = 16


def path_in(text: str) -> str:
    """Return the path that a text names, without the hash behind it."""
    digits = hash_in(text)
    return text[: -len(digits) - 1] if digits else text


def hash_in(text: str) -> str:
    """Return the hash behind a path; empty if there is none."""
    path, at, digits = text.rpartition("@")
    is_hash = len(digits) == _DIGITS and set(digits) <= set("0123456789abcdef")
    return digits if path and at and is_hash else ""
