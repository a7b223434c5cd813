"""Prints the tables of docs/measurements.md, from files of results.

    python benchmarks/tables.py             # all that are in the page
    python benchmarks/tables.py FILE...     # of files whose names begin like those: optimize_mine.jsonl

The page says more of some rows, in fewer digits; tests/docs/test_measurements.py compares the numbers.
"""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import RESULTS, read_results

if TYPE_CHECKING:
    from collections.abc import Callable

Results = list[dict[str, Any]]
Table = list[list[str]]
"""Rows of cells, the first of which is the header."""

IN_THE_PAGE = (
    *("production_h200.jsonl", "optimize_h200.jsonl", "optimize_programs_h100.jsonl"),
    *("samplers_h100.jsonl.xz", "pipelines_h200.jsonl", "simulated.jsonl"),
    *("coverage_h200.jsonl", "coverage_before_h100.jsonl", "coverage_h100.jsonl"),
)
PARTS = (0.1, 0.25, 0.5, 1.0)
"""Parts of the time of a search after which the best so far is noted."""
NEAR = 0.95
"""The part of the best known speed that counts as having found it."""


def moment(microseconds: float) -> str:
    """Write a time."""
    if microseconds < 1000:
        return f"{microseconds:.4g} µs"
    return f"{microseconds / 1000:.4g} ms"


def short_name(kernel: str) -> str:
    """Return a kernel's name without what surrounds it, from a demangled or a mangled one."""
    mangled = re.match(r"_Z(\d+)", kernel)
    if mangled:
        return kernel[mangled.end() :][: int(mangled[1])]
    return re.sub(r"<.*>", "", kernel.partition("(")[0]).rpartition(" ")[2]


def groups(results: Results, key: str) -> dict[Any, Results]:
    """Return results by one of their facts, in the order in which they came."""
    found: dict[Any, Results] = {}
    for one in results:
        found.setdefault(one.get(key), []).append(one)
    return found


def failures(results: Results) -> Table:
    """Return a row for each program that failed."""
    return [[one["program"], one["failed"]] for one in results if "failed" in one]


def production(_: dict[str, Any], results: Results) -> Table:
    """A row for each kernel; the times of a program beside its first."""
    header = "program, kernel | as built | tuned | gain, 95 % interval"
    rows = [f"{header} | run: as built, first tuned, cached | tuning took".split(" | ")]
    for program, found in groups(results, "program").items():
        kernels = [one for one in found if one.get("gain")]
        for one in sorted(kernels, key=lambda one: -one["gain"]["ratio"]):
            times = [moment(one[key]) if one.get(key) else "" for key in ("plain_us", "tuned_us")]
            gain = f"{one['gain']['low']:.3f} to {one['gain']['high']:.3f}"
            rows.append([f"{program}, `{short_name(one['kernel'])}`", *times, gain, "", ""])
            if rows[-2][0].partition(",")[0] != program and "plain_seconds" in found[0]:
                runs = [found[0][f"{key}_seconds"] for key in ("plain", "first", "cached")]
                rows[-1][4] = ", ".join(f"{one['median']:.3f}" for one in runs) + " s"
                rows[-1][5] = f"{found[0]['tuning_seconds']:.2f} s"
    return rows + failures(results)


def optimize(_: dict[str, Any], results: Results) -> Table:
    """A row for each kernel that was measured in its program, and how many claims hold."""
    rows = [["program, kernel", "in replays", "claimed for the program", "in further runs"]]
    kept = []
    for one in results:
        if "kernel" not in one:
            continue
        name, claim = f"{one['program']}, `{short_name(one['kernel'])}`", one["production"]
        if "covered" not in one:
            shown = f"{claim['ratio']:.3f}; " if claim else ""
            rows.append([name, "", f"none: {shown}{one['reason']}", ""])
            continue
        kept.append(one["covered"])
        pairs = "" if claim["is_interval"] else f"{claim['rounds']} pairs: "
        stated = f"{claim['ratio']:.4g} ({pairs}{claim['low']:.4g} to {claim['high']:.4g})"
        replay = f"{one['replay']['ratio']:.4g}" if one["replay"] else ""
        again = f"{one['again']:.4g}{'' if one['covered'] else ', outside'}"
        rows.append([name, replay, stated, again])
    seconds = [one["seconds"] for one in results if "seconds" in one]
    if seconds:
        took = f"{min(seconds):.0f} to {max(seconds):.0f} s"
        rows.append([took, "", f"{sum(kept)} of {len(kept)} claims hold", ""])
    return rows + failures(results)


def optimize_programs(_: dict[str, Any], results: Results) -> Table:
    """A row for each suite of programs that nobody here wrote."""
    rows = [["programs of", "with statements", "statements", "hold in further runs", "gains"]]
    for suite, found in groups(results, "suite").items():
        programs, holds = groups(found, "program"), sum(one["covered"] for one in found)
        stated = sorted(one["stated"] for one in found)
        gains = f"{stated[0]:.3f} to {stated[-1]:.3f}, median {statistics.median(stated):.3f}"
        rows.append([suite, str(len(programs)), str(len(found)), str(holds), gains])
    return rows


def samplers(facts: dict[str, Any], results: Results) -> Table:
    """A row for each program, with the part of the best speed that each way had found when."""
    ways, rows = list(groups(results, "way")), []
    for program, all_ in groups([one for one in results if one.get("best_ns")], "program").items():
        known = facts.get("known_ns", {}).get(program)
        best = min([one["best_ns"][-1][1] for one in all_] + [known] * bool(known))
        for seconds, found in groups(all_, "seconds_each").items():
            built = statistics.median(one["baseline_ns"] for one in found) / 1000
            runs = [[one for one in found if one["way"] == way] for way in ways]
            cells = [cell for some in runs for cell in ways_cells(some, seconds, best)]
            gains = [[one["baseline_ns"] / one["best_ns"][-1][1] for one in some] for some in runs]
            spans = [f"{min(one):.3f} to {max(one):.3f}" if one else "" for one in gains]
            rows.append([f"{program}, {moment(built)}, {seconds:g} s", *cells, *spans])
    parts = ", ".join(f"{100 * part:g}" for part in PARTS)
    columns = [cell for way in ways for cell in (f"{way} after {parts} % of the time", "found")]
    return [["program", *columns, *(f"gain of {way}" for way in ways)], *rows, *failures(results)]


def ways_cells(searches: Results, seconds: float, best: float) -> list[str]:
    """Return medians of what searches had found when, and how many came near to the best."""
    if not searches:
        return ["", ""]
    after = [[share(one, part * seconds, best) for one in searches] for part in PARTS]
    medians = ", ".join(f"{100 * statistics.median(one):.1f}" for one in after)
    return [f"{medians} %", f"{sum(one >= NEAR for one in after[-1])} of {len(searches)}"]


def share(search: dict[str, Any], seconds: float, best: float) -> float:
    """Return the part of the best speed that a search had found after so many seconds."""
    known = [metric for at, metric in search["best_ns"] if at <= seconds]
    return best / min(known) if known else 0.0


def pipelines(_: dict[str, Any], results: Results) -> Table:
    """A row for each kernel: `default<O3>`, and the best of LLVM's pipelines and of ours."""
    rows = [["kernel", "`default<O3>`", "best of LLVM's", "best of mneme's"]]
    for program, found in groups(results, "program").items():
        gains = [(one["passes"], one["gain"]) for one in found if one.get("gain")]
        if not gains:
            continue
        llvm = [gain for passes, gain in gains if re.fullmatch(r"default<O\w>", passes)]
        ours = [gain for passes, gain in gains if not re.fullmatch(r"default<O\w>", passes)]
        rows.append([program, *(f"{one:.3f}" for one in (gains[0][1], max(llvm), max(ours)))])
    return rows + failures(results)


def simulated(facts: dict[str, Any], results: Results) -> Table:
    """A row for each table and sampler."""
    rows = [["kernel", "sampler", *results[0]["after"], "found", "an ask takes"]]
    for one in results:
        after = [f"{100 * part:.1f} %" for part in one["after"].values()]
        found = f"{one['found_it']} of {facts['seeds']}"
        ask = f"{1000 * one['seconds_per_ask']:.2f} ms"
        rows.append([one["table"], one["sampler"], *after, found, ask])
    return rows


def coverage(_: dict[str, Any], results: Results) -> Table:
    """A row for each state of mneme that was measured."""
    header = "state | statements | hold in production | claims of a gain (the interval above 1)"
    rows = [f"{header} | a kernel said to be faster than itself".split(" | ")]
    for state, found in groups(results, "state").items():
        made = [(one["stated"], one["production"]["ratio"]) for one in found if "stated" in one]
        holds = sum(one.get("covered", False) for one in found)
        alone = sum(
            stated.get("replayed_low", stated["low"])
            <= shown
            <= stated.get("replayed_high", stated["high"])
            for stated, shown in made
        )
        claims = [shown > 1 for stated, shown in made if stated["low"] > 1]
        times = [one["baseline_ns"] / 1000 for one in found if "stated" in one] or [0.0]
        itself = [one["alike"] for one in found if "alike" in one]
        rows.append(
            [
                state or "",
                f"{len(made)}, of kernels of {moment(min(times))} to {moment(max(times))}",
                f"{holds} ({100 * holds / max(1, len(made)):.0f} %), {alone} of replays alone",
                f"{len(claims)}, {sum(claims)} of them faster in production",
                f"{sum(one['claims'] for one in itself)} of {sum(one['tries'] for one in itself)} times",
            ]
        )
    return rows + failures(results)


TABLES: dict[str, Callable[[dict[str, Any], Results], Table]] = {
    "production": production,
    "optimize": optimize,
    "optimize_programs": optimize_programs,
    "samplers": samplers,
    "pipelines": pipelines,
    "simulated": simulated,
    "coverage": coverage,
}


def show(kind: str, path: Path) -> None:
    """Print the table of a file."""
    header, *rows = TABLES[kind](*read_results(path))
    for row in (header, ["---"] * len(header), *rows):
        print(f"| {' | '.join(row + [''] * (len(header) - len(row)))} |")


def main() -> int:
    """Print the tables of some files."""
    for path in [Path(name) for name in sys.argv[1:]] or [RESULTS / name for name in IN_THE_PAGE]:
        kinds = [kind for kind in TABLES if path.name.startswith(kind)]
        if not kinds:
            print(f"'{path}' does not begin with one of {', '.join(TABLES)}", file=sys.stderr)
            return 1
        print(f"\n{path.name}\n")
        show(max(kinds, key=len), path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
