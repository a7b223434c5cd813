"""Options for the knobs that are whole numbers and change the code alone, of verbs that compile."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.knobs import CODE_NUMBERS
from mneme.option import flag_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme.knobs import CodeNumber

__all__ = ["with_code_numbers"]


def with_code_numbers(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb that takes `**numbers` an option for each; None if it was not given."""
    made = [
        Parameter(one.key, Parameter.KEYWORD_ONLY, default=None, annotation=_kind(one))
        for one in CODE_NUMBERS
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
