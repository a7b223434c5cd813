"""Finds parts of this machine that Spack need not build: Python packages, a CUDA toolkit.

Needs no built part of mneme: it runs before mneme is built.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme import _vendors

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PYTHON_PACKAGES", "external", "externals", "spack_knows_dependencies", "toolkit"]

PYTHON_PACKAGES = ("jinja2", "optuna", "plotly", "pybind11", "pyyaml", "rich", "typer")
"""Dependencies of the recipe, each of which needs dozens of packages to be built."""

# From this release on, externals state their dependencies.
_WITH_DEPENDENCIES = (1, 1)
_TIMEOUT_SECONDS = 60


def externals(*, with_dependencies: bool) -> dict[str, Any]:
    """Return a section `packages` of Spack's configuration.

    Args:
        with_dependencies: State the Python of the packages, as Spack 1.1 and newer require.
    """
    version = ".".join(str(part) for part in sys.version_info[:3])
    # A virtual environment contains packages, not a Python of its own.
    python = f"python@{version}"
    found = {"python": external(python, sys.base_prefix)}
    for name in PYTHON_PACKAGES:
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        prefix = _prefix_of(Path(str(package.locate_file(""))))
        spec = f"py-{name}@{package.version}"
        more = {"dependencies": [{"spec": python, "deptypes": ["build", "run"]}]}
        found[f"py-{name}"] = external(spec, prefix, **(more if with_dependencies else {}))
    whole = toolkit()
    if whole is not None:
        found[_vendors.TOOLKIT_SPACK_PACKAGE] = external(*whole)
    return found


def external(spec: str, prefix: str | Path, **more: object) -> dict[str, Any]:
    """Return the entry of a package that Spack uses in place instead of building it."""
    return {"buildable": False, "externals": [{"spec": spec, "prefix": str(prefix), **more}]}


def toolkit() -> tuple[str, Path] | None:
    """Return the spec and the folder of a CUDA toolkit of this machine.

    The folder is the toolkit's own: `nvcc` in PATH may be a wrapper, or a link to one, in a folder
    with nothing else of the toolkit.
    """
    for place in _places():
        release = _release_of(place)
        if release is not None:
            return f"{_vendors.TOOLKIT_SPACK_PACKAGE}@{release}", place
    return None


def spack_knows_dependencies() -> bool:
    """Whether the Spack in PATH reads the dependencies of externals; new ones do."""
    program = shutil.which("spack")
    if program is None:
        return True
    try:
        said = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return True
    found = re.search(r"(\d+)\.(\d+)", said)
    return found is None or (int(found[1]), int(found[2])) >= _WITH_DEPENDENCIES


def _prefix_of(packages: Path) -> Path:
    """Return the prefix of a folder of packages, `<prefix>/lib/python3.11/site-packages`."""
    above = [one.parent for one in packages.parents if one.name in ("lib", "lib64")]
    return above[0] if above else packages


def _places() -> Iterator[Path]:
    for variable in _vendors.TOOLKIT_VARIABLES:
        if named := os.environ.get(variable):
            yield Path(named)
    program = shutil.which(_vendors.TOOLKIT_COMPILER)
    if program is not None:
        yield Path(program).parents[1]
        yield Path(program).resolve().parents[1]
        if told := _told_by(program):
            yield told
    yield Path(_vendors.TOOLKIT_USUAL_PLACE)
    yield from _wheels()


def _wheels() -> list[Path]:
    folders = (Path(one) for one in sys.path if one.endswith("-packages"))
    return sorted(
        (one for each in folders for one in each.glob(_vendors.TOOLKIT_WHEELS)), reverse=True
    )


def _told_by(program: str) -> Path | None:
    """Return the toolkit that a compiler, or a wrapper of one, reports."""
    question = [program, "--dryrun", "-x", "cu", os.devnull]
    try:
        said = subprocess.run(
            question, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"^#\$ TOP=(.+)$", said.stderr + said.stdout, re.MULTILINE)
    return Path(found[1]).resolve() if found else None


def _release_of(place: Path) -> str | None:
    """Return the release of a toolkit in a folder; None if there is none, or a part of one."""
    header = place / _vendors.TOOLKIT_VERSION_FILE
    try:
        text = header.read_text(errors="replace")
    except OSError:
        return None
    found = re.search(rf"#define\s+{_vendors.TOOLKIT_VERSION_MACRO}\s+(\d+)", text)
    if found is None or not all((place / part).exists() for part in _vendors.TOOLKIT_PARTS):
        return None
    major, minor = divmod(int(found[1]), 1000)
    return f"{major}.{minor // 10}"
