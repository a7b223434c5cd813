"""Programs started where our libraries are not: the loader has nothing to say there.

LD_PRELOAD is inherited, and each program whose loader does not find what it names prints a line for
each of our libraries.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD, Finished, example, mneme, records, run_command

LIBRARIES = BUILD / "lib"
VERBS = {
    "run": ("run", "--device", "cpu"),
    "record": ("record", "--device", "cpu", "-rdb", "recording"),
}
# Starts programs in as many ways as there are, after it went into another root directory.
STARTER = """
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None)
libc.popen.restype, libc.pclose.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
commands = ["sh", "-c", "/bin/echo ran; /bin/echo ran"]
def forked(start):
    child = os.fork()
    if child == 0:
        try: start()
        finally: os._exit(1)
    os.waitpid(child, 0)
def leave_root(): os.chroot(sys.argv[1]); os.chdir("/")
def leave_user(): os.setgroups([]); os.setgid(65534); os.setuid(65534)
(leave_root if sys.argv[1] != "user" else leave_user)()
environment = dict(os.environ)
libc.system(b"/bin/echo ran; /bin/echo ran")
libc.pclose(libc.popen(b"/bin/echo ran >&2; /bin/echo ran >&2", b"r"))
os.waitpid(os.posix_spawn("/bin/sh", commands, environment), 0)
os.waitpid(os.posix_spawnp("sh", commands, environment), 0)
subprocess.run(commands, env={**environment, "PATH": "/bin"}, check=True)
forked(lambda: os.execv("/bin/sh", commands))
forked(lambda: os.execve("/bin/sh", commands, environment))
forked(lambda: libc.execvp(b"sh", (ctypes.c_char_p * 4)(*(one.encode() for one in commands))))
forked(lambda: libc.execl(b"/bin/sh", *(one.encode() for one in commands), None))
"""
RUNS = 18

needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root goes into another root directory"
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root directory with a shell and two commands, and nothing of ours."""
    directory = tmp_path_factory.mktemp("root")
    (directory / "bin").mkdir()
    for name in ("sh", "echo", "cat"):
        program = Path(shutil.which(name) or pytest.skip(f"there is no '{name}'"))
        shutil.copy(program, directory / "bin" / name)
        needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for path in re.findall(r"(/\S+) \(", needed):
            target = directory / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return directory


def guest(verb: str, folder: Path, *command: str | Path, **variables: str) -> Finished:
    line = (sys.executable, "-m", "mneme", *VERBS[verb], "--", *command)
    environment = {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PATH": f"{os.environ['PATH']}:/bin",
        **variables,
    }
    return run_command("env", "-C", folder, *line, **environment)


@needs_root
@pytest.mark.parametrize("verb", VERBS)
def test_commands_in_another_root_print_what_they_print_alone(
    root: Path, tmp_path: Path, verb: str
) -> None:
    commands = "/bin/echo one; /bin/echo $LD_PRELOAD; /bin/sh -c '/bin/echo two; /bin/echo three'"
    done = guest(verb, tmp_path, "chroot", root, "/bin/sh", "-c", commands)
    assert (done.returncode, done.stdout) == (0, "one\n\ntwo\nthree\n")
    assert "ld.so" not in done.stderr


@needs_root
@pytest.mark.parametrize("verb", VERBS)
def test_every_way_to_start_a_program_leaves_out_what_is_not_there(
    root: Path, tmp_path: Path, verb: str
) -> None:
    done = guest(verb, tmp_path, sys.executable, "-c", STARTER, root)
    assert (done.stdout + done.stderr).count("ran\n") == RUNS, done.stderr
    assert "ld.so" not in done.stderr


@needs_root
def test_a_user_who_may_not_read_the_libraries_gets_none(tmp_path: Path) -> None:
    own = tmp_path / "libraries"
    own.mkdir()
    for name in ("librecord.so", "libmneme_rt.so"):
        shutil.copy(LIBRARIES / name, own)
    own.chmod(0o700)
    preloaded = {"LD_PRELOAD": str(own / "librecord.so"), "MNEME_DATA_DIR": str(tmp_path)}
    done = run_command(sys.executable, "-c", STARTER, "user", **preloaded)
    assert (done.stdout + done.stderr).count("ran\n") == RUNS, done.stderr
    assert "ld.so" not in done.stderr


@needs_root
def test_libraries_of_others_stay_and_ours_come_back_with_the_root(
    root: Path, tmp_path: Path
) -> None:
    own = next(root.rglob("libc.so.6"))
    script = (
        "import os, sys\n"
        "show = lambda: os.system('/bin/echo $LD_PRELOAD')\n"
        "back = os.open('/', os.O_RDONLY)\n"
        "os.chroot(sys.argv[1]); show()\n"
        "os.fchdir(back); os.chroot('.'); show()\n"
    )
    library = f"/{own.relative_to(root)}"
    done = guest("run", tmp_path, sys.executable, "-c", script, root, LD_PRELOAD=library)
    there, here = done.stdout.split()
    assert there == library, done.stderr
    assert here.endswith(f":{library}")
    assert "libmneme_cudart.so" in here


@needs_root
def test_a_mount_of_its_own_hides_the_libraries_quietly(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace can be had here")
    hide = f"mount -t tmpfs none '{LIBRARIES}' && /bin/echo ran && sh -c '/bin/echo ran; /bin/echo ran'"
    done = guest("record", tmp_path, "unshare", "-m", "sh", "-c", hide)
    assert done.stdout == "ran\n" * 3, done.stderr
    assert "ld.so" not in done.stderr


def test_programs_that_programs_start_are_recorded_as_ever(tmp_path: Path) -> None:
    program = example("vector_add")
    nested = ("env", sys.executable, "-c", f"import os; os.system(\"sh -c '{program} 64'\")")
    done = mneme("record", "--device", "cpu", "-rdb", tmp_path, "--", *nested)
    assert done.returncode == 0, done.stderr
    assert len(records(tmp_path)) == 1
