"""`mneme explain RECORDING [KERNEL] CONFIG...`: why configurations give the code they give."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.cli.exit_codes import ExitCode
from mneme.deploy.tuned_file import TunedKernel, write_tuned_file
from mneme.deploy.tuned_kernels import make_variant
from mneme.deploy.tuned_variant import Match
from mneme.errors import InvalidArgument, NotFound, Unsupported
from mneme.install.paths import library
from mneme.machine_code.accesses import label_of
from mneme.machine_code.occupancy import residency
from mneme.machine_code.ptx_features import accesses_of
from mneme.machine_code.ptx_text import read_ptx
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.launch_facts import launch_facts, static_hash_text
from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
from mneme.why import way_of
from mneme.why.comparison import RemarkRow, Row, Why
from mneme.why.loops import count_text, intensity, loops_by_place
from mneme.why.messages import plain_message
from mneme.why.names import Names
from native_parts import needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v1"
WALK = GOLDEN / "1416834155090425783.json"

LOOP = {
    **dict.fromkeys(("trip_count", "max_trip_count", "calls", "atomics"), 0),
    **dict.fromkeys(("loads", "stores", "branches", "depth"), 1),
    **dict.fromkeys(("load_bytes", "store_bytes"), 4),
    "file": "a.cu",
    "line": 5,
    "function": "f",
    "is_innermost": True,
    "is_vectorized": False,
    "backedges": "",
    "instructions": 9,
    "flops": 2,
}
REMARK = {
    "kind": "passed",
    "pass": "loop-unroll",
    "name": "FullyUnrolled",
    "function": "f",
    "file": "a.cu",
    "line": 5,
    "column": 1,
    "message": "unrolled",
    "count": 1,
}


def explained(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mneme", "explain", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def told(*words: object) -> dict[str, Any]:
    done = explained(*words, "--json")
    assert done.returncode == ExitCode.OK, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def builds(*remarks: list[dict[str, Any]]) -> Why:
    ones = [SimpleNamespace(remarks=each, loops=(), passes=()) for each in remarks]
    return Why(record=None, record_id="", target="cpu", builds=ones, failed=())  # type: ignore[arg-type]


def test_remarks_that_some_lack_come_first_and_the_important_of_them_before() -> None:
    inlined = {**REMARK, "pass": "inline", "name": "Inlined", "message": "inlined"}
    other = {**REMARK, "pass": "gvn", "kind": "missed", "message": "clobbered"}
    rows = builds([inlined, REMARK, other, other], [inlined]).remarks
    assert [row.remark["pass"] for row in rows] == ["loop-unroll", "gvn", "inline"]
    assert [row.differs for row in rows] == [True, True, False]
    assert rows[1].counts == [2, 0]


def test_failures_come_before_all_others() -> None:
    failure = RemarkRow(remark={**REMARK, "kind": "failure", "pass": "any"}, counts=[1])
    assert failure.rank < RemarkRow(remark=REMARK, counts=[1]).rank


def test_rows_say_whether_they_differ_and_shares_are_percentages() -> None:
    row = Row(key="occupancy", label="occupancy", values=[0.5, None])
    assert row.differs
    assert row.texts == ["50 %", "-"]
    assert not Row(key="registers", label="", values=[3, 3]).differs


def test_counts_of_loops_are_told_as_exactly_as_they_are_known() -> None:
    assert count_text({**LOOP, "trip_count": 4}) == "4 rounds"
    assert count_text({**LOOP, "trip_count": 1}) == "1 round"
    symbolic = {**LOOP, "backedges": "(-1 + (zext i32 %n to i64))<nsw>"}
    assert count_text(symbolic) == "%n rounds"
    halves = "(-2 + (2 * (zext i30 (trunc i32 (%n /u 2) to i30) to i32))<nuw>)<nsw>"
    assert count_text({**LOOP, "backedges": halves}) == "(2 * (%n /u 2)) - 1 rounds"
    assert count_text({**LOOP, "backedges": "%n"}) == "1 + %n rounds"
    assert count_text({**symbolic, "max_trip_count": 2147483647}) == "%n rounds"
    assert count_text({**LOOP, "max_trip_count": 8}) == "rounds not known, at most 8"
    assert count_text(LOOP) == "rounds not known"


def test_intensity_is_told_where_both_sides_are_counted() -> None:
    assert intensity(LOOP) == 0.25
    assert intensity({**LOOP, "flops": 0}) is None
    assert intensity({**LOOP, "is_innermost": False}) is None
    assert intensity({**LOOP, "load_bytes": 0, "store_bytes": 0}) is None


def test_loops_that_differ_come_first_and_a_lost_one_is_told() -> None:
    same = {**LOOP, "line": 9}
    ones = [
        SimpleNamespace(loops=[same, LOOP, LOOP], has_ir=True),
        SimpleNamespace(loops=[same], has_ir=True),
        SimpleNamespace(loops=[], has_ir=False),
    ]
    first, second = loops_by_place(ones)  # type: ignore[arg-type]
    assert (first.place[1], second.place[1]) == (5, 9)
    assert first.texts[0].startswith(
        "2 loops, each rounds not known, 9 instructions, 1 load, 1 store"
    )
    assert first.texts[1] == "no loop: gone, unrolled, or merged with another"
    assert first.texts[2] == "not known without IR"
    assert second.texts[0] == second.texts[1]


def test_the_resource_that_limits_occupancy_is_named() -> None:
    many = residency("sm_90", 256, 128, 0)
    assert many is not None
    assert (many.resident, many.limits, many.occupancy) == (2, ["registers"], 0.25)
    full = residency("sm_90", 1024, 32, 0)
    assert full is not None
    assert full.limits == ["registers", "threads"]
    shared = residency("sm_90", 32, 32, 100 << 10)
    assert shared is not None
    assert shared.limits == ["shared memory"]
    assert residency("gfx90a", 256, 32, 0) is None


PTX = """
.version 8.0
.target sm_90
.address_size 64
.entry k() {
  ld.param.b64 %rd1, [walk_param_0];
  @%p1 ld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
  ld.global.v2.b64 {%rd5, %rd6}, [%rd1];
  st.shared::cta.b32 [%r9], %r1;
  ld.b16 %rs1, [%rd1];
  atom.global.add.u32 %r5, [%rd1], 1;
  red.relaxed.gpu.global.add.f64 [%rd1], %fd1;
  cp.async.ca.shared.global [%r9], [%rd1], 16;
  cp.async.commit_group;
  cp.async.wait_all ;
  cp.async.mbarrier.arrive.shared.b64 [%r9];
  cp.async.bulk.wait_group 0;
  redux.sync.add.s32 %r1, %r2, -1;
  atom.global.add.noftz.f16x2 %r5, [%rd1], %r1;
  atom.global.add.noftz.bf16x2 %r5, [%rd1], %r1;
  ldu.global.b64 %rd2, [%rd1];
  ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r1, %r2, %r3, %r4}, [%r9];
  stackrestore.u64 %rd2;
}
"""


def test_memory_operations_of_ptx_have_a_memory_and_a_width() -> None:
    assert accesses_of(read_ptx(PTX), "k") == {
        "atom.global.4": 3,
        "cp.async.shared.16": 1,
        "ld.generic.2": 1,
        "ld.global.16": 2,
        "ldmatrix.shared.0": 1,
        "ldu.global.8": 1,
        "red.global.8": 1,
        "st.shared.4": 1,
    }
    assert accesses_of(read_ptx(PTX), "other") == {}
    assert label_of("ld.global.16") == "load: global memory, 16 bytes"
    assert label_of("ld.generic.1") == "load: unknown memory, 1 byte"
    assert label_of("cp.async.shared.0") == "asynchronous copy: shared memory"


def test_messages_lose_what_only_llvms_developers_read() -> None:
    inlined = "'a' inlined into 'b' with (cost=10, threshold=225)"
    assert plain_message(f"{inlined} at callsite b:2:15;") == "'a' inlined into 'b'"
    asked = "'a' inlined into 'b' with (cost=always): always inline attribute at callsite b:1:3;"
    assert plain_message(asked) == "'a' inlined into 'b' as an attribute asks"
    missed = "'a' not inlined into 'b' because too costly to inline (cost=300, threshold=225)"
    assert plain_message(missed) == missed
    spills = (
        "11 spills 2.569280e+05 total spills cost 24 reloads 1.029696e+06 total reloads cost 16 "
        "virtual registers copies 3.426368e+06 total copies cost generated in loop"
    )
    assert plain_message(spills) == "11 spills, 24 reloads, 16 virtual registers copies in loop"


@needs_native
def test_functions_have_the_names_of_the_source() -> None:
    names = Names()
    assert names.short("_ZNK3Dim1XcvjEv") == "Dim::X::operator unsigned int"
    assert names.short("_ZNK4Node4sizeEv") == "Node::size"
    assert names.in_text("'_Z4walki' is called") == "'walk' is called"
    assert names.place("dir/a.cu", 3, "_Z4walki") == "a.cu:3 in walk"
    assert names.place("", 0, "mneme.run.block") == "mneme.run.block"


def launch() -> tuple[RecordedExecution, KernelInstance]:
    record = RecordedExecution.from_json(WALK)
    return record, next(iter(record.values()))


def test_a_tuned_variant_is_the_configuration_it_was_made_of(tmp_path: Path) -> None:
    record, instance = launch()
    config = ExperimentConfiguration(
        grid=instance.grid_dim,
        block=instance.block_dim,
        passes="function(sroa)",
        codegen_opt=1,
        specialize=True,
        set_launch_bounds=True,
        max_threads=instance.block_dim.volume,
        max_registers=40,
    )
    match = Match(grid=instance.grid_dim, block=instance.block_dim)
    variant = make_variant(config, match, ("0",))
    file = tmp_path / "tuned.json"
    write_tuned_file(file, {record.kernel_name: TunedKernel(variants=(variant,))})
    found = way_of(str(file), record, instance).configuration
    assert found.passes == "function(sroa)"
    assert (found.codegen_opt, found.max_registers, found.specialized_args) == (1, 40, "0")
    assert (found.specialize, found.set_launch_bounds) == (True, True)
    assert found.max_threads == instance.block_dim.volume


def test_a_tuned_file_for_other_kernels_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tuned.json"
    config = ExperimentConfiguration()
    write_tuned_file(file, {"_Z5otherv": TunedKernel(variants=(make_variant(config, Match()),))})
    with pytest.raises(NotFound, match="has no variant for 'walk"):
        way_of(str(file), *launch())


def test_machine_code_of_a_tuned_file_is_not_taken_for_a_configuration(tmp_path: Path) -> None:
    record, instance = launch()
    config = ExperimentConfiguration(specialize=True, passes="default<O1>")
    variant = make_variant(config, Match(arch="sm_90"), ("0",))
    variant = replace(
        variant,
        code_form="cubin",
        cubin=b"\x7fELF",
        static_hash=static_hash_text(record.static_hash),
    )
    file = tmp_path / "tuned.json"
    write_tuned_file(file, {record.kernel_name: TunedKernel(variants=(variant,))})
    with pytest.raises(Unsupported, match="has machine code for 'walk.*name the results directory"):
        way_of(str(file), record, instance)


@needs_native
def test_the_best_of_results_and_one_of_their_trials_are_taken(tmp_path: Path) -> None:
    record, instance = launch()
    results = tmp_path / "results"
    results.mkdir()
    best = ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, passes="function(sroa)"
    )
    facts = launch_facts(WALK, instance.dynamic_hash)
    told = {"facts": facts, "trial": 4, "config": best.to_dict(), "metric": 1.0}
    told |= {"best_metric": 1.0, "baseline_metric": 2.0, "opt_time": 0.1, "codegen_time": 0.1}
    (results / "best.json").write_text(json.dumps(told))
    assert way_of(str(results), record, instance).configuration.passes == "function(sroa)"
    with pytest.raises(NotFound, match="has no trial 12"):
        way_of(f"{results}@12", record, instance)
    with pytest.raises(InvalidArgument, match="write the number"):
        way_of(f"{results}@best", record, instance)
    (results / "best.json").write_text(
        json.dumps({**told, "facts": {**facts, "static_hash": "0" * 16}})
    )
    with pytest.raises(NotFound, match="holds no result for 'walk"):
        way_of(str(results), record, instance)


@needs_native
@pytest.mark.compile
def test_more_configurations_than_fit_are_refused() -> None:
    done = explained(GOLDEN, "walk@1", *["default<O1>"] * 9)
    assert done.returncode == ExitCode.INVALID_CONFIGURATION
    assert "9 configurations do not fit side by side" in done.stderr


@needs_native
@pytest.mark.compile
def test_two_pipelines_are_told_apart_for_a_gpu_that_is_not_there() -> None:
    found = told(GOLDEN, "walk@1", "default<O3>", "default<O0>", "--arch", "sm_90")
    names = [one["name"] for one in found["configurations"]]
    assert names == ["default<O3>", "default<O0>"]
    assert found["target"] == "sm_90"
    first, second = found["configurations"]
    assert first["features"]["instructions"] < second["features"]["instructions"]
    instructions = [one["features"]["instructions"] for one in (first, second)]
    assert found["differences"]["features"]["instructions"] == instructions
    assert any(one["changes"] for one in first["passes"])
    assert not any(one["name"] == "instcombine" for one in second["passes"])
    assert "instcombine" in found["differences"]["passes"]
    assert first["loops"]
    assert {one["kind"] for one in first["remarks"]} <= {"passed", "missed", "analysis", "failure"}
    assert first["llvm_statistics"] is None or first["llvm_statistics"]
    assert set(first["seconds"]) >= {"the pipeline", "the code generator"}


@needs_native
@pytest.mark.compile
def test_the_text_fits_a_terminal_and_says_what_nobody_knows() -> None:
    done = explained(GOLDEN, "walk@1", "default<O3>", "default<O1>", "--arch", "cpu", "--all")
    assert done.returncode == ExitCode.OK, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    lines = done.stdout.splitlines()
    assert lines[0] == "walk, compiled for cpu"
    for heading in ("Loops of the final IR", "Memory operations in the IR, each once", "Not known"):
        assert heading in lines
    assert "Source lines: code of a GPU loses them" in done.stdout
    done = explained(GOLDEN, "walk@1", "default<O1>", "--arch", "sm_90")
    assert "Source lines: the program was built without them" in done.stdout


@needs_native
@pytest.mark.compile
def test_equal_code_is_called_equal() -> None:
    done = explained(GOLDEN, "walk@1", "default<O3>", "function(instcombine),default<O3>")
    twice = explained(GOLDEN, "walk@1", "default<O3>", "default<O3>")
    assert done.returncode == twice.returncode == ExitCode.OK, done.stderr
    assert "The machine code of all is the same." in twice.stdout
    assert "What LLVM's passes say of some only" not in twice.stdout


@needs_native
@pytest.mark.compile
def test_one_configuration_is_told_by_itself() -> None:
    done = explained(
        WALK, "default<O3>", "-rid", next(iter(json.loads(WALK.read_text())["instances"]))
    )
    assert done.returncode == ExitCode.OK, done.stderr
    assert "\nThe code\n" in done.stdout
    assert "What differs" not in done.stdout


@needs_native
@pytest.mark.compile
def test_variants_and_the_programs_own_configuration_are_taken() -> None:
    fixed = "fixed=--specialize --passes 'default<O3>'"
    found = told(GOLDEN, "walk@1", "recorded", "--variant", fixed, "--arch", "cpu")
    recorded, specialized = found["configurations"]
    assert (recorded["name"], specialized["name"]) == ("recorded", "fixed")
    assert specialized["configuration"]["specialize"] is True
    assert specialized["configuration"]["passes"] == "default<O3>"


@needs_native
def test_different_configurations_of_one_name_are_refused() -> None:
    same = ("--variant", "a=--codegen-opt 1", "--variant", "a=--codegen-opt 2")
    done = explained(GOLDEN, "walk@1", *same, "--arch", "cpu")
    assert done.returncode == ExitCode.INVALID_CONFIGURATION
    assert "different configurations are called 'a'; give each a name of its own" in done.stderr


@needs_native
@pytest.mark.compile
def test_what_is_named_twice_has_a_number() -> None:
    found = told(GOLDEN, "walk@1", "default<O1>", "default<O1>", "--arch", "cpu")
    assert [one["name"] for one in found["configurations"]] == ["default<O1>", "default<O1> (2)"]


@needs_native
@pytest.mark.compile
def test_a_page_is_written_that_needs_no_network(tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    done = explained(GOLDEN, "walk@1", "default<O3>", "default<O1>", "--html", page)
    assert done.returncode == ExitCode.OK, done.stderr
    text = page.read_text()
    assert "What LLVM's passes say" in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text


@needs_native
@pytest.mark.compile
@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["walk@1", "default<O9>"], ExitCode.INVALID_CONFIGURATION, "names no configuration"),
        (["walk@1", "default<O3>", "none.json"], ExitCode.USAGE, "'none.json' names no"),
        (["walk@1", ""], ExitCode.USAGE, "'' names no configuration"),
        (["walk@1", "default<O3>", ""], ExitCode.USAGE, "'' names no configuration"),
        (["default<O3>"], ExitCode.INVALID_CONFIGURATION, "walk(int)"),
    ],
)
def test_what_is_wrong_is_named(words: list[str], code: ExitCode, sentence: str) -> None:
    done = explained(GOLDEN, *words)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr


@needs_native
@pytest.mark.compile
def test_options_of_the_other_use_are_named_as_without_effect() -> None:
    done = explained(GOLDEN, "walk@1", "--all")
    assert "--all does nothing without a configuration" in done.stderr
    done = explained(GOLDEN, "walk@1", "default<O1>", "--value", "limit=3")
    assert "--value does nothing with configurations" in done.stderr


@needs_native
@pytest.mark.compile
def test_a_configuration_that_crashes_is_named_among_the_others(tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    words = ("default<O1>", "trigger-crash-module", "--arch", "cpu")
    done = explained(GOLDEN, "walk@1", *words, "--html", page)
    assert done.returncode == ExitCode.OK, done.stderr
    assert "  A  default<O1>" in done.stdout.splitlines()
    assert "  -  trigger-crash-module cannot be compiled: LLVM " in done.stdout
    assert "trigger-crash-module cannot be compiled" in page.read_text()
    found = told(GOLDEN, "walk@1", *words)
    assert [one["name"] for one in found["failed"]] == ["trigger-crash-module"]
    alone = explained(GOLDEN, "walk@1", *words[1:])
    assert alone.returncode == ExitCode.REPLAY_FAILED
    assert "'trigger-crash-module': LLVM " in alone.stderr


@needs_native
@pytest.mark.compile
def test_a_pipeline_may_be_longer_than_a_name_of_a_file() -> None:
    long = f"function({','.join(['sroa', 'early-cse', 'instcombine'] * 40)})"
    (found,) = told(GOLDEN, "walk@1", long, "--arch", "cpu")["configurations"]
    assert found["name"] == found["configuration"]["passes"] == long


@needs_native
@pytest.mark.compile
def test_an_llvm_that_cannot_compile_costs_its_configuration_only() -> None:
    no_compiler = library("libMnemePasses.so")
    words = ("default<O1>", "--variant", f"other=--llvm '{no_compiler}'")
    found = told(GOLDEN, "walk@1", *words, "--arch", "cpu")
    assert [one["name"] for one in found["configurations"]] == ["default<O1>"]
    assert [one["name"] for one in found["failed"]] == ["other"]
    alone = explained(GOLDEN, "walk@1", *words[1:], "--arch", "cpu")
    assert alone.returncode == ExitCode.UNAVAILABLE
    assert "mneme: 'other': cannot load" in alone.stderr


@needs_native
@pytest.mark.compile
def test_lines_are_no_longer_than_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    done = explained(GOLDEN, "walk@1", "default<O3>", "default<O1>", "--arch", "sm_90", "--all")
    assert done.returncode == ExitCode.OK, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 60
