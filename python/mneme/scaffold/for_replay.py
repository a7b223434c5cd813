"""Prepares the template `replay`: the kernel's IR, and memory before and after."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.code_texts import plugin_files
from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.pipelines.structurizing import with_what_structurizecfg_needs
from mneme.pipelines.unrolling import split_behind_unrolling
from mneme.recording.recorded_execution import RecordedExecution
from mneme.scaffold.rendering import Additions
from mneme.scaffold.reproducer import (
    launch_context,
    memory_of,
    options_of_ptxas,
    parameter_values,
    snapshots_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.scaffold.rendering import ScaffoldRequest

__all__ = ["prepare"]

_BISECTION = "mneme-opt-bisect<"
# What a wheel's LLVM says.
_LOADS_NO_PLUGINS = "this kernel compiler cannot load pass plugins"


def prepare(request: ScaffoldRequest, recording: Mapping[str, Any] | None) -> Additions:
    """Return the files of a recorded launch and the values for the templates.

    Raises:
        InvalidArgument: If a parameter is invalid, or there is more memory than allowed.
        NotFound, ArtifactCorrupt, CompileFailed: As for reading and compiling the recording.
    """
    if recording is None:
        raise InvalidArgument("template replay is fitted to a recording; name one with -rdb")
    options = parameter_values(request)
    record = RecordedExecution.from_json(Path(recording["record_database"]))
    instance = record.get(recording["record_id"])
    before, after = snapshots_of(instance, int(options["max_mebibytes"]))
    regions, files = memory_of(before, after)
    plugin = plugin_files([str(options["pass_plugin"])] if options["pass_plugin"] else [])
    marks, passes = _split_passes(str(options["passes"]), plugin)
    code = _code(record.path, recording, {**options, "plugins": plugin}, marks)
    files["kernel.ll"] = code.pop("ir")
    if plugin:
        files["plugin.so"] = Path(str(options["pass_plugin"])).read_bytes()
    for region in regions:
        region["is_in_image"] = region["is_constant"] and _has(files["kernel.ll"], region["name"])
    replay = {
        **code,
        "passes": passes or "verify",
        "has_run": marks.startswith(_BISECTION),
        **_options_of_tools(options, plugin),
        "fp_contract": "fast" if _contracts(record) else "on",
        **launch_context(before, recording, record, int(options["shared_carveout"])),
        "image": "kernel.cubin",
        "jit": [],
        "regions": regions,
        "written": sum(len(content) for name, content in files.items() if "memory" in name),
    }
    return Additions(context={"replay": replay}, files=files)


def _contracts(record: RecordedExecution) -> bool:
    options = record.extras.get("Options")
    return isinstance(options, dict) and options.get("fp_contract") == "fast"


def _has(ir: bytes, variable: str) -> bool:
    """Return whether the image has a variable; one reached only by pointers is plain memory."""
    return any(f"\n@{name} = ".encode() in ir for name in (variable, f'"{variable}"'))


def _options_of_tools(options: Mapping[str, Any], plugin: str) -> dict[str, list[str]]:
    """Return the options of opt, llc and ptxas; those of a plugin are for opt, which loads it."""
    llvm = [f"-{one.lstrip('-')}" for one in str(options["llvm_options"]).split()]
    _check("", plugin, " ".join(llvm))
    return {
        "opt_options": llvm,
        "llc_options": [one for one in llvm if not plugin or _is_of_llvm(one)],
        "ptxas_options": options_of_ptxas(str(options["assembler_options"])),
    }


def _is_of_llvm(option: str) -> bool:
    from mneme import _native  # noqa: PLC0415 - loads native code

    try:
        _native.check_passes("", "", option)
    except InvalidArgument:
        return False
    return True


def _check(pipeline: str, plugin: str, llvm_options: str = "") -> None:
    """Check passes and options; those of a plugin that our LLVM cannot load are left to `opt`."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    try:
        _native.check_passes(pipeline, plugin, llvm_options)
    except BackendUnavailable as error:
        if _LOADS_NO_PLUGINS not in str(error):
            raise


def _split_passes(pipeline: str, plugin: str) -> tuple[str, str]:
    """Return the pipeline to run on `kernel.ll` here, and the pipeline for LLVM's own tools.

    LLVM's tools do not have the pass that marks loops, but they obey the marks. So this pass, and
    the passes before it, run here. A pipeline of which only some passes run does so as a whole:
    LLVM's tools count other runs.
    """
    if pipeline.strip().startswith(_BISECTION):
        _check(pipeline, plugin)
        return pipeline.strip(), ""
    _check(pipeline, plugin)
    marks, rest = split_behind_unrolling(pipeline)
    if "mneme-unroll" in rest:
        raise InvalidArgument(
            f"--passes is '{pipeline}'; the reproducer takes function(mneme-unroll<N>) alone only"
        )
    return marks, with_what_structurizecfg_needs(rest.strip())


def _of_plugins(options: Mapping[str, Any], marks: str) -> dict[str, str]:
    """Return what of a configuration passes of plugins need, where they run here."""
    if not marks.startswith(_BISECTION):
        return {}
    return {"pass_plugins": options["plugins"], "llvm_options": str(options["llvm_options"])}


def _code(
    record: Path, recording: Mapping[str, Any], options: Mapping[str, Any], marks: str
) -> dict[str, Any]:
    """Return the kernel's IR before the pipeline, and the options to compile it with."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    name = str(options["target"]) or recording["arch"]
    if not re.fullmatch(r"sm_\d+[a-z]?", name, re.ASCII):
        raise InvalidArgument(f"--target is '{name}'; the reproducer needs sm_NN")
    code = _native.RecordedCode(record, recording["record_id"])
    configuration = {
        "grid": recording["grid"],
        "block": recording["block"],
        "shared_mem": recording["shared_mem"],
        "specialize": options["specialize"],
        "specialize_dims": options["specialize_dims"],
        "set_launch_bounds": bool(options["max_threads"]),
        "max_threads": options["max_threads"],
        "min_blocks_per_sm": options["min_blocks_per_sm"],
        "passes": marks,
        **_of_plugins(options, marks),
        "codegen_opt": options["codegen_opt"],
        "prune": True,
        "internalize": True,
    }
    compiled = code.compile(
        json.dumps(configuration), code.recorded_target(name), json.dumps({"want_ir": True})
    )
    statistics = json.loads(compiled["statistics"])
    version = str(json.loads(_native.compiler_version())["llvm"])
    return {
        "ir": compiled["ir"].encode(),
        "target": name,
        "ptx": statistics["ptx_version"].replace(".", ""),
        "llvm": version,
        "llvm_major": version.split(".", 1)[0],
    }
