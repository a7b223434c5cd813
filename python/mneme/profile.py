"""Start and stop a GPU profiler that waits for the program's request.

`nsys profile --capture-range=cudaProfilerApi`, `ncu --profile-from-start off` and the like. Without
a driver there is no such profiler, and nothing is done.
"""

from __future__ import annotations

import ctypes
import functools

from mneme._vendors import DRIVER_LIBRARY, DRIVER_MARK_ON_CPU

__all__ = ["gpu_profile_start", "gpu_profile_stop", "init_profiler"]


def init_profiler() -> bool:
    """Load the driver; return whether there is one that can control a profiler."""
    return _driver() is not None


def gpu_profile_start() -> bool:
    """Start collecting; return whether the driver has passed the request on."""
    return _tell("cuProfilerStart")


def gpu_profile_stop() -> bool:
    """Stop collecting; return whether the driver has passed the request on."""
    return _tell("cuProfilerStop")


def _tell(name: str) -> bool:
    driver = _driver()
    if driver is None:
        return False
    function = getattr(driver, name, None)
    return function is not None and function() == 0


@functools.cache
def _driver() -> ctypes.CDLL | None:
    try:
        driver = ctypes.CDLL(DRIVER_LIBRARY)
    except OSError:
        return None
    is_real = not hasattr(driver, DRIVER_MARK_ON_CPU)
    return driver if is_real and driver.cuInit(0) == 0 else None
