"""Knobs that are texts and change the code alone: pass plugins, the LLVM, and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mneme.errors import InvalidArgument, MnemeError
from mneme.option import option
from mneme.pinned_paths import hash_in, path_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "CODE_TEXTS",
    "CodeText",
    "SearchedCodeTexts",
    "compiler_text",
    "plugin_files",
    "plugin_names",
    "present_plugins",
    "taken_texts",
]

_SPACE = "Search space"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeText:
    """One of them, also in runtime/core/abi/knobs.def."""

    key: str
    """Field of configurations."""

    deployed: str
    """Key in files of tuned kernels."""

    option: str
    """On the command line, where it may be repeated."""

    metavar: str
    """What stands for its value there."""

    between: str
    """Divides the parts of the text."""

    label: str
    """What reports call it."""

    text: str
    """A sentence that describes it."""

    def options(self, value: str) -> list[str]:
        """Return the words of a command line that say this value."""
        parts = [one for one in value.split(self.between) if one]
        return [f"{self.option}={one}" for one in parts]

    def shown(self, value: str) -> str:
        """Return a value for people: without directories and hashes."""
        if self.key == "llvm":
            return _compiler_name(value) if value else "mneme's"
        if self.key == "pass_plugins":
            value = plugin_names(value)
        return value or "none"


CODE_TEXTS: Final = (
    CodeText(
        key="pass_plugins",
        deployed="PassPlugins",
        option="--pass-plugin",
        metavar="FILE",
        between=":",
        label="pass plugins",
        text="An LLVM pass plugin, whose passes pipelines can name; may be repeated.",
    ),
    CodeText(
        key="llvm",
        deployed="Llvm",
        option="--llvm",
        metavar="LLVM",
        between="\n",
        label="LLVM",
        text="Another LLVM that compiles: a name or prefix of 'mneme compiler ls'.",
    ),
    CodeText(
        key="llvm_options",
        deployed="LlvmOptions",
        option="--mllvm",
        metavar="OPTION",
        between=" ",
        label="options of LLVM",
        text="For LLVM, as unroll-threshold=300; may be repeated.",
    ),
    CodeText(
        key="assembler_options",
        deployed="AssemblerOptions",
        option="--ptxas",
        metavar="OPTION",
        between=" ",
        label="options of ptxas",
        text="For ptxas, values behind '='; may be repeated.",
    ),
)
"""In the order of configurations."""


@dataclass(kw_only=True)
class SearchedCodeTexts:
    """Which of them are tried."""

    pass_plugins: Sequence[str] = option(
        (),
        _SPACE,
        "An LLVM pass plugin, whose passes are tried; may be repeated.",
        names=("--pass-plugin",),
        metavar="FILE",
    )
    plugin_passes: Sequence[str] = option(
        (),
        _SPACE,
        "Passes of the plugins to choose from: my-pass, or my-pass,* before the pipeline only.",
        shown="those that the plugins say",
        metavar="P...",
    )
    llvm: Sequence[str] = option(
        (),
        _SPACE,
        "Another LLVM to choose, of 'mneme compiler ls'; may be repeated.",
        metavar="LLVM",
    )
    llvm_options: Sequence[str] = option(
        (),
        _SPACE,
        "For LLVM, in all configurations but the baseline; may be repeated.",
        names=("--mllvm",),
        metavar="OPTION",
    )
    llvm_choices: Sequence[str] = option(
        (),
        _SPACE,
        "Values of such an option to choose from; may be repeated.",
        names=("--mllvm-choice",),
        metavar="NAME=V,W..",
    )
    assembler_options: Sequence[str] = option(
        (),
        _SPACE,
        "For ptxas, in all configurations but the baseline; may be repeated.",
        names=("--ptxas",),
        metavar="OPTION",
    )
    assembler_choices: Sequence[str] = option(
        (),
        _SPACE,
        "Values of such an option to choose from; may be repeated.",
        names=("--ptxas-choice",),
        metavar="NAME=V,W..",
    )


def plugin_files(files: Iterable[str]) -> str:
    """Return what configurations call pass plugins: paths with the hashes of their contents.

    Args:
        files: Paths, or what this function returned for one.

    Raises:
        InvalidArgument: If there is no such file, or its path has a ':'.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    return ":".join(one if hash_in(one) else _native.pass_plugin(one) for one in files)


def present_plugins(plugins: str) -> str:
    """Return a configuration's plugins with the hash of the present content where none is said."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    def told(one: str) -> str:
        try:
            return one if hash_in(one) else _native.pass_plugin(one)
        except MnemeError:
            return one  # what compiles says that it is missing

    return ":".join(told(one) for one in plugins.split(":") if one)


def plugin_names(plugins: str) -> str:
    """Return the names of the files of a configuration's plugins, for people."""
    paths = map(path_in, plugins.split(":"))
    return ", ".join(path.rpartition("/")[2] for path in paths if path)


def taken_texts(told: Mapping[str, Iterable[str] | None]) -> dict[str, str]:
    """Return the values of CODE_TEXTS by key, of what repeated options said.

    Raises:
        InvalidArgument: As `plugin_files` and `compiler_text`, and for an option without a name.
    """
    found = {}
    for one in CODE_TEXTS:
        parts = list(told.get(one.key) or ())
        if one.key == "pass_plugins":
            found[one.key] = plugin_files(parts)
            continue
        if one.key == "llvm":
            found[one.key] = compiler_text(parts)
            continue
        for part in parts:
            if not part.strip(" -"):
                raise InvalidArgument(f"{one.option} is '{part}', which is not an option")
        found[one.key] = one.between.join(part.strip() for part in parts)
    return found


def compiler_text(told: Sequence[str]) -> str:
    """Return what configurations call the kernel compiler of another LLVM; empty for none.

    Raises:
        InvalidArgument: If several are named, or there is no such compiler.
    """
    if len(told) > 1:
        raise InvalidArgument(f"--llvm names {' and '.join(told)}; one configuration has one LLVM")
    if not told or hash_in(told[0]):
        return "".join(told)
    from mneme import _native  # noqa: PLC0415 - loads native code
    from mneme.other_compilers import library_of  # noqa: PLC0415 - seldom needed

    return _native.other_compiler(str(library_of(told[0])))


def _compiler_name(text: str) -> str:
    from mneme.other_compilers import compiler_facts  # noqa: PLC0415 - seldom needed

    facts = compiler_facts(text)
    return str(facts.get("name") or facts["library"])
