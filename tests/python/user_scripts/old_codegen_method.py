# ruff: noqa: ANN001, ANN201, ANN204, B905 - as users write
"""An older script: it still names the code generator in the configuration.

usage: old_codegen_method.py RECORD.json RESULTS_DIR
"""

import json
import sys
from pathlib import Path

from mneme.async_executor import AsyncReplayExecutor
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recorded_execution import RecordedExecution
from mneme.tuning.sample_strategy import ExhaustiveSamplingStrategy
from mneme.tuning.search_space import IntRangeParam, SearchSpace


class ThreadsSpace(SearchSpace):
    def __init__(self, kernel):
        self.kernel = kernel

    def dimensions(self):
        return {"threads": IntRangeParam("threads", 128, 256, 128)}

    def constraints(self, config):
        return config.block.x <= 1024

    def derived(self, params):
        total = self.kernel.grid_dim.x * self.kernel.block_dim.x
        return ExperimentConfiguration(
            grid=dim3(total // params["threads"], 1, 1),
            block=dim3(params["threads"], 1, 1),
            shared_mem=self.kernel.shared_mem,
            specialize=True,
            set_launch_bounds=True,
            max_threads=params["threads"],
            min_blocks_per_sm=1,
            specialize_dims=True,
            passes="default<O3>",
            codegen_opt=3,
            codegen_method="serial",
            prune=True,
            internalize=True,
        )


def main():
    record_db, results_dir = sys.argv[1], Path(sys.argv[2])
    results_dir.mkdir(parents=True, exist_ok=True)
    record = RecordedExecution.from_json(record_db)
    for record_id, kernel in record.items():
        executor = AsyncReplayExecutor(
            record_db=record_db,
            record_id=record_id,
            iterations=2,
            results_db_dir=str(results_dir),
            num_workers=1,
        )
        futures = [
            executor.submit(config) for config in ExhaustiveSamplingStrategy(ThreadsSpace(kernel))
        ]
        results = [future.result() for future in futures]
        executor.shutdown()
        print(json.dumps([[f.config.to_dict(), r.verified] for f, r in zip(futures, results)]))


if __name__ == "__main__":
    main()
