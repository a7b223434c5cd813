# ruff: noqa: ANN201, I001 - as users write
"""Sweeps block sizes from numpy.arange; every number is one of NumPy's.

usage: numpy_numbers.py RECORD.json RESULTS_DIR
"""

import json
import os
import sys
import time

import numpy as np
from mneme.async_executor import AsyncReplayExecutor
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recorded_execution import RecordedExecution


def main():
    record_db, results_dir = sys.argv[1:3]
    os.makedirs(results_dir, exist_ok=True)
    (kernel,) = RecordedExecution.from_json(record_db).values()
    total = np.int64(kernel.grid_dim.x) * kernel.block_dim.x
    executor = AsyncReplayExecutor(
        record_db,
        kernel.dynamic_hash,
        iterations=np.int64(1),
        results_db_dir=results_dir,
        num_workers=np.int32(2),
        warmup=np.int16(1),
        max_startup_failures=np.int64(5),
    )
    futures = {}
    for block in np.arange(64, 257, 64):
        config = ExperimentConfiguration(
            grid=dim3.from_dict({"x": -(-total // block), "y": np.int8(1)}),
            block=dim3(block),
            shared_mem=np.int64(kernel.shared_mem),
            set_launch_bounds=np.bool_(True),
            max_threads=block,
            min_blocks_per_sm=np.int64(1),
            codegen_opt=np.int64(2),
        )
        futures[executor.submit(config)] = config
    while not all(future.done() for future in futures):
        time.sleep(0.05)
    results = [future.result() for future in futures]
    executor.shutdown()
    print(
        json.dumps(
            {
                "threads": [future.config.block.x for future in futures],
                "samples": [len(one.exec_time) for one in results],
                "verified": [one.verified for one in results],
                "iterations": int(executor.iterations),
                "warmup": int(executor.warmup),
            }
        )
    )


if __name__ == "__main__":
    main()
