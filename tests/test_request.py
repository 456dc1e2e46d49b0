"""Wishes that do not go together are refused alike, whoever asks, before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from neardup import dedup
from neardup.cli.main import application
from neardup.errors import UsageError
from neardup.job import Request
from neardup.sources import InputSpec

NOT_TOGETHER: list[tuple[dict[str, Any], str]] = [
    ({"keep_fingerprints": True}, "fingerprints can be kept only in a result folder"),
    ({"write": "kept"}, "pages can be written only into a result folder"),
    ({"store": True}, "pages can be written only into a result folder"),
    ({"resume": True}, "a run whose result is not written cannot be resumed"),
    ({"master": "local[2]"}, "a master or a remote is for the Spark engine"),
    ({"remote": "sc://head"}, "a master or a remote is for the Spark engine"),
    ({"engine": "spark", "resume": True, "out": "out"}, "the Spark engine neither writes nor stores pages"),
    ({"engine": "spark", "store": True, "out": "out"}, "the Spark engine neither writes nor stores pages"),
    ({"engine": "spark", "write": "all", "out": "out"}, "the Spark engine neither writes nor stores pages"),
    ({"engine": "spark", "certify": lambda *_: {}}, "the Spark engine neither writes nor stores pages"),
]


@pytest.mark.parametrize(("wishes", "message"), NOT_TOGETHER)
def test_what_does_not_go_together_is_refused(wishes: dict[str, Any], message: str) -> None:
    out = Path(wishes["out"]) if "out" in wishes else None
    with pytest.raises(UsageError, match=message):
        Request(InputSpec(["nowhere.jsonl"]), **(wishes | {"out": out}))
    with pytest.raises(UsageError, match=message):
        dedup("nowhere.jsonl", **wishes)


@pytest.mark.parametrize(
    ("inputs", "engine", "message"),
    [([], "local", "no input was given"), (["-"], "spark", "standard input cannot be distributed")],
)
def test_inputs_that_cannot_be_read_are_refused(inputs: list[str], engine: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Request(InputSpec(inputs), engine=engine)
    with pytest.raises(UsageError, match=message):
        dedup(inputs, engine=engine)


def test_the_command_line_refuses_the_same(tmp_path: Path) -> None:
    arguments = ["dedup", "nowhere.jsonl", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(application, [*arguments, "--engine", "spark", "--store"])
    assert isinstance(done.exception, UsageError)
    assert "the Spark engine neither writes nor stores pages" in str(done.exception)
    assert not (tmp_path / "out").exists()
