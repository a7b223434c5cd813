from __future__ import annotations

from typing import Any

import pytest

from mneme.errors import InvalidArgument
from mneme.search.ranges import parse_key_value_args, parse_range


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1:4", (1, 4, 1)),
        ("32:1024:32", (32, 1024, 32)),
        ("3", (3, 3, 1)),
        (" 1 : 2 ", (1, 2, 1)),
        (7, (7, 7, 1)),
        ([1, 4], (1, 4, 1)),
        ((0, 8, 2), (0, 8, 2)),
    ],
)
def test_ranges_are_read(text: Any, found: tuple[int, int, int]) -> None:
    assert parse_range(text) == found


@pytest.mark.parametrize(
    "text", ["", "a:b", "4:1", "1:4:0", "1:2:3:4", "1:", "1.5:2", [], [1, 2, 3, 4], [1.5, 2], True]
)
def test_what_is_no_range_is_refused(text: Any) -> None:
    with pytest.raises(InvalidArgument, match="range"):
        parse_range(text)


def test_arguments_are_json_where_they_can_be() -> None:
    found = parse_key_value_args(["n=3", "tiles=[8,16]", 'name="x"', "path=a=b", "on=true", "e="])
    assert found == {"n": 3, "tiles": [8, 16], "name": "x", "path": "a=b", "on": True, "e": ""}


@pytest.mark.parametrize("items", [["n"], ["=3"], ["n=1", "n=2"]])
def test_malformed_arguments_are_refused(items: list[str]) -> None:
    with pytest.raises(InvalidArgument, match="argument"):
        parse_key_value_args(items)
