"""The code that a tuned-kernels file has in place of code that a program loads. Prints nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.errors import MnemeError
from mneme.measure.compile_record import CompileOptions, compile_record
from mneme.recording.recorded_execution import RecordedExecution
from mneme.recording.without_ir import COMPILERS_TEXTS

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.deploy.tuning_results import Choice, TuningResult
    from mneme.mneme_types import ExperimentConfiguration

__all__ = ["LoadedCode", "loaded_code"]

_USUAL_LEVEL = 3  # of ptxas, and of the driver


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCode:
    """Code of a file, or why there is none."""

    code: bytes = b""
    """Machine code, or PTX; empty: the program's own is used."""

    guards: tuple[str, ...] = ()
    """What has to be as in the launch that the code was made for."""

    processor: str = ""
    """A hash of the processor that the code is for, if that is the CPU device's."""

    reason: str = ""
    """Why nothing is deployed; empty if something is."""


def loaded_code(result: TuningResult, choice: Choice) -> LoadedCode:
    """Return what takes the place of the program's code, made again as it was measured.

    Machines of production runs need not have a compiler or ptxas, and other ones would make other
    code than the one that was measured.

    Args:
        result: What tuning found for a kernel whose code the program loads.
        choice: What is deployed, one of its configurations.
    """
    has_ir = not result.facts.get("code_form")
    config = choice.config
    if not has_ir and not config.assembler_options and config.codegen_opt == _USUAL_LEVEL:
        return LoadedCode()  # the driver compiles
    about = "what was found is" if has_ir else "its levels and options of ptxas are"
    about += " not deployed"
    if result.record is None or not result.match.arch:
        return LoadedCode(reason=f"{about}: the results do not say what was tuned, and on what GPU")
    if has_ir and (result.facts.get("image_form") == "cpu") != (result.match.arch == "cpu"):
        return LoadedCode(reason=f"{about}: it was tuned on another kind of device")
    try:
        make = _of_ir if has_ir else _of_ptx
        code = make(result.record, result, config)
    except MnemeError as error:
        return LoadedCode(reason=f"{about}: {error}")
    from mneme import _native  # noqa: PLC0415 - loads native code

    if choice.image_hash and _image_hash(code, config) != choice.image_hash:
        maker = "the compiler" if has_ir else "ptxas"
        return LoadedCode(
            reason=f"{about}: {maker} here makes other code than the one that was measured"
        )
    # Machine code is for one architecture.
    guards = ("Arch", *(_fixed(result.facts, config) if has_ir else ()))
    is_for_cpu = result.match.arch == "cpu"
    processor = _native.processor_hash() if is_for_cpu else ""
    return LoadedCode(code=code, guards=guards, processor=processor)


def _image_hash(code: bytes, config: ExperimentConfiguration) -> str:
    """Return what results call the code. As runtime/core/base/image_hash.h."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    carveout = config.shared_carveout
    return _native.content_hash(code + (b"shared_carveout=%d" % carveout if carveout else b""))


def _of_ptx(path: Path, result: TuningResult, config: ExperimentConfiguration) -> bytes:
    from mneme import _native  # noqa: PLC0415 - loads native code

    recorded = _native.RecordedCode(path)
    code: bytes = recorded.assembled(result.match.arch, json.dumps(config.to_dict()))
    return code


def _of_ir(path: Path, result: TuningResult, config: ExperimentConfiguration) -> bytes:
    """Return what is made of the IR, or of the PTX, of Triton's cache.

    Raises:
        MnemeError: If the record or a compiler is missing, or the code has device variables.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code
    from mneme.errors import Unsupported  # noqa: PLC0415 - rare

    if config.llvm == "ptx":
        return _of_ptx(path, result, config)
    record = RecordedExecution.from_json(path)
    arch = result.match.arch
    # "sm_90a" of code for a GPU of sm_90.
    target = record.arch if record.arch.startswith(arch) else arch
    code = _native.RecordedCode(path, result.record_id)
    _name, placed = code.recorded_target(target)
    if any(not name.startswith(COMPILERS_TEXTS) for name, _address in placed):
        raise Unsupported("the code has device variables, of which other code would have its own")
    return compile_record(
        path, result.record_id or None, CompileOptions.of(config, target=target)
    ).image


def _fixed(facts: dict[str, Any], config: ExperimentConfiguration) -> tuple[str, ...]:
    """Return guards for what the code has as constants: it is wrong for other launches."""
    names = {str(one["index"]): one["name"] for one in facts["args"]}
    names |= {str(one["path"]): one["name"] for one in facts.get("members", ())}
    guards = [f"Arg:{path}" for path in config.constants(names)]
    if config.specialize_dims:
        guards += ["Grid", "Block"]
    elif config.set_launch_bounds:
        guards.append("Block")
    return tuple(guards)
