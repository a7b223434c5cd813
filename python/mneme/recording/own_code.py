"""What the code of a recording tells of itself, where the program's own compiler made it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from mneme.machine_code import code_facts
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.without_ir import FORMS_OF_GPUS

if TYPE_CHECKING:
    from mneme.machine_code import CodeFacts
    from mneme.recording.recorded_execution import RecordedExecution

__all__ = ["own_code_facts"]


def own_code_facts(record: RecordedExecution) -> CodeFacts | None:
    """Return what the recorded PTX and machine code of GPUs tell; None if there is none.

    Raises:
        NotFound: If a file is missing, or the kernel in it.
        ArtifactCorrupt: If the code is damaged.
        Unsupported: If the code is for other GPUs than the one that it was recorded on.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    # As Configuration::llvm names code beside IR.
    forms = {"recorded": record.code_form or record.loaded_form}
    if "ptx" in record.images:
        forms["ptx"] = "ptx"
    code = None
    image, ptx = b"", ""
    for llvm, form in forms.items():
        if form in FORMS_OF_GPUS:
            code = code or _native.RecordedCode(record.path)
            asked = replace(ExperimentConfiguration(), llvm=llvm)
            told = code.described(record.arch, json.dumps(asked.to_dict()), assembles=False)
            image, ptx = image or told["image"], ptx or told["assembly"]
    return code_facts(record.kernel_name, image, ptx) if code else None
