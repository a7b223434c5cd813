"""What is possible with recordings whose code is an image without IR."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy_samples import OTHER_BLOCK, OTHER_GRID, best, config, facts
from mneme.code_texts import compiler_text
from mneme.deploy import DeployOptions, plan_deployment, write_deployment
from mneme.deploy.tuned_file import read_tuned_file
from mneme.deploy.tuned_kernels import make_variant
from mneme.deploy.tuned_variant import Match, TunedVariant
from mneme.errors import InvalidArgument, Unsupported
from mneme.mneme_types import ConfigurationChanges, ExperimentConfiguration
from mneme.optimize.bare_code import takes_other_code
from mneme.recording.configured import configured
from mneme.recording.recorded_execution import RecordedExecution
from mneme.search.launch_shapes import static_max_threads
from mneme.session.constant_arguments import with_deployable_dimensions
from mneme.session.options import TuneOptions
from mneme.session.without_ir import with_code_as_it_is
from native_parts import needs_native
from record_samples import record_data

PTXAS = Path(os.environ.get("CUDA_HOME", "/none"), "bin", "ptxas")


def _record(folder: Path, form: str) -> RecordedExecution:
    path = folder / "17.json"
    content = {**record_data("1"), "Modules": [f"RecordedCode_17.{form}"], "CodeForm": form}
    path.write_text(json.dumps(content))
    return RecordedExecution.from_json(path)


def _configured(record: RecordedExecution, **values: object) -> object:
    return configured(record, record.get("1"), ConfigurationChanges(values=values))


@pytest.mark.parametrize(("form", "told"), [("cubin", "a cubin"), ("fatbin", "a fat binary")])
def test_configurations_with_other_code_are_refused(tmp_path: Path, form: str, told: str) -> None:
    record = _record(tmp_path, form)
    assert record.get("1").code_form == form
    _configured(record, max_threads=256)
    for name, value in (
        *(("passes", "default<O1>"), ("specialize", True), ("codegen_opt", 1)),
        *(("max_registers", 32), ("llvm_options", "unroll-count=2"), ("set_launch_bounds", True)),
    ):
        with pytest.raises(Unsupported) as refused:
            _configured(record, **{name: value})
        assert f"'k' was recorded without IR (its code is {told}), which" in str(refused.value)
        assert f"a configuration with {name} needs" in str(refused.value)
    with pytest.raises(Unsupported, match="llvmlite modules"):
        record.link_llvm_modules()


def test_ptx_takes_what_ptxas_takes(tmp_path: Path) -> None:
    record = _record(tmp_path, "ptx")
    _configured(record, max_registers=32, codegen_opt=1, assembler_options="--fmad=false")
    with pytest.raises(Unsupported, match="launch bounds and options of ptxas can be"):
        _configured(record, passes="default<O1>")
    options, told = with_code_as_it_is(TuneOptions(), record)
    assert (
        "only grid, block, carve-outs, limits of registers, launch bounds and what ptxas takes are"
        in told
    )
    assert told.endswith("writes what was found for production runs")
    assert (options.codegen_opt_range, options.fixed_codegen_opt) == ("1:3", None)
    assert (options.max_registers_range, options.fixed_max_registers) == ("32:128:32", None)
    options, _ = with_code_as_it_is(TuneOptions(max_registers_range="16:32:16"), record)
    assert options.max_registers_range == "16:32:16"


@needs_native
def test_blocks_are_no_larger_than_code_allows(tmp_path: Path) -> None:
    record = _record(tmp_path, "ptx")
    instance = record.get("1")
    assert static_max_threads(instance) == 0  # no file
    code = tmp_path / f"RecordedCode_{instance.static_hash}.ptx"
    entry = f".visible .entry {instance.kernel_name}()\n.maxntid 64, 2\n{{ ret; }}\n"
    code.write_text(f".version 8.0\n.target sm_90\n.address_size 64\n{entry}")
    assert static_max_threads(instance) == 128


def test_ptx_takes_launch_bounds(tmp_path: Path) -> None:
    record = _record(tmp_path, "ptx")
    _configured(record, set_launch_bounds=True, max_threads=256, min_blocks_per_sm=2)
    options, _ = with_code_as_it_is(TuneOptions(), record)
    assert options.space_preset == "launch"
    assert options.launch_bounds_space is None  # the preset's: on and off
    assert options.fixed_min_blocks_per_sm is options.min_blocks_per_sm_range is None
    for given in (
        TuneOptions(launch_bounds_space="off"),
        TuneOptions(fixed_min_blocks_per_sm=3, max_threads_range="64:128:64"),
    ):
        kept, _ = with_code_as_it_is(given, record)
        assert kept.launch_bounds_space == given.launch_bounds_space
        assert kept.fixed_min_blocks_per_sm == given.fixed_min_blocks_per_sm
        assert kept.max_threads_range == given.max_threads_range


def test_searches_change_launches_only(tmp_path: Path) -> None:
    options, told = with_code_as_it_is(TuneOptions(), _record(tmp_path, "cubin"))
    assert "only grid, block and carve-outs of shared memory are searched: the code is a" in told
    assert options.shared_carveout_range == "25:100:25"
    _configured(_record(tmp_path, "cubin"), shared_carveout=50)
    kept, _ = with_code_as_it_is(TuneOptions(fixed_shared_carveout=50), _record(tmp_path, "fatbin"))
    assert (kept.fixed_shared_carveout, kept.shared_carveout_range) == (50, None)
    options, told = with_code_as_it_is(TuneOptions(), _record(tmp_path, "cpu"))
    assert "only grid and block are searched: the code is an image for the CPU" in told
    assert (options.fixed_shared_carveout, options.shared_carveout_range) == (0, None)
    with pytest.raises(Unsupported, match="--fixed-shared-carveout"):
        with_code_as_it_is(TuneOptions(fixed_shared_carveout=50), _record(tmp_path, "cpu"))
    options, _ = with_code_as_it_is(TuneOptions(), _record(tmp_path, "cubin"))
    assert (options.space_preset, options.fixed_passes) == ("launch", "default<O3>")
    assert options.specialize_space == options.launch_bounds_space == "off"
    for name, asked in (
        ("passes", TuneOptions(passes=("default<O1>",))),
        ("specialize-space", TuneOptions(specialize_space="on")),
        ("llvm-choices", TuneOptions(llvm_choices=("a=1,2",))),
        ("max-registers-range", TuneOptions(max_registers_range="16:32:16")),
        ("proteus-output", TuneOptions(proteus_output="tuned.json")),
    ):
        with pytest.raises(Unsupported, match=f"--{name}"):
            with_code_as_it_is(asked, _record(tmp_path, "cubin"))


def _of_triton(folder: Path) -> RecordedExecution:
    path = folder / "17.json"
    images = [
        {"Form": form, "File": f"RecordedCode_17.{form}", "Hash": "0"} for form in ("cubin", "ptx")
    ]
    options = {"opt_level": "3", "producer": "Triton 3.5.0"}
    content = {**record_data("1"), "Images": images, "Options": options}
    path.write_text(json.dumps(content))
    return RecordedExecution.from_json(path)


def test_searches_of_tritons_ir_leave_tuned_kernels_to_deploy(tmp_path: Path) -> None:
    record = _of_triton(tmp_path)
    assert record.images["ptx"] == str(tmp_path / "RecordedCode_17.ptx")
    options, told = with_code_as_it_is(TuneOptions(), record)
    assert (
        "since Triton 3.5.0 makes this kernel while the program runs; 'mneme deploy' writes" in told
    )
    assert (options.no_proteus_output, options.fixed_passes) == (True, None)
    options, told = with_deployable_dimensions(options, record)
    assert options.launch_dim == "none"
    assert told == "grid and block stay as they are: Triton 3.5.0 made the code for them"


def test_searches_of_tritons_ptx_are_those_of_ptx(tmp_path: Path) -> None:
    record = _of_triton(tmp_path)
    options, told = with_code_as_it_is(TuneOptions(llvm=("ptx",)), record)
    assert told.startswith(
        "only carve-outs, limits of registers, launch bounds and what ptxas takes are searched; '"
    )
    assert (options.fixed_passes, options.codegen_opt_range) == ("default<O3>", "1:3")
    with pytest.raises(InvalidArgument, match="has nothing to search"):
        with_code_as_it_is(TuneOptions(llvm=("recorded",)), record)
    assert compiler_text(["ptx"]) == "ptx"


def test_searches_with_ir_are_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "17.json"
    path.write_text(json.dumps(record_data("1")))
    options = TuneOptions()
    assert with_code_as_it_is(options, RecordedExecution.from_json(path)) == (options, "")


def test_results_without_ir_are_deployed_by_the_content_of_the_code(tmp_path: Path) -> None:
    arguments = [{"index": 0, "name": "#0", "type": "bytes", "bytes": "00" * 8, "pointers": [0]}]
    told = facts(code_form="cubin", args=[], members=[], values=arguments)
    (tmp_path / "best.json").write_text(json.dumps(best(facts=told)))
    plan = plan_deployment([tmp_path], DeployOptions(guards=("arch",), use_launch=True))
    (one,) = plan.deployed
    assert (one.static_hash, one.variant.code_form) == (told["static_hash"], "cubin")
    write_deployment(plan, tmp_path / "tuned.json")
    (entry,) = json.loads((tmp_path / "tuned.json").read_text()).values()
    assert list(entry) == ["Mneme"]  # nothing for other tools
    assert entry["Mneme"]["Version"] == 3
    (variant,) = entry["Mneme"]["Variants"]
    assert (variant["CodeForm"], variant["StaticHash"]) == ("cubin", told["static_hash"])
    assert "Pipeline" not in variant
    assert variant["Match"]["Args"][0]["Pointers"] == [0]
    (kernel,) = read_tuned_file(tmp_path / "tuned.json").values()
    (read,) = kernel.variants
    assert (read.code_form, read.static_hash) == ("cubin", told["static_hash"])
    assert (read.match, read.launch) == (one.variant.match, one.variant.launch)


PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z4walki(.param .u64 p) {
  .reg .b64 %rd<2>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [p];
  ld.global.f32 %f1, [%rd1];
  mul.rn.f32 %f2, %f1, %f1;
  st.global.f32 [%rd1], %f2;
  ret;
}
"""


def _found_of_ptx(folder: Path, **changes: Any) -> None:
    """Write the result of a search that found a level of ptxas."""
    record = _record(folder, "ptx")
    data = json.loads(record.path.read_text())
    data["KernelName"] = "_Z4walki"
    record.path.write_text(json.dumps(data))
    (folder / "RecordedCode_17.ptx").write_text(PTX)
    result = best(
        facts=facts(code_form="ptx", args=[], members=[], values=[]),
        config=config(block=OTHER_BLOCK, grid=OTHER_GRID, codegen_opt=2, max_registers=32),
        record={"record_database": str(record.path), "record_id": "1", "kernel_name": "_Z4walki"},
        device={"id": "cuda:0", "name": "GPU", "arch": "sm_90"},
        **changes,
    )
    (folder / "best.json").write_text(json.dumps(result))


def test_launch_bounds_of_ptx_are_deployed_as_they_were_measured(tmp_path: Path) -> None:
    found = {"block": OTHER_BLOCK, "grid": OTHER_GRID, "set_launch_bounds": True}
    for given, most in ((512, 512), (0, OTHER_BLOCK.volume)):
        chosen = config(**found, max_threads=given, min_blocks_per_sm=2)
        told = facts(code_form="ptx", args=[], members=[], values=[])
        (tmp_path / "best.json").write_text(json.dumps(best(facts=told, config=chosen)))
        plan = plan_deployment([tmp_path], DeployOptions(use_launch=True))
        assert not plan.deployed[0].note
        write_deployment(plan, tmp_path / "tuned.json")
        (entry,) = json.loads((tmp_path / "tuned.json").read_text()).values()
        (variant,) = entry["Mneme"]["Variants"]
        assert (variant["TunedMaxThreads"], variant["MinBlocksPerSM"]) == (most, 2)
        ((kernel,),) = (read_tuned_file(tmp_path / "tuned.json").values(),)
        assert kernel.variants[0].to_json() == variant
    del found["set_launch_bounds"]
    chosen = config(**found, max_threads=512, min_blocks_per_sm=2)
    (tmp_path / "best.json").write_text(json.dumps(best(facts=told, config=chosen)))
    (one,) = plan_deployment([tmp_path], DeployOptions(use_launch=True)).deployed
    assert "TunedMaxThreads" not in one.variant.to_json()


@needs_native
@pytest.mark.skipif(not PTXAS.with_name("fatbinary").is_file(), reason="no fatbinary of CUDA's")
def test_fat_binaries_take_what_their_ptx_takes(tmp_path: Path) -> None:
    record = _record(tmp_path, "fatbin")
    code = Path(record.llvm_files[0])
    (tmp_path / "k.ptx").write_text(PTX)
    made = [f"--create={code}", f"--image3=kind=ptx,sm=90,file={tmp_path / 'k.ptx'}"]
    subprocess.run([PTXAS.with_name("fatbinary"), "-64", *made], check=True, timeout=60)
    _configured(record, max_registers=32, set_launch_bounds=True)
    options, told = with_code_as_it_is(TuneOptions(), record)
    assert options.max_registers_range == "32:128:32"
    assert "are searched: the code is a fat binary without IR, so pipelines and constants" in told
    assert takes_other_code(record)
    bounds = {"set_launch_bounds": True, "max_threads": 64, "max_registers": 24}
    changed = json.dumps(ExperimentConfiguration(**bounds).to_dict())
    data = json.loads(record.path.read_text())
    record.path.write_text(json.dumps({**data, "KernelName": "_Z4walki"}))
    from mneme import _native  # noqa: PLC0415 - loads native code

    text = _native.RecordedCode(record.path).assembled("sm_90", changed)
    assert b"\n.maxnreg 24\n.maxntid 64" in text
    with pytest.raises(Unsupported, match="its code is a fat binary"):
        _native.RecordedCode(record.path).assembled("sm_80", changed)


@needs_native
@pytest.mark.skipif(not PTXAS.is_file(), reason="CUDA_HOME names no toolkit with ptxas")
def test_levels_of_ptxas_are_deployed_as_machine_code(tmp_path: Path) -> None:
    _found_of_ptx(tmp_path)
    options = DeployOptions(use_launch=True, guards=("none",))
    (one,) = plan_deployment([tmp_path], options).deployed
    assert one.variant.cubin[:4] == b"\x7fELF"
    assert one.variant.guards == ("Arch",)
    write_deployment(plan_deployment([tmp_path], options), tmp_path / "tuned.json")
    ((kernel,),) = (read_tuned_file(tmp_path / "tuned.json").values(),)
    (read,) = kernel.variants
    assert read.cubin == one.variant.cubin
    assert (read.max_registers, read.codegen_opt_level) == (32, 2)
    # What was measured is what is deployed, or nothing.
    from mneme import _native  # noqa: PLC0415 - loads native code

    measured = {"device": "cuda:0", "verified": True}
    right = _native.content_hash(one.variant.cubin)
    _found_of_ptx(tmp_path, result={**measured, "image_hash": right})
    assert plan_deployment([tmp_path], options).deployed
    _found_of_ptx(tmp_path, result={**measured, "image_hash": "0" * 32})
    assert "other code than the one" in plan_deployment([tmp_path], options).left_out[0].reason


def test_levels_of_ptxas_need_what_was_tuned(tmp_path: Path) -> None:
    result = best(facts=facts(code_form="ptx", args=[], members=[], values=[]))
    result["config"]["codegen_opt"] = 2
    (tmp_path / "best.json").write_text(json.dumps(result))
    (left,) = plan_deployment([tmp_path], DeployOptions(use_launch=True)).left_out
    assert left.reason.startswith("its levels and options of ptxas are not deployed: ")


def test_results_of_triton_are_deployed_if_they_say_what_the_program_loads(tmp_path: Path) -> None:
    def why_not(**told: Any) -> str:
        (tmp_path / "best.json").write_text(json.dumps(best(facts=facts(**told))))
        plan = plan_deployment([tmp_path])
        assert plan.deployed == []
        return plan.left_out[0].reason

    (tmp_path / "best.json").write_text(json.dumps(best()))
    assert len(plan_deployment([tmp_path]).deployed) == 1
    assert "from an earlier release: tune the kernel again" in why_not(producer="Triton 3.5.0")
    told = why_not(producer="Triton 3.5.0", image_form="cubin")
    assert told.startswith("what was found is not deployed: ")


def test_code_of_a_file_says_what_it_was_made_of() -> None:
    for llvm, form, pipeline in (
        ("", "cubin", "default<O1>"),
        ("ptx", "cubin", None),
        ("", "ptx", None),
    ):
        found = ExperimentConfiguration(passes="default<O1>", llvm=llvm)
        variant = make_variant(found, Match(arch="sm_90"))
        variant = replace(variant, code_form=form, cubin=b"\x7fELF")
        told = variant.to_json()
        assert (told.get("Pipeline"), told.get("Llvm", "")) == (pipeline, llvm)
        assert TunedVariant.from_json(told).to_json() == told


def test_constants_of_code_of_a_file_are_guarded() -> None:
    from mneme.deploy.loaded_code import _fixed  # noqa: PLC0415 - what follows needs it alone

    known = {"args": [{"index": 2, "name": "n"}, {"index": 3, "name": "a"}]}
    for changes, guards in (
        ({}, ()),
        ({"specialize": True}, ("Arg:2", "Arg:3")),
        ({"specialize": True, "specialized_args": "2"}, ("Arg:2",)),
        ({"specialize_dims": True, "set_launch_bounds": True}, ("Grid", "Block")),
        ({"set_launch_bounds": True}, ("Block",)),
    ):
        assert _fixed(known, ExperimentConfiguration(**changes)) == guards
