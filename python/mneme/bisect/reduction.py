"""Makes the code that a pass crashes on small, with LLVM's llvm-reduce."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.errors import NotFound
from mneme.files.publish import publish_text
from mneme.pinned_paths import path_in
from mneme.process_groups import signal_group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LlvmTools", "name_in_pipeline", "reduce_crash"]

_TEST: Final = "crashes.sh"
_REDUCED: Final = "reduced.ll"
# What one run of opt may take: a pass that never ends is a fault, too.
_SECONDS: Final = 20
_CRASHED: Final = """#!/bin/sh
# Ends with 0 if the pass still crashes, or never ends, on the IR in $1.
ulimit -c 0
output=$(timeout -s KILL {seconds} {command} "$1" 2>&1)
[ $? -ge 128 ] || echo "$output" | grep -q 'LLVM ERROR\\|Assertion'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlvmTools:
    """Programs of the LLVM that compiled."""

    opt: Path
    reduce: Path

    @classmethod
    def of(cls, version: str, prefix: str = "") -> LlvmTools:
        """Find the tools of an LLVM.

        Args:
            version: Its version, "22.1.8".
            prefix: Where it is installed; empty: unknown.

        Raises:
            NotFound: If there are none of this version.
        """
        major = version.partition(".")[0]
        places = [*([Path(prefix) / "bin"] if prefix else []), Path(f"/usr/lib/llvm-{major}/bin")]
        for place in places:
            if (place / "opt").is_file() and (place / "llvm-reduce").is_file():
                return cls(opt=place / "opt", reduce=place / "llvm-reduce")
        for end in (f"-{major}", ""):
            opt, reduce = shutil.which(f"opt{end}"), shutil.which(f"llvm-reduce{end}")
            if opt and reduce and _major(opt) == major:
                return cls(opt=Path(opt), reduce=Path(reduce))
        raise NotFound(f"opt and llvm-reduce of LLVM {major} are not installed")


def _major(opt: str) -> str:
    done = subprocess.run([opt, "--version"], text=True, capture_output=True, check=False)
    told = re.search(r"LLVM version (\d+)", done.stdout)
    return told[1] if told else ""


def name_in_pipeline(name: str, passes: str) -> str:
    """Return how a pipeline calls a pass, which LLVM calls by its class where a plugin has it.

    "MyPass" is "my-pass", if the pipeline has that.
    """
    words: list[str] = re.findall(r"[\w.-]+", passes)
    spoken = name.lower().replace("_", "")
    like = [one for one in words if re.sub("[-_.]", "", one).lower() == spoken]
    return name if name in words or not like else like[0]


def reduce_crash(
    directory: Path, name: str, configuration: Mapping[str, str], tools: LlvmTools, seconds: float
) -> str:
    """Reduce `before.ll` to `reduced.ll`, on which the pass alone still crashes.

    Args:
        directory: Has `before.ll`; gets `crashes.sh`, the test, too.
        name: The pass as pipelines name it.
        configuration: `pass_plugins` and `llvm_options`.
        tools: `opt` and `llvm-reduce` of the LLVM that crashed.
        seconds: What it may take; what was reduced until then is kept.

    Returns:
        What came of it, a sentence.
    """
    words = [str(tools.opt), f"-passes={name}", "-disable-output"]
    plugins = configuration.get("pass_plugins", "").split(":")
    words += [f"-load-pass-plugin={path_in(one)}" for one in plugins if one]
    words += [f"-{one.lstrip('-')}" for one in configuration.get("llvm_options", "").split()]
    test = (directory / _TEST).absolute()
    publish_text(test, _CRASHED.format(seconds=_SECONDS, command=shlex.join(words)))
    test.chmod(0o755)
    before, reduced = (directory / "before.ll").absolute(), (directory / _REDUCED).absolute()
    if not _crashes(test, before):
        test.unlink()
        return f"{name} does not crash in opt on before.ll alone, so nothing is reduced"
    shutil.copy2(before, reduced)
    words = [str(tools.reduce), f"--test={test}", "--in-place", f"-j={os.cpu_count() or 1}"]
    is_complete = _ends_in_time([*words, str(reduced)], seconds)
    if not _crashes(test, reduced):
        shutil.copy2(before, reduced)  # what was written half
    sizes = [len(one.read_text().splitlines()) for one in (before, reduced)]
    until = "" if is_complete else f", in {seconds:g} seconds"
    return f"{_REDUCED}: {sizes[0]} lines became {sizes[1]}, on which {name} still crashes{until}"


def _ends_in_time(command: Sequence[str], seconds: float) -> bool:
    """Run llvm-reduce for so long at most; its tests and temporary files end with it."""
    with tempfile.TemporaryDirectory(prefix="mneme-reduce-") as scratch:
        child = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=scratch,
            env={**os.environ, "TMPDIR": scratch},
            start_new_session=True,
        )
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        finally:
            signal_group(child, signal.SIGKILL)
            child.wait()
    return True


def _crashes(test: Path, ir: Path) -> bool:
    return subprocess.run([test, ir], capture_output=True, check=False).returncode == 0
