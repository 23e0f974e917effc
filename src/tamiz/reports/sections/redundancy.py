"""Which features could stand in for the chosen ones: near-duplicates, and how they cluster."""

from __future__ import annotations

import numpy as np
from scipy import sparse, stats
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from tamiz.reports.charts.cells import draw_correlations
from tamiz.reports.charts.drawing import figure
from tamiz.reports.markup import Markup, folded, table, tag
from tamiz.reports.page import Page, Section

#: Features whose rank correlation is at least so large are near-duplicates.
NEAR = 0.7
MOST_ROWS, MOST_CELLS = 2000, 20_000_000
MOST_CHOSEN, MOST_NEAR, MOST_SHOWN = 30, 5, 30
_BLOCK = 512


def build(page: Page) -> Section | None:
    """The section, if something is recommended and its features are numbers."""
    if page.recommended is None or not page.has_numbers or page.data.n_samples < 10:
        return None
    chosen = [j for j in page.chosen if _ordered(page, j)][:MOST_CHOSEN]
    others = [j for j in page.whole.held if _ordered(page, j)]
    if not chosen or len(others) < 2:
        return None
    rows = _rows(page, len(others))
    found = correlations(page, chosen, others, rows)
    near = _near(chosen, others, found)
    lang = page.lang
    values = {"near": lang.fixed(NEAR, 1), "rows": lang.count("row", len(rows))}
    parts = [tag("p", lang.rich("redundancy_intro", **values))]
    coded = len(page.chosen[:MOST_CHOSEN]) - len(chosen)
    if coded > 0:
        n = lang.count("feature", coded)
        parts.append(tag("p", lang("redundancy_coded", n=n), class_="fine"))
    shown = _shown(chosen, near)
    if len(shown) > 1:
        parts.append(_map(page, shown, chosen, near, rows))
    if any(near.values()):
        numbers = _table(page, near)
        many = len(near) > 6
        parts.append(folded(lang("redundancy_table"), numbers) if many else numbers)
    elif len(shown) < 2:
        parts.append(tag("p", _finding(page, near)))
    return Section("redundancy", Markup("".join(parts)))


def _ordered(page: Page, j: int) -> bool:
    """Whether the values of a feature have an order: numbers, or categories of two levels."""
    return not page.is_coded(j) or len(page.data.levels[page.whole.feature_names[j]]) <= 2


def _rows(page: Page, n_features: int) -> np.ndarray:
    """The rows that correlations are worked out with."""
    n = page.data.n_samples
    most = min(MOST_ROWS, max(200, MOST_CELLS // max(1, n_features)))
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def _ranks(page: Page, features: list[int], rows: np.ndarray) -> np.ndarray:
    """Ranks of the values, missing ones in the middle, as columns of length 1; 0 if constant."""
    X = page.data.X[:, [page.whole.place(j) for j in features]][rows]
    X = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=np.float64)
    there = np.isfinite(X)
    policy = "propagate" if there.all() else "omit"
    ranks = np.asarray(stats.rankdata(X, axis=0, nan_policy=policy), dtype=np.float64)
    middle = np.where(there, ranks, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    ranks = np.where(there, ranks - middle, 0.0)
    length = np.sqrt((ranks**2).sum(axis=0))
    return ranks / np.where(length > 1e-9, length, np.inf)


def correlations(page: Page, chosen: list[int], others: list[int], rows: np.ndarray) -> np.ndarray:
    """Spearman's correlation of each chosen feature with the others."""
    mine = _ranks(page, chosen, rows)
    blocks = [others[k : k + _BLOCK] for k in range(0, len(others), _BLOCK)]
    return np.hstack([mine.T @ _ranks(page, block, rows) for block in blocks])


Near = dict[int, list[tuple[int, float]]]


def _near(chosen: list[int], others: list[int], found: np.ndarray) -> Near:
    """For each chosen feature its near-duplicates, the nearest first."""
    near: Near = {}
    for k, j in enumerate(chosen):
        order = np.argsort(-np.abs(found[k]), kind="stable")
        pairs = ((others[c], float(found[k, c])) for c in order[: len(others)])
        near[j] = [(i, r) for i, r in pairs if i != j and abs(r) >= NEAR]
    return near


def _shown(chosen: list[int], near: Near) -> list[int]:
    """The chosen features and, as far as there is room, the nearest of each in turn."""
    shown = list(dict.fromkeys(chosen))[:MOST_SHOWN]
    for depth in range(MOST_NEAR):
        for j in chosen:
            if depth < len(near[j]) and near[j][depth][0] not in shown and len(shown) < MOST_SHOWN:
                shown.append(near[j][depth][0])
    return shown


def _finding(page: Page, near: Near) -> str:
    lang = page.lang
    doubled = [j for j in near if near[j]]
    if not doubled:
        return lang("redundancy_none", near=lang.fixed(NEAR, 1))
    first = max(doubled, key=lambda j: abs(near[j][0][1]))
    other, r = near[first][0]
    return lang(
        "redundancy_finding",
        n=lang.integer(len(doubled)),
        all=lang.count("feature", len(near)),
        first=page.names[first],
        second=page.names[other],
        r=lang.fixed(r, 2),
    )


def _map(page: Page, shown: list[int], chosen: list[int], near: Near, rows: np.ndarray) -> Markup:
    found = np.clip(correlations(page, shown, shown, rows), -1.0, 1.0)
    apart = 1.0 - np.abs(found)
    np.fill_diagonal(apart, 0.0)
    if len(shown) > 2:
        order = leaves_list(linkage(squareform((apart + apart.T) / 2, checks=False), "average"))
    else:
        order = np.arange(len(shown))
    features = [shown[k] for k in order]
    table_of = found[np.ix_(order, order)]
    mine = set(chosen)
    return figure(
        page,
        lambda drawing: draw_correlations(drawing, page, features, table_of, mine),
        page.lang("redundancy_title"),
        _finding(page, near),
    )


def _table(page: Page, near: Near) -> Markup:
    lang = page.lang
    rows = []
    for j, those in near.items():
        names = [f"{page.names[i]} ({lang.fixed(r, 2)})" for i, r in those[:MOST_NEAR]]
        rest = len(those) - MOST_NEAR
        text = ", ".join(names) or "–"
        if rest > 0:
            text = lang("and_more", names=text, n=lang.integer(rest))
        rows.append([page.feature(j), text])
    head = [lang("chosen_feature"), lang("near_duplicates")]
    return table(head, rows, lang("redundancy_caption", near=lang.fixed(NEAR, 1)), text=(0, 1))
