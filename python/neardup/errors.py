"""Every error neardup raises on purpose: what was wrong, where, and what to try next."""

from __future__ import annotations


class NeardupError(Exception):
    """Base of all errors of neardup; the command line prints it without a traceback and exits with 1.

    >>> str(NeardupError("no pages were read", where="crawl.warc.gz", hint="look into the file"))
    'no pages were read (crawl.warc.gz): look into the file'
    """

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.what, self.where, self.hint = what, where, hint
        text = what if where is None else f"{what} ({where})"
        super().__init__(text if hint is None else f"{text}: {hint}")


class UsageError(NeardupError):
    """The call itself cannot be carried out as written; the command line exits with 2."""


class ConflictError(UsageError):
    """A name is taken: of a request that was carried out with something else, or of a folder. Nothing was done."""


class SpecError(UsageError):
    """A detector's text form does not parse, or names an unknown detector or parameter."""


class InputError(NeardupError):
    """An input is missing, unreadable, or (with ``strict``) holds a record that cannot be read."""


class OutputError(NeardupError):
    """The result cannot be written where it was asked for."""


class FormatError(NeardupError):
    """Data was written by another version of the fingerprint format, or is damaged."""


class MissingExtra(NeardupError):
    """An optional part is not installed; the hint is the command that installs it."""
