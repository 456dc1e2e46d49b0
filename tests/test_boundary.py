"""The boundary to Rust stays small: few names, few parameters, and results that say what is what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import neardup

STUB = ast.parse((Path(neardup.__file__).parent / "_native.pyi").read_text())
#: Functions, classes and constants that Python sees. Fewer are welcome; more need a reason.
MOST_NAMES = 89
MOST_PARAMETERS = 8
LONGEST_TUPLE = 3
#: Which parts of a page are streamed is five flags beside its four columns.
MANY_PARAMETERS = {"content_streams"}
LONG_TUPLES = {
    "IndexStore.stats",
    "IndexStore.verify",
    "IndexStore.verify_folder",
    "SampleIndex.partners",
    "anatomy",
    "build_postings",
    "terms",
    "united",
}


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function and method, with the name it has in the module."""
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{part.name}", part) for part in node.body if isinstance(part, ast.FunctionDef))


def parameters(function: ast.FunctionDef) -> list[str]:
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


def longest_tuple(result: ast.expr | None) -> int:
    """How many things the longest tuple in a result holds."""
    sizes = [
        len(node.slice.elts)
        for node in (ast.walk(result) if result is not None else ())
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "tuple" and isinstance(node.slice, ast.Tuple)
    ]
    return max(sizes, default=0)


def test_what_is_looked_at_is_there() -> None:
    known = dict(functions())
    assert len(known) > 150
    assert parameters(known["align"]) == ["tokens", "a", "b"]
    assert parameters(known["Repeats.merge"]) == ["other"]
    assert longest_tuple(known["united"].returns) == 4
    assert longest_tuple(ast.parse("list[tuple[int, int, int, int, int]] | None", mode="eval").body) == 5


def test_few_names_cross_the_boundary() -> None:
    (names,) = (
        ast.literal_eval(node.value)
        for node in STUB.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert len(names) == len(set(names)) <= MOST_NAMES


def test_no_function_has_many_parameters() -> None:
    assert {name for name, node in functions() if len(parameters(node)) > MOST_PARAMETERS} == MANY_PARAMETERS


def test_no_result_is_a_long_tuple_without_names() -> None:
    assert {name for name, node in functions() if longest_tuple(node.returns) > LONGEST_TUPLE} == LONG_TUPLES
