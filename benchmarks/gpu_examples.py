"""Per example program: plain, recorded and replayed; sizes, rates and bandwidths."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guests import (
    FAILURES,
    BenchmarkError,
    changed_bytes,
    last_json,
    launches_of,
    repeated,
    sizes_of,
    snapshots,
    spread,
)

from mneme import _native

if TYPE_CHECKING:
    from guests import Guests

LOOP = Path(__file__).with_name("replay_loop.py")

GPU_PROGRAMS: tuple[tuple[str, ...], ...] = (
    ("vector_add",),
    ("vector_add", str(32 << 20)),
    ("stencil2d", "2048", "20"),
    ("reduction",),
    ("spmv_cg", "256", "300"),
    ("nbody", "16384", "5"),
    ("linked_list",),
    ("multi_unit",),
    ("large_memory", "1", "5"),
)
CPU_PROGRAMS: tuple[tuple[str, ...], ...] = (
    ("vector_add",),
    ("stencil2d",),
    ("reduction",),
    ("spmv_cg",),
    ("nbody",),
    ("linked_list",),
    ("multi_unit",),
    ("large_memory", "0.06", "3"),
)


# Launches of large_memory that only prepare or check would be recorded too.
RECORD_OPTIONS = {"large_memory": ("--kernels", "advance")}


def measure_examples(guests: Guests) -> dict[str, Any]:
    """Measure every example; one that fails says why and the others go on."""
    rows: dict[str, Any] = {}
    for name, *arguments in GPU_PROGRAMS if guests.is_gpu else CPU_PROGRAMS:
        title = " ".join([name, *arguments])
        try:
            rows[title] = measure_example(guests, name, arguments)
        except FAILURES as error:
            rows[title] = {"failed": str(error)}
        print(f"  {title}: {rows[title].get('failed', 'measured')}", file=sys.stderr)
    return rows


def measure_example(guests: Guests, name: str, arguments: list[str]) -> dict[str, Any]:
    """Measure one program with its default number of recorded launches."""
    plain_runs = [guests.plain(name, *arguments) for _ in range(guests.repeats)]
    options = RECORD_OPTIONS.get(name, ())
    first_runs = []
    folder = guests.folder(f"examples/{name}")
    for _ in range(guests.repeats):
        folder = guests.folder(f"examples/{name}")
        first_runs.append(guests.record(folder, name, *arguments, options=options))
    again = repeated(
        guests.repeats, lambda: guests.record(folder, name, *arguments, options=options).seconds
    )
    launches = launches_of(folder)
    if not launches:
        raise BenchmarkError(f"'{name}' recorded nothing: {first_runs[-1].stderr.strip()}")
    kernels = {}
    for record, record_id in launches:
        if record.name not in kernels:
            numbers = measure_launch(guests, record, record_id)
            kernels[record.name] = {"name": kernel_name(record), **numbers}
    return {
        "plain_seconds": spread([run.seconds for run in plain_runs]),
        "recorded_first_seconds": spread([run.seconds for run in first_runs]),
        "recorded_again_seconds": again,
        "is_same_output": is_same_output(name, plain_runs[0].stdout, first_runs[0].stdout),
        "recorded_launches": len(launches),
        "bytes": sizes_of(folder),
        "replay_command": measure_command(guests, *launches[0]),
        "kernels": kernels,
    }


def kernel_name(record: Path) -> str:
    """Return the kernel's name without return type and arguments."""
    name: str = json.loads(record.read_text())["DemangledName"]
    return name.split("(")[0].rsplit(" ", 1)[-1]


def is_same_output(name: str, plain: str, recorded: str) -> bool:
    """Whether recording changed what the program says; times it says do not count."""
    if name == "large_memory":
        return bool(last_json(plain)["checksum"] == last_json(recorded)["checksum"])
    return plain == recorded


def measure_command(guests: Guests, record: Path, record_id: str) -> dict[str, Any]:
    """Wall time of `mneme replay`, with empty caches and with full ones."""
    cold = []
    caches: dict[str, str] = {}
    for attempt in range(2):
        folder = guests.folder(f"caches/{record.stem}.{attempt}")
        caches = {"MNEME_CACHE_DIR": f"{folder}/mneme", "CUDA_CACHE_PATH": f"{folder}/cuda"}
        folder.mkdir(parents=True)
        cold.append(guests.replay(record, record_id, **caches).seconds)
    warm = repeated(guests.repeats, lambda: guests.replay(record, record_id, **caches).seconds)
    return {"cold_seconds": spread(cold), "warm_seconds": warm}


def measure_launch(
    guests: Guests, record: Path, record_id: str, *options: str, **variables: str
) -> dict[str, Any]:
    """Rates and bandwidths of one recorded launch, in a process of its own."""
    command = [sys.executable, LOOP, record, record_id, guests.device, *options]
    run = guests.execute(command, {**guests.environment, **variables})
    numbers = last_json(run.stdout)
    if "failed" in numbers:
        return numbers
    live = sizes_of_launch(record, record_id)
    changed = changed_bytes(record, record_id)
    numbers.update(live_bytes=live, changed_bytes=changed)
    # Bytes read and written, as for a copy: restoring reads and writes, verifying reads twice.
    if numbers["verify_seconds"] > 0:
        numbers["verify_bytes_per_second"] = 2 * live / numbers["verify_seconds"]
    if numbers["seconds_beside_kernel"] > 0:
        numbers["restore_bytes_per_second"] = 2 * changed / numbers["seconds_beside_kernel"]
    opening = numbers["upload_seconds"] or numbers["open_seconds"]
    numbers["open_bytes_per_second"] = live / opening
    return numbers


def sizes_of_launch(record: Path, record_id: str) -> int:
    """Bytes one launch could see."""
    return int(_native.Snapshot(snapshots(record, record_id)[0]).sizes()["raw"])
