#!/usr/bin/env python3
"""The columns of exported tables in docs/export.md, from their one list in python/mneme/data.

scripts/columns.py            says whether the page is as the list has it; exit code 1 if not
scripts/columns.py --write    writes it
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "export.md"
sys.path.insert(0, str(ROOT / "python"))

from mneme.data.code import CODE  # noqa: E402
from mneme.data.column import described  # noqa: E402
from mneme.data.configurations import CONFIGURATIONS  # noqa: E402

TABLES = {"configurations": CONFIGURATIONS, "code": CODE}


def written(text: str) -> str:
    """Return the page with the columns as the lists have them."""
    for name, table in TABLES.items():
        start, end = f"<!-- columns: {name} -->", "<!-- end of columns -->"
        pattern = re.compile(re.escape(start) + ".*?" + re.escape(end), re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"{PAGE} has no place for the columns of {name}: {start} ... {end}")
        text = pattern.sub(lambda _: f"{start}\n{described(table)}{end}", text)  # noqa: B023
    return text


def main() -> int:
    """Compare the page or write it."""
    old = PAGE.read_text()
    new = written(old)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(new)
        return 0
    print(f"{PAGE} is {'right' if old == new else 'old: run scripts/columns.py --write'}")
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main())
