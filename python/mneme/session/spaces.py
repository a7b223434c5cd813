"""Makes the search space of a session."""

from __future__ import annotations

import itertools
import random
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from mneme.search.builtin_spaces import (
    BuiltinTuneSearchSpace,
    load_custom_space,
    parse_key_value_args,
)
from mneme.search.portfolio import Portfolio
from mneme.search.space_options import SpaceOptions
from mneme.search.space_view import SpaceView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mneme.recording.recorded_execution import KernelInstance
    from mneme.search.search_space import Sample, SearchSpace
    from mneme.session.options import TuneOptions

__all__ = ["first_samples", "make_space"]


def make_space(options: TuneOptions, recorded: KernelInstance) -> SearchSpace:
    """Return the built-in space, or the user's own.

    Raises:
        InvalidArgument: If the options exclude everything, or the user's space cannot be made.
        NotFound: If a file, a module or a class does not exist.
    """
    if options.space_module is not None:
        arguments = parse_key_value_args(list(options.space_arg))
        return load_custom_space(options.space_module, recorded, arguments)
    names = {one.name for one in fields(SpaceOptions)} - {"preset"}
    told = {name: getattr(options, name) for name in names}
    told["passes"] = list(options.passes) or None
    return BuiltinTuneSearchSpace(
        recorded, preset=options.space_preset, device=options.device, **told
    )


def first_samples(
    options: TuneOptions,
    space: SearchSpace,
    seeds: Sequence[Mapping[str, Any]] = (),
    count: int = 10,
) -> list[Sample]:
    """Return the first members that a search would try, as far as known before measuring.

    Args:
        options: Sampler, seed, trials.
        space: The search space.
        seeds: As `make_search` takes them; all of them are shown.
        count: The maximal number; all seeds if there are more.
    """
    view = SpaceView.of(space)
    if options.enumerates:
        return list(itertools.islice(view.samples(), count))
    if options.uses_portfolio:
        count = max(count, 1 + len(seeds))
        rng = random.Random(options.seed)  # noqa: S311 - nothing secret
        known = Portfolio(view, rng, map(dict, seeds)).foreseen()
        return list(itertools.islice(known, min(count, options.trials or count)))
    view.seed(options.seed)
    return [view.draw() for _ in range(min(count, options.trials or count))]
