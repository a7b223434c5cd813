"""Recording a program with much live device memory: what each launch costs, what is stored.

    python benchmarks/large_memory.py --directory /scratch                       # 40 GB, 100 launches
    python benchmarks/large_memory.py --directory /tmp --device cpu --gib 0.5 --launches 5

Runs benchmarks/large_memory plain and recorded, opens one of the recordings for replay and verifies
it. The recording is deleted at the end.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import PROGRAMS, RESULTS, write_results
from guests import BenchmarkError, Guests, last_json, launches_of, sizes_of

from mneme.devices import choose_device

if TYPE_CHECKING:
    from guests import Run

LOOP = Path(__file__).with_name("replay_loop.py")
TOUCH = "import sys; n = int(sys.argv[1]); block = [b'1' * (1 << 28) for _ in range(n)]"
GIB = 1 << 30


def available_bytes() -> int:
    """Host memory that could be had without swapping."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def touch_host_memory(wanted: int) -> dict[str, float]:
    """Allocate and write host memory once, in processes that end.

    A virtual machine gets its memory from its host when it is first written, at a few GiB/s; that is
    no cost of recording.
    """
    size = min(wanted, int(0.6 * available_bytes()))
    blocks = max(1, size // 4 >> 28)
    start = time.monotonic()
    processes = [subprocess.Popen([sys.executable, "-c", TOUCH, str(blocks)]) for _ in range(4)]
    for process in processes:
        process.wait()
    return {"bytes": 4 * blocks << 28, "seconds": time.monotonic() - start}


def window_gib(gib: float) -> int:
    """Address window for the recorder: the fields and room for rounding."""
    return math.ceil(gib * 1.05) + 2


def describe_run(run: Run) -> dict[str, Any]:
    """What the program said, and what was seen of it from outside."""
    said = last_json(run.stdout)
    return {
        **said,
        "wall_seconds": run.seconds,
        "before_main_seconds": said["main_started"] - (run.ended - run.seconds),
        "after_main_seconds": run.ended - said["main_ended"],
        "peak_host_rss_bytes": run.peak_rss_bytes,
        "stderr": run.stderr.strip().splitlines(),
    }


def compare(plain: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """What recording added to each launch, against what cannot be avoided."""
    live = plain["live_bytes"]
    added = [
        after - before
        for before, after in zip(plain["launch_seconds"], recorded["launch_seconds"], strict=True)
    ]
    transfer = live / plain["pinned_download_bytes_per_second"]
    hashing = 2 * live / plain["device_read_bytes_per_second"]
    bus = plain["changed_bytes_per_launch"] / plain["pinned_download_bytes_per_second"]
    others = added[1:] or [math.nan]
    return {
        "is_same_checksum": plain["checksum"] == recorded["checksum"],
        "first_launch_adds_seconds": added[0],
        "live_bytes_over_pinned_bandwidth_seconds": transfer,
        "first_launch_over_transfer": added[0] / transfer,
        "first_launch_over_transfer_and_hash": added[0] / (transfer + hashing),
        "other_launches_add_seconds": {
            "median": statistics.median(others),
            "min": min(others),
            "max": max(others),
            "runs": len(others),
        },
        "two_hashes_of_live_bytes_seconds": hashing,
        "changed_bytes_over_pinned_bandwidth_seconds": bus,
        "other_launches_over_hash_and_transfer": statistics.median(others) / (hashing + bus),
        "writer_finishes_after_main_seconds": recorded["after_main_seconds"],
        "recording_adds_seconds": recorded["wall_seconds"] - plain["wall_seconds"],
    }


def describe_storage(folder: Path, plain: dict[str, Any], launches: int) -> dict[str, Any]:
    """Bytes on disk against live memory and what the launches changed."""
    size = sizes_of(folder)
    expected = plain["live_bytes"] + launches * plain["changed_bytes_per_launch"]
    return {
        **size,
        "live_and_changed_bytes": expected,
        "unique_over_live_and_changed": size["unique"] / expected,
        "compressed_to": size["stored"] / size["unique"] if size["unique"] else math.nan,
        "files": sum(1 for _ in folder.iterdir()),
        "recorded_launches": len(launches_of(folder)),
    }


def replay_one(guests: Guests, folder: Path) -> dict[str, Any]:
    """Open the middle one of the recorded launches, in a fresh process, and verify it."""
    found = launches_of(folder)
    record, record_id = found[len(found) // 2]
    command = [sys.executable, LOOP, record, record_id, guests.device, "--seconds", "0.2"]
    run = guests.execute(command, guests.environment)
    numbers = last_json(run.stdout)
    return {**numbers, "wall_seconds": run.seconds, "peak_host_rss_bytes": run.peak_rss_bytes}


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="default: the first GPU, else cpu")
    parser.add_argument("--directory", type=Path, required=True, help="where the recording goes")
    parser.add_argument("--gib", type=float, default=40.0)
    parser.add_argument("--launches", type=int, default=100)
    parser.add_argument("--noise-bits", type=int, default=8, help="0 compresses best, 40 hardly")
    parser.add_argument(
        "--host-blocks", type=int, default=0, help="registered blocks, half of them pointed to"
    )
    parser.add_argument("--programs", type=Path, default=PROGRAMS)
    parser.add_argument("--output", type=Path, help="default: results/large_memory.jsonl")
    parser.add_argument("--limit", type=float, default=540.0, help="seconds for everything")
    parser.add_argument("--no-touch", action="store_true", help="do not touch host memory before")
    parser.add_argument("--no-replay", action="store_true", help="only record")
    return parser.parse_args()


class Benchmark:
    """One size, plain and recorded; what was measured so far is always in the file."""

    def __init__(self, options: argparse.Namespace) -> None:
        device = choose_device(options.device)
        self.options = options
        self.output = options.output or RESULTS / (
            "large_memory.jsonl" if device != "cpu" else "large_memory_on_cpu.jsonl"
        )
        self.folder = options.directory / "mneme-large-memory"
        self.guests = Guests(
            device=device,
            examples=options.programs,
            programs=options.programs,
            scratch=options.directory,
            timeout_seconds=options.limit,
            deadline=time.monotonic() + options.limit,
        )
        self.what = (
            f"large_memory: {options.gib} GiB live, {options.launches} launches that change "
            f"1 % each, all recorded, {options.host_blocks} blocks of host memory that pointers may "
            "lead to; bytes and seconds"
        )
        self.numbers: dict[str, dict[str, Any]] = {}

    def save(self, **numbers: dict[str, Any]) -> None:
        """Add to the numbers and write the file."""
        self.numbers.update(numbers)
        results = ({"part": part, **one} for part, one in self.numbers.items())
        write_results(self.output, self.what, results, device=self.guests.device)

    def run(self) -> None:
        """Measure everything."""
        options, guests = self.options, self.guests
        arguments = [str(options.gib), str(options.launches), str(options.noise_bits), "1"]
        arguments.append(str(options.host_blocks))
        shutil.rmtree(self.folder, ignore_errors=True)
        if not options.no_touch:
            self.save(host_memory_touched_before=touch_host_memory(int(1.5 * options.gib * GIB)))
        plain = describe_run(guests.plain("large_memory", *arguments))
        self.save(plain=plain)
        record_options = ["-vass", str(window_gib(options.gib)), "-mr", str(options.launches)]
        recorded = describe_run(
            guests.record(
                self.folder,
                "large_memory",
                *arguments,
                options=[*record_options, "--kernels", "advance"],
            )
        )
        self.save(recorded=recorded, compared=compare(plain, recorded))
        self.save(stored=describe_storage(self.folder, plain, options.launches))
        if not options.no_replay:
            self.save(replay=replay_one(guests, self.folder))


def show(numbers: dict[str, Any]) -> None:
    """Print what matters in a few lines."""
    for part in ("host_memory_touched_before", "compared", "stored", "replay"):
        for key, value in numbers.get(part, {}).items():
            cell = f"{value:.4g}" if isinstance(value, float) else value
            print(f"{part}: {key:48} {cell}")
    for line in numbers.get("recorded", {}).get("stderr", []):
        print(line)


def main() -> int:
    """Measure, show, clean up; 0 if everything could be measured and the results are the same."""
    benchmark = Benchmark(parse())
    try:
        benchmark.run()
    except BenchmarkError as error:
        benchmark.save(failed={"why": str(error)})
        print(f"failed: {error}", file=sys.stderr)
    finally:
        shutil.rmtree(benchmark.folder, ignore_errors=True)
    numbers = benchmark.numbers
    show(numbers)
    print(f"written to {benchmark.output}")
    is_good = "failed" not in numbers and numbers["compared"]["is_same_checksum"]
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
