"""The report of a run: what it says, that it is the same each time, that hostile pages cannot do anything in it."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from neardup import Settings, dedup
from neardup.errors import InputError
from neardup.evaluation.certify import Certifier
from neardup.report.findings import FEWEST_PAIRS
from neardup.report.run_report import command_line, write_report
from neardup.results.pages import fetch_pages
from neardup.testing import Web

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from browser import chromium, find_chromium

LIMIT = 3_000_000
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1><b onclick=x>"
SECTIONS = [
    "found", "largest", "doubtful", "similarity", "graph", "sites", "certificate", "read", "stages", "settings",
]  # fmt: skip


@pytest.fixture(scope="module")
def crawl(small_web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    small_web.write_warc(folder / "web.warc.gz")
    return folder / "web.warc.gz"


@pytest.fixture(scope="module")
def folder(crawl: Path) -> Path:
    dedup(crawl, crawl.parent / "out")
    return crawl.parent / "out"


def text_of(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def untimed(report: str) -> str:
    return re.sub(r'<section id="stages".*?</section>', "", report, flags=re.DOTALL)


class Checked(HTMLParser):
    """Looks at the elements of a page: are they balanced, does anything point elsewhere?"""

    VOID = frozenset({"meta", "br", "hr", "img", "input", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        for name, value in attributes:
            assert not name.startswith("on"), (tag, name)
            assert name != "style", tag
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src"):
                self.links.append(value or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(page: str) -> Checked:
    parser = Checked()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    assert len(set(parser.ids)) == len(parser.ids)
    assert all(link.startswith("#") and link[1:] in parser.ids for link in parser.links)
    return parser


def test_it_is_one_small_page_with_everything_in_it(folder: Path) -> None:
    page = text_of(folder)
    assert len(page.encode()) < LIMIT
    parser = checked(page)
    assert [name for name in SECTIONS if name in parser.ids] == SECTIONS
    # A table behind every plot.
    assert page.count("data-plot=") == len(re.findall(r"<summary>as a table</summary><div[^>]*><table>", page)) >= 7
    assert "link" not in parser.names
    assert "iframe" not in parser.names
    assert "<del>" in page
    assert "Kind of difference: " in page


def test_numbers_are_those_of_the_run(folder: Path) -> None:
    page, counts = text_of(folder), json.loads((folder / "run.json").read_text())["counts"]
    assert f"{counts['removed']:,} of {counts['pages']:,} pages repeat another" in page
    for name in ("kept", "clusters", "pairs", "identical"):
        assert re.search(rf"<dd>{counts[name]:,}[<]", page), name


def test_the_same_bytes_with_any_number_of_threads_and_from_the_folder(
    crawl: Path, folder: Path, tmp_path: Path
) -> None:
    dedup(crawl, tmp_path / "out", settings=Settings(threads=3))
    same = untimed(text_of(folder)).replace("<td>0</td>", "")
    assert untimed(text_of(tmp_path / "out")).replace("<td>3</td>", "").replace("<td>0</td>", "") == same
    before = untimed(text_of(folder))
    write_report(folder)
    assert untimed(text_of(folder)) == before


def test_inputs_without_offsets_show_texts_if_they_are_small_or_to_the_patient(
    small_web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(json.dumps({"id": p.id, "url": p.url, "html": p.html}) + "\n" for p in small_web.pages)
    (tmp_path / "pages.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    dedup(tmp_path / "pages.jsonl.gz", tmp_path / "small")
    monkeypatch.setattr("neardup.report.run_report.SMALL_INPUT", 1000)
    dedup(tmp_path / "pages.jsonl.gz", tmp_path / "out")
    assert "<del>" not in text_of(tmp_path / "out")
    assert "reads the whole input once more" in text_of(tmp_path / "out")
    write_report(tmp_path / "out")
    assert "<del>" in text_of(tmp_path / "out")
    assert untimed(text_of(tmp_path / "small")) == untimed(text_of(tmp_path / "out"))
    assert "reads the whole input once more" not in text_of(tmp_path / "out")
    checked(text_of(tmp_path / "out"))


def test_it_says_how_many_pairs_were_compared_term_by_term(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = json.loads((folder / "run.json").read_text())["counts"]["pairs"]
    told = re.search(r"Term differences \(([\d,]+) of ([\d,]+) pairs, drawn at random; median \d", text_of(folder))
    assert told is not None
    looked_at, of = (int(number.replace(",", "")) for number in told.groups())
    assert of == pairs > looked_at >= FEWEST_PAIRS
    # Pages may be long: what is looked at is bounded, and said.
    monkeypatch.setattr("neardup.report.run_report._MOST_WORK", 1)
    write_report(folder)
    assert f"Term differences (1 of {pairs:,} pairs" in text_of(folder)
    monkeypatch.undo()
    write_report(folder)


def test_an_input_that_is_gone_is_no_failure(small_web: Web, tmp_path: Path) -> None:
    small_web.write_jsonl(tmp_path / "pages.jsonl")
    dedup(tmp_path / "pages.jsonl", tmp_path / "out")
    (tmp_path / "pages.jsonl").unlink()
    write_report(tmp_path / "out")
    assert "<del>" not in text_of(tmp_path / "out")


def test_inputs_named_from_another_folder_are_asked_for_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.jsonl").write_text(json.dumps({"text": "some words of a page"}) + "\n")
    dedup("p.jsonl", "out")
    assert fetch_pages(tmp_path / "out", [0]).num_rows == 1
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"p\.jsonl.*folder it was started in"):
        fetch_pages(tmp_path / "out", [0])


@pytest.mark.parametrize("texts", [["one page only, with some words in it"], [""], ["a b c d e f g h i"] * 3])
def test_small_runs(texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    dedup(tmp_path / "p.jsonl", tmp_path / "out", detector="minhash")
    checked(text_of(tmp_path / "out"))


def test_the_certificate_is_told(crawl: Path, tmp_path: Path) -> None:
    dedup(crawl, tmp_path / "out")
    assert "Not certified" in text_of(tmp_path / "out")
    Certifier(sample=50).folder(tmp_path / "out")
    page = text_of(tmp_path / "out")
    assert "Not certified" not in page
    assert "removed pages without a partner among those that stay" in page


def test_the_command_repeats_the_run(folder: Path, tmp_path: Path) -> None:
    import shlex
    import subprocess

    words = shlex.split(command_line(json.loads((folder / "run.json").read_text()), str(tmp_path / "again")))
    subprocess.run([sys.executable, "-m", *words, "--quiet"], check=True)
    for name in ("pages", "pairs", "clusters"):
        file = f"{name}.parquet"
        assert (tmp_path / "again" / file).read_bytes() == (folder / file).read_bytes()


# In a browser --------------------------------------------------------------------------------------------------------

needs_chromium = pytest.mark.skipif(find_chromium() is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("playwright")
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of pages that try to get out of wherever they are shown."""
    folder = tmp_path_factory.mktemp("hostile")
    text = " ".join(f"word{at}" for at in range(60))
    lines = [
        {"id": f"{HOSTILE}{at}", "url": f"http://{at}.example/{HOSTILE}",
         "html": f"<title>{HOSTILE.replace('<', '&lt;')}</title><p>{text} {HOSTILE.replace('<', '&lt;')} {at}"}
        for at in range(12)
    ]  # fmt: skip
    (folder / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    dedup(folder / "p.jsonl", folder / "out", detector="minhash(threshold=0.5)")
    return folder / "out"


def opened(browser: Any, folder: Path, said: list[str], **options: Any) -> Any:
    """The report in a page of its own; what the console says and what is asked for goes to ``said``."""
    page = browser.new_context(**options).new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith("file:") else said.append(request.url))
    page.goto((folder / "report.html").as_uri())
    page.wait_for_load_state("load")
    return page


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_plots_are_drawn_and_nothing_else_happens(browser: Any, folder: Path, scheme: str) -> None:
    said: list[str] = []
    page = opened(browser, folder, said, color_scheme=scheme, viewport={"width": 390, "height": 844})
    assert page.locator("[data-plot] svg").count() == page.locator("[data-plot]").count() >= 7
    # Nothing is wider than a phone, and text can be read on what it stands on.
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    low = page.evaluate(CONTRAST)
    assert low == [], low
    # A table opens by keyboard alone.
    page.locator("summary", has_text="as a table").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details[open] table").count() == 1
    assert said == []


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(browser: Any, folder: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = opened(browser, folder, [], color_scheme=scheme)
    faults = axe.Axe().run(page).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


@needs_chromium
def test_hostile_pages_do_nothing(browser: Any, hostile: Path) -> None:
    said: list[str] = []
    checked(text_of(hostile))
    page = opened(browser, hostile, said)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, iframe, object").count() == 0
    assert HOSTILE in page.locator("#largest").inner_text()
    assert said == []
    # Were escaping to fail, the policy would still stand in the way.
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">')")
    page.evaluate(
        "{const s = document.createElement('script'); s.textContent = 'window.hacked=1'; document.body.append(s)}"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in text for text in said)


@needs_chromium
def test_without_scripts_the_tables_are_there(browser: Any, folder: Path) -> None:
    page = opened(browser, folder, [], java_script_enabled=False)
    assert page.locator("details table").count() >= 7
    assert page.locator("[data-plot] svg").count() == 0


#: Elements whose own text stands out less than WCAG's AA level asks for, as [text, ratio].
CONTRAST = """() => {
  const parse = (colour) => { const n = colour.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const below = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0.5) return colour;
    }
    return [255, 255, 255, 1];
  };
  const low = [];
  for (const element of document.querySelectorAll("main *, header *, footer *")) {
    if (element.closest("svg, script")) continue;
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(below(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push([element.textContent.slice(0, 40), ratio.toFixed(2)]);
  }
  return low;
}"""
