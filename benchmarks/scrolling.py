"""How smoothly the list of clusters of ``neardup ui`` scrolls in a real browser; a part of ``benchmarks.application``.

The server is started as a user starts it, and an installed Chromium shows the list. Scrolled is by gestures, as a wheel
makes them: in steady reading (1,500 pixels a second) and fast (6,000, a hundred rows a second). A script in the page
notes the time of every frame, and in every tenth whether all rows in view are there. A frame is dropped where the next
one comes a whole frame or more too late at 60 frames a second. To tell what the list costs from what drawing text costs
this browser on this machine, a plain page of a thousand such rows, which fetches nothing, is scrolled in turns with it.

Then the scroll bar is moved to random places, and the time is taken until every row in view is on the screen. That
these are the rows that belong there is checked against what the server says of the place.
"""

from __future__ import annotations

import random
import re
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from benchmarks.places import ROOT

#: Milliseconds of a frame.
FRAME: Final = 1000 / 60
WINDOW: Final = {"width": 1280, "height": 900}
#: Gestures: pixels a second, seconds; and how often all are made.
SCROLLS: Final = {"reading": (1500, 5), "fast": (6000, 5)}
ROUNDS: Final = 3
JUMPS: Final = 30

#: Whether every row of the list that should be in view is there.
_ALL_THERE: Final = """() => {
  const box = document.getElementById("rows").getBoundingClientRect();
  for (let y = Math.max(80, box.top + 10); y < Math.min(innerHeight, box.bottom); y += 40) {
    const found = document.elementFromPoint(200, y);
    if (!found || !found.closest("li.row")) return false;
  }
  return true;
}"""
_RECORD: Final = f"""() => {{
  const there = {_ALL_THERE};
  window.frames_seen = [];
  window.watching = true;
  const frame = (now) => {{
    const looks = window.frames_seen.length % 10 === 9;
    window.frames_seen.push([now, looks ? there() : null]);
    if (window.watching) requestAnimationFrame(frame);
  }};
  requestAnimationFrame(frame);
}}"""
_STOP: Final = "() => { window.watching = false; return window.frames_seen; }"
_JUMP: Final = f"""(share) => new Promise((done) => {{
  const there = {_ALL_THERE};
  const begun = performance.now();
  scrollTo(0, share * (document.documentElement.scrollHeight - innerHeight));
  // Not before the list has seen that it was scrolled.
  requestAnimationFrame(() => requestAnimationFrame(function look() {{
    if (there()) requestAnimationFrame(() => done(performance.now() - begun));
    else requestAnimationFrame(look);
  }}));
}})"""
#: Makes the list a plain page: the rows that are there, twenty times over, and none of them fetched.
_PLAIN: Final = """() => {
  const box = document.getElementById("rows");
  const plain = document.createElement("div");
  plain.className = "rows";
  plain.id = "rows";
  for (let at = 0; at < 20; at += 1) {
    const copy = box.querySelector("ol").cloneNode(true);
    copy.removeAttribute("style");
    plain.append(copy);
  }
  box.replaceWith(plain);
}"""
_FIRST_IN_VIEW: Final = """() => {
  for (let y = 80; y < innerHeight; y += 10) {
    const row = document.elementFromPoint(200, y)?.closest("li.row");
    if (row) return [Number(row.getAttribute("aria-posinset")) - 1, row.querySelector("a").getAttribute("href")];
  }
  return null;
}"""


@dataclass
class Frames:
    """The frames of some scrolls of a kind."""

    #: Milliseconds from each to the next.
    between: list[float] = field(default_factory=list)
    #: Of those that were looked at, whether every row in view was there.
    full: list[bool] = field(default_factory=list)

    def add(self, seen: Sequence[tuple[float, bool | None]]) -> None:
        """Frames of one scroll: when each was drawn, and whether all rows were there, if that was looked at."""
        self.between += [after[0] - before[0] for before, after in pairwise(seen)]
        self.full += [full for _, full in seen if full is not None]

    def told(self) -> dict[str, float]:
        """In numbers."""
        ordered = sorted(self.between)
        dropped = sum(max(0, round(time / FRAME) - 1) for time in ordered)
        return {
            "frames": len(ordered),
            "median_ms": round(statistics.median(ordered), 1),
            "p95_ms": round(ordered[int(0.95 * len(ordered))], 1),
            "longest_ms": round(ordered[-1], 1),
            "dropped": dropped,
            "dropped_share": round(dropped / (dropped + len(ordered)), 4),
            "with_all_rows_share": round(sum(self.full) / len(self.full), 4),
        }


def scrolling(folder: Path) -> dict[str, Any]:
    """Scrolls and jumps through the list of a run; what was measured."""
    sys.path.insert(0, str(ROOT / "tools"))
    from browser import chromium

    frames = {(page, gesture): Frames() for page in ("list", "plain page") for gesture in SCROLLS}
    with _server(folder) as address, chromium() as browser:
        for _ in range(ROUNDS):
            for (kind, gesture), seen in frames.items():
                page = _opened(browser, address)
                if kind == "plain page":
                    page.evaluate(_PLAIN)
                seen.add(_scrolled(page, *SCROLLS[gesture]))
                page.close()
        page = _opened(browser, address)
        clusters = int(page.locator("#rows").get_attribute("data-total"))
        generator = random.Random(0)
        took = []
        for _ in range(JUMPS):
            took.append(page.evaluate(_JUMP, generator.random()))
            place, link = page.evaluate(_FIRST_IN_VIEW)
            assert link == _row(address, place), f"row {place} of the list is another"
        took.sort()
    jumps = {
        "count": JUMPS,
        "median_ms": round(statistics.median(took), 1),
        "p95_ms": round(took[int(0.95 * len(took))], 1),
        "longest_ms": round(took[-1], 1),
    }
    scrolls = [{"page": kind, "gesture": gesture} | seen.told() for (kind, gesture), seen in frames.items()]
    return {"clusters": clusters, "window": WINDOW, "rounds": ROUNDS, "scrolls": scrolls, "jumps": jumps}


def _opened(browser: Any, address: str) -> Any:
    page = browser.new_page(viewport=WINDOW)
    page.goto(f"{address}/clusters")
    page.locator("#rows li.row").nth(49).wait_for()
    return page


def _scrolled(page: Any, speed: int, seconds: int) -> Any:
    page.evaluate(_RECORD)
    page.context.new_cdp_session(page).send(
        "Input.synthesizeScrollGesture",
        {"x": 400, "y": 500, "yDistance": -speed * seconds, "speed": speed, "gestureSourceType": "mouse"},
    )
    return page.evaluate(_STOP)


def _row(address: str, place: int) -> str:
    """The address of the cluster at a place of the list, as the server tells it alone."""
    with urllib.request.urlopen(f"{address}/clusters/rows?start={place}") as answer:
        found = re.search(r'<a href="([^"]+)"', answer.read().decode())
    assert found is not None
    return found[1]


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-u", "-m", "neardup", "ui", str(folder), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as started:
        assert started.stdout is not None
        line = started.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found is None:
            raise RuntimeError(line + started.stdout.read())
        try:
            yield found[0]
        finally:
            started.terminate()


def show(told: dict[str, Any]) -> None:
    """Prints what was measured."""
    print(f"\nscrolling through {told['clusters']:,} clusters in Chromium, {WINDOW['width']} × {WINDOW['height']}")
    for row in told["scrolls"]:
        print(
            f"{row['page']}, {row['gesture']}: {row['frames']} frames, {row['median_ms']} ms apart (median), 95 % in "
            f"{row['p95_ms']}, longest {row['longest_ms']}; {row['dropped']} dropped ({row['dropped_share']:.1%}); "
            f"all rows there in {row['with_all_rows_share']:.1%}"
        )
    jumps = told["jumps"]
    print(
        f"{jumps['count']} jumps: every row on the screen after {jumps['median_ms']} ms (median), 95 % within "
        f"{jumps['p95_ms']}, longest {jumps['longest_ms']}"
    )
