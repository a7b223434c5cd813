"""Facts about LLVM's passes beyond what LLVM itself reports: data only.

Passes that are not named here, for instance of a newer LLVM, are drawn like any other; one that
crashes fails only its configuration.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "EXCLUSIVE_OPTIONS",
    "LEFT_OUT",
    "LEFT_OUT_PREFIXES",
    "MEMORY_SSA_PASSES",
    "NEEDED_OPTIONS",
    "OPTION_VALUES",
]

MEMORY_SSA_PASSES: Final = frozenset(
    (
        *("licm", "lnicm", "loop-instsimplify", "loop-rotate", "loop-simplifycfg"),
        "simple-loop-unswitch",
    )
)
"""Loop passes for `loop-mssa(..)`: the first two require MemorySSA, all preserve it. Others must
not be in there, because LLVM aborts on a pass that does not preserve it."""

NEEDED_OPTIONS: Final = {
    # Without this, instcombine ends the process if one iteration does not reach a fixpoint.
    "instcombine": ("no-verify-fixpoint",),
}
"""Options that a pass always gets."""

OPTION_VALUES: Final = {
    ("instcombine", "max-iterations"): (1, 2, 4),
    ("loop-unroll", "full-unroll-max"): (2, 4, 8, 16, 32),
    ("scalarizer", "min-bits"): (16, 32, 64),
    ("simplifycfg", "bonus-inst-threshold"): (1, 2, 4, 8),
}
"""Values to try for options with a number; others keep their default."""

EXCLUSIVE_OPTIONS: Final = (("sroa", ("preserve-cfg", "modify-cfg")),)
"""Passes with options of which only one may be given, beyond levels and pairs with "no-"."""

_REPORTS = "reports or draws, changes nothing"
_CHECKS = "tests the compiler, not the kernel"
_COROUTINES = "there are no coroutines in kernels"
_SANITIZES = "instruments for finding errors"
_PROFILES = "instruments for profiles, or needs one"
_LINKS = "belongs to link-time optimisation of several modules"
_FILES = "needs a file"
_RENAMES = "renames or hides the kernel"
_OUTLINES = "moves code into functions that calls have to reach"
_DEBUG_INFO = "touches debug information and names only"
_EXCEPTIONS = "there are no exceptions in kernels"
_GUARDS = "serves guards, which kernels do not have"
_COLLECTOR = "serves garbage collectors"
_OTHER_TARGETS = "serves other languages or targets"
_LOWERS = "prepares code generation, which does it where its target wants it"
_WHOLE = "is a whole pipeline: put it in front as a base"
_INNER = "is a mark that other passes set for one another"
_RACES = "drops the atomicity other threads rely on"
_WORSE = "undoes what other passes gain"
_SPACES = "is what the dimension `unroll` of the built-in search spaces varies"
_IMMATURE = "is known to crash, to miscompile or never to end"
# https://github.com/llvm/llvm-project/issues/147706: the code is wrong if another pointer writes
# what is read. The recorded launch need not do so, so a replay may not notice.
_INVARIANT = (
    "assumes that memory it reads is constant although other pointers write it (LLVM 21, 22)"
)

LEFT_OUT_PREFIXES: Final = {
    "print": _REPORTS,
    "dot-": _REPORTS,
    "view-": _REPORTS,
    "verify": _CHECKS,
    "trigger-": _CHECKS,
    "no-op": _CHECKS,
    "invalidate": _CHECKS,
    "require": _CHECKS,
    "coro-": _COROUTINES,
    "pgo-": _PROFILES,
    "ctx-": _PROFILES,
    "memprof": _SANITIZES,
    "hipstdpar": _OTHER_TARGETS,
    "objc-": _OTHER_TARGETS,
    "dxil": _OTHER_TARGETS,
    "inliner-": _CHECKS,
    "default": _WHOLE,
    "thinlto": _LINKS,
    "lto": _LINKS,
    "fatlto": _LINKS,
    "openmp-opt": _OTHER_TARGETS,
    "strip": _DEBUG_INFO,
}
"""Prefixes of names of passes that are not drawn, with the reason."""

_BY_REASON: Final = {
    _REPORTS: "aa-eval pa-eval count-visits instcount func-properties-stats kernel-info "
    "annotation-remarks annotation2metadata transform-warning lint",
    _CHECKS: "debugify check-debugify helloworld free-machine-function prof-inject prof-verify "
    "normalize",
    _SANITIZES: "asan msan hwasan tsan tsan-module tysan nsan rtsan dfsan sancov-module "
    "sanmd-module bounds-checking lower-allow-check alloc-token kcfi cfguard safe-stack "
    "stack-protector jmc-instrumenter",
    _PROFILES: "insert-gcov-profiling instrprof cg-profile sample-profile pseudo-probe "
    "pseudo-probe-update ee-instrument chr",
    _LINKS: "function-import embed-bitcode wholeprogramdevirt lowertypetests simplify-type-tests "
    "cross-dso-cfi name-anon-globals canonicalize-aliases assign-guid noinline-nonprevailing "
    "elim-avail-extern norecurse-lto-inference globalsplit global-merge global-merge-func",
    _FILES: "rewrite-symbols forceattrs extract-blocks",
    _RENAMES: "metarenamer internalize",
    _OUTLINES: "hotcoldsplit iroutliner mergefunc loop-extract",
    _DEBUG_INFO: "declare-to-assign redundant-dbg-inst-elim add-discriminators instnamer debug-ata",
    _EXCEPTIONS: "dwarf-eh-prepare sjlj-eh-prepare wasm-eh-prepare win-eh-prepare lower-invoke",
    _GUARDS: "guard-widening make-guards-explicit lower-guard-intrinsic loop-predication "
    "lower-widenable-condition",
    _COLLECTOR: "gc-lowering place-safepoints rewrite-statepoints-for-gc shadow-stack-gc-lowering",
    _OTHER_TARGETS: "lower-matrix-intrinsics rel-lookup-table-converter lower-emutls lower-ifunc "
    "lower-global-dtors declare-runtime-libcalls replace-with-veclib inject-tli-mappings "
    "partially-inline-libcalls libcalls-shrinkwrap loop-idiom-vectorize callbr-prepare",
    _LOWERS: "codegenprepare complex-deinterleaving interleaved-access interleaved-load-combine "
    "expand-memcmp expand-reductions expand-variadics expand-large-div-rem expand-fp "
    "expand-ir-insts scalarize-masked-mem-intrin indirectbr-expand atomic-expand select-optimize "
    "hardware-loops unreachableblockelim typepromotion pre-isel-intrinsic-lowering "
    "fix-irreducible unify-loop-exits",
    _WHOLE: "function-simplification scc-oz-module-inliner",
    _INNER: "extra-vector-passes extra-simple-loop-unswitch-passes",
    _RACES: "lower-atomic",
    _WORSE: "reg2mem",
    _SPACES: "mneme-unroll",
    _IMMATURE: "sandbox-vectorizer assume-builder gvn-hoist newgvn",
    _INVARIANT: "attributor attributor-cgscc",
}

LEFT_OUT: Final = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}
"""Names of passes that are not drawn, with the reason."""
