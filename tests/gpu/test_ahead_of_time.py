"""Programs built ahead of time with tuned pipelines print what plain and tuned runs print."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD

FOLDER = Path("tests", "apps", "ahead_of_time")
ROOT = Path(__file__).resolve().parents[2]
# A bundle has sources in a place of their own.
TUNED_FILE = next(ROOT.glob(f"{FOLDER}/tuned.json"), ROOT / "source" / FOLDER / "tuned.json")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("nbody", ("512", "2")), ("reduction", ("70000",)), ("stencil2d", ("128", "3"))],
)
def test_output_is_that_of_plain_and_tuned_runs(
    name: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    plain = support.run(BUILD / FOLDER / name, *arguments)
    assert plain.returncode == 0, plain.stderr
    tuned = support.run(
        BUILD / FOLDER / name,
        *arguments,
        PROTEUS_TUNED_KERNELS=str(TUNED_FILE),
        PROTEUS_CACHE_DIR=str(tmp_path),
    )
    ahead = support.run(BUILD / FOLDER / f"{name}_ahead", *arguments)
    assert (tuned.returncode, tuned.stdout) == (0, plain.stdout), tuned.stderr
    assert (ahead.returncode, ahead.stdout) == (0, plain.stdout), ahead.stderr
