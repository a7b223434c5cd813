"""The environment of programs that are run and recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.install import paths as _paths
from mneme.programs import check as program_check
from mneme.programs import guest
from mneme.programs.elf import ElfFacts
from mneme.programs.guest import record_environment, run_environment
from mneme.programs.record_request import RecordRequest


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A prefix with empty libraries."""
    root = tmp_path / "prefix"
    (root / "lib").mkdir(parents=True)
    for name in ("librecord.so", "libmneme_cudart.so"):
        (root / "lib" / name).touch()
    (root / "config.json").write_text('{"cc": "{prefix}/bin/mneme-cc", "libdir": "./lib"}')
    monkeypatch.setenv("MNEME_BUILD_DIR", str(root))
    monkeypatch.delenv("MNEME_DEVICE", raising=False)
    _paths.prefix.cache_clear()
    _paths.config.cache_clear()
    yield root  # type: ignore[misc]
    _paths.prefix.cache_clear()
    _paths.config.cache_clear()


def test_configuration_is_relative_to_the_prefix(prefix: Path) -> None:
    assert _paths.config() == {"cc": f"{prefix}/bin/mneme-cc", "libdir": str(prefix / "lib")}


def test_run_preloads_the_runtime_of_the_cpu(prefix: Path) -> None:
    environment = run_environment({"PATH": "/bin"}, "cpu")
    assert environment == {
        "PATH": "/bin",
        "MNEME_DEVICE": "cpu",
        "LD_PRELOAD": str(prefix / "lib" / "libmneme_cudart.so"),
    }


@pytest.mark.parametrize("separator", [":", " "])
def test_a_recorder_that_is_preloaded_by_hand_comes_first(prefix: Path, separator: str) -> None:
    recorder, runtime = (str(prefix / "lib" / n) for n in ("librecord.so", "libmneme_cudart.so"))
    given = {"LD_PRELOAD": separator.join(("/x/tool.so", recorder))}
    environment = run_environment(given, "cpu")
    assert environment["LD_PRELOAD"].split(":") == [recorder, runtime, "/x/tool.so"]
    again = record_environment(environment, RecordRequest(directory=prefix / "d", device="cpu"))
    assert again["LD_PRELOAD"].split(":")[:2] == [recorder, runtime]


@pytest.mark.parametrize(
    ("needed", "section", "is_served"),
    [
        ("libcudart.so.13", ".nv_fatbin", True),
        ("libc.so.6", ".text", True),
        ("libc.so.6", ".nv_fatbin", False),
        ("libcuda.so.1", ".nv_fatbin", True),
    ],
)
def test_driver_is_served_but_to_a_runtime_inside_of_the_program(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, needed: str, section: str, *, is_served: bool
) -> None:
    (prefix / "lib" / "libmneme_cuda_driver.so").touch()
    facts = ElfFacts(is_static=False, needed=(needed,), sections=frozenset((section,)))
    monkeypatch.setattr(program_check, "read_elf", lambda _: facts)
    environment = run_environment({"PATH": "/bin"}, "cpu", "/bin/sh")
    assert ("libmneme_cuda_driver.so" in environment["LD_PRELOAD"]) == is_served


@pytest.mark.parametrize(
    ("needed", "is_there"),
    [("libc.so.6", True), ("libcudart.so.13", False), ("libcurand.so.10", True)],
)
def test_libraries_are_served_to_what_a_launcher_starts(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, needed: str, *, is_there: bool
) -> None:
    # mpirun is linked to none of them.
    (prefix / "lib" / "libmneme_curand.so").touch()
    names = ("libcudart.so.13", needed) if needed.startswith("libcurand") else (needed,)
    facts = ElfFacts(is_static=False, needed=names, sections=frozenset())
    monkeypatch.setattr(guest, "read_elf", lambda _: facts)
    environment = run_environment({"PATH": "/bin"}, "cpu", "/bin/sh")
    assert ("libmneme_curand.so" in environment["LD_PRELOAD"]) == is_there


def test_record_preloads_the_recorder_first_and_keeps_what_was_there(
    prefix: Path, tmp_path: Path
) -> None:
    request = RecordRequest(
        directory=tmp_path / "a" / "b", device="cpu", kernels="k.*", ranks="all"
    )
    environment = record_environment({"LD_PRELOAD": "/x/tool.so:/y/tool.so"}, request)
    assert environment["LD_PRELOAD"].split(":") == [
        str(prefix / "lib" / "librecord.so"),
        str(prefix / "lib" / "libmneme_cudart.so"),
        "/x/tool.so",
        "/y/tool.so",
    ]
    assert (tmp_path / "a" / "b").is_dir()
    assert {key: value for key, value in environment.items() if key != "LD_PRELOAD"} == {
        "MNEME_DEVICE": "cpu",
        "MNEME_DATA_DIR": str(tmp_path / "a" / "b"),
        "MNEME_DATA_DIR_CHOSEN": "1",
        "MNEME_MAX_RECORDINGS": "4",
        "MNEME_SKIP_RECORDINGS": "0",
        "MNEME_EPILOGUE_TYPE": "diff",
        "MNEME_RECORD_RANKS": "all",
        "MNEME_RR_KERNELS": "k.*",
    }


def test_ranks_and_kernels_are_left_to_the_recorder_if_not_given(
    prefix: Path, tmp_path: Path
) -> None:
    environment = record_environment({}, RecordRequest(directory=tmp_path, device="cpu"))
    assert "MNEME_RECORD_RANKS" not in environment
    assert "MNEME_PAGE_SIZE" not in environment
    assert "MNEME_RR_KERNELS" not in environment


def test_missing_library_is_named(prefix: Path, tmp_path: Path) -> None:
    (prefix / "lib" / "librecord.so").unlink()
    with pytest.raises(BackendUnavailable, match=r"librecord\.so"):
        record_environment({}, RecordRequest(directory=tmp_path, device="cpu"))


def test_path_that_cannot_be_preloaded_is_refused(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "with blank"
    prefix.rename(moved)
    monkeypatch.setenv("MNEME_BUILD_DIR", str(moved))
    _paths.prefix.cache_clear()
    with pytest.raises(InvalidArgument, match="blank or a colon"):
        run_environment({}, "cpu")


def test_device_of_the_environment_counts(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_DEVICE", "cpu")
    assert guest.choose_device(None) == "cpu"


@pytest.mark.parametrize(
    ("needed", "named", "expected"),
    [
        ("libamdhip64.so.5", None, "cpu"),
        ("libamdhip64.so.5", "auto", "cpu"),
        ("libamdhip64.so.5", "cuda:0", "cuda:0"),
        ("libcudart.so.13", None, "cuda:0"),
        ("libc.so.6", None, "cuda:0"),
    ],
)
def test_program_that_no_gpu_here_can_run_goes_to_the_cpu(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, needed: str, named: str | None, expected: str
) -> None:
    facts = ElfFacts(is_static=False, needed=(needed,), sections=frozenset())
    monkeypatch.setattr(guest, "choose_device", lambda wanted: wanted or "cuda:0")
    monkeypatch.setattr(guest, "read_elf", lambda _: facts)
    environment = run_environment({"PATH": "/bin"}, named, "/bin/sh")
    assert environment["MNEME_DEVICE"] == expected
