"""What scripts written for the reference tool rely on: signatures, names, and how a backend is chosen."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import proteus

pytestmark = pytest.mark.compile

CPP = 'extern "C" int add(int a, int b) { return a + b; }'
SHOW = "import proteus; print(proteus.active_backend, proteus.active_backend_variant)"


@pytest.fixture(autouse=True, scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The cache is where the process is when it first compiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("interface"))
        yield


def python(
    *command: str | Path, start: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if "PROTEUS_" not in name}
    return subprocess.run(
        [sys.executable, *start, *command],
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "CUDA_VISIBLE_DEVICES": "", **variables},
    )


def parameters(function: object) -> dict[str, object]:
    """Names in order, with defaults; lists and tuples are alike."""
    found = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    defaults = {each.name: each.default for each in found if each.name != "self"}
    return {name: [] if value == () else value for name, value in defaults.items()}


def test_signatures() -> None:
    none = inspect.Parameter.empty
    assert parameters(proteus.compile) == {
        "source": none,
        "frontend": none,
        "target": "host",
        "extra_args": [],
        "compiler": "clang",
        "verify": False,
    }
    assert list(parameters(proteus.Module.get_function)) == ["name", "restype", "argtypes"]
    assert list(parameters(proteus.Module.get_kernel)) == ["name", "argtypes"]
    assert list(parameters(proteus.Module.get_function_address)) == ["name"]
    assert parameters(proteus.Kernel.launch) == {
        "grid": none,
        "block": none,
        "args": none,
        "shmem": 0,
        "stream": None,
    }


def test_text_and_whatever_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "add.cpp"
    file.write_text(CPP)
    monkeypatch.chdir(tmp_path)
    for source in (CPP, "add.cpp", str(file), file, CPP.encode()):
        module = proteus.compile(source, "cpp", "host", [], "clang", False)
        add = module.get_function("add", proteus.i32, (proteus.i32, proteus.i32))
        assert add(40, 2) == 42
    assert repr(add) == (
        "<proteus.Function name='add' restype=proteus.i32 argtypes=[proteus.i32, proteus.i32]>"
    )
    nothing = module.get_function("add", None, [])
    assert repr(nothing) == "<proteus.Function name='add' restype=None argtypes=[]>"


def test_names_of_the_package() -> None:
    types = [proteus.i8, proteus.i32, proteus.i64, proteus.u32, proteus.u64]
    types += [proteus.f32, proteus.f64, proteus.ptr]
    assert str(types) == (
        "[proteus.i8, proteus.i32, proteus.i64, proteus.u32, proteus.u64, proteus.f32, "
        "proteus.f64, proteus.ptr]"
    )
    for name in ("compile", "available_backends", "available_backend_variants", "__version__"):
        assert name in proteus.__all__
    with pytest.raises(AttributeError, match=r"^module 'proteus' has no attribute 'nothing'$"):
        proteus.nothing  # noqa: B018


def test_the_backend_of_a_process() -> None:
    assert python("-c", SHOW).stdout == "host host_llvm22\n"
    on_cpu_device = ("-m", "mneme", "run", "--device", "cpu", "--", sys.executable)
    assert python("-c", SHOW, start=on_cpu_device).stdout == "cuda cuda_llvm22\n"
    named = python("-c", SHOW, start=on_cpu_device, PROTEUS_BACKEND_KIND="host")
    assert named.stdout == "host host_llvm22\n"
    both = {"PROTEUS_BACKEND_VARIANT": "rocm_llvm22", "PROTEUS_BACKEND_KIND": "rocm"}
    assert python("-c", SHOW, **both).stdout == "rocm rocm_llvm22\n"
    for variables, asked in (
        ({"PROTEUS_BACKEND_KIND": "metal"}, "PROTEUS_BACKEND_KIND='metal'"),
        (
            {**both, "PROTEUS_BACKEND_KIND": "host"},
            "PROTEUS_BACKEND_VARIANT='rocm_llvm22' and PROTEUS_BACKEND_KIND='host'",
        ),
    ):
        refused = python("-c", SHOW, **variables)
        sentence = (
            f"ImportError: No Proteus backend is installed for {asked}; there are host_llvm22, "
        )
        assert sentence in refused.stderr


def test_an_installation_without_the_library_has_no_backend(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    named = {"MNEME_BUILD_DIR": str(tmp_path)}
    done = python("-c", f"import proteus; proteus.compile({CPP!r}, 'cpp')", **named)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: No Proteus backend is installed: ")
    assert "install the wheel" in last
