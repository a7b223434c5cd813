"""Check on a node with an AMD GPU what has been shown on a stand-in only; nothing is built.

PYTHON is the one that has mneme (default: python3):

    scripts/amd-node-check [--device hip:0] [--tests DIRECTORY] [--json FILE]
                           [--program FILE]... [DB...]

DIRECTORY holds test_conformance (default: bin of the build tree in MNEME_BUILD_DIR); each DB is a
recording of a HIP program, made with `mneme record --device cpu` or on the node; each --program is a
HIP program built with mneme for this GPU, which is recorded, replayed, tuned, and run as built and
tuned in turn. A table tells what was found; FILE (default: amd-node-check.json) has all of it, to be sent back. The exit code is 0 if
everything that ran went well.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.devices import device_limits
from mneme.install import paths
from mneme.install.amd_node import amd_parts
from mneme.optimize.profile import read_profile
from mneme.programs.guest import profile_environment, run_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FAULTS = ("null", "behind", "host", "trap", "assert", "hang")
PIPELINES = (
    (),
    ("default<O1>",),
    ("default<O3>", "--specialize", "--specialize-dims", "--set-launch-bounds"),
)
LAUNCHES = 50
LIMIT = 600.0
TUNING = 15
"""Seconds for each program."""


@dataclass
class Check:
    """One thing that was looked at."""

    name: str
    state: str
    """ok, failed, missing (it could not run) or told (a fact, neither good nor bad)."""
    detail: str
    data: dict[str, Any] = field(default_factory=dict)


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program; one that does not end in ten minutes is one that failed."""
    try:
        return subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True,
            timeout=LIMIT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", f"no end after {LIMIT:.0f} s")


def last_line(text: str) -> str:
    """What a program said last."""
    return text.strip().rpartition("\n")[2]


def node(device: str) -> Iterator[Check]:
    """What the device says about itself, and what the node has."""
    clang = str(paths.config().get("llvm_version", "")).partition(".")[0]
    for part in amd_parts(Path("/"), os.environ, clang):
        yield Check(part.name, "missing" if part.remedy else "ok", part.detail)
    limits = device_limits(device)
    detail = f"{limits.name}, {limits.target}, waves of {limits.warp_size}"
    yield Check("device", "ok", detail, asdict(limits))


def conformance(program: Path, device: str) -> Iterator[Check]:
    """The cases that every device has to pass, and what faults do to a process."""
    if not program.is_file():
        yield Check("conformance", "missing", f"no {program}; name its directory with --tests")
        return
    done = run(program, "--no-colors", MNEME_TEST_DEVICE=device)
    lines = [line for line in done.stdout.splitlines() if "test cases:" in line]
    told = lines[-1].partition("]")[2].strip() if lines else last_line(done.stdout + done.stderr)
    state = "ok" if done.returncode == 0 else "failed"
    yield Check("conformance", state, told, {"output": done.stdout[-20_000:]})
    for fault in FAULTS:
        done = run(program, "--fault", fault, device)
        # The program's own line: error code, whether the device is usable, whether it works.
        ended = f"exit code {done.returncode}"
        if done.returncode < 0:
            ended = f"ended by {signal.Signals(-done.returncode).name}"
        said = last_line(done.stdout) or last_line(done.stderr)
        yield Check(f"fault: {fault}", "told", f"{ended}: {said}", {"stderr": done.stderr[-2000:]})


def replays(recording: Path, device: str) -> Iterator[Check]:
    """A recording on the device: its addresses, its result, how steady its times are."""
    for options in PIPELINES:
        line = ("-rdb", str(recording), "--device", device, "--iterations", str(LAUNCHES))
        done = run(sys.executable, "-m", "mneme", "replay", *line, *options)
        name = f"replay: {recording.name} {' '.join(options[:1]) or 'as built'}"
        try:
            result = json.loads(done.stdout)["Result"]
        except (ValueError, KeyError):
            yield Check(name, "failed", last_line(done.stderr))
            continue
        times = result["exec_time"][-LAUNCHES:]
        low, middle, high = statistics.quantiles(times, n=4)
        steady = f"median {middle / 1000:.2f} µs, half within {100 * (high - low) / middle:.1f} %"
        told = f"{result['result_class']}, {steady} of it, timer {result['timer']}"
        yield Check(name, "ok" if result["verified"] else "failed", told, result)


def kernel_times(program: Path, device: str, folder: Path) -> Check:
    """Times of a program's kernels as it runs, as `mneme optimize` takes them."""
    folder.mkdir(parents=True)
    guest = profile_environment(run_environment(os.environ, device, str(program)), folder)
    done = run(program, **guest)
    kernels = read_profile(folder).by_time()
    name = f"times of kernels: {program.name}"
    if not kernels:
        return Check(name, "missing", last_line(done.stderr) or "no kernel was measured")
    longest, launches = kernels[0], sum(one.launches for one in kernels)
    told = (
        f"{launches} launches of {len(kernels)} kernels, "
        f"{longest.name}: {longest.total_ns / longest.launches / 1000:.2f} µs"
    )
    return Check(name, "ok" if done.returncode == 0 else "failed", told)


def whole_road(program: Path, device: str, folder: Path) -> Iterator[Check]:
    """A program as it is, recorded, replayed, tuned and deployed, as far as it goes."""
    mneme = (sys.executable, "-m", "mneme")

    def step(name: str, done: subprocess.CompletedProcess[str], why: str = "") -> Check:
        """One step; deploying nothing is right where nothing is faster."""
        accepted = (0, 1) if name == "deploy" else (0,)
        state = "failed" if why or done.returncode not in accepted else "ok"
        told = " ".join(one for one in (why, last_line(done.stderr or done.stdout)) if one)
        return Check(f"{name}: {program.name}", state, told, {"stdout": done.stdout[-20_000:]})

    plain = run(program)
    yield step("as it is", plain)
    yield kernel_times(program, device, folder / "profile")
    line = ("record", "-rdb", folder / "db", "-mr", "2", "--device", device)
    done = run(*mneme, *line, "--", program)
    yield step("record", done, "" if done.stdout == plain.stdout else "its output is another:")
    records = sorted((folder / "db").glob("[0-9]*.json"))
    for record in records:
        for launch in json.loads(record.read_text())["instances"]:
            line = ("replay", "-rdb", record, "-rid", launch, "--device", device)
            yield step(f"replay {launch[:6]}", run(*mneme, *line, "default<O3>"))
    if not records:
        return
    line = ("tune", "-rdb", folder / "db", "--all", "--device", device, "--quiet")
    done = run(*mneme, *line, "--timeout", str(TUNING), "--results-dir", folder / "results")
    yield step("tune", done)
    if done.returncode == 0:
        line = ("deploy", folder / "results", "-o", folder / "tuned.json", "--launch", "--json")
        yield step("deploy", run(*mneme, *line, "--measure", "--device", device, "--", program))


def guarded(checks: Callable[..., Iterator[Check]], *arguments: object) -> Iterator[Check]:
    """The checks, and what went wrong in them as one more."""
    try:
        yield from checks(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, the node's owner sends it back
        yield Check(checks.__name__, "failed", f"{type(error).__name__}: {error}")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    build = os.environ.get("MNEME_BUILD_DIR", "build")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("recordings", metavar="DB", nargs="*", type=Path)
    parser.add_argument("--device", default="hip:0")
    parser.add_argument("--tests", type=Path, default=Path(build) / "bin")
    parser.add_argument("--program", type=Path, action="append", default=[])
    parser.add_argument("--json", type=Path, default=Path("amd-node-check.json"))
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, print the table, write the file."""
    options = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="amd-node-check-") as scratch:
        return check_all(options, Path(scratch))


def check_all(options: argparse.Namespace, scratch: Path) -> int:
    """Check with room for recordings."""
    begin = time.time()
    checks: list[Check] = []
    parts = [
        guarded(node, options.device),
        guarded(conformance, options.tests / "test_conformance", options.device),
        *(guarded(replays, recording, options.device) for recording in options.recordings),
        *(
            guarded(whole_road, program.resolve(), options.device, scratch / str(number))
            for number, program in enumerate(options.program)
        ),
    ]
    for part in parts:
        for check in part:
            checks.append(check)
            print(f"{check.state:8} {check.name:40} {check.detail}", flush=True)
    is_stand_in = any("stand-in" in check.detail for check in checks)
    report = {
        "label": "stand-in" if is_stand_in else "measured",
        "host": platform.node(),
        "kernel": platform.release(),
        "begin": begin,
        "seconds": time.time() - begin,
        "checks": [asdict(check) for check in checks],
    }
    options.json.write_text(json.dumps(report, indent=1) + "\n")
    print(f"{report['label']}: all of it is in {options.json}")
    return 1 if any(check.state == "failed" for check in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
