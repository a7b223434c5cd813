"""What recording costs on the conjugate-gradient example: time against a plain run, bytes against raw."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from common import BUILD, best_of, mneme, publish

from mneme import _native

PROGRAM = BUILD / "examples" / "spmv_cg"
ARGUMENTS = ("256", "300")


def main() -> None:
    """Time plain and recorded runs and add up what the snapshots describe and store."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text) / "db"
        plain = best_of(5, lambda: mneme("run", "--device", "cpu", "--", PROGRAM, *ARGUMENTS))

        def record(limit: str) -> None:
            shutil.rmtree(folder, ignore_errors=True)
            mneme(
                "record", "-rdb", folder, "-mr", limit, "--device", "cpu", "--", PROGRAM, *ARGUMENTS
            )

        hooked = best_of(3, lambda: record("0"))
        recorded = best_of(3, lambda: record("4"))
        raw = 0
        launches = 0
        for path in folder.glob("*.json"):
            for instance in json.loads(path.read_text())["instances"].values():
                launches += 1
                for key in ("Prologue", "Epilogue"):
                    raw += _native.Snapshot(str(folder / instance[key])).sizes()["raw"]
        stored = sum(path.stat().st_size for path in folder.glob("*.mneme"))
    publish(
        "record_overhead",
        f"spmv_cg {' '.join(ARGUMENTS)}, {launches} launches recorded of 1200",
        {
            "plain run (s)": round(plain, 3),
            "run with the recorder, nothing recorded (s)": round(hooked, 3),
            "run with 4 instances per kernel recorded (s)": round(recorded, 3),
            "recording adds (s)": round(recorded - plain, 3),
            "raw bytes described (MB)": round(raw / 1e6, 1),
            "stored on disk (MB)": round(stored / 1e6, 2),
            "raw / stored": round(raw / stored, 1),
        },
    )


if __name__ == "__main__":
    main()
