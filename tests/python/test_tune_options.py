"""Options of `mneme tune`: files, precedence, and sentences for what makes no sense."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mneme.cli._tune_options import spread_lists
from mneme.errors import InvalidArgument, NotFound
from mneme.session.option_files import combine_options, read_options, write_options
from mneme.session.options import TuneOptions

GOOD: dict[str, Any] = {"record_database": "rec", "trials": 5}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"record_database": ""}, "no recording is named; say RECORDING"),
        ({"trials": None}, "--sampler auto needs --trials N"),
        ({"sampler": "grid"}, "--sampler grid tries every configuration; leave --trials out"),
        ({"trials": 0}, "--trials is 0; it has to be 1 or more"),
        ({"metric": "mode"}, "--metric is 'mode', not one of mean, median, min, max"),
        ({"objective": "speed"}, "--objective is 'speed', not one of time, speedup"),
        ({"objective": "dram__bytes"}, "--objective is 'dram__bytes', not one of time, speedup"),
        ({"objective": ["time", "time"]}, "name at least one --objective, and none twice"),
        ({"timeout": 0.0}, "--timeout is 0.0; it has to be more than 0"),
        ({"final_rounds": 5}, "--final-rounds is 5; it has to be 6 or more"),
        ({"early_stop": 0.5}, "--early-stop is 0.5; it is 0, or 1 or more"),
        ({"confidence": -1.0}, "--confidence is -1.0; it has to be 0 or more"),
        ({"resume": True}, "--resume needs --results-dir"),
        ({"all": True, "record_id": "1"}, "--all means every launch"),
        ({"launch_dim": "yz"}, "--launch-dim is 'yz', not one of none, auto, x, xy, xyz"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(
    values: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidArgument, match="^" + sentence):
        TuneOptions.from_dict({**GOOD, **values}).validate()


@pytest.mark.parametrize(
    "values",
    [
        GOOD,
        {**GOOD, "trials": None, "timeout": 3},
        {"record_database": "rec", "sampler": "exhaustive"},
        {"record_database": "rec", "print_space": True},
        {**GOOD, "objective": ["time", "registers"]},
        {**GOOD, "objective": "dram__bytes.sum"},
    ],
)
def test_what_makes_sense_is_taken(values: dict[str, Any]) -> None:
    TuneOptions.from_dict(values).validate()


def test_documented_defaults() -> None:
    options = TuneOptions()
    assert (options.space_preset, options.sampler, options.metric) == ("full", "auto", "mean")
    assert (options.iterations, options.warmup, options.workers) == (5, 2, 1)
    assert (options.objective, options.pruner, options.launch_dim) == ("time", "none", "auto")
    assert options.max_threads_policy == "block-threads"
    assert options.adaptive_invalid_ban
    assert not options.fail_fast


def test_the_space_fits_the_sampler() -> None:
    assert TuneOptions(sampler="random").space_preset == "standard"
    assert TuneOptions(sampler="exhaustive").space_preset == "standard"
    assert TuneOptions(objective=["time", "registers"]).space_preset == "standard"
    assert TuneOptions(objective=["registers"]).space_preset == "full"
    assert TuneOptions(space_preset="quick").space_preset == "quick"


@pytest.mark.parametrize("suffix", ["json", "yaml", "yml"])
def test_options_survive_a_file(tmp_path: Path, suffix: str) -> None:
    options = TuneOptions.from_dict({**GOOD, "passes": ["default<O1>"], "objective": ["time"]})
    write_options(tmp_path / f"options.{suffix}", options)
    again = combine_options({}, tmp_path / f"options.{suffix}")
    assert again.to_dict() == options.to_dict()


def test_a_nested_search_counts_as_if_it_were_not_nested(tmp_path: Path) -> None:
    file = tmp_path / "options.yaml"
    file.write_text("record-database: rec\nsearch:\n  sampler: tpe\n  trials: 7\n")
    options = combine_options({}, file)
    assert (options.sampler, options.trials) == ("tpe", 7)


def test_a_file_may_be_toml(tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text(
        'record-database = "rec"\non = "slurm"\n\n[search]\ntrials = 7\n\n'
        '[cluster]\njobs = 4\nqueue = "gpu"\nwalltime = 02:00:00\n'
    )
    options = combine_options({}, file)
    assert (str(options.record_database), options.on, options.trials) == ("rec", "slurm", 7)
    assert list(options.cluster) == ["jobs=4", 'queue="gpu"', 'walltime="02:00:00"']
    with pytest.raises(InvalidArgument, match="TOML is read only; name .json or .yaml"):
        write_options(file, options)


def test_the_command_line_counts_more_than_the_file(tmp_path: Path) -> None:
    file = tmp_path / "options.json"
    file.write_text(json.dumps({"trials": 7, "metric": "min", "record_database": "file"}))
    options = combine_options({"trials": 9, "record_database": "line"}, file)
    assert (options.trials, options.metric, options.record_database) == (9, "min", "line")


def test_who_resumes_keeps_the_options_of_the_earlier_run(tmp_path: Path) -> None:
    earlier = {**GOOD, "sampler": "tpe", "seed": 3, "quiet": True, "dry_run": False}
    (tmp_path / "config.json").write_text(json.dumps(earlier))
    file = tmp_path / "more.json"
    file.write_text('{"seed": 4}')
    options = combine_options({"resume": True, "results_dir": tmp_path, "trials": 9}, file)
    assert (options.sampler, options.seed, options.trials) == ("tpe", 4, 9)
    with pytest.raises(NotFound, match="there is nothing to resume"):
        combine_options({"resume": True, "results_dir": tmp_path / "none"})


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", "[1]", "holds no map of options"),
        ("a.yaml", "a: [", "is not YAML"),
        ("a.toml", "trials: 3", "is not TOML"),
        ("a.json", '{"trails": 3}', "there is no option 'trails'"),
        ("a.json", '{"trials": "3"}', "option 'trials' is '3'; it has to be a whole number"),
        ("a.json", '{"trials": true}', "it has to be a whole number"),
        ("a.json", '{"quiet": 1}', "it has to be true or false"),
        ("a.json", '{"timeout": "long"}', "it has to be a number"),
        ("a.json", '{"passes": [1]}', "it has to be a list of texts"),
        ("a.json", '{"sampler": 3}', "it has to be a text"),
    ],
)
def test_a_bad_file_is_refused_with_a_sentence(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InvalidArgument, match=sentence):
        combine_options({}, file)


@pytest.mark.parametrize(
    ("text", "fails_fast"),
    [
        ('{"keep_going": true}', False),
        ('{"keep-going": false}', True),
        ('{"fail_fast": false, "keep_going": false}', False),
        ('{"fail_fast": true, "keep_going": false, "config": "b.json", "dump_config": null}', True),
    ],
)
def test_options_have_both_their_names_in_files(
    tmp_path: Path, text: str, *, fails_fast: bool
) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    assert combine_options({}, file).fail_fast is fails_fast


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="cannot open the config file .*none.json"):
        read_options(tmp_path / "none.json")


def test_arguments_of_a_space_may_be_a_map(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"space_arg": {"low": 3, "name": "x"}}')
    assert combine_options({}, file).space_arg == ("low=3", 'name="x"')


def test_lists_may_be_written_behind_one_option() -> None:
    line = ["--passes", "a", "b", "-rdb", "x", "--space-arg", "k=1", "--passes", "c"]
    expected = ["--passes", "a", "--passes", "b", "-rdb", "x", "--space-arg", "k=1", "--passes"]
    assert spread_lists(line) == [*expected, "c"]
    assert spread_lists(["--passes=a", "b"]) == ["--passes=a", "b"]
