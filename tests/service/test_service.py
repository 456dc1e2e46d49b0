"""The service: what it answers, what it refuses and how, and that a client that behaves badly harms only itself."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from neardup import Index
from neardup.client import Client, ServiceError
from neardup.errors import UsageError

pytest.importorskip("fastapi", reason="the service needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the service needs the extra 'serve'")

TEXT = "the quick brown fox jumps over the lazy dog and then runs away from all of us"
TOKEN = "a-token-for-tests-only"


@contextmanager
def serving(
    folder: Path, *options: str, token: str | None = None, log: Path | None = None, files: int | None = None
) -> Iterator[Any]:
    """A service of its own process, which may open so many ``files``; gives its address and the process."""
    environment = {name: value for name, value in os.environ.items() if name != "NEARDUP_TOKEN"}
    if token is not None:
        environment["NEARDUP_TOKEN"] = token
    command = [sys.executable, "-m", "neardup", "serve", str(folder), "--port", "0", *options]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    with (
        open(log or os.devnull, "wb") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as process,
    ):
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        address = found[0]
        try:
            deadline = time.monotonic() + 120
            with Client(address, token=token) as client:
                while not client.ready() and time.monotonic() < deadline:
                    time.sleep(0.05)
            yield address, process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(60)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("service")
    Index.create(folder / "index", "minhash(threshold=0.5)")
    options = ["--max-body", "100kB", "--max-batch", "10", "--max-seconds", "2", "--sync", "system"]
    with serving(folder / "index", *options, "--backups", str(folder)) as (address, _):
        yield address


def raw(address: str, request: bytes, wait: float = 10.0) -> bytes:
    """What comes back for some bytes."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        connection.sendall(request)
        parts = []
        try:
            while part := connection.recv(65536):
                parts.append(part)
        except TimeoutError:
            pass
        return b"".join(parts)


def post(path: str, body: bytes, *headers: str) -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        "host: localhost",
        "connection: close",
        "content-type: application/json",
        *headers,
    ]
    return "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body


def refused(answer: bytes) -> tuple[int, str]:
    """The status of an answer, and the reason that every error carries."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["reason"]


def test_what_is_added_is_found(service: str) -> None:
    with Client(service) as client:
        assert client.add(TEXT, id="first").seen is None
        again = client.add(TEXT + " again", id="second")
        assert [match.id for match in again.matches] == ["first"]
        assert 0.5 < again.matches[0].score < 1
        assert client.query({"html": f"<p>{TEXT}"}).matches[0].rule == "identity"
        answers = client.add_many([{"text": TEXT, "id": "third"}, {"text": "some other words " * 5, "id": "fourth"}])
        assert [bool(answer) for answer in answers] == [True, False]
        assert client.query_many([TEXT])[0].matches[0].copies == 2
        assert client.remove("third") == [True]
        assert client.remove(name for name in ("fourth", "none")) == [True, False]
        for ask in (client.add_many, client.query_many):
            with pytest.raises(UsageError, match="put it into a list"):
                ask(TEXT)
        assert client.stats().pages == 2
        assert client.backup("copy") == 2
        with pytest.raises(ServiceError, match="exists already"):
            client.backup("copy")
        with pytest.raises(ServiceError, match="name"):
            client.backup("../escape")


def test_a_request_sent_twice_adds_once(service: str) -> None:
    with Client(service) as client:
        before = client.stats().pages
        first = client.add("one text that is sent two times under the same name", key="k1")
        again = client.add("one text that is sent two times under the same name", key="k1")
        assert (first.repeated, again.repeated) == (False, True)
        assert client.stats().pages == before + 1
        client.add_many([TEXT + " a", TEXT + " b"], key="k2")
        assert all(answer.repeated for answer in client.add_many([TEXT + " a", TEXT + " b"], key="k2"))
        assert client.stats().pages == before + 3


@pytest.mark.parametrize(
    ("request_", "status", "reason"),
    [
        (post("/v1/pages", b"{"), 422, "JSON"),
        (post("/v1/pages", b"\xff\xfe"), 422, "body"),
        (post("/v1/pages", b"{}"), 422, "exactly one"),
        (post("/v1/pages", b'{"text": "a", "html": "b"}'), 422, "exactly one"),
        (post("/v1/pages", b'{"text": "a", "colour": 1}'), 422, "colour"),
        (post("/v1/pages", b'{"tokens": [18446744073709551616]}'), 422, "tokens"),
        (post("/v1/pages", b'{"text": "a", "id": "\\ud800"}'), 422, "id"),
        (post("/v1/pages", b'{"text": "a", "id": ""}'), 422, "id"),
        (post("/v1/pages/batch", b'{"pages": []}'), 422, "pages"),
        (post("/v1/pages/batch", json.dumps({"pages": [{"text": "a"}] * 11}).encode()), 413, "more than 10"),
        (post("/v1/pages", b'{"text": "' + b"a" * 200_000 + b'"}'), 413, "larger than"),
        (post("/v1/remove", b'{"ids": [7]}'), 422, "ids"),
        (post("/v1/nothing", b"{}"), 404, "Not Found"),
        (b"PUT /v1/pages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", 405, "Method"),
    ],
)
def test_errors_are_json_with_a_reason(service: str, request_: bytes, status: int, reason: str) -> None:
    found, told = refused(raw(service, request_))
    assert found == status
    assert reason in told


def test_a_body_without_a_length_is_bounded_too(service: str) -> None:
    head = b"POST /v1/pages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
    chunk = b"8000\r\n" + b"a" * 0x8000 + b"\r\n"
    assert refused(raw(service, head + 8 * chunk))[0] == 413


def test_deep_json_is_no_trouble(service: str) -> None:
    status, _ = refused(raw(service, post("/v1/pages", b'{"text": ' + b"[" * 40_000 + b"]" * 40_000 + b"}")))
    assert status in (400, 422)
    with Client(service) as client:
        assert client.ready()


def test_clients_that_behave_badly_do_not_stop_others(service: str) -> None:
    host, port = service.removeprefix("http://").split(":")
    held = []
    for at in range(60):
        connection = socket.create_connection((host, int(port)))
        # Some say nothing, some half a head, some half a body, some garbage.
        connection.sendall(
            [b"", b"POST /v1/pages HT", post("/v1/pages", b"x" * 500)[:-100], b"\x16\x03\x01\x02\x00\x01"][at % 4]
        )
        held.append(connection)
    started = time.monotonic()
    with Client(service) as client:
        for _ in range(20):
            client.query(TEXT)
    assert time.monotonic() - started < 10
    # Those that are slow are told so; none is left after a while.
    deadline = time.monotonic() + 20
    answered = []
    for connection in held:
        connection.settimeout(max(0.1, deadline - time.monotonic()))
        parts = b""
        try:
            while part := connection.recv(4096):
                parts += part
        except ConnectionResetError:
            pass
        answered.append(parts.split(b"\r\n")[0])
        connection.close()
    assert any(b"408" in answer for answer in answered)


def test_metrics_and_description(service: str) -> None:
    with Client(service) as client:
        client.add("a page that is added so that there is something to count", id="counted")
    said = raw(service, b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").decode()
    assert 'neardup_requests_total{path="/v1/pages",status="200"}' in said
    assert "neardup_commit_pages_count" in said
    assert "neardup_index_pages" in said
    described = raw(service, b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    paths = json.loads(described.partition(b"\r\n\r\n")[2])["paths"]
    assert {"/v1/pages", "/v1/query", "/v1/pages/batch", "/v1/remove", "/v1/stats", "/health", "/ready"} <= set(paths)


def test_a_token_is_asked_for(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    command = [sys.executable, "-m", "neardup", "serve", str(tmp_path / "index"), "--host", "0.0.0.0", "--port", "0"]
    environment = {name: value for name, value in os.environ.items() if name != "NEARDUP_TOKEN"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert "needs a token" in done.stderr
    done = subprocess.run(command, capture_output=True, text=True, env=environment | {"NEARDUP_TOKEN": "short"})
    assert done.returncode == 2
    log = tmp_path / "log"
    with serving(tmp_path / "index", token=TOKEN, log=log) as (address, _):
        assert Client(address, token=TOKEN).add(TEXT, id="page-with-a-name").seen is None
        for wrong in (None, "wrong", TOKEN[:-1]):
            with pytest.raises(ServiceError, match="token") as told:
                Client(address, token=wrong).stats()
            assert told.value.status == 401
        assert Client(address).ready()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    requests = [line for line in lines if line["event"] == "request" and line["path"] == "/v1/pages"]
    assert requests[0]["status"] == 200
    assert "fox" not in log.read_text()
    assert TOKEN not in log.read_text()


def test_too_many_at_once_are_turned_away(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    options = ["--max-waiting", "1", "--max-requests", "2"]
    with serving(tmp_path / "index", *options) as (address, _):
        statuses: list[bytes] = []

        def ask() -> None:
            body = json.dumps({"text": " ".join(f"word{at}" for at in range(20_000))}).encode()
            statuses.append(raw(address, post("/v1/pages", body)))

        threads = [threading.Thread(target=ask) for _ in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        turned_away = [answer for answer in statuses if answer.split()[1] in (b"429", b"503")]
        assert turned_away
        assert all(b"retry-after: 1" in answer.lower() for answer in turned_away)
        # A client that tries again gets through.
        assert Client(address).query(TEXT).seen is None


def test_ending_finishes_what_was_taken_on(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    acknowledged: list[str] = []
    with serving(tmp_path / "index") as (address, process):

        def add(thread: int) -> None:
            with Client(address, attempts=1) as client:
                for at in range(10_000):
                    try:
                        client.add(f"{TEXT} {thread} {at}", id=f"{thread}-{at}")
                    except ServiceError:
                        return
                    acknowledged.append(f"{thread}-{at}")

        threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        # As every verb ends that is asked to end.
        assert process.wait(60) == 128 + signal.SIGTERM
    with Index(tmp_path / "index") as index:
        assert set(acknowledged) <= set(index.ids())
    assert acknowledged


def test_a_kill_under_load_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """Twenty rounds: clients add, the service is killed, what they were told is there is there."""
    folder = tmp_path / "index"
    Index.create(folder, "combined")
    acknowledged: set[str] = set()
    for kills in range(20):
        with serving(folder) as (address, process):

            def add(thread: int, kills: int = kills, address: str = address) -> None:
                with Client(address, attempts=1) as client:
                    for at in range(10_000):
                        name = f"{kills}-{thread}-{at}"
                        try:
                            client.add(f"{TEXT} {name}", id=name)
                        except ServiceError:
                            return
                        acknowledged.add(name)

            threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.15 + 0.02 * kills)
            process.kill()
            for thread in threads:
                thread.join()
    with Index(folder) as index:
        assert acknowledged <= set(index.ids())
        assert index.verify().sound
    assert len(acknowledged) > 100


def test_the_description_holds(tmp_path: Path) -> None:
    """Requests made up from the OpenAPI description: each answer is one that the description promises, with the body
    and the kind of content that it says, and no answer is the service's own fault."""
    schemathesis = pytest.importorskip("schemathesis", reason="fuzzing the API needs schemathesis")
    from hypothesis import HealthCheck, given, settings

    from neardup.service.api import application

    Index.create(tmp_path / "index", "minhash")
    with Index(tmp_path / "index", sync="system") as index:
        gate = application(index, backups=tmp_path, allowed=["testserver"])
        schema = schemathesis.openapi.from_asgi("/openapi.json", gate)
        operations = [result.ok() for result in schema.get_all_operations()]
        assert len(operations) >= 10
        for operation in operations:

            @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
            @given(case=operation.as_strategy())
            def holds(case: Any) -> None:
                answer = case.call()
                case.validate_response(answer)
                if answer.status_code >= 400:
                    assert answer.json()["error"]["reason"]

            holds()
        assert index.verify().sound


def test_a_key_belongs_to_what_was_sent_with_it(service: str) -> None:
    with Client(service) as client:
        before = client.stats().pages
        pages = [{"id": f"belongs-{at}", "text": f"{TEXT} belongs {at}"} for at in range(3)]
        client.add(pages[0], key="b1")
        client.add_many(pages[1:], key="b2")
        # The page of one key is not that of a place in a batch of another.
        assert not client.add({"id": "belongs-slash", "text": TEXT + " slash"}, key="b2/0").repeated
        assert client.stats().pages == before + 4
        changed = pages[0] | {"text": "another text altogether, with enough words to be compared"}
        for again in (
            lambda: client.add(changed, key="b1"),
            lambda: client.add(pages[0] | {"id": "another id"}, key="b1"),
            lambda: client.add(pages[0], key="b2"),
            lambda: client.add_many([pages[1], changed], key="b2"),
            # A longer batch has places that the first one had not.
            lambda: client.add_many([*pages[1:], changed], key="b2"),
        ):
            with pytest.raises(ServiceError, match="Idempotency-Key was used before") as refusal:
                again()
            assert refusal.value.status == 409
        assert client.stats().pages == before + 4
        assert client.add(pages[0], key="b1").repeated
        assert all(answer.repeated for answer in client.add_many(pages[1:], key="b2"))


def test_keys_hold_when_many_ask_at_once(tmp_path: Path) -> None:
    """Of batches of one key and different pages that come together, one is carried out whole, the others not at all."""
    Index.create(tmp_path / "index", "combined")
    with serving(tmp_path / "index", "--sync", "system") as (address, _):
        outcomes: list[int] = []
        refusals: list[int | None] = []

        def add(thread: int) -> None:
            pages = [{"id": f"{thread}-{at}", "text": f"{TEXT} {thread} {at}"} for at in range(2 + thread)]
            try:
                with Client(address) as client:
                    client.add_many(pages, key="one")
                outcomes.append(len(pages))
            except ServiceError as error:
                refusals.append(error.status)

        threads = [threading.Thread(target=add, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert refusals == [409] * 5
        with Client(address) as client:
            assert [client.stats().pages] == outcomes


def test_answers_are_bounded(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "minhash(threshold=0.5)")
    with (
        serving(tmp_path / "index", "--max-matches", "7", "--sync", "system") as (address, _),
        Client(address) as client,
    ):
        client.add_many([{"id": str(at), "text": f"{TEXT} {at}"} for at in range(40)])
        answer = client.query(TEXT + " 40")
        assert (len(answer.matches), answer.more) == (7, 33)
        # The best come first: the same tokens, then the most similar.
        assert client.query(TEXT + " 5").matches[0].id == "5"


def test_names_that_others_point_here_are_not_answered(service: str) -> None:
    """DNS rebinding: a page of the web has its own name lead to this machine, and its reader's browser asks."""
    ask = "\r\n".join(["GET /v1/stats HTTP/1.1", "host: {}", "connection: close", "", ""])
    for host in ("evil.example:8750", "127.0.0.1.evil.example", "192.168.0.7", ""):
        assert refused(raw(service, ask.format(host).encode()))[0] == 421, host
    for host in ("localhost:8750", "127.0.0.1", "[::1]:1"):
        assert raw(service, ask.format(host).encode()).startswith(b"HTTP/1.1 200"), host
    body = b'{"ids": ["a"]}'
    assert refused(raw(service, post("/v1/remove", body, "origin: http://evil.example")))[0] == 403
    assert raw(service, post("/v1/remove", body, "origin: http://localhost")).startswith(b"HTTP/1.1 200")
    # Whether it is there says nothing to anybody.
    assert raw(service, b"GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_further_names_are_an_option(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    ask = b"GET /v1/stats HTTP/1.1\r\nhost: index.example\r\nconnection: close\r\n"
    with serving(tmp_path / "index", "--allow-host", "index.example") as (address, _):
        assert raw(address, ask + b"\r\n").startswith(b"HTTP/1.1 200")
    # Who has the token may ask by any name, as a proxy does.
    with serving(tmp_path / "index", token=TOKEN) as (address, _):
        assert raw(address, ask + f"authorization: Bearer {TOKEN}\r\n\r\n".encode()).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nhost: localhost\r\nno colon\r\n\r\n", 400),
        (b"GET /v1/stats%0a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", 404),
        (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n", 431),
    ],
)
def test_errors_before_a_request_is_known_are_json_too(service: str, request_: bytes, status: int) -> None:
    assert refused(raw(service, request_))[0] == status


FIRST = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.mark.parametrize("before", [b"", FIRST], ids=["first request", "second request"])
def test_the_head_of_a_request_is_bounded(service: str, before: bytes) -> None:
    """In bytes and in time, on a new connection and on one that served a request: no endless header or trailer."""
    endless = b"X: " + b"a" * 1000 + b"\r\n"
    head = b"POST /v1/pages HTTP/1.1\r\nhost: localhost\r\n"
    for start in (head, head + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"):
        answer = _flood(service, before + start, endless)
        assert b"431" in answer or b"408" in answer, answer[-200:]
    for half in (head, b"\r\n", b"P"):
        started = time.monotonic()
        answer = raw(service, before + half, wait=15)
        assert time.monotonic() - started < 10, half
        assert answer.count(b"HTTP/1.1 200") == bool(before)


def _flood(address: str, start: bytes, again: bytes) -> bytes:
    """Sends some bytes without an end, at most 50 MB; what came back."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(start)
        parts = b""
        with suppress(ConnectionError):
            for _ in range(50):
                connection.sendall(again * 1000)
        with suppress(ConnectionError, TimeoutError):
            while part := connection.recv(65536):
                parts += part
    return parts


def test_memory_stays_whatever_clients_send(tmp_path: Path) -> None:
    """Heads without an end, on many kept-alive connections of a service with a token, none sent."""
    Index.create(tmp_path / "index", "combined")
    with serving(tmp_path / "index", "--max-seconds", "3", token=TOKEN) as (address, process):
        before = _peak_memory(process.pid)
        threads = [
            threading.Thread(target=_flood, args=(address, FIRST + b"GET /health HTTP/1.1\r\n", b"X: a\r\n" * 200))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # What was sent is half a gigabyte.
        assert _peak_memory(process.pid) < before + 120e6
        assert Client(address).ready()


def _peak_memory(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return float(found[1]) * 1024


def test_few_files_and_many_connections(tmp_path: Path) -> None:
    """Where a process may open few files, connections beyond its share are turned away; others are served, the index
    goes on, and the log says it once."""
    Index.create(tmp_path / "index", "combined")
    log = tmp_path / "log"
    with serving(tmp_path / "index", "--max-seconds", "60", log=log, files=256) as (address, _):
        host, port = address.removeprefix("http://").split(":")
        with ExitStack() as held, Client(address, attempts=1) as client:
            client.add(TEXT, id="before")
            for _ in range(400):
                connection = held.enter_context(socket.create_connection((host, int(port)), timeout=10))
                with suppress(ConnectionError):
                    connection.sendall(b"GET /health HT")
            # Who is connected already is served.
            for at in range(50):
                client.add(f"{TEXT} {at}", id=str(at))
            with suppress(ConnectionError):
                assert b"503" in raw(address, FIRST)
        with Client(address) as client:
            assert client.stats().pages == 51
    complaints = [line for line in log.read_text().splitlines() if json.loads(line)["event"] == "server"]
    assert len(complaints) <= 3


def test_who_does_not_take_the_answer_is_let_go(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "minhash(threshold=0.5)")
    options = ["--max-seconds", "2", "--max-matches", "100000", "--sync", "system"]
    with serving(tmp_path / "index", *options) as (address, process), Client(address) as client:
        client.add_many([{"id": f"{'long' * 250}{at}", "text": f"{TEXT} {at}"} for at in range(300)])
        host, port = address.removeprefix("http://").split(":")
        body = json.dumps({"pages": [{"text": f"{TEXT} {at}"} for at in range(100)]}).encode()
        before = len(os.listdir(f"/proc/{process.pid}/fd"))
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((host, int(port)))
        connection.sendall(post("/v1/query/batch", body))
        deadline = time.monotonic() + 30
        seen = False
        while time.monotonic() < deadline:
            count = len(os.listdir(f"/proc/{process.pid}/fd"))
            seen = seen or count > before
            if seen and count <= before:
                break
            time.sleep(0.05)
        else:
            pytest.fail("the connection is still open")
        connection.close()
