"""The passes that an agent chooses from, and the pipelines they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mneme.errors import InvalidArgument
from mneme.pipelines.pipeline import PipelineManager

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DEFAULT_PASSES", "PassChoice"]

DEFAULT_PASSES: Final = (
    *("sroa", "mem2reg", "early-cse", "gvn", "newgvn", "instcombine", "aggressive-instcombine"),
    *("simplifycfg", "inline", "reassociate", "nary-reassociate", "sccp", "ipsccp", "globalopt"),
    *("loop-simplify", "lcssa", "loop-rotate", "licm", "indvars", "loop-unroll", "loop-deletion"),
    *("loop-idiom", "loop-vectorize", "slp-vectorizer", "vector-combine", "load-store-vectorizer"),
    *("infer-address-spaces", "separate-const-offset-from-gep", "slsr", "speculative-execution"),
    *("jump-threading", "correlated-propagation", "constraint-elimination", "tailcallelim"),
    *("memcpyopt", "dse", "adce", "bdce", "sink", "mldst-motion", "float2int"),
)
"""What most pipelines for GPUs are made of."""

# LLVM's pass that does nothing: there is no empty pipeline.
_NOTHING: Final = "no-op-module"


class PassChoice:
    """Passes by number."""

    def __init__(self, passes: Sequence[str]) -> None:
        """Look passes up.

        Args:
            passes: Names, with options where wanted: "simplifycfg<sink-common-insts>".

        Raises:
            InvalidArgument: If LLVM has no such pass, or there is none at all.
        """
        if not passes:
            raise InvalidArgument("there is no pass to choose from; name some, or leave passes out")
        self.names = tuple(passes)
        """As given."""
        self._manager = PipelineManager()
        self._known = [self._manager.from_string(name) for name in self.names]

    def pipeline(self, chosen: Sequence[int]) -> str:
        """Return the pipeline of passes, in the order in which they were chosen."""
        passes = [one for number in chosen for one in self._known[number]]
        return self._manager.to_string(passes) if passes else _NOTHING
