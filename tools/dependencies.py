"""Prints the libraries that running needs and those of the named dependency groups, one a line, from pyproject.toml."""

import pathlib
import sys
import tomllib

project = tomllib.loads((pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text())
names = list(project["project"]["dependencies"])
for group in sys.argv[1:]:
    names += project["dependency-groups"][group]
print("\n".join(f"'{name}'" for name in names))
