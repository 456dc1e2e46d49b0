"""What is asked for and cannot be: an option of one value given twice; the newest of pages without dates."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from command_lines import COMMANDS, words_for
from neardup import Settings, dedup, find_duplicates
from neardup.cli.main import application
from neardup.cli.options import Verb
from neardup.errors import UsageError

SINGLE = [
    (name, option)
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option) and not (option.multiple or option.count or option.is_flag)
]
WORDS = "the same ten words stand here in both of these pages "


def test_every_command_looks_at_its_options() -> None:
    assert {type(command) for command in COMMANDS.values()} - {Verb} <= set(Verb.__subclasses__())
    assert len(SINGLE) > 150


@pytest.mark.parametrize(("name", "option"), SINGLE, ids=lambda one: one if isinstance(one, str) else one.opts[0])
def test_an_option_of_one_value_is_given_once(name: str, option: click.Option) -> None:
    words = name.split()
    for parameter in COMMANDS[name].params:
        if parameter.required and parameter is not option:
            words += words_for(parameter, "x")
    for spelling in option.opts:
        done = CliRunner().invoke(application, [*words, option.opts[0], "1", spelling, "2"])
        assert done.exit_code == 2
        assert f"{option.opts[0]} is given 2 times, and takes one value." in " ".join(done.output.split())


def test_options_that_may_be_given_again_and_flags_may_be(tmp_path: Path) -> None:
    for name, number in (("a.txt", 1), ("b.txt", 2)):
        text = " ".join(f"{word}{number}" for word in WORDS.split())
        (tmp_path / name).write_text(text, encoding="utf-8")
    pages = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    done = CliRunner().invoke(application, ["compare", *pages, "-d", "exact", "-d", "minhash", "--json", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output)["decisions"].keys() >= {"exact", "minhash"}


DATED: list[dict[str, Any]] = [{"id": str(at), "text": WORDS + str(at), "score": at} for at in range(4)]


def test_the_newest_of_pages_without_dates_is_refused(tmp_path: Path) -> None:
    settings = Settings(keep="newest")
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(page | {"date": "soon"}) + "\n" for page in DATED), encoding="utf-8")
    for call in (
        lambda: find_duplicates(DATED, settings=settings),
        lambda: dedup(path, tmp_path / "out", settings=settings),
    ):
        with pytest.raises(
            UsageError, match="no page has a date, so none is the newest: name the field with --date-field"
        ):
            call()
    assert [one.name for one in tmp_path.iterdir()] == ["pages.jsonl"]


def test_pages_without_a_date_are_counted(tmp_path: Path) -> None:
    pages = [page | ({"date": f"2026-01-0{at + 1}"} if at % 2 else {}) for at, page in enumerate(DATED)]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    words = ["dedup", str(path), "-o", str(tmp_path / "out"), "--keep", "newest", "-d", "minhash(threshold=0.5)"]
    done = CliRunner().invoke(application, words)
    assert "2  pages without a date that can be read: taken for the oldest" in done.output
    result = find_duplicates(pages, detector="minhash(threshold=0.5)", settings=Settings(keep="newest"))
    assert result.kept["id"].to_pylist() == ["3"]
    assert result.report["counts"]["undated"] == 2
    assert "pages without a date, taken for the oldest" in (tmp_path / "out" / "report.html").read_text(
        encoding="utf-8"
    )
    # Who asks for another one to be kept is not told of dates.
    assert find_duplicates(pages).report["counts"]["undated"] == 0


@pytest.mark.parametrize("name", ["memory", "max_page"])
def test_a_size_is_a_number_of_bytes_or_a_text(name: str) -> None:
    """Settings take what the options of the same names take, and refuse it in the same words."""
    settings: Any = Settings
    assert getattr(settings(**{name: "256MiB"}), name) == getattr(settings(**{name: 256 << 20}), name) == 256 << 20
    assert dataclasses.asdict(settings(**{name: "256MiB"}))[name] == 256 << 20, "as run.json has it"
    for text in ("much", "0"):
        with pytest.raises(UsageError) as refused:
            settings(**{name: text})
        done = CliRunner().invoke(application, ["dedup", __file__, f"--{name.replace('_', '-')}", text, "--out", "out"])
        assert str(done.exception) == str(refused.value)
    for value in (None, 2.5e8, ["256MiB"]):
        with pytest.raises(UsageError, match=f"{name} is .*, not a number of bytes: give 268435456 or '256MiB'"):
            settings(**{name: value})
    with pytest.raises(UsageError, match=f"{name} must"):
        settings(**{name: -1})


def test_a_run_keeps_to_a_text_as_to_its_number() -> None:
    pages = [WORDS, WORDS, "another text of more than just eight short words here"]
    reports = [find_duplicates(pages, settings=Settings(memory=size)).report for size in ("256MiB", 256 << 20)]
    assert reports[0]["settings"] == reports[1]["settings"]
