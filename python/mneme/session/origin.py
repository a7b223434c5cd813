"""Where the numbers of a results directory come from: the machine, the versions, the launch."""

from __future__ import annotations

import json
import os
import platform
import socket
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme import __version__
from mneme.devices import device_limits, measures_elsewhere
from mneme.errors import MnemeError
from mneme.recording.launch_facts import static_hash_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
    from mneme.session.result_store import ResultStore

__all__ = [
    "ORIGIN_FILE",
    "asked_before",
    "asked_multiprocessors",
    "machine_at",
    "note_origin",
]

ORIGIN_FILE = "origin.json"
_SINCE = "since"
_ASKED = "multiprocessors_asked"


def asked_multiprocessors() -> str:
    """Return on how many multiprocessors people want replays to run; empty: as recorded."""
    return os.environ.get("MNEME_MULTIPROCESSORS", "")


def asked_before(store: ResultStore) -> str | None:
    """Return the same of what measured last; None if nothing did.

    Raises:
        ArtifactCorrupt: If `origin.json` is damaged.
    """
    machines = _machines(store.read(ORIGIN_FILE) or {})
    return str(machines[-1].get(_ASKED, "")) if machines else None


def note_origin(
    store: ResultStore,
    record: RecordedExecution,
    instance: KernelInstance,
    device: str,
    multiprocessors: int = 0,
) -> None:
    """Write `origin.json`; a machine that it does not name last is added to its list.

    Args:
        store: The results directory.
        record: The tuned record.
        instance: Its tuned launch.
        device: What measured the baseline, as in `--device`.
        multiprocessors: On how many of the device's; 0: not known.

    Raises:
        ArtifactCorrupt: If there is such a file, and it is damaged.
        IoFailed: If the operating system refuses.
    """
    machines = _machines(store.read(ORIGIN_FILE) or {})
    here = _machine(device) | _part(multiprocessors)
    last = {key: value for key, value in machines[-1].items() if key != _SINCE} if machines else {}
    if here != last:
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        machines.append({_SINCE: now, **here})
    store.write(ORIGIN_FILE, {"record": _launch(record, instance), "machines": machines})


def machine_at(origin: Mapping[str, Any], started: str) -> dict[str, Any]:
    """Return the machine that measured at a time; empty if none is known.

    Args:
        origin: The content of `origin.json`.
        started: When measuring began, ISO 8601 in UTC; empty: not known.
    """
    found: dict[str, Any] = {}
    for one in _machines(origin):
        if not found or (started and str(one.get(_SINCE, "")) <= started):
            found = one
    return found


def _machines(origin: Mapping[str, Any]) -> list[dict[str, Any]]:
    known = origin.get("machines")
    return [one for one in known if isinstance(one, dict)] if isinstance(known, list) else []


def _launch(record: RecordedExecution, instance: KernelInstance) -> dict[str, Any]:
    return {
        "kernel_name": record.kernel_name,
        "demangled_name": record.demangled_name,
        "place": str(record.place or ""),
        "label": "/".join(instance.labels),
        "static_hash": static_hash_text(record.static_hash),
        "code_hash": record.code_hash,
        "ir_hash": "+".join(record.module_hashes),
        "record_id": instance.dynamic_hash,
        "source_arch": record.arch,
    }


def _part(multiprocessors: int) -> dict[str, Any]:
    told = {"multiprocessors": multiprocessors, _ASKED: asked_multiprocessors()}
    return {key: value for key, value in told.items() if value}


def _machine(device: str) -> dict[str, str]:
    """Return the machine that measures; of a cluster's, only the device is known."""
    told = {"device": device, "mneme_version": __version__, "llvm_version": _llvm_version()}
    try:
        limits = device_limits(device or None)
    except MnemeError:
        limits = None
    if limits is not None:
        told |= {
            "device_name": limits.name,
            "target": limits.target,
            "driver": limits.driver,
        }
    if not measures_elsewhere():
        system = f"{platform.system()} {platform.release()}"
        told |= {"host": socket.gethostname(), "os": system, "cpu": _processor()}
    return told


def _llvm_version() -> str:
    from mneme import _native  # noqa: PLC0415 - loads the compiler

    try:
        return str(json.loads(_native.compiler_version()).get("llvm", ""))
    except (MnemeError, ValueError):
        return ""


def _processor() -> str:
    """Return the model of the processor, as Linux names it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() == "model name":
            return value.strip()
    return platform.machine() or os.uname().machine
