"""`mneme show`: everything about one recorded kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.cli import _console
from mneme.cli._options import JsonOption
from mneme.cli._recording import (
    DatabaseOption,
    GraphOption,
    KernelArgument,
    RecordIdOption,
    RecordingArgument,
    refuse_words,
    tell_apart,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mneme.recording.graphs import RecordedGraph
    from mneme.recording.inventory import ArgumentDetails, InstanceDetails, KernelDetails

__all__ = ["show"]

# Characters that tables of arguments leave for names and types on 80 columns.
_NARROW_NAME, _NARROW_TYPE = 20, 14
_NARROW = _NARROW_NAME + _NARROW_TYPE
_OTHER_COLUMNS = 80 - _NARROW


def show(
    recording: RecordingArgument = None,
    kernel: KernelArgument = None,
    record_database: DatabaseOption = None,
    record_id: RecordIdOption = None,
    graph: GraphOption = None,
    json: JsonOption = False,
) -> None:
    """Show everything about one recorded kernel.

    Launches, arguments with values, memory, sizes and times. With --graph, the nodes of a graph.
    """
    from mneme.recording.graphs import choose_graph  # noqa: PLC0415
    from mneme.recording.inventory import describe_record  # noqa: PLC0415
    from mneme.recording.records import choose  # noqa: PLC0415

    here = Path() if recording is None and record_database is None else record_database
    words = tell_apart(recording, kernel, database=here)
    if graph is not None:
        refuse_words(words, record_id)
        _show_graph(choose_graph(words.recording, graph), as_json=json)
        return
    chosen = choose(words.recording, words.kernel, record_id)
    details = describe_record(chosen.record, [one.dynamic_hash for one in chosen.launches])
    if json:
        _console.print_json(details.to_dict())
        return
    _show_kernel(details)
    for instance in details.instances:
        _show_instance(instance)


def _show_graph(graph: RecordedGraph, *, as_json: bool) -> None:
    if as_json:
        _console.print_json(graph.to_dict())
        return
    _console.print_line(f"{'graph':>15}  {graph.graph_hash}")
    _console.print_line(f"{'file':>15}  {graph.path.name}")
    if graph.labels:
        _console.print_line(f"{'label':>15}  {'/'.join(graph.labels)}")
    content = _console.table("nodes", (">", "kind", "kernel", "record", "launch", ">after"))
    for place, node in enumerate(graph.nodes):
        record = f"{node.static_hash}.json" if node.kernel else ""
        after = ", ".join(str(before) for before in node.after)
        content.add_row(str(place), node.kind, node.kernel, record, node.record_id, after)
    _console.print_table(content)


def _show_kernel(details: KernelDetails) -> None:
    window = f"{details.window}, {_console.format_bytes(details.window_bytes)}"
    rows = (
        ("kernel", details.demangled_name),
        ("mangled", details.kernel_name),
        ("place", details.place or "unknown"),
        ("record", details.file),
        ("code", _code_text(details)),
        ("built for", details.arch or "unknown"),
        ("recorded on", details.device or "unknown"),
        ("address window", window),
    )
    launches = "launches of its own"
    unheld = [one for one in details.unrecorded_reads if one != launches]
    facts = (
        ("not recorded", f"{', '.join(unheld)}: its replays may differ" if unheld else ""),
        (
            "launches",
            "kernels itself: its replays may differ, or fail"
            if launches in details.unrecorded_reads
            else "",
        ),
        ("set to zero", "; ".join(details.zeroed_locals)),
        *_code_rows(details.code or {}),
    )
    for name, value in (*rows, *(fact for fact in facts if fact[1])):
        _console.print_line(f"{name:>15}  {value}")


def _code_rows(code: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what machine code and PTX tell; `mneme explain` tells more."""
    yield "code unread", code.get("problem", "")
    if uses := code.get("resources"):
        sizes = {
            "static shared memory": uses["shared_bytes"],
            "local memory of a thread": uses["local_bytes"],
            "of instructions": uses["code_bytes"],
        }
        parts = [f"{uses['registers']} registers"] if uses["registers"] is not None else []
        parts += [f"{_console.format_bytes(size)} {what}" for what, size in sizes.items() if size]
        yield "machine code", f"for {uses['target']}: {', '.join(parts)}"
    if ptx := code.get("ptx"):
        counts = ptx["features"]
        loops = f"{counts['loops']} loop{'' if counts['loops'] == 1 else 's'}"
        parts = [f"{counts['instructions']} instructions", loops]
        parts += [f"blocks of {ptx['max_threads']} threads at most"] if ptx["max_threads"] else []
        yield "PTX", f"version {ptx['version']} for {ptx['target']}: {', '.join(parts)}"


def _show_limits(limits: dict[str, int]) -> None:
    """Print limits that the program set, with sizes as elsewhere."""
    words = {"Stack": "a stack of {} per thread", "Print": "{} to print", "Heap": "a heap of {}"}
    parts = [
        words[name].format(_console.format_bytes(value))
        if name in words
        else f"{value} launches of its own"
        for name, value in limits.items()
    ]
    if parts:
        _console.print_line(f"limits set: {', '.join(parts)}")


def _code_text(details: KernelDetails) -> str:
    from mneme.recording.without_ir import possible_with  # noqa: PLC0415

    files = ", ".join(details.modules)
    form = details.code_form
    if form:
        return f"{files} ({form}, no IR: {possible_with(form)})"
    if details.images:
        own = ", ".join(details.images.values())
        return f"{files} (IR of {details.producer}); as its program ran it: {own}"
    return files


def _member_text(name: str, longest: int) -> str:
    """Return the path below the structure; its end tells members apart."""
    text = f".{name}" if name else ""
    return text if len(text) <= longest else f"…{text[1 - longest :]}"


def _show_arguments(arguments: Sequence[ArgumentDetails]) -> None:
    """Show members of a structure below it, without its name."""
    from mneme.kernel_names import names_in_tables  # noqa: PLC0415

    content = _console.table("arguments", ("", "name", "type", "value", "constant"))
    # What paths, values and borders leave.
    room = max(_NARROW_NAME + _NARROW_TYPE, _console.table_width() - _OTHER_COLUMNS)
    types = names_in_tables([one.type for one in arguments], room * _NARROW_TYPE // _NARROW)
    for index, (one, type_text) in enumerate(zip(arguments, types, strict=True)):
        if one.members is None:
            can = "yes" if one.is_specializable else ""
            content.add_row(str(index), one.name, type_text, one.value, can)
            continue
        read = sum(member.size for member in one.members)
        content.add_row(str(index), one.name, type_text, f"reads {read} of {one.size}", "")
        for member, value in zip(one.members, one.member_values, strict=True):
            can = "yes" if member.is_specializable else ""
            name = _member_text(member.name, room * _NARROW_NAME // _NARROW)
            content.add_row(f"{index}+{member.offset}", name, member.type, value, can)
    _console.print_table(content)


def _show_trimming(trimmed: Mapping[str, Any], grid: str) -> None:
    recorded = "x".join(str(extent) for extent in trimmed["GridDims"].values())
    blocks = f", and blocks of grid {recorded}" if recorded != grid else ""
    _console.print_line(
        f"trimmed from {trimmed['RecordId']}: left out "
        f"{_console.format_bytes(trimmed['Unread'])} of {_console.format_bytes(trimmed['Memory'])} "
        f"of memory that it does not read{blocks}"
    )


def _show_instance(instance: InstanceDetails) -> None:
    from mneme.recording.inventory import is_function_cell  # noqa: PLC0415

    grid, block = (
        "x".join(str(n) for n in dims.values()) for dims in (instance.grid, instance.block)
    )
    carveout = f", carve-out {instance.shared_carveout} %" if instance.shared_carveout else ""
    preferred = f", {instance.cache_config}" if instance.cache_config else ""
    cooperative = ", cooperative" if instance.is_cooperative else ""
    times = "once" if instance.occurrences == 1 else f"{instance.occurrences} times"
    _console.print_line()
    _console.print_line(
        f"launch @{instance.number} {instance.record_id}: grid {grid}, block {block}, "
        f"{_console.format_bytes(instance.shared_mem)} shared{carveout}{preferred}{cooperative}; "
        f"{times}; recorded in {_console.format_ns(instance.recorded_ns)}"
    )
    if instance.labels:
        _console.print_line(f"label {'/'.join(instance.labels)}")
    if instance.multiprocessors:
        used, of = instance.multiprocessors["Used"], instance.multiprocessors["Of"]
        _console.print_line(
            f"ran on {used} of {of} multiprocessors; a replay runs on as many, if its device can"
        )
    _show_limits(instance.limits)
    if instance.trimmed is not None:
        _show_trimming(instance.trimmed, grid)
    _show_arguments(instance.args)
    regions = _console.table("memory", ("address", ">size", "kind", "name", "tolerance"))
    for region in instance.regions:
        if is_function_cell(region.name):
            continue
        size = _console.format_bytes(region.size_bytes)
        name = region.name or region.tag
        regions.add_row(region.address, size, region.kind, name, region.annotation)
        for part in region.parts:
            size = _console.format_bytes(part.size_bytes)
            regions.add_row(part.address, size, "part", part.tag, part.annotation)
    _console.print_table(regions)
    if instance.functions:
        functions = _console.table("functions", ("address", "name"))
        for function in instance.functions:
            functions.add_row(function.address, function.name)
        _console.print_table(functions)
    files = _console.table("files", ("file", ">memory", ">new content", ">stored", "~refers to"))
    for state in (instance.prologue, instance.epilogue):
        sizes = (state.raw_bytes, state.unique_bytes, state.stored_bytes)
        texts = [_console.format_bytes(size) for size in sizes]
        files.add_row(state.file, *texts, ", ".join(state.references))
    _console.print_table(files)
    own = {instance.prologue.file, instance.epilogue.file}
    others = len(set(instance.needed_files) - own)
    more = f": these two and {others} more" if others else ""
    _console.print_line(f"needs {len(instance.needed_files)} files{more}")
