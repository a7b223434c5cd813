"""Replays configurations: in this process, in workers, on other nodes.

Workers are processes of ours that answer requests: they are started, asked, held to deadlines,
replaced and ended.

`worker.Worker` manages one process, in the same way for processes that compile (`CompilePool`) and
that measure (`TuneWorkerHandle`). They differ in their `Lifecycle` and in how they react to events.

Why our own code, and not the pool of pebble (5.2.3, tried on 2026-11-23)? It has much of this: it
ended a hung worker 50 ms after its deadline, which begins with the work and not in the queue,
reported the exit code of a crashed one, continued with another, and accepted 32 MiB in 0.1 s. But:

- A worker that dies while idle, for example when the system needs memory, breaks the pool
  permanently.
- An assembler that a compiler started outlives the deadline that ended the compiler.
- All workers share one queue. A request cannot go to the worker of a given device or be sent
  while that worker measures, and a worker that is still starting cannot be recognised.
- IR would be sent with each request, because nothing records what a process has (`content.Kept`).

It would replace `child` and parts of `serving` and `worker`, about 300 of 680 lines, and each of
these points would have to be built around it.
"""

from __future__ import annotations

__all__ = ()
