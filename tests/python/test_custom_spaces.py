from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from mneme.errors import InvalidArgument, NotFound
from mneme.search.custom_spaces import (
    describe_search_space,
    iter_finite_params,
    load_custom_space,
)
from mneme.search.params import BoolParam, FixedParam, IntRangeParam, RealRangeParam
from space_samples import Space

KERNEL = SimpleNamespace(kernel_name="k")

SOURCE = """
from mneme.search.search_space import BoolParam, SearchSpace

class Mine(SearchSpace):
    def __init__(self, kernel, tile=8):
        self.kernel = kernel
        self.tile = tile
    def dimensions(self):
        return {"specialize": BoolParam("specialize")}

class Plain(SearchSpace):
    def __init__(self, *, tile=1):
        self.tile = tile
    def dimensions(self):
        return {}

class Bare(SearchSpace):
    def dimensions(self):
        return {}

class Picky(SearchSpace):
    def __init__(self, kernel):
        raise ValueError("no such kernel")
    def dimensions(self):
        return {}

class Stranger:
    pass
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_space.py"
    path.write_text(SOURCE)
    return path


def test_a_space_is_loaded_from_a_file(file: Path) -> None:
    space = load_custom_space(f"{file}:Mine", KERNEL, {"tile": 16})
    assert space.kernel is KERNEL  # type: ignore[attr-defined]
    assert space.tile == 16  # type: ignore[attr-defined]
    assert len(list(space.sample_exhaustive())) == 2


def test_a_space_is_loaded_from_a_module(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(file.parent))
    assert load_custom_space("my_space:Mine", KERNEL).tile == 8  # type: ignore[attr-defined]


def test_a_space_need_not_take_the_kernel(file: Path) -> None:
    assert load_custom_space(f"{file}:Plain", KERNEL, {"tile": 3}).tile == 3  # type: ignore[attr-defined]
    load_custom_space(f"{file}:Bare", KERNEL)


def test_two_files_of_one_name_are_two_modules(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / file.name
    other.parent.mkdir()
    other.write_text(SOURCE.replace("tile=8", "tile=9"))
    tiles = [load_custom_space(f"{path}:Mine", KERNEL).tile for path in (file, other)]  # type: ignore[attr-defined]
    assert tiles == [8, 9]


def test_what_cannot_be_loaded_is_told(file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")
    for spec, kind, sentence in (
        ("nowhere", InvalidArgument, "MODULE:CLASS"),
        (":Mine", InvalidArgument, "MODULE:CLASS"),
        (f"{tmp_path}/absent.py:Mine", NotFound, "there is no file"),
        ("no_such_module_at_all:Mine", NotFound, "there is no module"),
        (f"{broken}:Mine", InvalidArgument, "nothing_of_that_name"),
        (f"{file}:Absent", NotFound, "has no class 'Absent'"),
        (f"{file}:Stranger", InvalidArgument, "no method dimensions"),
        (f"{file}:Picky", InvalidArgument, "cannot be made: .*no such kernel"),
    ):
        with pytest.raises(kind, match=sentence):
            load_custom_space(spec, KERNEL)
    with pytest.raises(InvalidArgument, match="cannot be made: .*tiles"):
        load_custom_space(f"{file}:Mine", KERNEL, {"tiles": 3})


def test_spaces_describe_themselves() -> None:
    space = Space(
        BoolParam("bounds"),
        IntRangeParam("blocks", 1, 4, when={"bounds": True}, otherwise=0),
        RealRangeParam("share", 0, 1, when=lambda p: bool(p["bounds"])),
    )
    assert describe_search_space(space) == {
        "type": "custom",
        "class": "Space",
        "dimensions": {
            "bounds": {"type": "bool"},
            "blocks": {
                "type": "int_range",
                "low": 1,
                "high": 4,
                "step": 1,
                "when": {"bounds": True},
                "otherwise": 0,
            },
            "share": {"type": "real_range", "low": 0.0, "high": 1.0, "when": "function"},
        },
    }


def test_finite_parameters_are_listed_whatever_constraints_say() -> None:
    space = Space(BoolParam("a"), FixedParam("b", 1), allow=lambda _: False)
    assert list(iter_finite_params(space)) == [{"a": True, "b": 1}, {"a": False, "b": 1}]
    with pytest.raises(InvalidArgument, match="cannot be listed"):
        list(iter_finite_params(Space(RealRangeParam("r", 0, 1))))
