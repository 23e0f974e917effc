"""
Pure noise: what a ranking on all data promises, and what is there
==================================================================

62 samples, 2,000 features, labels drawn without looking at them: nobody can predict better than a
coin. Every method is compared on twenty such tables. The honest error must be about 50 %, and its
95 % interval should contain 50 % in about 19 of 20 tables. The apparent error, with the features
ranked on all data before the cross-validation, is what careless work reports. ::

    python examples/pure_noise.py [--seeds 20] [--repeats 1] [--jobs 2] [--methods fisher rfe ...]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from tamiz import compare

METHODS = ["fisher", "relieff", "mrmr", "qpfs", "rfe", "ho-svm"]
SIZES = [1, 2, 5, 10, 20, 50, 100, 200]


def noise(seed: int, n: int = 62, p: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """A table of normal numbers, and as many labels of either class in random order."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.permutation(np.arange(n) % 2)


def main() -> None:
    """Print a table over all seeds, and the comparison of the first."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[1])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # that no feature tells anything is the point here
    found: dict[str, list] = {}
    began = time.perf_counter()
    for seed in range(args.seeds):
        X, y = noise(seed)
        comparison = compare(
            X,
            y,
            args.methods,
            sizes=SIZES,
            repeats=args.repeats,
            n_jobs=args.jobs,
            random_state=seed,
        )
        if seed == 0:
            print(comparison, flush=True)
        for one in comparison.estimates():
            own = " (own size)" if one.kind == "own" and one.method != "all" else ""
            found.setdefault(one.method + own, []).append(one)
    print(f"\n{args.seeds} tables, {time.perf_counter() - began:.0f} s\n")
    print("| method | honest error | 50 % inside | apparent error | worst | selection bias |")
    print("|---|---|---|---|---|---|")
    for name, lines in found.items():
        error = 100 * np.array([one.error for one in lines])
        apparent = 100 * np.array([one.apparent for one in lines])
        inside = sum(one.low <= 0.5 <= one.high for one in lines)
        spread = f" ± {error.std(ddof=1):.1f}" if len(error) > 1 else ""
        print(
            f"| {name} | {error.mean():.1f}{spread} | {inside} of {len(lines)} | "
            f"{apparent.mean():.1f} | {apparent.max():.1f} | {(error - apparent).mean():+.1f} |"
        )


if __name__ == "__main__":
    main()
