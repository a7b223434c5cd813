"""Which backend a process uses: chosen at the first use, then locked.

Backends are entry points of the group `proteus.backends`, each a `Backend`. One library serves all
of mneme's, so that what differs is where `has_cuda` and the rest say that kernels run.
"""

from __future__ import annotations

import ctypes
import os
import threading
from dataclasses import dataclass
from importlib.metadata import entry_points

from mneme.errors import BackendUnavailable
from mneme.install.paths import library

__all__ = [
    "CUDA",
    "HOST",
    "ROCM",
    "Backend",
    "active",
    "available_backend_variants",
    "available_backends",
]

_NONE = "No Proteus backend is installed"


@dataclass(frozen=True)
class Backend:
    """A way to compile and run."""

    kind: str
    """host, cuda or rocm."""

    variant: str

    def load(self) -> ctypes.CDLL:
        """Return the library behind it.

        Raises:
            ImportError: If it was not built or installed.
        """
        try:
            return ctypes.CDLL(str(library("libmneme_frontend.so")))
        except (BackendUnavailable, OSError) as error:
            raise ImportError(f"{_NONE}: {error}") from error


HOST = Backend("host", "host_llvm22")
CUDA = Backend("cuda", "cuda_llvm22")
ROCM = Backend("rocm", "rocm_llvm22")

_lock = threading.Lock()
_locked: Backend | None = None


def _installed() -> dict[str, Backend]:
    # A checkout and an install prefix have no entry points.
    found = {backend.variant: backend for backend in (HOST, CUDA, ROCM)}
    for entry in entry_points(group="proteus.backends"):
        try:
            backend = entry.load()
        except (ImportError, AttributeError):
            continue  # what is left of a package that is gone
        if isinstance(backend, Backend):
            found[backend.variant] = backend
    return found


def available_backends() -> list[str]:
    """Return the kinds that are installed."""
    return list(dict.fromkeys(backend.kind for backend in _installed().values()))


def available_backend_variants() -> list[str]:
    """Return the variants that are installed."""
    return list(_installed())


def active() -> Backend:
    """Return the backend of this process.

    `PROTEUS_BACKEND_VARIANT` or `PROTEUS_BACKEND_KIND` name it, else it is that of a usable GPU,
    else the host's.

    Raises:
        ImportError: If there is none as named.
        RuntimeError: If another one is named than the process uses already.
    """
    global _locked  # noqa: PLW0603 - one per process
    named = {
        word: os.environ.get(f"PROTEUS_BACKEND_{word.upper()}") for word in ("variant", "kind")
    }
    with _lock:
        if _locked is None:
            _locked = _choose(named["variant"], named["kind"])
        for word, name in named.items():
            if name and name != getattr(_locked, word):
                raise RuntimeError(
                    f"the Proteus backend of this process is locked to '{_locked.variant}'; "
                    f"PROTEUS_BACKEND_{word.upper()}='{name}' has to be set before its first use"
                )
        return _locked


def _choose(variant: str | None, kind: str | None) -> Backend:
    installed = _installed()
    word, name = ("variant", variant) if variant else ("kind", kind or _usable_kind())
    for backend in installed.values():
        if getattr(backend, word) == name and (not kind or backend.kind == kind):
            return backend
    asked = f"PROTEUS_BACKEND_{word.upper()}='{name}'"
    if variant and kind:
        asked += f" and PROTEUS_BACKEND_KIND='{kind}'"
    raise ImportError(f"{_NONE} for {asked}; there are {', '.join(installed)}")


def _usable_kind() -> str:
    process = ctypes.CDLL(None)
    # Runtimes on the CPU device, which 'mneme run' preloads.
    if hasattr(process, "mneme_cudart_device_name"):
        return "cuda"
    if hasattr(process, "mneme_hiprt_device_name"):
        return "rocm"
    return "cuda" if _has_nvidia_gpu() else "host"


def _has_nvidia_gpu() -> bool:
    """Ask the management library: initialising CUDA would spoil the children of a fork."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
        return False
    try:
        management = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return False
    if management.nvmlInit_v2() != 0:
        return False
    count = ctypes.c_uint(0)
    status = management.nvmlDeviceGetCount_v2(ctypes.byref(count))
    management.nvmlShutdown()
    return status == 0 and count.value > 0
