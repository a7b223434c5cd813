"""Programs of the CUDA driver API are linked: with the toolkit's stub, or with what mneme has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from cmake_parts import HERE, added, build, configure, recorded_kernels, run_command

pytest_plugins = ["cmake_fixtures"]
pytestmark = pytest.mark.compile


@pytest.mark.parametrize(
    ("where", "order"),
    [
        ("build_tree", "toolkit_first"),
        ("moved_prefix", "mneme_first"),
        ("moved_prefix", "no_toolkit"),
        ("build_tree", "own_target"),
    ],
)
def test_target_of_the_driver_is_there(
    where: str, order: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    prefix: Path = request.getfixturevalue(where)
    configured = configure(HERE / "driver", tmp_path / "build", prefix, f"-DORDER={order}")
    assert configured.returncode == 0, configured.words
    build(tmp_path / "build")
    program = tmp_path / "build" / "program" / "app"
    dynamic = run_command("readelf", "-d", program).stdout
    assert ("[libcuda.so.1]" in dynamic) == (order != "own_target")
    assert "libmneme_cuda_driver" not in dynamic
    assert recorded_kernels(prefix, program, tmp_path / "db") == {"fill"}


@pytest.fixture
def toolkit(tmp_path: Path) -> Path:
    """The toolkit, in another place and without a stub."""
    root = tmp_path / "toolkit"
    shutil.copytree(
        os.environ["CUDA_HOME"], root, copy_function=os.symlink, ignore=lambda *_: ["stubs"]
    )
    return root


@pytest.mark.parametrize("folder", ["lib", "lib64"])
def test_stub_of_the_toolkit_is_preferred(
    build_tree: Path, told: Path, toolkit: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_HOME", str(toolkit))
    ours = f"-L{build_tree}/lib/driver_stubs"
    assert ours in added(build_tree, told, "a.o", "-lcuda", tool="mneme-clang++")
    stubs = toolkit / folder / "stubs"
    stubs.mkdir(parents=True)
    (stubs / "libcuda.so").touch()
    flags = added(build_tree, told, "a.o", "-lcuda", tool="mneme-clang++")
    assert f"-L{stubs}" in flags
    assert ours not in flags
    # Only who links the driver gets either.
    for others in (["-c", "a.cpp"], ["a.o", "-lcudart"], ["-r", "a.o", "-lcuda"]):
        assert not any("stubs" in flag for flag in added(build_tree, told, *others))


@pytest.mark.parametrize("linker", ["bfd", "lld"])
@pytest.mark.parametrize("tool", ["mneme-clang++", "mneme-cxx"])
def test_driver_is_linked_without_a_stub(
    moved_prefix: Path, toolkit: Path, tmp_path: Path, tool: str, linker: str
) -> None:
    source = tmp_path / "main.cpp"
    source.write_text("#include <cuda.h>\nint main() { return cuInit(0); }\n")
    done = run_command(
        *(moved_prefix / "bin" / tool, source, "-isystem", toolkit / "include"),
        *("-o", tmp_path / "app", "-lcuda", f"-fuse-ld={linker}"),
        CUDA_HOME=str(toolkit),
    )
    assert (done.returncode, done.stderr) == (0, "")
    dynamic = run_command("readelf", "-d", tmp_path / "app").stdout
    assert "[libcuda.so.1]" in dynamic
    assert "mneme_cuda_driver" not in dynamic
    assert "stubs" not in dynamic
