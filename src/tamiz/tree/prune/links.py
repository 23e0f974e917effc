"""Weakest links of a tree: for each test, the price at which it stops being worth its size.

A pruned sub-tree ``T`` is charged ``R(T) + alpha S(T)``: its training error, and ``alpha`` for each
unit of size. The size is a sum over the tests that are left, ``S(T) = sum of s(t)``:

- ``s(t) = 1`` counts tests, which is the number of leaves less one (Breiman et al. 1984, ch. 3);
- ``s(t) = n_t / n`` is the mean depth of a sample, ``l(T) = sum over leaves of n_t l(t) / n``. A
  sample adds one to its depth at each test that it meets, so that the sum over leaves of depths is
  the sum over tests of the samples that meet them.

Since error and size are both sums over the parts of a tree, the cheapest pruning of a branch is

    f_t(alpha) = min(R(t), f_left(alpha) + f_right(alpha) + alpha s(t)),

and the branch below ``t`` is cut from the ``alpha`` on at which both sides are equal. ``f_t`` is
concave and piecewise linear. Its breaks are the links that are cut inside the branch before it
goes as a whole. They are held in a heap with the largest at the top: a branch takes those of its
children, drops from the top what comes later than its own end, and adds its own. Each link is
dropped once, so that all take O(n log n) whatever the shape, where a search for the weakest link
and an update of all nodes above it would take O(n depth).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

#: Errors that differ by less, as a share of the error of the root, are the same: sums of shares
#: such as 1/3 are not exact.
TOLERANCE = 1e-12


class Links(NamedTuple):
    """When the tests of a tree go.

    Attributes
    ----------
    alphas : array of shape (n_trees,)
        The price from which on each tree of the sequence is the cheapest, growing from 0.
    last : array of shape (n_nodes,)
        The first tree of the sequence in which the node is not divided: 0 for leaves.
    """

    alphas: np.ndarray
    last: np.ndarray


def weakest_links(
    left: np.ndarray, right: np.ndarray, parent: np.ndarray, error: np.ndarray, size: np.ndarray
) -> Links:
    """The nested sequence of cheapest sub-trees, from the full tree to the root alone.

    Parameters
    ----------
    left, right, parent : int arrays of shape (n_nodes,)
        Children and parent, -1 where none; children after their parents.
    error : array of shape (n_nodes,)
        ``R(t)``, the error of each node as a leaf.
    size : array of shape (n_nodes,)
        ``s(t)``, what the test at each node adds to the size; leaves do not count.
    """
    slack = TOLERANCE * abs(float(error[0]))
    gain, load = _own_links(
        left.astype(np.int64), right.astype(np.int64), error.astype(np.float64),
        size.astype(np.float64), slack,
    )  # fmt: skip
    cut = np.flatnonzero(gain >= 0.0)  # links that are cut themselves, not with one above them
    alpha = gain[cut] / load[cut]
    alpha[gain[cut] <= slack] = 0.0
    order = np.argsort(alpha, kind="stable")
    cut, alpha = cut[order], alpha[order]
    alphas, step = _together(alpha, load[cut], slack)
    last = np.full(len(left), len(alphas), dtype=np.int64)
    last[cut] = step
    return Links(alphas, _with_those_above(left, parent.astype(np.int64), last))


def _together(alpha: np.ndarray, load: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:
    """Prices of the sequence, and the step at which each link is cut; ties go together."""
    alphas, step, start = [0.0], np.zeros(len(alpha), dtype=np.int64), 0.0
    for k, (price, size) in enumerate(zip(alpha.tolist(), load.tolist(), strict=True)):
        if price > 0.0 and (price - start) * size > slack:
            alphas.append(price)
            start = price
        elif price > 0.0:
            alphas[-1] = price  # at the largest of those tied all of them are cut
        step[k] = len(alphas) - 1
    return np.array(alphas), step


@njit(cache=True)
def _own_links(left, right, error, size, slack):
    """For each test: error added and size saved when its branch goes; -1 if one above goes first.

    ``gain[t] / load[t]`` is the price at which the branch of ``t`` is cut.
    """
    n = len(left)
    gain, load, alpha = np.full(n, -1.0), np.zeros(n), np.zeros(n)
    heap = np.full(n, -1, dtype=np.int64)  # of each node: the largest link in its branch
    below = np.full((n, 2), -1, dtype=np.int64)
    for t in range(n - 1, -1, -1):
        if left[t] < 0:
            continue
        more = error[t] - error[left[t]] - error[right[t]]
        saved = size[t]
        top = _merge(heap[left[t]], heap[right[t]], alpha, below)
        # a link inside that would go later, or at the same time, goes with this one
        while top >= 0 and more - alpha[top] * saved <= slack:
            more += gain[top]
            saved += load[top]
            gain[top] = -1.0
            top = _merge(below[top, 0], below[top, 1], alpha, below)
        gain[t], load[t] = max(more, 0.0), saved
        alpha[t] = gain[t] / saved if saved > 0.0 else 0.0
        if saved <= 0.0:
            load[t] = 1.0
        below[t, 0], below[t, 1] = top, -1
        heap[t] = t
    return gain, load


@njit(cache=True)
def _merge(a, b, key, below):
    """Two skew heaps as one; largest key at the top."""
    if a < 0:
        return b
    if b < 0:
        return a
    if key[a] < key[b]:
        a, b = b, a
    root = a
    while True:
        rest = below[a, 1]
        below[a, 1] = below[a, 0]
        if rest < 0:
            below[a, 0] = b
            return root
        if key[rest] < key[b]:
            rest, b = b, rest
        below[a, 0] = rest
        a = rest


@njit(cache=True)
def _with_those_above(left, parent, last):
    """A test is gone with the first of those above it; leaves are 0."""
    for t in range(1, len(left)):
        last[t] = min(last[t], last[parent[t]])
    for t in range(len(left)):
        if left[t] < 0:
            last[t] = 0
    return last
