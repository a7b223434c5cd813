"""PTX and machine code of NVIDIA GPUs as data: what instructions a kernel has, what it uses."""

from __future__ import annotations

from mneme.machine_code.facts import CodeFacts, PtxFacts, Resources, code_facts

__all__ = ["CodeFacts", "PtxFacts", "Resources", "code_facts"]
