# ruff: noqa: ANN401 - arrays of several libraries
"""What the programs of this folder print: numbers that show every bit of their results."""

from __future__ import annotations

import hashlib
from typing import Any


def tell(name: str, *values: Any) -> None:
    """Print a hash of arrays (of NumPy, or what has a buffer), and other values as they are."""
    told = hashlib.sha256()
    for value in values:
        told.update(value.tobytes() if hasattr(value, "tobytes") else repr(value).encode())
    print(f"{name}: {told.hexdigest()[:16]}", flush=True)


def tell_tensors(name: str, *tensors: Any) -> None:
    """Print a hash of tensors of PyTorch."""
    tell(name, *(one.detach().float().cpu().numpy() for one in tensors))
