"""Processes of ours that answer requests: started, asked, held to deadlines, replaced and ended.

`worker.Worker` is the life of one process, the same for those that compile (`CompilePool`) and
those that measure (`TuneWorkerHandle`): what differs is in their `Lifecycle` and in what they do
when told.

Why own code, and not the pool of pebble (5.2.3, tried on 2026-11-23)? It has a good part of this:
it ended a hung worker 50 ms after its deadline, which begins with the work and not in the queue,
named the exit code of one that crashed, went on with another, and took 32 MiB in 0.1 s. But:

- A worker that dies while it is idle, as when the kernel needs memory, breaks the pool for good.
- An assembler that a compiler started outlives the deadline that ended the compiler.
- All workers share one queue. None can be asked for the device it owns, be handed its next
  request while it measures, or be told apart from one that is still starting.
- IR would travel with each request: nobody knows what a process was sent before (`content.Kept`).

It would take the place of `child` and of a part of `serving` and `worker`, some 300 of 680 lines,
and each of these points would have to be built around it.
"""

from __future__ import annotations

__all__ = ()
