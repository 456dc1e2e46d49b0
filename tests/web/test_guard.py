"""Who is let in: names, tokens, secrets; and what every answer carries."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from neardup.errors import MissingExtra
from neardup.text import blocks
from neardup.web import application as made
from neardup.web.application import application, open_workspace
from neardup.web.contents import harmless
from neardup.web.server import bound, is_loopback
from neardup.web.workspace import Workspace


class Client:
    """Asks an application without a network."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def __call__(self, method: str, path: str, host: str = "localhost:8740", **options: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())


@pytest.fixture(scope="module")
def space(judged_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    opened = open_workspace(judged_folder, decisions=tmp_path_factory.mktemp("guard") / "decisions.sqlite")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ask(space: Workspace) -> Client:
    return Client(application(space))


def test_only_names_of_this_machine_are_answered(ask: Client) -> None:
    for host in ("localhost", "127.0.0.1:8740", "[::1]:8740", "LOCALHOST:1", "localhost."):
        assert ask("GET", "/", host).status_code == 200, host
    for host in (
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.168.0.7",
        "0.0.0.0:8740",
        "a b",
    ):
        assert ask("GET", "/static/app.js", headers={"host": host}).status_code == 421, host


def test_every_answer_forbids_what_it_can(ask: Client) -> None:
    for path in ("/", "/clusters", "/static/app.js", "/nothing", "/cluster/999999", "/pair/0/0", "/judge"):
        answer = ask("GET", path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "unsafe" not in policy, path
        assert "frame-ancestors 'none'" in policy, path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert not re.search(r"<[^>]+\son\w+=|<script>|style=", answer.text), f"{path} has something inline"
    policy = ask("GET", "/page/3/frame").headers["content-security-policy"]
    assert policy.startswith("sandbox;")
    assert "script" not in policy
    assert "allow" not in policy


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"x-neardup": "guess"}, 403),
        ({"x-neardup": "SECRET", "origin": "http://evil.example"}, 403),
        ({"x-neardup": "SECRET", "sec-fetch-site": "cross-site"}, 403),
        ({"x-neardup": "SECRET", "content-type": "text/plain"}, 415),
        ({"x-neardup": "SECRET", "content-length": "100000000"}, 413),
        ({"x-neardup": "SECRET"}, 200),
        ({"x-neardup": "SECRET", "origin": "http://localhost:8740", "sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_changes_are_taken_from_our_own_pages_only(
    ask: Client, space: Workspace, headers: dict[str, str], status: int
) -> None:
    sent = {name: value.replace("SECRET", space.secret) for name, value in headers.items()}
    body = b'{"kind": "threshold", "value": null}'
    answer = ask("POST", "/decide", content=body, headers={"content-type": "application/json"} | sent)
    assert answer.status_code == status
    assert ask("GET", "/decide").status_code == 405
    assert ask("DELETE", "/decide").status_code == 405


def test_beyond_loopback_a_token_is_needed(space: Workspace) -> None:
    ask = Client(application(space, hosts=["box.example"], addresses=True, token="right"))
    assert ask("GET", "/", "192.168.0.7:8740").status_code == 401
    assert ask("GET", "/?token=wrong", "box.example").status_code == 401
    assert ask("GET", "/?token=right", "evil.example").status_code == 421
    answer = ask("GET", "/clusters?token=right&sort=size", "192.168.0.7")
    assert (answer.status_code, answer.headers["location"]) == (303, "/clusters?sort=size")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert ask("GET", "/%2Fevil.example/?token=right", "192.168.0.7").headers["location"] == "/evil.example/"
    assert ask("GET", "/", "box.example", headers={"cookie": cookie.partition(";")[0]}).status_code == 200
    assert ask("GET", "/static/app.js", "box.example").status_code == 401
    assert is_loopback("::1")
    assert not is_loopback("192.168.0.7")


@pytest.mark.parametrize(
    "body",
    [
        b"[]", b"{", b'{"kind": "other"}', b'{"kind": "threshold", "value": 7}', b'{"kind": "threshold", "value": "x"}',
        b'{"kind": "pair", "a": -1, "b": 2, "value": 1}', b'{"kind": "cluster", "first": true, "value": "accepted"}',
        b'{"kind": "cluster", "first": 1e9, "value": "accepted"}', b'{"kind": "cluster", "first": 0, "value": "maybe"}',
        b'{"kind": "representative", "first": 0, "value": 99999999}',
        b'{"kind": "pair", "a": 2, "b": 2, "value": "rejected"}',
    ],
)  # fmt: skip
def test_a_decision_that_makes_no_sense_is_refused_in_words(ask: Client, space: Workspace, body: bytes) -> None:
    headers = {"content-type": "application/json", "x-neardup": space.secret}
    answer = ask("POST", "/decide", content=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["what"]


@pytest.mark.parametrize("name", ["", "..", "../out", "/etc/x", "a/b", ".hidden", "a\\b", "x" * 101, "a\nb"])
def test_a_new_run_is_written_beside_this_one_and_nowhere_else(ask: Client, space: Workspace, name: str) -> None:
    headers = {"x-neardup": space.secret}
    assert ask("POST", "/export", json={"name": name}, headers=headers).status_code == 400


def test_a_name_that_is_taken_is_a_conflict(ask: Client, space: Workspace) -> None:
    answer = ask("POST", "/export", json={"name": space.run.folder.name}, headers={"x-neardup": space.secret})
    assert answer.status_code == 409
    assert "exists already" in answer.json()["what"]


def test_identical_pages_are_no_pair_to_decide_on(ask: Client, space: Workspace) -> None:
    identity = space.run.shape.identity
    copy = next(row for row, first in enumerate(identity) if row != first)
    body = {"kind": "pair", "a": copy, "b": int(identity[copy]), "value": "rejected"}
    answer = ask("POST", "/decide", json=body, headers={"x-neardup": space.secret})
    assert (answer.status_code, "identical" in answer.json()["what"]) == (400, True)


@pytest.mark.parametrize(
    "path",
    [
        "/clusters?least=x", "/clusters?sort=evil", "/clusters?start=-1", "/clusters?reason=none", "/clusters?text=%00",
        "/clusters?threshold=nan", "/clusters?threshold=1e999", "/cluster/123456789012345678901234567890", "/page/-1",
        "/judge/%2e%2e/1", "/judge/a/99", "/adjudicate/3", "/static/../app.py", "/clusters?text=%22*OR",
    ],
)  # fmt: skip
def test_odd_addresses_are_answered_and_never_break(ask: Client, path: str) -> None:
    answer = ask("GET", path)
    assert answer.status_code == 200 if "text=" in path else answer.status_code in (400, 404), path


def test_text_of_hostile_pages() -> None:
    assert harmless("<IFrame src=x></IFrame>") == "<x-IFrame src=x></x-IFrame>"
    assert harmless("<a href=x><linker>") == "<a href=x><linker>"
    for page in ("<" * 200_000, "<a " * 100_000, "<!--" * 100_000, "<script>" * 50_000, "&" * 200_000):
        blocks(page)


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def without(name: str, *rest: Any, **others: Any) -> Any:
        if name == "uvicorn":
            raise ModuleNotFoundError("gone", name=name)
        return real(name, *rest, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"neardup\[ui\]"):
        made.require_ui()


def test_a_port_in_use_is_an_error_and_the_usual_one_gives_way() -> None:
    taken = bound("127.0.0.1", 0)
    taken.listen()
    try:
        with pytest.raises(Exception, match="cannot listen there"):
            bound("127.0.0.1", taken.getsockname()[1])
    finally:
        taken.close()
