"""One page from a file that is named on the command line."""

from __future__ import annotations

from neardup.errors import InputError


def read_page_file(name: str) -> tuple[bytes, bool]:
    """The bytes of a page, unpacked if they were compressed, and whether its name says plain text."""
    from neardup.sources import tree
    from neardup.sources.expand import COMPRESSIONS, Named
    from neardup.sources.files import STDIN_NAME, Place, standard_input

    place = standard_input() if name == STDIN_NAME else Place.at(name)
    content, wrong, _ = tree.read_page_file(Named(place, "page"))
    if wrong is not None:
        raise InputError(f"cannot read the page: {wrong}", where=name)
    plain = name.lower()
    for ending in COMPRESSIONS:
        plain = plain.removesuffix(ending)
    return content, plain.endswith((".txt", ".text"))
