"""Runs the Python blocks of a page, one after the other, as parts of one program. See doc_shell.py."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any


def run_piece(piece: dict[str, Any], namespace: dict[str, object]) -> int:
    """Run one piece with its output in files, those of processes it starts too."""
    for name, number in (("out", 1), ("err", 2)):
        with Path(piece[name]).open("wb") as file:
            os.dup2(file.fileno(), number)
    try:
        # Empty lines in front make the lines of a traceback those of the page.
        text = "\n" * (piece["line"] - 1) + piece["text"]
        exec(compile(text, piece["page"], "exec"), namespace)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
    return 0


def main(answers: int) -> None:
    """Run every piece that comes on stdin."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line in sys.stdin:
        code = run_piece(json.loads(line), namespace)
        os.write(answers, str(code).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]))
