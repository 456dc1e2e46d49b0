"""A peer's answer on disk: pairs, clusters or a list of what stays, as plain numbers.

``pairs.u32`` holds the pairs one after another, ``labels.u32`` for every document the first one of its cluster,
``kept.u8`` for every document whether it stays. Pairs are written only where the answer is going to be checked.
"""

import sys
from array import array
from collections.abc import Iterable
from pathlib import Path


class Clusters:
    """Documents joined by pairs."""

    def __init__(self, documents: int, hold_pairs: bool) -> None:
        self.parent = list(range(documents))
        self.pairs = array("I") if hold_pairs else None

    def find(self, document: int) -> int:
        parent = self.parent
        while parent[document] != document:
            parent[document] = parent[parent[document]]
            document = parent[document]
        return document

    def join(self, a: int, b: int) -> None:
        if self.pairs is not None:
            self.pairs.extend((a, b))
        a, b = self.find(a), self.find(b)
        if a != b:
            self.parent[max(a, b)] = min(a, b)

    def write(self, folder: Path) -> None:
        _write(folder / "labels.u32", array("I", map(self.find, range(len(self.parent)))))
        if self.pairs is not None:
            _write(folder / "pairs.u32", self.pairs)


def write_labels(folder: Path, labels: Iterable[int]) -> None:
    _write(folder / "labels.u32", array("I", labels))


def write_kept(folder: Path, kept: Iterable[bool]) -> None:
    _write(folder / "kept.u8", array("B", map(bool, kept)))


def _write(path: Path, values: array) -> None:
    with open(path, "wb") as file:
        values.tofile(file)


def arguments() -> tuple[str, Path, bool]:
    """The text file, the folder for the answer (made here), and whether pairs are wanted."""
    path, folder, what = sys.argv[1:4]
    answer = Path(folder)
    answer.mkdir(parents=True, exist_ok=True)
    return path, answer, what == "pairs"
