"""Processes of ours that answer requests: started, asked, held to deadlines, replaced and ended.

Own code, as in pools such as those of pebble and `concurrent.futures` all processes share one queue
(none can be asked for the device it owns), one that is killed while idle breaks the pool, and an
assembler that a compiler started outlives the deadline that ended the compiler.
"""

from __future__ import annotations

__all__ = ()
