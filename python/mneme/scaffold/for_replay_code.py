"""Prepares the template `replay-code`: code as the program's own compiler made it, and memory."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mneme.errors import InvalidArgument, Unsupported
from mneme.files.regular_file import read_bytes
from mneme.recording.recorded_execution import RecordedExecution
from mneme.recording.without_ir import form_text, refusal
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

_TEXTS: Final = {
    "cubin": "the kernel's machine code, as the program gave it to the driver",
    "fatbin": "the fat binary with the kernel, as the program gave it to the driver",
    "ptx": "the kernel's PTX, as the program gave it to the driver",
}
_OF_PTX: Final = (
    *("assembler_options", "codegen_opt", "target", "max_threads", "max_registers"),
    "min_blocks_per_sm",
)
# As runtime/core/embed/jit_options.cpp writes it.
_JIT_LINE: Final = re.compile(rb"// options of the driver's compiler:((?: \d+=\d+)+)\n")
_JIT_REGISTERS, _JIT_LEVEL, _JIT_TARGET = 0, 7, 9
_PTX_TARGET: Final = re.compile(rb"^\.target (sm_\d+[a-z]?)", re.MULTILINE)
_USUAL_LEVEL = 3


def prepare(request: ScaffoldRequest, recording: Mapping[str, Any] | None) -> Additions:
    """Return the files of a recorded launch and the values for the templates.

    Raises:
        InvalidArgument: If a parameter is invalid, or there is more memory than allowed.
        Unsupported: If the code runs on no NVIDIA GPU, or does not take what was asked for.
        NotFound, ArtifactCorrupt: As for reading the recording.
    """
    if recording is None:
        raise InvalidArgument("template replay-code is fitted to a recording; name one with -rdb")
    options = parameter_values(request)
    record = RecordedExecution.from_json(Path(recording["record_database"]))
    form, path = _chosen_code(record, str(options["llvm"]))
    changed = [one for one in _OF_PTX if options[one] != _usual(request, one)]
    if form != "ptx" and changed:
        raise refusal(record.told_name, form, f"--{changed[0].replace('_', '-')}")
    if options["min_blocks_per_sm"] and not options["max_threads"]:
        raise InvalidArgument("--min-blocks-per-sm needs --max-threads")
    code = read_bytes(path)
    if form == "ptx":
        code = _with_limits(record, recording, options).rstrip(b"\0")
    instance = record.get(recording["record_id"])
    before, after = snapshots_of(instance, int(options["max_mebibytes"]))
    regions, files = memory_of(before, after)
    variables = _variables_of(path)
    for region in regions:
        region["is_in_image"] = region["kind"] == "global" and region["name"] in variables
    jit = _jit_options(code) if form == "ptx" else []
    by_ptxas = bool(options["assembler_options"]) or options["codegen_opt"] != _USUAL_LEVEL
    beyond_ptxas = _beyond_ptxas(record, jit, is_refused=by_ptxas)
    name = f"code.{form}"
    replay = {
        **launch_context(before, recording, record, int(options["shared_carveout"])),
        "form": form,
        "code": name,
        "image": "kernel.cubin" if by_ptxas else name,
        "code_text": _TEXTS[form]
        + (", with other limits" if {"max_threads", "max_registers"} & set(changed) else ""),
        "is_ptx": form == "ptx",
        "by_ptxas": by_ptxas,
        "beyond_ptxas": beyond_ptxas,
        "jit": jit,
        "target": _target(options, recording, code if form == "ptx" else b""),
        "regions": regions,
        "written": sum(len(content) for content in files.values()),
    }
    files[name] = code
    if form == "ptx":
        files["ptxas.rsp"] = _ptxas_options(options, replay["target"], dict(jit)).encode()
    return Additions(context={"replay": replay}, files=files)


def _usual(request: ScaffoldRequest, name: str) -> object:
    (usual,) = (one.default for one in request.template.parameters if one.name == name)
    return usual


def _chosen_code(record: RecordedExecution, llvm: str) -> tuple[str, str]:
    """Return the form of the code to run, and its file.

    Raises:
        Unsupported: If there is none, or none that a driver of NVIDIA's takes.
    """
    if record.code_form and (llvm != "ptx" or record.code_form == "ptx"):
        form, path = record.code_form, record.llvm_files[0]
    else:
        wanted = [one for one in record.images if (one == "ptx") == (llvm == "ptx")]
        if not wanted and record.code_form:
            raise Unsupported(
                f"kernel '{record.told_name}' was recorded without PTX: its code is "
                f"{form_text(record.code_form)}; leave --llvm out"
            )
        if not wanted:
            what = "PTX" if llvm == "ptx" else "the code that its program ran"
            raise Unsupported(
                f"kernel '{record.told_name}' was recorded without {what}; template replay takes "
                "its IR, without --llvm"
            )
        form, path = wanted[0], record.images[wanted[0]]
    if form not in _TEXTS:
        raise Unsupported(
            f"kernel '{record.told_name}' was recorded without IR (its code is {form_text(form)}), "
            "and the reproducer runs on NVIDIA GPUs only"
        )
    return form, path


def _with_limits(
    record: RecordedExecution, recording: Mapping[str, Any], options: Mapping[str, Any]
) -> bytes:
    """Return the PTX, as a replay with these limits has it."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    configuration = {
        "grid": recording["grid"],
        "block": recording["block"],
        "set_launch_bounds": bool(options["max_threads"]),
        "max_threads": options["max_threads"],
        "min_blocks_per_sm": options["min_blocks_per_sm"],
        "max_registers": options["max_registers"],
        "llvm": "" if record.code_form else "ptx",
    }
    code = _native.RecordedCode(record.path)
    return code.assembled(recording["arch"] or "sm_90", json.dumps(configuration))


def _variables_of(path: str) -> set[str]:
    from mneme import _native  # noqa: PLC0415 - loads native code

    members = _native.describe_device_code(Path(path))
    return {name for one in members for name, _, _ in one["variables"]}


def _jit_options(code: bytes) -> list[tuple[int, int]]:
    """Return the options by which the program had its driver compile PTX."""
    line = _JIT_LINE.match(code)
    pairs = line[1].split() if line else []
    return [
        (int(number), int(value)) for number, _, value in (one.partition(b"=") for one in pairs)
    ]


def _beyond_ptxas(
    record: RecordedExecution, jit: list[tuple[int, int]], *, is_refused: bool
) -> str:
    """Return the program's options for its driver that ptxas does not have: "11=1 14=1".

    Raises:
        Unsupported: If there are some and ptxas is to make the code, as for replays.
    """
    known = (_JIT_REGISTERS, _JIT_LEVEL, _JIT_TARGET)
    others = [f"{number}={value}" for number, value in jit if number not in known]
    if others and is_refused:
        raise Unsupported(
            f"kernel '{record.told_name}': the program gives the driver's compiler an option "
            f"({others[0].partition('=')[0]} of CUjit_option) that ptxas does not take"
        )
    return " ".join(others)


def _target(options: Mapping[str, Any], recording: Mapping[str, Any], ptx: bytes) -> str:
    """Return the architecture; that of PTX has its features if it is the recorded one."""
    name = str(options["target"]) or str(recording["arch"])
    if not ptx:
        return name
    if not re.fullmatch(r"sm_\d+[a-z]?", name, re.ASCII):
        raise InvalidArgument(f"--target is '{name}'; the reproducer needs sm_NN")
    found = _PTX_TARGET.search(ptx)
    told = found[1].decode() if found else ""
    return told if told[:-1] == name and told[-1].isalpha() else name


def _ptxas_options(options: Mapping[str, Any], target: str, jit: Mapping[int, int]) -> str:
    """Return the options of ptxas; the program's own count where there are no others."""
    level = options["codegen_opt"]
    if level == _USUAL_LEVEL:
        level = jit.get(_JIT_LEVEL, level)
    words = [f"-arch={target}", f"-O{level}"]
    if (limit := jit.get(_JIT_REGISTERS)) and not options["max_registers"]:
        words.append(f"--maxrregcount={limit}")
    return " ".join([*words, *options_of_ptxas(str(options["assembler_options"]))]) + "\n"
