"""Texts of a run: searched as they are read, from the inputs or from the store; and said to be gone where they are."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from neardup import Settings, dedup
from neardup.web.application import open_workspace
from neardup.web.texts import TextIndex

TEXTS = (
    "Ein Küchentisch aus hellem Holz steht in der großen Küche am Fenster zum Hof",
    "Ein Küchentisch aus hellem Holz steht in der großen Küche am Fenster zur Gasse",
    "東京都の図書館は朝九時に開きます。本は四週間借りられます。",
    "The quick brown fox jumps over the lazy dog near the old river bank today",
)


def made(folder: Path, **options: object) -> Path:
    lines = [json.dumps({"id": f"p{at}", "text": text}) + "\n" for at, text in enumerate(TEXTS)]
    (folder / "pages.jsonl").write_text("".join(lines), encoding="utf-8")
    dedup(
        folder / "pages.jsonl",
        folder / "run",
        detector="minhash(threshold=0.5)",
        settings=Settings(threads=1),
        **options,
    )  # type: ignore[arg-type]
    return folder / "run"


def finished(index: TextIndex) -> TextIndex:
    for _ in range(600):
        if not index.state["running"]:
            return index
        time.sleep(0.05)
    raise AssertionError("the index takes too long")


@pytest.mark.parametrize("stored", [False, True])
def test_words_are_found_as_detectors_read_them(tmp_path: Path, stored: bool) -> None:
    run = made(tmp_path, store=stored)
    if stored:
        (tmp_path / "pages.jsonl").unlink()
    space = open_workspace(run)
    try:
        texts = finished(space.texts)
        assert texts.ready, texts.state
        for asked, rows in (
            ("KÜCHENTISCH", [0, 1]),
            ("fenster hof", [0]),
            ('"zum Hof"', [0]),
            ('"Hof zum"', []),
            ("図書館", [2]),
            ("fox river", [3]),
            ("nothing", []),
            ('" OR * NEAR(', []),
            ("", []),
        ):
            assert texts.find(asked).tolist() == rows, asked
        assert space.contents.text(3) == TEXTS[3]
        assert "Gasse" not in space.contents.document(0)
        assert space.explaining.pair(0, 1).relation == "paired"
    finally:
        space.close()
    again = open_workspace(run)
    assert again.texts.ready, "it is there the next time"
    again.close()


def test_inputs_that_are_gone_are_said_to_be_gone(tmp_path: Path) -> None:
    run = made(tmp_path)
    (tmp_path / "pages.jsonl").unlink()
    space = open_workspace(run)
    try:
        texts = finished(space.texts)
        assert not texts.ready
        assert texts.state["failure"]
        assert texts.find("fox").tolist() == []
    finally:
        space.close()
    assert not list(run.glob("*.tmp"))
    assert not list(run.glob(".*.tmp"))


def test_inputs_that_changed_give_no_index(tmp_path: Path) -> None:
    run = made(tmp_path)
    with (tmp_path / "pages.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "p9", "text": "one more page than there was"}\n')
    space = open_workspace(run)
    try:
        assert "changed" in str(finished(space.texts).failure)
    finally:
        space.close()
