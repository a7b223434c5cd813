"""Whether a tuned-kernels file fits a program that was built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mneme.cli.exit_codes import ExitCode
from mneme.deploy.check import KernelCheck, check_tuned_file
from mneme.deploy.tuned_file import TunedKernel, write_tuned_file
from mneme.deploy.tuned_variant import Match, MatchedArgument, TunedVariant
from mneme.errors import NotFound
from mneme.install.build_settings import build_setting
from native_parts import needs_native

EXAMPLES = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples"
PROGRAM = EXAMPLES / "vector_add"
KERNEL = "_Z9vectorAddPKfS0_Pffi"

pytestmark = [pytest.mark.compile, needs_native]


def static_hash() -> str:
    from mneme import _native  # noqa: PLC0415

    (kernel,) = _native.describe_binary(PROGRAM)
    return f"{kernel['static_hash']:016x}"


def tuned(tmp_path: Path, **hashes: str) -> Path:
    path = tmp_path / "tuned.json"
    kernels = {
        name: TunedKernel(variants=(TunedVariant(static_hash=text),))
        for name, text in hashes.items()
    }
    write_tuned_file(path, kernels)
    return path


def only(checks: list[KernelCheck]) -> KernelCheck:
    (check,) = checks
    return check


@pytest.mark.parametrize("wanted", ["", "same"])
def test_kernel_with_the_tuned_code_matches(tmp_path: Path, wanted: str) -> None:
    path = tuned(tmp_path, **{KERNEL: wanted and static_hash()})
    check = only(check_tuned_file(path, [PROGRAM]))
    assert (check.status, check.is_match) == ("matches", True)
    assert check.demangled_name.startswith("vectorAdd(")
    assert check.file == str(PROGRAM)
    assert check.reason == "1 variant; " + (f"code {static_hash()}" if wanted else "any code")


def values(*args: tuple[int, str]) -> Match:
    return Match(args=tuple(MatchedArgument(index=index, bytes=text) for index, text in args))


# void vectorAdd(const float*, const float*, float*, float, int)
@pytest.mark.parametrize(
    ("variant", "reason"),
    [
        (TunedVariant(match=values((3, "00" * 4), (4, "00" * 4))), ""),
        (TunedVariant(match=values((4, "00" * 8))), "argument 4 as a value of 8 bytes"),
        (TunedVariant(match=values((5, "00" * 4))), "argument 5 as a value of 4 bytes"),
        (TunedVariant(match=values((0, "00" * 8))), "argument 0 as a value of 8 bytes"),
        (TunedVariant(specialize_args=True, specialized_args=("3", "4")), ""),
        (
            TunedVariant(specialize_args=True, specialized_args=("2",)),
            "SpecializedArgs names argum",
        ),
        (
            TunedVariant(specialize_args=True, specialized_args=("9",)),
            "SpecializedArgs names argum",
        ),
        (TunedVariant(specialize_args=False, specialized_args=("9",)), ""),
    ],
)
def test_variants_that_do_not_fit_are_said_as_in_a_run(
    tmp_path: Path, variant: TunedVariant, reason: str
) -> None:
    path = tmp_path / "tuned.json"
    write_tuned_file(path, {KERNEL: TunedKernel(variants=(TunedVariant(), variant))})
    check = only(check_tuned_file(path, [PROGRAM]))
    run = subprocess.run(
        [sys.executable, "-m", "mneme", "run", "--", PROGRAM],
        env={**os.environ, "PROTEUS_TUNED_KERNELS": str(path), "PROTEUS_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    if reason:
        assert (check.status, check.is_match) == ("does not fit", False)
        assert check.reason.startswith("variant 1 is not used: ")
        assert reason in check.reason
        assert check.reason.removeprefix("variant 1 is not used: ") in run.stderr
    else:
        assert check.status == "matches"
        assert "argument" not in run.stderr


def test_kernel_with_other_code_is_stale(tmp_path: Path) -> None:
    check = only(check_tuned_file(tuned(tmp_path, **{KERNEL: "1" * 16}), [PROGRAM]))
    assert check.status == "stale"
    assert f"{'1' * 16} then, {static_hash()} now" in check.reason


def test_kernel_the_program_lacks_is_not_there(tmp_path: Path) -> None:
    check = only(check_tuned_file(tuned(tmp_path, _Z5otherv=""), [PROGRAM]))
    assert check.status == "not there"


def test_program_without_embedded_code_is_not_instrumented(tmp_path: Path) -> None:
    check = only(check_tuned_file(tuned(tmp_path, **{KERNEL: ""}), [Path("/bin/true")]))
    assert check.status == "not instrumented"
    assert "add_mneme()" in check.reason


def test_kernels_of_linked_libraries_count(tmp_path: Path) -> None:
    """An executable without kernels of its own, linked to a library that has some."""
    library = tmp_path / "lib" / "libkernels.so"
    library.parent.mkdir()
    library.write_bytes(PROGRAM.read_bytes())
    (tmp_path / "empty.c").write_text("int unused;")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }")
    stub = tmp_path / "stub.so"
    compiler = build_setting("cc")
    named = ["-shared", "-Wl,-soname,libkernels.so"]
    subprocess.run([compiler, *named, "-o", stub, tmp_path / "empty.c"], check=True)
    program = tmp_path / "app"
    link = ["-Wl,--no-as-needed", stub, "-Wl,-rpath,$ORIGIN/lib"]
    subprocess.run([compiler, "-o", program, tmp_path / "main.c", *link], check=True)
    check = only(check_tuned_file(tuned(tmp_path, **{KERNEL: static_hash()}), [program]))
    assert check.status == "matches"
    assert Path(check.file) == library


def test_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no program 'gone'"):
        check_tuned_file(tuned(tmp_path), ["gone"])


def mneme(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "mneme", "deploy", *(str(one) for one in arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


def test_command_ends_well_only_if_all_match(tmp_path: Path) -> None:
    path = tuned(tmp_path, **{KERNEL: static_hash()})
    done = mneme("--check", path, PROGRAM)
    assert done.returncode == ExitCode.OK, done.stderr
    assert "matches" in done.stdout
    done = mneme("--check", tuned(tmp_path, **{KERNEL: static_hash(), "_Z5otherv": ""}), PROGRAM)
    assert done.returncode == ExitCode.NOT_VERIFIED
    assert "not there" in done.stdout
    done = mneme("--check", path, PROGRAM, "--json")
    assert [one["status"] for one in json.loads(done.stdout)] == ["matches", "not there"]


@pytest.mark.parametrize(
    ("variant", "reason"),
    [
        (TunedVariant(), ""),
        (TunedVariant(match=Match(arch="cpu")), ""),
        (TunedVariant(match=Match(arch="sm_80"), max_registers=32), ""),
        (TunedVariant(pipeline="no-such-pass"), "no-such-pass"),
        (TunedVariant(pipeline="function(("), "variant 1 cannot be compiled: "),
        (
            TunedVariant(pipeline="trigger-crash-module", match=Match(arch="sm_90")),
            "variant 1 cannot be compiled for sm_90: LLVM",
        ),
        (TunedVariant(match=Match(arch="gfx90a")), ""),
    ],
)
def test_variants_are_compiled_as_in_a_run(
    tmp_path: Path, variant: TunedVariant, reason: str
) -> None:
    path = tmp_path / "tuned.json"
    write_tuned_file(path, {KERNEL: TunedKernel(variants=(TunedVariant(), variant))})
    check = only(check_tuned_file(path, [PROGRAM]))
    assert check.status == ("does not compile" if reason else "matches"), check.reason
    assert reason in check.reason


def test_variants_that_compile_alike_are_tried_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mneme import _native  # noqa: PLC0415

    compiled = []
    compile_ir = _native.compile_ir

    def counting(*arguments: object, **options: object) -> object:
        compiled.append(options["target"])
        return compile_ir(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(_native, "compile_ir", counting)
    path = tmp_path / "tuned.json"
    variants = tuple(TunedVariant(match=Match(arch="sm_90", shared_mem=n)) for n in range(50))
    write_tuned_file(path, {KERNEL: TunedKernel(variants=variants)})
    assert only(check_tuned_file(path, [PROGRAM])).is_match
    assert compiled == ["sm_90"]


def test_a_file_without_kernels_is_not_well(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text("{}")
    done = mneme("--check", path, PROGRAM)
    assert done.returncode == ExitCode.NOT_VERIFIED
    assert f"'{path}' names no kernel" in done.stderr
    done = mneme("--check", path, PROGRAM, "--json")
    assert (done.returncode, json.loads(done.stdout)) == (ExitCode.NOT_VERIFIED, [])


def test_a_file_that_is_none_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{")
    assert mneme("--check", path, PROGRAM).returncode == ExitCode.RECORD_UNREADABLE
    path.unlink()
    os.mkfifo(path)
    done = mneme("--check", path, PROGRAM)
    assert done.returncode == ExitCode.IO_FAILED
    assert "it is a pipe, not a file" in done.stderr
