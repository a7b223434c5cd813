"""What `mneme tune` is asked to do; the field names are those of config files and scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mneme.errors import InvalidArgument
from mneme.files.redaction import redacted
from mneme.mneme_types import argument_indices

__all__ = ["AUTO", "CHOICES", "OBJECTIVES", "TuneOptions"]

AUTO = "auto"
"""The sampler that is a portfolio of ways to search."""

CHOICES: dict[str, tuple[str, ...]] = {
    "space_preset": ("quick", "standard", "launch", "compiler", "full"),
    "metric": ("mean", "median", "min", "max"),
    "pruner": ("none", "median"),
    "baseline": ("usual", "program"),
    "launch_dim": ("none", "auto", "x", "xy", "xyz"),
    "launch_safety": ("conservative", "balanced", "aggressive"),
    "specialize_space": ("fixed", "on", "off", "on-off"),
    "specialize_dims_space": ("fixed", "on", "off", "on-off"),
    "launch_bounds_space": ("fixed", "on", "off", "on-off"),
    "max_threads_policy": ("recorded", "block-threads", "powers-of-two", "hardware"),
}
"""What options with few values may be."""

OBJECTIVES = ("time", "speedup", "registers", "code-size", "compile-time")
"""What can be searched for."""

ENUMERATING_SAMPLERS = ("grid", "exhaustive")

_SMALLEST = {
    "trials": 1,
    "iterations": 1,
    "warmup": 0,
    "workers": 1,
    "compile_workers": 0,
    "final_rounds": 6,
    "top": 1,
    "seed": 0,
    "max_iterations": 1,
}
# What the runtime and the samplers take.
_LARGEST = dict.fromkeys(("iterations", "warmup", "max_iterations", "seed"), 2**32 - 1)
_LARGEST.update(trials=2**31 - 1, final_rounds=10_000, top=10_000)
_LARGEST.update(workers=1024, compile_workers=1024)
_POSITIVE = ("timeout", "trial_timeout", "compile_timeout")
_NOT_NEGATIVE = ("confidence", "early_stop")
_LISTS = ("passes", "space_arg", "tolerance")
_SMALLEST_EARLY_STOP = 1.0


@dataclass(kw_only=True)
class TuneOptions:
    """Everything a tuning session can be told."""

    record_database: str | Path = ""
    """A `<static hash>.json` file, or a directory of them."""
    record_id: str | None = None
    """Which launch; not needed if there is only one."""
    all: bool = False
    """Every launch of the directory."""
    device: str | None = None
    """Device of every worker; None gives worker i device i."""

    space_preset: str = ""
    """Which built-in space; empty: `full` for the sampler `auto` and one objective, which finds its
    way in it, else `standard`."""
    sampler: str = AUTO
    """auto, random, tpe, grid, exhaustive, nsga2, cmaes, gp, qmc, or MODULE:CLASS."""
    trials: int | None = None
    """Configurations to try; with a shared storage those of all processes together."""
    timeout: float | None = None
    """Seconds the search may take."""
    times_everything: bool = False
    """`timeout` is for the baseline and the last rounds, too, as far as can be foreseen."""
    seed: int | None = None
    """Makes samplers repeat themselves."""
    metric: str = "mean"
    """How the time of a configuration follows from its launches."""
    objective: str | Sequence[str] = "time"
    """What is searched for; several give a Pareto front."""

    iterations: int = 5
    """Smallest number of measured launches."""
    warmup: int = 2
    """Launches before those."""
    max_iterations: int = 50
    """Largest number of measured launches of one trial."""
    confidence: float = 0.02
    """Measure until half the confidence interval is at most this part of the median; 0: never."""
    early_stop: float = 1.5
    """Stop measuring what is slower than this times the best so far; 0: never."""
    workers: int = 1
    """Measuring processes, one per device."""
    compile_workers: int | None = None
    """Compiling processes; None: one per core left."""
    trial_timeout: float = 60.0
    """Seconds one replay may take."""
    compile_timeout: float = 60.0
    """Seconds compiling one configuration may take."""
    tolerance: Sequence[str] = ()
    """How far memory may be from what was recorded, as for `mneme replay`."""
    fail_fast: bool = False
    """End at the first configuration that fails."""
    final_rounds: int = 12
    """Rounds in which the winner is measured against the baseline."""
    top: int = 5
    """Configurations that are measured again before a winner is named."""

    results_dir: str | Path | None = None
    """Where results go; None: `mneme-tune-results/<record id>-<time>`."""
    resume: bool = False
    """Go on with what `results_dir` holds."""
    rerun_baseline: bool = False
    """Measure the baseline again when resuming."""
    print_space: bool = False
    """Only say what the space is."""
    dry_run: bool = False
    """Only say which configurations would be tried first."""
    baseline_only: bool = False
    """Only measure the baseline."""
    baseline: str = "usual"
    """usual: default<O3>, or the first of `passes`; program: as the program was built."""
    quiet: bool = False
    """Say nothing but errors and the result."""
    proteus_output: str | Path | None = None
    """Tuned-kernels file; None: `proteus_tuned_kernels.json` in the results."""
    no_proteus_output: bool = False
    """Write no tuned-kernels file."""

    knowledge: bool = True
    """Begin with what helped before, and remember what helps now; see MNEME_KNOWLEDGE."""

    study_name: str = "mneme"
    """Name of the study in the storage."""
    optuna_storage: str | None = None
    """URL of a database or name of a journal file that several processes share."""
    pruner: str = "none"
    """median: stop measuring what is slower than half of the trials."""

    launch_dim: str = "auto"
    """Axes in which block and grid change."""
    launch_safety: str | None = None
    """How far they change."""
    adaptive_invalid_ban: bool = True
    """Leave out block shapes that the device refused."""

    passes: Sequence[str] = ()
    """Pipelines to choose from."""
    fixed_passes: str | None = None
    """The only pipeline."""
    pipeline_file: str | Path | None = None
    """File with one pipeline a line."""
    codegen_opt_range: str | None = None
    """LOW:HIGH[:STEP]."""
    fixed_codegen_opt: int | None = None
    """The only code generation level."""
    codegen_method: str | None = None
    """Accepted from older files and ignored."""

    specialize_space: str | None = None
    specialized_args: str | None = None
    """Indices of the arguments that may become constants, as "0,2", in a file also a list."""
    specialize_dims_space: str | None = None
    launch_bounds_space: str | None = None
    min_blocks_per_sm_range: str | None = None
    fixed_min_blocks_per_sm: int | None = None
    max_registers_range: str | None = None
    fixed_max_registers: int | None = None
    max_threads_range: str | None = None
    max_threads_policy: str = "block-threads"

    space_module: str | None = None
    """MODULE_OR_PATH:CLASS of a space of the user's own."""
    space_arg: Sequence[str] = field(default_factory=tuple)
    """KEY=VALUE for its constructor; values are JSON where they parse as such."""

    def __post_init__(self) -> None:
        """Choose the space that fits the sampler."""
        if not self.space_preset:
            self.space_preset = "full" if self.uses_portfolio else "standard"

    @property
    def uses_portfolio(self) -> bool:
        """Whether the sampler is mneme's portfolio, which knows one objective only."""
        return self.sampler == AUTO and len(self.objectives) == 1

    @property
    def objectives(self) -> tuple[str, ...]:
        """What is searched for, in order."""
        return (self.objective,) if isinstance(self.objective, str) else tuple(self.objective)

    @property
    def enumerates(self) -> bool:
        """Whether every configuration is tried."""
        return self.sampler in ENUMERATING_SAMPLERS

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TuneOptions:
        """Return options from the values of a config file.

        Raises:
            InvalidArgument: If a name or a type is wrong.
        """
        known = {item.name for item in fields(cls)}
        for name in data:
            if name not in known:
                raise InvalidArgument(
                    f"there is no option '{name}'; options are named as in 'mneme tune --help', "
                    "with _ for -"
                )
        return cls(**{name: _typed(name, value) for name, value in data.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values, as files may have them: without passwords."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}

    @property
    def may_hold_secrets(self) -> bool:
        """Whether files with these options are for their owner alone.

        Passwords in addresses are left out of them, but what else is in a database's URL, and what
        a space of the user's own is told, only the user knows.
        """
        return "://" in (self.optuna_storage or "") or bool(self.space_arg)

    def validate(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            InvalidArgument: With a sentence that names the option.
        """
        if not str(self.record_database):
            raise InvalidArgument("no recording is named; say -rdb FILE_OR_DIRECTORY")
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise InvalidArgument(
                    f"{_flag(name)} is '{value}', not one of {', '.join(choices)}"
                )
        self._check_numbers()
        self._check_objectives()
        self._check_trials()
        if self.resume and self.results_dir is None:
            raise InvalidArgument("--resume needs --results-dir, the directory to go on with")
        if self.space_arg and self.space_module is None:
            raise InvalidArgument("--space-arg is for the space of --space-module; name that too")
        self._check_places()
        if self.all and self.record_id is not None:
            raise InvalidArgument("--all means every launch; leave -rid out")
        if self.all and self.optuna_storage is not None:
            raise InvalidArgument("--all makes one study per launch; leave --optuna-storage out")

    def _check_places(self) -> None:
        """Find out now, not when everything is measured."""
        if self.proteus_output is None:
            return
        parent = Path(self.proteus_output).parent.resolve()
        # The results directory will be there by then.
        own = None if self.results_dir is None else Path(self.results_dir).resolve()
        if not parent.is_dir() and parent != own:
            raise InvalidArgument(
                f"--proteus-output is '{self.proteus_output}', in a directory that does not exist"
            )

    def _check_numbers(self) -> None:
        for name, smallest in _SMALLEST.items():
            value = getattr(self, name)
            if value is not None and value < smallest:
                raise InvalidArgument(f"{_flag(name)} is {value}; it has to be {smallest} or more")
            if value is not None and value > _LARGEST[name]:
                raise InvalidArgument(f"{_flag(name)} is {value}; it can be {_LARGEST[name]}")
        for name in _POSITIVE:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidArgument(f"{_flag(name)} is {value}; it has to be more than 0")
        for name in _NOT_NEGATIVE:
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise InvalidArgument(f"{_flag(name)} is {value}; it has to be 0 or more")
        if self.confidence > 1:
            raise InvalidArgument(
                f"--confidence is {self.confidence}; it is a part of the median: 0.02 is 2 %"
            )
        if 0 < self.early_stop < _SMALLEST_EARLY_STOP:
            raise InvalidArgument(f"--early-stop is {self.early_stop}; it is 0, or 1 or more")
        self.max_iterations = max(self.max_iterations, self.iterations)

    def _check_objectives(self) -> None:
        for objective in self.objectives:
            if objective not in OBJECTIVES:
                raise InvalidArgument(
                    f"--objective is '{objective}', not one of {', '.join(OBJECTIVES)}"
                )
        if not self.objectives or len(set(self.objectives)) < len(self.objectives):
            raise InvalidArgument("every --objective counts once, and there has to be one")

    def _check_trials(self) -> None:
        if self.enumerates and self.trials is not None:
            raise InvalidArgument(
                f"--sampler {self.sampler} tries every configuration; leave --trials out"
            )
        only_looks = self.print_space or self.dry_run or self.baseline_only
        if not self.enumerates and self.trials is None and self.timeout is None and not only_looks:
            raise InvalidArgument(
                f"--sampler {self.sampler} needs --trials N, the number of configurations to try "
                "(or --timeout SECONDS)"
            )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _plain(value: object) -> object:
    if isinstance(value, str | Path):
        return redacted(str(value))
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


_TYPES = {item.name: str(item.type) for item in fields(TuneOptions)}


def _typed(name: str, value: object) -> Any:  # noqa: ANN401 - the type of the field
    """Return a value of a config file as the field wants it."""
    kind = _TYPES[name]
    if value is None:
        return getattr(TuneOptions, name, None) if "None" not in kind else None
    if name in _LISTS:
        return _texts(name, value)
    if name == "objective":
        return value if isinstance(value, str) else _texts(name, value)
    if name == "specialized_args" and isinstance(value, str | int | Sequence):
        return ",".join(map(str, argument_indices(value)))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    wanted = ""
    if "bool" in kind:
        wanted = "" if isinstance(value, bool) else "true or false"
    elif "float" in kind:
        wanted = "" if is_number else "a number"
    elif "int" in kind:
        wanted = "" if is_number and isinstance(value, int) else "a whole number"
    elif name == "record_id" and is_number:
        return str(value)
    else:
        wanted = "" if isinstance(value, str | Path) else "a text"
    if wanted:
        raise InvalidArgument(f"option '{name}' is {value!r}; it has to be {wanted}")
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if name == "space_arg" and isinstance(value, Mapping):
        import json  # noqa: PLC0415 - rare

        return tuple(f"{key}={json.dumps(one)}" for key, one in value.items())
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise InvalidArgument(f"option '{name}' is {value!r}; it has to be a list of texts")
