"""Config files of `mneme tune`: JSON, YAML or TOML, with the field names of `TuneOptions`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mneme.errors import InvalidArgument, IoFailed, NotFound
from mneme.files.publish import publish_text
from mneme.files.regular_file import read_text
from mneme.session.options import TuneOptions
from mneme.session.trusted_options import check_trusted

__all__ = ["combine_options", "read_map", "read_options", "write_options"]

_YAML = (".yaml", ".yml")
_TOML = ".toml"
# Options about config files themselves, which appear in files of tools that write all options.
_ABOUT_FILES = ("config", "dump_config")
# A resumed run does not take these from the first run.
_NOT_RESUMED = (
    "resume",
    "rerun_baseline",
    "results_dir",
    "print_space",
    "dry_run",
    "baseline_only",
    "on",
    "cluster",
)


def read_map(path: str | Path) -> Mapping[Any, Any]:
    """Return the content of a config file, JSON, YAML or TOML by its name.

    Raises:
        InvalidArgument: If there is no such file, it is none of these, or no map.
        IoFailed: If it cannot be read.
    """
    file = Path(path)
    try:
        text = read_text(file)
    except FileNotFoundError as error:
        raise InvalidArgument(f"cannot open the config file '{file}': no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise IoFailed(f"cannot read the config file '{file}': {error}") from error
    parse = _parse_yaml if file.suffix in _YAML else _parse_json
    data = (_parse_toml if file.suffix == _TOML else parse)(file, text)
    if not isinstance(data, Mapping):
        raise InvalidArgument(f"the config file '{file}' holds no map of options")
    return data


def read_options(path: str | Path) -> dict[str, Any]:
    """Return the options of a file; a nested map `search` counts as if it were not nested.

    Raises:
        IoFailed: As `read_map`.
        InvalidArgument: As `read_map`.
    """
    flat: dict[str, Any] = {}
    for key, value in read_map(path).items():
        is_nested = str(key) == "search" and isinstance(value, Mapping)
        for name, one in value.items() if is_nested else ((key, value),):
            # YAML takes the unquoted key `on` for the value true.
            text = "on" if name is True else str(name)
            flat[text.lstrip("-").replace("-", "_")] = one
    for name in _ABOUT_FILES:
        flat.pop(name, None)
    # The option's other name. A file may have both; the first is more specific.
    if isinstance(flat.get("keep_going"), bool):
        flat.setdefault("fail_fast", not flat["keep_going"])
        del flat["keep_going"]
    return flat


def _parse_json(file: Path, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"the config file '{file}' is not JSON: {error}") from error


def _parse_yaml(file: Path, text: str) -> object:
    try:
        import yaml  # noqa: PLC0415 - only for such files
    except ImportError as error:
        raise InvalidArgument(
            f"reading '{file}' needs the package pyyaml: pip install pyyaml, or use JSON"
        ) from error
    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, RecursionError) as error:
        sentence = " ".join(str(error).split())
        raise InvalidArgument(f"the config file '{file}' is not YAML: {sentence}") from error


def _parse_toml(file: Path, text: str) -> object:
    try:
        toml: Any = importlib.import_module("tomllib")
    except ImportError:  # before Python 3.11
        try:
            toml = importlib.import_module("tomli")
        except ImportError as error:
            raise InvalidArgument(
                f"reading '{file}' needs the package tomli with this Python: pip install tomli, "
                "or use JSON or YAML"
            ) from error
    try:
        return toml.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"the config file '{file}' is not TOML: {error}") from error


def combine_options(given: Mapping[str, Any], config: str | Path | None = None) -> TuneOptions:
    """Return options from, in rising order: defaults, an earlier run, a config file, `given`.

    The earlier run is that in `results_dir`, if `resume` is asked for.

    Raises:
        NotFound: If there is nothing to resume.
        InvalidArgument: If an option is invalid, or the earlier run belongs to another user and
            names code.
    """
    values: dict[str, Any] = {} if config is None else read_options(config)
    values.update(given)
    if values.get("resume") and values.get("results_dir"):
        earlier = Path(values["results_dir"]) / "config.json"
        if not earlier.is_file():
            raise NotFound(f"there is nothing to resume: '{earlier}' does not exist")
        kept = {k: v for k, v in read_options(earlier).items() if k not in _NOT_RESUMED}
        check_trusted(earlier, kept, values)
        values = {**kept, **values}
    return TuneOptions.from_dict(values)


def write_options(path: str | Path, options: TuneOptions) -> None:
    """Write options as a config file, JSON or YAML by its name; passwords are not in it.

    Raises:
        InvalidArgument: If it is to be TOML, which is only read.
        IoFailed: If the operating system refuses.
    """
    file = Path(path)
    if file.suffix == _TOML:
        raise InvalidArgument(f"'{file}' cannot be written: TOML is read only; name .json or .yaml")
    values = options.to_dict()
    if file.suffix in _YAML:
        import yaml  # noqa: PLC0415 - only for such files

        text = yaml.safe_dump(values, sort_keys=False)
    else:
        text = json.dumps(values, indent=2) + "\n"
    publish_text(file, text, is_private=options.may_hold_secrets)
