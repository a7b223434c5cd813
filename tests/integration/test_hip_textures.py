"""Textures and surfaces of HIP programs on the CPU device: run, recorded and replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conftest import mneme, replay_all
from test_hip import APPS, build, hip  # noqa: F401 - skips where there is no HIP

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.hip, pytest.mark.compile]


@pytest.mark.parametrize("gpu", ["gfx90a", "gfx1030"])
def test_textures_are_read_and_surfaces_written(gpu: str, tmp_path: Path) -> None:
    program = tmp_path / "textures"
    build(APPS / "textures.hip", "-o", program, "-lamdhip64", gpu=gpu)
    done = mneme("run", "--device", "cpu", "--", program)
    assert (done.stdout, done.returncode) == ("0 broken promises\n", 0), done.stdout + done.stderr
    done = mneme("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", program)
    assert done.stdout == "0 broken promises\n", done.stdout + done.stderr
    assert "not recorded" not in done.stderr
    replayed = replay_all(tmp_path / "db")
    assert [one for one in replayed if one.result_class != "exact"] == []
    assert len(replayed) >= 10


def test_what_the_device_has_not_is_named(tmp_path: Path) -> None:
    source = tmp_path / "levels.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        "__global__ void read(hipTextureObject_t texture, float* out) {\n"
        "  *out = texCubemap<float>(texture, 1, 0, 0);\n"
        "}\n"
        "int main() {\n"
        "  read<<<1, 1>>>(nullptr, nullptr);\n"
        "  return hipGetLastError() != hipErrorNotSupported;\n"
        "}\n"
    )
    build(source, "-o", tmp_path / "levels", "-lamdhip64")
    done = mneme("run", "--device", "cpu", "--", tmp_path / "levels")
    assert done.returncode == 0, done.stderr
    assert "(in function '__ockl_image_sample_CM')" in done.stderr
