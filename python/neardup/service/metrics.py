"""Numbers of a service for Prometheus; a registry of its own, so that several services in one process do not mix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neardup.index import Answer, Stats

_SECONDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_TOGETHER: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: Paths that are told apart; any other counts as one, or a scanner would make a time series of every guess.
PATHS: Final = frozenset(
    {"/v1/pages", "/v1/pages/batch", "/v1/query", "/v1/query/batch", "/v1/remove", "/v1/stats", "/v1/backup",
     "/metrics", "/health", "/ready", "/openapi.json", "/docs"}
)  # fmt: skip


class Metrics:
    """What is counted."""

    def __init__(self, stats: Callable[[], Stats], waiting: Callable[[], int]) -> None:
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
        self._together = Histogram(
            "neardup_commit_pages", "Pages that shared a commit.", buckets=_TOGETHER, registry=self.registry
        )
        Gauge("neardup_waiting_pages", "Pages that wait to be added.", registry=self.registry).set_function(waiting)
        Gauge("neardup_index_pages", "Pages in the index.", registry=self.registry).set_function(lambda: stats().pages)
        Gauge("neardup_index_bytes", "Bytes of the index on disk.", registry=self.registry).set_function(
            lambda: stats().table_bytes + stats().journal_bytes
        )

    def request(self, path: str, status: int, seconds: float) -> None:
        known = path if path in PATHS else "other"
        self._requests.labels(known, str(status)).inc()
        self._seconds.labels(known).observe(seconds)

    def answered(self, what: str, answers: list[Answer]) -> None:
        self._pages.labels(what).inc(len(answers))
        self._repeats.labels(what).inc(sum(bool(answer) for answer in answers))

    def committed(self, pages: int) -> None:
        self._together.observe(pages)

    def text(self) -> bytes:
        from prometheus_client import generate_latest

        return generate_latest(self.registry)
