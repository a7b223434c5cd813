"""Values of a script as arguments of C."""

from __future__ import annotations

import ctypes
import operator
from typing import TYPE_CHECKING, Any

from proteus.memory import Receiver, address_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proteus.types import Type

__all__ = ["converted"]

_MOST = 2**64 - 1


def converted(
    name: str, types: Sequence[Type], args: Sequence[object], receiver: Receiver
) -> list[Any]:
    """Return a ctypes object for each argument.

    Args:
        name: What the function or kernel is called.
        types: What its parameters are.
        args: As many.
        receiver: What it is.

    Raises:
        OverflowError: If a type cannot hold the number.
        TypeError: If a value is of another type, or their number another one.
    """
    if len(args) != len(types):
        what = "kernel" if receiver.on_device else "function"
        if receiver.is_strict:
            raise TypeError(f"{what} '{name}' takes {_counted(len(types))}, not {len(args)}")
        raise TypeError(f"{what} argument count does not match argtypes")
    return [
        _converted(name, number, one, arg, receiver)
        for number, (one, arg) in enumerate(zip(types, args, strict=True), 1)
    ]


def _counted(count: int) -> str:
    return f"{count or 'no'} argument{'' if count == 1 else 's'}"


def _converted(name: str, number: int, type_: Type, value: object, receiver: Receiver) -> Any:  # noqa: ANN401
    try:
        return _value(type_, value, receiver)
    except (OverflowError, TypeError) as error:
        if not receiver.is_strict:
            raise
        raise type(error)(f"argument {number} of '{name}': {error}") from error


def _value(type_: Type, value: object, receiver: Receiver) -> Any:  # noqa: ANN401
    if type_.ctype is ctypes.c_void_p:
        address, owner = address_of(value, receiver)
        if not 0 <= address <= _MOST:
            raise OverflowError(f"{type_!r} cannot hold {address}")
        pointer = ctypes.c_void_p(address)
        pointer.owner = owner  # type: ignore[attr-defined] # lives as long
        return pointer
    if type_.name.startswith("f"):
        return type_.ctype(value)
    whole = operator.index(value)  # type: ignore[arg-type] # says itself what is wrong
    held = type_.ctype(whole)
    if held.value != whole:
        raise OverflowError(f"{type_!r} cannot hold {whole}")
    return held
