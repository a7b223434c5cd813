"""Errors that are sent from one process to another, which have to survive that."""

from __future__ import annotations

import functools
import pickle
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["sends_errors"]

# Dask pickles a traceback frame by frame within each other; one that it cannot, it never reports.
_MOST_FRAMES = 100

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def sends_errors(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Make a function raise only errors that a pool can send to who called it.

    One that cannot be pickled becomes a `RuntimeError` with its sentence, and a traceback of very
    many frames is left out.
    """

    @functools.wraps(function)
    def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - raised below, outside of what it refers to
            failure = _sendable(error)
        raise failure

    return called


def _sendable(error: Exception) -> Exception:
    if _has_many_frames(error):
        error.__traceback__ = None
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever classes of others raise
        return RuntimeError(_text(error))
    return error


def _has_many_frames(error: Exception) -> bool:
    at, count = error.__traceback__, 0
    while at is not None and count <= _MOST_FRAMES:
        at, count = at.tb_next, count + 1
    return at is not None


def _text(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - as above
        return type(error).__name__
