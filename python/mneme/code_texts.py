"""Values of knobs that are texts: pass plugins, the LLVM, and options."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mneme.errors import InvalidArgument, MnemeError
from mneme.knobs import CODE_TEXTS
from mneme.option import option
from mneme.pinned_paths import hash_in, path_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mneme.knob_kinds import CodeText

__all__ = [
    "OWN_CODE",
    "SearchedCodeFiles",
    "assembler_option",
    "assembler_words",
    "compiler_text",
    "maker_text",
    "plugin_files",
    "plugin_names",
    "present_plugins",
    "shown_text",
    "taken_texts",
]

_SPACE = "Search space"
# ptxas's advanced controls, and another ptxas: the content of a file decides on the code.
_CONTROLS: Final = re.compile("(-{1,2}(?:apply-controls|ptxas-program)=)(.+)", re.DOTALL)
OWN_CODE: Final = {"recorded": "none: as recorded", "ptx": "none: the recorded PTX"}
_MAKERS: Final = {"recorded": "the code that it loads", "ptx": "its PTX, by ptxas"}
"""What `--llvm` calls code that no LLVM compiles, with its name for people."""


@dataclass(kw_only=True)
class SearchedCodeFiles:
    """Which of those that name files are tried."""

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


def assembler_words(options: str) -> list[str]:
    """Return a configuration's options of ptxas as ptxas takes them, without hashes of files."""
    return [_CONTROLS.sub(lambda one: one[1] + path_in(one[2]), each) for each in options.split()]


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
    """Return a configuration's plugins with the present content's hash where they have none."""
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


def maker_text(passes: str, llvm: str) -> str:
    """Return what made code, for people: a pipeline, if an LLVM did.

    Args:
        passes: The pipeline of the configuration.
        llvm: Its LLVM, in the form of this module.
    """
    return _MAKERS.get(llvm, passes)


def shown_text(knob: CodeText, value: str) -> str:
    """Return a value for people: without directories and hashes."""
    if knob.key == "llvm":
        return OWN_CODE.get(value) or (_compiler_name(value) if value else "mneme's")
    if knob.key == "pass_plugins":
        value = plugin_names(value)
    if knob.key == "assembler_options":
        value = " ".join(_CONTROLS.sub(_without_place, one) for one in value.split())
    return value or "none"


def _without_place(found: re.Match[str]) -> str:
    return found[1] + path_in(found[2]).rpartition("/")[2]


def assembler_option(option: str) -> str:
    """Return an option of ptxas as configurations have it: files with their hashes.

    Raises:
        InvalidArgument: If there is no such file, or its path has a blank.
    """
    found = _CONTROLS.fullmatch(option)
    if found is None or hash_in(found[2]):
        return option
    from mneme import _native  # noqa: PLC0415 - loads native code

    what = "file of controls" if "apply-controls" in found[1] else "program"
    file = _native.pinned_file(found[2], what)
    if re.search(r"\s", file):
        raise InvalidArgument(
            f"the path of the {what} '{path_in(file)}' has a blank, which divides "
            "options; move the file elsewhere"
        )
    return found[1] + file


def taken_texts(told: Mapping[str, Iterable[str] | None]) -> dict[str, str]:
    """Return the values of CODE_TEXTS by key, from options that may be repeated.

    Raises:
        InvalidArgument: As `plugin_files`, `compiler_text` and `assembler_option`, and for an
            option without a name.
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
        if one.key == "assembler_options":
            parts = [assembler_option(part.strip()) for part in parts]
        found[one.key] = one.between.join(part.strip() for part in parts)
    return found


def compiler_text(told: Sequence[str]) -> str:
    """Return what configurations call the kernel compiler of another LLVM; empty for none.

    Raises:
        InvalidArgument: If several are named, or there is no such compiler.
    """
    if len(told) > 1:
        raise InvalidArgument(f"--llvm names {' and '.join(told)}; one configuration has one LLVM")
    if not told or told[0] in OWN_CODE or hash_in(told[0]):
        return "".join(told)
    from mneme import _native  # noqa: PLC0415 - loads native code
    from mneme.other_compilers import library_of  # noqa: PLC0415 - seldom needed

    return _native.other_compiler(str(library_of(told[0])))


def _compiler_name(text: str) -> str:
    from mneme.other_compilers import compiler_facts  # noqa: PLC0415 - seldom needed

    facts = compiler_facts(text)
    return str(facts.get("name") or facts["library"])
