"""The choice among triples by its definition: one triple after the other, in plain loops."""

from __future__ import annotations

import math

TINY = 1e-12
#: Of Student's distribution, 97.5 %, by number of splits, as tables print them.
QUANTILES = {2: 12.7062, 3: 4.3027, 4: 3.1824, 5: 2.7764, 6: 2.5706, 8: 2.3646, 10: 2.2622}


def mean(values):
    return sum(values) / len(values)


def corrected_error(differences, ratio):
    """Standard error of a mean over splits whose training parts overlap (Nadeau, Bengio)."""
    J = len(differences)
    if J < 2:
        return 0.0
    middle = mean(differences)
    variance = sum((d - middle) ** 2 for d in differences) / (J - 1)
    return math.sqrt((1 / J + ratio) * variance)


def choose(errors, sizes, ratio, means=None, limit=math.inf, recurrence=None, last=None):
    """Places of the most accurate and the smallest triple, and of those that are near."""
    columns = [[row[t] for row in errors] for t in range(len(sizes))]
    raw = [mean(column) for column in columns]
    means = raw if means is None else list(means)
    recurring = [0.0] * len(sizes) if recurrence is None else list(recurrence)
    best = None
    tied = [t for t in range(len(sizes)) if means[t] <= min(means) + TINY * (1 + abs(min(means)))]
    for t in tied:
        if raw[t] > min(raw[u] for u in tied) + 0.005:  # half a point
            continue
        behind = last is not None and last[t]
        key = (behind, -sizes[t], raw[t], -recurring[t], t)
        if best is None or key < best[0]:
            best = (key, t)
    best = best[1]
    near, fewest = [], []
    for t in range(len(sizes)):
        away = [a - b for a, b in zip(columns[t], columns[best], strict=True)]
        worse = means[t] - means[best]
        spread = corrected_error(away, ratio) if len(away) > 1 else math.inf
        if t != best and worse > spread + TINY:
            continue
        near.append(t)
        if worse > limit + TINY:
            continue
        fewest.append(t)
    fewest = [t for t in fewest if sizes[t] == min(sizes[u] for u in fewest)]
    room = 0.005 if math.isfinite(limit) else TINY
    alike = [t for t in fewest if means[t] <= min(means[u] for u in fewest) + room]
    smallest = min(alike, key=lambda t: (-recurring[t], round(means[t], 12), t))
    return best, smallest, near


def smoothed(errors, triples, ratio):
    """Medians along the sizes of a method and judge; the best method as far as the second.

    It is believed beyond that where it is better by more than half the 95 % interval.
    """
    columns = [[float(row[t]) for row in errors] for t in range(len(triples))]
    means = [mean(column) for column in columns]
    found = list(means)
    for t, (method, judge, size, own) in enumerate(triples):
        if own:
            continue
        curve = [
            (s, u) for u, (m, j, s, o) in enumerate(triples) if (m, j) == (method, judge) and not o
        ]
        before = [u for s, u in sorted(curve) if s < size][-1:]
        after = [u for s, u in sorted(curve) if s > size][:1]
        if before and after:
            found[t] = sorted([means[before[0]], means[t], means[after[0]]])[1]
        elif before:
            found[t] = max(means[t], mean([means[t], means[before[0]]]))
    for judge, size in {(j, s) for _, j, s, _ in triples}:
        row = [u for u, (_, j, s, _) in enumerate(triples) if (j, s) == (judge, size)]
        least = {}
        for u in row:
            method = triples[u][0]
            least[method] = min(least.get(method, math.inf), found[u])
        first, *others = sorted(least, key=lambda method: least[method])
        if others:
            second = next(u for u in row if triples[u][0] != first and found[u] == least[others[0]])
            for u in [u for u in row if triples[u][0] == first]:
                away = [a - b for a, b in zip(columns[u], columns[second], strict=True)]
                doubt = math.inf
                if len(away) > 1:
                    doubt = QUANTILES[len(away)] * corrected_error(away, ratio)
                if means[second] - means[u] > doubt:
                    found[u] = max(found[u], min(least[others[0]], found[u] + doubt))
                else:
                    found[u] = max(found[u], least[others[0]])
    return found


def nested(inner, sizes, test_errors, triples, limit, smallest):
    """The error in each test part of what the errors inside its training part choose."""
    found = []
    for table, numbers, tested in zip(inner, sizes, test_errors, strict=True):
        rows = [row for row in table if any(math.isfinite(e) for e in row)]
        usable = [t for t in range(len(triples)) if all(math.isfinite(row[t]) for row in rows)]
        few = [[row[t] for t in usable] for row in rows]
        here = [(*triples[t][:2], numbers[t], triples[t][3]) for t in usable]
        ratio = 1 / max(1, len(rows) - 1)
        means = smoothed(few, here, ratio)
        own = [triples[t][3] for t in usable]
        numbers_there = [numbers[t] for t in usable]
        best, least, _ = choose(few, numbers_there, ratio, means, limit, None, own)
        found.append(tested[usable[least if smallest else best]])
    return found
