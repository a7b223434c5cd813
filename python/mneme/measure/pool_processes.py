"""Looks at the processes of somebody else's pool before anything is measured in them."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
from collections import Counter
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import mneme
from mneme.devices import DeviceLimits
from mneme.errors import BackendUnavailable, InvalidArgument, MnemeError
from mneme.measure.dask_questions import ANSWER_SECONDS, ask_workers, threads_of
from mneme.measure.pool_task import BrokenPool
from mneme.measure.remote_evaluation import (
    LacksRecording,
    admit,
    examine,
    model_here,
    why_not_replayed,
)
from mneme.measure.sent_part import pack_part
from mneme.measure.sent_recordings import Package, pack, send

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from concurrent.futures import Executor, Future

    from mneme.measure.remote_evaluation import RemoteSpec

__all__ = [
    "PoolProcess",
    "PoolProcesses",
    "admitted_late",
    "busy_with",
    "find_processes",
    "helpers_of",
    "look_at_late",
    "models_of",
    "number_of_processes",
    "of_model",
    "only",
    "places_of",
    "sure_pool",
]

# Configurations that a process which compiles ahead needs beside those that are compiled: some are
# ready, some are next, and about half as many as are compiled wait for the others of their task.
_READY, _WAITING_PART = 8, 2
_SECONDS = 60.0
_BYTES_PER_SECOND = 50e6
"""How fast a host reads and hashes a recording at least."""
_NAME_SECONDS = 5.0
_REPLAY_SECONDS = 5 * ANSWER_SECONDS
_CPU = "cpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolProcess:
    """A process of a pool that can measure."""

    host: str
    pid: int
    limits: DeviceLimits

    threads: int = 0
    """Tasks that Dask gives it at a time; 0: the pool is another, and gives it one."""

    cores: Sequence[int] = ()
    """Numbers of the processors that it may run on."""

    unusable: Mapping[str, str] = field(default_factory=dict)
    """Why it measures on no GPU, by vendor; empty: it does, or nobody asked for one."""

    @property
    def device(self) -> str:
        """Its device, as in `--device`."""
        return self.limits.id


@dataclass(slots=True, kw_only=True)
class PoolProcesses:
    """What was found out about a pool."""

    pool: Executor
    """The pool without processes that cannot measure, if it lets others be chosen."""
    by_address: dict[str, PoolProcess] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Why a process cannot measure, by host or address."""
    doubts: list[str] = field(default_factory=list)
    """Further sentences to warn users."""
    package: Package | None = None
    """The recording, if it was sent."""
    is_part_checked: bool = False
    """Whether a process has replayed what was sent in part."""

    @property
    def warnings(self) -> list[str]:
        """What users are to be warned of."""
        return [f"{at} is left out: {why}" for at, why in self.left_out.items()] + self.doubts

    @property
    def usable(self) -> list[PoolProcess]:
        """The processes that can measure."""
        return list(self.by_address.values())

    @property
    def model(self) -> str:
        """The vendor's name of all their devices."""
        return self.usable[0].limits.name if self.by_address else ""


def find_processes(pool: Executor, spec: RemoteSpec) -> PoolProcesses:
    """Look at each process: mneme of this version, the recording, a device.

    Hosts of a Dask cluster that do not have the recording are sent it. Times of different models
    cannot be compared, so the model that most processes have is used.

    Raises:
        BackendUnavailable: If no process can measure; `BrokenPool` if Dask has none at all.
    """
    client = getattr(pool, "_client", None)
    found = _of_pool(pool, spec) if client is None else _of_dask(pool, client, spec)
    if not found.usable:
        told = "; ".join(f"{place}: {why}" for place, why in found.left_out.items())
        is_empty = client is not None and not found.left_out
        raise (BrokenPool if is_empty else BackendUnavailable)(
            f"no process of the pool can measure: {told or f'none answered in {_SECONDS:g} s'}"
        )
    _leave_out_other_models(found)
    if client is not None:
        found.pool = _admitted(pool, spec.sender, found.by_address)
    return found


def of_model(pool: Any, model: str, device: str | None) -> Any:  # noqa: ANN401 - of Dask
    """Return a Dask pool that uses the processes with this text in the name of their GPU only.

    Args:
        pool: The pool.
        model: The text, in any case.
        device: What measures; None: what each process finds.

    Raises:
        InvalidArgument: If the pool is none of Dask's: others choose the process themselves.
        BackendUnavailable: If no process has such a GPU.
    """
    names = _names_of(pool, device)
    wanted = model.casefold()
    # The whole name of a model may be a part of another's.
    is_whole = wanted in {name.casefold() for name in names.values()}
    chosen = [
        address
        for address, name in names.items()
        if (wanted == name.casefold() if is_whole else wanted in name.casefold())
    ]
    if not chosen:
        there = ", ".join(sorted(set(names.values()))) or "none"
        raise BackendUnavailable(
            f"no process of the cluster measures on a '{model}'; the models there are: {there}"
        )
    return only(pool, chosen)


def models_of(pool: Any, device: str | None) -> list[str]:  # noqa: ANN401 - of Dask
    """Return the names of all models of GPU that a Dask pool measures on.

    Args:
        pool: The pool.
        device: What measures; None: what each process finds.

    Raises:
        InvalidArgument: If the pool is none of Dask's.
        BackendUnavailable: If no process answers.
    """
    names = sorted(set(_names_of(pool, device).values()))
    if not names:
        raise BackendUnavailable("no process of the cluster can say which GPU it measures on")
    return names


def _names_of(pool: Any, device: str | None) -> dict[str, str]:  # noqa: ANN401 - of Dask
    """Return the name of the model by the address of the process."""
    client = getattr(pool, "_client", None)
    if client is None:
        raise InvalidArgument("--model chooses among the processes of Dask clusters and jobs only")
    answers = ask_workers(client, model_here, device)
    return {address: name for address, name in answers.items() if isinstance(name, str)}


def sure_pool(pool: Any) -> Any:  # noqa: ANN401 - an `Executor`
    """Return a pool that computes what it is given, and whose futures end; most do."""
    if not type(pool).__module__.startswith("distributed."):
        return pool
    from mneme.measure.dask_pool import DaskPool  # noqa: PLC0415 - large, and optional

    return DaskPool(pool._client, **pool._kwargs)  # noqa: SLF001 - there is no other way to it


def only(pool: Any, addresses: Iterable[str]) -> Any:  # noqa: ANN401 - of Dask
    """Return a Dask pool that uses these processes only."""
    named = {**getattr(pool, "_kwargs", {}), "workers": list(addresses)}
    return type(pool)(pool._client, **named)  # noqa: SLF001 - there is no other way to it


def admitted_late(
    pool: Any,  # noqa: ANN401 - of Dask
    sender: str,
    kept: Iterable[str],
    alive: AbstractSet[str],
    found: PoolProcesses,
) -> Any:  # noqa: ANN401 - of Dask
    """Admit processes that joined; return a pool that uses these, too, or the same one.

    Args:
        pool: The pool.
        sender: The search, as in `RemoteSpec`.
        kept: The addresses of those that it uses, as far as they are alive.
        alive: All addresses.
        found: What was found out about those that joined.
    """
    fit = {*kept, *found.by_address}
    is_limited, may_be_open = bool(places_of(pool)), alive <= fit
    if not fit or not (found.by_address or is_limited == may_be_open):
        return pool
    return _admitted(pool, sender, fit)


def _admitted(pool: Any, sender: str, addresses: Iterable[str]) -> Any:  # noqa: ANN401 - of Dask
    """Admit processes; return a pool that uses these only.

    A task that is limited to some processes costs a scheduler several times as much as another, and
    waits for one of them instead of for whichever is free. So tasks are limited only while there
    are processes that must not measure. One that joins refuses what it gets until it is admitted.

    Args:
        pool: The pool.
        sender: The search, as in `RemoteSpec`.
        addresses: The processes.
    """
    chosen, client = list(addresses), pool._client  # noqa: SLF001 - there is no other way to it
    ask_workers(client, admit, sender, workers=chosen)
    if not set(threads_of(client)) <= set(chosen):
        return only(pool, chosen)
    kept = {name: one for name, one in pool._kwargs.items() if name != "workers"}  # noqa: SLF001
    return type(pool)(client, **kept)


def _leave_out_other_models(found: PoolProcesses) -> None:
    # Where nobody has chosen the CPU device, it is what is left of nodes whose GPUs do not work.
    gpus = [one for one in found.usable if one.device != _CPU]
    models = Counter(one.limits.name for one in gpus or found.usable)
    ((usual, count),) = models.most_common(1)
    vendor = next(one.device for one in found.usable if one.limits.name == usual).partition(":")[0]
    for address, one in list(found.by_address.items()):
        if one.limits.name != usual:
            why = one.unusable.get(vendor, "")
            found.left_out[address] = (
                f"{one.host} has {one.limits.name}, and {count} of the other processes {usual}: "
                "times of different models cannot be compared"
                f"{why and f'; its GPU cannot be used: {why}'}"
            )
            del found.by_address[address]


def number_of_processes(pool: Executor) -> int:
    """Return the number of a pool's processes, as far as known."""
    count = getattr(pool, "_max_workers", None)
    client = getattr(pool, "_client", None)
    if client is not None:
        count = sum(threads_of(client).values())
    return count if isinstance(count, int) and count > 0 else os.cpu_count() or 1


def helpers_of(processes: Sequence[PoolProcess]) -> int:
    """Return how many processes may compile ahead for each that measures on a GPU.

    Launchers that bind ranks give each its own processors; otherwise those of a host share all.
    One is left to the process that measures.
    """
    if any(one.device == "cpu" for one in processes):
        return 0
    hosts: dict[str, list[PoolProcess]] = {}
    for one in processes:
        hosts.setdefault(one.host, []).append(one)
    shares = [len({c for one in own for c in one.cores}) // len(own) for own in hosts.values()]
    return max(0, min(shares, default=0) - 1)


def busy_with(processes: Iterable[PoolProcess]) -> int:
    """Return how many configurations the processes need that compile ahead of several tasks.

    These are Dask's with a GPU and several threads: they compile on as many cores.
    """
    several = [one.threads for one in processes if one.threads > 1 and one.device != _CPU]
    return sum(one + one // _WAITING_PART + _READY for one in several)


def _of_dask(pool: Any, client: Any, spec: RemoteSpec) -> PoolProcesses:  # noqa: ANN401 - of Dask
    found = PoolProcesses(pool=pool)
    _look_at(client, spec, places_of(pool) or list(threads_of(client)), found)
    return found


def look_at_late(
    pool: Any,  # noqa: ANN401 - of Dask
    spec: RemoteSpec,
    addresses: Collection[str],
) -> PoolProcesses:
    """Look at workers that joined a Dask cluster after the others were looked at, as at these.

    Those of other models are left out; they are not named if the models of the pool were chosen.

    Args:
        pool: The pool as it was before the others were looked at.
        spec: What they are to measure, and on which model.
        addresses: The workers.
    """
    client, found = pool._client, PoolProcesses(pool=pool)  # noqa: SLF001
    if not addresses:  # each second, while nobody joins
        return found
    if places_of(pool):
        names = ask_workers(client, model_here, spec.device, workers=addresses)
        addresses = [one for one, name in names.items() if name == spec.model]
    _look_at(client, spec, addresses, found)
    for address, one in list(found.by_address.items()):
        if one.limits.name != spec.model:
            found.left_out[address] = (
                f"{one.host} has {one.limits.name}, and the other processes {spec.model}: times of "
                "different models cannot be compared"
            )
            del found.by_address[address]
    return found


def places_of(pool: Any) -> frozenset[str]:  # noqa: ANN401 - of Dask
    """Return the addresses that a Dask pool is limited to; none: it uses all."""
    return frozenset(getattr(pool, "_kwargs", {}).get("workers", ()))


def _look_at(
    client: Any,  # noqa: ANN401 - of Dask
    spec: RemoteSpec,
    addresses: Iterable[str],
    found: PoolProcesses,
) -> None:
    """Look at workers of a Dask cluster, and send them the recording if they lack it."""
    asked = (examine, spec, mneme.__version__, 0)
    among, threads = list(addresses), threads_of(client)
    answers, nameless = ask_workers(client, *asked, workers=among), []
    for address in among:
        run = functools.partial(_run, client, address)
        try:
            answer = answers[address]
            if isinstance(answer, LacksRecording):
                answer = _sent(run, asked, found)
            elif isinstance(answer, BaseException):
                raise answer  # noqa: TRY301 - as the other ones
        except Exception as error:  # noqa: BLE001 - whatever the worker raised
            found.left_out[address] = _reason(error)
            if not isinstance(error, BackendUnavailable):  # these name their host, or are silent
                nameless.append(address)
        else:
            # A process does not know its own while it answers questions.
            found.by_address[address] = replace(_process(answer), threads=threads.get(address, 0))
    if not nameless:
        return
    names = ask_workers(client, socket.gethostname, workers=nameless, seconds=_NAME_SECONDS)
    for address in nameless:
        if isinstance(name := names[address], str):
            found.left_out[address] = f"{name}: {found.left_out[address]}"


def _sent(run: Callable[..., Any], asked: tuple[Any, ...], found: PoolProcesses) -> Any:  # noqa: ANN401
    """Return the answer of a process once its host has the recording."""
    _, spec, *_ = asked
    if found.package is not None:  # another process of this host may have got it
        with contextlib.suppress(LacksRecording):
            return run(*asked)
    packed = (spec.record_db, str(spec.record_id))
    found.package = found.package or pack_part(*packed) or pack(*packed)
    _send(run, spec, found.package)
    if found.package.is_part and not found.is_part_checked:
        why = run(why_not_replayed, spec, seconds=_REPLAY_SECONDS)
        found.is_part_checked = True
        if why:
            found.doubts.append(
                "the launch is sent with all memory, because it does not replay without the memory "
                f"to which no pointer leads: {why}"
            )
            found.package = pack(*packed)
            _send(run, spec, found.package)
    return run(*asked)


def _send(run: Callable[..., Any], spec: RemoteSpec, package: Package) -> None:
    # Its end is one question, for which the host reads all of it.
    seconds = ANSWER_SECONDS + package.bytes / _BYTES_PER_SECOND
    send(package, spec.sender, functools.partial(run, seconds=seconds))


def _run(
    client: Any,  # noqa: ANN401 - of Dask
    address: str,
    function: Any,  # noqa: ANN401 - of any arguments
    *arguments: Any,  # noqa: ANN401
    seconds: float | None = None,
) -> Any:  # noqa: ANN401
    asked = ask_workers(client, function, *arguments, workers=[address], seconds=seconds)
    answer = asked[address]
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _of_pool(pool: Executor, spec: RemoteSpec) -> PoolProcesses:
    found = PoolProcesses(pool=pool)
    tasks: list[Future[dict[str, Any]]] = [
        pool.submit(examine, spec, mneme.__version__, number)
        for number in range(number_of_processes(pool))
    ]
    for task in wait(tasks, _SECONDS).done:
        error = task.exception()
        if error is None:
            process = _process(task.result())
            found.by_address[f"{process.host}:{process.pid}"] = process
        else:
            text = _reason(error)
            place, _, why = text.partition(": ")
            found.left_out[place if why else "a process"] = why or text
    return found


def _process(answer: dict[str, Any]) -> PoolProcess:
    return PoolProcess(**{**answer, "limits": DeviceLimits(**answer["limits"])})


def _reason(error: BaseException) -> str:
    if isinstance(error, MnemeError):
        return str(error)
    # Dask raises an error of its own that quotes the worker's.
    if isinstance(error, ImportError) or "ModuleNotFoundError" in str(error):
        return f"mneme cannot be imported there ({error}): install it, or set PYTHONPATH"
    return f"{type(error).__name__}: {error}"
