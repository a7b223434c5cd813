"""How long jobs of batch systems still have, so that a search ends with a winner in time."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from typing import Final

__all__ = ["seconds_of_job", "time_for_search"]

# Between the end of a search and the end of its job, and the part of the job it takes at most.
_RESERVE_SECONDS: Final = 90.0
_RESERVE_PART: Final = 1 / 2
_ANSWER_SECONDS: Final = 10.0


def seconds_of_job() -> float | None:
    """Return the seconds until the job that this process belongs to reaches its time limit.

    None: there is no job, it has no limit, or its batch system does not answer. Slurm
    (SLURM_JOB_END_TIME; or squeue, before Slurm 23 and where the clock is wrong) and Flux
    (flux-job(1), timeleft) are asked.
    """
    if (by_clock := _seconds_by_clock()) is not None:
        return by_clock
    if job := os.environ.get("SLURM_JOB_ID"):
        left = _answer("squeue", "--noheader", f"--jobs={job}", "--format=%L")
        found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", left)
        if found is None:
            return None
        days, hours, minutes, seconds = (int(one or 0) for one in found.groups())
        return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    if os.environ.get("FLUX_JOB_ID"):
        left = _answer("flux", "job", "timeleft")
        return float(left) if re.fullmatch(r"\d+(\.\d+)?", left) else None
    return None


def _seconds_by_clock() -> float | None:
    """Return the seconds until a job of Slurm ends; None if this clock cannot be right."""
    end, start = (os.environ.get(f"SLURM_JOB_{one}_TIME", "") for one in ("END", "START"))
    if not end.isdigit():
        return None
    left = float(end) - time.time()
    is_possible = left > 0 and (not start.isdigit() or left <= float(end) - float(start))
    return left if is_possible or shutil.which("squeue") is None else None


def time_for_search(left: float) -> float:
    """Return how long a search may take in a job that has so many seconds left."""
    return max(1.0, left - min(_RESERVE_SECONDS, _RESERVE_PART * left))


def _answer(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_ANSWER_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
