"""A session of `mneme optimize` as far as it goes without kernels that are tuned."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.deploy import Deployment
from mneme.deploy.tuned_file import TunedKernel, write_tuned_file
from mneme.deploy.tuned_variant import TunedVariant
from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, NotFound
from mneme.optimize import as_built, bare_code, measuring, session
from mneme.optimize.application import Run
from mneme.optimize.as_built import AsBuilt
from mneme.optimize.events import OptimizeListener
from mneme.optimize.heavy import Target
from mneme.optimize.only_writer import only_writer
from mneme.optimize.options import OptimizeOptions
from mneme.optimize.profile import KernelTime, Profile
from mneme.optimize.recompiled import write_recompiled
from mneme.optimize.result import KernelResult, OptimizeResult
from mneme.optimize.same_programs import programs_of
from mneme.report import optimized
from native_parts import needs_native


def times(**milliseconds: float) -> Profile:
    profile = Profile()
    for name, one in milliseconds.items():
        profile.kernels[name] = KernelTime(name=name, launches=1, total_ns=round(one * 1e6))
    return profile


@needs_native
def test_a_program_that_fails_without_its_input_is_told_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_built, "is_input_waiting", lambda: True)
    program, why = ("/bin/sh", "-c", "read line || exit 4"), r"code 4 \(standard input is a pipe"
    options = OptimizeOptions(command=program, directory=tmp_path / "out", device="cpu")
    with pytest.raises(InvalidArgument, match=why):
        session.OptimizeSession(options).run()
    asked = measuring.MeasureOptions(command=program, device="cpu")
    with pytest.raises(InvalidArgument, match=why):
        measuring.measure_deployment(Deployment(), asked, tmp_path, OptimizeListener())


@needs_native
def test_a_kernel_that_was_not_recorded_may_be_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(seconds=1.0, code=0, output=b"", error=b"")
    built = AsBuilt(runs=[run, run], profile=times(k=1.0), slowed_by=1.0)
    monkeypatch.setattr(session, "observe", lambda *_, **__: built)
    monkeypatch.setattr(session.Application, "record", lambda *_, **__: run)
    (tmp_path / "recording").mkdir()
    options = OptimizeOptions(command=("/bin/true",), directory=tmp_path, device="cpu")
    optimizing = session.OptimizeSession(options)
    assert optimizing.run() == 1
    assert "add_mneme() or the compiler wrappers, and launch" in optimizing.result.verdict
    (kernel,) = optimizing.result.kernels
    for cause in ("not built with mneme", "children of fork()", "other dimensions in each run"):
        assert cause in kernel.reason


def bare(form: str, *, is_cooperative: bool = False, **more: Any) -> Target:
    """A launch of a kernel without IR."""
    named = SimpleNamespace(place="", label="")
    record: Any = SimpleNamespace(
        kernel_name="k",
        demangled_name="k",
        code_form=form,
        llvm_files=["none"],
        producer="",
        is_unoptimized=False,
        name=named,
    )
    instance: Any = SimpleNamespace(is_cooperative=is_cooperative, cluster_dim={})
    return Target(record=record, instance=instance, weight=1.0, **more)


@needs_native
def test_kernels_without_ir_are_not_tuned_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(seconds=1.0, code=0, output=b"", error=b"")
    built = AsBuilt(runs=[run, run], profile=times(k=1.0), slowed_by=1.0)
    target = bare("cubin", is_cooperative=True)
    monkeypatch.setattr(session, "observe", lambda *_, **__: built)
    monkeypatch.setattr(session.OptimizeSession, "_is_recorded", lambda *_: True)
    monkeypatch.setattr(session, "Recording", lambda _: {1: target.record})
    monkeypatch.setattr(session, "choose_targets", lambda *_: [target])
    options = OptimizeOptions(command=("/bin/true",), directory=tmp_path, device="cpu")
    optimizing = session.OptimizeSession(options)
    assert optimizing.run() == 1
    (kernel,) = optimizing.result.kernels
    assert kernel.reason.startswith(
        "its code is a cubin without IR, of which only grid and block can change: they stay, "
        "because blocks of its launches depend on each other; pipelines, constants and"
    )
    assert optimizing.result.verdict == f"no kernel could be tuned: {kernel.reason}"
    assert not optimizing.result.notes


def test_what_stays_of_kernels_without_ir_is_told_for_each_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bare_code, "why_launch_stays", lambda _: "")
    monkeypatch.setattr(bare_code, "takes_other_code", lambda record: record.code_form == "ptx")
    told = bare_code.told_of_bare_code([bare("cubin"), bare("cubin"), bare("ptx"), bare("")])
    stays = "pipelines, constants and launch bounds need a build with"
    of_ptx_stays = "pipelines and constants need a build with"
    of_ptx = "grid, block, carve-outs, limits of registers, launch bounds and what ptxas takes"
    assert [one.split(" add_mneme")[0] for one in told] == [
        f"k: only grid and block are searched, because the code is a cubin without IR; {stays}",
        f"k: only {of_ptx} are searched, because the code is PTX without IR; {of_ptx_stays}",
    ]
    others = "each of its launches has other arguments"
    assert others in bare_code.why_nothing_to_search(bare("fatbin", may_change_launch=False))
    assert not bare_code.why_nothing_to_search(bare("ptx", may_change_launch=False))
    monkeypatch.setattr(bare_code, "why_launch_stays", lambda _: "it left memory as it was")
    assert "it left memory as" in bare_code.why_nothing_to_search(bare("cubin"))


def test_launches_that_change_nothing_are_recorded_from_the_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bare_code, "leaves_changes", lambda one: one.changes)
    kernel, shape = times(k=1.0).kernels["k"], ((1, 1, 1), (32, 1, 1), 0)
    launches = [SimpleNamespace(changes=False), SimpleNamespace(changes=False)]
    record: Any = SimpleNamespace(kernel_name="k", code_form="cubin", values=lambda: launches)
    assert bare_code.idle_records(kernel, [record]) == []  # it was
    kernel.middles[shape] = 7
    assert bare_code.idle_records(kernel, [record]) == [record]
    launches[1].changes = True
    assert bare_code.idle_records(kernel, [record]) == []
    record.code_form, launches[1].changes = "", False
    assert bare_code.idle_records(kernel, [record]) == []


@needs_native
def test_code_of_ptx_with_variables_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bare_code, "why_launch_stays", lambda _: "")
    head, body = ".version 8.0\n.target sm_90\n.address_size 64\n", ".visible .entry k() { ret; }\n"
    target = bare("ptx")
    record: Any = target.record
    record.llvm_files = [str(tmp_path / "k.ptx")]
    for variables, is_free in (
        ("", True),
        (".visible .global .align 4 .b8 v[4];\n", False),
        (".global .texref t;\n", False),
    ):
        (tmp_path / "k.ptx").write_text(head + variables + body)
        assert bare_code.takes_other_code(record) == is_free
    (told,) = bare_code.told_of_bare_code([target])
    assert "only grid and block are searched, because the code is PTX without IR, with" in told


def test_production_runs_of_kernels_without_ir_need_mneme_run(tmp_path: Path) -> None:
    kernel = KernelResult(name="k", demangled_name="k", share=1.0, code_form="cubin")
    result = OptimizeResult(
        command=["./app"],
        directory=tmp_path,
        device="cuda:0",
        tuned_file=Path("/t"),
        kernels=[kernel],
    )
    assert result.use == "PROTEUS_TUNED_KERNELS=/t ./app"  # it is not kept
    kernel.is_kept = True
    assert result.use == "PROTEUS_TUNED_KERNELS=/t mneme run -- ./app"


def test_kernels_without_ir_are_not_compiled_to_be_slower(tmp_path: Path) -> None:
    def entry(form: str) -> TunedKernel:
        return TunedKernel(variants=(TunedVariant(static_hash="00000000000000ab", code_form=form),))

    tuned, output = tmp_path / "tuned.json", tmp_path / "slower.json"
    write_tuned_file(tuned, {"loaded": entry("cubin"), "built": entry("")})
    assert write_recompiled(tuned, output) == ("built",)
    assert set(json.loads(output.read_text())) == {"built"}


@needs_native
def test_time_that_is_spread_over_many_kernels_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = times(**{f"kernel{number:04}": 1.0 for number in range(200)})
    run = Run(seconds=1.0, code=0, output=b"", error=b"")
    built = AsBuilt(runs=[run, run], profile=many, slowed_by=1.0)
    monkeypatch.setattr(session, "observe", lambda *_, **__: built)
    monkeypatch.setattr(session.Application, "record", lambda *_, **__: pytest.fail("recorded"))
    options = OptimizeOptions(command=("/bin/true",), directory=tmp_path, device="cpu")
    optimizing = session.OptimizeSession(options)
    assert optimizing.run() == 1
    assert "spread over 200 kernels" in optimizing.result.verdict


@needs_native
def test_a_directory_in_which_the_program_only_failed_can_be_used_again(tmp_path: Path) -> None:
    def optimizing(program: str, *, resume: bool = False) -> session.OptimizeSession:
        options = OptimizeOptions(
            command=(program,), directory=tmp_path / "out", device="cpu", resume=resume
        )
        return session.OptimizeSession(options)

    with pytest.raises(NotFound):
        optimizing("./not-there").run()
    assert not (tmp_path / "out").exists()
    with pytest.raises(InvalidArgument, match="the program as built fails"):
        optimizing("/bin/false").run()
    assert optimizing("/bin/true").run() == 1
    with pytest.raises(InvalidArgument, match="holds what was found for '/bin/true'"):
        optimizing("/bin/false").run()


@needs_native
@pytest.mark.parametrize("content", ["{}", '{"options": 1}', '{"options": {"command": "app"}}'])
def test_a_directory_of_something_else_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "optimize.json").write_text(content)
    for resume in (False, True):
        options = OptimizeOptions(
            command=("/bin/true",), directory=tmp_path, device="cpu", resume=resume
        )
        with pytest.raises(ArtifactCorrupt, match="is not of mneme optimize"):
            session.OptimizeSession(options).run()
    assert (tmp_path / "optimize.json").read_text() == content


@needs_native
def test_a_session_goes_on_with_the_same_program_only(tmp_path: Path) -> None:
    program, given = tmp_path / "app", tmp_path / "input.dat"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    given.write_text("1")
    command = (str(program), "-n", "4", str(given))
    known = programs_of(command)
    assert set(known) == {str(program)}
    out = tmp_path / "out"
    options = OptimizeOptions(command=command, directory=out, device="cpu")
    assert session.OptimizeSession(options).run() == 1
    again = replace(options, resume=True)
    (out / "recording").mkdir(exist_ok=True)
    (out / "recording" / ".complete").write_text(json.dumps(known))
    given.write_text("2")
    assert session.OptimizeSession(again).run() == 1
    program.write_text("#!/bin/sh\n# another\n")
    with pytest.raises(InvalidArgument, match="app' is not what it was"):
        session.OptimizeSession(again).run()


@needs_native
def test_an_interrupt_in_the_end_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    write = optimized.write_optimized_page

    def interrupted_once(result: dict[str, Any], page: Path) -> Path:
        asked.append(json.loads((tmp_path / "optimize.json").read_text())["status"])
        if len(asked) == 1:
            raise KeyboardInterrupt
        return write(result, page)

    monkeypatch.setattr(optimized, "write_optimized_page", interrupted_once)
    options = OptimizeOptions(command=("/bin/true",), directory=tmp_path, device="cpu")
    assert session.OptimizeSession(options).run() == 130
    assert asked == ["completed", "completed"]
    assert (tmp_path / "report.html").is_file()


@needs_native
def test_one_session_at_a_time_works_in_a_directory(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = OptimizeOptions(command=("/bin/true",), directory=out, device="cpu")
    going_on = replace(options, resume=True)
    with pytest.raises(InvalidArgument, match="holds nothing to go on with"):
        session.OptimizeSession(going_on).run()
    assert not out.exists()
    assert session.OptimizeSession(options).run() == 1
    page = out / "report.html"
    page.unlink()
    with only_writer(out), pytest.raises(InvalidArgument, match="another 'mneme optimize' works"):
        session.OptimizeSession(going_on).run()
    assert not page.exists()
    assert session.OptimizeSession(going_on).run() == 1


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    named = pytest.raises(IoFailed, match="cannot write to '.*file': File exists")
    with named, only_writer(tmp_path / "file"):
        pass
