# ruff: noqa: ANN001, ANN201, RUF015 - as users write
"""Keep two workers busy: submit everything, collect what is done.

usage: futures.py RECORD.json RESULTS_DIR
"""

import json
import os
import sys
import time

from mneme.async_executor import AsyncReplayExecutor
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3
from mneme.recorded_execution import RecordedExecution
from mneme.tuning.sample_strategy import RandomSamplingStrategy, SamplingStrategy
from mneme.tuning.search_space import CategoricalParam, SearchSpace


class Blocks(SearchSpace):
    """Samples at random; here constraints see the parameters themselves."""

    def dimensions(self):
        return {"block": CategoricalParam("block", [32, 64, 128, 256, 512])}

    def constraints(self, params):
        return params["block"] <= 256

    def derived(self, params):
        return ExperimentConfiguration(block=dim3(params["block"]))


def configurations(kernel):
    threads = kernel.grid_dim.x * kernel.block_dim.x
    for block in (32, 64, 128, 256):
        for passes in ("default<O1>", "default<O2>", "default<O3>"):
            yield ExperimentConfiguration(
                dim3((threads + block - 1) // block), dim3(block), kernel.shared_mem, passes=passes
            )
    # A pipeline that does not exist, and a launch that leaves elements out.
    yield ExperimentConfiguration(kernel.grid_dim, kernel.block_dim, passes="no-such-pass")
    yield ExperimentConfiguration(dim3(1), dim3(32))


def main():
    record_db, results_dir = sys.argv[1:3]
    os.makedirs(results_dir, exist_ok=True)
    record = RecordedExecution.from_json(record_db)
    kernel = list(record.values())[0]
    random = RandomSamplingStrategy(Blocks(), 3)
    assert isinstance(random, SamplingStrategy)
    drawn = len(list(random))
    executor = AsyncReplayExecutor(
        record_db,
        list(record)[0],
        iterations=2,
        results_db_dir=results_dir,
        num_workers=2,
        warmup=1,
        max_startup_failures=3,
    )
    waiting = [executor.submit(config) for config in configurations(kernel)]
    assert len({future.job_id for future in waiting}) == len(waiting)
    early = waiting[-1].result(timeout=0.0)
    first_missing = early is None
    finished = []
    deadline = time.time() + 120
    while waiting and time.time() < deadline:
        for future in list(waiting):
            if future.done():
                waiting.remove(future)
                finished.append(future)
        if waiting:
            waiting[0].result(timeout=0.05)
    results = [(future.config, future.result()) for future in finished]
    executor.shutdown()
    assert all(isinstance(result, ExperimentResult) for _, result in results)
    print(
        json.dumps(
            {
                "first_missing": first_missing,
                "drawn": drawn,
                "left": len(waiting),
                "workers": len(executor.workers),
                "iterations": executor.iterations,
                "warmup": executor.warmup,
                "results": [
                    {
                        "passes": config.passes,
                        "block": config.block.to_dict(),
                        "verified": result.verified,
                        "executed": result.executed,
                        "failed": result.failed,
                        "error": result.error,
                        "samples": len(result.exec_time),
                        "round_trip": ExperimentResult.from_dict(result.to_dict()) == result,
                    }
                    for config, result in results
                ],
            }
        )
    )


if __name__ == "__main__":
    main()
