"""Prints what benchmarks/gpu.py measured.

python benchmarks/gpu_table.py FILE.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from common import read_results


def middle(value: object) -> float | None:
    """Return the median of a spread, or the number itself."""
    if isinstance(value, dict):
        value = value.get("median")
    return float(value) if isinstance(value, (int, float)) else None


def text(value: object, scale: float = 1.0, digits: int = 2) -> str:
    """Write a number or a spread, scaled; a dash where there is none."""
    number = middle(value)
    return "-" if number is None else f"{number * scale:.{digits}f}"


def seconds(value: object) -> str:
    """Write a time with the range of the runs: `0.52 (0.50-0.55)`."""
    if not isinstance(value, dict):
        return text(value, digits=3)
    return f"{value['median']:.2f} ({value['min']:.2f}-{value['max']:.2f})"


def table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table; the first column is aligned left."""
    if not rows:
        return
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[0] = row[0].ljust(widths[0])
        print("  ".join(cells).rstrip())


def show_examples(numbers: dict[str, Any], device_copy: float | None = None) -> None:
    """Print programs, then kernels, beside the bandwidth of a copy on the device."""
    programs, kernels = [], []
    for title, row in numbers.items():
        if not isinstance(row, dict):
            continue
        if "failed" in row:
            programs.append([title, row["failed"][:60], *["-"] * 7])
            continue
        size = row["bytes"]
        programs.append(
            [
                title,
                seconds(row["plain_seconds"]),
                seconds(row["recorded_first_seconds"]),
                seconds(row["recorded_again_seconds"]),
                str(row["recorded_launches"]),
                f"{size['live'] / 1e6:.1f}",
                f"{size['stored'] / 1e6:.2f}",
                seconds(row["replay_command"]["cold_seconds"]),
                seconds(row["replay_command"]["warm_seconds"]),
            ]
        )
        kernels += [kernel_row(title, kernel) for kernel in row["kernels"].values()]
    header = ["program", "plain s", "recorded s", "again s", "launches", "live MB", "stored MB"]
    table("Programs", [*header, "replay cold s", "replay warm s"], programs)
    header = [
        "kernel",
        "class",
        "kernel us",
        "launches/s",
        "conf/s",
        "CPU us/launch",
        "open GB/s",
    ]
    table("Kernels, one recording open", [*header, "restore GB/s", "verify GB/s"], kernels)
    if device_copy and kernels:
        print(
            f"a copy on the device: {device_copy / 1e9:.1f} GB/s, 70 %: {device_copy / 1e9 * 0.7:.1f}"
        )


def kernel_row(title: str, kernel: dict[str, Any]) -> list[str]:
    """One kernel as cells."""
    name = f"{title}: {kernel['name']}"
    if "failed" in kernel:
        return [name, "failed", kernel["failed"][:40], *["-"] * 6]
    return [
        name,
        kernel["class"] if kernel["verified"] else f"{kernel['class']}!",
        text(kernel["kernel_seconds"], 1e6, 1),
        text(kernel["launches_per_second"], 1, 0),
        text(kernel["configurations_per_second"], 1, 0),
        text(kernel["cpu_seconds_per_launch"], 1e6, 1),
        text(kernel.get("open_bytes_per_second"), 1e-9),
        text(kernel.get("restore_bytes_per_second"), 1e-9, 1),
        text(kernel.get("verify_bytes_per_second"), 1e-9, 1),
    ]


def show_tuning(tuning: dict[str, Any], reference: dict[str, Any]) -> None:
    """Print ours beside the existing tool."""
    rows = []
    theirs = list(reference.get("existing_tool", {}).get("configurations_per_second", {}).items())
    for (name, row), (duration, rate) in zip(
        [(n, r) for n, r in tuning.items() if isinstance(r, dict)],
        theirs or [("-", 0.0)] * 3,
        strict=False,
    ):
        if "failed" in row:
            rows.append([name, row["failed"][:60], *["-"] * 8])
            continue
        eight = row["executor_8_launches"]
        runs = [row[f"{kind}_{n}_launches"] for kind in ("executor", "pool") for n in (8, 2)]
        exact, verified = eight.get("exact", 0), eight.get("verified", 0)
        rows.append(
            [
                name,
                text(eight.get("kernel_microseconds"), 1, 1),
                *[text(run.get("per_second"), 1, 1) for run in runs],
                text(row["one_process"].get("configurations_of_8_launches_per_second"), 1, 1),
                f"{exact}+{verified - exact} of {eight.get('configurations', 0)}",
                str(eight.get("distinct_binaries", "-")),
                f"{rate} ({duration})",
            ]
        )
    header = [
        "kernel",
        "us",
        "conf/s, 8 launches",
        "2 launches",
        "8, compile pool",
        "2, compile pool",
        "8, binary at hand",
        "exact+close",
    ]
    table("Tuning", [*header, "binaries", "existing tool"], rows)
    show_runs(tuning)


def show_runs(tuning: dict[str, Any]) -> None:
    """Print what devices and processes did meanwhile."""
    rows = [
        [
            f"{name}: {title}",
            text(run.get("per_second"), 1, 1),
            text(run["share_of_wall_in_kernels"], 100, 1),
            text(run["launches_per_configuration"], 1, 1),
            *[str(run[key]) for key in ("reused", "stopped_early", "failures")],
            f"{run['worker_restarts']}+{run['compile_restarts']}",
        ]
        for name, row in tuning.items()
        if isinstance(row, dict)
        for title, run in row.items()
        if isinstance(run, dict) and "reused" in run
    ]
    header = ["run", "conf/s", "device busy %", "launches", "reused", "stopped", "failed"]
    table("What the device did", [*header, "restarts"], rows)


def show_reference(reference: dict[str, Any], device: str) -> None:
    """Print the recordings beside the existing tool's."""
    title = "Beside the existing tool"
    if device == "cpu":
        title += " (theirs on a GPU, with larger problems)"
    theirs = reference.get("existing_tool", {})
    rows = [
        [
            "mneme --help (s)",
            seconds(reference.get("help_seconds")),
            f"{theirs.get('help_seconds')}",
        ]
    ]
    for name in ("vector_add", "vector_add_random", "finite_elements"):
        row = reference.get(name, {})
        if "recording_adds_seconds" not in row:
            rows.append([name, row.get("failed", "not measured")[:60], "-"])
            continue
        other = theirs[name.removesuffix("_random")]
        rows += [
            [
                f"{name}: recording adds (s)",
                text(row["recording_adds_seconds"]),
                text(other["recording_adds_seconds"]),
            ],
            [
                f"{name}: stored (MB)",
                text(row["bytes"]["stored"], 1e-6, 1),
                text(other["stored_bytes"], 1e-6, 0),
            ],
            [f"{name}: mneme replay (s)", seconds(row["replay_command_seconds"]), "1.2-1.4"],
        ]
    table(title, ["what", "ours", "theirs"], rows)


def show(facts: dict[str, Any], results: list[dict[str, Any]]) -> None:
    """Print everything there is."""
    print(json.dumps(facts["machine"]))
    numbers: dict[str, Any] = {}
    for one in results:
        about = {key: value for key, value in one.items() if key not in ("part", "name")}
        part = numbers.setdefault(one["part"], {})
        part.update({one["name"]: about} if "name" in one else about)
    for name in ("bandwidth", "bulk", "launch_overhead", "commands"):
        if name in numbers:
            print(f"\n{name}: {json.dumps(numbers[name])}")
    show_examples(numbers.get("examples", {}), numbers.get("bandwidth", {}).get("device_copy"))
    if "tuning" in numbers:
        show_tuning(numbers["tuning"], numbers.get("reference", {}))
    if "reference" in numbers:
        show_reference(numbers["reference"], facts["machine"].get("gpu", {}).get("device", "cpu"))


if __name__ == "__main__":
    show(*read_results(Path(sys.argv[1])))
