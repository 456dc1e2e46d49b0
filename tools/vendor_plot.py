"""Bundles the plotting library of reports: Observable Plot, only the marks that are used, with all licences beside it.

Needs npm. Run by hand when the version is to change: ``.venv/bin/python tools/vendor_plot.py``. The same versions give
the same file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

PLOT, ESBUILD = "0.6.17", "0.25.12"
ENTRY = 'export {plot, rectY, barX, dot, line, ruleX, ruleY, tip, pointer, pointerX} from "@observablehq/plot";\n'
FOLDER = Path(__file__).parent.parent / "python" / "neardup" / "report" / "assets"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "entry.js").write_text(ENTRY)
        (folder / "package.json").write_text("{}")
        run = ["npm", "install", "--silent", "--no-audit", f"@observablehq/plot@{PLOT}", f"esbuild@{ESBUILD}"]
        subprocess.run(run, cwd=folder, check=True)
        meta = folder / "meta.json"
        subprocess.run(
            ["node_modules/.bin/esbuild", "entry.js", "--bundle", "--minify", "--format=iife", "--global-name=Plot",
             "--legal-comments=none", "--outfile=plot.min.js", f"--metafile={meta}"],
            cwd=folder, check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        used = sorted({package_of(path) for path in json.loads(meta.read_text())["inputs"] if "node_modules" in path})
        licences = []
        for package in used:
            home = folder / "node_modules" / package
            about = json.loads((home / "package.json").read_text())
            text = next(home.glob("LICEN[SC]E*"), None)
            if text is None:
                sys.exit(f"{package} has no licence file")
            licences.append(f"{package} {about['version']} ({about['license']})\n\n{text.read_text().strip()}\n")
        bundle = (folder / "plot.min.js").read_text()
        if "</script" in bundle.lower():
            sys.exit("the bundle cannot stand inside an HTML page")
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "plot.min.js").write_text(bundle)
    (FOLDER / "plot.LICENSES.txt").write_text(f"\n{'-' * 80}\n\n".join(licences))
    print(f"{len(bundle):,} bytes of {', '.join(used)}")


def package_of(path: str) -> str:
    """The package that a file of node_modules belongs to."""
    parts = path.split("node_modules/")[-1].split("/")
    return "/".join(parts[:2]) if parts[0].startswith("@") else parts[0]


if __name__ == "__main__":
    main()
