"""What `mneme doctor` says of a node with AMD GPUs, from file trees like theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mneme.install.amd_node import amd_parts

# As amdkfd of a node with two MI250X (four GPUs) shows it; node 0 is the processor.
TARGETS = {0: 0, 1: 90010, 2: 90010, 3: 90010, 4: 90010}


def node(root: Path, targets: dict[int, int], *, has_driver: bool = True) -> None:
    for number, target in targets.items():
        folder = root / f"sys/class/kfd/kfd/topology/nodes/{number}"
        folder.mkdir(parents=True)
        (folder / "properties").write_text(f"simd_count 440\ngfx_target_version {target}\nlds 64\n")
    if has_driver:
        (root / "dev").mkdir()
        (root / "dev/kfd").touch()


def rocm(folder: Path) -> None:
    for file in (
        "include/hip/hip_version.h",
        "lib/libamdhip64.so.6",
        "lib/librocprofiler-sdk.so.0",
        "amdgcn/bitcode/oclc_isa_version_90a.bc",
        "amdgcn/bitcode/oclc_isa_version_942.bc",
    ):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    header = "#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 3\n"
    (folder / "include/hip/hip_version.h").write_text(header)


def told(root: Path, **environment: str) -> dict[str, tuple[str, str]]:
    return {one.name: (one.detail, one.remedy) for one in amd_parts(root, environment, "22")}


def test_a_complete_node(tmp_path: Path) -> None:
    node(tmp_path, TARGETS)
    rocm(tmp_path / "opt/rocm")
    found = told(tmp_path)
    assert found["AMD GPUs"] == ("4 x gfx90a", "")
    assert found["ROCm"] == (f"HIP 6.3, {tmp_path}/opt/rocm", "")
    assert found["HIP runtime"] == (f"{tmp_path}/opt/rocm/lib/libamdhip64.so.6", "")
    assert found["times of kernels"][0].endswith("/opt/rocm/lib/librocprofiler-sdk.so.0")
    libraries = f"for 2 processors, {tmp_path}/opt/rocm/amdgcn/bitcode"
    assert found["device libraries"] == (libraries, "")
    assert "ROCm's clang" not in found


def test_rocms_clang_is_told_not_to_be_the_one(tmp_path: Path) -> None:
    rocm(tmp_path / "opt/rocm")
    (tmp_path / "opt/rocm/lib/llvm/lib/clang/19").mkdir(parents=True)
    told_of = "19, not for mneme's passes: clang 22 compiles for this ROCm"
    assert told(tmp_path)["ROCm's clang"] == (told_of, "")


@pytest.mark.parametrize(
    ("target", "arch"),
    [(90402, "gfx942"), (90500, "gfx950"), (100300, "gfx1030"), (110000, "gfx1100"),
     (120001, "gfx1201"), (90008, "gfx908")],
)  # fmt: skip
def test_names_of_processors(target: int, arch: str, tmp_path: Path) -> None:
    node(tmp_path, {1: target})
    assert told(tmp_path)["AMD GPUs"][0] == f"1 x {arch}"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    node(tmp_path, TARGETS)
    found = told(tmp_path)
    assert "ROCM_PATH" in found["ROCm"][1]
    elsewhere = tmp_path / "modules/rocm-6.3"
    rocm(elsewhere)
    (elsewhere / "lib/libamdhip64.so.6").unlink()
    (elsewhere / "lib/librocprofiler-sdk.so.0").unlink()
    (elsewhere / "amdgcn/bitcode").rename(elsewhere / "gone")
    found = told(tmp_path, ROCM_PATH=str(elsewhere))
    assert found["ROCm"] == (f"HIP 6.3, {elsewhere}", "")
    assert found["HIP runtime"][0] == f"no libamdhip64.so in {elsewhere}"
    assert "rocm-device-libs" in found["device libraries"][1]
    assert found["times of kernels"][0] == f"no librocprofiler-sdk.so in {elsewhere}"
    assert "ROCm 6.2 or newer" in found["times of kernels"][1]


def test_a_login_node_has_rocm_and_no_gpu(tmp_path: Path) -> None:
    rocm(tmp_path / "opt/rocm")
    found = told(tmp_path)
    assert found["AMD GPUs"] == ("no /dev/kfd", "install the driver amdgpu")
    assert found["ROCm"][1] == ""


def test_other_nodes_are_told_nothing(tmp_path: Path) -> None:
    assert told(tmp_path) == {}
