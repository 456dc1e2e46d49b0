"""What is asked of a run: one value, whoever asks (Python, the command line), and whichever engine answers.

Which wishes do not go together is said here once.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Literal

from neardup.engines import Progress, Settings, Silent
from neardup.engines.local.run import Certify
from neardup.errors import UsageError
from neardup.methods import Detector
from neardup.record import record
from neardup.sources import InputSpec
from neardup.sources.files import STDIN_NAME

Write = Literal["kept", "all"]
Engine = Literal["local", "spark"]


@record(frozen=True)
class Request:
    """A run to be done; wishes that do not go together are refused when it is made.

    >>> Request(InputSpec(["pages.jsonl"]), store=True)
    Traceback (most recent call last):
    neardup.errors.UsageError: pages can be written only into a result folder: give out=
    """

    input: InputSpec
    #: The result folder; without one nothing is written.
    out: Path | None = None
    #: None: the default for the pages, or the detector of the runs it is ``against``.
    detector: str | Detector | None = None
    settings: Settings = field(default_factory=Settings)
    #: Pages that are written as files of the input's format, and whether the texts of all are stored.
    write: Write | None = None
    store: bool = False
    #: A result that stands in ``out`` is replaced.
    overwrite: bool = False
    #: Where the scratch folder is; a location that all machines see, for Spark.
    scratch: str | None = None
    #: Goes on where a stopped run of the same kind was.
    resume: bool = False
    progress: Progress = field(default_factory=Silent)
    certify: Certify | None = None
    #: Result folders of earlier runs that kept their fingerprints.
    against: tuple[str, ...] = ()
    keep_fingerprints: bool = False
    engine: Engine = "local"
    #: The cluster, by its master or by the address of its Spark Connect server.
    master: str | None = None
    remote: str | None = None

    def __post_init__(self) -> None:
        if not self.input.paths:
            raise UsageError("no input was given", hint="name files, folders, globs, or - for standard input")
        if self.out is None:
            self._check_without_folder()
        if self.engine == "spark":
            self._check_on_spark()
        elif self.master is not None or self.remote is not None:
            raise UsageError(
                "a master or a remote is for the Spark engine", hint="give engine='spark' (--engine spark)"
            )

    def _check_without_folder(self) -> None:
        if self.keep_fingerprints:
            raise UsageError("fingerprints can be kept only in a result folder", hint="give out=")
        if self.writes_pages:
            raise UsageError("pages can be written only into a result folder", hint="give out=")
        if self.resume and self.engine == "local":
            raise UsageError("a run whose result is not written cannot be resumed", hint="give out=")

    def _check_on_spark(self) -> None:
        if self.certify is not None or self.writes_pages or self.resume:
            raise UsageError(
                "the Spark engine neither writes nor stores pages, nor resumes, nor certifies",
                hint="join pages.parquet with your pages; certify a sample with the local engine",
            )
        if STDIN_NAME in self.input.paths:
            raise UsageError("standard input cannot be distributed", hint="write it to a file that all machines see")

    @property
    def writes_pages(self) -> bool:
        """Whether texts of pages go to the result."""
        return self.write is not None or self.store

    @property
    def scratch_folder(self) -> Path:
        """Where what was done is committed: in the folder that was named, else beside the result."""
        if self.scratch is not None:
            return Path(self.scratch)
        assert self.out is not None, "asked for a run that is written"
        return self.out.parent / f".{self.out.name}.scratch"
