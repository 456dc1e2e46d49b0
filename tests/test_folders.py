"""Every verb that opens a result, on every kind of folder: it says what is so, or refuses in one clear line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from neardup import Settings, dedup, find_duplicates
from neardup.cli.summary import print_summary
from neardup.errors import InputError, NeardupError, UsageError
from neardup.report.explain import explain
from neardup.report.run_report import write_report
from neardup.results.pages import fetch_pages
from neardup.results.revision import Decisions, revise
from neardup.testing import web
from result_folders import DETECTOR, VERBS, Kind, rows
from spark_folders import as_spark_leaves_it

Page = dict[str, Any]


def write(path: Path, pages: list[Page]) -> Path:
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    return path


def crawls() -> tuple[list[Page], list[Page], list[Page]]:
    """Three crawls of one web, with ids of its own: pages that were there, changed, or are other ones by now."""
    pages = [{"id": page.id, "url": page.url, "html": page.html} for page in web(seed=3, pages=240).pages]
    generator = random.Random(5)
    generator.shuffle(pages)
    april, may, june = pages[:60], pages[60:150], pages[150:]
    may += april[:10]
    june += may[:12] + april[12:18]
    june += [page | {"html": page["html"] + f"<p>now {at}"} for at, page in enumerate(may[12:24])]
    # Under an id that was there before, the copy of another page.
    june += [may[at] | {"html": may[at + 10]["html"]} for at in range(24, 30)]
    may += [may[at] | {"id": april[at]["id"]} for at in range(30, 36)]
    for crawl in (april, may, june):
        generator.shuffle(crawl)
    return april, may, june


def many_pairs(count: int = 60) -> list[Page]:
    words = [f"w{number}" for number in range(150)]
    return [{"id": f"p{at}", "text": " ".join([*words[:70], f"own{at}", *words[70:]])} for at in range(count)]


class Kinds:
    """Folders of every kind, each made when it is asked for."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._made: dict[str, Kind] = {}
        self.april, self.may, self.june = (
            write(place / f"{name}.jsonl", crawl)
            for name, crawl in zip(("april", "may", "june"), crawls(), strict=True)
        )

    def __getitem__(self, name: str) -> Kind:
        if name not in self._made:
            self._made[name] = getattr(self, name.replace(" ", "_"))(self._place / name.replace(" ", "-"))
        return self._made[name]

    def local(self, out: Path) -> Kind:
        dedup(self.may, out, detector=DETECTOR, keep_fingerprints=True)
        return Kind(out)

    def _earlier(self) -> list[Path]:
        april = self._place / "april"
        if not april.exists():
            dedup(self.april, april, detector=DETECTOR, keep_fingerprints=True)
        return [april, self["local"].folder]

    def against(self, out: Path) -> Kind:
        dedup(self.june, out, detector=DETECTOR, against=self._earlier(), keep_fingerprints=True)
        return Kind(out)

    def against_component(self, out: Path) -> Kind:
        settings = Settings(removal="component", keep="longest")
        dedup(self.june, out, detector=DETECTOR, against=self._earlier(), settings=settings, keep_fingerprints=True)
        return Kind(out)

    def against_nothing_alike(self, out: Path) -> Kind:
        pages = write(self._place / "other.jsonl", many_pairs(3))
        dedup(pages, out, detector=DETECTOR, against=self._earlier(), keep_fingerprints=True)
        return Kind(out)

    def stored(self, out: Path) -> Kind:
        pages = write(self._place / "stored.jsonl", crawls()[1])
        dedup(pages, out, detector=DETECTOR, store=True, keep_fingerprints=True)
        return Kind(out)

    def store_alone(self, out: Path) -> Kind:
        """Texts stored, and the input gone since."""
        pages = write(self._place / "alone.jsonl", crawls()[1])
        dedup(pages, out, detector=DETECTOR, store=True, keep_fingerprints=True)
        pages.unlink()
        return Kind(out)

    def spark(self, out: Path) -> Kind:
        return Kind(as_spark_leaves_it(self["local"].folder, out))

    def spark_against(self, out: Path) -> Kind:
        return Kind(as_spark_leaves_it(self["against"].folder, out))

    def revised(self, out: Path) -> Kind:
        revise(self["against"].folder, out, Decisions())
        return Kind(out)

    def of_memory(self, out: Path) -> Kind:
        """A result in memory, written by a revision that changes nothing."""
        revise(find_duplicates(crawls()[1], detector=DETECTOR), out, Decisions())
        return Kind(out)

    def pairs_not_held(self, out: Path) -> Kind:
        pages = write(self._place / "many.jsonl", many_pairs())
        dedup(pages, out, detector=DETECTOR, settings=Settings(max_pairs=1), keep_fingerprints=True)
        assert len(rows(out, "pairs")) == 59
        return Kind(out, complete=False, accepted=60 * 59 // 2)

    def resumed(self, out: Path) -> Kind:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("neardup.job.run.write_outcome", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                dedup(self.may, out, detector=DETECTOR, settings=Settings(commit_every=0), keep_fingerprints=True)
        dedup(self.may, out, detector=DETECTOR, resume=True, keep_fingerprints=True)
        return Kind(out)

    def texts_gone(self, out: Path) -> Kind:
        pages = write(self._place / "gone.jsonl", crawls()[1])
        dedup(pages, out, detector=DETECTOR, keep_fingerprints=True)
        pages.unlink()
        return Kind(out)

    def earlier_gone(self, out: Path) -> Kind:
        april = self._place / "april-gone"
        dedup(self.april, april, detector=DETECTOR, keep_fingerprints=True)
        dedup(self.june, out, detector=DETECTOR, against=[april], keep_fingerprints=True)
        april.rename(self._place / "elsewhere")
        return Kind(out)

    def earlier_moved(self, out: Path) -> Kind:
        april = self._place / "there" / "april"
        dedup(self.april, april, detector=DETECTOR, keep_fingerprints=True)
        made = self._place / "there" / out.name
        dedup(self.june, made, detector=DETECTOR, against=[april], keep_fingerprints=True)
        (self._place / "there").rename(self._place / "here")
        return Kind(self._place / "here" / out.name)


KINDS = [
    "local", "against", "against component", "against nothing alike", "stored", "pairs not held", "resumed",
    "texts gone", "earlier gone", "earlier moved", "store alone", "spark", "spark against", "revised", "of memory",
]  # fmt: skip
NO_INPUT = r"no such file or folder \(.*gone.jsonl\)"
EARLIER_GONE = "the page is of an earlier run, which is not there any more .*april-gone.*: put that result folder back"
IN_MEMORY = "the input of this run cannot be read again .*: run dedup with --store to keep the texts of pages"
#: What cannot be done, and the line that says so.
REFUSED = {
    ("explain", "texts gone"): NO_INPUT,
    ("compare", "texts gone"): NO_INPUT,
    ("certify", "texts gone"): NO_INPUT,
    ("index build", "texts gone"): NO_INPUT,
    ("against", "texts gone"): NO_INPUT,
    ("explain", "earlier gone"): EARLIER_GONE,
    ("compare", "earlier gone"): EARLIER_GONE,
    ("against", "store alone"): r"no such file or folder \(.*alone.jsonl\)",
    # Fingerprints are of the pages that the run kept.
    ("against", "revised"): "the earlier run kept no fingerprints .*: run it with --keep-fingerprints",
    ("explain", "of memory"): IN_MEMORY,
    ("compare", "of memory"): IN_MEMORY,
    ("certify", "of memory"): IN_MEMORY,
    ("index build", "of memory"): IN_MEMORY,
    ("against", "of memory"): "no input was given",
}
#: Where two answers are right: what is asked for, made from the fingerprints, or a line that names the option.
MAY_REFUSE = {
    ("judge new", "pairs not held"): "--max-pairs",
    ("evaluate graph", "pairs not held"): "--max-pairs",
}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Kinds:
    return Kinds(tmp_path_factory.mktemp("kinds"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_tables_of_a_folder_fit_together(kinds: Kinds, kind: str) -> None:
    kinds[kind].tables.check()
    assert kinds[kind].tables.removed or kind == "against nothing alike"
    assert bool(kinds[kind].tables.earlier) == (
        kind.startswith(("against", "earlier", "spark against", "revised")) and "nothing" not in kind
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_on_every_kind_of_folder(kinds: Kinds, tmp_path: Path, verb: str, kind: str) -> None:
    folder = kinds[kind]
    if (verb, kind) in REFUSED:
        with pytest.raises((InputError, UsageError), match=REFUSED[verb, kind]):
            VERBS[verb](folder, tmp_path)
    elif (verb, kind) in MAY_REFUSE:
        refusal = None
        try:
            VERBS[verb](folder, tmp_path)
        except NeardupError as error:
            refusal = str(error)
        assert refusal is None or MAY_REFUSE[verb, kind] in refusal
    else:
        VERBS[verb](folder, tmp_path)


def test_a_run_against_earlier_ones_is_one_run_over_both(kinds: Kinds, tmp_path: Path) -> None:
    """By an id of its own for each page: what is removed, and for which page, is what one run over both removes."""
    folders = [tmp_path / name for name in ("april", "may", "june")]
    for at, (path, folder) in enumerate(zip((kinds.april, kinds.may, kinds.june), folders, strict=True)):
        dedup(path, folder, detector=DETECTOR, against=folders[:at], keep_fingerprints=True)
    kind = Kind(folders[2])
    texts: dict[tuple[str | None, int], Page] = {}
    for run, path in (("april", kinds.april), ("may", kinds.may), (None, kinds.june)):
        for row, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            texts[run, row] = json.loads(line)
    names: dict[str, Page] = {}
    for run in ("april", "may"):
        for page in rows(tmp_path / run, "pages"):
            if page["kept"] and page["tokens"]:
                names[f"{run} {page['row']}"] = texts[run, page["row"]]
    names |= {f"own {row}": page for (run, row), page in texts.items() if run is None}
    both = write(tmp_path / "both.jsonl", [page | {"id": name} for name, page in names.items()])
    whole = {page["id"]: page for page in dedup(both, detector=DETECTOR).pages.to_pylist()}
    own = {page["id"]: f"own {page['row']}" for page in kind.tables.pages}
    called = own | {name: f"{Path(one['run']).name} {one['row']}" for name, one in kind.tables.earlier.items()}
    for page in kind.tables.pages:
        expected = whole[called[page["id"]]]
        for name in ("identity", "cluster", "kept_instead"):
            assert called.get(page[name]) == expected[name], (page, expected)
    assert {page["reason"] for page in kind.tables.removed} >= {"seen-identical", "seen-near-duplicate", "identical"}
    renamed = [one for name, one in kind.tables.earlier.items() if name != one["page"]]
    assert renamed, "some ids are there in two crawls"


def test_a_run_into_a_folder_that_is_there_says_what_it_is(kinds: Kinds, tmp_path: Path) -> None:
    pages = write(tmp_path / "pages.jsonl", many_pairs(3))
    dedup(pages, tmp_path / "out", detector=DETECTOR)
    with pytest.raises(
        NeardupError,
        match=r"a run of the same input with the same options has finished there .*`neardup show .*--overwrite",
    ):
        dedup(pages, tmp_path / "out", detector=DETECTOR)
    with pytest.raises(NeardupError, match="another run has finished there"):
        dedup(pages, tmp_path / "out", detector="exact")


def test_results_in_memory(kinds: Kinds, capsys: pytest.CaptureFixture[str]) -> None:
    pages = crawls()[1]
    earlier = [kinds._earlier()[0]]
    results = {
        "texts": find_duplicates(pages, detector=DETECTOR),
        "file": dedup(kinds.may, detector=DETECTOR),
        "against": dedup(kinds.june, detector=DETECTOR, against=earlier),
    }
    for name, result in results.items():
        print_summary(result)
        assert f"{result.removed.num_rows} of {result.pages.num_rows} pages" in capsys.readouterr().out
        assert len(result.filter(list(range(result.pages.num_rows)))) == result.kept.num_rows
        with pytest.raises(InputError, match="the run was not written to a folder: give dedup an out="):
            write_report(result)
        page = result.removed.to_pylist()[-1]
        if name == "texts":
            with pytest.raises(InputError, match="the input of this run cannot be read again"):
                explain(result, page["id"], page["kept_instead"])
            continue
        assert fetch_pages(result, [page["id"], page["kept_instead"]]).num_rows == 2
        told = explain(result, page["id"], page["kept_instead"])
        assert told.fates[0].kept_instead == page["kept_instead"]
    found = results["against"]
    assert len(found.earlier) > 0
    assert found.against.num_rows > 0


def test_an_earlier_run_that_is_another_one_by_now(kinds: Kinds, tmp_path: Path) -> None:
    april, june = tmp_path / "april", tmp_path / "june"
    dedup(kinds.april, april, detector=DETECTOR, keep_fingerprints=True)
    dedup(kinds.june, june, detector=DETECTOR, against=[april])
    dedup(kinds.may, april, detector=DETECTOR, keep_fingerprints=True, overwrite=True)
    # The report does without the texts of that run.
    assert write_report(june).exists()
    with pytest.raises(InputError, match=r"is another one now .*: run dedup again, against what is there"):
        explain(june, "row 0", f"row {len(rows(june, 'pages'))}")
