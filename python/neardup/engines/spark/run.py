"""The Spark engine: the same pages, pairs and clusters as the local engine, from as many machines as Spark has.

Pages are read and fingerprinted by the kernels of the local engine (``mapInArrow``); Spark groups keys, joins, and
finds components; nothing but counts comes to the driver. What every step needs of a page is written down once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.engines.common.accepted import AcceptedPairs, RuleCounts
from neardup.engines.common.default import by_kind, note_default
from neardup.engines.common.earlier import FILE
from neardup.engines.common.layout import Layout
from neardup.engines.common.progress import Progress, Silent, Stopwatch, highest, stages
from neardup.engines.common.run_json import PageCounts, RunFacts
from neardup.engines.common.settings import Settings
from neardup.engines.common.statistics import frozen as frozen_statistics
from neardup.engines.common.tables import AGAINST_OUT
from neardup.engines.common.tally import Tally
from neardup.engines.common.unread import Unread, no_pages_error, strict_error
from neardup.engines.spark import clustering, identity, keys, matching, salting, statistics, tables
from neardup.engines.spark.components import TOGETHER, components
from neardup.engines.spark.failures import explained
from neardup.engines.spark.layout import fingerprint_columns, names_of
from neardup.engines.spark.outcome import SparkOutcome
from neardup.engines.spark.reading import likely_kinds, read_files, read_frame, tally_of
from neardup.engines.spark.salting import Salted, Salting
from neardup.engines.spark.session import need_pyspark, with_options
from neardup.engines.spark.working import Working, working_folder
from neardup.graph.keep import UNDATED, check_dated
from neardup.methods import Detector, parse
from neardup.methods.statistics import CollectionStatistics
from neardup.page import Kinds, Skipped
from neardup.sources import Fields
from neardup.sources.inputs import Inputs
from neardup.sources.kinds import PlainTextMet, first_kinds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run(
    frame: DataFrame,
    detector: str | Detector | None = None,
    settings: Settings | None = None,
    *,
    fields: Fields | None = None,
    order: str | Sequence[str] | None = None,
    working: str | None = None,
    progress: Progress | None = None,
    earlier: Sequence[tuple[str, Path]] = (),
    keep_fingerprints: bool = False,
) -> SparkOutcome:
    """Finds the near-duplicates among the pages of a frame: columns ``text`` or ``html`` and, where there are such,
    ``id``, ``url``, ``date``; others by ``fields``.

    ``order`` names columns that put the pages in order (of equals the first stays); without it they are taken as Spark
    hands them over. ``working`` is a folder that all machines see; by default ``spark.checkpoint.dir``. ``earlier``
    names runs and their files of kept fingerprints; ``keep_fingerprints`` writes such a table.
    """
    need_pyspark()
    fields = fields or Fields()
    request = _Asked(
        frame.sparkSession,
        lambda layout: read_frame(frame, layout, fields, order),
        settings or Settings(),
        working,
        progress or Silent(),
        earlier=earlier,
        keep_fingerprints=keep_fingerprints,
    )
    return request.run(detector, lambda: likely_kinds(frame, fields))


def run_files(
    session: SparkSession,
    source: Inputs,
    detector: str | Detector | None = None,
    settings: Settings | None = None,
    *,
    working: str | None = None,
    progress: Progress | None = None,
    earlier: Sequence[tuple[str, Path]] = (),
    keep_fingerprints: bool = False,
) -> SparkOutcome:
    """The same for files that all machines see, each read whole by one task."""
    request = _Asked(
        session,
        lambda layout: read_files(session, source, layout),
        settings or Settings(),
        working,
        progress or Silent(),
        source.nbytes(),
        earlier,
        keep_fingerprints,
        source.unread,
    )
    return request.run(detector, lambda: first_kinds(source))


@dataclass(frozen=True)
class _Asked:
    """What to run over."""

    session: SparkSession
    read: Callable[[Layout], DataFrame]
    settings: Settings
    #: The folder in which the working folder is to be.
    parent: str | None
    progress: Progress
    nbytes: int | None = None
    earlier: Sequence[tuple[str, Path]] = ()
    keep_fingerprints: bool = False
    #: Files that were left out of the folders of the input.
    left: Sequence[Skipped] = ()

    def run(self, detector: str | Detector | None, first: Callable[[], Kinds]) -> SparkOutcome:
        """A run with the detector that was named, or with the default for the pages; ``first`` says what these likely
        are."""
        if detector is not None:
            return self._attempt(parse(detector), False)
        outcome = by_kind(first(), self._attempt)
        note_default(outcome.report)
        return outcome

    def _attempt(self, detector: Detector, markup_only: bool) -> SparkOutcome:
        working = working_folder(self.session, self.parent)
        try:
            with with_options(self.session), explained():
                layout = Layout(detector, self.settings)
                attempt = _Run(
                    layout,
                    working,
                    Stopwatch(self.progress),
                    self.earlier,
                    self.keep_fingerprints,
                    markup_only,
                    self.left,
                )
                return attempt.outcome(self.read, self.nbytes)
        except BaseException:
            working.close()
            raise


@dataclass
class _Matched:
    first: DataFrame
    sets: DataFrame
    pairs: DataFrame
    rules: list[RuleCounts]
    #: Rows of units of which two may have an accepted pair that is not among the pairs, if there are any.
    crowded: DataFrame | None


@dataclass
class _Run:
    layout: Layout
    working: Working
    watch: Stopwatch
    earlier: Sequence[tuple[str, Path]] = ()
    keep_fingerprints: bool = False
    #: Whether a page of plain text ends the run.
    markup_only: bool = False
    #: Files that were left out of the folders of the input.
    left: Sequence[Skipped] = ()
    #: Edges that one task joins; fewer in tests, so that stars are contracted.
    together: int = TOGETHER
    salting: Salting = field(default_factory=Salting)
    #: What was salted.
    salted: Salted = field(default_factory=Salted)

    def outcome(self, read: Callable[[Layout], DataFrame], nbytes: int | None) -> SparkOutcome:
        layout, keep = self.layout, self.working.keep
        settings = layout.settings
        frozen = frozen_statistics(settings, layout.detector)
        with self.watch.stage("reading", nbytes):
            parts = keep(read(layout), "parts")
            tally, unread = tally_of(parts, self.left)
            self._check(tally, unread)
            if self.markup_only and tally.kinds.text:
                raise PlainTextMet
            pages = identity.numbered(parts, layout)
            undated = 0
            if settings.keep == "newest":
                undated = pages.where(f"preference = {UNDATED}").count()
                check_dated(undated, tally.pages)
            if settings.keep == "most-linked":
                pages = keep(pages, "pages")
            self.watch.progress.advance(tally.pages, nbytes or tally.nbytes)
        with self.watch.stage("identity sets"):
            before = identity.earlier_pages(self.working.session, self.earlier)
            if before is not None:
                pages = pages.unionByName(before, allowMissingColumns=True)
            sets = keep(identity.units(pages, layout), "sets")
            first = keep(identity.first_members(pages, sets, layout, before is not None), "first")
        counted = None
        if layout.detector.counted():
            with self.watch.stage("statistics"):
                counted = frozen or statistics.count(pages, first, layout)
                first = keep(statistics.with_late_fingerprints(first, layout, counted), "first")
        with self.watch.stage("matching"):
            matched = self._match(first, sets, tally.pages)
        with self.watch.stage("clustering"):
            outcome, accepted, counts = self._tables(pages, matched, tally, counted)
        facts = RunFacts(
            engine="spark",
            detector=layout.detector,
            settings=settings,
            hot=settings.hot_beyond(tally.pages),
            statistics=counted,
            against=self.earlier,
            pages=replace(counts, undated=undated),
            rules=matched.rules,
            accepted=accepted,
            tally=tally,
            unread=unread,
            no_sites=self._without_sites(pages),
        )
        measured = stages(self.watch.stages)
        outcome.report |= facts.to_json() | {
            "stages": measured,
            "peak_memory": highest(measured),
            "spark": {"version": self.working.session.version, "salted": self.salted.to_json()},
        }
        return outcome

    def _without_sites(self, pages: DataFrame) -> bool:
        """Whether no page of this input has a site."""
        return pages.where("row >= 0 and site is not null").isEmpty()

    def _check(self, tally: Tally, unread: Unread) -> None:
        if self.layout.settings.strict and tally.skipped:
            raise strict_error(unread.records[0])
        if not tally.pages:
            first = unread.records[0] if unread.records else None
            raise no_pages_error(tally, first, "is it empty, or are the columns others?")

    def _match(self, first: DataFrame, sets: DataFrame, pages: int) -> _Matched:
        from pyspark.sql import functions as F

        layout, keep = self.layout, self.working.keep
        # No key is shared by more pages than there are; of earlier runs it is not known how many.
        hot = layout.settings.hot_beyond(pages)
        crowded = self.working if self.earlier or pages > hot else None
        if layout.key_lists:
            first = keep(keys.rarest(first, layout, hot, crowded), "first")
        met = keep(keys.shared(first, layout, hot, crowded), "entries")
        sizes = keys.bucket_sizes(met)
        limit = keys.hot_limit(sizes, hot, layout.settings.most_possible(pages))
        found = keep(matching.ordinary(met.where(F.col("entries") <= limit), first, layout), "found")
        if layout.sets:
            found = keep(matching.verified(found, first, layout), "verified")
        if any(entries > limit for _, entries, _ in sizes):
            found = found.unionByName(self._resolved(met.where(F.col("entries") > limit), found, first, sets, pages))
        # Of pairs among earlier pages nobody asks.
        united = matching.united(found, layout).where("b >= 0")
        pairs = keep(matching.calibrated(united, layout), "pairs")
        unsure = matching.undecided(pairs, layout)
        # Rows with a pair, and rows that count.
        told = found.groupBy("rule").agg(F.sum("counted"), F.sum("accepted"), F.sum("unscored"), F.count("a"))
        counts = {row[0]: [int(row[at] or 0) for at in (1, 2, 3, 4)] for row in told.collect()}
        rules = []
        for at, rule in enumerate(layout.rules):
            candidates, accepted, unscored, recorded = counts.get(at, [0, 0, 0, 0])
            mine = [(entries, buckets) for of_rule, entries, buckets in sizes if of_rule == at]
            largest = max((entries for entries, _ in mine), default=0)
            hot = sum(buckets for entries, buckets in mine if entries > limit)
            unrecorded = max(0, accepted - recorded)
            rules.append(
                RuleCounts(rule.name, candidates, accepted, largest, hot, unscored, unsure.get(at), unrecorded)
            )
        partly = [at for at, rule in enumerate(rules) if rule.unscored or rule.unrecorded]
        in_hot = met.where((F.col("entries") > limit) & keys.rule_of_entry().isin(partly)).select("row").distinct()
        return _Matched(first, sets, pairs, rules, in_hot if partly else None)

    def _resolved(self, hot: DataFrame, found: DataFrame, first: DataFrame, sets: DataFrame, pages: int) -> DataFrame:
        """What hot buckets add to the pairs found."""
        from pyspark.sql import functions as F

        layout, working = self.layout, self.working
        listed = F.collect_list(F.struct("column", "key", "site")).alias("hot")
        entries = working.keep(hot.groupBy("row").agg(listed), "hot-entries")
        tied = found.where("a is not null").select("a", "b")
        if layout.detector.looks_at_sites:
            tied = tied.unionByName(identity.twins(sets))
        groups = self._hot_groups(hot, tied)
        groups, self.salted = salting.apart(groups, entries, tied, first, layout, working, self.together, self.salting)
        recorded = layout.settings.most_accepted(pages)
        return working.keep(matching.resolved(groups, entries, first, layout, recorded), "hot")

    def _hot_groups(self, hot: DataFrame, tied: DataFrame) -> DataFrame:
        """The pages that hang together with hot buckets, as ``tied`` or in these, and the group of each."""
        from pyspark.sql import functions as F

        bucket = list(keys.BUCKET)
        # There are few hot buckets, each with very many rows: these stay where they are.
        least = F.broadcast(hot.groupBy(*bucket).agg(F.min("row").alias("b")))
        standing = hot.join(least, bucket).select(F.col("row").alias("a"), "b")
        label = components(standing.unionByName(tied), self.working, self.together)
        burning = hot.select(F.col("row").alias("page")).distinct().join(label, "page").select("component").distinct()
        return label.join(burning, "component").select(F.col("page").alias("row"), F.col("component").alias("group"))

    def _tables(
        self, pages: DataFrame, matched: _Matched, tally: Tally, counted: CollectionStatistics | None
    ) -> tuple[SparkOutcome, AcceptedPairs, PageCounts]:
        from pyspark.sql import functions as F

        layout, keep = self.layout, self.working.keep
        edges = matched.pairs.select("a", "b")
        if layout.detector.looks_at_sites:
            edges = edges.unionByName(identity.twins(matched.sets))
        tied = components(edges, self.working, self.together)
        names = ["row", "id", "url", "site", "title", "tokens", "source", "record", "offset", "length", "preference"]
        members = identity.membership(pages.select("identity", *names), matched.sets, layout)
        labels = tied.select(F.col("page").alias("unit"), F.col("component").alias("cluster"))
        alone = F.when(F.col("several"), F.col("first"))
        members = members.join(labels, "unit", "left").withColumn("cluster", F.coalesce(F.col("cluster"), alone))
        located = keep(members.select(*names, "first", "unit", "cluster"), "located")
        pairs = matched.pairs.join(labels.withColumnRenamed("unit", "a"), "a")
        clustered = located.where("cluster is not null")
        decided = clustering.decided(clustered, pairs, layout.settings, matched.crowded)
        decisions = keep(decided, "decisions")
        new = located.where("row >= 0")
        ids, repeated = tables.unique_ids(new, self.working)
        own_pairs = matched.pairs.where("a >= 0")
        recorded = own_pairs.count()
        # What several tasks of a salted group accept, each of them counts.
        again = bool(self.earlier) or self.salted.groups > 0
        accepted = AcceptedPairs.of(recorded, matched.rules, again, layout.settings.most_held(tally.pages))
        clusters_of = decisions
        if self.earlier:
            before = located.where("row < 0").join(pages.where("row < 0").select("row", "run"), "row")
            before = keep(before, "located-earlier")
            ids = ids.unionByName(tables.earlier_ids(before.select("row", "id", "run"), ids, self.working))
            # Of clusters that a new page is in.
            touched = new.where("cluster is not null").select(F.col("cluster").alias("x")).distinct()
            clusters_of = decisions.where("kind = 'cluster'").join(touched, "x", "left_semi")
        page_table = tables.page_table(new, decisions, ids, layout)
        pair_table = tables.pair_table(own_pairs, decisions, ids, layout, accepted.forest)
        outcome = SparkOutcome(
            self._sorted(page_table, "row", name="pages.parquet"),
            self._sorted(pair_table, "row_a", "row_b", name="pairs.parquet"),
            keep(tables.cluster_table(clusters_of, ids), "clusters.parquet"),
            {},
            self.working,
            statistics=counted,
        )
        if self.earlier:
            found = tables.pair_table(matched.pairs.where("a < 0"), decisions, ids, layout, False)
            runs = before.select(F.col("row").alias("row_a"), "run")
            found = found.join(runs, "row_a").select(*AGAINST_OUT.names)
            outcome.against = self._sorted(found, "row_b", name="against.parquet")
            known = before.join(touched.withColumnRenamed("x", "cluster"), "cluster", "left_semi")
            known = tables.earlier_table(known, ids, identity.ROWS_A_RUN)
            outcome.earlier = self._sorted(known, "place", name="earlier.parquet")
        if self.keep_fingerprints:
            names = names_of(fingerprint_columns(layout, late=False)) + (["t"] if counted is not None else [])
            kept_rows = outcome.pages.where("kept and tokens > 0").select("row", "id", "site", "tokens")
            saved = kept_rows.join(pages.where("row >= 0").select("row", "identity", *names), "row")
            if counted is not None:
                saved = statistics.with_late_fingerprints(saved, layout, counted)
            self._sorted(saved, "row", name=FILE)
        short = (F.col("tokens") > 0) & (F.col("tokens") < layout.settings.reading.min_tokens)
        told = new.agg(
            F.count_if(F.col("tokens") == 0), F.count_if(short), F.count_if(F.col("first") == F.col("row"))
        ).collect()[0]
        kept = outcome.pages.where("kept").count()
        clusters = outcome.clusters.agg(F.count("*"), F.sum("size")).collect()[0]
        counts = PageCounts(
            pages=tally.pages,
            empty=told[0],
            short=told[1],
            identity_sets=told[2],
            clusters=clusters[0],
            clustered=int(clusters[1] or 0),
            kept=kept,
            repeated_ids=repeated,
            undated=0,
        )
        return outcome, accepted, counts

    def _sorted(self, frame: DataFrame, *order: str, name: str) -> DataFrame:
        return self.working.keep(frame.orderBy(*order), name)
