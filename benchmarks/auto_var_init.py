"""What it gives, and costs, that locals are zero which may be read before they are set.

    python benchmarks/auto_var_init.py                     # the CPU device
    python benchmarks/auto_var_init.py --device cuda:0     # a GPU

Every example in two forms: as `add_mneme()` builds it, and with `NO_AUTO_VAR_INIT`. Per kernel: whether
its machine code for sm_90 is the same, registers and bytes of stack of both, how many of a few pass
pipelines agree with the recording, and the median time of both with default<O3>. `unset_locals` reads
what it never set; the others do not.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import BUILD, PROGRAMS, RESULTS, mneme, write_results

from mneme import _native

EXAMPLES = (
    *("vector_add", "stencil2d", "heat3d", "reduction", "spmv_cg", "nbody", "linked_list"),
    "unset_locals",
)
FORMS = ("zero", "unset")
TARGET = "sm_90"
PIPELINES = ("default<O3>", "default<O2>", "default<O1>", "default<Oz>", "default<O0>", "sroa")


def program(name: str, form: str) -> Path:
    """Return a program in one form."""
    if form == "unset":
        return PROGRAMS / f"{name}_unset"
    return next(p for p in (BUILD / "examples" / name, PROGRAMS / name) if p.is_file())


def code_of(path: Path) -> dict[str, dict[str, Any]]:
    """Return what the compiler makes of the kernels of a program."""
    found = {}
    for kernel in _native.describe_binary(path):
        facts = json.loads(kernel["metadata"])
        options = facts["options"]
        built = _native.compile_ir(
            [kernel["bitcode"]],
            kernel["kernel"],
            target=TARGET,
            passes=f"default<O{options['opt_level']}>",
            options_json=json.dumps(options),
            use_cache=False,
            want_assembly=True,
        )
        statistics = json.loads(built["statistics"])
        found[facts["demangled"]] = {
            "registers": statistics["reg_usage"],
            "stack_bytes": statistics.get("stack_bytes", 0),
            "assembly": built["assembly"],
        }
    return found


def replays_of(path: Path, device: str, repeats: int, scratch: Path) -> dict[str, dict[str, Any]]:
    """Record one launch of each kernel and replay it."""
    directory = scratch / path.name
    mneme("record", "-rdb", directory, "-mr", "1", "--device", device, "--", path)
    found = {}
    for record in sorted(directory.glob("*.json")):
        fields = json.loads(record.read_text())
        if "KernelName" not in fields or not fields["instances"]:
            continue
        first, *others = [
            replay(record, device, pipeline, repeats if index == 0 else 1)
            for index, pipeline in enumerate(PIPELINES)
        ]
        verdicts = [first["result_class"], *(one["result_class"] for one in others)]
        found[fields["DemangledName"]] = {
            "verdicts": verdicts,
            "median_us": first["median_ns"] / 1000,
        }
    return found


def replay(record: Path, device: str, pipeline: str, repeats: int) -> dict[str, Any]:
    """Return the result of one replay; a wrong one is one of the answers."""
    command = [sys.executable, "-m", "mneme", "replay", "-rdb", record, "--device", device]
    done = subprocess.run(
        [str(word) for word in [*command, "-it", repeats, pipeline]],
        capture_output=True,
        text=True,
        check=False,
    )
    result: dict[str, Any] = json.loads(done.stdout)["Result"]
    return result


def measure(name: str, device: str, repeats: int, scratch: Path) -> list[dict[str, Any]]:
    """Measure the kernels of one example in both forms."""
    code = {form: code_of(program(name, form)) for form in FORMS}
    times = {form: replays_of(program(name, form), device, repeats, scratch) for form in FORMS}
    rows: list[dict[str, Any]] = []
    for kernel, zero in code["zero"].items():
        unset = code["unset"][kernel]
        is_same = zero.pop("assembly") == unset.pop("assembly")
        row: dict[str, Any] = {"program": name, "kernel": kernel, "is_same_code": is_same}
        for form, facts in (("zero", zero), ("unset", unset)):
            row[form] = {**facts, **times[form].get(kernel, {})}
        if "median_us" in row["zero"] and row["unset"].get("median_us"):
            row["time_ratio"] = round(row["zero"]["median_us"] / row["unset"]["median_us"], 3)
        rows.append(row)
    return rows


def wrong(form: dict[str, Any]) -> int:
    """Count the pipelines whose result is not that of the recording."""
    return sum(verdict in ("wrong", "failed") for verdict in form.get("verdicts", ()))


def show(rows: list[dict[str, Any]]) -> None:
    """Print one line for each kernel."""
    for row in rows:
        same = "same code" if row["is_same_code"] else "other code"
        right = [len(PIPELINES) - wrong(row[form]) for form in FORMS]
        print(
            f"{row['program']:<14}{row['kernel'].split('(')[0][-28:]:<30}{same:<12}"
            f"{row['unset']['registers']:>4} -> {row['zero']['registers']:<4}"
            f"{row.get('time_ratio', ''):>8}  right: {right[1]} -> {right[0]} of {len(PIPELINES)}"
        )


def main() -> int:
    """Measure every example and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--output", type=Path, default=RESULTS / "auto_var_init.jsonl")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="mneme-locals-"))
    kernels: list[dict[str, Any]] = []
    try:
        for name in EXAMPLES:
            found = measure(name, options.device, options.repeats, scratch)
            show(found)
            kernels += found
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    what = "kernels whose unset locals are zero, and as they were"
    write_results(options.output, what, kernels, device=options.device)
    print(f"written to {options.output}")
    return 0 if not any(wrong(row["zero"]) for row in kernels) else 1


if __name__ == "__main__":
    sys.exit(main())
