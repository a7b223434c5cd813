"""Hints for installing missing packages: with pip or, if Spack installed mneme, with Spack."""

from __future__ import annotations

from mneme import _vendors
from mneme.install.paths import prefix

__all__ = ["package_hint", "toolkit_hint"]

# Packages that Spack has, by their names in the Python package index.
_SPACK_PACKAGES = frozenset(
    (
        *("typer", "rich", "optuna", "jinja2", "pyyaml", "plotly"),
        *("scikit-learn", "distributed", "psycopg2", "mpi4py"),
    )
)


def package_hint(package: str, extra: str = "") -> str:
    """Return the command that installs a Python package here.

    Args:
        package: Its name in the Python package index.
        extra: What pip installs instead, for example an extra of mneme.
    """
    if not _is_by_spack():
        return f"pip install {extra or package}"
    if package in _SPACK_PACKAGES:
        return f"spack install py-{package} && spack load py-{package}"
    # pip must not install into Spack's prefixes, and a separate environment would lack mneme.
    return f"python3 -m pip install --target DIR {package}, with DIR in PYTHONPATH"


def toolkit_hint() -> str:
    """Return a hint on how a program's build finds a GPU toolkit."""
    return _vendors.SPACK_TOOLKIT_HINT if _is_by_spack() else _vendors.TOOLKIT_HINT


def _is_by_spack() -> bool:
    """Whether Spack made the prefix: it keeps its own records in each."""
    return (prefix() / ".spack").is_dir()
