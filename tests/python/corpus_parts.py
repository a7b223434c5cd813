"""What tests of corpora share: the golden recordings as programs, and mneme's command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def mneme(*arguments: str | Path, code: int = 0, **variables: str) -> str:
    """Run `mneme corpus` and return what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "mneme", "corpus", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "COLUMNS": "200", **variables},
    )
    assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def mneme_json(*arguments: str | Path, code: int = 0) -> Any:
    """Run `mneme corpus --json` and return what it printed on stdout."""
    text = mneme(*arguments, "--json", code=code)
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def add(corpus: Path, recording: Path, program: str, *options: str) -> Any:
    return mneme_json("add", corpus, recording, "--program", program, *options)


def corpus_of_golden(folder: Path) -> Path:
    """Make a corpus of three programs, two of which have the same recording."""
    corpus = folder / "corpus"
    for program, version in (("walk", "v2"), ("stroll", "v2"), ("old", "v1")):
        add(corpus, GOLDEN / version, program, "--licence", "Apache-2.0")
    return corpus


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a directory."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def writable(folder: Path) -> Path:
    """Return a copy whose files have one name each and may be written."""
    other = folder.with_name(f"{folder.name}-copy")
    shutil.copytree(folder, other)
    for path in other.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return other


def swapped_results(folder: Path) -> Path:
    """Make a recording one launch of which claims to have left what another one did."""
    shutil.copytree(GOLDEN / "v2", folder)
    (path,) = folder.glob("133*.json")
    record = json.loads(path.read_text())
    del record["Checksum"]
    first, second = record["instances"].values()
    first["Epilogue"] = second["Epilogue"]
    path.chmod(0o644)
    path.write_text(json.dumps(record))
    return folder
