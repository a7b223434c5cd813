"""A kernel without IR that can only wait for the program is not waited for long."""

from __future__ import annotations

from pathlib import Path

from gpu import support

SOURCE = Path(__file__).resolve().with_name("latch.cu")

pytestmark = [support.only_on_gpus("the CPU device needs IR"), support.needs_nvcc]


def test_it_is_given_up_after_a_second(tmp_path: Path) -> None:
    program = tmp_path / "latch"
    support.compile_by_nvcc(SOURCE, program)
    alone = support.run(program)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.record(tmp_path / "db", program)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    waits = "kernel 'waits(unsigned int const volatile*)' was not recorded: after 1 s it had not"
    assert waits in done.stderr
    ((path, record_id),) = support.launches(tmp_path / "db")  # of the other kernel, the second
    replayed = support.replay(path, record_id)
    assert replayed.result["result_class"] == "exact", replayed.stdout + replayed.stderr
