# ruff: noqa: ANN001, ANN201, ANN204, I001 - as users write
"""Let Optuna's TPE choose pipelines and launch bounds; twice: longest speedup, shortest time.

usage: tpe_launch_bounds.py RECORD.json RESULTS_DIR
"""

import json
import sys
from pathlib import Path

import optuna
from mneme.async_executor import AsyncReplayExecutor
from mneme.convert import convert_to_json, export_proteus_tuned_kernel
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.pipeline import PipelineManager
from mneme.recorded_execution import RecordedExecution
from mneme.tuning.sample_strategy import OptunaSamplingStrategy
from mneme.tuning.search_space import (
    BoolParam,
    IntRangeParam,
    PipelineParam,
    RealRangeParam,
    SearchSpace,
)

TRIALS = 8


class LaunchBoundsSpace(SearchSpace):
    def __init__(self, kernel):
        self.kernel = kernel
        self.threads = kernel.grid_dim.x * kernel.block_dim.x

    def dimensions(self):
        return {
            "warps": IntRangeParam("warps", 2, 8),
            "bounds": BoolParam("bounds"),
            "slack": RealRangeParam("slack", 1.0, 2.0),
            "min_blocks": IntRangeParam("min_blocks", 1, 3),
            "passes": PipelineParam("passes", 4),
            "codegen_opt": IntRangeParam("codegen_opt", 2, 3),
        }

    def constraints(self, config):
        return config.is_valid() and config.block.x <= config.max_threads

    def derived(self, params):
        block = 32 * params["warps"]
        return ExperimentConfiguration(
            grid=dim3((self.threads + block - 1) // block, 1, 1),
            block=dim3(block, 1, 1),
            shared_mem=self.kernel.shared_mem,
            specialize=True,
            set_launch_bounds=params["bounds"],
            max_threads=min(1024, int(block * params["slack"])) if params["bounds"] else 1024,
            min_blocks_per_sm=params["min_blocks"] if params["bounds"] else 1,
            specialize_dims=True,
            passes=params["passes"],
            codegen_opt=params["codegen_opt"],
        )


def mean(result, iterations):
    measured = result.exec_time[-iterations:]
    return sum(measured) / len(measured)


def search(executor, space, direction, objective, sampler_seed):
    study = optuna.create_study(
        study_name=f"launch-bounds-{direction}",
        direction=direction,
        sampler=optuna.samplers.TPESampler(seed=sampler_seed, n_startup_trials=4),
    )
    for config, trial in OptunaSamplingStrategy(space, study, TRIALS):
        result = executor.evaluate(config)
        trial.set_user_attr("config", config.to_dict())
        if result.failed or not result.executed or not result.verified:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, objective(result))
    return study


def main():
    record_db, results_dir = sys.argv[1], Path(sys.argv[2])
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    results_dir.mkdir(parents=True, exist_ok=True)
    record = RecordedExecution.from_json(record_db)
    (record_id,) = record.keys()
    kernel = record[record_id]
    space = LaunchBoundsSpace(kernel)
    executor = AsyncReplayExecutor(record_db, record_id, 2, str(results_dir), 1, 1)
    iterations = executor.iterations
    plain = executor.evaluate(
        ExperimentConfiguration(
            grid=kernel.grid_dim, block=kernel.block_dim, shared_mem=kernel.shared_mem
        )
    )
    base = mean(plain, iterations)
    fastest = search(executor, space, "maximize", lambda result: base / mean(result, iterations), 7)
    shortest = search(executor, space, "minimize", lambda result: mean(result, iterations), 8)
    executor.shutdown()

    known = set(PipelineManager().get_passes())
    chosen = ExperimentConfiguration.from_dict(fastest.best_trial.user_attrs["config"])
    PipelineManager().from_string(chosen.passes)
    convert_to_json(str(results_dir / "tuned.json"), record, kernel, chosen)
    export_proteus_tuned_kernel(
        str(results_dir / "exported.json"),
        record,
        kernel,
        chosen,
        usage_filename=str(results_dir / "usage.txt"),
    )
    states = {
        study.study_name: [trial.state.name for trial in study.trials]
        for study in (fastest, shortest)
    }
    print(
        json.dumps(
            {
                "states": states,
                "configs": [
                    trial.user_attrs["config"]
                    for study in (fastest, shortest)
                    for trial in study.trials
                ],
                "params": [sorted(trial.params) for trial in fastest.trials],
                "speedup": fastest.best_value,
                "time_ns": shortest.best_value,
                "passes_known": len(known),
                "best": chosen.to_dict(),
            }
        )
    )


if __name__ == "__main__":
    main()
