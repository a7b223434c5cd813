"""What the template `spack` needs besides text: where the Spack repository of this mneme is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.install.paths import config
from mneme.scaffold.rendering import Additions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.scaffold.rendering import ScaffoldRequest

__all__ = ["prepare"]

_CHECKOUT = Path(__file__).resolve().parents[3]


def prepare(request: ScaffoldRequest, recording: Mapping[str, Any] | None) -> Additions:  # noqa: ARG001 - takes no recording
    """Name the repository this mneme was built from, unless it is gone or another is asked for."""
    if request.values.get("repository"):
        return Additions()
    # What Spack built knows it; a checkout has it.
    places = [str(config().get("spack_repository", "")), str(_CHECKOUT / "spack-repo")]
    there = (place for place in places if place and (Path(place) / "repo.yaml").is_file())
    return Additions(context={"repository": next(there, "$MNEME_SOURCE/spack-repo")})
