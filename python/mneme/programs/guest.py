"""The environment of programs that `mneme run` and `mneme record` start.

Only the environment of a guest is changed: preloaded libraries and `MNEME_*` variables. Its
arguments, streams, signals and exit code are its own.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from mneme._vendors import (
    CPU_DRIVER,
    CPU_RUNTIMES,
    CPU_STAND_INS,
    DEVICE_BY_RUNTIME,
    PRELOADS_PROFILER,
    PROFILER,
    PROFILER_VARIABLES,
)
from mneme.devices import choose_device
from mneme.errors import InvalidArgument, IoFailed
from mneme.install.paths import library, prefix
from mneme.programs.check import brings_own_runtime
from mneme.programs.elf import read_elf
from mneme.programs.needed import with_libraries
from mneme.programs.record_request import RecordRequest, check_environment, check_request

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["profile_environment", "record_environment", "run_environment"]

_RECORDER = "librecord.so"
_LABELS = "libmneme_labels.so"
_LOADED = "libmneme_loaded.so"
_RUNTIME = "libmneme_rt.so"  # which programs built with mneme are linked with
_KOKKOS_TOOLS = ("KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY")
_NVTX_TOOL, _OUR_NVTX_TOOL = "NVTX_INJECTION64_PATH", "MNEME_NVTX_INJECTION"
_AUTO = "auto"
_CPU = "cpu"


def run_environment(
    base: Mapping[str, str], device: str | None = None, program: str | None = None
) -> dict[str, str]:
    """Return `base`, changed so that a program runs on `device`.

    Args:
        base: An environment, `os.environ` for example.
        device: As in `RecordRequest`.
        program: As in `RecordRequest`.

    Raises:
        BackendUnavailable: If the device or one of mneme's libraries is not there.
        InvalidArgument: If there is no such device.
    """
    chosen = _choose(base, device, program)
    variables = {"MNEME_DEVICE": chosen, **_label_variables(base)}
    libraries = _runtimes(chosen, _find(base, program))
    if _tunes_loaded_code(base, _find(base, program)):
        libraries.insert(0, library(_LOADED))
    return _preload(base, libraries, variables)


def _tunes_loaded_code(base: Mapping[str, str], program: Path | None) -> bool:
    """Whether the file of tuned kernels may have some whose code a program loads.

    Those with IR are such kernels where the program was not built with mneme.
    """
    path = base.get("PROTEUS_TUNED_KERNELS")
    if not path:
        return False
    try:
        content = Path(path).read_bytes()
    except OSError:  # the run says what is wrong with it
        return False
    facts = read_elf(program) if program else None
    is_built = facts is not None and any(name.startswith(_RUNTIME) for name in facts.needed)
    return b'"CodeForm"' in content or (b'"StaticHash"' in content and not is_built)


def profile_environment(environment: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Return the environment of a run, changed so that its processes write times of kernels.

    Args:
        environment: The result of `run_environment`. A profiler in it stays: nothing is then
            written on a GPU.
        directory: Directory for a file of each process of the run.

    Raises:
        BackendUnavailable: If one of mneme's libraries is not there.
    """
    profiled = {**environment, "MNEME_PROFILE_DIR": str(directory.resolve())}
    kind = environment["MNEME_DEVICE"].partition(":")[0]
    if kind in PRELOADS_PROFILER:
        return _preload(profiled, [library(PROFILER)], {})
    variable = PROFILER_VARIABLES.get(kind)
    if variable is not None:
        profiled.setdefault(variable, str(library(PROFILER)))
    return profiled


def record_environment(base: Mapping[str, str], request: RecordRequest) -> dict[str, str]:
    """Return `base`, changed so that a program is recorded as `request` says; makes the directory.

    Raises:
        BackendUnavailable: If the device or one of mneme's libraries is not there.
        InvalidArgument: If there is no such device, or the recorder would refuse a setting.
        IoFailed: If the directory cannot be made.
    """
    check_request(request)
    check_environment(base)
    chosen = _choose(base, request.device, request.program)
    runtimes = _runtimes(chosen, _find(base, request.program))
    variables = {"MNEME_DEVICE": chosen, **_label_variables(base), **request.variables()}
    environment = _preload(base, [library(_RECORDER), *runtimes], variables)
    try:
        request.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IoFailed(
            f"cannot make the directory '{request.directory}': {error.strerror}"
        ) from error
    return environment


def _choose(base: Mapping[str, str], device: str | None, program: str | None) -> str:
    named = None if device == _AUTO else device
    chosen = choose_device(named)
    if named or os.environ.get("MNEME_DEVICE") or chosen == _CPU or not program:
        return chosen
    found = _find(base, program)
    facts = read_elf(found) if found else None
    kinds = {
        kind
        for runtime, kind in DEVICE_BY_RUNTIME.items()
        if facts and any(name.startswith(runtime) for name in facts.needed)
    }
    return chosen if not kinds or chosen.partition(":")[0] in kinds else _CPU


def _find(base: Mapping[str, str], program: str | None) -> Path | None:
    found = shutil.which(program, path=base.get("PATH")) if program else None
    return Path(found) if found else None


def _runtimes(device: str, program: Path | None) -> list[Path]:
    if device != _CPU:
        return []
    names = [*CPU_RUNTIMES]
    # A runtime inside of the program would mistake our driver for a real one.
    if not (program and brings_own_runtime(program)):
        names.append(CPU_DRIVER)
    files = with_libraries(program) if program else []
    needed = {name for path in files if (facts := read_elf(path)) for name in facts.needed}
    # What mpirun, a shell or Python starts may be linked to any of them.
    starts_others = not any(name.startswith(tuple(DEVICE_BY_RUNTIME)) for name in needed)
    names += [ours for name, ours in CPU_STAND_INS.items() if starts_others or name in needed]
    found = [prefix() / "lib" / name for name in names]
    return [path for path in found if path.is_file()] or [library(CPU_RUNTIMES[0])]


def _label_variables(base: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which Kokkos and NVTX load our library, beside the user's tools."""
    path = prefix() / "lib" / _LABELS
    if not path.is_file() or ";" in str(path):
        return {}
    variables: dict[str, str] = {}
    # Kokkos aborts if both are set and differ, and warns about the old one.
    tools = [name for name in _KOKKOS_TOOLS if base.get(name)] or [_KOKKOS_TOOLS[0]]
    for name in tools:
        others = [one for one in base.get(name, "").split(";") if one and Path(one).name != _LABELS]
        variables[name] = ";".join([str(path), *others])
    injected = base.get(_NVTX_TOOL, "")
    if injected and Path(injected).name != _LABELS:
        variables[_OUR_NVTX_TOOL] = injected
    variables[_NVTX_TOOL] = str(path)
    return variables


def _preload(
    base: Mapping[str, str], libraries: list[Path], variables: Mapping[str, str]
) -> dict[str, str]:
    names = [str(path) for path in libraries]
    for name in names:
        if ":" in name or " " in name:
            raise InvalidArgument(
                f"'{name}' cannot be preloaded: its path has a blank or a colon; move mneme"
            )
    # Libraries that the user preloads stay, after ours; but a recorder does not see calls that the
    # CPU device's runtime handles first.
    given = base.get("LD_PRELOAD", "").replace(" ", ":").split(":")
    recorders = [part for part in given if Path(part).name == _RECORDER]
    names = [
        *(part for part in recorders if part not in names),
        *names,
        *(part for part in given if part and part not in recorders),
    ]
    environment = {**base, **variables}
    if names:
        environment["LD_PRELOAD"] = ":".join(names)
    return environment
