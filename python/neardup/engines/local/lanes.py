"""Work on several streams of items beside each other; the results come in order, stream after stream.

A stream is read by one thread: what it takes to unpack a file cannot be shared out, and on many cores it is what the
workers wait for. So files that follow are read at the same time. The results of the first stream are handed out as they
are ready, those of the others wait, up to a limit of bytes; then their streams wait as well.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from neardup.workers import in_order

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Gives the items of a stream, when it is its turn.
Stream = Callable[[], Iterable[Item]]


def in_lanes(
    streams: Sequence[Stream[Item]],
    work: Callable[[Item], Result],
    threads: int,
    *,
    beside: int,
    size_of: Callable[[Result], int],
    room: int,
    item_size: Callable[[Item], int] | None = None,
) -> Generator[Result]:
    """``work`` of each item of each stream. ``beside`` streams are read at a time; results that wait for those before
    them have together ``room`` bytes and a little more. Where one is read at a time, items that are worked on have so
    many bytes together, too, by ``item_size``.

    >>> streams = [lambda: "ab", lambda: "c", lambda: "de"]
    >>> list(in_lanes(streams, str.upper, 4, beside=2, size_of=len, room=100))
    ['A', 'B', 'C', 'D', 'E']
    """
    if beside < 2 or len(streams) < 2:
        items = (item for stream in streams for item in stream())
        yield from in_order(items, work, threads, size_of=item_size, room=room)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="neardup")
    share = max(2, threads // beside + 1)
    lanes: deque[_Lane[Item, Result]] = deque()
    waiting = deque(streams)
    try:
        while lanes or waiting:
            while waiting and len(lanes) < beside:
                lanes.append(_Lane(waiting.popleft(), work, pool, threads, share, size_of, room // beside))
            lanes[0].is_first()
            yield from lanes[0].results()
            lanes.popleft()
    finally:
        for lane in lanes:
            lane.stop()
        pool.shutdown(wait=True, cancel_futures=True)
        for lane in lanes:
            lane.reader.join()


class _Lane(Generic[Item, Result]):
    """A stream that a thread of its own reads, and what has come of it so far."""

    def __init__(
        self,
        stream: Stream[Item],
        work: Callable[[Item], Result],
        pool: ThreadPoolExecutor,
        threads: int,
        share: int,
        size_of: Callable[[Result], int],
        room: int,
    ) -> None:
        self._stream, self._work, self._pool, self._threads = stream, work, pool, threads
        #: How many items are worked on at a time, and bytes of results that wait, unless this lane is the first.
        self._share, self._room = share, room
        self._size_of = size_of
        self._changed = threading.Condition()
        self._futures: deque[Future[Result]] = deque()
        self._working = self._held = 0
        self._first = self._stopped = self._ended = False
        self._error: BaseException | None = None
        self.reader = threading.Thread(target=self._read, name="neardup-reader", daemon=True)
        self.reader.start()

    def is_first(self) -> None:
        """Says that no result has to wait for another lane any more."""
        with self._changed:
            self._first = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Says that no more is wanted."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def results(self) -> Iterator[Result]:
        """All results, in order; then the error that ended the stream, if one did."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._futures or self._ended)
                if not self._futures:
                    break
                future = self._futures.popleft()
                self._changed.notify_all()
            yield future.result()
        self.reader.join()
        if self._error is not None:
            raise self._error

    def _may_go_on(self) -> bool:
        if self._first:
            return self._stopped or len(self._futures) <= self._threads + 1
        return self._stopped or (self._working < self._share and self._held < self._room)

    def _read(self) -> None:
        try:
            for item in self._stream():
                with self._changed:
                    self._changed.wait_for(self._may_go_on)
                    if self._stopped:
                        break
                    self._working += 1
                    future = self._pool.submit(self._work, item)
                    self._futures.append(future)
                    self._changed.notify_all()
                future.add_done_callback(self._done)
        except BaseException as error:  # raised where the results are taken
            self._error = error
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _done(self, future: Future[Result]) -> None:
        failed = future.cancelled() or future.exception() is not None
        with self._changed:
            self._working -= 1
            self._held += 0 if failed else self._size_of(future.result())
            self._changed.notify_all()
