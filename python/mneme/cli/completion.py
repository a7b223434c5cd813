"""`mneme completion`: prints the code with which a shell completes our command lines."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from mneme.cli._console import print_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Shell", "complete", "completion"]


class Shell(str, Enum):
    """Shells that completion is made for."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print what makes a shell complete verbs, options, recordings and launches.

    bash: eval "$(mneme completion bash)" in ~/.bashrc; zsh: the same in ~/.zshrc, behind compinit;
    fish: mneme completion fish > ~/.config/fish/completions/mneme.fish.
    """
    from typer import completion as typers  # noqa: PLC0415 - for this verb only

    print_text(
        typers.get_completion_script(  # type: ignore[attr-defined]
            prog_name="mneme", complete_var="_MNEME_COMPLETE", shell=shell.value
        )
    )


def complete(variable: str, make_app: Callable[[list[str]], typer.Typer]) -> None:
    """Answer a shell's request in `variable` and exit; return for an unknown shell.

    Args:
        variable: Environment variable with the request.
        make_app: Makes the application with the verb of these words.
    """
    from typer import completion as typers  # noqa: PLC0415 - when a shell asks
    from typer.main import get_command  # noqa: PLC0415

    typers.completion_init()  # type: ignore[attr-defined]
    words = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    command = get_command(make_app(words.split()[1:]))
    command(args=[], prog_name="mneme", complete_var=variable)
