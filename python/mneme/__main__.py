"""`python -m mneme`: the command line."""

from __future__ import annotations

import sys

from mneme.cli import main  # noqa: TID251 - this file is the command line's other name

if __name__ == "__main__":
    sys.exit(main())
