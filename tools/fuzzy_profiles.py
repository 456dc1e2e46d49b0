"""Counts a reference profile for fuzzy fingerprinting from text, and writes it into the package.

    python tools/fuzzy_profiles.py LANGUAGE ALPHABET ORIGIN FILE…

FILE… are inputs as ``neardup dedup`` takes them; ALPHABET is latin, cyrillic or hashed; ORIGIN says whose text it is
and under what terms, and is stored with the profile. Every page counts once, so give one version of each text.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import neardup.methods.profiles as profiles
from neardup.sources import Fields, open_inputs
from neardup.text import term_lists


def batches(names: list[str]) -> Iterator[pa.LargeListArray]:
    with open_inputs(names, Fields()) as source:
        for chunk in source.chunks():
            yield term_lists(chunk.load().pages)


def main() -> None:
    language, alphabet, origin, *names = sys.argv[1:]
    made = profiles.make_profile(language, origin, batches(names), profiles.ALPHABETS[alphabet])
    place = Path(profiles.__file__).with_name(f"{language}.json")
    place.write_text(json.dumps(made.to_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{place.name}: {made.words:,} words of {made.pages:,} pages")


if __name__ == "__main__":
    main()
