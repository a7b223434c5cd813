"""The parameters of a search space: one class per kind. Independent of kernels."""

from __future__ import annotations

import hashlib
import itertools
import math
import numbers
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

__all__ = [
    "ABSENT",
    "BaseParam",
    "BoolParam",
    "CategoricalParam",
    "Condition",
    "FixedParam",
    "IntRangeParam",
    "RealRangeParam",
    "is_whole",
    "plain_value",
    "sample_optuna_param",
    "sample_random_param",
]

Condition = Mapping[str, Any] | Callable[[Mapping[str, Any]], bool]
"""When a parameter is active: other parameters' values, or a function of the parameters so far."""

# A study repeats all choices in each trial, so longer texts get short names there.
_LONGEST_IN_STUDIES: Final = 64
_SHORT_NAME: Final = 8

ABSENT: Final = object()
"""Marks a parameter that is left out."""

# A generator of our own, so that the caller's random numbers are not affected.
_generator = random.Random()  # noqa: S311 - nothing secret


class BaseParam(ABC):
    """One dimension of a search space.

    Attributes:
        name: Name of the parameter, also in an Optuna study.
        when: The parameter exists only if this holds: a mapping from names of other parameters to
            the value they have to have, or to a collection of such values; or a function of the
            parameters so far. None: always.
        otherwise: Value where the condition does not hold; `ABSENT` leaves the parameter out.
    """

    def __init__(
        self, name: str, *, when: Condition | None = None, otherwise: object = ABSENT
    ) -> None:
        """Make a parameter.

        Raises:
            InvalidArgument: If the name is empty or the condition is of no known kind.
        """
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"a parameter's name has to be a text, not {name!r}")
        if when is not None and not isinstance(when, Mapping) and not callable(when):
            raise InvalidArgument(
                f"'when' of parameter '{name}' has to be a mapping or a function, not {when!r}"
            )
        self.name = name
        self.when = when
        self.otherwise = otherwise

    @abstractmethod
    def sample_random(self, rng: random.Random) -> Any:  # noqa: ANN401 - a parameter's value
        """Return a value drawn with this generator."""

    @abstractmethod
    def sample_optuna(self, trial: BaseTrial) -> Any:  # noqa: ANN401
        """Return the value the trial's sampler suggests."""

    def in_study(self, value: object) -> object:
        """Return the study's name of a value."""
        return plain_value(value)

    def from_plain(self, value: object) -> object:
        """Return the value for what `plain_value` made of it; anything else unchanged."""
        return value

    def values(self) -> Sequence[Any]:
        """Return every value, each once.

        Raises:
            InvalidArgument: If there are too many to list.
        """
        raise InvalidArgument(
            f"the values of parameter '{self.name}' ({type(self).__name__}) cannot be listed; "
            "use a random or an Optuna sampler"
        )

    @property
    def is_finite(self) -> bool:
        """Whether `values` lists them."""
        return type(self).values is not BaseParam.values

    @abstractmethod
    def contains(self, value: object) -> bool:
        """Whether the parameter can have this value."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return kind and values as plain JSON values."""

    def __repr__(self) -> str:
        facts = ", ".join(f"{key}={value!r}" for key, value in self.describe().items())
        return f"<{type(self).__name__} {self.name}: {facts}>"


class CategoricalParam(BaseParam):
    """One of several values.

    Attributes:
        choices: The values.
    """

    kind = "categorical"

    def __init__(
        self,
        name: str,
        choices: Collection[Any],
        *,
        when: Condition | None = None,
        otherwise: object = ABSENT,
    ) -> None:
        """Make a parameter from its values.

        Raises:
            InvalidArgument: If there are no values.
        """
        super().__init__(name, when=when, otherwise=otherwise)
        if isinstance(choices, str | bytes):
            raise InvalidArgument(f"the choices of parameter '{name}' are one text, not a list")
        self.choices = [_without_array(value) for value in choices]
        if not self.choices:
            raise InvalidArgument(f"parameter '{name}' needs at least one choice")
        self._by_label = _labelled(self.choices)
        self._by_plain = {_label(plain_value(value)): value for value in self.choices}
        self._different = list(self._by_label.values())
        names = _names(self._by_label)
        self._names = dict(zip(self._by_label, names, strict=True))
        self._by_name = dict(zip(map(_label, names), self._by_label.values(), strict=True))

    def sample_random(self, rng: random.Random) -> Any:  # noqa: ANN401
        """Return one of the choices."""
        return rng.choice(self._different)

    def sample_optuna(self, trial: BaseTrial) -> Any:  # noqa: ANN401
        """Return the suggested choice."""
        names: list[Any] = list(self._names.values())
        return self._by_name[_label(trial.suggest_categorical(self.name, names))]

    def in_study(self, value: object) -> object:
        """Return the study's name of a choice; such a name is returned unchanged."""
        return self._names.get(_label(value), value)

    def from_plain(self, value: object) -> object:
        """Return the choice."""
        return self._by_plain.get(_label(value), value)

    def values(self) -> Sequence[Any]:
        """Return the choices, each once."""
        return list(self._by_label.values())

    def contains(self, value: object) -> bool:
        """Whether it is a choice."""
        return _label(value) in self._by_label

    def describe(self) -> dict[str, Any]:
        """Return the kind and the choices."""
        return {"type": self.kind, "choices": [plain_value(value) for value in self.values()]}


class BoolParam(CategoricalParam):
    """True or False."""

    kind = "bool"

    def __init__(
        self, name: str, *, when: Condition | None = None, otherwise: object = ABSENT
    ) -> None:
        """Make a parameter that is True or False."""
        super().__init__(name, [True, False], when=when, otherwise=otherwise)

    def describe(self) -> dict[str, Any]:
        """Return the kind."""
        return {"type": self.kind}


class FixedParam(CategoricalParam):
    """Always the same value.

    Attributes:
        value: The value.
    """

    kind = "fixed"

    def __init__(
        self,
        name: str,
        value: object,
        *,
        when: Condition | None = None,
        otherwise: object = ABSENT,
    ) -> None:
        """Make a parameter from its value."""
        super().__init__(name, [value], when=when, otherwise=otherwise)
        self.value = value

    def sample_optuna(self, trial: BaseTrial) -> Any:  # noqa: ANN401, ARG002
        """Return the value, without involving the sampler."""
        return self.value

    def describe(self) -> dict[str, Any]:
        """Return the kind and the value."""
        return {"type": self.kind, "value": plain_value(self.value)}


class IntRangeParam(BaseParam):
    """A whole number from a range.

    Attributes:
        low: Smallest value.
        high: Upper end, included if `step` reaches it.
        step: Distance between neighbours.
    """

    def __init__(  # noqa: PLR0913 - the documented names and our own
        self,
        name: str,
        low: int,
        high: int,
        step: int = 1,
        *,
        when: Condition | None = None,
        otherwise: object = ABSENT,
    ) -> None:
        """Make a parameter from its range.

        Raises:
            InvalidArgument: If the range is empty or these are not whole numbers.
        """
        super().__init__(name, when=when, otherwise=otherwise)
        if not all(is_whole(number) for number in (low, high, step)):
            raise InvalidArgument(
                f"parameter '{name}' needs whole numbers, got {low!r}:{high!r}:{step!r}"
            )
        if low > high or step < 1:
            raise InvalidArgument(
                f"parameter '{name}' needs low <= high and step >= 1, got {low}:{high}:{step}"
            )
        self.low = int(low)
        self.high = int(high)
        self.step = int(step)

    def sample_random(self, rng: random.Random) -> int:
        """Return one of the numbers."""
        return rng.choice(self.values())

    def sample_optuna(self, trial: BaseTrial) -> int:
        """Return the suggested number."""
        return trial.suggest_int(self.name, self.low, self.values()[-1], step=self.step)

    def values(self) -> Sequence[int]:
        """Return the numbers in ascending order."""
        return range(self.low, self.high + 1, self.step)

    def contains(self, value: object) -> bool:
        """Whether it is one of the numbers."""
        return is_whole(value) and value in self.values()

    def describe(self) -> dict[str, Any]:
        """Return the kind and the range."""
        return {"type": "int_range", "low": self.low, "high": self.high, "step": self.step}


class RealRangeParam(BaseParam):
    """A real number from a range.

    Attributes:
        low: Smallest value.
        high: Largest value.
    """

    def __init__(
        self,
        name: str,
        low: float,
        high: float,
        *,
        when: Condition | None = None,
        otherwise: object = ABSENT,
    ) -> None:
        """Make a parameter from its range.

        Raises:
            InvalidArgument: If the range is empty or not finite.
        """
        super().__init__(name, when=when, otherwise=otherwise)
        if not all(_is_real(n) and math.isfinite(n) for n in (low, high)):
            raise InvalidArgument(f"parameter '{name}' needs finite numbers, got {low!r}:{high!r}")
        if low > high:
            raise InvalidArgument(f"parameter '{name}' needs low <= high, got {low}:{high}")
        self.low = float(low)
        self.high = float(high)

    def sample_random(self, rng: random.Random) -> float:
        """Return a number from the range."""
        return min(self.high, max(self.low, rng.uniform(self.low, self.high)))

    def sample_optuna(self, trial: BaseTrial) -> float:
        """Return the suggested number."""
        return trial.suggest_float(self.name, self.low, self.high)

    def contains(self, value: object) -> bool:
        """Whether it is a number of the range."""
        return _is_real(value) and self.low <= value <= self.high

    def describe(self) -> dict[str, Any]:
        """Return the kind and the range."""
        return {"type": "real_range", "low": self.low, "high": self.high}


def sample_optuna_param(trial: BaseTrial, param: BaseParam) -> Any:  # noqa: ANN401
    """Return the value the trial's sampler suggests for a parameter."""
    return param.sample_optuna(trial)


def sample_random_param(param: BaseParam, rng: random.Random | None = None) -> Any:  # noqa: ANN401
    """Return a random value of a parameter, drawn with `rng`, else with a generator of our own."""
    return param.sample_random(rng or _generator)


def _label(value: object) -> str:
    return value if isinstance(value, str) else f"{type(value).__name__}:{value!r}"


def _labelled(choices: Sequence[Any]) -> dict[str, Any]:
    """Return the different values by a text for each; 1, 1.0 and True are different."""
    labels: dict[str, Any] = {}
    for value in choices:
        labels.setdefault(_label(value), value)
    return labels


def _names(by_label: Mapping[str, Any]) -> list[Any]:
    """Return the names of choices in a study: plain values themselves, texts for others.

    Long texts are named by their content, not by their position: processes that share a study then
    use the same name only for the same choice.
    """
    values = by_label.values()
    are_plain = all(one is None or isinstance(one, bool | int | float | str) for one in values)
    choices = list(values if are_plain else by_label)
    for size in itertools.count(_SHORT_NAME):
        names = [_short_name(one, size) for one in choices]
        if len({_label(name) for name in names}) == len(names):
            break
    return names


def _short_name(choice: Any, size: int) -> Any:  # noqa: ANN401 - a plain value
    if not isinstance(choice, str) or len(choice) <= _LONGEST_IN_STUDIES:
        return choice
    return f"#{hashlib.sha256(choice.encode()).hexdigest()[:size]}"


def _without_array(value: Any) -> Any:  # noqa: ANN401 - a parameter's value
    """Return a NumPy number as a plain one, which files can contain; others unchanged."""
    is_number_of_array = getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    return value.item() if is_number_of_array else value


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number of Python or NumPy; booleans do not count."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def plain_value(value: object) -> object:
    """Return a value in a form that JSON can represent."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    to_dict = getattr(value, "to_dict", None)
    return to_dict() if callable(to_dict) else str(value)
