"""Gap-weighted subsequences the slow and obvious way: every subsequence, or a plain programme."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations


def by_enumeration(s, t, m, decay):
    """Sum over all pairs of places that spell the same, as the definition says."""
    total = 0 * decay
    for i in combinations(range(len(s)), m):
        for j in combinations(range(len(t)), m):
            if [s[k] for k in i] == [t[k] for k in j]:
                total += decay ** ((i[-1] - i[0] + 1) + (j[-1] - j[0] + 1))
    return total


def by_programme(s, t, m, decay):
    """Lodhi et al. 2002: K' and K'' over prefixes; exact if ``decay`` is a fraction."""
    one, zero = decay**0, 0 * decay
    n, k = len(s), len(t)
    before = [[one] * (k + 1) for _ in range(n + 1)]  # K'_0
    for q in range(1, m):
        now = [[zero] * (k + 1) for _ in range(n + 1)]
        for i in range(q, n + 1):
            run = zero  # K''
            for j in range(q, k + 1):
                run = decay * run
                if s[i - 1] == t[j - 1]:
                    run = run + decay * decay * before[i - 1][j - 1]
                now[i][j] = decay * now[i - 1][j] + run
        before = now
    total = zero
    for i in range(m, n + 1):
        for j in range(m, k + 1):
            if s[i - 1] == t[j - 1]:
                total = total + decay * decay * before[i - 1][j - 1]
    return total


def normalised(s, t, m, decay):
    """The cosine, exact up to one square root; 0 where a string is too short."""
    exact = Fraction(decay)
    own = by_programme(s, s, m, exact) * by_programme(t, t, m, exact)
    if own == 0:
        return 0.0
    value = by_programme(s, t, m, exact)
    return float(value * value / own) ** 0.5
