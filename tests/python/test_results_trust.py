"""What a results directory from elsewhere can make mneme do: nothing but read it."""

from __future__ import annotations

import json
import os
import shlex
from html.parser import HTMLParser
from pathlib import Path

import pytest

from deploy_samples import write_result
from mneme.cli import main
from mneme.errors import InvalidArgument, IoFailed
from mneme.report import write_report
from mneme.report.dashboard import study_place
from mneme.session.option_files import combine_options
from mneme.session.result_store import ResultStore
from report_samples import KERNEL, PIPELINES, SYMBOL, write_results

NAMED = {
    "space_module": "{}/space.py:Space",
    "sampler": "space:Sampler",
    "optuna_storage": "sqlite:///{}/study.db",
    "proteus_output": "{}/tuned.json",
}
CODE = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\nclass Space: pass\n"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results whose options load code and lead elsewhere."""
    directory = tmp_path / "results"
    write_results(directory)
    (tmp_path / "space.py").write_text(CODE)
    options = {name: value.format(tmp_path) for name, value in NAMED.items()}
    (directory / "config.json").write_text(json.dumps({"record_database": "x", **options}))
    return directory


def give_away(path: Path) -> None:
    """Make a file look as if it came from somebody else."""
    if os.geteuid() == 0:
        os.chown(path, 4321, 4321)
    else:
        path.chmod(0o666)


def resume(directory: Path, **given: str) -> object:
    return combine_options({"resume": True, "results_dir": str(directory), **given})


def test_own_results_are_gone_on_with(results: Path) -> None:
    assert "space.py" in str(vars(resume(results))["space_module"])


def test_somebody_elses_results_name_no_code(results: Path, tmp_path: Path) -> None:
    give_away(results / "config.json")
    again = {name: value.format(tmp_path) for name, value in NAMED.items()}
    with pytest.raises(InvalidArgument, match="not your own file") as caught:
        resume(results)
    for name, value in again.items():
        assert f"--{name.replace('_', '-')} {value}" in str(caught.value)
    for name in NAMED:
        rest = {other: value for other, value in again.items() if other != name}
        with pytest.raises(InvalidArgument, match=f"--{name.replace('_', '-')}"):
            resume(results, **rest)
    assert vars(resume(results, **again))["sampler"] == "space:Sampler"
    assert not (tmp_path / "ran").exists()


def test_what_is_said_again_is_one_word_for_a_shell(results: Path) -> None:
    hostile = "x'; touch ran; echo '\x1b[2J"
    (results / "config.json").write_text(json.dumps({"space_module": hostile}))
    give_away(results / "config.json")
    with pytest.raises(InvalidArgument) as caught:
        resume(results)
    words = shlex.split(str(caught.value).partition("say it again: ")[2])
    assert words == ["--space-module", hostile.replace("\x1b", "\\x1b")]


def test_plain_values_are_taken_from_anybody(results: Path) -> None:
    (results / "config.json").write_text(json.dumps({"record_database": "x", "sampler": "tpe"}))
    give_away(results / "config.json")
    assert vars(resume(results))["sampler"] == "tpe"


def test_a_file_everybody_can_write_is_nobodys_own(results: Path) -> None:
    (results / "config.json").chmod(0o666)
    with pytest.raises(InvalidArgument, match="not your own file"):
        resume(results)


def test_report_and_deploy_load_nothing(results: Path, tmp_path: Path) -> None:
    write_report(results, tmp_path / "report.html")
    write_result(results)
    assert main(["deploy", str(results), "-o", str(tmp_path / "out.json")]) == 0
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "study.db").exists()
    assert not (tmp_path / "tuned.json").exists()


def test_dashboard_opens_only_storages_of_own_results(results: Path) -> None:
    assert study_place(results).startswith("sqlite:")
    give_away(results / "config.json")
    with pytest.raises(InvalidArgument, match="not your own file"):
        study_place(results)


def test_names_of_ours_lead_nowhere_else(results: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("{}")
    for name in ("report.html", "summary.json"):
        (results / name).unlink(missing_ok=True)
        (results / name).symlink_to(secret)
    write_report(results)
    with ResultStore(results) as store:
        store.open(resume=True)
        store.write("summary.json", {})
    assert secret.read_text() == "{}"
    assert not (results / "report.html").is_symlink()
    (results / "trials.jsonl").unlink()
    (results / "trials.jsonl").symlink_to(secret)
    with ResultStore(results) as store, pytest.raises(IoFailed, match="trials.jsonl"):
        store.open(resume=True)
    assert secret.read_text() == "{}"


class Tags(HTMLParser):
    """Notes every tag with the names of its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</script><script>alert(1)//",
        "</code></style><!--",
        "{{ 7 * 7 }}",
        "\u2028\x1b[2J",
    ],
)
def test_names_in_a_report_stay_text(text: str, tmp_path: Path) -> None:
    pages = []
    for number, name in enumerate(("p" * len(text), text)):
        directory = tmp_path / str(number)
        write_results(directory)
        for path in directory.glob("*.json*"):
            content = path.read_text()
            for word in (KERNEL, SYMBOL, PIPELINES[3], "sm_90"):
                content = content.replace(word, json.dumps(f"{name} {word[:4]}")[1:-1])
            path.write_text(content)
        pages.append(write_report(directory).read_text())
    plain, hostile = (Tags(page).found for page in pages)
    assert hostile == plain
