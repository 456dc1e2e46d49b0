"""Numbers of a service for Prometheus; a registry of its own, so that several services in one process do not mix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from neardup.answers import Answer
    from neardup.index import Index

_SECONDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
#: Paths that are told apart; any other counts as one, or a scanner would make a time series of every guess.
PATHS: Final = frozenset(
    {"/v1/pages", "/v1/pages/batch", "/v1/query", "/v1/query/batch", "/v1/remove", "/v1/stats", "/v1/backup",
     "/metrics", "/health", "/ready", "/openapi.json", "/docs"}
)  # fmt: skip


class Metrics:
    """What is counted."""

    def __init__(self, index: Index, waiting: Callable[[], int]) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry = CollectorRegistry()
        self._requests = Counter(
            "neardup_requests", "Requests by path and status.", ["path", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "neardup_request_seconds", "How long requests took.", ["path"], buckets=_SECONDS, registry=self.registry
        )
        self._pages = Counter("neardup_pages", "Pages by what was asked.", ["what"], registry=self.registry)
        self._repeats = Counter(
            "neardup_repeats", "Pages that had near-duplicates, by what was asked.", ["what"], registry=self.registry
        )
        self.registry.register(_Commits(index))
        Gauge("neardup_waiting_pages", "Pages that are waited for.", registry=self.registry).set_function(waiting)
        Gauge("neardup_index_pages", "Pages in the index.", registry=self.registry).set_function(
            lambda: index.stats().pages
        )
        Gauge("neardup_index_bytes", "Bytes of the index on disk.", registry=self.registry).set_function(
            lambda: _bytes(index)
        )

    def request(self, path: str, status: int, seconds: float) -> None:
        known = path if path in PATHS else "other"
        self._requests.labels(known, str(status)).inc()
        self._seconds.labels(known).observe(seconds)

    def answered(self, what: str, answers: Sequence[Answer]) -> None:
        self._pages.labels(what).inc(len(answers))
        self._repeats.labels(what).inc(sum(bool(answer) for answer in answers))

    def text(self) -> bytes:
        from prometheus_client import generate_latest

        return generate_latest(self.registry)


class _Commits:
    """Pages that shared a commit, as the index counts them."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import SummaryMetricFamily

        commits, pages = self._index.commits()
        yield SummaryMetricFamily(
            "neardup_commit_pages", "Pages that shared a commit.", count_value=commits, sum_value=pages
        )


def _bytes(index: Index) -> int:
    stats = index.stats()
    return stats.table_bytes + stats.journal_bytes
