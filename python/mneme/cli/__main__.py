"""`python -m mneme.cli`: runs the command line, from the module that entry points name."""

from __future__ import annotations

import sys

from mneme.cli import main

if __name__ == "__main__":
    sys.exit(main())
