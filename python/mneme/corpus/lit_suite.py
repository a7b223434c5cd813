"""Writes a corpus as a suite of tests for `lit`: one test for each recorded launch."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.corpus.new_directory import new_directory
from mneme.corpus.replaying import launches_of
from mneme.errors import NotFound

if TYPE_CHECKING:
    from mneme.corpus.replaying import Launch

__all__ = ["write_suite"]

_CONFIGURATION: Final = """\
# Written by 'mneme corpus lit'. Each test replays a recorded launch and verifies it:
#
#   lit {suite} -D passes='default<O2>' -o O2.json
#
# -D device=cpu: the device; -D options='...': options of 'mneme replay'; -D jobs=N: replays at the
# same time, which disturb each other's times.
import os
import sys

sys.path.insert(0, {package!r})

from mneme.corpus.lit_format import RecordedLaunches  # noqa: E402

config.name = {name!r}
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.suffixes = [".test"]
config.parallelism_group = "mneme"
lit_config.parallelism_groups["mneme"] = int(lit_config.params.get("jobs", 1))
config.test_format = RecordedLaunches(
    python={python!r},
    variables={variables!r},
    parameters=lit_config.params,
)
"""
_STRANGE: Final = re.compile(r"[^A-Za-z0-9_]+")
_MOST_CHARACTERS: Final = 60
_DIGITS: Final = 8
# What finds the native parts of a build tree.
_VARIABLES: Final = ("MNEME_BUILD_DIR", "PYTHONPATH")


def write_suite(corpus: str | Path, destination: str | Path) -> int:
    """Write a suite of tests; it names the corpus by its absolute path.

    Args:
        corpus: The corpus.
        destination: A directory that does not exist, or is empty.

    Returns:
        How many tests there are.

    Raises:
        NotFound: If it is not a corpus, or holds no launch.
        ArtifactCorrupt: If a recording is damaged.
        InvalidArgument: If the directory holds something.
        IoFailed: If the operating system refuses.
    """
    target, count = Path(destination), 0
    with new_directory(target) as staging:
        for launch in launches_of(Path(corpus).absolute()):
            path = staging / launch.entry / _name_of(launch)
            path.parent.mkdir(parents=True, exist_ok=True)
            facts = {"record": str(launch.record.path), "record_id": launch.record_id}
            path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
            count += 1
        if not count:
            raise NotFound(f"the corpus '{corpus}' holds no recorded launch")
        text = _CONFIGURATION.format(
            suite=target,
            package=str(Path(__file__).resolve().parents[2]),
            name=f"mneme {Path(corpus).absolute().name}",
            python=sys.executable,
            variables={name: os.environ[name] for name in _VARIABLES if name in os.environ},
        )
        (staging / "lit.cfg.py").write_text(text, encoding="utf-8")
    return count


def _name_of(launch: Launch) -> str:
    """Return the same name on every machine: the kernel's, digits of its code, the launch."""
    name = _STRANGE.sub("_", launch.record.short_name).strip("_")[:_MOST_CHARACTERS] or "kernel"
    code = f"{int(launch.record.static_hash):016x}"[:_DIGITS]
    return f"{name}-{code}-{launch.number}.test"
