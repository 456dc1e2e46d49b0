"""Prints every library that building, running and testing needs, one a line, from pyproject.toml."""

import pathlib
import tomllib

project = tomllib.loads((pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text())
names = list(project["project"]["dependencies"])
for group in project["dependency-groups"].values():
    names += group
print("\n".join(f"'{name}'" for name in names))
