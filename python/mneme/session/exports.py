"""Writes the results of a session: summary, winner, tuned-kernels file, code of both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import MnemeError
from mneme.recording.launch_facts import static_hash_text
from mneme.search.recorded_code import takes_any_grid, why_launch_stays
from mneme.session.events import Outcome
from mneme.session.final_round import no_gain
from mneme.session.near import fastest_near
from mneme.session.origin import note_origin
from mneme.session.probes import Probes
from mneme.session.trials import (
    FAILURES,
    FEW_ULP,
    ROUNDING,
    CompletedCandidate,
    objective_value,
    plain_params,
)
from mneme.session.winner import keeps_launch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
    from mneme.session.options import TuneOptions
    from mneme.session.result_store import ResultStore
    from mneme.session.winner import Finalist, Standing

__all__ = ["TUNED_FILE", "Exporter"]

TUNED_FILE = "proteus_tuned_kernels.json"


class Exporter:
    """Writes the files of one results directory, except `trials.jsonl` and the study."""

    def __init__(
        self,
        options: TuneOptions,
        record: RecordedExecution,
        instance: KernelInstance,
        store: ResultStore,
        weight: float = 1.0,
    ) -> None:
        """Write results of a launch to a directory."""
        self._options = options
        self._record = record
        self._instance = instance
        self._store = store
        self._weight = weight
        self.statistics: dict[str, Any] = {}
        """Statistics of the executor during the search, for `summary.json`."""
        self.warnings: list[str] = []
        """Inessential files that could not be written."""

    def write_baseline(
        self, baseline: CompletedCandidate, built: CompletedCandidate | None = None
    ) -> None:
        """Write `baseline.json`, and what gains are relative to if that differs."""
        content = _measured(baseline)
        if built is not None:
            content["as_built"] = _measured(built)
        self._store.write("baseline.json", {**content, "record": self._record_names()})

    def note_baseline(self, baseline: CompletedCandidate) -> None:
        """Say what the baseline takes, and what measures; write `origin.json`."""
        device = baseline.result.device
        self._store.log(f"baseline: {baseline.metric or 0.0:.0f} ns on {device}")
        units = baseline.result.multiprocessors
        note_origin(self._store, self._record, self._instance, device, units)

    def failed(self, baseline: CompletedCandidate) -> Outcome:
        """Record that the baseline cannot be used."""
        content = baseline.to_dict()
        names = ("status", "config", "result", "metric")
        kept = {name: content[name] for name in names}
        self._store.write("baseline.json", {**kept, "record": self._record_names()})
        outcome = self._outcome("baseline_failed", baseline, None)
        self._write_summary(outcome, [])
        return outcome

    def interrupted(
        self, baseline: CompletedCandidate | None, trials: Sequence[CompletedCandidate]
    ) -> Outcome:
        """Write the state of an interrupted session, without a winner: none was measured again."""
        outcome = self._outcome("interrupted", baseline, None)
        self._write_summary(outcome, trials)
        return outcome

    def write(
        self,
        status: str,
        baseline: CompletedCandidate,
        finalist: Finalist | None,
        trials: Sequence[CompletedCandidate],
        rule: Mapping[str, Any],
    ) -> Outcome:
        """Write everything; `rule` is the result of `launch_rule`."""
        outcome = self._outcome(status, baseline, finalist)
        if finalist is not None:
            outcome.details = self._best(status, baseline, finalist, rule)
            outcome.near = fastest_near(
                trials,
                metric=self._options.metric,
                built_ns=baseline.metric,
                best_ns=outcome.details["best_metric"],
            )
            if outcome.near is not None:
                outcome.details["near"] = outcome.near.to_dict()
            self._store.write("best.json", outcome.details)
            outcome.tuned_file = self._write_tuned_file()
            self._write_artifacts(baseline, finalist.best)
        self._write_summary(outcome, trials)
        return outcome

    def _outcome(
        self, status: str, baseline: CompletedCandidate | None, finalist: Finalist | None
    ) -> Outcome:
        outcome = Outcome(
            status=status,
            kernel=self._record.demangled_name,
            directory=self._store.directory,
            baseline=baseline,
        )
        if finalist is not None:
            outcome.best = finalist.best.done
            outcome.gain = (finalist.contender or finalist.best).gain
        return outcome

    def _best(
        self,
        status: str,
        baseline: CompletedCandidate,
        finalist: Finalist,
        rule: Mapping[str, Any],
    ) -> dict[str, Any]:
        from mneme.recording.launch_facts import launch_facts  # noqa: PLC0415 - opens snapshots

        best = finalist.best
        built = float(baseline.metric or 0.0)
        content: dict[str, Any] = {
            "status": status,
            "trial": best.done.candidate.trial,
            "speedup": (baseline.baseline_metric or built) / built * best.gain.ratio,
            "baseline_metric": baseline.baseline_metric,
            "as_built_metric": built,
            "best_metric": built / best.gain.ratio,
            "metric": self._options.metric,
            "params": plain_params(best.done.candidate.params),
            "config": best.done.candidate.config.to_dict(),
            "result": {**best.done.result.to_dict(), "metric": best.done.metric},
            "record": self._record_names(),
            "gain": best.gain.to_dict(),
            "same_launch": _standing(finalist.same_launch, built),
            "launch_rule": rule["rule"],
            "launches_tried": rule["tried"],
            "facts": launch_facts(self._record.path, self._instance.dynamic_hash),
            "weight": self._weight,
            "device": self._device(baseline),
            "rejected": {str(trial): why for trial, why in finalist.rejected.items()},
        }
        if finalist.contender is not None:
            content["contender"] = _standing(finalist.contender, built)
        content["values"] = {
            name: [objective_value(one, name) for one in (baseline, best.done)]
            for name in self._options.objectives
            if name not in ("time", "speedup")
        }
        if len(self._options.objectives) > 1:
            content["objectives"] = list(self._options.objectives)
            content["pareto"] = [self._pareto_entry(done) for done in finalist.pareto]
        return content

    def _pareto_entry(self, done: CompletedCandidate) -> dict[str, Any]:
        return {
            "trial": done.candidate.trial,
            "values": {name: objective_value(done, name) for name in self._options.objectives},
            "config": done.candidate.config.to_dict(),
        }

    def _record_names(self) -> dict[str, str]:
        return {
            "record_database": str(self._record.path.resolve()),
            "record_id": self._instance.dynamic_hash,
            "kernel_name": self._record.kernel_name,
            "static_hash": static_hash_text(self._record.static_hash),
        }

    @staticmethod
    def _device(baseline: CompletedCandidate) -> dict[str, str]:
        from mneme.devices import device_limits  # noqa: PLC0415 - loads native code

        wanted = baseline.result.device
        try:
            limits = device_limits(wanted) if wanted else None
        except MnemeError:
            limits = None
        if limits is None:
            return {"id": wanted, "name": ""}
        return {"id": wanted, "name": limits.name, "arch": limits.target}

    def launch_rule(
        self,
        executor: Any,  # noqa: ANN401
        baseline: CompletedCandidate,
        trials: Sequence[CompletedCandidate],
    ) -> dict[str, Any]:
        """Find out by replays how the kernel may be launched, if other launches were tried."""
        from mneme.devices import device_limits  # noqa: PLC0415 - loads native code
        from mneme.search.launch_rules import LaunchEvidence, LaunchRule, try_launches  # noqa: PLC0415

        recorded = baseline.candidate.config
        keep = all(keeps_launch(one.candidate.config, self._instance) for one in trials)
        if keep or why_launch_stays(self._instance):
            return LaunchEvidence(rule=LaunchRule.EXACT, tried=()).to_dict()
        limits = device_limits(baseline.result.device or None)
        any_grid = takes_any_grid(self._instance)
        probes = Probes(executor, self._options.timeout)
        found = try_launches(probes, recorded, limits, takes_any_grid=any_grid)
        if probes.is_stuck:
            executor.shutdown(cancel=True)
        return found.to_dict()

    def _write_tuned_file(self) -> Path | None:
        """Write what `mneme deploy` makes of the results if it is given no options."""
        from mneme.deploy import plan_deployment, write_deployment  # noqa: PLC0415 - for the end

        if self._options.no_proteus_output:
            return None
        output = self._options.proteus_output
        path = Path(output) if output else self._store.directory / TUNED_FILE
        plan = plan_deployment([self._store.directory])
        write_deployment(plan, path)
        why_empty = "" if plan.deployed else plan.left_out[0].reason
        self._store.write_text("proteus_usage.txt", self._usage(path, why_empty))
        return path

    def _usage(self, path: Path, why_empty: str) -> str:
        if why_empty:
            return (
                f"The tuned-kernels file is empty, {self._record.demangled_name} stays as the "
                f"program was built:\n{why_empty}\n"
            )
        return (
            f"Tuned kernel: {self._record.demangled_name}\n\n"
            f"Run the program with\n    PROTEUS_TUNED_KERNELS={path.resolve()}\n\n"
            "The program has to be built with add_mneme() or add_proteus().\n"
        )

    def _write_artifacts(self, baseline: CompletedCandidate, best: Standing) -> None:
        from mneme.measure.compile_record import CompileOptions, compile_record  # noqa: PLC0415

        if self._record.code_form:
            return
        for name, done in (("baseline", baseline), ("best", best.done)):
            if done.candidate.config.llvm in ("recorded", "ptx"):
                continue  # no LLVM compiles it
            target = "cpu" if done.result.device == "cpu" else ""
            options = CompileOptions.of(
                done.candidate.config, target=target, want_ir=True, want_assembly=True
            )
            try:
                code = compile_record(self._record.path, self._instance.dynamic_hash, options)
                self._store.write_text(f"artifacts/{name}.ll", code.ir)
                self._store.write_text(f"artifacts/{name}.s", code.assembly)
            except MnemeError as error:
                self.warnings.append(f"the code of the {name} cannot be shown: {error}")

    def _write_summary(self, outcome: Outcome, trials: Sequence[CompletedCandidate]) -> None:
        counts = {f"num_{status}": 0 for status in FAILURES}
        for done in trials:
            if not done.is_verified:
                counts[f"num_{done.status}"] = counts.get(f"num_{done.status}", 0) + 1
        baseline = outcome.baseline.baseline_metric if outcome.baseline is not None else None
        gain = outcome.details.get("gain") or no_gain().to_dict()
        content: dict[str, Any] = {
            "status": outcome.status,
            "num_trials_requested": self._options.trials,
            "num_trials_completed": len(trials),
            "num_verified": sum(done.is_verified for done in trials),
            **counts,
            "num_rounding": sum(done.failure == ROUNDING for done in trials),
            "num_few_ulp": sum(done.failure == FEW_ULP for done in trials),
            "baseline_metric": baseline,
            "best_metric": outcome.details.get("best_metric"),
            "best_speedup": outcome.details.get("speedup"),
            "best_trial": outcome.details.get("trial"),
            "gain": gain if outcome.details else None,
            "record": self._record_names(),
            "executor": self.statistics,
        }
        if "pareto" in outcome.details:
            content["pareto"] = [one["trial"] for one in outcome.details["pareto"]]
        self._store.write("summary.json", content)


def _measured(one: CompletedCandidate) -> dict[str, Any]:
    content = one.to_dict()
    return {name: content[name] for name in ("config", "result", "metric")}


def _standing(one: Standing, baseline: float) -> dict[str, Any]:
    return {
        "trial": one.done.candidate.trial,
        "config": one.done.candidate.config.to_dict(),
        "result": {**one.done.result.to_dict(), "metric": one.done.metric},
        "metric": baseline / one.gain.ratio,
        "gain": one.gain.to_dict(),
    }
