"""The pictures of the browser application: a run, served as ``neardup ui`` does, judged a little, and looked at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from neardup.evaluation.judging import Judging
from neardup.evaluation.judging_sample import draw_pairs
from neardup.web.application import application, open_workspace
from neardup.web.server import bound

SEEN = {"x": 0, "y": 0, "width": 1000, "height": 820}
VIEWS = {
    "overview": "/",
    "clusters": "/clusters?threshold={threshold}",
    "cluster": "/cluster/{first}",
    "pair": "/pair/{first}/{second}",
    "judge": "/judge/zoe",
    "disputes": "/adjudicate?name=eve",
    "agreement": "/agreement",
}


def take(browser: Any, run: Path, shot: Callable[..., None]) -> None:
    """All views, light, and one dark."""
    judge(run)
    with served(run) as (address, space):
        cut = space.run.cut()
        sizes = dict(zip(cut.first.tolist(), cut.size.tolist(), strict=True))
        first = next(row for row, size in sizes.items() if 8 <= size <= 14 and readable(space, row))
        words = {
            "first": first,
            "second": int(cut.members(first)[1]),
            "threshold": space.run.steps[len(space.run.steps) // 2],
        }
        for name, path in VIEWS.items():
            scheme = "dark" if name == "judge" else "light"
            shot(browser, address + path.format(**words), f"ui-{name}.png", clip=SEEN, color_scheme=scheme)


def readable(space: Any, row: int) -> bool:
    """Whether its title is in letters that every machine has."""
    return str(space.run.row(row)["title"] or "é").isascii()


def judge(run: Path) -> None:
    """Two judges who disagree on every tenth pair, and an adjudicator, who leaves two pairs for later."""
    judging = Judging.create(run / "judging.sqlite", draw_pairs([run], 60, ["site"]))
    pairs = judging.pairs()
    middle = sorted(pair.returned[0].score for pair in pairs)[len(pairs) // 2]
    for name in ("ada", "bob"):
        for number, pair in enumerate(pairs):
            alike = (pair.returned[0].score >= middle) != (name == "bob" and number % 10 == 9)
            judging.say(name, number, "correct" if alike else "incorrect", "time stamp" if alike else "main item")
    for number in judging.disputes()[:-2]:
        judging.say("eve", number, "undecided", "minor item", role="adjudicator")
    judging.close()


@contextmanager
def served(run: Path) -> Iterator[tuple[str, Any]]:
    """The application of a run, on a port of its own."""
    space = open_workspace(run)
    listening = bound("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(application(space), log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", space
    finally:
        server.should_exit = True
        thread.join()
        space.close()
