"""Errors of Spark as errors of neardup: it tells of those of executors in a text with a traceback at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from neardup import errors
from neardup.errors import NeardupError, UsageError

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
        if "No module named 'neardup'" in str(error):
            raise UsageError(
                "the machines of the cluster have no neardup",
                hint="install it there, or set PYSPARK_PYTHON to a Python that has it",
            ) from None
        if type(error).__module__.split(".")[0] in ("pyspark", "py4j", "grpc"):
            raise NeardupError(
                f"Spark failed: {first_line(error)}", hint="the logs of the driver and of the executors say more"
            ) from error
        raise


def first_line(error: Exception) -> str:
    """What an error says, without its traceback.

    >>> first_line(ValueError("one\\ntwo"))
    'one'
    """
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
