"""What a run would cost: from rates that were measured on a machine, and from what the detector does with each page.

Idea: a run's work is reading (so much a token, so much a page), matching (so much a page and doubling of the pages:
keys are sorted), and clustering and writing (so much a page). ``calibrate`` measures these in processor seconds, on
made pages, with the detector in question; ``estimate`` multiplies. What goes through memory and the network is not
measured but counted, from the detector's own declaration: bytes of fingerprints, keys, and what Spark's steps send.

Expected pairs follow the papers. Henzinger's similarity graphs (2006, Figs. 1 and 3) have degrees by a power law of
exponent 1.3 (Alg. B) and 1.4 (Alg. C), cut off where a cluster ends; an average degree of 135 and 92, over 1.7 % and
2.2 % of the pages. Here the near-duplicates of a collection have such degrees, cut off at the hot limit.

What Spark itself takes, for planning, compiling, sorting and copying, was measured once: so much a run, and so much a
page, which is told as so much a byte that its steps send, so that detectors that send more cost more.

A prediction is as good as its rates: of this machine, of pages in one language, at the load it had. Hours assume that
all machines are busy all the time, and that reading and matching use every core, and clustering and writing of the
local engine one: a lower bound.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from neardup.engines import Progress, Settings
from neardup.errors import FormatError, UsageError
from neardup.job import dedup
from neardup.methods import Detector, parse
from neardup.plan import Plan
from neardup.sinks import write_json

#: Exponent of the degrees of near-duplicates (Henzinger 2006 §3.2: 1.3 for Alg. B, 1.4 for Alg. C).
DEGREE_EXPONENT: Final = 1.35
#: Pages that are made at a time.
_BLOCK: Final = 20_000
#: Share of an identity set's or page's other bytes: id, URL, title, source, offsets; in memory while a run goes on.
_BYTES_A_PAGE: Final = 250
#: Bytes of a Spark row beside its values, and what its compression (lz4) leaves of numbers that look random.
_ROW_OVERHEAD: Final = 24


#: Processor seconds that Spark itself took, on the machine of the documentation: a run, whatever its size, and a byte
#: that is sent as ``shuffle_bytes`` counts it. Fitted to runs of 200,000 and a million pages; see the documentation.
SPARK_RUN: Final = 63.0
SPARK_BYTE: Final = 2.4e-8
#: What of a byte is sent: Spark compresses. As measured with 100,000 pages, every join by a shuffle.
SENT: Final = 0.32


@dataclass(frozen=True, slots=True)
class Rates:
    """Processor seconds of one core, as measured with one detector."""

    detector: str
    #: Reading and fingerprinting, a page and a token of it.
    page: float
    token: float
    #: Matching, a page and doubling of the number of pages.
    match: float
    #: Clustering and writing, a page.
    cluster: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


#: Rates of one core of the machine on which the figures in the documentation were measured.
BUILT_IN: Final = Rates("site-aware", page=1.48e-6, token=2.73e-8, match=1.36e-7, cluster=1.89e-6)


@dataclass(slots=True)
class _Clock(Progress):
    """Processor seconds of every stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    _name: str = ""
    _start: float = 0.0

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        self._name, self._start = stage, time.process_time()

    def advance(self, pages: int, nbytes: int) -> None:
        pass

    def end(self) -> None:
        self.seconds[self._name] = self.seconds.get(self._name, 0.0) + time.process_time() - self._start


def made_pages(count: int, tokens: int, duplicates: float, seed: int = 0) -> list[dict[str, str]]:
    """Pages of made-up words, a share of them near-duplicates of others, on a thousand sites.

    >>> pages = made_pages(10, 50, 0.3)
    >>> len(pages), len(pages[0]["text"].split())
    (10, 50)
    """
    random = np.random.default_rng(seed)
    vocabulary = np.array([f"w{number:x}" for number in range(50_000)], dtype=object)
    drawn = (random.random((count, tokens)) ** 3 * len(vocabulary)).astype(np.int64)
    copies = np.flatnonzero(random.random(count) < duplicates)
    copies = copies[copies > 0]
    # Every copy is of a page a little before it, with about one word in a hundred of its own.
    of = np.maximum(0, copies - 1 - (random.pareto(DEGREE_EXPONENT, len(copies)) * 3).astype(np.int64) % 1000)
    own = random.random((len(copies), tokens)) < 0.01
    drawn[copies] = np.where(own, drawn[copies], drawn[of])
    sites = random.integers(0, 1000, count)
    return [
        {"id": str(at), "url": f"http://site{sites[at]}.example/{at}", "text": " ".join(vocabulary[drawn[at]])}
        for at in range(count)
    ]


def write_pages(path: Path, count: int, tokens: int, duplicates: float) -> Path:
    """Made pages as lines of JSON, a block at a time."""
    with open(path, "w", encoding="utf-8") as file:
        for number, start in enumerate(range(0, count, _BLOCK)):
            made = made_pages(min(_BLOCK, count - start), tokens, duplicates, seed=number)
            file.writelines(json.dumps(page | {"id": f"{number}-{page['id']}"}) + "\n" for page in made)
    return path


def measure(path: Path, detector: Detector, folder: Path, threads: int = 0) -> dict[str, float]:
    """Processor seconds of each stage of a run of the local engine over a file."""
    clock = _Clock()
    dedup(path, folder, detector=detector, settings=Settings(threads=threads), progress=clock, overwrite=True)
    return clock.seconds


def calibrate(detector: str | Detector, *, pages: int = 50_000, threads: int = 0) -> Rates:
    """Measures the rates with runs over made pages: reading at two lengths of page, the rest at one.

    >>> calibrate("exact", pages=400).token >= 0
    True
    """
    if pages < 400:
        raise UsageError("so few pages measure nothing", hint="give at least 400")
    chosen = parse(detector)
    few, many = 60, 300
    with tempfile.TemporaryDirectory(prefix="neardup-calibrate-") as name:
        folder = Path(name)
        # The first run also pays for what is loaded once.
        measure(write_pages(folder / "warm.jsonl", 400, few, 0.3), chosen, folder / "out", threads)
        short = measure(write_pages(folder / "short.jsonl", pages, few, 0.3), chosen, folder / "out", threads)
        long = measure(write_pages(folder / "long.jsonl", pages, many, 0.3), chosen, folder / "out", threads)
    token = max(0.0, (long["reading"] - short["reading"]) / pages / (many - few))
    matching = long["matching"] + long.get("statistics", 0.0)
    return Rates(
        str(chosen),
        page=max(0.0, long["reading"] / pages - many * token),
        token=token,
        match=matching / (pages * math.log2(pages)),
        cluster=(long["clustering"] + long["writing"]) / pages,
    )


def predicted(rates: Rates, pages: float, tokens: float) -> dict[str, float]:
    """Processor seconds of each stage of the local engine; clustering is told with writing.

    >>> rates = Rates("exact", page=1e-6, token=1e-8, match=1e-7, cluster=1e-6)
    >>> round(predicted(rates, 1e6, 100)["reading"], 6)
    2.0
    """
    return {
        "reading": pages * (rates.page + tokens * rates.token),
        "matching": pages * max(1.0, math.log2(pages)) * rates.match,
        "clustering": pages * rates.cluster,
    }


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would cost; ``to_json`` has all of it."""

    detector: str
    pages: float
    tokens: float
    duplicates: float
    machines: int
    cores: int
    fingerprint_bytes: int
    keys: int
    pairs: float
    #: Processor hours of each stage, hours by the clock, and bytes of memory: by engine.
    local: dict[str, Any]
    spark: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def expected_pairs(pages: float, duplicates: float, hot: int) -> float:
    """Accepted pairs of a collection, a share of whose pages has near-duplicates, with degrees by a power law.

    >>> round(expected_pairs(1.6e9, 0.02, 20_000) / 1e9, 1) > 1
    True
    """
    most = max(2.0, min(float(hot), pages * duplicates))
    degrees = np.unique(np.geomspace(1, most, 4000).astype(np.int64)).astype(np.float64)
    weight = degrees**-DEGREE_EXPONENT * np.diff(degrees, append=degrees[-1] + 1)
    return float(pages * duplicates * (weight * degrees).sum() / weight.sum() / 2)


def estimate(
    detector: str | Detector,
    *,
    pages: float,
    tokens: float = 400,
    duplicates: float = 0.3,
    machines: int = 1,
    cores: int = 1,
    network: float = 1.25e9,
    rates: Rates = BUILT_IN,
) -> Estimate:
    """What a run over so many pages would cost. ``network`` is bytes a second between one machine and the others.

    >>> found = estimate("site-aware", pages=1.6e9, machines=100, cores=16)
    >>> found.fingerprint_bytes, found.keys, found.local["dominates"]
    (128, 27, 'clustering')
    """
    if pages < 1 or tokens < 1 or not 0 <= duplicates <= 1 or machines < 1 or cores < 1:
        raise UsageError("pages, tokens, machines and cores are at least 1, and duplicates a share from 0 to 1")
    chosen = parse(detector)
    held, keys, sent = Plan(chosen).cost(tokens)
    pairs = expected_pairs(pages, duplicates, Settings().hot_beyond(int(pages)))
    seconds = predicted(rates, pages, tokens)
    walls = {name: spent / (cores if name != "clustering" else 1) for name, spent in seconds.items()}
    local = {
        "processor_hours": {name: spent / 3600 for name, spent in seconds.items()},
        "hours": sum(walls.values()) / 3600,
        "memory": pages * (held + _BYTES_A_PAGE) + 32 * pairs,
        "dominates": max(walls, key=lambda name: walls[name]),
    }
    plain = pages * shuffle_bytes(held, keys, sent, duplicates)
    shuffle = SENT * plain
    on_spark = spark_seconds(seconds, plain)
    spark_walls = {name: spent / (machines * cores) for name, spent in on_spark.items()}
    spark_walls["shuffle"] = shuffle / (machines * network)
    # What a run costs whatever its size does not get less by more machines.
    spark_walls["Spark itself"] += SPARK_RUN * (1 - 1 / (machines * cores))
    spark = {
        "processor_hours": {name: spent / 3600 for name, spent in on_spark.items()},
        "hours": sum(spark_walls.values()) / 3600,
        "shuffle": shuffle,
        "working": pages * (held + _BYTES_A_PAGE + keys * duplicates * 40),
        "memory": plain / machines / 8 + cores * (256 << 20),
        "dominates": max(spark_walls, key=lambda name: spark_walls[name]),
    }
    return Estimate(str(chosen), pages, tokens, duplicates, machines, cores, held, keys, pairs, local, spark)


def spark_seconds(kernels: dict[str, float], shuffle: float) -> dict[str, float]:
    """Processor seconds on Spark: those of the kernels, and its own.

    >>> spark_seconds({"reading": 10.0}, 1e9)
    {'reading': 10.0, 'Spark itself': 87.0}
    """
    return kernels | {"Spark itself": SPARK_RUN + SPARK_BYTE * shuffle}


def shuffle_bytes(held: int, keys: int, sent: int, duplicates: float) -> float:
    """Bytes a page that Spark's steps send: identity sets and ids, entries, what meets in buckets, the tables."""
    identity = 2 * (16 + 16 + 20 + _ROW_OVERHEAD) + held + _ROW_OVERHEAD
    entries = keys * (20 + _ROW_OVERHEAD)
    # A page that has near-duplicates shares most of its keys.
    buckets = duplicates * keys * 2 * (sent + 40 + _ROW_OVERHEAD)
    tables = 6 * (_BYTES_A_PAGE / 2 + _ROW_OVERHEAD)
    return float(identity + entries + buckets + tables)


def rates_file() -> Path:
    """Where measured rates are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "neardup" / "rates.json"


def save_rates(rates: Rates, path: Path | None = None) -> Path:
    """Keeps rates for later estimates; those of other detectors stay."""
    target = path or rates_file()
    known = {name: one.to_json() for name, one in _saved(target).items()}
    target.parent.mkdir(parents=True, exist_ok=True)
    write_json(known | {rates.detector: rates.to_json()}, target)
    return target


def known_rates(detector: str | Detector, path: Path | None = None) -> Rates | None:
    """The rates that were measured with a detector on this machine."""
    return _saved(path or rates_file()).get(str(parse(detector)))


def _saved(path: Path) -> dict[str, Rates]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {name: Rates(**one) for name, one in told.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError):
        raise FormatError(
            "not a file of measured rates", where=str(path), hint="remove it and calibrate again"
        ) from None
