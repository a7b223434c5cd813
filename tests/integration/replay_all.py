"""Replays every launch of a recording, each in a process of its own that has everything loaded already.

usage: replay_all.py DIRECTORY DEVICE PIPELINE

An empty PIPELINE is the program's own. Prints a list of [record, launch, kernel, result class, whether it is verified, error].
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from mneme import _native
from mneme.errors import MnemeError
from mneme.mneme_types import ConfigurationChanges, ExperimentConfiguration
from mneme.recording.configured import configured
from mneme.recording.recorded_execution import RecordedExecution


def replay(record: Path, launch: str, device: str, pipeline: str) -> tuple[str, bool, str]:
    """Return what a launch came to, whether it counts as the recorded one, and why not."""
    try:
        with closing(_native.ReplaySession(str(record), launch, device)) as session:
            configuration = json.loads(session.recorded())
            if pipeline:
                configuration["passes"] = pipeline
            else:
                configuration = as_built(record, launch, configuration)
            text, _, _ = session.run(json.dumps(configuration), '{"iterations": 1, "warmup": 0}')
    except MnemeError as error:
        return "failed", False, str(error)
    result = json.loads(text)
    why = result["error"] or str(result["mismatches"])
    return result["result_class"], result["verified"], why


def as_built(record: Path, launch: str, configuration: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of a launch with the program's own pipeline and level."""
    found = RecordedExecution.from_json(record)
    recorded = ExperimentConfiguration.from_dict(configuration)
    return configured(found, found[launch], ConfigurationChanges(), recorded=recorded).to_dict()


def apart(*arguments: object) -> list[object]:
    """Replay in a child: no launch finds what another one has left at its addresses."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, json.dumps(replay(*arguments)).encode())  # type: ignore[arg-type]
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        said = answer.read()
    _, status = os.waitpid(child, 0)
    found: list[object] = (
        json.loads(said) if said else ["failed", False, f"it ended with status {status}"]
    )
    return found


if __name__ == "__main__":
    directory, device, pipeline = sys.argv[1:]
    found = []
    for record in sorted(Path(directory).glob("*.json")):
        described = json.loads(record.read_text())
        kernel = described["DemangledName"].partition("(")[0]
        launches = described["instances"]
        found += [
            (str(record), launch, kernel, *apart(record, launch, device, pipeline))
            for launch in launches
        ]
    json.dump(found, sys.stdout)
