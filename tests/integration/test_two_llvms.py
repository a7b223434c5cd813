"""A corpus of all examples, built by the oldest LLVM's clang, compiled by the oldest and the newest.

Runs where MNEME_BUILD_DIR holds an LLVM and MNEME_NEWER_BUILD names a build with a newer one, as
in the part of scripts/test for the oldest LLVM. Leaves the table of the comparison in
MNEME_BUILD_DIR/two_llvms.md.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, mneme, run_command

from mneme import Corpus
from mneme.cli.exit_codes import ExitCode

EXAMPLES = ROOT / "examples"
NEWER = os.environ.get("MNEME_NEWER_BUILD", "")
TABLE = BUILD / "two_llvms.md"
# Sources and options of each example, by its name in benchmarks/corpus/programs.csv.
CUDA = ("-x", "cuda", f"-I{EXAMPLES}")
SINGLE = ("vector_add", "stencil2d", "heat3d", "reduction", "nbody", "spmv_cg", "linked_list")
HOST = ("-std=c++17", f"-I{os.environ.get('CUDA_HOME', '')}/include")
JIT = ("adam", "floyd_warshall", "matrix_product", "saxpy")
PROGRAMS: dict[str, tuple[str | Path, ...]] = {
    **{one: (*CUDA, EXAMPLES / one / f"{one}.cu") for one in SINGLE},
    **{f"jit-{one}": (*HOST, EXAMPLES / "jit" / f"{one}.cpp", "-lmneme_frontend") for one in JIT},
    "multi_unit": (
        *(*CUDA, EXAMPLES / "multi_unit" / "main.cu", EXAMPLES / "multi_unit" / "scale.cu"),
        *("-x", "none", "-L.", "-lramp", "-Wl,-rpath,$ORIGIN"),
    ),
}

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(not NEWER, reason="MNEME_NEWER_BUILD names no build with a newer LLVM"),
]


def build(folder: Path, name: str, *words: str | Path) -> None:
    """Build one program into a folder; libraries are looked for there."""
    compiler = BUILD / "bin" / "mneme-cxx"
    options = (f"-L{folder}" if one == "-L." else one for one in words)
    done = run_command(compiler, "-O2", *options, "-lcudart", "-o", folder / name)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("two_llvms")
    jit = made / "examples" / "jit"
    jit.mkdir(parents=True)
    ramp = EXAMPLES / "multi_unit" / "ramp.cu"
    build(jit.parent, "libramp.so", *CUDA, "-shared", "-fPIC", ramp)
    places = {name: (jit if name.startswith("jit-") else jit.parent) for name in PROGRAMS}
    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(
                lambda one: build(places[one], one.removeprefix("jit-"), *PROGRAMS[one]), PROGRAMS
            )
        )
    builder = ROOT / "benchmarks" / "corpus" / "build.py"
    words = ("--device", "cpu", "--unverified", "--programs", made, "-o", made / "corpus")
    done = run_command(sys.executable, builder, *words, *PROGRAMS)
    assert done.returncode == 0, done.stdout + done.stderr
    return made / "corpus"


@pytest.fixture(scope="module")
def stencil(corpus: Path) -> Path:
    """The recording of an example with one kernel."""
    return next(one.path for one in Corpus(corpus) if one.program == "stencil2d")


def test_the_corpus_holds_every_example(corpus: Path) -> None:
    assert {one.program for one in Corpus(corpus)} == set(PROGRAMS)
    sources = {path.parent.name for path in EXAMPLES.glob("*/*.cu")}
    assert sources <= set(PROGRAMS)


def test_every_kernel_of_the_corpus_is_right_with_both(corpus: Path, tmp_path: Path) -> None:
    done = mneme(
        *("compare", corpus, "--device", "cpu", "--rounds", "6", "--json", "--markdown", TABLE),
        *("--variant", "oldest=", "--variant", f"newest=--llvm {NEWER}"),
        *("--results-dir", tmp_path / "results", "--fail-on", "wrong", "--fail-on", "failed"),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told["kernels"]) >= len(PROGRAMS)
    assert [one["problem"] for one in told["kernels"] if one["problem"]] == []
    verdicts = {one["variants"]["newest"]["verdict"] for one in told["kernels"]}
    assert verdicts <= {"faster", "slower", "no difference", "same code"}
    library = Path(NEWER, "lib", "libmneme_compile.so").resolve()
    assert told["compilers"]["newest"]["library"] == str(library)
    version = json.loads(Path(NEWER, "config.json").read_text())["llvm_version"]
    assert f"newest: LLVM {version}." in TABLE.read_text()


def test_code_of_two_llvms_is_told_apart(stencil: Path) -> None:
    replay = ("replay", stencil, "default<O3>", "--device", "cpu")
    first = mneme(*replay).result
    other = mneme(*replay, "--llvm", NEWER).result
    assert {first["result_class"], other["result_class"]} == {"exact"}
    assert first["image_hash"] != other["image_hash"]
    assert mneme(*replay, "--llvm", NEWER).result["image_hash"] == other["image_hash"]
    assert mneme(*replay).result["image_hash"] == first["image_hash"]


def test_a_run_of_a_pass_tells_two_llvms_apart(stencil: Path, tmp_path: Path) -> None:
    """Which of them makes larger code is up to the processor."""
    words = ("default<O3>", "--for", "size", "--arch", "cpu", "-o", tmp_path, "--json")
    bisect = ("bisect", stencil, *words)
    done = mneme(*bisect, "--llvm", NEWER, "--than-llvm", "mneme")
    if done.returncode == ExitCode.INVALID_CONFIGURATION:
        assert "is not worse than" in done.stderr
        done = mneme(*bisect, "--than-llvm", NEWER)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["llvm"] in ("mneme", NEWER)
    assert found["run"] == 0 or found["before"] != found["after"]
