"""What the passes that searches draw must not do to a kernel."""

from __future__ import annotations

from pathlib import Path

from mneme.measure.compile_record import CompileOptions, compile_record
from mneme.pipelines.pipeline import PipelineManager
from mneme.recording.records import find_instance
from tune_parts import recording

__all__ = ["recording"]


def test_no_drawn_pass_takes_what_a_plain_pointer_shows_for_constant(recording: Path) -> None:
    record, launch = find_instance(recording, None)
    manager = PipelineManager()
    drawn = [manager.to_string([one.variants()[0]]) for one in manager.get_passes()]
    wrong = [
        passes
        for passes in drawn
        # Arguments without __restrict__ may overlap: the read-only cache may not be asked.
        if "ld.global.nc" in compile_record(record, launch, options(f"{passes},{LAST}")).assembly
    ]
    assert len(drawn) > 50
    assert not wrong
    assert "ld.global" in compile_record(record, launch, options(LAST)).assembly


LAST = "default<O1>"


def options(passes: str) -> CompileOptions:
    return CompileOptions(target="sm_90", passes=passes, want_assembly=True)
