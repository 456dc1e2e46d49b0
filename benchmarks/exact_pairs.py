"""All pairs of sets with Jaccard similarity at least t, exactly; independent of the join it judges.

usage: exact_pairs.py SETS.npz OUT.npz T, in the environment with SciPy. Three steps that lose nothing:
equal sets are compared once; of each set, sorted by how rare its members are, only the first |x| − ⌈t·|x|⌉ + 1 are
indexed (two sets of similarity t must share one of these: Chaudhuri et al. 2006, Bayardo et al. 2007), which a product
of sparse matrices turns into candidates; every candidate's similarity is counted out in full.
"""

import sys

import numpy as np
import scipy.sparse as sparse

_ROWS = 2000
_CANDIDATES = 20_000


def distinct_sets(offsets, values):
    """Each different set once, and for every page the number of its set."""
    seen: dict[bytes, int] = {}
    numbers: list[int] = []
    firsts: list[int] = []
    for page in range(len(offsets) - 1):
        key = np.sort(values[offsets[page] : offsets[page + 1]]).tobytes()
        if key not in seen:
            seen[key] = len(firsts)
            firsts.append(page)
        numbers.append(seen[key])
    return np.array(numbers), np.array(firsts)


def matrix_of(offsets, values, firsts):
    """A row a set; columns are members, the rarest first."""
    rows = [values[offsets[page] : offsets[page + 1]] for page in firsts]
    lengths = np.array([len(row) for row in rows])
    _, column, count = np.unique(np.concatenate(rows), return_inverse=True, return_counts=True)
    place = np.empty(len(count), np.int64)
    place[np.argsort(count, kind="stable")] = np.arange(len(count))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    full = sparse.csr_matrix((np.ones(starts[-1], np.int32), place[column], starts), shape=(len(rows), len(count)))
    full.sort_indices()
    return full, lengths


def prefixes(full, lengths, threshold):
    """Only the members that a similar set must share one of."""
    # The tiny amount keeps rounding from shortening a prefix.
    keep = (lengths - np.ceil(threshold * lengths - 1e-9) + 1).astype(np.int64)
    within = np.arange(full.nnz) - np.repeat(full.indptr[:-1], lengths)
    taken = within < np.repeat(keep, lengths)
    starts = np.concatenate([[0], np.cumsum(np.minimum(keep, lengths))])
    return sparse.csr_matrix((full.data[taken], full.indices[taken], starts), shape=full.shape)


def similar(full, lengths, threshold):
    """Pairs of sets, the smaller number first, with their similarity."""
    index = prefixes(full, lengths, threshold)
    turned = index.T.tocsr()
    found = []
    for start in range(0, full.shape[0], _ROWS):
        met = (index[start : start + _ROWS] @ turned).tocoo()
        a, b = met.row.astype(np.int64) + start, met.col.astype(np.int64)
        small, large = np.minimum(lengths[a], lengths[b]), np.maximum(lengths[a], lengths[b])
        possible = (a < b) & (small >= threshold * large - 1e-9)
        a, b = a[possible], b[possible]
        for at in range(0, len(a), _CANDIDATES):
            one, other = a[at : at + _CANDIDATES], b[at : at + _CANDIDATES]
            shared = np.asarray(full[one].multiply(full[other]).sum(axis=1)).ravel()
            jaccard = shared / (lengths[one] + lengths[other] - shared)
            good = jaccard >= threshold
            found.append((one[good], other[good], jaccard[good]))
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    return [np.concatenate(part) for part in zip(*found, strict=True)]


def members_of(numbers):
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def spread_out(numbers, a, b, jaccard):
    """Pairs of sets as pairs of pages, with those of pages that have one set."""
    members = members_of(numbers)
    alone = np.array([len(pages) == 1 for pages in members])
    page = np.array([pages[0] for pages in members])
    # Nearly all sets belong to one page: those pairs go in one piece.
    single = alone[a] & alone[b] if len(a) else np.zeros(0, bool)
    firsts, seconds, scores = [page[a[single]]], [page[b[single]]], [jaccard[single]]
    for x, y, score in zip(a[~single], b[~single], jaccard[~single], strict=True):
        one, other = np.meshgrid(members[x], members[y])
        firsts.append(one.ravel())
        seconds.append(other.ravel())
        scores.append(np.full(one.size, score))
    for same in members:
        if len(same) > 1:
            one, other = np.triu_indices(len(same), 1)
            firsts.append(same[one])
            seconds.append(same[other])
            scores.append(np.ones(len(one)))
    one, other = np.concatenate(firsts), np.concatenate(seconds)
    return np.minimum(one, other), np.maximum(one, other), np.concatenate(scores)


if __name__ == "__main__":
    with np.load(sys.argv[1]) as file:
        set_offsets, set_values = file["offsets"], file["values"]
    least = float(sys.argv[3])
    set_numbers, first_pages = distinct_sets(set_offsets, set_values)
    matrix, sizes = matrix_of(set_offsets, set_values, first_pages)
    pairs = spread_out(set_numbers, *similar(matrix, sizes, least))
    np.savez(sys.argv[2], a=pairs[0], b=pairs[1], jaccard=pairs[2], pages=len(set_numbers))
