"""Which genes survive at a false discovery rate of a tenth, in three data sets known to many.

    python -m tools.discoveries.genes

Colon (Alon and others, 62 tissues, 2,000 genes) and leukaemia (Golub and others, 72 samples, 7,129
genes) as logarithms, and four childhood tumours (Khan and others, 83 samples, 2,308 genes) as they
come, logarithms of ratios. Printed is a table: how many genes each method keeps at ``fdr=0.1``, the
most frequent of them with their frequency in the halves (or their adjusted p-value), and how many
are also kept by one of the others. Colon genes that studies of these tissues name again and again
have their name in brackets. For the leukaemias the fifty genes by which Golub and others predicted
are known; how many of them are kept stands beside it. The tumours' genes have numbers only.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

#: Accession numbers of the genes by which Golub and others predicted, chosen by 38 of the samples.
GOLUB = (
    "U22376", "X59417", "U05259", "M92287", "X74262", "D26156", "S50223", "M31211", "M31523",
    "L47738", "U32944", "Z15115", "X15949", "X63469", "M91432", "U29175", "Z69881", "U20998",
    "D38073", "U26266", "M31303", "Y08612", "U35451", "M29696", "M13792", "M55150", "X95735",
    "U50136", "M16038", "U82759", "M23197", "M84526", "Y12670", "M27891", "X17042", "Y00787",
    "M96326", "U46751", "M80254", "L08246", "M62762", "M28130", "M63138", "M57710", "M69043",
    "M81695", "X85116", "M19045", "M83652", "X04085",
)  # fmt: skip
#: Colon genes that are well known, by their accession numbers.
COLON = {
    "H06524": "gelsolin",
    "H08393": "a collagen",
    "J02854": "myosin light chain",
    "M22382": "HSP60",
    "M26383": "interleukin 8",
    "M63391": "desmin",
    "M76378": "cysteine-rich protein",
    "R87126": "non-muscle myosin",
    "T92451": "tropomyosin",
    "X63629": "P-cadherin",
    "Z50753": "uroguanylin",
}
SHOWN = 6


class Kept(NamedTuple):
    """Genes that a method keeps, best first, and what it says of each."""

    genes: list[str]
    values: list[float]


def tables() -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """The data sets as logarithms."""
    from tamiz.data import load

    found = {}
    for name, least in (("colon", 1.0), ("leukemia_golub", 100.0), ("srbct", None)):
        data = load(name)
        values = data.X if least is None else np.log(np.maximum(data.X, least))
        found[name] = pd.DataFrame(values, columns=data.feature_names), np.asarray(data.y)
    return found


def _frequent(selector: Any, X: pd.DataFrame, y: np.ndarray) -> Kept:
    from tamiz.discovery import StabilitySelection

    found = StabilitySelection(selector, fdr=0.1, random_state=0).fit(X, y)
    return _best(X, found.support_, found.frequencies_)


def _standing(X: pd.DataFrame, y: np.ndarray) -> Kept:
    from tamiz.evaluation.comparison.compare import run_comparison
    from tamiz.evaluation.study.standing import find_standing

    methods = ["fisher", "relieff", "mrmr", "rfe"]
    found, setting = run_comparison(
        X, y, methods, sizes=[2], cv=3, repeats=1, nested=False, apparent="rank", baselines=(),
        scale="auto", random_state=0,
    )  # fmt: skip
    standing = find_standing(setting, found, methods[0], 0.1, 1e6, None)
    assert standing is not None
    support = np.zeros(X.shape[1], dtype=bool)
    support[standing.features] = True
    return _best(X, support, np.max(list(standing.frequencies.values()), axis=0))


def _corrected(method: str, X: pd.DataFrame, y: np.ndarray) -> Kept:
    from tamiz.discovery import adjust_pvalues
    from tamiz.filters import WelchT

    adjusted = adjust_pvalues(WelchT().fit(X, y).pvalues_, method)
    return _best(X, adjusted <= 0.1, -adjusted)


def _best(X: pd.DataFrame, support: np.ndarray, values: np.ndarray) -> Kept:
    order = [j for j in np.argsort(-values, kind="stable") if support[j]]
    return Kept([str(X.columns[j]) for j in order], [float(abs(values[j])) for j in order])


def survivors(X: pd.DataFrame, y: np.ndarray) -> dict[str, Kept]:
    """By method, the genes that it keeps at a rate of a tenth."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from tamiz.embedded import SVMRFE
    from tamiz.filters import ReliefF, WelchT

    elimination = make_pipeline(StandardScaler(), SVMRFE(step=0.1))
    return {
        "`StabilitySelection`, Welch's t": _frequent(WelchT(), X, y),
        "`StabilitySelection`, ReliefF": _frequent(ReliefF(), X, y),
        "`StabilitySelection`, elimination": _frequent(elimination, X, y),
        "`tamiz select`, to stand behind": _standing(X, y),
        "Welch's t, Benjamini-Yekutieli": _corrected("by", X, y),
        "Welch's t, Benjamini-Hochberg": _corrected("bh", X, y),
        "Welch's t, Storey": _corrected("storey", X, y),
    }


def _shown(gene: str) -> str:
    """The gene, with the name by which it is known if that is one of the well-known ones."""
    known = COLON.get(gene.rpartition("_")[2])
    return gene if known is None else f"{gene} ({known})"


def table(name: str, found: dict[str, Kept]) -> str:
    """The rows of one data set in Markdown."""
    known = name == "leukemia_golub"
    rows = [
        f"| {name} | genes | first of them | also kept by another |{' of the fifty |' * known}",
        f"|---|---:|---|---:|{'---:|' * known}",
    ]
    for method, kept in found.items():
        others = {gene for key, one in found.items() if key != method for gene in one.genes}
        first = ", ".join(
            f"{_shown(gene)} {value:.2g}"
            for gene, value in zip(kept.genes[:SHOWN], kept.values[:SHOWN], strict=True)
        )
        shared = sum(gene in others for gene in kept.genes)
        row = f"| {method} | {len(kept.genes):,} | {first or '–'} | {shared:,} |"
        rows.append(row + f" {sum(gene.startswith(GOLUB) for gene in kept.genes)} |" * known)
    return "\n".join(rows)


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    for name, (X, y) in tables().items():
        print(table(name, survivors(X, y)), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
