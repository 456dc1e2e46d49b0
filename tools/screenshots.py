"""Takes the pictures that the documentation shows, from a generated web: ``make screenshots``."""

from __future__ import annotations

import io
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

import application_screenshots
from browser import chromium

from neardup import dedup
from neardup.report.explain import explain
from neardup.report.explain_page import explain_page
from neardup.testing import web

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
WIDE = {"width": 1000, "height": 900}


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    # In the folder itself, so that pictures show names and not where they were taken.
    with tempfile.TemporaryDirectory() as name, chdir(name), chromium() as browser:
        folder = Path(name)
        web(seed=0, pages=3000).write_warc("web.warc.gz")
        result = dedup("web.warc.gz", "result")
        removed = next(
            page
            for page in result.pages.to_pylist()
            if page["reason"] == "near-duplicate" and (page["title"] or "x").isascii() and page["tokens"] > 300
        )
        explained = explain_page(explain(folder / "result", removed["id"], removed["kept_instead"]))
        explained.write(folder / "explain.html")
        report = (folder / "result" / "report.html").as_uri()
        shot(browser, report, "report.png", clip={"x": 0, "y": 0, "width": 1000, "height": 900})
        shot(browser, report, "report-plots.png", element="#similarity, #graph", color_scheme="dark")
        page = (folder / "explain.html").as_uri()
        shot(browser, page, "explain.png", clip={"x": 0, "y": 0, "width": 1000, "height": 760})
        application_screenshots.take(browser, folder / "result", shot)


def shot(
    browser: Any, address: str, name: str, *, clip: Any = None, element: str | None = None, **options: Any
) -> None:
    """One picture: of a part of the page, or of the elements of a selector, one below the other."""
    from PIL import Image

    context = browser.new_context(viewport=WIDE, device_scale_factor=1, **options)
    page = context.new_page()
    answer = page.goto(address)
    if answer is not None and not answer.ok:
        raise RuntimeError(f"{address}: {answer.status}")
    page.wait_for_load_state("load")
    taken = (
        [page.screenshot(clip=clip, full_page=True)]
        if element is None
        else [one.screenshot() for one in page.query_selector_all(element)]
    )
    context.close()
    images = [Image.open(io.BytesIO(data)).convert("RGB") for data in taken]
    whole = Image.new("RGB", (max(image.width for image in images), sum(image.height for image in images)))
    top = 0
    for image in images:
        whole.paste(image, (0, top))
        top += image.height
    # Few colours are in such pictures: a palette makes them a third of the size. Rare ones, of a word or a button,
    # count as much as others.
    palette = whole.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    palette.save(IMAGES / name, optimize=True)
    print(f"{name}: {(IMAGES / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
