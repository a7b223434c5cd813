"""`mneme compile --code-object-version`: kernels read launch dimensions where that version has them."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, instances, mneme, records, run_command

from mneme import _native
from mneme.errors import Unsupported
from mneme.measure.compile_record import CompileOptions, compile_record

pytestmark = [pytest.mark.hip, pytest.mark.compile]

# EI_ABIVERSION of each version (LLVM, User Guide for AMDGPU Backend, "ELF Code Object").
ABI = {4: 2, 5: 3, 6: 4}


def _recorded(folder: Path, example: str, *, built_for: int) -> Path:
    program = folder / example
    done = run_command(
        *(BUILD / "bin" / "mneme-cxx", "-std=c++20", "-O2", "-x", "hip", "--offload-arch=gfx90a"),
        *(f"-mcode-object-version={built_for}", f"-I{ROOT / 'examples' / 'hip'}"),
        *(ROOT / "examples" / example / f"{example}.cu", "-o", program, "-lamdhip64"),
    )
    if "no HIP" in done.stderr or "hip/hip_runtime.h" in done.stderr:
        pytest.skip("no HIP headers: install libamdhip64-dev and rocm-device-libs, or ROCm")
    assert done.returncode == 0, done.stderr
    database = folder / "db"
    assert "PASSED" in mneme("record", "-rdb", database, "--device", "cpu", "--", program).stdout
    (record,) = records(database)
    return record


@pytest.mark.parametrize("example", ["heat3d", "stencil2d", "nbody"])
@pytest.mark.parametrize("built_for", [4, 5])
def test_code_of_every_version_computes_the_same(
    example: str, built_for: int, tmp_path: Path
) -> None:
    record = _recorded(tmp_path, example, built_for=built_for)
    record_id = next(iter(instances(record)))
    for version, abi in ABI.items():
        options = CompileOptions(
            target="gfx90a",
            passes="default<O1>",
            code_object_version=version,
            want_ir=True,
            use_cache=False,
        )
        compiled = compile_record(record, record_id, options)
        assert compiled.image[8] == abi
        # The CPU device gives each version its own layout: a read from another place is a wrong result.
        with closing(_native.ReplaySession(str(record), record_id, "cpu")) as session:
            configuration = {**json.loads(session.recorded()), "passes": "default<O2>"}
            configuration["max_threads"] = 0
            options_json = '{"iterations": 1, "warmup": 0}'
            text, _, _ = session.run(json.dumps(configuration), options_json, compiled.ir.encode())
        result = json.loads(text)
        assert result["verified"], (version, result)


def test_version_is_an_option_of_the_command(tmp_path: Path) -> None:
    record = _recorded(tmp_path, "vector_add", built_for=5)
    image = tmp_path / "image"
    line = ("compile", record, "--arch", "gfx942", "--code-object-version")
    assert mneme(*line, "6", "-o", image).returncode == 0
    assert image.read_bytes()[8] == ABI[6]
    assert mneme(*line, "3").returncode != 0
    with pytest.raises(Unsupported, match="needs code objects of version 6, not 5"):
        compile_record(record, options=CompileOptions(target="gfx9-generic"))
