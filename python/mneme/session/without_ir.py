"""What a search can do with a recording whose code is an image without IR: change the launch."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from mneme.errors import InvalidArgument
from mneme.knobs import CODE_NUMBERS
from mneme.recording.without_ir import form_text, refusal
from mneme.search.pass_choices import LEVELS

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import RecordedExecution
    from mneme.session.options import TuneOptions

__all__ = ["runs_as_loaded", "with_code_as_it_is"]

# Limits and levels of ptxas that are tried of PTX.
_REGISTERS: Final = "32:128:32"
_LEVELS: Final = "1:3"
_ABOUT_PTX: Final = (
    *("fixed_max_registers", "max_registers_range", "codegen_opt_range", "fixed_codegen_opt"),
    *("assembler_options", "assembler_choices", "llvm"),
    *("launch_bounds_space", "min_blocks_per_sm_range", "fixed_min_blocks_per_sm"),
    "max_threads_range",
)
# Options that ask for other code.
_ABOUT_CODE: Final = (
    *("passes", "fixed_passes", "pipeline_file", "codegen_opt_range", "fixed_codegen_opt"),
    *("specialize_space", "specialized_args", "specialize_dims_space", "launch_bounds_space"),
    *("min_blocks_per_sm_range", "fixed_min_blocks_per_sm", "max_threads_range"),
    *("pass_plugins", "plugin_passes", "llvm", "llvm_options", "llvm_choices"),
    *("assembler_options", "assembler_choices", "proteus_output"),
    *(f"fixed_{one.key}" for one in CODE_NUMBERS),
    *(f"{one.key}_range" for one in CODE_NUMBERS),
)


_DEPLOYED: Final = "'mneme deploy' writes what was found for runs by 'mneme run'"


def runs_as_loaded(record: RecordedExecution, device: str) -> bool:
    """Whether the code that the program loaded is there beside its IR, and runs on a device.

    What another compiler makes of the IR is no measure of the program then.
    """
    form = record.loaded_form
    return bool(form) and (form == "cpu") == (device == "cpu")


def _form_searched(options: TuneOptions, record: RecordedExecution) -> str:
    """Return the form of the code to search, if it is not IR.

    Raises:
        InvalidArgument: If the code as the program ran it shall be searched besides IR.
        Unsupported: If there is no PTX.
    """
    llvms = tuple(options.llvm)
    if "recorded" in llvms and not record.code_form:
        raise InvalidArgument(
            "code as the program ran it has nothing to search; mneme compare --variant "
            "own='--llvm recorded' measures it beside other code"
        )
    return "ptx" if "ptx" in llvms and record.images else record.code_form


def with_code_as_it_is(options: TuneOptions, record: RecordedExecution) -> tuple[TuneOptions, str]:
    """Return options that change no code where there is no IR, and a message.

    Args:
        options: The requested options.
        record: The kernel's record.

    Returns:
        The options, and a message about them, which is empty if they are unchanged.

    Raises:
        Unsupported: If there is no IR and other code was asked for.
    """
    form = _form_searched(options, record)
    if not form and record.producer:
        return replace(options, no_proteus_output=True), (
            f"no file of tuned kernels is written here, since the program has {record.producer} "
            f"make this kernel; {_DEPLOYED}"
        )
    if not form:
        return options, ""
    known = {one.name for one in fields(options)}
    is_ptx = form == "ptx"
    for name in _ABOUT_CODE:
        is_possible = is_ptx and name in _ABOUT_PTX
        if name in known and not is_possible and getattr(options, name) not in (None, "", (), []):
            raise refusal(record.told_name, form, f"--{name.replace('_', '-')}")
    unchanged: dict[str, Any] = {
        "space_preset": "launch",
        "fixed_passes": LEVELS[0],
        "fixed_codegen_opt": 3,
        "specialize_space": "off",
        "specialize_dims_space": "off",
        "launch_bounds_space": "off",
        "fixed_min_blocks_per_sm": 1,
        "knowledge": False,
        "no_proteus_output": True,
        **{f"fixed_{one.key}": one.default for one in CODE_NUMBERS},
    }
    searched = "grid and block"
    if is_ptx:
        of_code = "limits of registers, launch bounds and what ptxas takes"
        searched = of_code if record.producer else f"grid, block, {of_code}"
        for name in (
            *("fixed_max_registers", "fixed_codegen_opt"),
            *("launch_bounds_space", "fixed_min_blocks_per_sm"),
        ):
            del unchanged[name]
        if options.fixed_codegen_opt is None and options.codegen_opt_range is None:
            unchanged["codegen_opt_range"] = _LEVELS
        if options.fixed_max_registers is None and options.max_registers_range is None:
            unchanged["max_registers_range"] = _REGISTERS
    if record.producer:
        return replace(options, **unchanged), (f"only {searched} are searched; {_DEPLOYED}")
    return replace(options, **unchanged), (
        f"only {searched} are searched: the code is {form_text(form)} without IR, "
        f"so pipelines{' and constants' if is_ptx else ', constants and launch bounds'} stay as "
        "they are; 'mneme deploy --launch' writes what was found for production runs"
    )
