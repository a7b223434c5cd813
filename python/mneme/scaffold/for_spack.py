"""Prepares the template `spack`: mneme's repository, what Spack need not build."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from mneme.errors import BackendUnavailable
from mneme.install.paths import config
from mneme.install.spack_externals import externals, spack_knows_dependencies
from mneme.scaffold.rendering import Additions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.scaffold.rendering import ScaffoldRequest

__all__ = ["prepare", "repository"]

_CHECKOUT = Path(__file__).resolve().parents[3]
_EXTERNALS = "packages.yaml"
_HEAD = "# What this machine has, for Spack to use: `mneme scaffold spack --externals` wrote it.\n"


def prepare(request: ScaffoldRequest, recording: Mapping[str, Any] | None) -> Additions:  # noqa: ARG001 - takes no recording
    """Return the repository of this mneme's sources, unless gone or replaced by the user."""
    context = {}
    if not request.values.get("repository"):
        context["repository"] = repository()
    if not request.values.get("externals"):
        return Additions(context=context)
    section = externals(with_dependencies=spack_knows_dependencies())
    text = _HEAD + yaml.safe_dump({"packages": section}, sort_keys=False)
    return Additions(context=context, files={_EXTERNALS: text.encode()})


def repository() -> str:
    """Return the Spack repository of this mneme's sources; a shell variable if it is gone."""
    places = [str(_CHECKOUT / "spack-repo")]
    # An installation by Spack knows the repository. A checkout contains it and need not be built,
    # because Spack can build it.
    with suppress(BackendUnavailable):
        places.insert(0, str(config().get("spack_repository", "")))
    there = (place for place in places if place and (Path(place) / "repo.yaml").is_file())
    return next(there, "$MNEME_SOURCE/spack-repo")
