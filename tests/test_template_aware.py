"""The detector that decides by the main text: Henzinger's three databases, frames that move, what siblings teach."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from neardup import Settings, find_duplicates
from neardup.errors import SpecError, UsageError
from neardup.job import dedup, statistics_of
from neardup.methods import parse
from neardup.methods.content import Content, ContentSets
from neardup.sources.memory import texts
from neardup.testing.same_template import CASES, Case, directory, framed
from neardup.text import Ideas, content_streams

TEXT = "\n\n".join(
    f"Paragraph {number} of the text says in its own {number * 7} words what the page is about, and "
    f"adds that clause {number * 13} holds as well for party number {number * 31}."
    for number in range(30)
)


def accepted(pages: list[dict[str, str]], detector: str = "template-aware", **settings: object) -> set[tuple[str, str]]:
    """Pairs of ids that are accepted, or have the same tokens."""
    result = find_duplicates(pages, detector=detector, settings=Settings(**settings))  # type: ignore[arg-type]
    pairs = {(row["a"], row["b"]) for row in result.pairs.to_pylist()}
    same = {(row["identity"], row["id"]) for row in result.pages.to_pylist() if row["identity"] != row["id"]}
    return pairs | same


@pytest.mark.parametrize("case", CASES)
def test_henzingers_databases(case: Case) -> None:
    pages = directory(case, 40)
    again = directory(case, 3, fetched=5)
    found = accepted(pages + again)
    assert found == {(page["id"], f"{page['id']} again 5") for page in pages[:3]}


@pytest.mark.parametrize("case", CASES)
def test_a_copy_elsewhere_lends_no_statistics(case: Case) -> None:
    pages = directory(case, 40)
    again = directory(case, 3, fetched=5)
    # Mirrored where nobody else has that frame: the text is the same, the weights of its blocks are not.
    mirrored = [
        {**page, "id": f"{page['id']} mirrored", "url": f"http://mirror.example/{at}"}
        for at, page in enumerate(pages[:3])
    ]
    found = accepted(mirrored + pages + again)
    same = {(f"{page['id']} mirrored", page["id"]) for page in pages[:3]}
    assert {pair for pair in found if not pair[0].endswith("mirrored")} == {
        (page["id"], f"{page['id']} again 5") for page in pages[:3]
    }
    assert same <= found


def test_the_paper_s_algorithms_fail_on_them() -> None:
    # What makes the cases worth testing: here either algorithm of the paper joins different items.
    assert len(accepted(directory("herefordshire", 10), "broder")) > 10
    assert len(accepted(directory("businessline", 10), "charikar")) > 5


def installation(number: int, fetched: int = 0) -> dict[str, str]:
    """A page that says in one sentence what all its siblings say, but for one name; all have one title."""
    name = f"extension{number}"
    shared = "Information for installing this extension may be found in the chapter of the manual that is titled "
    text = (
        f"<p>{TEXT[:900]}</p><p>This extension is not bundled with the language.</p>"
        f"<p>{shared} Installation of extensions. Additional "
        f"information such as new releases, downloads, source files, maintainer information and a list of changes is "
        f"located at the address packages.example package {name}, or may be asked for by letter.</p>"
    )
    menu = "".join(f"<li><a href='/{fetched}{at}'>entry {at * (fetched + 1)}</a></li>" for at in range(20))
    return {
        "id": f"{name} {fetched}",
        "url": f"http://manual.example/{name}.installation.html",
        "html": f"<title>Installation</title><nav><ul>{menu}</ul></nav><h1>Installation</h1>{text}",
    }


def test_a_name_in_a_sentence_that_many_pages_have_decides() -> None:
    pages = [installation(number) for number in range(30)] + [installation(number, 1) for number in range(3)]
    found = accepted(pages)
    assert found == {(f"extension{number} 0", f"extension{number} 1") for number in range(3)}
    # Without siblings nothing tells the name from the rest.
    assert len(accepted(pages, "template-aware(site=False)")) > 100


@pytest.mark.parametrize("case", CASES)
def test_one_title_for_all_pages_names_none(case: Case) -> None:
    def untitled(page: dict[str, str]) -> dict[str, str]:
        head, _, rest = page["html"].partition("</title>")
        return page | {"html": head.split("<title>")[0] + "<title>Our database</title>" + rest}

    pages = [untitled(page) for page in directory(case, 40)]
    again = [untitled(page) for page in directory(case, 3, fetched=5)]
    assert accepted(pages + again) == {(page["id"], f"{page['id']} again 5") for page in pages[:3]}


def test_copies_under_a_few_addresses_are_one_page() -> None:
    # Eight addresses, one title: still copies of one page; their text is no boilerplate, and what moves stays noise.
    pages = [framed(TEXT, host="a.example", path=f"copy{number}", title="Terms", seed=number) for number in range(8)]
    assert len(accepted(pages)) == 8 * 7 // 2


def test_what_stands_beside_the_main_element_is_frame() -> None:
    def page(name: str, news: str) -> dict[str, str]:
        text = f"<p>Gumbo AG, Harbour Street 5, 8203 Riverton</p><p>Mail to {name}</p>"
        body = f"<div><p>{news}</p></div><main>{text}</main>"
        return {"id": news, "url": f"http://a.example/{name}", "html": f"<title>Imprint</title>{body}"}

    pages = [page("us", "three words here"), page("us", "or four words there")]
    assert accepted(pages) == {("three words here", "or four words there")}
    assert not accepted(pages, "template-aware(main=False)")


def test_teasers_beside_the_article_are_frame() -> None:
    def page(name: str, teaser: str) -> dict[str, str]:
        words = " ".join(f"{teaser}{number}" for number in range(60))
        news = f"<section><h2>{teaser}</h2><p>{words}</p></section>"
        return {"id": name, "html": f"<title>Terms</title><main><article>{paragraphs(TEXT)}</article>{news}</main>"}

    pages = [page("a", "Gold"), page("b", "Silver")]
    assert accepted(pages) == {("a", "b")}
    assert accepted(pages, "template-aware(main=False)") == set()


@pytest.mark.parametrize(
    "around",
    [
        "<div role=region hidden>{}</div>",
        "<div style='display:none'>{}</div>",
        "<label>{}</label>",
        "<p><a name=top />The terms</p>{}",
    ],
)
def test_main_text_is_found_where_pages_put_it(around: str) -> None:
    def page(name: str, text: str) -> dict[str, str]:
        preface = " ".join(f"word{number}" for number in range(90))
        body = f"<p>{preface}</p>{around.format(paragraphs(text))}"
        return {"id": name, "html": f"<title>Terms</title><main>{body}</main>"}

    other = TEXT.replace("party", "member").replace("clause", "section")
    assert accepted([page("a", TEXT), page("b", TEXT + " "), page("c", other)]) == {("a", "b")}


def paragraphs(text: str) -> str:
    return "".join(f"<p>{part}</p>" for part in text.split("\n\n"))


def rendered(number: int, root: str, dialog: str, fetched: int = 0) -> dict[str, str]:
    """A page as a browser saw it: a dialog stands before the rest of it, which is hidden."""
    own = " ".join(f"word{number * 1000 + at}" for at in range(120))
    name = f"{number}" + (f" again {fetched}" if fetched else "")
    html = (
        f"<title>Welcome to our application</title>{root}<nav><a href=/>Home</a> <a href=/all>All entries</a></nav>"
        f"<h1>Entry</h1><p>{own}</p></div>{dialog}<p>We use cookies to give you the best experience and to "
        f"measure how our pages are used. {'Thank you. ' * fetched}</p><button>Accept</button></div>"
    )
    return {"id": name, "url": f"http://app.example/{name}", "html": html}


@pytest.mark.parametrize("dialog", ["<div role=dialog>", "<dialog open>", "<div role=alertdialog>", "<aside>"])
@pytest.mark.parametrize(
    "root",
    [
        "<div id=root aria-hidden=true>",
        "<div id=root hidden>",
        "<div style='display: none'>",
        "<div aria-hidden=true><main>",
        "<div aria-hidden=true><article>",
        "<a href=#main>Skip to the content</a><div aria-hidden=true>",
        "<noscript>Switch scripts on</noscript><div aria-hidden=true>",
    ],
)
def test_pages_that_stand_hidden_behind_a_dialog_are_told_apart(root: str, dialog: str) -> None:
    pages = [rendered(number, root, dialog) for number in range(6)]
    again = [rendered(number, root, dialog, fetched=2) for number in range(2)]
    assert accepted(pages + again) == {("0", "0 again 2"), ("1", "1 again 2")}


def test_pages_of_title_and_frame_alone_are_the_same_only_if_both_agree() -> None:
    def page(title: str, menu: str) -> dict[str, str]:
        entries = " ".join(f"{menu}{at}" for at in range(200))
        html = f"<title>{title}</title><nav>{entries}</nav>"
        return {"id": f"{title} {menu}", "url": f"http://a.example/{title}/{menu}".replace(" ", "-"), "html": html}

    titles = ("The first photograph of the day", "Another picture from last summer")
    pages = [page(title, menu) for title in titles for menu in ("left", "right")]
    twin = {**page(titles[0], "left"), "id": "twin"}
    twin["html"] = twin["html"].replace("left7 ", "")
    assert accepted([*pages, twin]) == {(f"{titles[0]} left", "twin")}


@pytest.mark.parametrize(("words", "elements"), [(8, 65), (8, 1000), (3, 2000), (12, 20)])
def test_the_title_weighs_two_per_cent_or_one_a_word(words: int, elements: int) -> None:
    title = " ".join(f"title{at}" for at in range(words))
    text = " ".join(f"word{at}" for at in range(elements + 4))
    streams = content_streams(texts([{"html": f"<title>{title}</title><p>{text}"}]).batches[0])
    sizes = [len(ContentSets(Content(title=share)).compute(streams)[0]) for share in (0.02, 0.0)]
    assert sizes == [elements + words * max(1, int(0.02 * elements / words + 0.5)), elements]


def test_few_siblings_teach_nothing_and_copies_teach_nothing() -> None:
    # Ten fetches of two pages: their texts are shared by ten pages, but by one title each.
    pages = [
        framed(TEXT.replace("clause", word), host="a.example", path=word, title=f"About {word}", seed=seed)
        for word in ("clauses", "articles")
        for seed in range(10)
    ]
    found = accepted(pages)
    same = {(a["id"], b["id"]) for at, a in enumerate(pages) for b in pages[at + 1 :] if a["url"] == b["url"]}
    assert found == same


@pytest.mark.parametrize("host", ["a.example", "b.example", "c.example", "d.example"])
def test_frames_move_and_texts_stay(host: str) -> None:
    once = framed(TEXT, host=host, path="x", title="Terms", seed=1)
    again = framed(TEXT, host=host, path="x", title="Terms", seed=2)
    changed = framed(TEXT.replace("says in its own", "has told in"), host=host, path="x", title="Terms", seed=3)
    assert accepted([once, again, changed]) == {(once["id"], again["id"])}


def test_every_idea_can_be_left_out() -> None:
    pages = [framed(TEXT[:900], host="b.example", path="x", title="Terms", seed=seed) for seed in (1, 2)]
    assert accepted(pages)
    assert not accepted(pages, "template-aware(structure=False)")
    assert parse("template-aware(site=False)").counted() == ()
    directory_pages = directory("herefordshire", 20)
    assert not accepted(directory_pages)
    assert accepted(directory_pages, "template-aware(site=False)")


def test_scores_are_probabilities_and_the_undecided_are_counted() -> None:
    words = TEXT.split()
    variants = [" ".join([*words[:at], "changed", *words[at + 1 :]]) for at in (5, 100, 200)]
    middling = TEXT.replace("clause 13 ", "section 13 ").replace("clause 26 ", "section 26 ").replace("own 7 ", "own ")
    pages = [{"id": str(number), "text": text} for number, text in enumerate([TEXT, middling, *variants])]
    result = find_duplicates(pages, detector="template-aware")
    rows = result.pairs.to_pylist()
    assert rows
    assert all(0.5 <= row["score"] <= 1 and row["jaccard"] >= 0.9 for row in rows)
    by_similarity = sorted(rows, key=lambda row: row["jaccard"])
    assert [row["score"] for row in by_similarity] == sorted(row["score"] for row in rows)
    undecided = result.report["rules"][0]["undecided"]
    assert undecided == sum(row["score"] < 0.8 for row in rows)


def test_threads_and_cuts_do_not_matter() -> None:
    pages = [page for case in CASES for page in directory(case, 12)] + directory("nih", 4, fetched=3)
    one = find_duplicates(pages, detector="template-aware", settings=Settings(threads=1))
    four = find_duplicates(pages, detector="template-aware", settings=Settings(threads=4))
    assert one.pairs.equals(four.pairs)
    assert one.pages.equals(four.pages)
    assert one.report["statistics"] == four.report["statistics"]
    batch = texts(pages).batches[0]
    whole = content_streams(batch)
    parts = [content_streams(batch.slice(at, 1)) for at in range(batch.num_rows)]
    assert pa.concat_arrays(parts).equals(whole)


def test_a_page_alone_is_what_it_is_in_the_collection_with_frozen_statistics(tmp_path: Path) -> None:
    place = tmp_path
    pages = directory("herefordshire", 30)
    (place / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    statistics_of(place / "pages.jsonl", "template-aware").save(place / "site.statistics")
    frozen = str(place / "site.statistics")
    # Two pages alone look the same; with what the site taught they do not.
    assert accepted(pages[:2])
    assert not accepted(pages[:2], statistics=frozen)
    with pytest.raises(UsageError, match="not such as 'i-match' needs"):
        find_duplicates(pages, detector="i-match", settings=Settings(statistics=frozen))
    in_files = dedup(place / "pages.jsonl", detector="template-aware", settings=Settings(statistics=frozen))
    assert in_files.pairs.num_rows == 0


def test_plain_text_has_its_part_of_the_ideas() -> None:
    dated = TEXT + "\n\nLast updated 3 May 2024, 12,345 views"
    later = TEXT + "\n\nLast updated 17 June 2025, 99 views"
    other = TEXT.replace("clause", "paragraph")
    pages = [{"id": name, "text": text} for name, text in (("a", dated), ("b", later), ("c", other))]
    assert accepted(pages) == {("a", "b")}


def test_sets_do_not_depend_on_the_batch() -> None:
    pages = [framed(TEXT, host=f"{name}.example", path="x", title="T", seed=1) for name in "abcd"]
    streams = content_streams(texts(pages).batches[0], ideas=Ideas())
    kind = ContentSets(Content())
    whole = kind.compute(streams)
    assert whole.to_pylist() == [kind.compute(streams.slice(at, 1))[0].as_py() for at in range(4)]
    sizes = np.diff(whole.offsets.to_numpy())
    assert (sizes > 300).all()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("template-aware(probability=1.0)", "probability must be between"),
        ("template-aware(recall=0.0)", "recall must be between"),
    ],
)
def test_wrong_parameters(spec: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        parse(spec)
