"""What lies in the folder a page is tried in: the programs and recordings its commands speak of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from doc_blocks import DOCS, ROOT, blocks
from doc_blocks import program as find_program

BUILD = Path(os.environ.get("MNEME_BUILD_DIR", ROOT / "build")).resolve()
EXAMPLES = BUILD / "examples"
STAND_INS = Path(__file__).with_name("stand_ins")
# A search whose gain shows on a machine that has other things to do, too.
TUNE = (
    *("--trials", "12", "--seed", "1", "--final-rounds", "40", "--launch-dim", "none"),
    *("--passes", "default<O3>", "default<O2>"),
)


def environment(home: Path, *, is_bare: bool = False) -> dict[str, str]:
    """Return what a user has who built mneme: the command on the path, and the CPU device.

    Args:
        home: The home directory.
        is_bare: Whether this is a machine without mneme and its tools.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MNEME_", "PROTEUS_", "XDG_", "PYTEST_", "GIT_"))
    }
    user = {**kept, "COLUMNS": "200", "HOME": str(home), "MNEME_DEVICE": "cpu"}
    if is_bare:
        own = (BUILD, Path(sys.prefix))
        path = [part for part in kept["PATH"].split(os.pathsep) if not _is_below(part, own)]
        return {**user, "PATH": os.pathsep.join(path), "PYTHONPATH": "", "VIRTUAL_ENV": ""}
    return {
        **user,
        **_compiler_cache(),
        # Equal sources are equal wherever the folder of the test lies.
        "CCACHE_BASEDIR": str(home.parent),
        "CCACHE_NOHASHDIR": "1",
        "MNEME_BUILD_DIR": str(BUILD),
        "MNEME_CPU_THREADS": "1",
        "PATH": os.pathsep.join(
            (
                str(STAND_INS),
                str(BUILD / "bin"),
                str(Path(sys.executable).parent),
                os.environ["PATH"],
            )
        ),
        "PYTHONPATH": str(ROOT / "python"),
    }


def _is_below(name: str, folders: Iterable[Path]) -> bool:
    return any(Path(name).is_relative_to(folder) for folder in folders)


@cache
def _compiler_cache() -> dict[str, str]:
    """Return what makes CMake use the cache of compilers that this machine has."""
    if not find_program("ccache"):
        return {}
    asked = subprocess.run(
        ["ccache", "--get-config", "cache_dir"], capture_output=True, text=True, check=True
    )
    launchers = {f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in ("CXX", "CUDA")}
    return {**launchers, "CCACHE_DIR": asked.stdout.strip()}


def run(folder: Path, *command: str) -> None:
    """Run one command that has to succeed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def source(name: str) -> Callable[[Path], None]:
    """One example in source; a name with an equals sign renames it."""
    example, _, other = name.partition("=")

    def add(folder: Path) -> None:
        shutil.copy(ROOT / "examples" / "common.h", folder.parent)
        given = ROOT / "examples" / example / f"{example}.cu"
        shutil.copy(given, folder / f"{other or example}.cu")

    return add


def program(name: str, example: str = "nbody") -> Callable[[Path], None]:
    """One example, built, under another name."""

    def add(folder: Path) -> None:
        built = EXAMPLES / example
        assert built.exists(), f"{built} is not built: run scripts/test"
        shutil.copy(built, folder / name)

    return add


def shared_by_pages(folder: Path, name: str) -> Path:
    """Return the folder, laid out as that of a page, for what is made once for all pages of a run."""
    return folder.parents[1] / name / folder.name


def slow_app(folder: Path) -> None:
    """`app`: a program that gains for certain; built once for all pages."""
    shared = shared_by_pages(folder, "slow")
    if not shared.exists():
        shared.mkdir(parents=True)
        shutil.copy(Path(__file__).with_name("slow_app.cu"), shared / "app.cu")
        run(shared, "mneme-cxx", "app.cu", "-o", "app", "-lcudart")
    shutil.copy(shared / "app", folder)


def recording(example: str = "nbody") -> Callable[[Path], None]:
    """`recording/123.json`: one launch of one kernel."""

    def add(folder: Path) -> None:
        record(folder, EXAMPLES / example)

    return add


def two_kernels(folder: Path) -> None:
    """`recording`: launches of `spmv` and `axpby`, as `mneme record` names their files."""
    run(folder, "mneme", "record", "-rdb", "recording", "--", str(EXAMPLES / "spmv_cg"))


def recordings(folder: Path) -> None:
    """`recordings`: a directory above some."""
    for name in ("vector_add", "reduction"):
        run(folder, "mneme", "record", "-rdb", f"recordings/{name}", "--", str(EXAMPLES / name))


def record(folder: Path, program: Path) -> None:
    """Record one launch as `recording/123.json`."""
    run(folder, "mneme", "record", "-rdb", "recording", "--", str(program))
    (made,) = (folder / "recording").glob("[0-9]*.json")
    made.rename(made.with_name("123.json"))


def tuned(folder: Path) -> None:
    """`results` and `tuned.json`, of tuning `app`; made once for all pages."""
    shared = shared_by_pages(folder, "tuned")
    if not shared.exists():
        shared.mkdir(parents=True)
        slow_app(shared)
        record(shared, shared / "app")
        recorded = ("-rdb", "recording/123.json")
        run(shared, "mneme", "tune", *recorded, *TUNE, "--results-dir", "results")
        run(shared, "mneme", "deploy", "results", "-o", "tuned.json")
    shutil.copytree(shared, folder, dirs_exist_ok=True)


def wrapped(folder: Path) -> None:
    """A project for make, configure and Meson of one source."""
    shutil.copytree(Path(__file__).with_name("wrapped"), folder, dirs_exist_ok=True)
    source("vector_add=app")(folder)


def bundle(folder: Path) -> None:
    """The archive of `scripts/gpu-bundle` that MNEME_TEST_BUNDLE names, where it does."""
    if os.environ.get("MNEME_TEST_BUNDLE"):
        shutil.copy(os.environ["MNEME_TEST_BUNDLE"], folder / "mneme-gpu.tar.xz")


def checkout(folder: Path) -> None:
    """This repository, as `mneme`."""
    (folder / "mneme").symlink_to(ROOT)


def smooth(folder: Path) -> None:
    """`smooth.cu`, as tutorials/first-kernel.md shows it."""
    page = DOCS / "tutorials" / "first-kernel.md"
    (text,) = (each.text for each in blocks(page) if each.directive("file") == "smooth.cu")
    (folder / "smooth.cu").write_text(text)


def first_kernel(folder: Path) -> None:
    """What a reader of tutorials/first-kernel.md has at the end: `smooth`, a recording, `results`."""
    shared = shared_by_pages(folder, "first-kernel")
    if not shared.exists():
        shared.mkdir(parents=True)
        smooth(shared)
        run(shared, "mneme-cxx", "-O3", "smooth.cu", "-o", "smooth", "-lcudart")
        run(shared, "mneme", "record", "-rdb", "recording", "--", "./smooth")
        find_gain(shared)
    shutil.copytree(shared, folder, dirs_exist_ok=True)


def find_gain(folder: Path) -> None:
    """Search until there is something to deploy: on a busy machine a gain may stay uncertain."""
    search = ("--trials", "12", "--launch-dim", "none", "--results-dir", "results")
    for is_last in (False, False, False, True):
        run(folder, "mneme", "tune", "-rdb", "recording", *search)
        try:
            run(folder, "mneme", "deploy", "results", "-o", "tuned.json")
        except AssertionError:
            if is_last:
                raise
            shutil.rmtree(folder / "results")
        else:
            (folder / "tuned.json").unlink()
            return


NEEDS: dict[str, tuple[Callable[[Path], None], ...]] = {
    "README.md": (smooth,),
    "cmake.md": (source("vector_add=main"), wrapped, checkout),
    "cli.md": (program("app"), two_kernels),
    "corpus.md": (program("spmv_cg", "spmv_cg"), program("nbody")),
    "deploy.md": (slow_app, lambda folder: record(folder, folder / "app")),
    "bisect.md": (recording("stencil2d"),),
    "clusters.md": (recording(),),
    "framework-application.md": (checkout,),
    "compare.md": (recordings,),
    "frameworks.md": (source("vector_add=main"), checkout),
    "frontends.md": (checkout,),
    "gpu-nodes.md": (bundle,),
    "jit-kernel.md": (smooth,),
    "explain.md": (recording(),),
    "export.md": (tuned,),
    "gym.md": (recording(), checkout),
    "optimize.md": (program("app"),),
    "pass-plugins.md": (smooth,),
    "production.md": (tuned,),
    "profiling.md": (program("vector_add", "vector_add"),),
    "python.md": (recording(),),
    "recording.md": (program("app"),),
    "reports.md": (tuned,),
    "scaffold.md": (recording(),),
    "search-spaces.md": (recording("stencil2d"),),
    "sharing-recordings.md": (recording(),),
    "trials-with-pandas.md": (tuned,),
    "trimming.md": (recording("stencil2d"),),
    "ship-it.md": (first_kernel,),
    "tuned-kernels.md": (tuned,),
    "tuner-in-python.md": (first_kernel,),
    "tuning.md": (slow_app,),
}


def prepare(page: Path, folder: Path) -> None:
    """Put into a folder what a page takes for granted."""
    for add in NEEDS.get(page.name, ()):
        add(folder)


def services(page: Path, folder: Path) -> list[subprocess.Popen[bytes]]:
    """Start what a page takes to be running; the caller ends it."""
    if page.name not in ("python.md", "clusters.md") or not find_program("dask"):
        return []
    found = ("--scheduler-file", "scheduler.json")
    commands = (
        ("dask", "scheduler", *found, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
        ("dask", "worker", *found, "--nworkers", "1", "--nthreads", "1", "--no-dashboard"),
    )
    with (folder / "dask.log").open("wb") as log:
        return [
            subprocess.Popen(
                command, cwd=folder, env=environment(folder), stdout=log, stderr=subprocess.STDOUT
            )
            for command in commands
        ]
