"""Reads the parts of `mneme tune`'s results directories that deployment needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mneme.deploy.tuned_variant import Gain, Match, MatchedArgument
from mneme.errors import ArtifactCorrupt, MnemeError, NotFound
from mneme.files.json_object import read_json_object
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recording.launch_facts import launch_facts

__all__ = ["Choice", "TuningResult", "find_results", "match_of", "read_result", "result_of"]

_BASELINE_TRIAL = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A configuration that was found, compared with the baseline."""

    trial: int
    """Number of the trial; -1 is the baseline itself."""

    config: ExperimentConfiguration
    """How it was compiled and launched."""

    metric_ns: float
    """Its time."""

    gain: Gain | None
    """Baseline / time; None if it was not compared."""

    is_significant: bool
    """Whether production will show a gain, according to the results."""

    replayed_low: float
    """Smallest gain in replays; 1 if there is none."""

    compile_seconds: float
    """How long compiling it took."""

    image_hash: str = ""
    """Hash of the code that was measured; empty if unknown."""

    @property
    def is_baseline(self) -> bool:
        """Whether nothing better than the baseline was found."""
        return self.trial == _BASELINE_TRIAL


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningResult:
    """The result of one tuning of one launch."""

    directory: Path
    """Where it was found."""

    facts: dict[str, Any]
    """The facts from `launch_facts`."""

    best: Choice
    """The best of all configurations."""

    same_launch: Choice | None
    """The best that keeps grid, block and shared memory; None if the results lack it."""

    launch_rule: str
    """exact, cover or agnostic."""

    baseline_ns: float
    """Time that gains are relative to: of the kernel as the program was built."""

    weight: float
    """Share of the application's time."""

    match: Match
    """The launch, and the device it was measured on."""

    record: Path | None = None
    """The record that was tuned; None if the results do not say."""

    record_id: str = ""
    """The launch in it that was tuned; empty if the results do not say."""

    contender: Gain | None = None
    """If the baseline won: the uncertain gain of the best other configuration."""


def find_results(path: str | Path) -> list[Path]:
    """Return the results directories at a path, each with a `best.json`.

    Args:
        path: A results directory, its `best.json`, or the parent that `mneme tune` made for several
            launches or models of GPU.

    Raises:
        NotFound: If there is none.
        ArtifactCorrupt: If `all.json` is damaged.
    """
    path = Path(path)
    if not path.exists():
        raise NotFound(f"'{path}' does not exist; name the results directory of a tuning")
    if path.name == "best.json" and path.is_file():
        return [path.parent]
    if (path / "best.json").is_file():
        return [path]
    if (path / "all.json").is_file():
        names = _directories_of(path / "all.json")
        found = [path / name for name in names if (path / name / "best.json").is_file()]
    else:
        found = [one.parent for one in sorted(path.glob("*/best.json"))]
        # Several models of GPU, each with every launch.
        for one in sorted(path.glob("*/all.json")):
            found += [one.parent / name for name in _directories_of(one)]
        found = [one for one in found if (one / "best.json").is_file()]
    if not found:
        raise NotFound(
            f"'{path}' holds no winner of a tuning (best.json), which 'mneme tune' writes at its "
            "end; --resume goes on with one that was interrupted"
        )
    return found


def read_result(directory: str | Path) -> TuningResult:
    """Read a results directory.

    Raises:
        NotFound: If it has no `best.json`, or a needed record no longer exists.
        ArtifactCorrupt: If `best.json` is damaged.
    """
    directory = Path(directory)
    path = directory / "best.json"
    best = read_json_object(path)
    try:
        result = result_of(directory, best)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, MnemeError) and not isinstance(error, ValueError):
            raise
        raise ArtifactCorrupt(
            f"'{path}' is not a result of a tuning ({type(error).__name__}: {error})"
        ) from error
    return result


def result_of(directory: Path, best: dict[str, Any]) -> TuningResult:
    """Return the result that the content of a `best.json` describes.

    Raises:
        KeyError, TypeError, ValueError: If something is missing or malformed.
        MnemeError: If the record is needed and cannot be read.
    """
    facts = best.get("facts") or _facts_of_record(best)
    for key in ("kernel_name", "demangled_name", "static_hash", "source_arch"):
        if not isinstance(facts[key], str):
            raise TypeError(f"{key} is {facts[key]!r}, not a text")
    # Earlier results have gains over the baseline.
    baseline = best.get("as_built_metric", best["baseline_metric"])
    same = best.get("same_launch")
    measured_on = best.get("device") or {}
    if not isinstance(measured_on, dict):
        measured_on = {"id": measured_on}
    result = best.get("result") or {}
    arch = str(measured_on.get("arch") or _arch(str(result.get("device", "")), facts))
    return TuningResult(
        directory=directory,
        facts=facts,
        best=_choice(best, best["best_metric"], baseline),
        same_launch=None if same is None else _choice(same, same["metric"], baseline),
        launch_rule=str(best.get("launch_rule", "exact")),
        baseline_ns=float(baseline),
        weight=float(best.get("weight", 1.0)),
        match=match_of(facts, arch=arch, device=str(measured_on.get("name", ""))),
        record=_record(best.get("record")),
        record_id=str((best.get("record") or {}).get("record_id") or ""),
        contender=_gain((best.get("contender") or {}).get("gain")),
    )


def match_of(facts: dict[str, Any], *, arch: str = "", device: str = "") -> Match:
    """Return the launch that `launch_facts` describes."""
    return Match(
        arch=arch,
        device=device,
        grid=dim3.from_dict(facts["grid"]),
        block=dim3.from_dict(facts["block"]),
        shared_mem=int(facts["shared_mem"]),
        args=tuple(
            MatchedArgument(
                index=int(one["index"]),
                name=str(one["name"]),
                type=str(one["type"]),
                bytes=str(one["bytes"]),
                value=one.get("value"),
                pointers=tuple(one.get("pointers", ())),
            )
            # Results of earlier releases lack "values"; features that need them are not deployed.
            for one in sorted(_known_values(facts), key=lambda one: int(one["index"]))
        ),
    )


def _known_values(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is known of arguments: all of them, or those that are no pointers."""
    known = {int(one["index"]): one for one in [*facts["args"], *facts.get("values", [])]}
    launched = facts.get("launched")
    if not launched:
        return list(known.values())
    return [{**one, "value": known.get(int(one["index"]), {}).get("value")} for one in launched]


def _arch(device: str, facts: dict[str, Any]) -> str:
    """Return the target of code for a device, from a result."""
    return device if device in ("", "cpu") else str(facts.get("source_arch", ""))


def _facts_of_record(best: dict[str, Any]) -> dict[str, Any]:
    record = best["record"]
    return launch_facts(record["record_database"], record["record_id"])


def _choice(data: dict[str, Any], metric: object, baseline: object) -> Choice:
    time, base = float(str(metric)), float(str(baseline))
    measured = data.get("gain")
    gain, is_significant = None, base > time
    replayed_low = base / time if time else 1.0
    if measured:
        gain = _gain(measured)
        is_significant = bool(measured["significant"])
        replayed_low = float(measured.get("replayed_low", measured["low"]))
    return Choice(
        trial=int(data["trial"]),
        config=ExperimentConfiguration.from_dict(data["config"]),
        metric_ns=time,
        gain=gain,
        is_significant=is_significant,
        replayed_low=replayed_low,
        compile_seconds=sum(_seconds(data, name) for name in ("opt_time", "codegen_time")),
        image_hash=str((data.get("result") or {}).get("image_hash") or ""),
    )


def _record(names: object) -> Path | None:
    path = names.get("record_database") if isinstance(names, dict) else None
    return Path(path) if isinstance(path, str) else None


def _seconds(data: dict[str, Any], name: str) -> float:
    found = (data.get("result") or {}).get(name)
    return float(found) if isinstance(found, int | float) else 0.0


def _gain(measured: dict[str, Any] | None) -> Gain | None:
    if not measured:
        return None
    return Gain(
        ratio=float(measured["ratio"]), low=float(measured["low"]), high=float(measured["high"])
    )


def _directories_of(path: Path) -> list[str]:
    content = read_json_object(path)
    try:
        return [str(one["directory"]) for one in content["instances"]]
    except (KeyError, TypeError) as error:
        raise ArtifactCorrupt(f"'{path}' lists no results directories") from error
