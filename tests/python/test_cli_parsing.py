"""Every documented spelling of every option."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from mneme.cli._recording import tell_apart
from mneme.cli.app import make_app

REPLAY = ["-rdb", "17.json", "default<O3>"]


def parse(verb: str, *arguments: str) -> dict[str, Any]:
    """Parse without running; returns the values by parameter name."""
    group: Any = get_command(make_app())
    context = group.make_context("mneme", [verb, *arguments])
    command = group.get_command(context, verb)
    parsed = command.make_context(verb, list(arguments), parent=context)
    values = {key: plain(value) for key, value in parsed.params.items()}
    return {**values, "command": parsed.args}


def plain(value: object) -> object:
    """Return a parsed value as text, whether or not this release of the parser converts so early."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    return value.value if isinstance(value, Enum) else value


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (["-rid", "5"], "record_id", "5"),
        (["-record-id", "5"], "record_id", "5"),
        (["--record-id", "5"], "record_id", "5"),
        (["--record-id=5"], "record_id", "5"),
        (["--record-i", "5"], "record_id", "5"),
        (["-record", "5"], "record_id", "5"),
        (["-gidx", "2"], "grid_dim_x", 2),
        (["--grid-dim-x=2", "--sha", "1"], "grid_dim_x", 2),
        (["--iter", "2"], "iterations", 2),
        (["--iter=2"], "iterations", 2),
        (["--no-set"], "set_launch_bounds", False),
        (["--set"], "set_launch_bounds", True),
        (["--max", "64"], "max_threads", 64),
        (["--out", "a.ll"], "output_ll", "a.ll"),
        (["-sh", "64"], "shared_mem", 64),
        (["--cod", "1"], "codegen_opt", 1),
        (["--reset-mode", "diff"], "reset_mode", "diff"),
        (["-gidy", "3"], "grid_dim_y", 3),
        (["-gidz", "4"], "grid_dim_z", 4),
        (["--grid-dim-x", "2"], "grid_dim_x", 2),
        (["--grid-dim-y", "3"], "grid_dim_y", 3),
        (["--grid-dim-z", "4"], "grid_dim_z", 4),
        (["-bidx", "2"], "block_dim_x", 2),
        (["-bidy", "3"], "block_dim_y", 3),
        (["-bidz", "4"], "block_dim_z", 4),
        (["--block-dim-x", "2"], "block_dim_x", 2),
        (["--block-dim-y", "3"], "block_dim_y", 3),
        (["--block-dim-z", "4"], "block_dim_z", 4),
        (["-shem", "64"], "shared_mem", 64),
        (["--shared-mem", "64"], "shared_mem", 64),
        (["--specialize"], "specialize", True),
        (["--no-specialize"], "specialize", False),
        (["-slb"], "set_launch_bounds", True),
        (["--set-launch-bounds"], "set_launch_bounds", True),
        (["--no-set-launch-bounds"], "set_launch_bounds", False),
        (["--max-threads", "256"], "max_threads", 256),
        (["--min-threads-per-block", "2"], "min_blocks_per_sm", 2),
        (["-sdims"], "specialize_dims", True),
        (["--specialize-dims"], "specialize_dims", True),
        (["--no-specialize-dims"], "specialize_dims", False),
        (["-co", "1"], "codegen_opt", 1),
        (["--codegen-opt", "1"], "codegen_opt", 1),
        (["-it", "9"], "iterations", 9),
        (["--iterations", "9"], "iterations", 9),
        (["--warmup", "0"], "warmup", 0),
        (["--timeout", "1.5"], "timeout", 1.5),
        (["--confidence", "0.02"], "confidence", 0.02),
        (["--max-iterations", "50"], "max_iterations", 50),
        (["--time-budget", "2.5"], "time_budget", 2.5),
        (["--cold-l2"], "cold_l2", True),
        (["--counters", "dram__bytes.sum,b.avg"], "counters", ["dram__bytes.sum,b.avg"]),
        (["-ol", "out.ll"], "output_ll", "out.ll"),
        (["--output-ll", "out.ll"], "output_ll", "out.ll"),
        (["--output-asm", "out.s"], "output_asm", "out.s"),
        (["--ir", "new.ll"], "ir", "new.ll"),
        (["--tolerance", "1e-6", "--tolerance", "ulp:4"], "tolerance", ["1e-6", "ulp:4"]),
        (["--device", "cpu"], "device", "cpu"),
    ],
)
def test_replay_reads(options: list[str], name: str, value: object) -> None:
    assert parse("replay", *options, *REPLAY)[name] == value
    assert parse("replay", *REPLAY, *options)[name] == value


@pytest.mark.parametrize("option", ["--spec", "--no-spec", "--grid-dim", "-r", "--nothing"])
def test_what_is_no_abbreviation_of_one_option_is_refused(option: str) -> None:
    with pytest.raises(Exception, match=option):
        parse("replay", *REPLAY, option, "1")


def test_values_are_no_abbreviations() -> None:
    values = parse("replay", "-rdb", "17.json", "--dev", "--sha", "--", "--iter")
    taken = (values["device"], values["shared_mem"], values["recording"])
    assert taken == ("--sha", None, "--iter")


def test_lists_may_be_abbreviated() -> None:
    assert parse("tune", "-rdb", "17.json", "--trial", "3")["trials"] == 3
    values = parse(
        "tune", "-rdb", "17.json", "--passe", "default<O1>", "default<O2>", "--work", "3"
    )
    assert (values["passes"], values["workers"]) == (["default<O1>", "default<O2>"], 3)
    assert parse("tune", "-rdb", "17.json", "--no-prot")["no_proteus_output"] is True


def test_replay_has_the_documented_defaults() -> None:
    values = parse("replay", "default<O2>", "--record-database", "17.json")
    words = [values[name] for name in ("recording", "kernel", "passes")]
    assert tell_apart(*words, database=Path("17.json"), has_passes=True).passes == "default<O2>"
    assert values["record_database"] == "17.json"
    assert (values["codegen_opt"], values["iterations"], values["warmup"]) == (None, 3, 2)
    changed = ("specialize", "set_launch_bounds", "specialize_dims", "shared_mem", "grid_dim_x")
    assert all(values[name] is None for name in changed)
    assert (values["confidence"], values["time_budget"], values["cold_l2"]) == (0, 0, False)


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (["-rdb", "d"], "record_db_dir", "d"),
        (["--record-db-dir", "d"], "record_db_dir", "d"),
        (["-vass", "64"], "virtual_address_space_size", 64),
        (["--virtual-address-space-size", "64"], "virtual_address_space_size", 64),
        (["--per-kernel-max", "9", "--record-d", "d"], "per_kernel_max_recordings", 9),
        (["--virt=64"], "virtual_address_space_size", 64),
        (["-mr", "9"], "per_kernel_max_recordings", 9),
        (["--per-kernel-max-recordings", "9"], "per_kernel_max_recordings", 9),
        (["-sr", "9"], "per_kernel_skip_recordings", 9),
        (["--per-kernel-skip-recordings", "9"], "per_kernel_skip_recordings", 9),
        (["--epilogue-format", "best"], "epilogue_format", "best"),
        (["-rr", "0,2"], "record_ranks", "0,2"),
        (["--record-ranks", "all"], "record_ranks", "all"),
        (["--kernels", "spmv.*"], "kernels", "spmv.*"),
        (["--dims", "64x8/256"], "dims", "64x8/256"),
        (["--sections"], "sections", True),
        (["--no-sections"], "sections", False),
        (["--graph"], "graph", True),
        (["--device", "cpu"], "device", "cpu"),
    ],
)
def test_record_reads(options: list[str], name: str, value: object) -> None:
    values = parse("record", *options, "--", "./app", "-mr", "--", "x")
    assert values[name] == value
    assert values["command"] == ["./app", "-mr", "--", "x"]


def test_record_has_the_documented_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MNEME_DATA_DIR", "MNEME_PAGE_SIZE", "MNEME_MAX_RECORDINGS", "MNEME_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    values = parse("record", "--", "./app")
    assert values == {
        "record_db_dir": ".",
        "virtual_address_space_size": None,
        "per_kernel_max_recordings": 4,
        "per_kernel_skip_recordings": 0,
        "epilogue_format": "diff",
        "record_ranks": None,
        "kernels": None,
        "dims": None,
        "kernel_patience": None,
        "sections": None,
        "graph": False,
        "device": None,
        "command": ["./app"],
    }


def test_option_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_MAX_RECORDINGS", "7")
    assert parse("record", "--", "a")["per_kernel_max_recordings"] == 7
    assert parse("record", "-mr", "9", "--", "a")["per_kernel_max_recordings"] == 9


@pytest.mark.parametrize("verb", ["record", "run"])
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "put '--' before the program"),
        (["./app"], "put '--' before the program"),
        (["./app", "--", "x"], "'./app' stands before '--'"),
        (["--"], "no program after '--'"),
    ],
)
def test_separator_is_mandatory_and_first(verb: str, arguments: list[str], sentence: str) -> None:
    with pytest.raises(Exception, match=".") as caught:
        parse(verb, *arguments)
    assert sentence in caught.value.format_message()  # type: ignore[attr-defined]
    assert caught.value.exit_code == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", ["copy", "move"])
def test_last_path_is_the_destination(verb: str) -> None:
    values = parse(verb, "a.json", "b.json", "c.json", "dest")
    assert values["databases"] == ["a.json", "b.json", "c.json"]
    assert values["destination"] == "dest"


def test_clean_takes_many() -> None:
    assert parse("clean", "a.json", "b.json")["databases"] == ["a.json", "b.json"]


@pytest.mark.parametrize(
    "key",
    [
        *("cc", "cxx", "cudac", "prefix", "libdir", "includedir", "cmakedir", "cflags", "ldflags"),
        *("llvmdir", "cmake-args"),
    ],
)
def test_config_knows(key: str) -> None:
    assert parse("config", key)["key"] == key


def test_every_verb_has_help() -> None:
    group: Any = get_command(make_app())
    context = typer.Context(group, info_name="mneme")
    verbs = group.list_commands(context)
    assert verbs == [
        *("record", "run", "replay", "compile"),
        *("ls", "show", "kernels", "explain", "bisect", "devices", "doctor", "compiler", "config"),
        *("optimize", "compare", "tune", "suggest", "report", "export", "dashboard", "study"),
        *("deploy", "scaffold", "cache", "completion"),
        *("trim", "copy", "move", "clean", "corpus"),
    ]
    assert all(group.get_command(context, verb).help for verb in verbs)
