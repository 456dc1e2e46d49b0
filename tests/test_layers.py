"""The layers of the package: a module may import only what stands above its own package in the list.

Imports are read off the source, those inside functions and under TYPE_CHECKING included: a layer that is skipped
lazily is skipped all the same.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup

ROOT = Path(neardup.__file__).parent

#: From the ground up. What is not there yet has its place already.
LAYERS = [
    {"errors", "version", "lazy", "record", "answers", "several", "page", "selection", "spreadsheet"}
    | {"workers", "writing", "_native"},
    {"text"},
    {"methods"},
    {"plan"},
    {"sources"},
    {"sinks"},
    {"graph"},
    {"engines"},
    {"results"},
    {"comparison"},
    {"report"},
    {"job"},
    {"estimate"},
    {"client"},
    {"index"},
    {"service"},
    {"integrations"},
    {"signals"},
    {"render"},
    {"evaluation"},
    {"study"},
    {"web"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
#: The generated web is a leaf: it knows only what an error is, and only the command line knows it.
LEAF = "testing"
LEAF_MAY_IMPORT = {"errors", LEAF}
#: Libraries of the extras, imported where they are needed and behind a helpful error.
OPTIONAL = {
    "duckdb", "fastapi", "ir_measures", "jinja2", "markupsafe", "matplotlib", "pandas", "playwright", "polars",
    "prometheus_client", "pyspark", "scrapy", "sklearn", "starlette", "threadpoolctl", "twisted", "uvicorn",
}  # fmt: skip

#: This package, for a process that looks at nothing else.
_PATH = f"import sys; sys.path.insert(0, {str(ROOT.parent)!r}); "

#: Modules that are imported only once their library is known to be there.
BEHIND = {"service/routes.py": {"fastapi", "starlette"}}

#: Folders inside packages, with the sibling folders that their files may import.
FOLDERS: dict[str, dict[str, set[str]]] = {
    "engines": {"common": set(), "local": {"common"}, "spark": {"common"}},
}

MODULES = sorted(ROOT.rglob("*.py"))


def layer_of(path: Path) -> str:
    """The package or top-level module that a file belongs to; the package's own __init__ is ''."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py") if first != "__init__.py" else ""


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Full names of everything imported anywhere in a module, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative imports hide the layer"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def own_layers(path: Path) -> Iterator[tuple[str, int]]:
    """The layers of neardup that a file imports."""
    homes = vars(neardup)["_HOMES"]
    for name, line in imported(ast.parse(path.read_text(encoding="utf-8"))):
        parts = name.split(".")
        if parts[0] == "neardup" and len(parts) > 1:
            # A name taken from the front door comes from where it lives.
            home = homes[parts[1]].split(".")[1] if parts[1] in homes and len(parts) == 2 else parts[1]
            yield {"__version__": "version"}.get(home, home), line


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_imports_point_to_the_ground(path: Path) -> None:
    own = layer_of(path)
    if own == "":
        return
    for layer, line in own_layers(path):
        where = f"{named(path)}, line {line}: {own} imports {layer}"
        if own == LEAF:
            assert layer in LEAF_MAY_IMPORT, where
        elif layer == LEAF:
            assert own == "cli", f"{where}, which only the command line and tests may"
        else:
            assert own in LEVEL, f"{own} has no place in the list of layers"
            assert layer in LEVEL, f"{where}, which has no place in the list of layers"
            # Inside a package files may import each other; the ground layer's modules too.
            assert layer == own or LEVEL[layer] < LEVEL[own] or LEVEL[own] == LEVEL[layer] == 0, where


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_imports_stay_in_their_folders(path: Path) -> None:
    package, *inside = path.relative_to(ROOT).parts
    if package not in FOLDERS or len(inside) < 2:
        return
    folders = FOLDERS[package]
    own = inside[0]
    assert own in folders, f"{named(path)}: {own} has no place in the list of folders"
    for name, line in imported(ast.parse(path.read_text(encoding="utf-8"))):
        parts = name.split(".")
        if parts[:2] == ["neardup", package]:
            where = f"{named(path)}, line {line}: {own} imports {name}"
            # The package's own names come from any of its folders.
            assert len(parts) > 2, where
            assert parts[2] in {own, *folders[own]}, where


@pytest.mark.parametrize("package", FOLDERS)
def test_every_folder_has_its_place(package: str) -> None:
    here = {path.name for path in (ROOT / package).iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert here == FOLDERS[package].keys()


def test_both_engines_have_files_of_the_same_names() -> None:
    twins = {"reading", "statistics", "identity", "matching", "clustering", "tables", "run"}
    for engine in ("local", "spark"):
        assert twins <= {path.stem for path in (ROOT / "engines" / engine).glob("*.py")}


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_optional_libraries_are_not_imported_at_module_level(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in run_on_import(tree):
        for name, line in imported(node) if isinstance(node, ast.Import | ast.ImportFrom) else ():
            assert name.split(".")[0] not in OPTIONAL - BEHIND.get(named(path), set()), (
                f"{named(path)}, line {line}: {name}"
            )


#: Who reads Parquet: the reader of results, what opens their files, inputs, and files that are no results of runs.
READ_PARQUET = {
    "results/rows.py", "sinks/sealed.py", "sources/parquet.py", "evaluation/judged.py",
    "evaluation/many_signals_report.py", "study/run.py",
}  # fmt: skip


def test_results_are_read_in_one_place() -> None:
    reading = {"ParquetFile", "ParquetDataset", "read_table", "read_schema", "read_metadata"}
    readers = {
        named(path)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in reading
    }
    assert readers == READ_PARQUET


def run_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those inside functions and under TYPE_CHECKING."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from run_on_import(child)


def test_the_base_package_loads_without_the_extras() -> None:
    code = "import sys, neardup, neardup.job, neardup.cli, neardup.testing; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not OPTIONAL & set(done.stdout.split())


def test_the_client_needs_the_standard_library_only() -> None:
    code = "import sys; before = set(sys.modules); import neardup.client; print(*(sys.modules.keys() - before))"
    done = subprocess.run([sys.executable, "-I", "-c", _PATH + code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    ours = {name for name in loaded if name.partition(".")[0] == "neardup"}
    names = {"", ".version", ".lazy", ".errors", ".answers", ".several", ".client"}
    assert ours == {f"neardup{name}" for name in names}
    foreign = {name.partition(".")[0] for name in loaded} - {"neardup"} - sys.stdlib_module_names
    assert foreign == set()


def test_every_package_has_its_place() -> None:
    packages = {layer_of(path) for path in MODULES} - {"", LEAF}
    assert packages <= LEVEL.keys()


def test_public_names_mean_the_same_whatever_was_imported_before() -> None:
    # A submodule takes its name on the package when it is first imported, whatever stood there.
    for path in MODULES:
        if path.name != "__main__.py":
            name = named(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            importlib.import_module("neardup" if name == "__init__" else f"neardup.{name}")
    for name, home in vars(neardup)["_HOMES"].items():
        assert getattr(neardup, name) is getattr(importlib.import_module(home), name), name
    assert set(neardup.__all__) - {"__version__"} == set(vars(neardup)["_HOMES"])
