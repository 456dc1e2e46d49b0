"""Files that are read beside each other: the same results in the same order, errors in their place, nothing left."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Settings, dedup
from neardup.engines.local.lanes import in_lanes
from neardup.errors import InputError
from neardup.sources import inputs, open_inputs
from neardup.testing import web


def lanes_of(
    streams: Sequence[Callable[[], Iterator[int]]], work: Callable[[int], int] = abs, threads: int = 4, room: int = 1000
) -> Iterator[int]:
    return in_lanes(streams, work, threads, beside=3, size_of=lambda _: 1, room=room)


def readers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("neardup")]


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), max_size=8), max_size=8), st.integers(1, 5), st.integers(0, 5))
def test_results_come_in_order(streams: list[list[int]], beside: int, room: int) -> None:
    def work(item: int) -> int:
        time.sleep(item / 20_000)
        return item

    given_ = [lambda items=items: iter(items) for items in streams]
    found = in_lanes(given_, work, 3, beside=beside, size_of=lambda _: 1, room=room)
    assert list(found) == [item for items in streams for item in items]
    assert not readers()


def test_streams_are_read_beside_each_other() -> None:
    together = threading.Barrier(3)

    def stream() -> Iterator[int]:
        together.wait(30)  # until three are here
        yield 1

    assert list(lanes_of([stream] * 6)) == [1] * 6


def test_what_is_ready_too_early_is_bounded() -> None:
    taken = [0, 0]
    wait = threading.Event()

    def stream(number: int) -> Iterator[int]:
        for _ in range(200):
            if number == 0:
                wait.wait(30)
            taken[number] += 1
            yield number

    found = lanes_of([lambda: stream(0), lambda: stream(1)], room=30)
    collector = threading.Thread(target=lambda: results.extend(found))
    results: list[int] = []
    collector.start()
    for _ in range(200):
        time.sleep(0.005)
        if taken[1] >= 10:
            break
    time.sleep(0.1)
    # Room for a third of 30, those that were worked on meanwhile, and the one that waits.
    assert 10 <= taken[1] <= 10 + 2 + 1
    wait.set()
    collector.join(30)
    assert results == [0] * 200 + [1] * 200


def test_errors_come_where_they_belong_and_end_everything() -> None:
    def breaks() -> Iterator[int]:
        yield 3
        raise InputError("no more can be read")

    endless = [lambda: iter(range(1 << 30))]
    found = lanes_of([lambda: iter([1, 2]), breaks, *endless])
    assert [next(found), next(found), next(found)] == [1, 2, 3]
    with pytest.raises(InputError, match="no more"):
        next(found)
    assert not readers()

    def work(item: int) -> int:
        return 1 // item

    found = lanes_of([lambda: iter([1, 1]), lambda: iter([1, 0, 1]), *endless], work)
    assert [next(found) for _ in range(3)] == [1, 1, 1]
    with pytest.raises(ZeroDivisionError):
        next(found)
    assert not readers()


def test_who_stops_taking_leaves_nothing_running() -> None:
    found = lanes_of([lambda: iter(range(1 << 30))] * 5)
    assert next(found) == 0
    assert readers()
    found.close()  # type: ignore[attr-defined]
    assert not readers()


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    made = web(seed=4, sites=4, pages=300)
    made.write_jsonl(folder / "all.jsonl")
    lines = (folder / "all.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "all.jsonl").unlink()
    for number in range(12):
        part = b"".join(lines[number * 25 : number * 25 + 25]) + b"{no JSON\n"
        name = f"{number:02}.jsonl" + (".gz" if number % 2 else "")
        (folder / name).write_bytes(gzip.compress(part) if number % 2 else part)
    made.write_warc(folder / "zz.warc.gz")
    return folder


def test_the_same_result_whatever_the_threads(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "LANE_BYTES", 200_000)
    with open_inputs([crawl]) as source:
        assert 5 < len(source.lanes()) < 13
    beside: list[int] = []
    run = in_lanes

    def watched(*args: object, **options: object) -> object:
        beside.append(int(str(options["beside"])))
        return run(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("neardup.engines.local.reading.in_lanes", watched)
    told = []
    for threads in (1, 2, 6, 12):
        dedup(crawl, tmp_path / str(threads), detector="site-aware", settings=Settings(threads=threads))
        report = json.loads((tmp_path / str(threads) / "run.json").read_text())
        told.append([report["counts"], report["skipped"], report["ignored"], report["bytes"]])
        for name in ("pages.parquet", "pairs.parquet", "clusters.parquet"):
            assert (tmp_path / str(threads) / name).read_bytes() == (tmp_path / "1" / name).read_bytes()
    assert beside == [0, 0, 2, 4]
    assert told[1:] == told[:-1]
    assert len(told[0][1]) == 12


def test_a_run_that_fails_leaves_no_threads(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "LANE_BYTES", 200_000)
    with pytest.raises(InputError, match="a record cannot be read"):
        dedup(crawl, detector="exact", settings=Settings(threads=9, strict=True))
    assert not readers()
