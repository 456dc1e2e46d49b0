"""The application in a real browser: what is on the screen, that nothing leaves, and that no page under study runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from neardup import open_result, web
from neardup.evaluation.judging import Judging
from neardup.graph.cut import cut
from neardup.results.revision import shape_of


class Watched:
    """A page whose complaints and requests are remembered."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.address = address
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.context.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: str) -> Any:
        answer = self.page.goto(self.address + path)
        assert answer.ok, f"{path}: {answer.status}"
        return self.page

    def check(self) -> None:
        """Nothing was complained of, and nothing was asked for elsewhere."""
        assert self.complaints == []
        assert {urlsplit(url).netloc for url in self.requests} == {urlsplit(self.address).netloc}
        assert self.page.evaluate("window.owned") is None


@pytest.fixture
def watched(browser: Any, server: str) -> Iterator[Watched]:
    made = Watched(browser, server)
    yield made
    made.context.close()


def test_from_the_overview_to_a_cluster_to_a_pair(watched: Watched, run_folder: Path) -> None:
    counts = open_result(run_folder).report["counts"]
    page = watched.open("/")
    assert f"{counts['removed']:,} of {counts['pages']:,} pages repeat another" in page.inner_text("h1")
    page.click("nav >> text=Clusters")
    page.wait_for_selector("#rows li.row")
    sizes = [int(text.split()[0]) for text in page.locator("#rows li.row [data-label=pages]").all_inner_texts()]
    assert len(sizes) == min(counts["clusters"], 50)
    assert sizes == sorted(sizes, reverse=True)
    page.locator("#rows li.row a").first.click()
    page.wait_for_selector(".members")
    assert page.inner_text("h1").startswith(f"{sizes[0]} pages")
    with page.expect_navigation():
        page.click("text=Exact similarity of all")
    assert page.locator(".matrix td.snone").count() == 0, "all pairs are known"
    page.locator(".matrix td:not(.self) a").first.click()
    page.wait_for_selector(".pair")
    assert page.inner_text("h1") != "Two pages"
    assert "Kind of difference" in page.inner_text("main")
    assert page.locator(".pair ins, .pair del").count() > 0
    watched.check()


def test_moving_the_slider_changes_the_clusters(watched: Watched, run_folder: Path) -> None:
    shape = shape_of(open_result(run_folder))
    page = watched.open("/clusters")
    slider = page.locator("#threshold")
    last = int(slider.get_attribute("max"))
    for step in (last // 2, last):
        slider.evaluate(f"(e) => {{ e.value = {step}; e.dispatchEvent(new Event('input')); }}")
        threshold = page.evaluate(f"JSON.parse(document.querySelector('[data-slider]').dataset.steps)[{step}]")
        expected = len(cut(shape, threshold).first)
        # Who hears the page hears the threshold, not the number of a step.
        assert slider.get_attribute("aria-valuetext") == f"threshold {threshold:.4f}"
        # The locators wait by themselves; waiting for a script would need eval, which our policy forbids.
        page.locator("#count", has_text=re.compile(f"^{expected:,} clusters$")).wait_for()
        page.locator("#rows li.row").nth(min(expected, 50) - 1).wait_for()
        assert page.locator("#rows li.row").count() == min(expected, 50)
        assert page.inner_text("[data-told]").startswith(f"{expected:,} clusters with ")
    assert "threshold=" in page.url
    watched.check()


def test_planted_scripts_do_not_run_and_nothing_is_fetched(watched: Watched, run_folder: Path, trap: Any) -> None:
    watched.page.goto("http://evil.example/")
    assert trap.knocks > 0, "the trap works"
    watched.open("/")
    knocks = trap.knocks
    pages = open_result(run_folder).pages
    a, b = (pages["id"].to_pylist().index(f"hostile-{number}") for number in (1, 2))
    page = watched.open("/clusters?text=hostile")
    assert '<script>window.owned=1</script> hostile "quoted"' in page.inner_text("#rows")
    for path in (f"/cluster/{a}", f"/page/{a}", f"/pair/{a}/{b}"):
        watched.open(path)
        assert page.evaluate("window.owned") is None
    watched.open(f"/pair/{a}/{b}")
    page.keyboard.press("f")
    frames = page.locator("iframe")
    assert frames.count() == 2
    assert all(frame.get_attribute("sandbox") == "" for frame in frames.all())
    inside = page.frame_locator("iframe").first
    inside.locator("text=hostile pages").wait_for()
    page.wait_for_timeout(300)  # for what would come of its own accord
    assert page.evaluate("window.owned") is None
    # Also when somebody opens the page alone.
    answer = page.goto(f"{watched.address}/page/{a}/frame")
    assert "sandbox" in answer.headers["content-security-policy"]
    page.wait_for_timeout(200)
    assert urlsplit(page.url).netloc == urlsplit(watched.address).netloc
    assert trap.knocks == knocks


def test_decisions_are_taken_and_written_as_a_new_run(watched: Watched, run_folder: Path) -> None:
    page = watched.open("/clusters?sort=size")
    page.locator("#rows li.row a").first.click()
    page.wait_for_selector(".members")
    page.wait_for_load_state("load")
    first = int(page.locator("[data-cluster]").get_attribute("data-cluster"))
    chosen = page.locator("[data-representative]").first
    row = int(chosen.get_attribute("data-representative"))
    with page.expect_navigation():
        chosen.click()
    assert page.locator(".members tr.stays", has_text="chosen").count() == 1
    with page.expect_navigation():
        page.keyboard.press("a")
    second = int(page.locator("[data-cluster]").get_attribute("data-cluster"))
    assert second != first, "accepting goes on to the next one"
    with page.expect_navigation():
        page.keyboard.press("r")
    watched.open("/")
    assert "1 clusters accepted, 1 rejected; 1 other pages chosen" in page.inner_text("#decisions")
    page.fill("[data-export] input", "revised")
    page.click("[data-export] button")
    page.wait_for_selector("#message.shown")
    assert "Written to" in page.inner_text("#message")
    revised = open_result(run_folder.parent / "revised")
    assert (run_folder.parent / "revised" / "report.html").exists()
    assert revised.pages["kept"][row].as_py()
    before = open_result(run_folder).pages
    members = [i for i, name in enumerate(before["cluster"].to_pylist()) if name == before["id"][second].as_py()]
    assert {revised.pages["reason"][i].as_py() for i in members} == {"rejected"}
    watched.open(f"/cluster/{first}")
    assert page.locator("[data-verdict=accepted]").get_attribute("aria-pressed") == "true"
    watched.check()


def test_two_judges_and_an_adjudicator(watched: Watched, judged_folder: Path) -> None:
    page = watched.open("/judge")
    orders = {}
    for name, keys in (("ada", "c1"), ("bob", "u1")):
        watched.open("/judge")
        page.fill("[data-judge] input", name)
        with page.expect_navigation():
            page.click("text=Begin or go on")
        seen = []
        for number in range(6):
            page.wait_for_selector("[data-judgement]")
            page.wait_for_load_state("load")
            text = page.inner_text("main")
            assert "score" not in text.lower(), "judges are blind"
            assert "minhash" not in text
            pair = int(page.locator("[data-judgement]").get_attribute("data-pair"))
            seen.append(pair)
            # They differ on the even ones only.
            press = keys if pair % 2 == 0 else "i1"
            page.keyboard.press(press[0])
            page.wait_for_selector("[data-reasons]:not([hidden])")
            with page.expect_navigation():
                page.keyboard.press(press[1])
            if name == "ada" and number == 0:
                with page.expect_navigation():
                    page.keyboard.press("z")
                assert int(page.locator("[data-judgement]").get_attribute("data-pair")) == pair, "undone"
                page.keyboard.press(press[0])
                page.keyboard.press("n")
                page.keyboard.type("looked twice")
                page.keyboard.press("Escape")
                with page.expect_navigation():
                    page.keyboard.press(press[1])
        orders[name] = seen
        assert "All 6 pairs are judged" in page.inner_text("main")
    assert sorted(orders["ada"]) == sorted(orders["bob"]) == list(range(6))
    assert orders["ada"] != orders["bob"]
    watched.open("/agreement")
    page.click("text=3 in dispute")
    page.fill("form input[name=name]", "eve")
    with page.expect_navigation():
        page.click("button:has-text('Adjudicate')")
    page.locator("a.button:has-text('decide')").first.click()
    for _ in range(3):
        page.wait_for_selector("[data-role=adjudicator]")
        page.wait_for_load_state("load")  # the script is there
        assert "What the judges said" in page.inner_text("main")
        page.keyboard.press("c")
        page.wait_for_selector("[data-reasons]:not([hidden])")
        with page.expect_navigation():
            page.keyboard.press("2")
    text = page.inner_text("main")
    assert "6 of 6 pairs have a final label" in text
    assert "3 correct 3 incorrect 0 undecided" in " ".join(text.split())
    assert "0 in dispute" in text
    watched.check()
    judging = Judging(judged_folder / "judging.sqlite")
    final = judging.final()
    assert [final[pair].label for pair in range(6)] == ["correct", "incorrect"] * 3
    assert {one.reason for one in judging.said(role="adjudicator")} == {"time stamp"}
    assert any(one.note == "looked twice" for one in judging.said(judge="ada"))
    judging.close()


def test_search_filters_and_keys(watched: Watched, run_folder: Path) -> None:
    page = watched.open("/clusters")
    page.keyboard.press("/")
    page.keyboard.type("visitor")  # a word of the text, in no title or URL of the clusters shown
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("#rows li.row").count() >= 1
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('li.row') !== null")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    watched.open("/clusters?cohesion_to=0.9&sort=cohesion&ascending=1")
    values = [float(text.split()[0]) for text in page.locator("#rows .cohesion").all_inner_texts()]
    assert values == sorted(values)
    assert all(value <= 0.9 for value in values)
    watched.check()


def test_a_list_taller_than_browsers_draw_is_scrolled_to_its_end(watched: Watched, run_folder: Path) -> None:
    page = watched.page
    script = (Path(web.__file__).parent / "static" / "list.js").read_text(encoding="utf-8")
    short = script.replace("TALLEST = 15_000_000", "TALLEST = 1_500")
    assert short != script
    # As if browsers drew no more than so many pixels.
    page.route("**/list.js", lambda route: route.fulfill(body=short, content_type="text/javascript"))
    watched.open("/clusters")
    total = int(page.locator("#rows").get_attribute("data-total"))
    height = page.locator("#rows li.row").first.bounding_box()["height"]
    assert total * height > 1_500 == page.locator("#rows").bounding_box()["height"]
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    wait_for_edge(page, total, "bottom")
    # Nothing hangs over the end, or the page would have grown.
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY") <= 1
    page.keyboard.press("j")
    seen = int(page.evaluate("document.activeElement.closest('li.row').getAttribute('aria-posinset')"))
    assert 1 < seen <= total, "keys go on from what is in view"
    page.evaluate("scrollTo(0, 0)")
    wait_for_edge(page, 1, "top")
    watched.check()


def wait_for_edge(page: Any, position: int, edge: str) -> None:
    """Waits until a row ends (or begins) where the list does; rows are put in place a frame after one scrolled."""
    page.wait_for_function(
        """([position, edge]) => {
            const row = document.querySelector(`#rows li.row[aria-posinset="${position}"]`);
            const off = (one) => one.getBoundingClientRect()[edge];
            return row && Math.abs(off(row) - off(document.getElementById("rows"))) <= 1;
        }""",
        arg=[position, edge],
    )


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_fault(browser: Any, server: str, run_folder: Path, scheme: Any, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    watched = Watched(browser, server, color_scheme=scheme, viewport={"width": width, "height": 800})
    for path in views(run_folder):
        page = watched.open(path)
        faults = axe.Axe().run(page).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == [], path
    watched.check()
    watched.context.close()


def views(run_folder: Path) -> list[str]:
    """The address of every kind of view."""
    first = int(np.flatnonzero(np.array(open_result(run_folder).pages["reason"].to_pylist()) == "chosen")[0])
    return [
        "/", "/clusters", f"/cluster/{first}", f"/pair/{first}/{first + 1}", f"/page/{first}", "/judge", "/judge/ann/2",
        "/adjudicate?name=eve", "/agreement",
    ]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_view_is_wider_than_the_screen(browser: Any, server: str, run_folder: Path, scheme: Any, width: int) -> None:
    watched = Watched(browser, server, color_scheme=scheme, viewport={"width": width, "height": 800})
    for path in views(run_folder):
        page = watched.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    watched.check()
    watched.context.close()
