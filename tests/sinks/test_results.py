"""Files that appear whole or not at all, and the same bytes for the same table."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import OutputError
from neardup.sinks import write_groups, write_json, write_table
from neardup.sinks.folder import _exchange, new_folder
from neardup.writing import replacing


def test_same_table_same_bytes(tmp_path: Path) -> None:
    rows = list(range(1000))
    names = [str(n) for n in rows]
    write_table(pa.table({"row": rows, "id": names}), tmp_path / "a.parquet")
    pieces = [pa.table({"row": rows[a : a + 10], "id": names[a : a + 10]}) for a in range(0, 1000, 10)]
    write_table(pa.concat_tables(pieces), tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert pq.read_table(tmp_path / "a.parquet")["row"].to_pylist() == rows


def test_texts_with_a_dictionary_are_read_as_texts(tmp_path: Path) -> None:
    plain = pa.schema([pa.field("a", pa.string(), nullable=False), pa.field("b", pa.string()), ("row", pa.uint64())])
    coded = pa.schema(
        [plain.field("a").with_type(pa.dictionary(pa.int32(), pa.string())), plain.field(1), plain.field(2)]
    )
    groups = [
        pa.table({"a": pa.array(names).dictionary_encode(), "b": names, "row": [0, 1, 2]}, schema=coded)
        for names in (["x", "y", "x"], ["z", "z", "é"])
    ]
    write_groups(plain, groups, tmp_path / "pairs.parquet")
    file = pq.ParquetFile(tmp_path / "pairs.parquet")
    assert file.schema_arrow == plain
    assert file.read()["a"].to_pylist() == ["x", "y", "x", "z", "z", "é"]
    assert file.num_row_groups == 2
    assert "RLE_DICTIONARY" in file.metadata.row_group(1).column(0).encodings
    write_groups(plain, [], tmp_path / "none.parquet")
    assert pq.read_table(tmp_path / "none.parquet") == plain.empty_table()


def test_json(tmp_path: Path) -> None:
    value = {"b": 1, "a": ["é", None], "surrogate": "\ud800"}
    write_json(value, tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_bytes()) == value
    with pytest.raises(ValueError, match="JSON"):
        write_json({"x": float("nan")}, tmp_path / "nan.json")
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_json({"old": True}, tmp_path / "run.json")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"No space left on device.*free some space") as caught:
        write_json({"new": True}, tmp_path / "run.json")
    assert caught.value.where == str(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_bytes()) == {"old": True}
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_device(tmp_path: Path) -> None:
    (tmp_path / "pages.parquet.tmp").symlink_to("/dev/full")
    with pytest.raises(OutputError, match="No space left"):
        write_table(pa.table({"row": list(range(100_000))}), tmp_path / "pages.parquet")
    assert not list(tmp_path.iterdir())


def test_an_interruption_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with replacing(tmp_path / "a") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No such file"):
        write_json({}, tmp_path / "nowhere" / "run.json")


def test_of_two_who_write_the_same_folder_both_results_stay(tmp_path: Path) -> None:
    def write(text: str, then: Callable[[], None]) -> None:
        with new_folder(tmp_path / "out") as folder:
            (folder / "run.json").write_text(text)
            then()

    with pytest.raises(OutputError, match="something else was written there meanwhile") as caught:
        write("late", lambda: write("early", lambda: None))
    assert (tmp_path / "out" / "run.json").read_text() == "early"
    beside = tmp_path / f"out-{os.getpid()}"
    assert (beside / "run.json").read_text() == "late"
    assert caught.value.hint == f"this result is in {beside}"
    assert len(list(tmp_path.iterdir())) == 2


def test_an_empty_folder_is_taken_and_others_are_not(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with new_folder(tmp_path / "out") as folder:
        (folder / "run.json").write_text("done")
    assert (tmp_path / "out" / "run.json").read_text() == "done"
    with pytest.raises(OutputError, match="exists already"), new_folder(tmp_path / "out"):
        pass
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    for overwrite in (False, True):
        with pytest.raises(OutputError), new_folder(tmp_path / "mine", overwrite):
            pass
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_what_killed_runs_left_goes_when_their_process_is_gone(tmp_path: Path) -> None:
    ending = subprocess.Popen(["sleep", "600"])
    gone = subprocess.Popen(["true"])
    gone.wait()
    of_ending, of_gone = (tmp_path / f".out.{process.pid}-0a1b2c.partial" for process in (ending, gone))
    of_ending.mkdir()
    of_gone.mkdir()
    with new_folder(tmp_path / "out"):
        assert (of_ending.exists(), of_gone.exists()) == (True, False)
        # It was killed before, and was still giving back its memory.
        ending.kill()
        ending.wait()
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("way", ["exchanged", "moved", "a link"])
def test_a_new_result_takes_the_place_of_an_old_one(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / ("elsewhere" if way == "a link" else "out")
    old.mkdir()
    write_json({"old": True}, old / "run.json")
    if way == "a link":
        (tmp_path / "out").symlink_to(old)
    if way == "moved":
        monkeypatch.setattr("neardup.sinks.folder._exchange", lambda *_: False)
    with new_folder(tmp_path / "out", overwrite=True) as folder:
        write_json({"old": False}, folder / "run.json")
    assert json.loads((tmp_path / "out" / "run.json").read_bytes()) == {"old": False}
    assert sorted(os.listdir(tmp_path)) == (["elsewhere", "out"] if way == "a link" else ["out"])


@pytest.mark.skipif(sys.platform != "linux", reason="names are exchanged in one step on Linux only")
def test_names_are_exchanged_in_one_step(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (one / "x").touch()
    assert not _exchange(one, tmp_path / "nothing")
    assert (one / "x").exists()
    assert _exchange(one, other)
    assert (os.listdir(one), os.listdir(other)) == ([], ["x"])


def test_killed_between_two_moves_the_old_result_comes_back(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    (tmp_path / f".out.{gone.pid}-0a1b2c.partial").mkdir()
    result = tmp_path / f".out.{gone.pid}-3d4e5f.old" / "result"
    result.mkdir(parents=True)
    write_json({"old": True}, result / "run.json")
    with pytest.raises(OutputError, match="exists already"), new_folder(tmp_path / "out"):
        pass
    assert json.loads((tmp_path / "out" / "run.json").read_bytes()) == {"old": True}
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("where", ["a later run", "the same run"])
def test_an_old_result_that_cannot_come_back_is_not_removed(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if target == tmp_path / "out":
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    gone = subprocess.Popen(["true"])
    gone.wait()
    old = tmp_path / "out" if where == "the same run" else tmp_path / f".out.{gone.pid}-3d4e5f.old" / "result"
    old.mkdir(parents=True)
    write_json({"old": True}, old / "run.json")
    monkeypatch.setattr("neardup.sinks.folder._exchange", lambda *_: False)
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OutputError, match="Input/output error"), new_folder(tmp_path / "out", overwrite=True):
        pass
    (kept,) = tmp_path.glob(".out.*.old/result/run.json")
    assert json.loads(kept.read_bytes()) == {"old": True}
