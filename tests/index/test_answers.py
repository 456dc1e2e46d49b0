"""An index answers as a run over all pages does, page by page, whatever the batches; and forgets what it is told to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from neardup import Index, Settings, dedup, find_duplicates, open_result
from neardup.errors import ConflictError, InputError, OutputError, UsageError
from neardup.index import Answer, build
from neardup.job import statistics_of
from neardup.methods import detectors, parse
from neardup.testing import Web

TEXT = "the quick brown fox jumps over the lazy dog and then runs away from all of us"


@pytest.fixture(scope="module")
def written(small_web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("web") / "pages.jsonl"
    small_web.write_jsonl(path)
    return path


def pairs_of(answers: list[Answer], identity: dict[str, str]) -> dict[tuple[str, str], float]:
    """Accepted pairs of identity sets' first members, as answers tell them, with their scores."""
    found = {}
    for answer in answers:
        own = identity[answer.id]
        for match in answer.matches:
            if match.rule != "identity":
                found[tuple(sorted((own, identity[match.id])))] = match.score
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("name", sorted(detectors()))
def test_answers_are_those_of_a_run(name: str, written: Path, web_pages: list[dict[str, Any]], tmp_path: Path) -> None:
    detector = parse(name)
    statistics = statistics_of(written, detector) if detector.counted() else None
    if statistics is not None:
        statistics.save(tmp_path / "statistics")
    settings = Settings(statistics=None if statistics is None else str(tmp_path / "statistics"))
    run = find_duplicates(web_pages, detector=detector, settings=settings)
    Index.create(tmp_path / "index", detector, statistics=statistics)
    with Index(tmp_path / "index", sync="system") as index:
        # In batches of different sizes, one of them of a single page.
        answers = index.add_many(web_pages[:1]) + index.add_many(web_pages[1:150]) + index.add_many(web_pages[150:])
        checked = index.verify()
    assert checked.sound, checked.complaints
    assert checked.pages == len(web_pages)
    identity = dict(zip(run.pages["id"].to_pylist(), run.pages["identity"].to_pylist(), strict=True))
    columns = (run.pairs[column].to_pylist() for column in ("a", "b", "score"))
    expected = {tuple(sorted((a, b))): score for a, b, score in zip(*columns, strict=True)}
    assert pairs_of(answers, identity) == expected
    # Copies are told as such, by the first of them.
    for answer in answers:
        same = [match for match in answer.matches if match.rule == "identity"]
        assert [match.id for match in same] == ([identity[answer.id]] if identity[answer.id] != answer.id else [])


def test_one_by_one_is_the_same_as_all_at_once(web_pages: list[dict[str, Any]], tmp_path: Path) -> None:
    told = []
    for number, size in enumerate((1, 7, len(web_pages))):
        folder = tmp_path / str(number)
        Index.create(folder, "site-aware")
        with Index(folder, sync="system") as index:
            answers: list[Answer] = []
            for start in range(0, len(web_pages), size):
                answers += index.add_many(web_pages[start : start + size])
            told.append(answers)
    assert told[0] == told[1] == told[2]
    assert any(told[0])


@pytest.mark.parametrize("detector", ["site-aware", "combined", "broder", "charikar(k=3)", "minhash"])
def test_single_pages_get_the_answers_of_batches(
    detector: str, web_pages: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Single pages have a way of their own into an index: read and fingerprinted in one native call."""
    from neardup.sources.memory import texts
    from neardup.text import read

    tokens = read(texts([TEXT]).batches[0]).tokens[0].as_py()
    pages: list[Any] = [
        *web_pages[:120],
        {"id": "bytes", "html": "<meta charset=latin1><p>caf\xe9 ".encode("latin1") + TEXT.encode()},
        {"id": "tokens", "tokens": tokens, "url": "http://one.example/"},
        {"id": "array", "tokens": np.array(tokens, np.uint64), "url": "http://two.example/", "date": "2020-01-01"},
        {"id": "text", "text": TEXT},
        {"id": "surrogate", "text": "\ud800 " + TEXT},
        {"id": "empty", "text": ""},
        {"id": "text", "text": TEXT + " again"},
    ]
    told = []
    for number in range(2):
        Index.create(tmp_path / str(number), detector)
        with Index(tmp_path / str(number), sync="system") as index:
            if number == 0:
                added = [index.add_many([page])[0] for page in pages]
                asked = [index.query_many([page])[0] for page in pages]
            else:
                added, asked = [index.add(page) for page in pages], [index.query(page) for page in pages]
            told.append((added, asked, index.ids(), index.expire("2021-01-01"), index.verify().sound))
    assert told[0] == told[1]
    assert any(told[0][0])


@pytest.mark.parametrize("tokens", [[1.5], ["a"], [-1], [1 << 64], [None], 7, np.zeros((2, 2), np.uint64)])
def test_what_is_no_token_is_told(tokens: Any, tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    with Index(tmp_path / "index", sync="system") as index:
        for ask in (index.add, index.query, lambda page: index.add_many([page])):
            with pytest.raises(InputError, match="whole numbers"):
                ask({"tokens": tokens})
        with pytest.raises(InputError, match="neither text nor a mapping"):
            index.add(b"bytes")  # type: ignore[arg-type]


def test_what_was_there_is_found_after_opening_again(web_pages: list[dict[str, Any]], tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    with Index(tmp_path / "index") as index:
        index.add_many(web_pages)
        before = index.query_many(web_pages)
    with Index(tmp_path / "index") as index:
        assert index.query_many(web_pages) == before
        assert index.ids() == [page["id"] for page in web_pages]
        # A page of the same id is not told of itself.
        assert all(match.id != answer.id for answer in before for match in answer.matches)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    Index.create(tmp_path / "index", "minhash(threshold=0.5)")
    with Index(tmp_path / "index", sync="system") as opened:
        yield opened


def test_a_page_that_is_removed_is_seen_no_more(index: Index) -> None:
    for name in ("first", "second", "third"):
        index.add(TEXT, id=name)
    assert index.query(TEXT).matches[0].copies == 3
    assert index.remove(["first", "first", "unknown"]) == [True, False, False]
    # The oldest that is left stands for the set.
    assert [(match.id, match.copies) for match in index.query(TEXT).matches] == [("second", 2)]
    index.remove(["second", "third"])
    assert not index.query(TEXT)
    assert not index.add(TEXT + " again", id="fourth")
    assert index.verify().sound
    index.compact()
    assert index.verify().sound
    assert index.query(TEXT).seen == "fourth"
    assert index.stats().pages == 1


def test_a_page_of_the_same_id_is_replaced(index: Index) -> None:
    assert not index.add(TEXT, id="page").replaced
    changed = index.add("other words that have nothing in common with what was said before", id="page")
    assert changed.replaced
    assert not changed
    assert not index.query(TEXT)
    # Twice in one batch: the later one stays.
    answers = index.add_many([{"id": "page", "text": TEXT}, {"id": "page", "text": TEXT}])
    assert [answer.replaced for answer in answers] == [True, True]
    assert not any(answers)
    assert index.stats().pages == 1
    assert index.verify().sound


def test_a_request_is_carried_out_once(index: Index) -> None:
    first = index.add(TEXT, request="r1")
    again = index.add(TEXT, request="r1")
    assert not first.repeated
    assert again.repeated
    assert index.stats().pages == 1
    assert index.add_many([{"text": TEXT}, {"text": TEXT}], requests=["r2", "r2"])[1].repeated
    assert index.stats().pages == 2


@pytest.mark.parametrize("detector", ["combined", "minhash"])
def test_a_request_belongs_to_its_page(tmp_path: Path, detector: str) -> None:
    other = "other words that have nothing in common with what was said before"
    Index.create(tmp_path / "index", detector)
    with Index(tmp_path / "index", sync="system") as index:
        index.add(TEXT, id="a", request="r1")
        for page, id in ((other, "a"), (TEXT, "b"), (TEXT, None)):
            with pytest.raises(ConflictError, match="'r1'"):
                index.add(page, id=id, request="r1")
        pages = [{"id": "c", "text": TEXT}, {"id": "d", "text": other}, {"id": "e", "text": other}]
        with pytest.raises(ConflictError, match=r"2 of 3 requests .* the other 1 were carried out"):
            index.add_many(pages, requests=["r1", "r2", "r2"])
        assert index.ids() == ["a", "d"]
        with pytest.raises(UsageError, match="1 requests name 3 pages"):
            index.add_many(pages, requests=["r3"])
        index.compact()
        assert index.add(TEXT, id="a", request="r1").repeated
        assert index.verify().sound


def test_an_answer_names_the_best_matches(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "minhash(threshold=0.5)")
    with Index(tmp_path / "index", sync="system") as index:
        index.add_many([{"id": str(at), "text": f"{TEXT} {at}"} for at in range(20)])
        everything = index.query(TEXT + " 7")
        assert (len(everything.matches), everything.more) == (20, 0)
    with Index(tmp_path / "index", sync="system", most_matches=3) as index:
        few = index.query(TEXT + " 7")
        assert (few.matches, few.more) == (everything.matches[:3], 17)
        added = index.add({"id": "20", "text": TEXT + " 7"})
        assert (added.matches, added.more) == (few.matches, 17)
    with pytest.raises(UsageError, match="at least one"):
        Index(tmp_path / "index", most_matches=0)


def test_sites_of_copies_count(tmp_path: Path, web_pages: list[dict[str, Any]]) -> None:
    """A copy on a further site meets pages there that the first one did not; when it goes, it does so no more."""
    page = max(web_pages, key=lambda page: len(page["html"]))["html"]
    changed = page.replace("</body>", "<p>one more line</p></body>")
    assert changed != page
    Index.create(tmp_path / "index", "site-aware(t=384)")
    with Index(tmp_path / "index", sync="system") as index:
        index.add({"html": page}, id="a", url="http://one.example/a")
        assert not index.query({"html": changed}, url="http://two.example/b")
        assert index.query({"html": changed}, url="http://one.example/b").matches[0].rule == "combined"
        index.add({"html": page}, id="copy", url="http://two.example/a")
        # By the rule for one site: it is the copy there that the page is like, not the first one.
        (match,) = index.query({"html": changed}, url="http://two.example/b").matches
        assert (match.id, match.copies, match.rule) == ("copy", 1, "combined")
        assert index.verify().sound
        index.remove(["copy"])
        assert not index.query({"html": changed}, url="http://two.example/b")
        assert index.query({"html": changed}, url="http://one.example/b").seen == "a"


def test_pages_expire_by_their_date(index: Index) -> None:
    index.add(TEXT, id="old", date="2020-01-01")
    index.add("an entirely different text with more than eight words in all", id="new", date="2030-01-01T10:00:00Z")
    index.add("and a third one that has no date and so is of the time of now", id="now")
    assert index.expire("2020-01-01") == 0
    assert index.expire("2020-01-02") == 1
    assert index.ids() == ["new", "now"]


def test_full_keys_are_bounded_and_told(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "minhash(threshold=0.5)", most=100)
    with Index(tmp_path / "index", sync="system") as index:
        answers = index.add_many([{"id": str(at), "text": f"{TEXT} {at}"} for at in range(300)])
        # More than a chunk of a list, and all pages until a key is full.
        assert [len(answer.matches) for answer in answers[:90]] == list(range(90))
        assert index.query(TEXT).full_key
        assert len(index.query(TEXT).matches) >= 100
        stats = index.stats()
        assert stats.full_keys > 0
        assert stats.left_out > 0
        assert index.verify().sound
        index.remove([str(at) for at in range(250)])
        index.compact()
        assert index.stats().full_keys == 0
        assert index.verify().sound


@pytest.mark.parametrize(
    ("detector", "most"), [("site-aware", 4096), ("minhash(threshold=0.5)", 4096), ("combined", 3), ("combined", 1)]
)
def test_compacting_changes_no_answer(
    detector: str, most: int, web_pages: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Keys that were packed are found, grow and go, as in an index that was never compacted."""
    for name in ("plain", "compacted"):
        Index.create(tmp_path / name, detector, most=most)
    rng = np.random.default_rng(7)
    order = [web_pages[at] for at in rng.permutation(len(web_pages))]
    gone = [page["id"] for page in order[:200] if rng.random() < 0.3]
    told: dict[str, list[object]] = {"plain": [], "compacted": []}
    for name, heard in told.items():
        with Index(tmp_path / name, sync="system") as index:
            for step, pages in enumerate([order[:200], order[200:260], order[260:]]):
                heard.append(index.add_many(pages))
                if step == 1:
                    heard.append(index.remove(gone))
                if name == "compacted":
                    index.compact()
                    # Nothing is left to do, and doing it changes nothing.
                    checked = index.verify()
                    index.compact()
                    again = index.verify()
                    # A list that had room again since it was packed was counted twice.
                    assert (again.pages, again.identity_sets) == (checked.pages, checked.identity_sets)
                    assert again.keys == checked.keys if most == 4096 else again.keys <= checked.keys
                if most == 4096:
                    # Full keys have room again when they are compacted: that may show.
                    heard.append(index.query_many(web_pages))
                heard.append(index.ids())
                checked = index.verify()
                assert checked.sound, checked.complaints
            found = index.stats()
            assert (found.full_keys > 0) == (most < 4096)
    if most == 4096:
        assert told["plain"] == told["compacted"]
    sizes = []
    for name in told:
        with Index(tmp_path / name, sync="system") as index:
            index.compact()
            index.backup(tmp_path / f"{name}-copy")
        with Index(tmp_path / f"{name}-copy", sync="system") as copy:
            sizes.append(copy.verify())
            assert sizes[-1].sound
    if most == 4096:
        assert sizes[0] == sizes[1]


def test_tokens_are_as_good_as_text(index: Index) -> None:
    from neardup.sources.memory import texts
    from neardup.text import read

    tokens = read(texts([TEXT]).batches[0]).tokens[0].as_py()
    index.add({"tokens": tokens}, id="tokens")
    assert index.query(TEXT).matches[0].rule == "identity"


@pytest.mark.parametrize("detector", ["minhash(threshold=0.9)", "combined"])
def test_threads_share_commits_and_lose_nothing(detector: str, tmp_path: Path) -> None:
    Index.create(tmp_path / "index", detector)
    with Index(tmp_path / "index") as index:

        def work(thread: int) -> None:
            for at in range(20):
                index.add(" ".join(f"w{thread}x{at}x{word}" for word in range(20)), id=f"{thread}-{at}")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(index.ids()) == sorted(f"{thread}-{at}" for thread in range(8) for at in range(20))


def test_an_index_is_built_from_a_run(written: Path, tmp_path: Path) -> None:
    for detector in ("site-aware", "i-match"):
        run, folder = tmp_path / f"run-{detector}", tmp_path / f"index-{detector}"
        dedup(written, run, detector=detector)
        answers = [answer for added in build(folder, run) for answer in added.answers]
        result = open_result(run)
        identity = dict(zip(result.pages["id"].to_pylist(), result.pages["identity"].to_pylist(), strict=True))
        columns = (result.pairs[column].to_pylist() for column in ("a", "b", "score"))
        expected = {tuple(sorted((a, b))): score for a, b, score in zip(*columns, strict=True)}
        assert pairs_of(answers, identity) == expected
        with Index(folder) as index:
            assert index.stats().pages == result.pages.num_rows
            assert str(index.about.detector) == detector


def test_an_index_that_is_not_built_to_the_end_is_none(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dedup(written, tmp_path / "run", detector="minhash")
    before = sorted(path.name for path in tmp_path.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(Index, "flush", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            list(build(tmp_path / "seen", tmp_path / "run"))
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    (tmp_path / "seen").mkdir()  # an empty folder is no obstacle
    assert sum(len(added.answers) for added in build(tmp_path / "seen", tmp_path / "run"))
    with pytest.raises(OutputError, match="not empty"):
        list(build(tmp_path / "seen", tmp_path / "run"))


def test_many_pages_come_as_lists_tables_or_one_by_one(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "minhash")
    rows = [{"id": str(at), "text": f"{TEXT} number {at}"} for at in range(3)]
    with Index(tmp_path / "index") as index:
        index.add_many(pa.Table.from_pylist(rows))
        assert index.ids() == ["0", "1", "2"]
        for pages in (rows, (row for row in rows), pa.Table.from_pylist(rows), pa.RecordBatch.from_pylist(rows)):
            assert [answer.id for answer in index.query_many(pages)] == ["0", "1", "2"]
        assert len(index.query_many(pa.array([TEXT, TEXT]))) == 2
        assert index.query_many([]) == index.add_many(pa.table({"text": pa.array([], pa.string())})) == []
        for ask in (index.add_many, index.query_many):
            with pytest.raises(UsageError, match="put it into a list"):
                ask("a single text")
        assert index.remove("1") == [True]
        assert index.remove(name for name in ("0", "1")) == [True, False]
        assert index.ids() == ["2"]
