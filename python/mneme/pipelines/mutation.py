"""Variations of good pipelines: a pass is added, removed, moved or gets other options.

Passes stay in their order and in suitable adaptors, so that every mutation parses.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mneme.errors import InvalidArgument
from mneme.pipelines.pass_options import PassLevel, split_top_level
from mneme.pipelines.pipeline import ADAPTORS, PipelineManager, UnknownPass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["KNOWN_GOOD", "known_pipeline", "mutate", "mutations"]

_SIMPLIFY: Final = "simplifycfg<switch-range-to-icmp;hoist-common-insts;sink-common-insts>"
_COMBINE: Final = "instcombine<no-verify-fixpoint>"

# Almost only the passes that the target itself needs first, such as resolving nvvm-reflect. They
# have names only if LLVM knows the target, so no other text can request them.
_TARGET_FIRST: Final = "default<O0>,"

KNOWN_GOOD: Final = {
    "default": "default<O3>",
    # The effect of that level on a kernel, without passes for other languages and targets.
    "O3": (
        f"{_TARGET_FIRST}inferattrs,"
        "function<eager-inv>(lower-expect,simplifycfg,sroa<modify-cfg>,early-cse,callsite-splitting),"
        "ipsccp,called-value-propagation,globalopt,"
        f"function<eager-inv>(mem2reg,{_COMBINE},simplifycfg<switch-range-to-icmp>),"
        "always-inline,"
        "cgscc(inline,function-attrs<skip-non-recursive-function-attrs>,argpromotion,"
        "function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,"
        "speculative-execution<only-if-divergent-target>,jump-threading,correlated-propagation,"
        f"simplifycfg<switch-range-to-icmp>,{_COMBINE},aggressive-instcombine,tailcallelim,"
        "simplifycfg<switch-range-to-icmp>,reassociate,constraint-elimination,"
        "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,"
        "loop-rotate<header-duplication>,licm<allowspeculation>,"
        "simple-loop-unswitch<nontrivial;trivial>),"
        f"simplifycfg<switch-range-to-icmp>,{_COMBINE},"
        "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),"
        "sroa<modify-cfg>,vector-combine,mldst-motion<no-split-footer-bb>,gvn,sccp,bdce,"
        f"{_COMBINE},jump-threading,correlated-propagation,adce,memcpyopt,dse,"
        f"loop-mssa(licm<allowspeculation>),{_SIMPLIFY},{_COMBINE})),"
        "deadargelim,globalopt,globaldce,rpo-function-attrs,"
        "function<eager-inv>(float2int,lower-constant-intrinsics,"
        "loop(indvars),loop-mssa(loop-rotate<header-duplication>),loop(loop-deletion),"
        "loop-distribute,loop-vectorize,infer-alignment,loop-load-elim,"
        f"{_COMBINE},{_SIMPLIFY},slp-vectorizer,vector-combine,{_COMBINE},loop-unroll<O3>,"
        f"sroa<preserve-cfg>,infer-alignment,{_COMBINE},loop-mssa(licm<allowspeculation>),"
        "alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs,tailcallelim,"
        "simplifycfg<switch-range-to-icmp;speculate-unpredictables>),"
        "globaldce,constmerge"
    ),
    # Address spaces and addresses first, as GPU back ends do before code generation.
    "gpu": (
        f"{_TARGET_FIRST}always-inline,"
        f"function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,{_COMBINE},infer-address-spaces,"
        "loop-mssa(loop-rotate,licm<allowspeculation>),loop(indvars,loop-unroll-full),"
        f"loop-unroll<O3>,{_COMBINE},separate-const-offset-from-gep<lower-gep>,slsr,gvn,"
        f"nary-reassociate,early-cse,load-store-vectorizer,{_COMBINE},simplifycfg),"
        "globaldce"
    ),
}
"""Pipelines that are good for kernels, by name."""


@dataclass(slots=True)
class _Node:
    """A pass, or an adaptor with its content; the root has no text."""

    text: str
    level: PassLevel
    is_adaptor: bool = False
    children: list[_Node] = field(default_factory=list)

    def __str__(self) -> str:
        inner = ",".join(map(str, self.children))
        if not self.text:
            return inner
        return f"{self.text}({inner})" if self.is_adaptor else self.text

    def containers(self) -> Iterator[_Node]:
        """Yield this and every adaptor below it."""
        yield self
        for child in self.children:
            if child.is_adaptor:
                yield from child.containers()


def known_pipeline(name: str, manager: PipelineManager) -> str:
    """Return a pipeline of `KNOWN_GOOD`, without passes this LLVM does not have.

    Raises:
        InvalidArgument: If there is none of this name.
    """
    if name not in KNOWN_GOOD:
        raise InvalidArgument(f"there is no pipeline '{name}'; known: {', '.join(KNOWN_GOOD)}")
    root = _parsed(KNOWN_GOOD[name], PassLevel.MODULE)
    _drop_unknown(root, manager)
    return str(root)


def mutate(text: str, manager: PipelineManager, rng: random.Random, changes: int = 1) -> str:
    """Return a pipeline with some random changes.

    Args:
        text: A pipeline LLVM parses, passes in the adaptors they need.
        manager: Which passes there are.
        rng: The source of random numbers.
        changes: Number of passes to add, remove, move or change. At least 0.

    Raises:
        InvalidArgument: If `text` is not a pipeline.
    """
    manager.from_string(text)
    root = _parsed(text, PassLevel.MODULE)
    if not root.children:
        raise InvalidArgument("an empty pass pipeline cannot be mutated")
    for _ in range(changes):
        change = rng.choice((_insert, _insert, _remove, _swap, _set))
        change(root, manager, rng)
    return str(root)


def mutations(
    manager: PipelineManager,
    count: int,
    *,
    seed: int = 0,
    bases: Sequence[str] = (),
    most_changes: int = 4,
) -> list[str]:
    """Return different variations of good pipelines; deterministic for given arguments and LLVM.

    Args:
        manager: Which passes there are.
        count: Number of pipelines. At least 0.
        seed: Seed of the random numbers.
        bases: Pipelines to change; none: those of `KNOWN_GOOD`.
        most_changes: Each has 1 to this many changes.
    """
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    origins = list(bases) or [known_pipeline(name, manager) for name in KNOWN_GOOD]
    found: dict[str, None] = {}
    # Changes may undo one another; the bound only matters for bases with nothing to change.
    for _ in range(20 * count):
        if len(found) == count:
            break
        origin = rng.choice(origins)
        changed = mutate(origin, manager, rng, rng.randint(1, most_changes))
        if changed not in origins:
            found.setdefault(changed)
    return list(found)


def _parsed(text: str, level: PassLevel) -> _Node:
    root = _Node("", level, is_adaptor=True)
    for part in split_top_level(text):
        head, bracket, inner = part.partition("(")
        if bracket:
            own = ADAPTORS.get(head.partition("<")[0], level) or level
            adaptor = _Node(head, own, is_adaptor=True)
            adaptor.children = _parsed(inner.removesuffix(")"), own).children
            root.children.append(adaptor)
        else:
            root.children.append(_Node(part, level))
    return root


def _drop_unknown(node: _Node, manager: PipelineManager) -> None:
    kept = []
    for child in node.children:
        if child.is_adaptor:
            _drop_unknown(child, manager)
            if child.children:
                kept.append(child)
        elif _is_known(child.text, manager):
            kept.append(child)
    node.children = kept


def _is_known(text: str, manager: PipelineManager) -> bool:
    try:
        manager.from_string(text)
    except UnknownPass:
        return False
    return True


def _insert(root: _Node, manager: PipelineManager, rng: random.Random) -> None:
    """Add a pass in a suitable adaptor, or at the top with the adaptors it needs."""
    item = rng.choice(manager.get_passes()).sample(rng)
    homes = [node for node in root.containers() if node.text and node.level is item.level]
    home = rng.choice([*homes, root])
    text = str(item) if home.text else manager.to_string([item])
    home.children.insert(rng.randint(0, len(home.children)), _Node(text, home.level))


def _remove(root: _Node, manager: PipelineManager, rng: random.Random) -> None:  # noqa: ARG001
    """Drop a pass that is not alone in its adaptor; never a whole pipeline."""
    homes = [node for node in root.containers() if len(node.children) > 1]
    passes = [
        (home, node)
        for home in homes
        for node in home.children
        if not node.is_adaptor and not node.text.startswith("default<")
    ]
    if passes:
        home, node = rng.choice(passes)
        home.children = [child for child in home.children if child is not node]


def _swap(root: _Node, manager: PipelineManager, rng: random.Random) -> None:  # noqa: ARG001
    """Exchange two neighbours."""
    homes = [node for node in root.containers() if len(node.children) > 1]
    if homes:
        children = rng.choice(homes).children
        first = rng.randrange(len(children) - 1)
        children[first : first + 2] = reversed(children[first : first + 2])


def _set(root: _Node, manager: PipelineManager, rng: random.Random) -> None:
    """Choose other options for a pass that has some."""
    found = []
    for home in root.containers():
        for node in home.children:
            if node.is_adaptor or "(" in node.text or not home.text:
                continue
            abstract = manager.abstract(manager.from_string(node.text)[0], home.level)
            if abstract is not None and abstract.options:
                found.append((node, abstract))
    if found:
        node, abstract = rng.choice(found)
        node.text = str(abstract.sample(rng))
