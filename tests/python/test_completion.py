"""What a shell gets when it completes a command line of ours: `mneme completion` and its answers."""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from native_parts import needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
# Two kernels, one of them recorded twice.
TWICE, ONCE = "13326948811992799613.json", "16372073875777044691.json"
IDS_TWICE = {"1972764553778116424", "5414914570903653460"}
ID_ONCE = "3913246467672645478"
SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def bin_path(tmp_path: Path) -> str:
    """A search path that begins with a `mneme` of the package under test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "mneme"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mneme "$@"\n')
    command.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def mneme(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mneme", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )


def script_of(shell: str) -> str:
    done = mneme("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def offered(line: str, path: str) -> list[str]:
    """What bash offers for the last word of a line, by the function that our script defines.

    Nothing may come on stderr: it would stand in the middle of what the user types.
    """
    words = [*line.split(" ")[:-1], line.rpartition(" ")[2]]
    asked = (
        f"COMP_WORDS=({' '.join(map(shlex.quote, words))})\nCOMP_CWORD={len(words) - 1}\n"
        '_mneme_completion mneme\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script_of("bash") + asked],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PATH": path},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize("shell", SHELLS)
def test_script_is_one_that_its_shell_can_read(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run(
        [shell, "-n"], input=script_of(shell), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("shell", "registration"),
    [
        ("bash", "complete -o default -F _mneme_completion mneme"),
        ("zsh", "compdef _mneme_completion mneme"),
        ("fish", "complete --command mneme"),
    ],
)
def test_script_is_for_the_command_mneme(shell: str, registration: str) -> None:
    script = script_of(shell)
    assert registration in script
    assert f"_MNEME_COMPLETE=complete_{shell}" in script


def test_other_shells_are_refused_with_those_there_are() -> None:
    done = mneme("completion", "tcsh")
    assert (done.returncode, done.stdout) == (2, "")
    assert all(shell in done.stderr for shell in SHELLS)
    asked = mneme(_MNEME_COMPLETE="complete_tcsh", COMP_WORDS="mneme re", COMP_CWORD="1")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "tcsh" in asked.stderr


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mneme re", {"record", "replay", "report"}),
        ("mneme -v info sho", {"show"}),
        ("mneme -v w", {"warn"}),
        ("mneme completion ", set(SHELLS)),
        ("mneme record --epilogue-format b", {"bytes", "best"}),
        (
            "mneme replay --specialize",
            {"--specialize", "--specialize-dims", "--specialized-args"},
        ),
        ("mneme nosuch --reco", set()),
    ],
)
def test_bash_offers_verbs_options_and_values(line: str, expected: set[str], bin_path: str) -> None:
    assert set(offered(line, bin_path)) == expected


def test_bash_offers_the_launches_of_the_recording_on_the_line(bin_path: str) -> None:
    line = f"mneme replay -rdb {GOLDEN / TWICE} --record-id "
    assert set(offered(line, bin_path)) == IDS_TWICE
    assert offered(f"{line}19", bin_path) == ["1972764553778116424"]
    assert offered(f"{line}7", bin_path) == []
    assert offered(f"mneme -v info replay -rdb {GOLDEN / ONCE} -rid ", bin_path) == [ID_ONCE]


@needs_native
def test_bash_offers_the_kernels_and_launches_of_a_directory(bin_path: str) -> None:
    kernels = offered(f"mneme record -rdb {GOLDEN} --kernels ", bin_path)
    assert len(kernels) == 2
    assert all(kernel.startswith("_Z") for kernel in kernels)
    assert offered(f"mneme record -rdb {GOLDEN} --kernels {kernels[1]}", bin_path) == kernels[1:]
    ids = offered(f"mneme tune -rdb {GOLDEN} -rid ", bin_path)
    assert set(ids) == {*IDS_TWICE, ID_ONCE}


@needs_native
def test_bash_offers_kernels_and_launches_behind_a_recording(bin_path: str) -> None:
    for verb in ("replay", "tune", "compile", "show", "explain", "suggest", "ls", "scaffold tune"):
        assert set(offered(f"mneme {verb} {GOLDEN} ", bin_path)) == {"walk", "link"}
    assert offered(f"mneme replay {GOLDEN} w", bin_path) == ["walk"]
    assert offered(f"mneme replay {GOLDEN} walk@", bin_path) == ["walk@1", "walk@2"]
    assert offered(f"mneme replay {GOLDEN} 1637", bin_path) == [ONCE.removesuffix(".json")]
    assert offered(f"mneme replay {GOLDEN} _Z4w", bin_path) == ["_Z4walki"]
    assert offered(f"mneme replay -rdb {GOLDEN} ", bin_path) == ["walk", "link"]
    assert offered(f"mneme replay {GOLDEN} nosuch", bin_path) == []


def test_recording_that_cannot_be_read_offers_nothing(bin_path: str, tmp_path: Path) -> None:
    damaged = tmp_path / ONCE
    damaged.write_bytes((GOLDEN / ONCE).read_bytes()[:100])
    for recording in (damaged, tmp_path / "nowhere"):
        assert offered(f"mneme replay -rdb {recording} -rid ", bin_path) == []


def test_blank_in_the_name_of_a_recording_is_part_of_it(tmp_path: Path) -> None:
    recording = tmp_path / "my recording"
    shutil.copytree(GOLDEN, recording)
    # As bash has it in COMP_WORDS: with the quotes that were typed.
    line = f"mneme replay -rdb '{recording / ONCE}' -rid "
    asked = mneme(_MNEME_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD="5")
    assert (asked.returncode, asked.stdout.split(), asked.stderr) == (0, [ID_ONCE], "")


def test_interactive_bash_completes_what_is_typed(bin_path: str, tmp_path: Path) -> None:
    rc_file = tmp_path / "bashrc"
    rc_file.write_text(f"PS1='$ '\nbind 'set enable-bracketed-paste off'\n{script_of('bash')}")
    line = f"echo . mneme; mneme replay -rdb {GOLDEN / ONCE} -rid \t; exit\n"
    shown = _typed(line, ["bash", "--rcfile", str(rc_file), "-i"], {"PATH": bin_path})
    assert f"-rid {ID_ONCE} ; exit" in shown


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_interactive_zsh_completes_what_is_typed(bin_path: str, tmp_path: Path) -> None:
    (tmp_path / ".zshrc").write_text(
        f"PS1='$ '\nunset zle_bracketed_paste\nautoload -U compinit\ncompinit -u -D\n"
        f"{script_of('zsh')}"
    )
    line = f"mneme replay -rdb {GOLDEN / ONCE} -rid \t --help; exit\n"
    home = {"PATH": bin_path, "ZDOTDIR": str(tmp_path)}
    assert f"-rid {ID_ONCE}" in _typed(line, ["zsh", "-i"], home)


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mneme re", {"record", "replay", "report"}),
        (f"mneme replay -rdb {GOLDEN / ONCE} -rid ", {ID_ONCE}),
        # What mneme knows nothing of is a file.
        (f"mneme replay -rdb {GOLDEN.parent}/v", {f"{GOLDEN.parent}/v1/", f"{GOLDEN}/"}),
    ],
)
def test_fish_offers_what_we_tell_it(
    line: str, expected: set[str], bin_path: str, tmp_path: Path
) -> None:
    (tmp_path / "mneme.fish").write_text(script_of("fish"))
    asked = f"source {tmp_path}/mneme.fish; complete -C {shlex.quote(line)}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", asked],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PATH": bin_path, "HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {entry.split("\t")[0] for entry in done.stdout.splitlines()} == expected


def _typed(line: str, command: list[str], environment: dict[str, str]) -> str:
    """What a terminal shows when a line is typed into a new shell, up to the end of the shell."""
    terminal, end = pty.openpty()
    with subprocess.Popen(
        command,
        stdin=end,
        stdout=end,
        stderr=end,
        start_new_session=True,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "500", **environment},
    ) as shell:
        os.close(end)
        os.write(terminal, line.encode())
        shown = b""
        while select.select([terminal], [], [], 60)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the shell has gone
                break
        else:
            shell.kill()
    os.close(terminal)
    return shown.decode(errors="replace")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mneme re", {"record", "replay", "report"}),
        (f"mneme replay -rdb {GOLDEN / ONCE} -rid ", {ID_ONCE}),
        ("mneme completion z", {"zsh"}),
    ],
)
def test_zsh_and_fish_are_told_the_same(line: str, expected: set[str]) -> None:
    zsh = mneme(_MNEME_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line)
    assert (zsh.returncode, zsh.stderr) == (0, "")
    assert zsh.stdout.startswith("_arguments '*: :((")
    assert {entry.split('"')[0] for entry in zsh.stdout.split('"')[1:]} >= expected
    fish = {"_MNEME_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": line}
    args = mneme(**fish, _TYPER_COMPLETE_FISH_ACTION="get-args")
    assert (args.returncode, args.stderr) == (0, "")
    assert {entry.split("\t")[0] for entry in args.stdout.splitlines()} == expected
    # fish asks first whether there is anything; else it completes names of files.
    assert mneme(**fish, _TYPER_COMPLETE_FISH_ACTION="is-args").returncode == 0
    nothing = {**fish, "_TYPER_COMPLETE_ARGS": "mneme replay -rdb nowhere -rid "}
    assert mneme(**nothing, _TYPER_COMPLETE_FISH_ACTION="is-args").returncode != 0
