"""Options for the knobs that change the code alone, numbers and texts, of verbs that compile."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.knobs import CODE_NUMBERS, CODE_TEXTS
from mneme.option import flag_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme.knob_kinds import CodeNumber, CodeText

__all__ = ["with_code_knobs"]


def with_code_knobs(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb that takes `**knobs` an option for each; None if it was not given."""
    kinds = {one.key: _kind(one) for one in CODE_NUMBERS}
    kinds |= {one.key: _texts_kind(one) for one in CODE_TEXTS}
    made = [
        Parameter(key, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for key, kind in kinds.items()
    ]
    told = signature(verb, eval_str=True)
    *others, _ = told.parameters.values()
    verb.__signature__ = told.replace(  # type: ignore[attr-defined]
        parameters=[*(one.replace(kind=Parameter.KEYWORD_ONLY) for one in others), *made]
    )
    verb.__annotations__ |= {one.name: one.annotation for one in made}
    return verb


def _kind(knob: CodeNumber) -> Any:  # noqa: ANN401 - what typer takes as a type
    option = typer.Option(
        flag_of(knob.key), metavar="N", min=0, max=knob.high, help=knob.text, show_default=False
    )
    return Annotated[Optional[int], option]


def _texts_kind(knob: CodeText) -> Any:  # noqa: ANN401 - what typer takes as a type
    names = ("--assembler-options",) if knob.key == "assembler_options" else ()  # the older name
    option = typer.Option(
        knob.option, *names, metavar=knob.metavar, help=knob.text, show_default=False
    )
    return Annotated[Optional[list[str]], option]
