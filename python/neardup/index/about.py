"""``index.json``: what an index was made for, looked at before anything else of it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from neardup import _native
from neardup.errors import FormatError, InputError, UsageError
from neardup.methods import Detector, parse
from neardup.methods.statistics import CollectionStatistics
from neardup.text import Reading

#: The version of the tables; the fingerprint format has one of its own.
INDEX_VERSION: Final = 4
FILE: Final = "index.json"
STATISTICS: Final = "statistics"
TABLES: Final = "tables"


@dataclass(frozen=True)
class About:
    """What an index was made for; it never changes."""

    detector: Detector
    reading: Reading
    #: A key lists at most so many pages.
    most: int
    statistics: CollectionStatistics | None = None

    def write(self, folder: Path) -> None:
        """Writes it into a folder that is not in use yet."""
        if self.statistics is not None:
            self.statistics.save(folder / STATISTICS)
        said: dict[str, Any] = {
            "index": INDEX_VERSION,
            "format": _native.FORMAT_VERSION,
            "detector": str(self.detector),
            "reading": asdict(self.reading),
            "most": self.most,
            "statistics": None if self.statistics is None else self.statistics.digest,
        }
        said["checksum"] = _checksum(said)
        with open(folder / FILE, "w", encoding="utf-8") as file:
            json.dump(said, file, indent=2)
            file.flush()
            os.fsync(file.fileno())

    @staticmethod
    def read(folder: Path) -> About:
        """What a folder says of itself.

        >>> About.read(Path("no-such-folder"))
        Traceback (most recent call last):
        neardup.errors.InputError: not an index (no-such-folder): make one with neardup index create
        """
        place = folder / FILE
        if not place.is_file():
            raise InputError("not an index", where=str(folder), hint="make one with neardup index create")
        try:
            said = json.loads(place.read_text(encoding="utf-8"))
            checksum = said.pop("checksum")
        except (ValueError, RecursionError, AttributeError, KeyError):
            raise _damaged(place) from None
        for name, own, what in (("index", INDEX_VERSION, "index"), ("format", _native.FORMAT_VERSION, "fingerprint")):
            if said.get(name) != own:
                raise FormatError(
                    f"made in {what} format {said.get(name)}, this is format {own}",
                    where=str(folder),
                    hint="build it anew with this version",
                )
        if checksum != _checksum(said):
            raise _damaged(place)
        try:
            about = About(parse(said["detector"]), Reading(**said["reading"]), int(said["most"]))
        except (UsageError, TypeError, KeyError) as error:
            raise FormatError(f"made for what this version does not know: {error}", where=str(place)) from None
        if said["statistics"] is None:
            return about
        statistics = CollectionStatistics.load(folder / STATISTICS)
        if statistics.digest != said["statistics"]:
            raise _damaged(folder / STATISTICS)
        return About(about.detector, about.reading, about.most, statistics)


def _checksum(said: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


def _damaged(place: Path) -> FormatError:
    return FormatError("the index is damaged", where=str(place), hint="go back to a backup, or build it anew")
