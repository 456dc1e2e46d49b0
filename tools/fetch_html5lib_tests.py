"""Fetch the html5lib tokenizer tests, the conformance suite of the HTML scanner, into a folder.

The tests ship in the source package of html5lib, so pip fetches them; nothing is copied into the repository.
The folder is printed, ready for the environment variable HTML5LIB_TESTS. Run again, it does nothing.

    python tools/fetch_html5lib_tests.py [FOLDER]
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

PACKAGE = "html5lib==1.1"
INSIDE = "html5lib/tests/testdata/tokenizer/"
#: pip runs the package's setup.py to learn its name, and that needs pkg_resources, which later ones lack.
BUILD_TOOL = "setuptools<81"


def fetch(folder: Path) -> int:
    """Put the `.test` files into `folder`; returns how many are there."""
    present = list(folder.glob("*.test"))
    if present:
        return len(present)
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = Path(scratch_name)
        builder = venv.EnvBuilder(with_pip=True)
        builder.create(scratch / "venv")
        python = builder.ensure_directories(scratch / "venv").env_exe
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", BUILD_TOOL, "wheel"], check=True, stdout=sys.stderr)
        as_source = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest", str(scratch)]
        subprocess.run([*pip, "download", *as_source, PACKAGE], check=True, stdout=sys.stderr)
        (archive,) = scratch.glob("html5lib-*.tar.gz")
        tests = {}
        with tarfile.open(archive) as package:
            for member in package:
                source = package.extractfile(member) if INSIDE in member.name else None
                if source is not None and member.name.endswith(".test"):
                    tests[Path(member.name).name] = source.read()
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in tests.items():
        (folder / name).write_bytes(content)
    return len(tests)


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "target/html5lib-tests").resolve()
    if fetch(folder) == 0:
        print(f"{PACKAGE} holds no {INSIDE}*.test", file=sys.stderr)
        return 1
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
