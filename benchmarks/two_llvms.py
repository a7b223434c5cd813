"""Two LLVMs over a whole corpus: is every kernel right with both, and which code is faster or smaller?

usage: two_llvms.py --older BUILD --newer BUILD [--programs DIR] [--corpus DIR] [--rounds N]
                    [--device cpu|cuda:0] [--output FILE] [NAME...]

BUILD is a build or installation of mneme. Its LLVM compiles the recorded kernels. The programs are built
by the older one's clang, since an LLVM reads what older ones wrote:

    MNEME_BUILD_DIR=OLDER cmake -S examples -B OLDER/examples -G Ninja $(mneme config cmake-args)
    ninja -C OLDER/examples

and so tests/apps/tuned and benchmarks. Records a corpus of them by corpus/build.py (kernels that do not
replay as recorded with the older LLVM are left out), or takes the one that is named. Compares both over
it, prints the tables and writes a line for each kernel. Fails if one is wrong or not compiled.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import BUILD, ROOT, read_results, write_results

from mneme import Corpus

OLDER, NEWER = "older", "newer"
WHAT = "a corpus compiled by two LLVMs"
KEPT = ("verdict", "reason", "ratio", "interval", "p_value", "median_ns", "baseline_ns")
# Not the time of compiling: builds with the oldest LLVM that tests make are not optimised.
RESOURCES = ("registers", "spill_bytes", "occupancy", "code_bytes")


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--older", type=Path, required=True, metavar="BUILD")
    parser.add_argument("--newer", type=Path, default=BUILD, metavar="BUILD")
    parser.add_argument("--programs", type=Path, metavar="DIR")
    parser.add_argument("--corpus", type=Path, metavar="DIR")
    parser.add_argument("--rounds", default="20")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--output", type=Path, metavar="FILE")
    return parser.parse_args()


def record(
    options: argparse.Namespace, corpus: Path, environment: dict[str, str]
) -> dict[str, str]:
    """Record the programs that are built; return those that cannot be recorded, with the reason."""
    rows = corpus.with_name("rows.jsonl")
    command = [sys.executable, str(ROOT / "benchmarks" / "corpus" / "build.py"), *options.names]
    command += ["--device", options.device, "-o", str(corpus), "--output", str(rows)]
    command += ["--programs", str(options.programs or options.older)]
    subprocess.run(command, check=False, env=environment)
    _, programs = read_results(rows)
    failed = {one["program"]: one["failed"] for one in programs if "failed" in one}
    return {name: why for name, why in failed.items() if not why.endswith("is not built")}


def compare(
    options: argparse.Namespace, corpus: Path, environment: dict[str, str], results: Path
) -> dict[str, Any]:
    """Compare both LLVMs over a corpus; return what `mneme compare --json` says."""
    command = [sys.executable, "-m", "mneme", "compare", str(corpus), "--device", options.device]
    command += ["--variant", f"{OLDER}=", "--variant", f"{NEWER}=--llvm {options.newer.resolve()}"]
    command += ["--rounds", options.rounds, "--results-dir", str(results), "--json"]
    done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def rows_of(told: dict[str, Any], programs: dict[Path, str]) -> list[dict[str, Any]]:
    """Return a line for each kernel."""
    rows = []
    for one in told["kernels"]:
        found = one["variants"][NEWER]
        row = {
            "program": programs.get(Path(one["record"]).parent.resolve(), ""),
            "kernel": one["kernel"],
            "problem": one["problem"],
            **{key: found[key] for key in KEPT},
        }
        for name in RESOURCES:
            row[name] = [found["baseline"][name], found[name]]
        unknown = ("", [None, None], [0, 0])
        rows.append({key: value for key, value in row.items() if value not in unknown})
    return rows


def mean_ratio(rows: list[dict[str, Any]], name: str) -> float | None:
    """Return the geometric mean of newer / older of what code needs."""
    pairs = [row[name] for row in rows if name in row and all(row[name])]
    logs = [math.log(newer / older) for older, newer in pairs]
    return math.exp(sum(logs) / len(logs)) if logs else None


def main() -> int:
    """Record, compare, write; the result is 1 if a kernel is wrong or has no result."""
    options = parsed()
    environment = {**os.environ, "MNEME_BUILD_DIR": str(options.older.resolve())}
    with tempfile.TemporaryDirectory(prefix="mneme-two-llvms-") as scratch:
        corpus = options.corpus or Path(scratch, "corpus")
        left_out = {} if options.corpus else record(options, corpus, environment)
        begun = time.monotonic()
        told = compare(options, corpus, environment, Path(scratch, "results"))
        seconds = time.monotonic() - begun
        programs = {one.path.resolve(): one.program for one in Corpus(corpus)}
    rows = rows_of(told, programs)
    summary = {
        "programs": len(set(programs.values())),
        "kernels": len(rows),
        **{key: told["summary"][0][key] for key in ("geometric_mean", "verdicts")},
        "code_bytes_ratio": mean_ratio(rows, "code_bytes"),
    }
    print(json.dumps(summary, indent=1))
    if options.output:
        llvms = {OLDER: told["compiler"], NEWER: told["compilers"][NEWER].get("llvm")}
        facts = {
            "not_recorded": left_out,
            "llvms": llvms,
            "rounds": told["rounds"],
            "compare_seconds": seconds,
            "total": summary,
        }
        write_results(options.output, WHAT, rows, device=options.device, **facts)
    right = {"faster", "slower", "no difference", "same code"}
    return int(any(row["verdict"] not in right for row in rows))


if __name__ == "__main__":
    sys.exit(main())
