"""Pass plugins for tests, built once: tests/apps/pass_plugins."""

from __future__ import annotations

from pathlib import Path

from conftest import BUILD, made_once, run_command

from mneme.install import paths as _paths

SOURCES = Path(__file__).resolve().parents[1] / "apps" / "pass_plugins"
LLVM = Path(_paths.config()["llvmdir"])
HAS_SHARED_LLVM = (BUILD / "lib" / "libmneme_compile_plugins.so").is_file()


def built_plugin(name: str, *more: str) -> Path:
    """Return the plugin that is built of a source, with further words for the compiler."""

    def build(folder: Path) -> None:
        flags = run_command(LLVM / "bin" / "llvm-config", "--cxxflags").stdout.split()
        done = run_command(
            *(LLVM / "bin" / "clang++", *flags, "-O1", "-shared", "-fPIC", *more),
            *(SOURCES / f"{name}.cpp", "-o", folder / f"{name}.so"),
            timeout=600,
        )
        assert (done.returncode, done.stderr) == (0, "")

    return made_once(f"plugin-{name}", build) / f"{name}.so"
