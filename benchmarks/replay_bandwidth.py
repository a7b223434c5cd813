"""Open, restore and verify bandwidth of a large recording, and replays per second of a small one."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from common import BUILD, best_of, mneme, publish

from mneme import _native

PROGRAM = BUILD / "examples" / "vector_add"


def only_record(folder: Path) -> Path:
    """The record of the one kernel vector_add has."""
    return next(folder.glob("*.json"))


def copy_bandwidth() -> float:
    """Bytes per second of a large host copy: the floor restore and verify are measured against."""
    source = bytearray(256 << 20)
    target = bytearray(256 << 20)

    def copy() -> None:
        memoryview(target)[:] = source

    return len(source) / best_of(5, copy)


def main() -> None:
    """Record a large and a small vector_add and time their replays."""
    elements = 32 << 20
    with tempfile.TemporaryDirectory() as text:
        large, small = Path(text) / "large", Path(text) / "small"
        mneme("record", "-rdb", large, "--device", "cpu", "--", PROGRAM, str(elements))
        mneme("record", "-rdb", small, "--device", "cpu", "--", PROGRAM, "4096")

        raw = 3 * 4 * elements
        start = time.perf_counter()
        session = _native.ReplaySession(str(only_record(large)), "", "cpu")
        opened = time.perf_counter() - start
        result = json.loads(session.run(session.recorded(), '{"iterations": 3, "warmup": 1}')[0])

        session.close()
        session = _native.ReplaySession(str(only_record(small)), "", "cpu")
        configuration = session.recorded()
        session.run(configuration, '{"iterations": 1, "warmup": 0}')
        count = 2000
        start = time.perf_counter()
        session.run(configuration, json.dumps({"iterations": count, "warmup": 0}))
        launches = count / (time.perf_counter() - start)
        start = time.perf_counter()
        for _ in range(50):
            session.run(configuration, '{"iterations": 1, "warmup": 0}')
        configurations = 50 / (time.perf_counter() - start)
        session.close()
        command = best_of(
            3, lambda: mneme("replay", "-rdb", only_record(small), "--device", "cpu", "default<O3>")
        )
        open_small = best_of(
            5, lambda: _native.ReplaySession(str(only_record(small)), "", "cpu").close()
        )
    publish(
        "replay_bandwidth",
        f"vector_add, {raw / 1e6:.0f} MB of recorded memory, and 4096 elements",
        {
            "host copy bandwidth, one thread (GB/s)": round(copy_bandwidth() / 1e9, 2),
            "open, prologue and epilogue (GB/s)": round(2 * raw / opened / 1e9, 2),
            "restore (s)": round(result["restore_time"], 4),
            "verify (GB/s)": round(raw / result["verify_time"] / 1e9, 2)
            if result["verify_time"]
            else "n/a",
            "replays of one binary per second, small": round(launches),
            "configurations per second, small, image cached": round(configurations),
            "open a small recording (ms)": round(open_small * 1e3, 2),
            "one `mneme replay` command, small (s)": round(command, 3),
        },
    )


if __name__ == "__main__":
    main()
