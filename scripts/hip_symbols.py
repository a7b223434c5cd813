"""Tell which functions a libamdhip64 exports, and under which versions of symbols.

    scripts/hip_symbols.py LIBRARY|MAP RELEASE [--source TEXT] [--add FILE]

LIBRARY is a libamdhip64.so, MAP the version script `hip_hcc.map.in` that one is linked with. Prints
one JSON object; with --add it is put into FILE (tests/unit/device_hip/hip_symbols.json), which tests
compare with what mneme looks up and stands in for.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

_OURS = re.compile(r"(_Z24|__)?hip[A-Z]\w*")


def of_library(library: Path) -> dict[str, str]:
    """Return name and version of what a library exports."""
    command = ["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"hip_symbols: {done.stderr.strip()}")
    symbols = (line.split()[-1].partition("@@") for line in done.stdout.splitlines())
    return {name: version for name, _, version in symbols if version and _OURS.fullmatch(name)}


def of_map(text: str) -> dict[str, str]:
    """Return name and version of what a version script lets out; patterns are left out."""
    found: dict[str, str] = {}
    for version, body in re.findall(r"^(hip_[\d.]+) \{(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        for name in re.findall(r"^\s*(\w+);", body, re.MULTILINE):
            if _OURS.fullmatch(name):
                found.setdefault(name, version)
    return found


def add(file: Path, release: str, source: str, symbols: dict[str, str]) -> None:
    """Put the symbols of a release into a file, where each has the releases that lack it."""
    known = json.loads(file.read_text()) if file.is_file() else {"releases": {}, "symbols": {}}
    releases = {**known["releases"], release: source}
    order = sorted(releases, key=lambda one: [int(part) for part in one.split(".")])
    lines = []
    for name in sorted({*known["symbols"], *symbols}):
        version, *lacking = known["symbols"].get(name, [symbols.get(name), *known["releases"]])
        lacking = [one for one in lacking if one != release]
        if name not in symbols:
            lacking.append(release)
        elif symbols[name] != version:
            sys.exit(f"hip_symbols: {name} is of {symbols[name]} in {release}, of {version} before")
        fact = [version, *(one for one in order if one in lacking)]
        lines.append(f"  {json.dumps(name)}: {json.dumps(fact)}")
    heads = ",\n".join(f"  {json.dumps(one)}: {json.dumps(releases[one])}" for one in order)
    body = ",\n".join(lines)
    file.write_text(f'{{"releases": {{\n{heads}\n}}, "symbols": {{\n{body}\n}}}}\n')


def main() -> None:
    """Print or add the symbols."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("release")
    parser.add_argument("--source", default="")
    parser.add_argument("--add", type=Path)
    options = parser.parse_args()
    is_map = ".map" in options.library.name
    found = of_map(options.library.read_text()) if is_map else of_library(options.library)
    if options.add:
        add(options.add, options.release, options.source, found)
    else:
        print(json.dumps(found, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
