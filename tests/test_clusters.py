"""From pairs to clusters and removals, against networkx and against the rules written out."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from neardup import Result, Settings, _native, dedup, find_duplicates
from neardup.graph import POLICIES, clusters_table, keep_order, remove
from neardup.graph.clusters import EXACT_DIAMETER
from neardup.testing.dice import Dice
from neardup.testing.edits import made_up_words

Edges = list[tuple[int, int]]


def rows(values: Any) -> np.ndarray[Any, Any]:
    return np.array(list(values), np.uint32)


def random_graph(seed: int) -> tuple[int, Edges, np.ndarray[Any, Any]]:
    """Nodes, edges a < b in order, and scores of few values so that many are equal."""
    random = np.random.default_rng(seed)
    nodes = int(random.integers(1, 120))
    count = int(random.integers(0, 2 * nodes))
    ends = random.integers(0, nodes, (count, 2))
    edges = sorted({(int(min(pair)), int(max(pair))) for pair in ends if pair[0] != pair[1]})
    return nodes, edges, random.integers(1, 6, len(edges)) / 5


def graph_of(nodes: int, edges: Edges) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(edges)
    return graph


def labels_of(graph: nx.Graph) -> list[int]:
    """For each node the smallest node of its component."""
    smallest = {node: min(members) for members in nx.connected_components(graph) for node in members}
    return [smallest[node] for node in sorted(graph)]


# Random graphs.


@pytest.mark.parametrize("seed", range(40))
def test_components_are_networkx_components(seed: int) -> None:
    nodes, edges, _ = random_graph(seed)
    found = _native.components(nodes, rows(a for a, _ in edges), rows(b for _, b in edges))
    assert found.tolist() == labels_of(graph_of(nodes, edges))


@pytest.mark.parametrize("seed", range(40))
def test_the_tree_is_a_maximum_spanning_forest(seed: int) -> None:
    nodes, edges, score = random_graph(seed)
    tree = _native.spanning_forest(nodes, rows(a for a, _ in edges), rows(b for _, b in edges), score)
    graph = graph_of(nodes, [])
    graph.add_weighted_edges_from([(a, b, weight) for (a, b), weight in zip(edges, score, strict=True)])
    best = nx.maximum_spanning_tree(graph)
    assert int(tree.sum()) == best.number_of_edges()
    assert score[tree].sum() == pytest.approx(best.size(weight="weight"))
    for threshold in sorted(set(score.tolist())):
        above = [edge for edge, weight in zip(edges, score, strict=True) if weight >= threshold]
        cut = [edge for edge, of in zip(edges, tree & (score >= threshold), strict=True) if of]
        assert labels_of(graph_of(nodes, cut)) == labels_of(graph_of(nodes, above))


@pytest.mark.parametrize("seed", range(40))
def test_diameter_and_cohesion_are_networkx_own(seed: int) -> None:
    nodes, edges, _ = random_graph(seed)
    graph = graph_of(nodes, edges)
    cluster = rows(labels_of(graph))
    random = np.random.default_rng(seed)
    sites, kept = random.integers(-1, 4, nodes), random.random(nodes) < 0.5
    table = clusters_table(
        pa.array([str(node) for node in range(nodes)]),
        cluster,
        rows(range(nodes)),
        sites,
        kept,
        (rows(a for a, _ in edges), rows(b for _, b in edges)),
    )
    components = sorted((sorted(of) for of in nx.connected_components(graph) if len(of) > 1), key=min)
    assert table["cluster"].to_pylist() == [str(of[0]) for of in components]
    for row, members in zip(table.to_pylist(), components, strict=True):
        part = graph.subgraph(members)
        assert row["size"] == len(members)
        assert row["diameter"] == nx.diameter(part)
        assert row["cohesion"] == pytest.approx(nx.density(part))
        assert row["sites"] == len({int(site) for site in sites[members] if site >= 0})
        assert row["kept"] == int(kept[members].sum())


def test_identical_pages_count_once_in_diameter_and_cohesion() -> None:
    # Pages 0 = 2, 1 and 3: two pairs among three identity sets of a cluster of four pages; 4 = 5 is another.
    table = clusters_table(
        pa.array(list("abcdef")),
        rows([0, 0, 0, 0, 4, 4]),
        rows([0, 1, 0, 3, 4, 4]),
        np.zeros(6, np.int64),
        np.ones(6, bool),
        (rows([0, 1]), rows([1, 3])),
    )
    assert table.select(["size", "diameter"]).to_pylist() == [
        {"size": 4, "diameter": 2},
        {"size": 2, "diameter": 0},
    ]
    assert table["cohesion"].to_pylist() == [2 / 3, 1.0]


def test_the_diameter_of_a_large_cluster_is_a_lower_bound_and_exact_on_trees() -> None:
    nodes = EXACT_DIAMETER + 50
    tree = nx.random_labeled_tree(nodes, seed=4)
    edges = sorted((min(edge), max(edge)) for edge in tree.edges)
    table = clusters_table(
        pa.array([str(node) for node in range(nodes)]),
        rows([0] * nodes),
        rows(range(nodes)),
        np.zeros(nodes, np.int64),
        np.ones(nodes, bool),
        (rows(a for a, _ in edges), rows(b for _, b in edges)),
    )
    assert table["diameter"].to_pylist() == [nx.diameter(tree)]


# Real runs.


@pytest.fixture(scope="module", params=["site-aware", "broder", "minhash(threshold=0.5)", "exact"])
def result(request: pytest.FixtureRequest, web_pages: list[dict[str, Any]]) -> Result:
    return find_duplicates(web_pages, detector=request.param)


def graph_of_run(result: Result) -> nx.Graph:
    """Pages joined by identity and by accepted pairs."""
    pages, pairs = result.pages.to_pylist(), result.pairs.to_pylist()
    row = {page["id"]: page["row"] for page in pages}
    edges = [(pair["row_a"], pair["row_b"]) for pair in pairs]
    return graph_of(len(pages), edges + [(page["row"], row[page["identity"]]) for page in pages])


def test_clusters_of_a_run_are_components(result: Result) -> None:
    ids = result.pages["id"].to_pylist()
    assert result.pages["cluster"].to_pylist() == [ids[row] for row in labels_of(graph_of_run(result))]


def test_clusters_of_a_run_measure_their_identity_sets(result: Result) -> None:
    pages = result.pages.to_pylist()
    pairs = graph_of(0, [(pair["a"], pair["b"]) for pair in result.pairs.to_pylist()])
    pairs.add_nodes_from(page["identity"] for page in pages)
    members = defaultdict(set)
    for page in pages:
        members[page["cluster"]].add(page["identity"])
    for cluster in result.clusters.to_pylist():
        part = pairs.subgraph(members[cluster["cluster"]])
        assert cluster["diameter"] == nx.diameter(part)
        assert cluster["cohesion"] == pytest.approx(nx.density(part) if len(part) > 1 else 1)


def test_the_tree_of_a_run_gives_the_components_at_every_threshold(result: Result) -> None:
    pairs, count = result.pairs.to_pylist(), result.pages.num_rows
    for threshold in sorted({pair["score"] for pair in pairs}):
        above = [pair for pair in pairs if pair["score"] >= threshold]
        all_pairs = graph_of(count, [(pair["row_a"], pair["row_b"]) for pair in above])
        tree = graph_of(count, [(pair["row_a"], pair["row_b"]) for pair in above if pair["tree"]])
        assert nx.is_forest(tree)
        assert labels_of(tree) == labels_of(all_pairs)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_removed_page_was_accepted_against_the_page_kept_instead(
    policy: Any, web_pages: list[dict[str, Any]]
) -> None:
    result = find_duplicates(web_pages, detector="minhash(threshold=0.5)", settings=Settings(keep=policy))
    accepted = {frozenset((pair["a"], pair["b"])) for pair in result.pairs.to_pylist()}
    identity = dict(zip(*(result.pages[name].to_pylist() for name in ("id", "identity")), strict=True))
    removed = result.removed.to_pylist()
    assert len(removed) > 30
    for page in removed:
        sets = {identity[page["id"]], identity[page["kept_instead"]]}
        assert len(sets) == 1 or frozenset(sets) in accepted
    # And of two pages that stay none was accepted against the other.
    stay = [page["id"] for page in result.kept.to_pylist()]
    kept_sets = {identity[page] for page in stay}
    assert len(kept_sets) == len(stay)
    assert not any(pair <= kept_sets for pair in accepted)


# Removal.


@hypothesis_settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["direct", "component"]))
def test_removal_by_its_rules(seed: int, removal: Any) -> None:
    random = np.random.default_rng(seed)
    nodes, edges, score = random_graph(seed)
    # Some pages are copies of others; pairs are between first members only.
    identity = np.arange(nodes)
    for page in range(1, nodes):
        if random.random() < 0.3:
            identity[page] = identity[random.integers(0, page)]
    keep = [at for at, (a, b) in enumerate(edges) if identity[a] == a and identity[b] == b]
    edges, score = [edges[at] for at in keep], score[keep]
    together = graph_of(nodes, edges + [(page, int(first)) for page, first in enumerate(identity)])
    cluster = labels_of(together)
    order = random.permutation(nodes)
    pairs = rows(a for a, _ in edges), rows(b for _, b in edges), score
    found = remove(rows(order), rows(identity), rows(cluster), pairs, removal)
    assert found.instead.tolist() == removed_by_the_rules(order, identity, cluster, edges, score, removal)
    assert found.identical.tolist() == (identity[found.instead] == identity).tolist()


def removed_by_the_rules(
    order: Any, identity: Any, cluster: list[int], edges: Edges, score: Any, removal: str
) -> list[int]:
    """Page by page in keep order: the best member stands for its set, a set goes for a set that stays."""
    place = {int(page): at for at, page in enumerate(order)}

    def best(of: Any, label: int) -> int:
        return min((page for page in place if of[page] == label), key=place.__getitem__)

    if removal == "component":
        return [best(cluster, cluster[page]) for page in range(len(identity))]
    similar = {edge: float(value) for edge, value in zip(edges, score, strict=True)}
    stays: list[int] = []
    instead: dict[int, int] = {}
    for own in sorted(set(identity.tolist()), key=lambda first: place[best(identity, first)]):
        accepted = [
            (-similar[pair], place[best(identity, other)], other)
            for other in stays
            if (pair := (min(own, other), max(own, other))) in similar
        ]
        instead[own] = min(accepted)[2] if accepted else own
        stays += [] if accepted else [own]
    return [best(identity, instead[first]) for first in identity.tolist()]


def chain() -> list[str]:
    """a ~ b ~ c, and a not ~ c."""
    words = made_up_words(60, Dice(6))
    return [" ".join(words[start : start + 40]) for start in (0, 10, 20)]


def test_a_chain_never_removes_its_end_for_its_beginning() -> None:
    result = find_duplicates(chain(), detector="minhash(k=1,threshold=0.5,recall=0.9999999)")
    assert [(pair["row_a"], pair["row_b"]) for pair in result.pairs.to_pylist()] == [(0, 1), (1, 2)]
    assert result.pages["kept_instead"].to_pylist() == [None, "memory#0", None]
    assert result.pages["reason"].to_pylist() == ["chosen", "near-duplicate", "apart"]
    assert len(set(result.pages["cluster"].to_pylist())) == 1
    (cluster,) = result.clusters.to_pylist()
    assert (cluster["size"], cluster["kept"], cluster["diameter"]) == (3, 2, 2)


def test_removal_by_component_keeps_one_page_a_cluster() -> None:
    result = find_duplicates(
        chain(), detector="minhash(k=1,threshold=0.5,recall=0.9999999)", settings=Settings(removal="component")
    )
    assert result.pages["kept_instead"].to_pylist() == [None, "memory#0", "memory#0"]
    assert result.clusters["kept"].to_pylist() == [1]


def test_the_middle_of_a_chain_stands_for_both_ends() -> None:
    a, b, c = chain()
    result = find_duplicates([b, a, c], detector="minhash(k=1,threshold=0.5,recall=0.9999999)")
    assert result.pages["kept_instead"].to_pylist() == [None, "memory#0", "memory#0"]


# Keep policies.

SAME = "eight or more words stand here on every page of this test"


def kept_page(policy: Any, *pages: dict[str, Any]) -> int:
    """Which of several identical or near-identical pages is kept."""
    told = [{"html": f"<p>{SAME}</p>{page.pop('more', '')}", **page} for page in pages]
    result = find_duplicates(told, detector="minhash(k=1,threshold=0.3,recall=0.99999)", settings=Settings(keep=policy))
    assert len(set(result.pages["cluster"].to_pylist())) == 1
    (row,) = [page["row"] for page in result.kept.to_pylist()]
    return int(row)


@pytest.mark.parametrize(
    ("policy", "pages", "expected"),
    [
        ("first", [{"url": "http://a.example/long"}, {"url": "http://a.example/"}], 0),
        ("longest", [{}, {"more": "one two"}, {"more": "one"}], 1),
        ("longest", [{}, {"more": "one"}, {"more": "two"}], 1),
        ("newest", [{"date": "2001-01-01"}, {"date": "2003-01-01"}, {"date": "2002-01-01"}], 1),
        # One moment, written in three ways; a date that cannot be read is older than any.
        ("newest", [{"date": "2003-01-01T02:00:00+02:00"}, {"date": "20030101000000"}], 0),
        ("newest", [{"date": "soon"}, {"date": None}, {"date": "Wed, 01 Jan 2003 00:00:00 GMT"}], 2),
        ("newest", [{"date": "soon"}, {}, {"date": "1970-01-02"}, {}], 2),
        ("shortest-url", [{"url": "http://a.example/long"}, {"url": "http://a.example/"}], 1),
        ("shortest-url", [{"url": "http://a.example/1"}, {"url": "http://a.example/2"}], 0),
        # A page without an address comes after all that have one.
        ("shortest-url", [{}, {"url": "http://a.example/" + "x" * 500}], 1),
        ("shortest-url", [{}, {}], 0),
    ],
)
def test_keep_policies_and_their_ties(policy: str, pages: list[dict[str, Any]], expected: int) -> None:
    assert kept_page(policy, *pages) == expected


def linked(*links: str) -> str:
    return "".join(f"<a href='{link}'></a>" for link in links)


def test_most_linked_counts_pages_that_link() -> None:
    # The second is linked to by two others, the first by one that says it twice, the third by itself.
    pages = [
        {"html": f"<p>{SAME}", "url": "http://a.example/1"},
        {"html": f"<p>{SAME}{linked('http://b.example/')}", "url": "http://a.example/2"},
        {"html": f"<p>{SAME}{linked('3', '/3#top')}", "url": "http://a.example/3"},
        {"html": linked("1", "/1", "2"), "url": "http://a.example/x"},
        {"html": linked("http://a.example/2#part"), "url": "http://b.example/y"},
    ]
    result = find_duplicates(pages, detector="exact", settings=Settings(keep="most-linked"))
    assert result.pages["kept_instead"].to_pylist() == ["memory#1", None, "memory#1", None, None]


def test_most_linked_with_ties_keeps_the_first() -> None:
    pages = [{"html": f"<p>{SAME}", "url": f"http://a.example/{n}"} for n in range(3)]
    result = find_duplicates(pages, detector="exact", settings=Settings(keep="most-linked"))
    assert result.pages["kept"].to_pylist() == [True, False, False]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_orders_every_page_once(policy: Any) -> None:
    random = np.random.default_rng(3)
    count = 200
    tokens, links = random.integers(0, 9, count), random.integers(0, 4, count)
    urls = pa.array([None if n % 7 == 0 else "http://a.example/" + "x" * (n % 5) for n in range(count)])
    dates = pa.array([None if n % 5 == 0 else f"200{n % 4}-01-01" for n in range(count)])
    order = keep_order(policy, tokens=tokens, urls=urls, dates=dates, links=links).tolist()
    preference = {
        "first": lambda row: 0,
        "longest": lambda row: -tokens[row],
        "newest": lambda row: -int((dates[row].as_py() or "0")[:4]),
        "shortest-url": lambda row: len(urls[row].as_py() or "x" * 1000),
        "most-linked": lambda row: -links[row],
    }[policy]
    assert order == sorted(range(count), key=lambda row: (preference(row), row))


def test_labels_do_not_change_with_the_page_that_is_kept(tmp_path: Path) -> None:
    lines = [{"id": name, "text": f"{SAME} {more}"} for name, more in (("a", ""), ("b", "x"), ("c", "x"))]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = dedup(tmp_path, detector="minhash(k=1,threshold=0.5)", settings=Settings(keep="longest"))
    assert result.pages["kept_instead"].to_pylist() == ["b", None, "b"]
    assert result.pages["identity"].to_pylist() == ["a", "b", "b"]
    assert result.pages["cluster"].to_pylist() == ["a", "a", "a"]
