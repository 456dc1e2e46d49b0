"""The Scrapy pipeline, inside a real crawl and by itself."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from neardup.errors import UsageError
from neardup.index import Answer, Index
from neardup.integrations.scrapy import NearDuplicates

TEXT = "the quick brown fox jumps over the lazy dog and then runs away from all of us"

SPIDER = """
import sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Pages(scrapy.Spider):
    name = "pages"
    start_urls = sys.argv[3:]

    def parse(self, response):
        yield {"url": response.url, "html": response.text}

process = CrawlerProcess({
    "ITEM_PIPELINES": {"neardup.integrations.scrapy.NearDuplicates": 300},
    "NEARDUP_INDEX": sys.argv[1],
    "NEARDUP_DETECTOR": "minhash(threshold=0.5)",
    "FEEDS": {sys.argv[2]: {"format": "json"}},
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 1,
    **REACTOR,
})
process.crawl(Pages)
process.start()
"""


REACTORS = {
    "asyncio": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "select": "twisted.internet.selectreactor.SelectReactor",
}


@pytest.mark.parametrize("reactor", REACTORS.values(), ids=list(REACTORS))
def test_a_crawl_keeps_what_is_new(tmp_path: Path, reactor: str) -> None:
    pytest.importorskip("scrapy", reason="Scrapy is not installed")
    pages = {"a": TEXT, "b": TEXT + " again", "c": "something else that is quite long enough to be compared"}
    urls = []
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(f"<html><body><p>{text}</p></body></html>")
        urls.append((tmp_path / f"{name}.html").as_uri())
    spider = f"REACTOR = {{'TWISTED_REACTOR': {reactor!r}}}\n{SPIDER}"
    command = [sys.executable, "-c", spider, str(tmp_path / "seen"), str(tmp_path / "items.json"), *urls]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    kept = {item["url"] for item in json.loads((tmp_path / "items.json").read_text())}
    assert len(kept) == 2
    assert urls[2] in kept


def test_items_are_marked_or_dropped(tmp_path: Path) -> None:
    exceptions = pytest.importorskip("scrapy.exceptions", reason="Scrapy is not installed")
    marking = NearDuplicates(index=tmp_path / "seen", detector="minhash(threshold=0.5)", action="mark")
    marking.open_spider()
    try:
        assert "repeats" not in processed(marking, {"text": TEXT, "url": "http://a.example/"})
        assert processed(marking, {"text": TEXT, "url": "http://b.example/"})["repeats"] == "http://a.example/"
        assert processed(marking, {"name": "no page at all"}) == {"name": "no page at all"}
    finally:
        marking.close_spider()
    dropping = NearDuplicates(index=tmp_path / "seen", fields={"text": "body"})
    dropping.open_spider()
    try:
        with pytest.raises(exceptions.DropItem, match=r"a\.example"):
            processed(dropping, {"body": TEXT, "url": "http://c.example/"})
    finally:
        dropping.close_spider()


def processed(pipeline: NearDuplicates, item: dict[str, str]) -> Any:
    return asyncio.run(pipeline.process_item(item))


def test_items_are_added_beside_each_other(tmp_path: Path) -> None:
    pipeline = NearDuplicates(index=tmp_path / "seen", detector="minhash(threshold=0.5)")
    pipeline.open_spider()
    # Nobody is through before all are there: a pipeline that adds one after the other waits in vain.
    all_there = threading.Barrier(8)

    class Waiting:
        def __init__(self, index: Index) -> None:
            self.index = index

        def add(self, page: Mapping[str, Any], /) -> Answer:
            all_there.wait(timeout=60)
            return self.index.add(page)

        def close(self) -> None:
            self.index.close()

    assert isinstance(pipeline._asked, Index)
    pipeline._asked = Waiting(pipeline._asked)

    async def crawl() -> list[Any]:
        items = [{"text": f"{TEXT} {number}" * 3, "url": f"http://{number}.example/"} for number in range(8)]
        return await asyncio.gather(*(pipeline.process_item(item) for item in items), return_exceptions=True)

    try:
        kept = [item for item in asyncio.run(crawl()) if isinstance(item, dict)]
    finally:
        pipeline.close_spider()
    # All are alike, and of those that came together one is the first.
    assert len(kept) == 1


def test_wrong_settings_are_told() -> None:
    with pytest.raises(UsageError, match="index or a service"):
        NearDuplicates()
    with pytest.raises(UsageError, match="unknown action"):
        NearDuplicates(index="seen", action="eat")
