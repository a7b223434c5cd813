"""What a search can do with a recording whose code is an image without IR: change the launch."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from mneme.errors import InvalidArgument
from mneme.knobs import CODE_NUMBERS
from mneme.recording.configured import form_of_knobs
from mneme.recording.without_ir import form_text, refusal
from mneme.search.pass_choices import LEVELS

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import RecordedExecution
    from mneme.session.options import TuneOptions

__all__ = ["runs_as_loaded", "with_code_as_it_is"]

# Limits and levels of ptxas that are tried of PTX.
_REGISTERS: Final = "32:128:32"
_LEVELS: Final = "1:3"
# In per cent, of any code for GPUs.
_CARVEOUTS: Final = "25:100:25"
_ABOUT_CARVEOUTS: Final = ("shared_carveout_range", "fixed_shared_carveout")
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


_DEPLOYED: Final = "'mneme deploy' writes a file of it, which 'mneme run' applies"


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
    return "ptx" if "ptx" in llvms and record.images else form_of_knobs(record)


def _refuse_other_code(options: TuneOptions, record: RecordedExecution, form: str) -> None:
    """Refuse options that ask for what code of this form does not take.

    Raises:
        Unsupported: Naming the option.
    """
    possible = (*_ABOUT_PTX, *_ABOUT_CARVEOUTS) if form == "ptx" else _ABOUT_CARVEOUTS
    known = {one.name for one in fields(options)} - set(() if form == "cpu" else possible)
    for name in _ABOUT_CODE:
        if name in known and getattr(options, name) not in (None, "", (), []):
            raise refusal(record.told_name, form, f"--{name.replace('_', '-')}")


def _unchanged(options: TuneOptions, form: str) -> dict[str, Any]:
    """Return the options that leave code of this form as it is, and vary what it takes."""
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
    varied = {} if form == "cpu" else {"shared_carveout": _CARVEOUTS}
    if form == "ptx":
        varied |= {"max_registers": _REGISTERS, "codegen_opt": _LEVELS}
        del unchanged["launch_bounds_space"], unchanged["fixed_min_blocks_per_sm"]
    for name, values in varied.items():
        del unchanged[f"fixed_{name}"]
        given = (getattr(options, f"fixed_{name}"), getattr(options, f"{name}_range"))
        if given == (None, None):
            unchanged[f"{name}_range"] = values
    return unchanged


def _searched_of_code(form: str) -> list[str]:
    """Return what is searched besides grid and block."""
    if form == "ptx":
        return ["carve-outs", "limits of registers", "launch bounds", "what ptxas takes"]
    return [] if form == "cpu" else ["carve-outs of shared memory"]


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
            f"no file of tuned kernels is written here, since {record.producer} makes this kernel "
            f"while the program runs; {_DEPLOYED}"
        )
    if not form:
        return options, ""
    _refuse_other_code(options, record, form)
    unchanged = _unchanged(options, form)
    of_code = _searched_of_code(form)
    parts = of_code if record.producer else ["grid", "block", *of_code]
    searched = " and ".join((", ".join(parts[:-1]), parts[-1]))
    is_ptx = form == "ptx"
    if record.producer:
        return replace(options, **unchanged), (f"only {searched} are searched; {_DEPLOYED}")
    return replace(options, **unchanged), (
        f"only {searched} are searched: the code is {form_text(record.code_form)} without IR, "
        f"so pipelines{' and constants' if is_ptx else ', constants and launch bounds'} stay as "
        "they are; 'mneme deploy --launch' writes what was found for production runs"
    )
