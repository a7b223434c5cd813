# ruff: noqa: ANN001, ANN201, ANN204, I001, ARG002 - as users write
"""A space that computes bounds it does not set, and has names of its own; another of no base class.

usage: odd_space.py RECORD.json RESULTS_DIR
"""

import json
import random
import sys
from pathlib import Path

import optuna
from mneme.async_executor import AsyncReplayExecutor
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recorded_execution import RecordedExecution
from mneme.search.builtin_spaces import describe_search_space, iter_finite_params
from mneme.tuning.sample_strategy import (
    ExhaustiveSamplingStrategy,
    OptunaSamplingStrategy,
    RandomSamplingStrategy,
)
from mneme.tuning.search_space import BoolParam, CategoricalParam, IntRangeParam, SearchSpace
from mneme.session.session import classify_result, metric_value


class OddSpace(SearchSpace):
    def __init__(self, kernel):
        self.kernel = kernel
        # Names that others use too.
        self._dimensions = {"warps": 8}
        self._name, self._rng, self._constraints_take = "odd", random.Random(1), 7
        self.seed, self.samples, self.draw, self.ask = 3, [], None, ()
        self.allows, self.sample_of, self.max_attempts, self.name = {}, "x", "many", "odd"
        self.description, self.adapt, self.params = "text", True, None

    def dimensions(self):
        return {
            "warps": IntRangeParam("warps", 2, self._dimensions["warps"], 2),
            "bounds": BoolParam("bounds"),
            "slack": CategoricalParam("slack", [1.3, 1e12]),
        }

    def constraints(self, x):
        return True

    def derived(self, params):
        block = 32 * params["warps"]
        total = self.kernel.grid_dim.x * self.kernel.block_dim.x
        bounds = params["bounds"] and params["slack"] < 2
        return ExperimentConfiguration(
            grid=dim3(-(-total // block)),
            block=dim3(block),
            shared_mem=self.kernel.shared_mem,
            set_launch_bounds=bounds,
            max_threads=block if bounds else block * params["slack"] + 0.5,
            min_blocks_per_sm=1 if bounds else -0.5,
        )


class OwnRandom(OddSpace):
    def sample_random(self):
        return self.derived({"warps": 4, "bounds": False, "slack": 1.3})


class Duck:
    """No SearchSpace, but it has what one has."""

    def __init__(self, kernel):
        self.inner = OddSpace(kernel)

    def dimensions(self):
        return self.inner.dimensions()

    def derived(self, params):
        return self.inner.derived(params)

    def constraints(self, x):
        return x.block.x < 256


def main():
    record_db, results_dir = sys.argv[1], Path(sys.argv[2])
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    results_dir.mkdir(parents=True, exist_ok=True)
    record = RecordedExecution.from_json(record_db)
    (kernel,) = record.values()
    odd, own, duck = OddSpace(kernel), OwnRandom(kernel), Duck(kernel)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=3))
    configs = {
        "exhaustive": list(ExhaustiveSamplingStrategy(odd)),
        "random": list(RandomSamplingStrategy(odd, 3)),
        "own": list(RandomSamplingStrategy(own, 3)),
        "duck": list(ExhaustiveSamplingStrategy(duck)),
        "duck random": list(RandomSamplingStrategy(duck, 2)),
        "duck optuna": [c for c, _ in OptunaSamplingStrategy(duck, study, 3)],
    }
    executor = AsyncReplayExecutor(record_db, None, 2, str(results_dir), 2, warmup=1)
    classes, times = {}, []
    for name, found in configs.items():
        results = [future.result() for future in [executor.submit(one) for one in found]]
        classes[name] = [classify_result(one) for one in results]
        times += [metric_value(one, "median", 2) for one in results]
    failed = executor.submit(configs["own"][0])
    failed.result()
    executor.shutdown()
    print(
        json.dumps(
            {
                "classes": classes,
                "threads": {name: [c.block.x for c in found] for name, found in configs.items()},
                "max_threads": [c.max_threads for c in configs["exhaustive"]],
                "timed": all(time > 0 for time in times),
                "described": describe_search_space(duck, preset="mine")["preset"],
                "dimensions": sorted(describe_search_space(odd)["dimensions"]),
                "params": len(list(iter_finite_params(odd))),
            }
        )
    )


if __name__ == "__main__":
    main()
