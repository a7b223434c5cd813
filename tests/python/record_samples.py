"""Records as Python values, for tests that need no snapshots."""

from __future__ import annotations

from typing import Any


def record_data(*instances: str) -> dict[str, Any]:
    return {
        "StaticHash": 17,
        "VAddr": "0x0000600000000000",
        "VASize": 4096,
        "KernelName": "_Z1kPfi",
        "DemangledName": "k(float*, int)__intern__",
        "Modules": ["RecordedIR_17.bc"],
        "BinaryBlobs": [],
        "ArgNames": ["out", "n"],
        "Specializations": [False, True],
        "Arch": "sm_90",
        "instances": {
            name: {
                "GridDims": {"x": 8, "y": 1, "z": 1},
                "BlockDims": {"x": 128, "y": 1, "z": 1},
                "SharedMem": 0,
                "Args": [],
                "Occurrences": 3,
                "Prologue": f"DeviceState.prologue.17.{name}.mneme",
                "Epilogue": f"DeviceState.epilogue.17.{name}.mneme",
            }
            for name in instances
        },
    }
