"""Several pages, where one might be given by mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from neardup.errors import UsageError


def check_several(pages: object) -> None:
    """Refuses, where several pages are meant, what would be gone through as something else: a text by its letters, a
    mapping by its keys.

    >>> check_several(["one page", "another"])
    >>> check_several("one page")
    Traceback (most recent call last):
    neardup.errors.UsageError: pages were expected, not a single text: put it into a list
    >>> check_several({"text": ["one page"]})
    Traceback (most recent call last):
    neardup.errors.UsageError: pages were expected, not a mapping of columns: make it a table: pyarrow.table(…)
    """
    if isinstance(pages, str | bytes):
        raise UsageError("pages were expected, not a single text", hint="put it into a list")
    if not isinstance(pages, Mapping):
        return
    values = list(pages.values())
    what, hint = "a mapping", "give a list of pages, each a text or a mapping with 'text' or 'html'"
    if values and all(hasattr(value, "column_names") for value in values):
        what, hint = "a mapping of datasets", f"give one of them: …[{next(iter(pages))!r}]"
    elif any(isinstance(pages.get(name), str | bytes) for name in ("text", "html")) or "tokens" in pages:
        what, hint = "a single page", "put it into a list"
    elif values and all(isinstance(value, Iterable) and not isinstance(value, str | bytes) for value in values):
        what, hint = "a mapping of columns", "make it a table: pyarrow.table(…)"
    raise UsageError(f"pages were expected, not {what}", hint=hint)
