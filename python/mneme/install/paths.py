"""Finds the native parts: in a wheel, an install prefix or a build tree.

All three have one layout: `lib/`, `include/`, `bin/`, `lib/cmake/mneme/` and `config.json` under
one prefix. Only this module determines the prefix.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import mneme
from mneme.errors import ArtifactCorrupt, BackendUnavailable

__all__ = ["config", "library", "prefix"]


def _candidates() -> list[Path]:
    # An editable installation has two directories: the checkout's, and one with the native parts.
    packages = [Path(directory).resolve() for directory in mneme.__path__]
    named = os.environ.get("MNEME_BUILD_DIR")
    # An install prefix has the package in <prefix>/lib/python3.x/site-packages/mneme.
    above = list(Path(mneme.__file__).resolve().parent.parents)[:5]
    return [*([Path(named).resolve()] if named else []), *packages, *above]


@cache
def prefix() -> Path:
    """Return the directory with `config.json`, `lib` and the rest.

    Raises:
        BackendUnavailable: If this is a checkout that was not built.
    """
    for candidate in _candidates():
        if (candidate / "config.json").is_file() and (candidate / "lib").is_dir():
            return candidate
    raise BackendUnavailable(
        "the native libraries of mneme are not there: build the project and set MNEME_BUILD_DIR to "
        "the build directory, or install the wheel with 'pip install .'"
    )


@cache
def config() -> dict[str, Any]:
    """Return `config.json` with `{prefix}` replaced and relative directories made absolute."""
    root = prefix()
    path = root / "config.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArtifactCorrupt(f"cannot read '{path}': {error}; reinstall mneme") from error
    if not isinstance(raw, dict):
        raise ArtifactCorrupt(f"'{path}' is not a JSON object; reinstall mneme")
    return {key: _resolve(value, root) for key, value in raw.items()}


def _resolve(value: object, root: Path) -> object:
    if isinstance(value, list):
        return [_resolve(item, root) for item in value]
    if not isinstance(value, str):
        return value
    text = value.replace("{prefix}", str(root))
    if text.startswith("./") or text == ".":
        return str((root / text).resolve())
    return text


def library(name: str) -> Path:
    """Return the path of one of mneme's shared libraries.

    Raises:
        BackendUnavailable: If it was not built or installed.
    """
    path = prefix() / "lib" / name
    if not path.is_file():
        raise BackendUnavailable(
            f"'{path}' is missing: this mneme is not completely built or installed"
        )
    return path
