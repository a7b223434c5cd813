"""What `mneme tune` is asked to do; the field names are those of config files and scripts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.code_texts import SearchedCodeFiles, compiler_text, plugin_files
from mneme.errors import InvalidArgument
from mneme.files.redaction import redacted
from mneme.knobs import SearchedCodeNumbers, SearchedCodeTexts
from mneme.measure.cluster import check_cluster
from mneme.measure.measuring import is_counter
from mneme.measure.tolerance import Tolerance
from mneme.option import option, option_of
from mneme.session.option_values import option_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ALL_MODELS", "AUTO", "OBJECTIVES", "TuneOptions"]

AUTO = "auto"
"""The sampler that is a portfolio of ways to search."""

OBJECTIVES = ("time", "speedup", "registers", "spills", "code-size", "compile-time")
"""What can be searched for."""

ENUMERATING_SAMPLERS = ("grid", "exhaustive")

ALL_MODELS = "all"
"""What `model` says if each model of a cluster is meant."""

_RECORD = "Which launch"
_SEARCH = "What is searched"
_MEASURE = "Measuring"
_RESULTS = "Results"
_STUDY = "Study"
_SPACE = "Search space"

_ON_OFF = ("fixed", "on", "off", "on-off")
_I32, _U32 = 2**31 - 1, 2**32 - 1
_SMALLEST_EARLY_STOP = 1.0


@dataclass(kw_only=True)
class TuneOptions(SearchedCodeTexts, SearchedCodeFiles, SearchedCodeNumbers):
    """The options of a tuning session: the one list, for the command line and for files."""

    record_database: str | Path = option(
        "",
        _RECORD,
        "The recording, in place of RECORDING.",
        names=("-rdb", "--record-database"),
        metavar="DB",
    )
    kernel: str | None = None
    """A name or part of one, a place, a label or a hash; "spmv@2": its second launch."""
    record_id: str | None = None
    """Which launch; not needed if there is only one."""
    all: bool = option(
        False,
        _RECORD,
        "Tune every launch of the directory, each with a share of --trials by its weight.",
    )
    device: str | None = None
    """Device of every worker; None gives worker i device i."""

    space_preset: str = option(
        "",
        _SPACE,
        "the built-in space.",
        choices=("quick", "standard", "launch", "compiler", "full"),
        shown="full with --sampler auto, else standard",
    )
    sampler: str = option(
        AUTO,
        _SEARCH,
        "auto, random, tpe, nsga2, grid, exhaustive, or MODULE:CLASS of an Optuna sampler.",
        metavar="NAME",
    )
    trials: int | None = option(
        None,
        _SEARCH,
        "Configurations to try; not with grid and exhaustive, which try all.",
        metavar="N",
        least=1,
        most=_I32,
    )
    timeout: float | None = option(
        None, _SEARCH, "End the search after this time.", metavar="SECONDS", above=0
    )
    times_everything: bool = option(
        False,
        _SEARCH,
        "--timeout covers the baseline and the last rounds, too, as far as can be foreseen.",
        names=("--times-everything",),
    )
    seed: int | None = option(
        None, _SEARCH, "Makes samplers repeat themselves.", metavar="N", least=0, most=_U32
    )
    metric: str = option(
        "mean", _SEARCH, "the time of a configuration.", choices=("mean", "median", "min", "max")
    )
    objective: str | Sequence[str] = option(
        "time",
        _SEARCH,
        "time, speedup, registers, spills, code-size, compile-time, or a hardware counter "
        "(dram__bytes.sum); several give a Pareto front.",
        metavar="NAME",
    )

    iterations: int = option(
        5,
        _MEASURE,
        "Measured launches of a configuration, at least.",
        metavar="N",
        least=1,
        most=_U32,
    )
    warmup: int = option(2, _MEASURE, "Launches before those.", metavar="N", least=0, most=_U32)
    max_iterations: int = option(
        50, _MEASURE, "Measured launches, at most.", metavar="N", least=1, most=_U32
    )
    confidence: float = option(
        0.02,
        _MEASURE,
        "Measure until the median is known to this part of itself; 0: --iterations launches.",
        metavar="PART",
        least=0,
    )
    early_stop: float = option(
        1.5,
        _MEASURE,
        "Stop measuring what is slower than this times the best so far; 0: never.",
        metavar="FACTOR",
        least=0,
    )
    workers: int = option(
        1, _MEASURE, "Measuring processes, one per device.", metavar="N", least=1, most=1024
    )
    on: str | None = option(
        None,
        _MEASURE,
        "Measure on other machines: dask://HOST:PORT, dask:///PATH/TO/scheduler.json, slurm, flux, "
        "mpi, or ray://HOST:PORT.",
        shown="on this machine",
        metavar="CLUSTER",
    )
    cluster: Sequence[str] = option(
        (),
        _MEASURE,
        "Jobs of --on slurm or flux: jobs=4, queue=gpu, walltime=01:00:00 ...; may be repeated.",
        metavar="KEY=VALUE",
    )
    model: Sequence[str] = option(
        (),
        _MEASURE,
        "With --on, measure on GPUs with this in their name only: A100. Several, or all: a search "
        "for each at the same time.",
        shown="the model that most processes have",
        metavar="TEXT",
    )
    compile_workers: int | None = option(
        None,
        _MEASURE,
        "Compiling processes.",
        shown="one per core left; none on the CPU device",
        metavar="N",
        least=0,
        most=1024,
    )
    trial_timeout: float = option(
        60.0,
        _MEASURE,
        "Limit of one replay.",
        shown="60, and less where others are much shorter",
        metavar="SECONDS",
        above=0,
    )
    compile_timeout: float = option(
        60.0, _MEASURE, "Limit of compiling one configuration.", metavar="SECONDS", above=0
    )
    tolerance: Sequence[str] = option(
        (), _MEASURE, "As for 'mneme replay'; may be repeated.", metavar="SPEC"
    )
    fail_fast: bool = option(
        False,
        _MEASURE,
        "End at the first configuration that fails.",
        shown="keep going",
        names=("--fail-fast/--keep-going",),
    )
    final_rounds: int = option(
        12,
        _MEASURE,
        "Rounds in which the winner is measured against the baseline, at least 6.",
        metavar="N",
        least=6,
        most=10000,
    )
    top: int = option(
        5,
        _MEASURE,
        "Configurations measured again before a winner is named.",
        metavar="N",
        least=1,
        most=10000,
    )

    results_dir: str | Path | None = option(
        None,
        _RESULTS,
        "Where results go.",
        shown="mneme-tune-results/<record id>-<time>",
        metavar="DIR",
    )
    resume: bool = option(False, _RESULTS, "Go on with what --results-dir holds, with its options.")
    rerun_baseline: bool = option(False, _RESULTS, "Measure the baseline again when resuming.")
    print_space: bool = option(False, _RESULTS, "Only say what the space is.")
    dry_run: bool = option(False, _RESULTS, "Only say which configurations would be tried first.")
    baseline_only: bool = option(False, _RESULTS, "Only measure the baseline.")
    baseline: str = option(
        "usual",
        _RESULTS,
        "what trials are compared with: -O3 (or the first of --passes), or the program's own "
        "level, over which the gain at the end is stated in any case.",
        choices=("usual", "program"),
    )
    quiet: bool = option(False, _RESULTS, "Say nothing but errors.")
    proteus_output: str | Path | None = option(
        None,
        _RESULTS,
        "The tuned-kernels file, as 'mneme deploy' writes it.",
        shown="proteus_tuned_kernels.json in the results",
        metavar="FILE",
    )
    no_proteus_output: bool = option(False, _RESULTS, "Write no tuned-kernels file.")

    knowledge: bool = option(
        True,
        _SEARCH,
        "Begin with what earlier tunings found (--sampler auto), and remember what this one finds.",
    )

    study_name: str = option("mneme", _STUDY, "The study in the storage.", metavar="NAME")
    optuna_storage: str | None = option(
        None,
        _STUDY,
        "sqlite:///FILE, postgresql://..., or a journal file: a study that processes share.",
        metavar="URL",
        envvar="MNEME_STUDY_STORAGE",
    )
    pruner: str = option(
        "none",
        _STUDY,
        "stop measuring what is slower than half of the trials.",
        choices=("none", "median"),
    )

    launch_dim: str = option(
        "auto", _SPACE, "axes of the block that change.", choices=("none", "auto", "x", "xy", "xyz")
    )
    launch_safety: str | None = option(
        None, _SPACE, "how far blocks change.", choices=("conservative", "balanced", "aggressive")
    )
    adaptive_invalid_ban: bool = option(
        True, _SPACE, "Leave out block shapes that gave no right result."
    )

    passes: Sequence[str] = option(
        (), _SPACE, "Pipelines to choose from, one or more.", metavar="P..."
    )
    fixed_passes: str | None = option(None, _SPACE, "The only pipeline.", metavar="P")
    pipeline_file: str | Path | None = option(
        None, _SPACE, "A file with one pipeline a line.", metavar="FILE"
    )
    codegen_opt_range: str | None = option(
        None, _SPACE, "Levels of the code generator.", metavar="LOW:HIGH[:STEP]"
    )
    fixed_codegen_opt: int | None = option(None, _SPACE, "The only level.", metavar="0..3")
    codegen_method: str | None = option(
        None, _SPACE, "Accepted and ignored.", metavar="NAME", hidden=True
    )

    specialize_space: str | None = option(
        None, _SPACE, "whether scalar arguments become constants.", choices=_ON_OFF
    )
    specialized_args: str | None = option(
        None,
        _SPACE,
        "What may become a constant: argument 2; the member at offset 8 of argument 0: 2,0+8.",
        shown="all that can",
        metavar="I,J..",
    )
    specialize_dims_space: str | None = option(
        None, _SPACE, "whether grid and block become constants.", choices=_ON_OFF
    )
    launch_bounds_space: str | None = option(
        None, _SPACE, "whether launch bounds are set.", choices=_ON_OFF
    )
    min_blocks_per_sm_range: str | None = option(
        None, _SPACE, "Blocks that have to fit on a multiprocessor.", metavar="LOW:HIGH[:STEP]"
    )
    fixed_min_blocks_per_sm: int | None = option(None, _SPACE, "The only such number.", metavar="N")
    max_threads_range: str | None = option(
        None, _SPACE, "Threads of the largest block.", metavar="LOW:HIGH[:STEP]"
    )
    max_threads_policy: str = option(
        "block-threads",
        _SPACE,
        "where that comes from.",
        choices=("recorded", "block-threads", "powers-of-two", "hardware"),
    )

    space_module: str | None = option(
        None, _SPACE, "A space of your own.", metavar="MODULE_OR_PATH:CLASS"
    )
    space_arg: Sequence[str] = option(
        (), _SPACE, "For its constructor; may be repeated.", metavar="KEY=VALUE"
    )

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
    def counters(self) -> tuple[str, ...]:
        """The hardware counters among the objectives."""
        return tuple(one for one in self.objectives if one not in OBJECTIVES)

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
        return cls(**{name: option_value(cls, name, value) for name, value in data.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values, as files may have them: without passwords."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}

    @property
    def may_hold_secrets(self) -> bool:
        """Whether files with these options are for their owner alone.

        Passwords in addresses are left out of them, but what else is in a database's URL, in the
        options of a user's own space, and in the lines of a job, only the user knows.
        """
        return "://" in (self.optuna_storage or "") or bool(self.space_arg or self.cluster)

    def validate(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            InvalidArgument: With a sentence that names the option.
        """
        if not str(self.record_database):
            raise InvalidArgument(
                "no recording is named; say RECORDING, a directory or a record, or -rdb"
            )
        for item in fields(self):
            if told := option_of(item):
                told.check(item.name, getattr(self, item.name))
        check_cluster(self.on, self.cluster)
        self._check_models()
        for text in self.tolerance:
            Tolerance.parse(text)
        # By content: what goes on later finds out whether they are the same.
        self.pass_plugins = tuple(plugin_files([one]) for one in self.pass_plugins)
        self.llvm = tuple(compiler_text([one]) for one in self.llvm)
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

    @property
    def has_several_models(self) -> bool:
        """Whether `model` names several models of GPU, or all."""
        return len(self.model) > 1 or ALL_MODELS in self.model

    def _check_models(self) -> None:
        if not self.has_several_models:
            return
        if not (self.on or "").startswith("dask"):
            raise InvalidArgument(
                "--model all, or several, is for a Dask cluster that runs (--on dask://HOST:PORT); "
                "elsewhere tune once for each model"
            )
        if self.optuna_storage is not None:
            raise InvalidArgument(
                "several models make one study each; leave --optuna-storage out, or tune once for "
                "each"
            )

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
        if self.confidence > 1:
            raise InvalidArgument(
                f"--confidence is {self.confidence}; it is a part of the median: 0.02 is 2 %"
            )
        if 0 < self.early_stop < _SMALLEST_EARLY_STOP:
            raise InvalidArgument(f"--early-stop is {self.early_stop}; it is 0, or 1 or more")
        self.max_iterations = max(self.max_iterations, self.iterations)

    def _check_objectives(self) -> None:
        for objective in self.objectives:
            if objective not in OBJECTIVES and not is_counter(objective):
                raise InvalidArgument(
                    f"--objective is '{objective}', not one of {', '.join(OBJECTIVES)}, nor a "
                    "hardware counter, as dram__bytes.sum is"
                )
        if not self.objectives or len(set(self.objectives)) < len(self.objectives):
            raise InvalidArgument("name at least one --objective, and none twice")

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


def _plain(value: object) -> object:
    if isinstance(value, str | Path):
        return redacted(str(value))
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value
