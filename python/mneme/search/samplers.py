"""Optuna's samplers by name, with a message if a package is missing."""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.install.hints import package_hint
from mneme.search.search_space import constraint_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optuna.samplers import BaseSampler

__all__ = ["SAMPLERS", "make_sampler"]

# Names of classes in optuna.samplers; its others are used as optuna.samplers:CLASS.
SAMPLERS: Mapping[str, str] = {
    "random": "RandomSampler",
    "tpe": "TPESampler",
    "nsga2": "NSGAIISampler",
}

# Options to set if a sampler has them.
_WISHES: Mapping[str, Any] = {
    "multivariate": True,
    "warn_independent_sampling": False,
    "warn_asynchronous_seeding": False,
}


def make_sampler(name: str, *, seed: int | None, is_parallel: bool) -> BaseSampler:
    """Return a sampler.

    Args:
        name: One of `SAMPLERS`, or MODULE:CLASS of a sampler.
        seed: Makes it reproducible.
        is_parallel: Whether several configurations are evaluated at once.

    Raises:
        InvalidArgument: If there is no such sampler.
        BackendUnavailable: If a package is missing.
    """
    import optuna  # noqa: PLC0415 - slow to import

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    kind: Any
    if ":" in name:
        kind = _load(name)
    elif name in SAMPLERS:
        kind = getattr(optuna.samplers, SAMPLERS[name])
    else:
        raise InvalidArgument(
            f"there is no sampler '{name}'; known are auto, {', '.join(SAMPLERS)}, grid, "
            "exhaustive, and MODULE:CLASS (of Optuna's: optuna.samplers:CmaEsSampler)"
        )
    known = inspect.signature(kind).parameters
    wishes = {key: value for key, value in _WISHES.items() if key in known}
    if "seed" in known:
        wishes["seed"] = seed
    if "constant_liar" in known:
        wishes["constant_liar"] = is_parallel
    # From Optuna 5 on constraints belong to the trials, not to the sampler.
    if "constraints_func" in known and not hasattr(optuna.trial.Trial, "set_constraint"):
        wishes["constraints_func"] = constraint_values
    with warnings.catch_warnings():
        # We use these options on purpose, although some are experimental or deprecated.
        warnings.simplefilter("ignore")
        try:
            sampler: BaseSampler = kind(**wishes)
        except ImportError as error:
            raise BackendUnavailable(
                f"sampler '{name}' needs a package that is not installed ({error}): "
                f"{package_hint(error.name or 'its package')}"
            ) from error
    if not isinstance(sampler, optuna.samplers.BaseSampler):
        raise InvalidArgument(f"'{name}' is not a sampler of Optuna")
    return sampler


def _load(name: str) -> Any:  # noqa: ANN401 - a class of the user's
    module_name, _, class_name = name.partition(":")
    try:
        found = getattr(import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidArgument(
            f"cannot load sampler '{name}' (MODULE:CLASS, MODULE on PYTHONPATH): {error}"
        ) from error
    if not isinstance(found, type):
        raise InvalidArgument(f"'{name}' is not a class")
    return found
