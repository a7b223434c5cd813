"""Templates of `mneme scaffold`: where they are, and what their `template.yaml` says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mneme.errors import ArtifactCorrupt, BackendUnavailable, InvalidArgument, NotFound
from mneme.files.regular_file import read_text

__all__ = ["Parameter", "Template", "TemplateFile", "list_templates", "load_template"]

_DESCRIPTION = "template.yaml"
_RECORDING = ("required", "whole", "optional", "none")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """An option of a template; its type is that of the default."""

    name: str
    """As templates use it: `max_threads` is the option `--max-threads`."""

    help: str
    """One sentence."""

    default: str | int | float | bool
    """Used if no value is given."""

    choices: tuple[str, ...] = ()
    """What is allowed; empty: anything of the type."""

    smallest: float = -math.inf
    """The least a number may be."""

    largest: float = math.inf
    """The most a number may be."""

    @property
    def option(self) -> str:
        """The option on the command line."""
        return "--" + self.name.replace("_", "-")

    def value_of(self, text: object) -> str | int | float | bool:
        """Return the value of a text from the command line.

        Raises:
            InvalidArgument: If it is not of the parameter's type, none of the choices or too small
            or too large.
        """
        if self.choices and str(text) not in self.choices:
            raise InvalidArgument(f"{self.option} is '{text}', not {', '.join(self.choices)}")
        value = self._typed(text)
        if isinstance(value, int | float) and not isinstance(value, bool):
            self._check_range(value)
        return value

    def _check_range(self, value: float) -> None:
        if self.smallest <= value <= self.largest and math.isfinite(value):
            return
        limits = [f"{self.smallest:g} or more"] if self.smallest > -math.inf else []
        limits += [f"{self.largest:g} or less"] if self.largest < math.inf else []
        what = " and ".join(limits) or "a finite number"
        raise InvalidArgument(f"{self.option} is {value}; it has to be {what}")

    def _typed(self, text: object) -> str | int | float | bool:
        kind = type(self.default)
        if isinstance(text, kind) and not (kind is int and isinstance(text, bool)):
            return text
        try:
            return self._bool(str(text)) if kind is bool else kind(str(text))
        except ValueError:
            names = {bool: "true or false", int: "a whole number", float: "a number"}
            raise InvalidArgument(
                f"{self.option} is '{text}', not {names.get(kind, 'a text')}"
            ) from None

    @staticmethod
    def _bool(text: str) -> bool:
        if text.lower() not in (*_TRUE, *_FALSE):
            raise ValueError(text)
        return text.lower() in _TRUE


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFile:
    """A file that a template makes."""

    output: str
    """Path below the output directory; may be a template itself."""

    source: Path
    """What it is made from."""

    is_executable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A directory of templates with a description."""

    name: str
    description: str
    """One sentence."""

    recording: str
    """Whether it is fitted to a recorded launch: required, optional or none; whole: to one, or to
    all launches of a recording of several kernels."""

    parameters: tuple[Parameter, ...]
    files: tuple[TemplateFile, ...]

    next_steps: str
    """What to do with the files; a template itself."""


def list_templates() -> list[Template]:
    """Return every template, by name."""
    return [load_template(name) for name in _names()]


def _names() -> list[str]:
    return sorted(path.parent.name for path in _directory().glob(f"*/{_DESCRIPTION}"))


def load_template(name: str) -> Template:
    """Return the template of a name, or of a directory with a `template.yaml`.

    Args:
        name: One of `list_templates`, or the path of a directory, with a slash (`./own`): a folder
            that happens to lie here is never taken for a template of ours.

    Raises:
        NotFound: If there is none.
        ArtifactCorrupt: If its description is malformed.
    """
    is_path = "/" in name
    is_there = (Path(name) / _DESCRIPTION).is_file() if is_path else name in _names()
    if not is_there:
        is_own = not is_path and (Path(name) / _DESCRIPTION).is_file()
        hint = f" (a template of your own is named with a slash: './{name}')" if is_own else ""
        raise NotFound(f"there is no template '{name}'; there are {', '.join(_names())}{hint}")
    return _read(Path(name).resolve() if is_path else _directory() / name)


def _directory() -> Path:
    from mneme.install.paths import prefix  # noqa: PLC0415 - not needed in a checkout

    # A checkout's own are newer than those of its build tree; a bundle has them there too.
    checkout = Path(__file__).resolve().parents[3] / "templates"
    if any(checkout.glob(f"*/{_DESCRIPTION}")):
        return checkout
    installed = prefix() / "share" / "mneme" / "templates"
    if not installed.is_dir():
        raise BackendUnavailable(f"'{installed}' is missing; install mneme again")
    return installed


def _read(directory: Path) -> Template:
    import yaml  # noqa: PLC0415 - only scaffolds need it

    path = directory / _DESCRIPTION
    try:
        data = yaml.safe_load(read_text(path))
        template = _template(directory, data)
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise ArtifactCorrupt(f"'{path}' describes no template ({what})") from error
    for file in template.files:
        if not file.source.is_file():
            raise ArtifactCorrupt(f"'{path}' names '{file.source.name}', which is not there")
        # Templates side by side share files.
        if not file.source.resolve().is_relative_to(directory.resolve().parent):
            raise ArtifactCorrupt(f"'{path}' names '{file.source}', which is not beside it")
    return template


def _template(directory: Path, data: dict[str, Any]) -> Template:
    recording = str(data.get("recording", "none"))
    if recording not in _RECORDING:
        raise ValueError(f"recording is '{recording}', not {', '.join(_RECORDING)}")
    return Template(
        name=directory.name,
        description=str(data["description"]),
        recording=recording,
        parameters=tuple(
            Parameter(
                name=str(name),
                help=str(one["help"]),
                default=one["default"],
                choices=tuple(str(choice) for choice in one.get("choices", ())),
                smallest=float(one.get("min", -math.inf)),
                largest=float(one.get("max", math.inf)),
            )
            for name, one in (data.get("parameters") or {}).items()
        ),
        files=tuple(
            TemplateFile(
                output=str(output),
                source=directory / str(one["from"]),
                is_executable=bool(one.get("executable", False)),
            )
            for output, one in data["files"].items()
        ),
        next_steps=str(data.get("next", "")),
    )
