"""IR2Vec embeddings of code, by LLVM's own tool, with a vocabulary of the user's."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.errors import BackendUnavailable, CompileFailed, InvalidArgument, MnemeError
from mneme.install.build_settings import build_setting

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["Embedder"]

_TOOL: Final = "llvm-ir2vec"
_TIMEOUT_SECONDS: Final = 120
_FUNCTION: Final = re.compile(r"^Function: (.*)\n\s*\[([^\]]*)\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Embedder:
    """Makes embeddings with one vocabulary."""

    vocabulary: Path
    """A JSON file as IR2Vec's training writes it."""

    tool: str
    """LLVM's program."""

    @classmethod
    def of(cls, vocabulary: Path) -> Embedder:
        """Return what makes embeddings with a vocabulary.

        Raises:
            InvalidArgument: If there is no such file.
            BackendUnavailable: If there is no such program.
        """
        if not vocabulary.is_file():
            raise InvalidArgument(f"there is no vocabulary '{vocabulary}' for IR2Vec")
        return cls(vocabulary, _tool())

    def embed(self, ir: str, functions: Collection[str]) -> list[float]:
        """Return the sum of the embeddings of functions, as IR2Vec does for whole programs.

        Args:
            ir: Text of LLVM IR.
            functions: Mangled names; of others, nothing is taken.

        Raises:
            CompileFailed: If the tool refuses IR or vocabulary.
        """
        command = [self.tool, "embeddings", f"--ir2vec-vocab-path={self.vocabulary}", "-o", "-"]
        try:
            done = subprocess.run(
                [*command, "--level=func", "-"],
                input=ir,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_TIMEOUT_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise CompileFailed(
                f"'{self.tool}' did not end within {_TIMEOUT_SECONDS} seconds"
            ) from error
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise CompileFailed(f"'{self.tool}' makes no embedding: {lines[0]}")
        found = [
            [float(one) for one in numbers.split()]
            for name, numbers in _FUNCTION.findall(done.stdout)
            if name in functions
        ]
        return [sum(column) for column in zip(*found, strict=True)]


def _tool() -> str:
    """Return LLVM's program: of the LLVM that mneme was built with, or on the path.

    Raises:
        BackendUnavailable: If there is none.
    """
    try:
        built_with = str(Path(build_setting("llvmdir")) / "bin" / _TOOL)
    except MnemeError:
        built_with = _TOOL
    for name in (built_with, _TOOL):
        if found := shutil.which(name):
            return found
    raise BackendUnavailable(
        f"IR2Vec embeddings need '{_TOOL}' of LLVM 22 or newer: put it on the path"
    )
