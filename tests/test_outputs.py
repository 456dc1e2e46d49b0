"""What a result may be written to: a path of this machine, whoever asks, looked at before any work."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from command_lines import COMMANDS, words_for
from neardup import Index, dedup
from neardup.cli.main import application
from neardup.cli.options import file_to_write, folder_to_write
from neardup.errors import UsageError
from neardup.evaluation.graph import evaluate_graph, write_graph
from neardup.evaluation.judging import Judging
from neardup.evaluation.judging_sample import draw_pairs
from neardup.index.build import build
from neardup.report.frame import HtmlPage
from neardup.results.revision import Decisions, revise
from neardup.sinks import write_json
from neardup.study import study

REMOTE = ["s3://bucket/out", "gs://bucket/out", "hdfs://head:9000/out", "https://a.example/out", "file:///tmp/out"]
#: Options that name something to be written; ``--scratch`` may be of all machines of a cluster.
WRITTEN = {"--out", "--tables", "--cache", "--backups", "--html", "--decisions"}
LINES = [{"id": name, "text": "the same ten words stand here in both of these pages " + name} for name in "ab"]


OUTPUTS = [
    (name, parameter)
    for name, command in COMMANDS.items()
    for parameter in command.params
    if parameter.callback in (file_to_write, folder_to_write)
]


def test_every_option_that_names_an_output_is_looked_at() -> None:
    looked_at = {(name, option) for name, parameter in OUTPUTS for option in (*parameter.opts, parameter.metavar)}
    for name, command in COMMANDS.items():
        for parameter in command.params:
            for option in WRITTEN.intersection(parameter.opts):
                assert (name, option) in looked_at
    assert {("index create", "DIR"), ("index build", "DIR"), ("index backup", "COPY")} <= looked_at


@pytest.mark.parametrize(("name", "output"), OUTPUTS, ids=lambda one: one if isinstance(one, str) else one.name)
@pytest.mark.parametrize("place", REMOTE)
def test_the_command_line_refuses_another_machine(
    name: str, output: click.Parameter, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = name.split()
    for parameter in COMMANDS[name].params:
        if parameter is output:
            words += words_for(parameter, place)
        elif parameter.required:
            words += words_for(parameter, "there-is-no-such-input")
    done = CliRunner().invoke(application, words)
    assert isinstance(done.exception, UsageError)
    assert f"cannot write to {place.split(':')[0]}://" in str(done.exception)
    assert "name a local folder, then copy it there" in str(done.exception)
    assert not os.listdir(tmp_path)


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "dedup": lambda place: dedup("pages.jsonl", place),
    "dedup, scratch": lambda place: dedup("pages.jsonl", "other", scratch=place),
    "revise": lambda place: revise("run", place, Decisions()),
    "study": lambda place: study("pages.jsonl", place),
    "index": lambda place: Index.create(place),
    "index build": lambda place: list(build(place, "run")),
    "judging": lambda place: Judging.create(place, draw_pairs(["run"], 1)),
    "graph": lambda place: write_graph(evaluate_graph("run", resamples=0), "run", place),
    "report": lambda place: HtmlPage("a", "b", "c").write(Path(place)),
    "json": lambda place: write_json({}, place),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("place", REMOTE)
def test_functions_refuse_another_machine(
    function: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    dedup("pages.jsonl", "run", detector="minhash(threshold=0.5)")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(UsageError, match=f"cannot write to {place.split(':')[0]}://"):
        FUNCTIONS[function](place)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_path_with_a_colon_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    for place in ("2026-11-19T20:10", "a:b/out", "c:/out", str(tmp_path / "s3:" / "out")):
        assert dedup("pages.jsonl", place).folder == Path(place)
