"""What a search can do with a recording whose code is an image without IR: change the launch."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from mneme.knobs import CODE_NUMBERS
from mneme.recording.without_ir import form_text
from mneme.search.pass_choices import LEVELS

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import RecordedExecution
    from mneme.session.options import TuneOptions

__all__ = ["with_code_as_it_is"]

# Limits that are tried of PTX.
_REGISTERS: Final = "32:128:32"
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
    if not record.code_form:
        return options, ""
    known = {one.name for one in fields(options)}
    is_ptx = record.code_form == "ptx"
    for name in _ABOUT_CODE:
        is_possible = is_ptx and name in ("fixed_max_registers", "max_registers_range")
        if name in known and not is_possible and getattr(options, name) not in (None, "", (), []):
            record.require_ir(f"--{name.replace('_', '-')}")
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
        searched = "grid, block and limits of registers"
        del unchanged["fixed_max_registers"]
        if options.fixed_max_registers is None and options.max_registers_range is None:
            unchanged["max_registers_range"] = _REGISTERS
    return replace(options, **unchanged), (
        f"only {searched} are searched: the code is {form_text(record.code_form)} without IR, "
        "so pipelines, constants and launch bounds stay as they are, and no file of tuned kernels "
        "is written"
    )
