"""The routes of the service: what may be asked, and what is answered. Imported when a service starts, with FastAPI."""

import asyncio
import json
from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from starlette.exceptions import HTTPException

from neardup.answers import Answer
from neardup.errors import ConflictError, InputError, NeardupError, UsageError
from neardup.service import models
from neardup.service.api import LOG
from neardup.service.gate import Refused, error_body
from neardup.service.metrics import Metrics
from neardup.service.work import Service

routes: Final = APIRouter()

#: Matches that are written sooner than another thread is asked to.
_FEW: Final = 100
#: What each status of an error says.
ERRORS: Final[dict[int | str, dict[str, Any]]] = {
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


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


Served = Annotated[Service, Depends(_service)]
Counted = Annotated[Metrics, Depends(_metrics)]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=200, description="Names the request; it is carried out once."),
]


async def _response(answers: list[Answer], *, single: bool) -> Response:
    if sum(len(answer.matches) for answer in answers) <= _FEW:
        body = models.answers_json(answers, single=single)
    else:
        # A long text is written by another thread, so that others are answered meanwhile.
        body = await asyncio.to_thread(models.answers_json, answers, single=single)
    return Response(body, media_type="application/json")


@routes.post("/v1/pages", response_model=models.AnswerOut, summary="Add a page, and hear what it repeats")
async def add(page: models.PageIn, service: Served, metrics: Counted, key: Key = None) -> Response:
    answers = await service.add([page.page()], key)
    metrics.answered("add", answers)
    return await _response(answers, single=True)


@routes.post("/v1/pages/batch", response_model=models.AnswersOut, summary="Add several pages, in order")
async def add_batch(batch: models.PagesIn, service: Served, metrics: Counted, key: Key = None) -> Response:
    answers = await service.add(batch.page_list(), key)
    metrics.answered("add", answers)
    return await _response(answers, single=False)


@routes.post("/v1/query", response_model=models.AnswerOut, summary="Ask what a page repeats, without adding it")
async def query(page: models.PageIn, service: Served, metrics: Counted) -> Response:
    answers = await service.query([page.page()])
    metrics.answered("query", answers)
    return await _response(answers, single=True)


@routes.post("/v1/query/batch", response_model=models.AnswersOut, summary="Ask about several pages")
async def query_batch(batch: models.PagesIn, service: Served, metrics: Counted) -> Response:
    answers = await service.query(batch.page_list())
    metrics.answered("query", answers)
    return await _response(answers, single=False)


@routes.post("/v1/remove", response_model=models.RemovedOut, summary="Take pages out by their ids")
async def remove(ids: models.IdsIn, service: Served) -> Any:
    return {"removed": await service.remove(ids.ids)}


@routes.get("/v1/stats", response_model=models.StatsOut, summary="What is in the index")
async def stats(service: Served) -> Any:
    return asdict(await service.stats())


@routes.post("/v1/backup", response_model=models.BackupOut, summary="Copy the index while it is used")
async def backup(wanted: models.BackupIn, service: Served) -> Any:
    return {"name": wanted.name, "pages": await service.backup(wanted.name)}


@routes.get("/metrics", summary="Numbers for Prometheus", response_class=PlainTextResponse)
async def numbers(metrics: Counted) -> Response:
    return Response(await asyncio.to_thread(metrics.text), media_type="text/plain; version=0.0.4; charset=utf-8")


@routes.get("/health", response_model=models.StateOut, summary="Whether the service is there")
async def health() -> Any:
    return {"state": "alive"}


@routes.get("/ready", response_model=models.StateOut, summary="Whether it takes requests")
async def ready(request: Request) -> Any:
    if not request.app.state.ready:
        raise Refused(503, "not ready", retry_after=1)
    return {"state": "ready"}


# Errors: each is JSON with a reason, and nothing of a page's content.


def _refusal(reason: str, status: int, hint: str | None = None, headers: dict[str, str] | None = None) -> Response:
    return Response(error_body(reason, hint), status_code=status, media_type="application/json", headers=headers)


async def invalid(_: Request, error: Exception) -> Response:
    """Says where and why, without the values: they may be page contents, and may not be encodable."""
    assert isinstance(error, RequestValidationError)
    reasons = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:10]]
    return _refusal("; ".join(reasons), 422)


async def unknown(_: Request, error: Exception) -> Response:
    """What the router refuses: a path or a method that there is not."""
    assert isinstance(error, HTTPException)
    return _refusal(str(error.detail), error.status_code, headers=dict(error.headers or {}))


async def refused(_: Request, error: Exception) -> Response:
    """What is out of bounds."""
    assert isinstance(error, Refused)
    headers = None if error.retry_after is None else {"retry-after": str(error.retry_after)}
    return _refusal(error.reason, error.status, error.hint, headers)


async def failed(_: Request, error: Exception) -> Response:
    """What the index refuses: the request's fault, or its own."""
    assert isinstance(error, NeardupError)
    wrong = isinstance(error, InputError | UsageError)
    if not wrong:
        LOG.error(json.dumps({"event": "error", "reason": error.what}))
    status = 409 if isinstance(error, ConflictError) else 400 if wrong else 500
    return _refusal(error.what, status, error.hint)


async def unexpected(_: Request, error: Exception) -> Response:
    """A fault of ours."""
    LOG.error(json.dumps({"event": "error", "reason": type(error).__name__}))
    return _refusal("an unexpected error; the log names its kind", 500)


def answer_errors(api: FastAPI) -> None:
    """Has an application answer errors by these functions."""
    api.add_exception_handler(RequestValidationError, invalid)
    api.add_exception_handler(HTTPException, unknown)
    api.add_exception_handler(Refused, refused)
    api.add_exception_handler(NeardupError, failed)
    api.add_exception_handler(Exception, unexpected)
