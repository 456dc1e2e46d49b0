"""What the service takes and gives, as its OpenAPI description says it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

from neardup.answers import Answer

#: Bounds that keep a request of allowed size from costing more than it should.
ID_LENGTH: Final = 4096
URL_LENGTH: Final = 8192
TOKENS: Final = 1_000_000

Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]
Token = Annotated[int, Field(ge=0, lt=1 << 64)]


def _content(name: str, kind: str) -> dict[str, Any]:
    return {"required": [name], "properties": {name: {"type": kind}}}


#: The rules that go beyond single fields, as the description says them.
_ONE_CONTENT: Final[dict[str, Any]] = {
    "oneOf": [_content("text", "string"), _content("html", "string"), _content("tokens", "array")]
}
_WITH_TOKENS: Final[dict[str, Any]] = _content("tokens", "array")
_ALIKE: Final[dict[str, Any]] = {"anyOf": [{"items": _WITH_TOKENS}, {"items": {"not": _WITH_TOKENS}}]}


def with_whole_bounds(description: Any) -> None:
    """Writes bounds of whole numbers as whole numbers; FastAPI makes floats of them, which have no 2^64 − 1.

    >>> described = {"type": "integer", "exclusiveMaximum": 1.8446744073709552e19}
    >>> with_whole_bounds(described)
    >>> described["exclusiveMaximum"]
    18446744073709551616
    """
    if isinstance(description, dict):
        for bound in ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"):
            if description.get("type") == "integer" and isinstance(description.get(bound), float):
                description[bound] = int(description[bound])
    parts = description.values() if isinstance(description, dict) else description
    for part in parts:
        if isinstance(part, dict | list):
            with_whole_bounds(part)


class PageIn(BaseModel):
    """A page: exactly one of ``text``, ``html`` and ``tokens``."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_ONE_CONTENT)

    id: Id | None = Field(None, description="The page's id; without one, its URL. A page of the same id is replaced.")
    url: Annotated[str, Field(max_length=URL_LENGTH)] | None = Field(None, description="Its URL, which says its site.")
    date: Annotated[str, Field(max_length=64)] | None = Field(None, description="Its date in ISO 8601; else now.")
    text: str | None = Field(None, description="The page as plain text.")
    html: str | None = Field(None, description="The page as HTML.")
    tokens: Annotated[list[Token], Field(max_length=TOKENS)] | None = Field(
        None, description="The page as 64-bit tokens, as neardup.text.read gives them."
    )

    @model_validator(mode="after")
    def _one_content(self) -> PageIn:
        if sum(content is not None for content in (self.text, self.html, self.tokens)) != 1:
            raise ValueError("give exactly one of text, html and tokens")
        return self

    def page(self) -> dict[str, Any]:
        """The page as ``neardup.Index`` takes it."""
        return {name: value for name, value in self if value is not None}


class PagesIn(BaseModel):
    """Several pages; all with tokens, or none."""

    model_config = ConfigDict(extra="forbid")

    pages: Annotated[list[PageIn], Field(min_length=1, json_schema_extra=_ALIKE)]

    @model_validator(mode="after")
    def _alike(self) -> PagesIn:
        if len({page.tokens is None for page in self.pages}) > 1:
            raise ValueError("pages with tokens and pages without belong into two batches")
        return self

    def page_list(self) -> list[dict[str, Any]]:
        """The pages as ``neardup.Index`` takes them."""
        return [page.page() for page in self.pages]


class IdsIn(BaseModel):
    """Ids of pages."""

    model_config = ConfigDict(extra="forbid")

    ids: Annotated[list[Id], Field(min_length=1)]


class BackupIn(BaseModel):
    """The name of a backup, inside the folder that the service was given for them."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]


class MatchOut(BaseModel):
    """A near-duplicate that is there already."""

    id: str
    score: float
    rule: str
    copies: int


class AnswerOut(BaseModel):
    """What there is to say of a page."""

    id: str
    matches: list[MatchOut]
    replaced: bool
    repeated: bool
    full_key: bool
    more: int = Field(description="How many further matches there are that are not named.")


class AnswersOut(BaseModel):
    """The same of several pages, in their order."""

    answers: list[AnswerOut]


def answers_json(answers: Sequence[Answer], *, single: bool) -> bytes:
    """Answers as ``AnswerOut`` and ``AnswersOut`` describe them.

    >>> answers_json([Answer("a")], single=True)
    b'{"id": "a", "matches": [], "replaced": false, "repeated": false, "full_key": false, "more": 0}'
    """
    rows = [{name: value for name, value in answer.to_json().items() if name != "conflict"} for answer in answers]
    return json.dumps(rows[0] if single else {"answers": rows}).encode()


class RemovedOut(BaseModel):
    """Of each id whether it was there."""

    removed: list[bool]


class StatsOut(BaseModel):
    """What is in the index."""

    pages: int
    identity_sets: int
    full_keys: int
    left_out: int
    table_bytes: int
    journal_bytes: int
    detector: str
    statistics: str | None


class StateOut(BaseModel):
    """Whether all is well."""

    state: str


class BackupOut(BaseModel):
    """Where the backup is."""

    name: str
    pages: int


class Reason(BaseModel):
    """Why a request was not carried out."""

    reason: str
    hint: str | None = None


class ErrorOut(BaseModel):
    """The body of every error."""

    error: Reason
