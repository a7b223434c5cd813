"""Prepares the template `spack-package`: names that Spack and Python accept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.scaffold.rendering import Additions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.scaffold.rendering import ScaffoldRequest

__all__ = ["prepare"]

_DEFAULT = "my-app"


def prepare(request: ScaffoldRequest, recording: Mapping[str, Any] | None) -> Additions:  # noqa: ARG001 - takes no recording
    """Check the package's name and derive the name of its class.

    Raises:
        InvalidArgument: If it cannot name a Spack package.
    """
    name = str(request.values.get("name") or _DEFAULT)
    if not re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", name) or name.startswith("mneme"):
        raise InvalidArgument(
            f"--name is '{name}'; it must be small letters, digits and single hyphens, begin with "
            "a letter, and not be a name of mneme's"
        )
    return Additions(context={"class_name": "".join(one.capitalize() for one in name.split("-"))})
