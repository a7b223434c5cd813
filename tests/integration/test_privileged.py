"""A program with more rights than its caller takes no orders from the caller's environment."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import BUILD, example, mneme
from tuned_runs import kernels_of, write_tuned

NOBODY = 65534
LIBRARIES = BUILD / "lib"
# struct vfs_cap_data, revision 2, effective: CAP_NET_BIND_SERVICE.
CAPABILITY = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)
# What an attacker's library does with the rights of the program.
EVIL = r"""
#include <fcntl.h>
__attribute__((constructor)) static void take(void) { open(MARK, O_CREAT | O_WRONLY, 0644); }
"""

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("patchelf"),
        reason="only root can make privileged programs, and patchelf links them to the CPU device",
    ),
    pytest.mark.skipif(
        any(not place.stat().st_mode & stat.S_IXOTH for place in (BUILD, *BUILD.parents)),
        reason="the build lies where other users cannot enter",
    ),
]


@dataclass(frozen=True)
class Attack:
    """A program, and a directory that its caller can write to."""

    program: Path
    directory: Path

    def environment(self) -> dict[str, str]:
        """Everything of ours that names a file, turned to the attacker's."""
        own = self.directory
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(own),
            "TMPDIR": str(own),
            "PROTEUS_TUNED_KERNELS": str(own / "tuned.json"),
            "PROTEUS_CACHE_DIR": str(own / "cache"),
            "PROTEUS_TRACE_OUTPUT": "kernel-trace;cache-stats",
            "PROTEUS_DUMP_LLVM_IR": "1",
            "MNEME_DATA_DIR": str(own),
            "MNEME_LOG_DIR": str(own),
            "MNEME_LOG_LEVEL": "trace",
            "MNEME_CACHE_DIR": str(own / "images"),
            "MNEME_COMPILE_LIBRARY": str(own / "evil.so"),
            "MNEME_COMPILE_PROGRAM": str(own / "evil.so"),
        }

    def run(self, user: int) -> subprocess.CompletedProcess[str]:
        """Run the program as the attacker would."""
        return subprocess.run(
            [self.program],
            env=self.environment(),
            cwd=self.directory,
            user=user,
            group=user,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def left(self) -> set[str]:
        """What the run made in the directory."""
        return {path.name for path in self.directory.iterdir()} - {"evil.so", "tuned.json"}


def linked(name: str, target: Path, *libraries: str) -> None:
    """Copy an example, linked to the CPU device and further libraries instead of a GPU's runtime."""
    shutil.copy(example(name), target)
    runtime = next(
        line for line in patchelf("--print-needed", target).split() if line.startswith("libcudart")
    )
    patchelf("--replace-needed", runtime, LIBRARIES / "libmneme_cudart.so", target)
    for library in libraries:
        patchelf("--add-needed", LIBRARIES / library, target)


def patchelf(*arguments: str | Path) -> str:
    done = subprocess.run(["patchelf", *arguments], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory everybody can reach, where programs may be privileged."""
    with tempfile.TemporaryDirectory(prefix="mneme-privileged-") as name:
        path = Path(name)
        path.chmod(0o755)
        if os.statvfs(path).f_flag & os.ST_NOSUID:
            pytest.skip("the temporary folder is mounted nosuid")
        yield path


@pytest.fixture(params=[(), ("librecord.so",)], ids=["plain", "recorder"])
def attack(place: Path, request: pytest.FixtureRequest) -> Attack:
    """A program that is not privileged yet."""
    directory = place / "attacker"
    directory.mkdir()
    program = place / "program"
    linked("vector_add", program, *request.param)
    write_tuned(directory / "tuned.json", kernels_of([program]))
    source = place / "evil.c"
    source.write_text(EVIL)
    mark = f'-DMARK="{directory / "taken"}"'
    evil = directory / "evil.so"
    subprocess.run(["cc", "-shared", "-fPIC", mark, source, "-o", evil], check=True)
    os.chown(directory, NOBODY, NOBODY)
    return Attack(program, directory)


def owned_by_root(program: Path) -> None:
    program.chmod(0o755 | stat.S_ISUID)


def of_roots_group(program: Path) -> None:
    program.chmod(0o755 | stat.S_ISGID)


def with_a_capability(program: Path) -> None:
    try:
        os.setxattr(program, "security.capability", CAPABILITY)
    except OSError as error:
        pytest.skip(f"no file capabilities here: {error.strerror}")


def test_without_privileges_the_environment_counts(attack: Attack) -> None:
    done = attack.run(NOBODY)
    assert "taken" in attack.left(), done.stderr
    assert "mneme" in done.stderr


@pytest.mark.parametrize("privilege", [owned_by_root, of_roots_group, with_a_capability])
def test_with_privileges_nothing_of_it_does(
    attack: Attack, privilege: Callable[[Path], None]
) -> None:
    privilege(attack.program)
    done = attack.run(NOBODY)
    plain = mneme("run", "--device", "cpu", "--", example("vector_add"))
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert attack.left() == set(), done.stderr
    # The loader has a word to say about the link.
    said = [line for line in done.stderr.splitlines() if line.startswith("mneme:")]
    recorder = "librecord.so" in patchelf("--print-needed", attack.program)
    assert len(said) == (1 if recorder else 0), done.stderr
    assert all("has more rights than its caller" in line for line in said)
