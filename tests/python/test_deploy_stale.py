"""What a deployment does about older code, and about launches of another architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deploy_samples import best, config, facts, gain, write_result
from mneme.deploy import DeployOptions, plan_deployment, write_deployment
from mneme.deploy.tuned_file import read_tuned_file
from mneme.errors import IoFailed
from mneme.files.publish import publish_text
from native_parts import needs_native

pytestmark = needs_native


def same(**changes: Any) -> dict[str, Any]:
    """A result whose best configuration keeps the launch."""
    return best(config=config(), same_launch=None, **changes)


def test_merging_without_the_code_guard_drops_older_code_too(tmp_path: Path) -> None:
    tuned = tmp_path / "tuned.json"
    write_deployment(plan_deployment([write_result(tmp_path / "old", same())]), tuned)
    smaller = {"x": 4, "y": 4, "z": 1}
    code = facts(static_hash="00000000000000cd", grid=smaller)
    content = same(facts=code, gain=gain(1.9))
    content["config"]["grid"] = smaller
    new = write_result(tmp_path / "new", content)
    plan = plan_deployment([new], DeployOptions(guards=("arch",)))
    assert [one.static_hash for one in plan.deployed] == [""]
    sentences = write_deployment(plan, tuned, merge=True)
    kernel = read_tuned_file(tuned)["_Z4walki"]
    assert kernel.variants == (plan.deployed[0].variant,)
    assert kernel.static_hashes == [""]
    assert sentences == ["walk(int): 1 variant for older code is dropped"]


@pytest.mark.parametrize("guards", [("arch",), ("static-hash",)])
@pytest.mark.parametrize("grid", [{"x": 16, "y": 16, "z": 1}, {"x": 4, "y": 4, "z": 1}])
def test_launches_of_another_architecture_need_no_other_guard(
    tmp_path: Path, guards: tuple[str, ...], grid: dict[str, int]
) -> None:
    def on(arch: str) -> dict[str, Any]:
        return {"id": "cuda:0", "arch": arch, "name": "A GPU"}

    write_result(tmp_path / "a", same(device=on("sm_90")))
    write_result(tmp_path / "b", same(trial=-1, device=on("sm_80"), facts=facts(grid=grid)))
    (one,) = plan_deployment([tmp_path], DeployOptions(guards=guards)).deployed
    assert (one.variant.guards, one.note) == (("Arch",), "")


def test_files_of_one_process_number_do_not_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in two containers that share a directory."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    names: list[str] = []

    def note(path: str | Path, *_: object) -> int:
        names.append(Path(path).name)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.open", note)
    for _ in range(2):
        with pytest.raises(IoFailed, match="No space left"):
            publish_text(tmp_path / "t.json", "{}")
    assert len(set(names)) == 2
    assert all(one.startswith("t.json.tmp-1-") for one in names)
