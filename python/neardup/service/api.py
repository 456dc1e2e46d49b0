"""The HTTP API of an index, by FastAPI: what may be asked, and what is answered.

Adding and asking go through a batcher each, so that clients that come at the same time share a commit or a look-up.
Every error is JSON with a reason. Nothing of a page's content is ever logged.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from neardup.errors import ConflictError, InputError, MissingExtra, NeardupError, OutputError, UsageError
from neardup.index import Answer, Index
from neardup.service.gate import DEFAULT, Gate, Limits, Refused
from neardup.service.hosts import LOOPBACK, Hosts
from neardup.version import VERSION

LOG: Final = logging.getLogger("neardup.service")
#: Pages that share a commit, and questions that share a look-up, at most.
_TOGETHER: Final = 256


def application(
    index: Index,
    *,
    limits: Limits = DEFAULT,
    token: str | None = None,
    backups: Path | None = None,
    allowed: Sequence[str] = (),
) -> Gate:
    """The service of an index as an ASGI application; the index is closed by whoever opened it.

    Without a token it answers to the names of this machine and to those ``allowed``; with one, to any name unless some
    are given: a page of the web whose name was made to point here has no token.
    """
    try:
        from fastapi import FastAPI, Header, Request
        from fastapi.exceptions import RequestValidationError
        from fastapi.responses import PlainTextResponse, Response
        from starlette.exceptions import HTTPException

        from neardup.service import models
        from neardup.service.batching import Batcher
        from neardup.service.metrics import Metrics
        from neardup.service.rounds import Asked, add_together, query_together
    except ImportError as error:
        raise MissingExtra(f"the service needs {error.name}", hint="pip install 'neardup[serve]'") from None

    adding: Batcher[Asked, list[Answer]] = Batcher(
        partial(add_together, index),
        most=_TOGETHER,
        waiting=limits.waiting,
        done=lambda pages: metrics.committed(pages),
    )
    asking: Batcher[Asked, list[Answer]] = Batcher(
        partial(query_together, index), most=_TOGETHER, waiting=limits.waiting, done=lambda pages: None
    )
    metrics = Metrics(index.stats, lambda: adding.waiting)
    state = {"ready": False}

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        state["ready"] = True
        LOG.info(json.dumps({"event": "ready", "pages": index.stats().pages}))
        yield
        state["ready"] = False
        await adding.close()
        await asking.close()
        LOG.info(json.dumps({"event": "stopped"}))

    errors: dict[int | str, dict[str, Any]] = {
        code: {"model": models.ErrorOut, "description": text}
        for code, text in (
            (400, "The request cannot be carried out."),
            (401, "A token is needed."),
            (403, "A page of another site asks."),
            (408, "The request did not arrive in time."),
            (409, "The name is taken: of a backup, or of a request that was sent with something else."),
            (413, "The body is too large, or has too many pages."),
            (421, "The service does not answer to this name."),
            (422, "The request is not of the described form."),
            (429, "Too many pages are waiting."),
            (431, "The head of the request is too long."),
            (503, "Too many requests are being served, or the answer took too long."),
        )
    }
    api = FastAPI(title="neardup index", version=VERSION, lifespan=lifespan, responses=errors, redoc_url=None)

    def carried_out(
        reason: str, status: int, hint: str | None = None, headers: dict[str, str] | None = None
    ) -> Response:
        body = json.dumps({"error": {"reason": reason, "hint": hint}})
        return Response(body, status_code=status, media_type="application/json", headers=headers)

    @api.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        # Where and why, without the values: they may be page contents, and may not be encodable.
        told = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:10]]
        return carried_out("; ".join(told), 422)

    @api.exception_handler(HTTPException)
    async def refused_by_router(_: Request, error: HTTPException) -> Response:
        return carried_out(str(error.detail), error.status_code, headers=dict(error.headers or {}))

    @api.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        headers = None if error.retry_after is None else {"retry-after": str(error.retry_after)}
        return carried_out(error.reason, error.status, error.hint, headers)

    @api.exception_handler(NeardupError)
    async def failed(_: Request, error: NeardupError) -> Response:
        wrong = isinstance(error, InputError | UsageError)
        if not wrong:
            LOG.error(json.dumps({"event": "error", "reason": error.what}))
        status = 409 if isinstance(error, ConflictError) else 400 if wrong else 500
        return carried_out(error.what, status, error.hint)

    @api.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> Response:
        LOG.error(json.dumps({"event": "error", "reason": type(error).__name__}))
        return carried_out("an unexpected error; the log names its kind", 500)

    async def in_time(work: Any) -> Any:
        try:
            async with asyncio.timeout(limits.seconds):
                return await work
        except TimeoutError:
            raise Refused(503, f"no answer within {limits.seconds:g} s", retry_after=1) from None

    async def answered(what: str, answers: list[Answer], *, single: bool) -> Response:
        metrics.answered(what, answers)
        # Many matches make a long text: it is written by another thread, so that others are answered meanwhile.
        body = await asyncio.to_thread(models.answers_json, answers, single=single)
        return Response(body, media_type="application/json")

    def check_batch(count: int) -> None:
        if count > limits.batch:
            raise Refused(413, f"more than {limits.batch:,} in one request", hint="send fewer at a time")

    Key = Annotated[
        str | None,
        Header(alias="Idempotency-Key", max_length=200, description="Names the request; it is carried out once."),
    ]

    @api.post("/v1/pages", response_model=models.AnswerOut, summary="Add a page, and hear what it repeats")
    async def add(page: models.PageIn, key: Key = None) -> Any:
        answers = await in_time(adding.ask(Asked([page.page()], key), 1))
        return await answered("add", answers, single=True)

    @api.post("/v1/pages/batch", response_model=models.AnswersOut, summary="Add several pages, in order")
    async def add_batch(batch: models.PagesIn, key: Key = None) -> Any:
        check_batch(len(batch.pages))
        answers = await in_time(adding.ask(Asked(batch.page_list(), key), len(batch.pages)))
        return await answered("add", answers, single=False)

    @api.post("/v1/query", response_model=models.AnswerOut, summary="Ask what a page repeats, without adding it")
    async def query(page: models.PageIn) -> Any:
        return await answered("query", await in_time(asking.ask(Asked([page.page()]), 1)), single=True)

    @api.post("/v1/query/batch", response_model=models.AnswersOut, summary="Ask about several pages")
    async def query_batch(batch: models.PagesIn) -> Any:
        check_batch(len(batch.pages))
        answers = await in_time(asking.ask(Asked(batch.page_list()), len(batch.pages)))
        return await answered("query", answers, single=False)

    @api.post("/v1/remove", response_model=models.RemovedOut, summary="Take pages out by their ids")
    async def remove(ids: models.IdsIn) -> Any:
        check_batch(len(ids.ids))
        return {"removed": await in_time(asyncio.to_thread(index.remove, ids.ids))}

    @api.get("/v1/stats", response_model=models.StatsOut, summary="What is in the index")
    async def stats() -> Any:
        return asdict(await asyncio.to_thread(index.stats))

    @api.post("/v1/backup", response_model=models.BackupOut, summary="Copy the index while it is used")
    async def backup(wanted: models.BackupIn) -> Any:
        if backups is None:
            raise Refused(400, "the service was started without a folder for backups", hint="--backups DIR")
        try:
            await asyncio.to_thread(index.backup, backups / wanted.name)
        except OutputError as error:
            raise Refused(409, error.what, hint="choose another name") from None
        return {"name": wanted.name, "pages": index.stats().pages}

    @api.get("/metrics", summary="Numbers for Prometheus", response_class=PlainTextResponse)
    async def numbers() -> Response:
        return Response(await asyncio.to_thread(metrics.text), media_type="text/plain; version=0.0.4; charset=utf-8")

    @api.get("/health", response_model=models.StateOut, summary="Whether the service is there")
    async def health() -> Any:
        return {"state": "alive"}

    @api.get("/ready", response_model=models.StateOut, summary="Whether it takes requests")
    async def ready() -> Any:
        if not state["ready"]:
            raise Refused(503, "not ready", retry_after=1)
        return {"state": "ready"}

    def tell(method: str, path: str, status: int, seconds: float) -> None:
        metrics.request(path, status, seconds)
        line = {"event": "request", "method": method, "path": path[:200], "status": status}
        LOG.info(json.dumps(line | {"ms": round(seconds * 1e3, 2), "time": round(time.time(), 3)}))

    models.with_whole_bounds(api.openapi())
    hosts = Hosts((*LOOPBACK, *allowed)) if token is None or allowed else None
    return Gate(api, limits, token, hosts, tell)
