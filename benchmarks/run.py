"""The entry of the suite: ``python -m benchmarks.run [--quick] [--only PART…]``; see README.md."""

from __future__ import annotations

import argparse
import compileall
import io
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from benchmarks import (
    collection,
    corpus,
    formats,
    growth,
    index_rates,
    memory,
    record,
    rendering,
    single_passes,
    stages,
    start_up,
    study,
    text_to_clusters,
    warc_to_clusters,
)
from benchmarks.corpus import Corpora
from benchmarks.kernels import count
from benchmarks.places import ROOT, Places
from benchmarks.plan import FASTEST, FULL, QUICK, Plan
from benchmarks.sections import Section, table

Part = Callable[[Places, Plan, Corpora], list[Section]]


def _kernels(_places: Places, _plan: Plan, _corpora: Corpora) -> list[Section]:
    print("Kernels, instructions", flush=True)
    return [count.report()]


#: The parts in the order of the record.
PARTS: Final[dict[str, Part]] = {
    "collection": collection.report,
    "text": text_to_clusters.report,
    "passes": single_passes.report,
    "warc": warc_to_clusters.report,
    "formats": formats.report,
    "start-up": start_up.report,
    "study": study.report,
    "rendering": rendering.report,
    "stages": stages.report,
    "growth": growth.report,
    "memory": memory.report,
    "index": index_rates.report,
    "kernels": _kernels,
}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a small version, in under 3 minutes")
    options.add_argument("--only", nargs="+", choices=list(PARTS), metavar="PART", help=", ".join(PARTS))
    options.add_argument("--neardup", metavar="FILE", help="the command to measure (default: this environment's)")
    options.add_argument(
        "--fastest", action="store_true", help="of the peers only the two fastest, in a third of the time"
    )
    chosen = options.parse_args()
    plan = QUICK if chosen.quick else FULL
    if chosen.fastest:
        plan = replace(plan, peers=FASTEST, slow_peers=False)
    places = Places.from_environment(chosen.neardup)
    if not places.neardup.exists():
        raise SystemExit(f"there is no command {places.neardup}; build it first (make bench does)")
    # Installers write bytecode, as those of the peers did; without it every start would compile our modules anew.
    compileall.compile_dir(ROOT / "python" / "neardup", quiet=1)
    # Long runs are watched through pipes and log files.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    begun = time.monotonic()
    about = record.machine()
    if places.data is None:
        print("NEARDUP_DATA is not set: pages are generated")
    print("Corpora", flush=True)
    corpora = corpus.prepare(places, plan)
    sections: list[Section] = []
    failures: dict[str, str] = {}
    for name in chosen.only or PARTS:
        try:
            sections += PARTS[name](places, plan, corpora)
        # One part that breaks must not cost the hours of the others; it is named in the record and in the exit code.
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            failures[name] = places.public(f"{type(error).__name__}: {error}")
    for section in sections:
        print(f"\n{section.markdown()}", end="")
    claims = [claim.cells() for section in sections for claim in section.claims]
    if claims:
        print("\n" + table(("what", "asked", "reached", ""), claims))
    left_out = [name for name in PARTS if chosen.only and name not in chosen.only]
    written = record.write(places, plan, corpora.origin, about, sections, failures, left_out)
    print(f"\n{written}")
    print(f"{time.monotonic() - begun:.0f} s in all")
    if failures:
        sys.exit(f"failed: {', '.join(failures)}")


if __name__ == "__main__":
    main()
