"""Errors of executors as errors of neardup: Spark tells of them in a text with a traceback at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from neardup import errors
from neardup.errors import NeardupError

_OWN = re.compile(r"^neardup\.errors\.(\w+): (.*)$", re.MULTILINE)


@contextmanager
def explained() -> Iterator[None]:
    """Raises what an executor raised on purpose as it was; the rest in one line.

    >>> with explained():
    ...     raise RuntimeError("Job aborted\\nneardup.errors.InputError: not a WARC file (a.warc)\\n\\tat org.apache")
    Traceback (most recent call last):
    neardup.errors.InputError: not a WARC file (a.warc)
    """
    try:
        yield
    except NeardupError:
        raise
    except Exception as error:
        found = _OWN.search(str(error))
        kind = getattr(errors, found[1], None) if found else None
        if found and isinstance(kind, type) and issubclass(kind, NeardupError):
            raise kind(found[2].strip()) from None
        raise
