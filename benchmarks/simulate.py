"""Samplers on tables of exhaustively measured spaces: many seeds, no device, the same every time.

    python benchmarks/simulate.py                                # every table in results/spaces
    python benchmarks/simulate.py --measure stencil2d nbody --device cpu     # makes tables

A table has the time of every member of a space, so that the best is known, and a search is replayed on it
without compiling or running anything. That is how the field compares strategies (F.-J. Willemsen et al.,
A methodology for comparing optimization algorithms for auto-tuning, FGCS 159, 2024). What counts here is the
best time of the table over the best found, after so many configurations, and its average up to the last.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import BUILD, PROGRAMS, RESULTS, read_results, write_results
from guests import FAILURES, Guests
from tables import NEAR, show

from mneme.devices import choose_device
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search.params import BaseParam, CategoricalParam
from mneme.search.search_space import SearchSpace
from mneme.session.options import TuneOptions
from mneme.session.studies import make_search
from mneme.session.trials import CompletedCandidate

if TYPE_CHECKING:
    from collections.abc import Mapping

SPACES = RESULTS / "spaces"
SAMPLERS = ("random", "auto", "tpe")
MOMENTS = (20, 50, 100, 200)
"""Configurations after which the best so far is noted."""
KNOWN_IN_A_ROW = 200

Table = dict[str, Any]


def key_of(params: Mapping[str, Any], names: list[str]) -> tuple[Any, ...]:
    """Return the values of a member; None for parameters that it does not have."""
    return tuple(params.get(name) for name in names)


class TableSpace(SearchSpace):
    """The members of a table."""

    def __init__(self, table: Table) -> None:
        """Read the members."""
        self.names: list[str] = list(table["parameters"])
        self.times = {tuple(row[:-1]): row[-1] for row in table["members"]}
        self._order = {key: number for number, key in enumerate(self.times)}
        self._dimensions: dict[str, BaseParam] = {
            name: CategoricalParam(name, values) for name, values in table["parameters"].items()
        }

    def dimensions(self) -> dict[str, BaseParam]:
        """Return the parameters."""
        return self._dimensions

    def constraints(self, x: Any) -> bool:  # noqa: ANN401 - of the space
        """Tell whether parameters are a member of the table."""
        return key_of(x, self.names) in self.times

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
        """Return a configuration of its own for each member; nobody runs it."""
        number = self._order.get(key_of(params, self.names), -1)
        return ExperimentConfiguration(passes=f"member {number}")


def simulate(table: Table, sampler: str, seed: int, most: int) -> list[float]:
    """Search a table; return the best time after each configuration that was new."""
    space = TableSpace(table)
    options = TuneOptions(record_database="table", sampler=sampler, seed=seed, trials=most)
    search = make_search(options, space, record="table", capacity=1)
    seen: set[tuple[Any, ...]] = set()
    best: list[float] = []
    repeated = 0
    while len(best) < most and repeated < KNOWN_IN_A_ROW:
        candidate = search.ask()
        if candidate is None:
            break
        key = key_of(candidate.params, space.names)
        metric = space.times[key]
        is_repeated = key in seen
        repeated = repeated + 1 if is_repeated else 0
        done = CompletedCandidate(
            candidate=candidate,
            status="verified" if metric else "invalid_launch",
            result=ExperimentResult(verified=bool(metric), image_hash=str(key)),
            metric=metric,
        )
        search.tell(done, is_repeated=is_repeated)
        if not is_repeated:
            seen.add(key)
            known = best[-1] if best else float("inf")
            best.append(min(known, metric or float("inf")))
    return best


def compare(table: Table, samplers: list[str], seeds: int, most: int) -> list[dict[str, Any]]:
    """Search a table with each sampler and each seed."""
    optimum = min(row[-1] for row in table["members"] if row[-1])
    rows: list[dict[str, Any]] = []
    for sampler in samplers:
        began = time.monotonic()
        runs = [simulate(table, sampler, seed, most) for seed in range(seeds)]
        parts = [[optimum / one for one in run] for run in runs]
        rows.append(
            {
                "sampler": sampler,
                "after": {
                    str(count): statistics.median(run[min(count, len(run)) - 1] for run in parts)
                    for count in (*(one for one in MOMENTS if one < most), most)
                },
                "average": statistics.median(statistics.fmean(run) for run in parts),
                "found_it": sum(run[-1] >= NEAR for run in parts),
                "seconds_per_ask": (time.monotonic() - began) / max(1, sum(map(len, runs))),
            }
        )
    return rows


def measure(guests: Guests, name: str, preset: str) -> Table:
    """Return the table of a program's heaviest kernel: every member of a space of the built-in."""
    recording, results = guests.folder(f"space-{name}"), guests.folder(f"results-{name}")
    guests.record(recording, name, options=["-mr", "1"])
    guests.mneme(
        *("tune", "-rdb", next(recording.glob("[0-9]*.json")), "--device", guests.device),
        *("--quiet", "--space-preset", preset, "--sampler", "exhaustive", "--early-stop", "0"),
        *("--no-proteus-output", "--results-dir", results),
    )
    described = json.loads((results / "search_space.json").read_text())["dimensions"]
    trials = [json.loads(line) for line in (results / "trials.jsonl").read_text().splitlines()]
    names = [one for one, about in described.items() if about["type"] != "fixed"]
    members = [
        [*key_of(one["params"], names), one["metric"] if one["status"] == "verified" else None]
        for one in trials
    ]
    baseline = json.loads((results / "baseline.json").read_text())
    return {
        "what": f"every member of the space '{preset}' of a kernel of {name}, nanoseconds",
        "device": guests.device,
        "baseline_ns": baseline["metric"],
        "parameters": {
            one: _in_order(described[one], {row[index] for row in members})
            for index, one in enumerate(names)
        },
        "members": members,
    }


def _in_order(described: Mapping[str, Any], found: set[Any]) -> list[Any]:
    """Return the values that occur, in the order of the space."""
    if described["type"] == "int_range":
        return sorted(found, key=lambda one: (one is None, one or 0))
    listed = [one for one in described.get("choices", [True, False]) if one in found]
    return listed + [one for one in found if one not in listed]


def main() -> int:
    """Make tables, or search those there are and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", nargs="+", default=[], metavar="PROGRAM")
    parser.add_argument("--space-preset", default="standard")
    parser.add_argument("--device", default=None)
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--output", type=Path, default=RESULTS / "simulated.jsonl")
    options = parser.parse_args()
    SPACES.mkdir(exist_ok=True)
    for name in options.measure:
        device = choose_device(options.device)
        with tempfile.TemporaryDirectory(prefix="mneme-space-") as scratch:
            guests = Guests(
                device=device,
                examples=BUILD / "examples",
                programs=PROGRAMS,
                scratch=Path(scratch),
                timeout_seconds=3600,
            )
            try:
                table = measure(guests, name, options.space_preset)
            except FAILURES as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 1
        kind = device.partition(":")[0]
        path, members = SPACES / f"{name}_{kind}.jsonl.xz", table.pop("members")
        write_results(path, table.pop("what"), members, **table)
        print(f"{path}: {len(members)} members", file=sys.stderr)
    if options.measure:
        return 0
    results: list[dict[str, Any]] = []
    for path in sorted(SPACES.glob("*.jsonl.xz")):
        facts, members = read_results(path)
        table = {**facts, "members": members}
        about = {"table": path.name.partition(".")[0], "members": len(members)}
        rows = compare(table, options.samplers, options.seeds, options.trials)
        results += [{**about, **one} for one in rows]
    write_results(options.output, "samplers on tables", results, seeds=options.seeds)
    show("simulated", options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
