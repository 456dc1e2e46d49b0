"""Errors of the Rust crates: one enum a crate, one place where they become exceptions, and only damage says damage."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neardup import Index, _native
from neardup.errors import FormatError, InputError, OutputError, UsageError

CRATES = Path(__file__).parent.parent / "crates"
#: A result whose error is text, or a reference to some, wherever its own type stands.
TEXT = re.compile(r"\bResult<(?:[^<>;={}]|<(?:[^<>]|<[^<>]*>)*>)*,\s*(?:String|&'static str|&str|Cow<[^<>]*>)>")


def code(path: Path) -> str:
    """A file without the tests at its end."""
    return path.read_text().split("#[cfg(test)]\nmod tests", 1)[0]


def test_the_pattern_finds_what_it_is_for() -> None:
    for text in ("Result<(), String>", "Result<Vec<(u8, Map<K, V>)>, String>", "std::result::Result<u8, &'static str>"):
        assert TEXT.search(f"fn f() -> {text} {{")
    for other in ("Result<String>", "Result<Vec<String>>", "Result<Option<String>, Error>", "PyResult<(u8, String)>"):
        assert not TEXT.search(f"fn f() -> {other} {{"), other


@pytest.mark.parametrize("crate", ["neardup-core", "neardup-engine", "neardup-index", "neardup-python"])
def test_no_error_is_mere_text(crate: str) -> None:
    files = sorted((CRATES / crate / "src").rglob("*.rs"))
    assert files
    named = [f"{path.name}: {match[0]}" for path in files for match in TEXT.finditer(code(path))]
    assert named == []


def test_errors_of_an_index_become_exceptions_in_one_place() -> None:
    boundary = CRATES / "neardup-python" / "src"
    places = [
        path.name for path in boundary.glob("*.rs") if re.search(r"\b(Index)?Error::(Damaged|Locked)\b", code(path))
    ]
    assert places == ["errors.rs"]


def test_exceptions_are_made_in_one_place() -> None:
    boundary = CRATES / "neardup-python" / "src"
    made = {path.name: code(path).count("new_err(") for path in boundary.rglob("*.rs")}
    assert made.pop("errors.rs") > 5
    assert {name: count for name, count in made.items() if count} == {}


@pytest.mark.parametrize(
    ("raised", "expected", "words"),
    [
        (_native.DamagedError("tables/0.jnl: batch 2 has no end"), FormatError, "the index is damaged: tables/0.jnl"),
        (_native.LockedError("open elsewhere"), InputError, "open elsewhere"),
        (_native.StoreError("No space left on device"), OutputError, "cannot be read or written: No space"),
        (OSError("No space left on device"), OutputError, "cannot be read or written: No space"),
        (_native.CallError("the index is full"), UsageError, "the index is full"),
    ],
)
def test_only_damage_is_called_damage(tmp_path: Path, raised: Exception, expected: type[Exception], words: str) -> None:
    Index.create(tmp_path / "index", "combined")
    with Index(tmp_path / "index") as index:

        class Broken:
            def ids(self, most: int) -> None:
                raise raised

            def close(self) -> None:
                pass

        index._store.close()
        index._store = Broken()  # type: ignore[assignment]
        with pytest.raises(expected, match=words) as told:
            index.ids()
        assert ("damaged" in str(told.value)) == isinstance(raised, _native.DamagedError)


@pytest.mark.parametrize("kind", [RuntimeError, ValueError, TypeError])
def test_a_fault_of_ours_is_not_the_disk_s(tmp_path: Path, kind: type[Exception]) -> None:
    Index.create(tmp_path / "index", "combined")
    with Index(tmp_path / "index") as index:

        class Broken:
            def ids(self, most: int) -> None:
                raise kind("a fault of ours")

            def close(self) -> None:
                pass

        index._store.close()
        index._store = Broken()  # type: ignore[assignment]
        with pytest.raises(kind, match="a fault of ours"):
            index.ids()
