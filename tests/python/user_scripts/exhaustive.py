# ruff: noqa: ANN001, ANN201, ANN204 - as users write
"""Try every block size and pipeline of a recorded one-dimensional kernel.

usage: exhaustive.py RECORD.json RESULTS_DIR
"""

import json
import math
import os
import statistics
import sys

from mneme.async_executor import AsyncReplayExecutor
from mneme.convert import convert_to_json
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recorded_execution import RecordedExecution
from mneme.tuning.sample_strategy import ExhaustiveSamplingStrategy
from mneme.tuning.search_space import (
    BoolParam,
    CategoricalParam,
    FixedParam,
    IntRangeParam,
    SearchSpace,
)


class BlockSpace(SearchSpace):
    def __init__(self, kernel):
        self.kernel = kernel
        self.total_threads = kernel.grid_dim.x * kernel.block_dim.x

    def dimensions(self):
        return {
            "block_x": IntRangeParam("block_x", 64, 256, 64),
            "passes": CategoricalParam("passes", ["default<O1>", "default<O3>"]),
            "codegen_opt": IntRangeParam("codegen_opt", 1, 3, 2),
            "specialize": BoolParam("specialize"),
            "shared_mem": FixedParam("shared_mem", self.kernel.shared_mem),
        }

    def constraints(self, x):
        # 192 threads do not divide the launch; the code generator's best level is not worth
        # its time without optimisation.
        is_slow_pointless = x.passes == "default<O1>" and x.codegen_opt == 3
        return self.total_threads % x.block.x == 0 and not is_slow_pointless

    def derived(self, params):
        block_x = params["block_x"]
        return ExperimentConfiguration(
            grid=dim3(math.ceil(self.total_threads / block_x), 1, 1),
            block=dim3(block_x, 1, 1),
            shared_mem=params["shared_mem"],
            specialize=params["specialize"],
            passes=params["passes"],
            codegen_opt=params["codegen_opt"],
        )


def main():
    record_db, results_dir = sys.argv[1:3]
    os.makedirs(results_dir, exist_ok=True)
    record = RecordedExecution.from_json(record_db)
    record_id, kernel = next(iter(record.items()))
    space = BlockSpace(kernel)
    executor = AsyncReplayExecutor(
        record_db=record_db,
        record_id=record_id,
        iterations=3,
        results_db_dir=results_dir,
        num_workers=1,
    )
    best = None
    log = []
    for config in ExhaustiveSamplingStrategy(space):
        result = executor.evaluate(config)
        entry = {"hash": config.hash(), "config": config.to_dict(), "result": result.to_dict()}
        if result.executed and result.verified and not result.failed:
            measured = result.exec_time[-executor.iterations :]
            entry["time_ns"] = statistics.median(measured)
            entry["samples"] = len(result.exec_time)
            if best is None or entry["time_ns"] < best["time_ns"]:
                best = entry
        log.append(entry)
    executor.shutdown()
    with open(os.path.join(results_dir, "log.json"), "w") as out:
        json.dump(log, out)
    convert_to_json(
        os.path.join(results_dir, "tuned.json"),
        record,
        kernel,
        ExperimentConfiguration.from_dict(best["config"]),
    )
    print(json.dumps({"tried": len(log), "best": best["config"]}))


if __name__ == "__main__":
    main()
