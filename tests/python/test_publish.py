"""Outputs a user names: what is there is written through, never replaced by something else."""

from __future__ import annotations

import itertools
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mneme.errors import IoFailed
from mneme.files.publish import publish, publish_text
from mneme.session.option_files import write_options
from mneme.session.options import TuneOptions

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    null = tmp_path / "null"
    if os.geteuid() != 0:
        null.symlink_to("/dev/null")
    else:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.stat("/dev/null").st_rdev)
    publish(null, b"content")
    assert stat.S_ISCHR(null.stat().st_mode)
    assert os.listdir(tmp_path) == ["null"]


def test_a_full_device_is_one_sentence() -> None:
    with pytest.raises(IoFailed, match="cannot write '/dev/full': No space"):
        publish("/dev/full", b"content")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_fifo_carries_the_content(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    content = b"x" * 200_000  # more than a pipe holds
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    publish(fifo, content)
    reader.join(timeout=20)
    assert read == [content]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.parametrize("depth", [1, 3])
def test_a_link_stays_and_its_target_is_written(depth: int, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "file"
    target.parent.mkdir()
    target.write_text("old")
    links = [target, *(tmp_path / f"link{number}" for number in range(depth))]
    for place, link in itertools.pairwise(links):
        link.symlink_to(os.path.relpath(place, link.parent))
    publish_text(links[-1], "new")
    assert all(link.is_symlink() for link in links[1:])
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["file"]


def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    publish_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_loop_of_links_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(IoFailed, match="cannot write"):
        publish_text(tmp_path / "a", "new")
    assert (tmp_path / "a").is_symlink()


def test_hard_links_stay_one_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("a longer old content")
    second.hardlink_to(first)
    publish_text(second, "new")
    assert first.read_text() == "new"
    assert first.stat().st_ino == second.stat().st_ino


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o4711])
def test_a_file_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    publish_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "new"


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    publish(tmp_path / "mine", b"", is_executable=True)
    (tmp_path / "other").touch()
    expected = stat.S_IMODE((tmp_path / "other").stat().st_mode)
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == expected | (expected & 0o444) >> 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    os.chown(path, 1234, 2345)
    publish_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)
    assert path.read_text() == "new"


def as_nobody(code: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python as a user without rights; modules are loaded before they are given up."""
    drop = "import os, sys\nfrom mneme.files.publish import publish_text\nos.setgid(65534)\nos.setuid(65534)\n"
    return subprocess.run(
        [sys.executable, "-c", drop + code, *(str(one) for one in arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_somebody_elses_writable_file_is_written_in_place(tmp_path: Path) -> None:
    directory = tmp_path / "shared"
    directory.mkdir()
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(parent.stat().st_mode | 0o055)
    path = directory / "file"
    path.write_text("old")
    path.chmod(0o666)
    before = path.stat().st_ino
    for mode in (0o755, 0o777):
        directory.chmod(mode)
        done = as_nobody("publish_text(sys.argv[1], 'new')", path)
        assert done.returncode == 0, done.stderr
        assert path.read_text() == "new"
        assert (path.stat().st_uid, path.stat().st_ino) == (0, before)
        assert os.listdir(directory) == ["file"]
    path.chmod(0o444)
    done = as_nobody("publish_text(sys.argv[1], 'newer')", path)
    assert "Permission denied" in done.stderr, "a protected file is not replaced either"
    assert path.read_text() == "new"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("mode", ["w", "a"])
def test_redirected_output_is_continued(name: str, mode: str, tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("before\n")
    code = (
        "import sys; from mneme.files.publish import publish_text; print('first');"
        f"publish_text({name!r}, 'second\\n'); print('third')"
    )
    with file.open(mode) as out:
        subprocess.run([sys.executable, "-c", code], check=True, stdout=out, timeout=60)
    expected = "first\nsecond\nthird\n"
    assert file.read_text() == (expected if mode == "w" else f"before\n{expected}")


def test_a_link_to_standard_output_is_that(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = (
        "import sys; from mneme.files.publish import publish_text; publish_text(sys.argv[1], 'x')"
    )
    with (tmp_path / "out").open("w") as out:
        subprocess.run(
            [sys.executable, "-c", code, tmp_path / "link"], check=True, stdout=out, timeout=60
        )
    assert (tmp_path / "out").read_text() == "x"
    assert (tmp_path / "link").is_symlink()


def test_a_long_name_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    publish_text(path, "new")
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("name", ["missing/file", "file/below", "", "a\0b"])
def test_what_cannot_be_written_is_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(IoFailed, match="cannot write"):
        publish_text(f"{tmp_path}/{name}", "new")


def test_option_files_go_through_devices(tmp_path: Path) -> None:
    (tmp_path / "link.yaml").symlink_to("/dev/null")
    write_options(tmp_path / "link.yaml", TuneOptions.from_dict({"record_database": "x"}))
    assert (tmp_path / "link.yaml").is_symlink()
