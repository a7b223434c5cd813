"""Search spaces of users, and descriptions of any space."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument, NotFound
from mneme.search.conditions import assignments
from mneme.search.params import ABSENT, BaseParam, plain_value
from mneme.search.space_view import SpaceView, is_search_space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from mneme.search.search_space import SearchSpace

__all__ = ["describe_search_space", "iter_finite_params", "load_custom_space"]


def load_custom_space(
    spec: str, kernel: object, kwargs: Mapping[str, Any] | None = None
) -> SearchSpace:
    """Return the user's own search space.

    Args:
        spec: "MODULE:CLASS" or "PATH:CLASS".
        kernel: The recorded kernel; passed as first argument to a constructor that takes one.
        kwargs: Further arguments of the constructor.

    Raises:
        NotFound: If there is no such file, module or class.
        InvalidArgument: If it cannot be loaded or made, or has no `dimensions`.
    """
    place, colon, name = spec.rpartition(":")
    if not colon or not place or not name:
        raise InvalidArgument(f"'{spec}' names no search space; write MODULE:CLASS or PATH:CLASS")
    found = getattr(_module(place), name, None)
    if found is None:
        raise NotFound(f"'{place}' has no class '{name}'")
    # Accepts any class with the methods of a space, and a function that makes one.
    if not callable(found) or (inspect.isclass(found) and not is_search_space(found)):
        raise InvalidArgument(f"'{spec}' is not a search space: it has no method dimensions()")
    make: Callable[..., SearchSpace] = found
    arguments = dict(kwargs or {})
    try:
        made = make(kernel, **arguments) if _takes_kernel(make, arguments) else make(**arguments)
    except Exception as error:
        raise InvalidArgument(f"the search space '{spec}' cannot be made: {error!r}") from error
    if not is_search_space(made):
        raise InvalidArgument(f"'{spec}' makes {made!r}, which is not a search space")
    return made


def describe_search_space(space: SearchSpace, preset: str | None = None) -> dict[str, Any]:
    """Return a space as plain JSON values: "type", "dimensions", and its own description.

    The result of the space's method `description`, if it has one, is added, such as "preset" and
    "metadata".

    Args:
        space: Any search space.
        preset: The value of "preset"; None: the space's own, if any.
    """
    dimensions = SpaceView.of(space).dimensions()
    own = getattr(space, "description", None)
    described = own() if callable(own) else {}
    return {
        "type": "custom",
        "class": type(space).__qualname__,
        "dimensions": {key: _described(param) for key, param in dimensions.items()},
        **(described if isinstance(described, Mapping) else {}),
        **({} if preset is None else {"preset": preset}),
    }


def iter_finite_params(space: SearchSpace) -> Iterator[dict[str, Any]]:
    """Yield every assignment of a space's parameters once, regardless of its constraints.

    Raises:
        InvalidArgument: If the values of a parameter cannot be listed.
    """
    return assignments(type(space).__name__, SpaceView.of(space).dimensions())


def _described(param: BaseParam) -> dict[str, Any]:
    facts = param.describe()
    if param.when is not None:
        facts["when"] = "function" if callable(param.when) else plain_value(param.when)
        if param.otherwise is not ABSENT:
            facts["otherwise"] = plain_value(param.otherwise)
    return facts


def _takes_kernel(make: Callable[..., object], arguments: Mapping[str, Any]) -> bool:
    """Whether the constructor takes the kernel in addition to the arguments given by name."""
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    for name, parameter in inspect.signature(make).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            return True
        if parameter.kind in places:
            return name not in arguments
    return False


def _module(place: str) -> ModuleType:
    try:
        if place.endswith(".py") or "/" in place:
            return _module_at(Path(place))
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{place}.".startswith(f"{error.name}."):
            raise NotFound(
                f"there is no module '{place}'; name a file, or put its directory on PYTHONPATH"
            ) from error
        raise InvalidArgument(f"'{place}' cannot be loaded: {error}") from error
    except (InvalidArgument, NotFound):
        raise
    except Exception as error:
        raise InvalidArgument(f"'{place}' cannot be loaded: {error!r}") from error


def _module_at(path: Path) -> ModuleType:
    if not path.is_file():
        raise NotFound(f"there is no file '{path}'")
    # A unique name: two files with the same name are two modules.
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    name = f"mneme_space_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidArgument(f"'{path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
