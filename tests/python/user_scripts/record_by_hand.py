# ruff: noqa: ANN001, ANN003, ANN201, ANN204, SIM115 - as users write
"""Reads the record's JSON itself, writes an edited copy as older tools did, and replays that.

usage: record_by_hand.py RECORD.json RESULTS_DIR
"""

import json
import os
import shutil
import sys

from mneme.mneme_types import ExperimentConfiguration
from mneme.recorded_execution import RecordedExecution
from mneme.replay_executor import BaseExecutor


class Replayer(BaseExecutor):
    def __init__(self, database):
        super().__init__(record_db=database, iterations=2, warmup=1)

    def run_as_recorded(self, kernel, **more):
        config = ExperimentConfiguration(grid=kernel.grid_dim, block=kernel.block_dim, **more)
        return self._execute(self.link_ir(), config)


def main():
    record_db, results_dir = sys.argv[1:3]
    folder = os.path.join(os.path.abspath(results_dir), "copy")
    shutil.copytree(os.path.dirname(record_db), folder)
    data = json.load(open(record_db))
    files = [os.path.join(folder, name) for name in data["Modules"]]
    for number, one in data["instances"].items():
        assert one["Prologue"] == f"DeviceState.prologue.{data['StaticHash']}.{number}.mneme"
        for state in ("Prologue", "Epilogue"):
            one[state] = os.path.join(folder, one[state])
            files.append(one[state])
        one["Args"] = [True] * len(data["ArgNames"])
    data["Modules"] = [os.path.join(folder, name) for name in data["Modules"]]
    data["tuned-by"] = "me"
    data.pop("Checksum", None)
    edited = os.path.join(folder, os.path.basename(record_db))
    with open(edited, "w") as out:
        json.dump(data, out, indent=4)

    record = RecordedExecution.from_json(edited)
    (kernel,) = record.values()
    with Replayer(edited) as replayer:
        result = replayer.run_as_recorded(kernel, passes="default<O2>")
    with kernel.prologue as state:
        arguments = state.num_args
    print(
        json.dumps(
            {
                "address_digits": len(data["VAddr"].removeprefix("0x")),
                "size": data["VASize"],
                "missing": [name for name in files if not os.path.exists(name)],
                "kernel": record.kernel_name,
                "specializable": kernel.available_specializations,
                "arguments": arguments,
                "verified": result.verified,
                "samples": len(result.exec_time),
            }
        )
    )


if __name__ == "__main__":
    main()
