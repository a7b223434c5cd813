"""The configurations that are explained, as people name them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mneme.deploy.tuned_file import read_tuned_file
from mneme.deploy.tuned_variant import FLAT_KEYS
from mneme.deploy.tuning_results import find_results, read_result
from mneme.errors import InvalidArgument, NotFound, Unsupported
from mneme.files.existing import existing
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS
from mneme.mneme_types import ConfigurationChanges
from mneme.recording.configured import configured
from mneme.recording.launch_facts import static_hash_text
from mneme.session.result_store import read_trials

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.deploy.tuned_variant import TunedVariant
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["RECORDED", "Way", "way_of"]

RECORDED = "recorded"
"""The word for the configuration of the program itself."""

_BASELINE_TRIAL = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to compile the kernel."""

    name: str
    """What people called it."""

    configuration: ExperimentConfiguration


def way_of(word: str, record: RecordedExecution, instance: KernelInstance) -> Way:
    """Return the configuration that a word names for a launch.

    Args:
        word: "recorded"; a results directory of `mneme tune`, its best.json, or DIRECTORY@TRIAL; a
            tuned-kernels file; or an LLVM pass pipeline.
        record: The kernel.
        instance: The launch.

    Raises:
        InvalidArgument: If LLVM does not take it for a pipeline and there is no such file.
        NotFound: If files hold nothing about this kernel.
        Unsupported: If a tuned-kernels file has machine code in place of a configuration.
        ArtifactCorrupt: If a file is damaged.
    """
    if word == RECORDED:
        return Way(name=word, configuration=configured(record, instance))
    before, _, number = word.rpartition("@")
    results, path = existing(before), existing(word)
    if results is not None and results.is_dir():
        trial = _number(number, word)
        return Way(name=word, configuration=_of_results(results, record, instance, trial))
    if path is not None and (path.is_dir() or path.name == "best.json"):
        return Way(name=word, configuration=_of_results(path, record, instance, None))
    if path is not None:
        return Way(name=word, configuration=_of_tuned_file(path, record, instance))
    changes = ConfigurationChanges(values={"passes": _checked(word)})
    return Way(name=word, configuration=configured(record, instance, changes))


def _checked(word: str) -> str:
    from mneme import _native  # noqa: PLC0415 - loads native code

    try:
        _native.check_passes(word)
    except InvalidArgument as error:
        raise InvalidArgument(
            f"'{word}' names no configuration: there is no such file or directory, and {error}"
        ) from error
    return word


def _number(text: str, word: str) -> int:
    if text == "baseline":
        return _BASELINE_TRIAL
    if not text.isdecimal():
        raise InvalidArgument(f"'{word}' names no trial; write the number, as in results@12")
    return int(text)


def _of_results(
    path: Path, record: RecordedExecution, instance: KernelInstance, trial: int | None
) -> ExperimentConfiguration:
    """Return the best configuration, or that of a trial, of the results for this kernel."""
    wanted = static_hash_text(record.static_hash)
    found = [one for one in map(read_result, find_results(path)) if _hash_of(one.facts) == wanted]
    dims = {"grid": instance.grid_dim.to_dict(), "block": instance.block_dim.to_dict()}
    of_launch = [one for one in found if dims.items() <= one.facts.items()]
    chosen = next(iter(of_launch or found), None)
    if chosen is None:
        raise NotFound(
            f"'{path}' holds no result for '{record.demangled_name}' (code {wanted}); name the "
            "results directory of its tuning"
        )
    if trial is None:
        return chosen.best.config
    trials = {one.candidate.trial: one.candidate.config for one in read_trials(chosen.directory)}
    if trial not in trials:
        raise NotFound(f"'{chosen.directory}' has no trial {trial}; it has {len(trials)} trials")
    return trials[trial]


def _hash_of(facts: dict[str, object]) -> str:
    return str(facts.get("static_hash", "")).lower()


def _of_tuned_file(
    path: Path, record: RecordedExecution, instance: KernelInstance
) -> ExperimentConfiguration:
    """Return the variant for this launch, else the heaviest one."""
    code = static_hash_text(record.static_hash)
    entry = read_tuned_file(path).get(record.kernel_name)
    variants = (
        [one for one in entry.variants if one.is_for(code, record.code_hash)] if entry else []
    )
    if not variants:
        raise NotFound(f"'{path}' has no variant for '{record.demangled_name}' (code {code})")
    fitting = [
        one
        for one in variants
        if (one.match.grid, one.match.block) == (instance.grid_dim, instance.block_dim)
    ]
    chosen = max(fitting or variants, key=lambda one: one.weight)
    if chosen.code_form:
        raise Unsupported(
            f"'{path}' has machine code for '{record.demangled_name}', and not all of its "
            "configuration; name the results directory of its tuning"
        )
    return _configuration_of(chosen, record, instance)


def _configuration_of(
    variant: TunedVariant, record: RecordedExecution, instance: KernelInstance
) -> ExperimentConfiguration:
    config = configured(record, instance)
    for key in FLAT_KEYS:
        setattr(config, key.configured, getattr(variant, key.name))
    for one in (*CODE_NUMBERS, *CODE_TEXTS):
        setattr(config, one.key, getattr(variant, one.key))
    if variant.specialized_args is not None:
        config.specialized_args = ",".join(variant.specialized_args)
        config.specialize = config.specialize and bool(variant.specialized_args)
    if variant.launch is not None:
        config.grid, config.block = variant.launch.grid, variant.launch.block
    config.max_threads = (
        variant.tuned_max_threads if variant.tuned_max_threads > 0 else config.block.volume
    )
    return config
