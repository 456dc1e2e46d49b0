"""Writes crates/neardup-core/src/unicode_tables.rs: what the tokeniser knows of each code point.

The tables are part of the fingerprint format, so they are generated once, checked in, and do not follow the
Unicode version of whatever compiler or interpreter happens to be installed. Regenerating them with another
Unicode version is a change of format.

    pip install fonttools unicodedata2 && python tools/unicode_tables.py
"""

from __future__ import annotations

import pathlib
import unicodedata

import unicodedata2 as ucd
from fontTools.unicodedata import script, script_extension

BLOCK = 128
LAST = 0x10FFFF
# Scripts written without spaces: their runs give character bigrams.
UNSPACED = {"Hani", "Hira", "Kana", "Thai", "Khmr", "Laoo", "Mymr"}
# Of classes and of case. Anything else is a change of the fingerprint format.
VERSIONS = ("18.0.0", "14.0.0")
OTHER, WORD, UNSPACED_WORD, MARK, NOTHING = range(5)
NORMALISE, FOLDS, ENDS_URL, GLUED = 8, 16, 32, 64
# What is not there for a reader: Unicode's Default_Ignorable_Code_Point, and the control characters of ASCII that are
# not white space. (Those behind ASCII, U+0080 to U+009F, are in real text the quotes and dashes of windows-1252.)
NOTHINGS = [
    (0x00, 0x08), (0x0E, 0x1F), (0x7F, 0x7F),
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]  # fmt: skip
# What nobody writes in an address, of ASCII; white space comes on top.
NOT_IN_URLS = "\"'`<>\\^|"
# A word of these scripts may follow an address without a space.
GLUED_SCRIPTS = UNSPACED | {"Hang"}
# Where upper, lower and title case are to give one term, and the folding of Unicode alone does not.
FOLDED_BY_RULE = {"\u0130": "i", "\u0131": "i"}


def composition_seconds() -> set[int]:
    """Code points that may compose with one before them (NFC quick check "maybe")."""
    seconds = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    for point in range(LAST + 1):
        decomposition = ucd.decomposition(chr(point))
        if decomposition and not decomposition.startswith("<"):
            parts = [int(part, 16) for part in decomposition.split()]
            if len(parts) == 2 and ucd.normalize("NFC", chr(parts[0]) + chr(parts[1])) == chr(point):
                seconds.add(parts[1])
    # A composed character whose parts begin with such a one composes too: its first part moves to the left.
    return seconds | {point for point in range(LAST + 1) if ord(ucd.normalize("NFD", chr(point))[0]) in seconds}


def classify(point: int, seconds: set[int]) -> int:
    char = chr(point)
    if 0xD800 <= point <= 0xDFFF:
        return OTHER
    category = ucd.category(char)
    # A letter of no one script (the long-vowel mark) counts where all scripts that use it are unspaced.
    scripts = {script(char)} if script(char) in GLUED_SCRIPTS else set(script_extension(char))
    if any(first <= point <= last for first, last in NOTHINGS):
        kind = NOTHING
    elif category[0] == "M":
        kind = MARK
    elif category[0] in "LN":
        kind = UNSPACED_WORD if scripts <= UNSPACED else WORD
    else:
        kind = OTHER
    if ends_url(point, kind):
        kind |= ENDS_URL
    elif kind & 7 in (WORD, UNSPACED_WORD) and scripts <= GLUED_SCRIPTS:
        kind |= GLUED
    if ucd.combining(char) or point in seconds or ucd.normalize("NFC", char) != char:
        kind |= NORMALISE
    if folded(char) is not None:
        kind |= FOLDS
    return kind


def ends_url(point: int, kind: int) -> bool:
    """Whether an address ends before this character, wherever it stands."""
    if point < 0x80:
        return (chr(point).isspace() and kind != NOTHING) or chr(point) in NOT_IN_URLS
    # Full-width and half-width forms are letters too, but of no address.
    return kind == OTHER or (0xFF00 <= point <= 0xFFEF and kind != NOTHING)


def folded(char: str) -> str | None:
    """The full case folding in normal form C, if it is another text."""
    folding = FOLDED_BY_RULE.get(char) or ucd.normalize("NFC", char.casefold())
    return folding if folding != ucd.normalize("NFC", char) else None


def escaped(text: str) -> str:
    return "".join(f"\\u{{{ord(char):X}}}" for char in text)


def rows(values: list[int], width: int) -> str:
    starts = range(0, len(values), width)
    lines = ["    " + ", ".join(map(str, values[start : start + width])) + "," for start in starts]
    return "\n".join(lines)


def main() -> None:
    versions = ucd.unidata_version, unicodedata.unidata_version
    if versions != VERSIONS:
        raise SystemExit(f"tables of Unicode {versions}, not {VERSIONS}: a new format, raise FORMAT_VERSION as well")
    seconds = composition_seconds()
    classes = [classify(point, seconds) for point in range(LAST + 1)]
    blocks: dict[tuple[int, ...], int] = {}
    index = []
    for start in range(0, LAST + 1, BLOCK):
        block = tuple(classes[start : start + BLOCK])
        index.append(blocks.setdefault(block, len(blocks)))
    flat = [value for block in blocks for value in block]
    characters = [chr(point) for point in range(LAST + 1) if not 0xD800 <= point <= 0xDFFF]
    pairs = [(char, folding) for char in characters if (folding := folded(char)) is not None]
    out = pathlib.Path(__file__).parent.parent / "crates/neardup-core/src/unicode_tables.rs"
    out.write_text(
        "//! Generated by `tools/unicode_tables.py`; part of the fingerprint format, do not edit.\n\n"
        f'pub const UNICODE_VERSION: &str = "{ucd.unidata_version}";\n\n'
        "/// Case comes from the interpreter that ran the script: its own, often older, tables.\n"
        f'pub const CASE_VERSION: &str = "{unicodedata.unidata_version}";\n\n'
        f"/// Which block of `CLASSES` describes each run of {BLOCK} code points.\n"
        f"#[rustfmt::skip]\npub static BLOCKS: [u16; {len(index)}] = [\n{rows(index, 24)}\n];\n\n"
        f"/// The class of each code point of a block: kind in the low three bits, then flags.\n"
        f"#[rustfmt::skip]\npub static CLASSES: [u8; {len(flat)}] = [\n{rows(flat, 32)}\n];\n\n"
        "/// Full case foldings in normal form C, sorted by the character.\n"
        f"#[rustfmt::skip]\npub static FOLDINGS: [(char, &str); {len(pairs)}] = [\n"
        + "\n".join(f"    ('{escaped(char)}', \"{escaped(folding)}\")," for char, folding in pairs)
        + "\n];\n"
    )
    print(out.name, len(blocks), "blocks,", len(pairs), "foldings, Unicode", ucd.unidata_version)


if __name__ == "__main__":
    main()
