"""What the tests of modules made at run time share."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mneme.install import paths as _paths

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tests" / "jit"))


def mlir_opt() -> str | None:
    """The program that lowers MLIR, as the library finds it."""
    native = ctypes.CDLL(str(_paths.library("libmneme_frontend.so")))
    native.mneme_frontend_mlir_opt.restype = ctypes.c_char_p
    found = native.mneme_frontend_mlir_opt()
    return found.decode() if found else None


needs_mlir = pytest.mark.skipif(
    mlir_opt() is None, reason="mlir-opt is not installed (mlir-22-tools)"
)


def build(source: str, program: Path, compiler: str, *options: str) -> Path:
    """With any compiler, without the plugin and without a vendor's toolkit."""
    file = HERE / source
    program.write_bytes(_built(file, file.stat().st_mtime_ns, compiler, options))
    program.chmod(0o755)
    return program


@cache
def _built(source: Path, _written_ns: int, compiler: str, options: tuple[str, ...]) -> bytes:
    """Return a program that several tests want."""
    config = _paths.config()
    found = shutil.which(compiler) or str(Path(config["llvmdir"]) / "bin" / compiler)
    libraries = [*config["ldflags"].split(), "-lmneme_frontend", "-rdynamic"]
    # Those of the vendor's runtime are there when the program is started.
    open_ended = "-Wl,--unresolved-symbols=ignore-in-object-files"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", *options]
    with TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        done = subprocess.run(
            [found, *flags, str(source), "-o", str(program), *libraries, open_ended],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return program.read_bytes()
