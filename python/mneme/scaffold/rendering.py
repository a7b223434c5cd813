"""Writes ready-to-run files for a recorded kernel from templates. Prints nothing.

A template is a directory with a `template.yaml` (description, parameters, files) and Jinja2
templates. Templates see the values of their parameters by name, and:

- `out`: the output directory, absolute;
- `recording`: the recorded launch, see `mneme.scaffold.recording`; None without one;
- `mneme_version`, `python` (the interpreter that runs mneme).

An undefined name is an error. Filters quote values for their place, see `mneme.scaffold.quoting`. A
template `<name>` that needs more than text has a module `mneme.scaffold.for_<name>` with
`prepare(request, recording) -> Additions`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.files.publish import publish
from mneme.files.regular_file import read_text
from mneme.recording.without_ir import refusal
from mneme.scaffold.quoting import FILTERS, encoded, plain, unquoted
from mneme.scaffold.template import Parameter, Template, list_templates, load_template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment

__all__ = [
    "Additions",
    "Parameter",
    "RenderedFile",
    "Scaffold",
    "ScaffoldRequest",
    "Template",
    "list_templates",
    "load_template",
    "render",
    "write",
]


# Templates that make something of the kernel's IR.
_OF_IR = ("replay", "tune")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldRequest:
    """The files to generate, and where."""

    template: Template
    """From `load_template`."""

    out: Path = field(default_factory=Path)
    """Created if it does not exist."""

    values: Mapping[str, object] = field(default_factory=dict)
    """Values of parameters by name, as text or in their type; missing ones have their defaults."""

    record_database: Path | None = None
    """A record file, or a directory of them."""

    record_id: str | None = None
    """May be None if there is only one launch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Additions:
    """Additions from the module of a template."""

    context: Mapping[str, Any] = field(default_factory=dict)
    """Further names for its templates."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    """Further files, by path below the output directory."""

    private_files: Mapping[str, bytes] = field(default_factory=dict)
    """Further files that only their owner may read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedFile:
    """A file to write."""

    path: Path
    content: bytes
    is_executable: bool = False
    is_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaffold:
    """A rendered template; nothing is written yet."""

    files: tuple[RenderedFile, ...]
    next_steps: str
    """What to do after the files are written."""


def render(request: ScaffoldRequest) -> Scaffold:
    """Render every file of a template.

    Raises:
        InvalidArgument: If a parameter is unknown or wrong, or a needed recording is not named.
        NotFound, ArtifactCorrupt: If the recording cannot be read, or a template is wrong.
    """
    request = _for_its_code(request)
    template = request.template
    values = _parameter_values(template, request.values)
    recording = _recording(request)
    if recording is not None:
        recording["record_relative"] = os.path.relpath(recording["record_database"], request.out)
    context: dict[str, Any] = {
        **values,
        "recording": recording,
        "out": str(request.out.resolve()),
        "mneme_version": _version(),
        "python": sys.executable,
    }
    additions = _additions(request, recording)
    context = unquoted({**context, **additions.context})
    environment = _environment()
    files = []
    for file in template.files:
        name = _text(environment, file.output, context, f"{template.name}: {file.output}")
        source = read_text(file.source)
        text = _text(environment, source, context, str(file.source))
        files.append(_file(request.out, name, encoded(text), is_executable=file.is_executable))
    files += [_file(request.out, name, content) for name, content in additions.files.items()]
    files += [
        replace(_file(request.out, name, content), is_private=True)
        for name, content in additions.private_files.items()
    ]
    steps = _text(environment, template.next_steps, context, f"{template.name}: next")
    return Scaffold(files=tuple(files), next_steps=steps.strip())


def write(scaffold: Scaffold, *, force: bool = False) -> list[Path]:
    """Write the files, each with one rename; return their paths.

    Raises:
        InvalidArgument: If a file exists and `force` is not set; nothing is written then.
        IoFailed: If the operating system refuses.
    """
    existing = [file.path for file in scaffold.files if os.path.lexists(file.path)]
    if existing and not force:
        names = ", ".join(f"'{path}'" for path in existing)
        raise InvalidArgument(
            f"{names} {'is' if len(existing) == 1 else 'are'} there already, so nothing is "
            "written; use --force to replace, or another --out"
        )
    for file in scaffold.files:
        publish(
            file.path,
            file.content,
            makes_directory=True,
            is_executable=file.is_executable,
            is_private=file.is_private,
        )
    return [file.path for file in scaffold.files]


def _version() -> str:
    from mneme import __version__  # noqa: PLC0415 - imports this package

    return __version__


def _parameter_values(template: Template, given: Mapping[str, object]) -> dict[str, object]:
    known = {one.name: one for one in template.parameters}
    unknown = [name for name in given if name not in known]
    if unknown:
        options = ", ".join(one.option for one in template.parameters) or "no options of its own"
        option = unknown[0].replace("_", "-")
        raise InvalidArgument(
            f"template {template.name} has no option --{option}; it has {options}"
        )
    defaults: dict[str, object] = {name: one.default for name, one in known.items()}
    return {**defaults, **{name: known[name].value_of(text) for name, text in given.items()}}


def _recording(request: ScaffoldRequest) -> dict[str, Any] | None:
    if request.record_database is None:
        if request.template.recording in ("required", "whole"):
            raise InvalidArgument(
                f"template {request.template.name} is fitted to a recording; name one behind it"
            )
        return None
    if request.template.recording == "none":
        raise InvalidArgument(f"template {request.template.name} takes no recording")
    from mneme.scaffold.recording import (  # noqa: PLC0415 - loads native code
        describe_recording,
        describe_whole,
    )

    if request.template.recording == "whole" and request.record_id is None:
        whole = describe_whole(request.record_database)
        if whole is not None:
            return whole
    return describe_recording(
        request.record_database,
        request.record_id,
        needs_ir=request.template.name in _OF_IR,
    )


def _for_its_code(request: ScaffoldRequest) -> ScaffoldRequest:
    """Return the request with the template for code without IR, where that is what there is.

    Raises:
        InvalidArgument, Unsupported: If an option is for IR.
    """
    if request.template.name != "replay" or request.record_database is None:
        return request
    from mneme.recording.recorded_execution import RecordedExecution  # noqa: PLC0415 - slow
    from mneme.recording.records import find_instance  # noqa: PLC0415

    path, _ = find_instance(request.record_database, request.record_id)
    record = RecordedExecution.from_json(path)
    if not record.code_form and not request.values.get("llvm"):
        return request
    other = load_template("replay-code")
    known = {one.name for one in other.parameters}
    for one in request.template.parameters:
        if one.name in request.values and one.name not in known:
            if record.code_form:
                raise refusal(record.told_name, record.code_form, one.option)
            raise InvalidArgument(f"{one.option} is for IR, and --llvm takes the code that ran")
    values = {name: value for name, value in request.values.items() if value or name != "llvm"}
    return replace(request, template=other, values=values)


def _additions(request: ScaffoldRequest, recording: dict[str, Any] | None) -> Additions:
    own = request.template.name.replace("-", "_")
    name = f"mneme.scaffold.for_{own}"
    if not own.isidentifier() or importlib.util.find_spec(name) is None:
        return Additions()
    additions: Additions = import_module(name).prepare(request, recording)
    return additions


def _environment() -> Environment:
    from jinja2 import StrictUndefined  # noqa: PLC0415 - slow to import
    from jinja2.sandbox import SandboxedEnvironment  # noqa: PLC0415

    # The user's own templates may come from untrusted sources too.
    environment = SandboxedEnvironment(
        undefined=StrictUndefined,
        finalize=plain,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    return environment


def _text(environment: Environment, source: str, context: dict[str, Any], where: str) -> str:
    from jinja2 import TemplateError  # noqa: PLC0415

    try:
        return environment.from_string(source).render(context)
    except TemplateError as error:
        raise ArtifactCorrupt(f"the template {where} is wrong: {error}") from error
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise ArtifactCorrupt(f"the template {where} cannot be filled in: {error}") from error


def _file(out: Path, name: str, content: bytes, *, is_executable: bool = False) -> RenderedFile:
    path = out / name
    if not path.resolve().is_relative_to(out.resolve()):
        raise ArtifactCorrupt(f"a template makes '{name}', which is outside the output directory")
    return RenderedFile(path=path, content=content, is_executable=is_executable)
