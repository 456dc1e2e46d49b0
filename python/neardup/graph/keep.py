"""Keep policies: in which order pages are preferred. A tie is always broken by input order."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import UsageError
from neardup.lazy import later

pc = later("pyarrow.compute")

KeepPolicy = Literal["first", "longest", "newest", "shortest-url", "most-linked"]
POLICIES: Final[tuple[str, ...]] = get_args(KeepPolicy)


def keep_order(
    policy: KeepPolicy,
    *,
    tokens: npt.NDArray[np.int64],
    urls: pa.ChunkedArray | pa.Array,
    dates: pa.ChunkedArray | pa.Array,
    links: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.uint32]:
    """All rows, the most preferred first.

    >>> import numpy as np, pyarrow as pa
    >>> urls, dates = pa.array(["http://a/long", "http://a/", None]), pa.array(["2001-01-01", None, "2002-01-01"])
    >>> keep_order("shortest-url", tokens=np.array([5, 5, 9]), urls=urls, dates=dates).tolist()
    [1, 0, 2]
    >>> keep_order("newest", tokens=np.array([5, 5, 9]), urls=urls, dates=dates).tolist()
    [2, 0, 1]
    """
    # Stable: equal pages stay in input order.
    order = np.argsort(preferences(policy, tokens=tokens, urls=urls, dates=dates, links=links), kind="stable")
    return order.astype(np.uint32)


def preferences(
    policy: KeepPolicy,
    *,
    tokens: npt.NDArray[np.int64],
    urls: pa.ChunkedArray | pa.Array,
    dates: pa.ChunkedArray | pa.Array,
    links: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.int64]:
    """A number for each page, smaller for a page that is preferred; of equal ones the first in the input is.

    >>> import numpy as np, pyarrow as pa
    >>> none = pa.nulls(2, pa.string())
    >>> preferences("longest", tokens=np.array([5, 9]), urls=none, dates=none).tolist()
    [-5, -9]
    """
    if policy == "first":
        return np.zeros(len(tokens), np.int64)
    if policy == "longest":
        return -np.asarray(tokens, dtype=np.int64)
    if policy == "newest":
        return -timestamps(dates)
    if policy == "shortest-url":
        lengths = pc.fill_null(pc.utf8_length(urls), np.iinfo(np.int32).max)
        return np.asarray(lengths, dtype=np.int64)
    if policy == "most-linked":
        if links is None:
            raise UsageError("keep policy 'most-linked' needs links", hint="it works on HTML pages that have URLs")
        return -links
    raise UsageError(f"unknown keep policy {policy!r}", hint=f"one of {', '.join(POLICIES)}")


def timestamps(dates: pa.ChunkedArray | pa.Array) -> npt.NDArray[np.int64]:
    """Seconds since 1970 of each date, as ISO 8601, 14 digits or in an HTTP header's form; unreadable ones are oldest.

    >>> timestamps(pa.array(["1970-01-02", "Thu, 01 Jan 1970 00:00:07 GMT", "19700101000009"])).tolist()
    [86400, 7, 9]
    >>> bool(timestamps(pa.array(["soon"]))[0] == timestamps(pa.array([None], pa.string()))[0])
    True
    """
    return np.fromiter((_timestamp(date) for date in dates.to_pylist()), np.int64, len(dates))


def count_undated(dates: pa.ChunkedArray | pa.Array) -> int:
    """How many pages have no date that can be read. If that is all of them, none is the newest.

    >>> count_undated(pa.array(["1970-01-02", "soon", None]))
    2
    >>> count_undated(pa.array(["soon", None]))
    Traceback (most recent call last):
    neardup.errors.UsageError: no page has a date, so none is the newest: name the field with --date-field, or choose \
another --keep
    """
    undated = int((timestamps(dates) == _OLDEST).sum())
    check_dated(undated, len(dates))
    return undated


def check_dated(undated: int, pages: int) -> None:
    """Refuses pages of which the newest are to be kept, and none has a date."""
    if undated == pages:
        raise UsageError(
            "no page has a date, so none is the newest",
            hint="name the field with --date-field, or choose another --keep",
        )


_OLDEST: Final = -(1 << 62)
#: The preference of a page without a date, where the newest are to be kept.
UNDATED: Final = -_OLDEST


@lru_cache(maxsize=1 << 16)
def _timestamp(date: str | None) -> int:
    if not date:
        return _OLDEST
    moment: datetime | None = None
    try:
        if date.isdecimal() and len(date) == 14:
            moment = datetime.strptime(date, "%Y%m%d%H%M%S")
        else:
            moment = datetime.fromisoformat(date.strip())
    except ValueError:
        try:
            from email.utils import parsedate_to_datetime  # takes longer to import than most dates need

            moment = parsedate_to_datetime(date)
        except (TypeError, ValueError):
            return _OLDEST
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp())
