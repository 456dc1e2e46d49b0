"""The peers' environments: one each, so that what they pin does not disturb the others.

A peer that cannot be installed is a line in the record, never a gap in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.places import Places

#: Environment → what pip installs into it. Versions are pinned: a record is compared with later ones.
REQUIREMENTS: Final = {
    # Not a peer of ours but what peers are fed with and judged by.
    "tools": ("scipy>=1.14", "numpy>=2", "matplotlib>=3.9"),
    "pages": ("resiliparse==1.1.0", "fastwarc>=1.1,<2", "selectolax==1.0.2"),
    "gaoya": ("gaoya==0.2.2",),
    "rensa": ("rensa==0.5.0",),
    "datasketch": ("datasketch==2.0.0", "xxhash>=3", "redis>=5"),
    "text-dedup": ("text-dedup==0.4.0",),
    # Its MinHash stage tokenises with spaCy, which its own extras do not bring.
    "datatrove": ("datatrove[io,processing]==0.10.1", "spacy>=3.8"),
}

_INSTALL_SECONDS: Final = 1800


@dataclass(frozen=True)
class Environment:
    """An environment that is ready, or the reason why it is not."""

    name: str
    python: Path
    trouble: str | None = None


def prepare(places: Places, name: str) -> Environment:
    """The environment of a name, installed if it is not there yet."""
    folder = places.work / "venvs" / name
    python = folder / "bin" / "python"
    wanted = "\n".join(REQUIREMENTS[name])
    stamp = folder / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return Environment(name, python)
    print(f"  installing {', '.join(REQUIREMENTS[name])}", flush=True)
    try:
        if not python.exists():
            venv.create(folder, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS[name]],
            check=True,
            capture_output=True,
            text=True,
            timeout=_INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Environment(name, python, f"not installed within {_INSTALL_SECONDS} s")
    except (subprocess.CalledProcessError, OSError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        places.log(f"pip-{name}").write_text("\n".join(said))
        last = next((line for line in reversed(said) if "ERROR" in line), said[-1] if said else "no reason given")
        return Environment(name, python, places.public(f"could not be installed: {last}"))
    stamp.write_text(wanted)
    return Environment(name, python)


def require(places: Places, name: str) -> Path:
    """The Python of an environment without which the suite cannot go on."""
    environment = prepare(places, name)
    if environment.trouble:
        raise RuntimeError(f"environment {name!r}: {environment.trouble}")
    return environment.python


def versions(places: Places) -> dict[str, str]:
    """What is installed of each requirement, for the record."""
    ask = (
        "import json, sys; from importlib import metadata; "
        "print(json.dumps({name: metadata.version(name) for name in sys.argv[1:]}))"
    )
    found: dict[str, str] = {}
    for name, requirements in REQUIREMENTS.items():
        folder = places.work / "venvs" / name
        if not (folder / "installed.txt").exists():
            continue
        names = [requirement.split("=")[0].split(">")[0].split("[")[0] for requirement in requirements]
        answer = subprocess.run(
            [folder / "bin" / "python", "-c", ask, *names], check=True, capture_output=True, text=True
        )
        found.update(json.loads(answer.stdout))
    found["python"] = sys.version.split()[0]
    return dict(sorted(found.items()))
