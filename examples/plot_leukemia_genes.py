"""
Two leukemias: how many genes differ, and how sure is that?
============================================================

72 patients with one of two leukemias, ALL or AML, and 7,129 genes. When so many genes are tested
at once, hundreds look significant by chance. The labels are shuffled to see how many, and the
answer depends on which mistake one wants to avoid.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.data import load
from tamiz.discovery import adjust_pvalues, permutation_scores
from tamiz.evaluation import ReportCard
from tamiz.filters import WelchT
from tamiz.svm import LinearMachine

data = load("leukemia_golub")
X = pd.DataFrame(np.log2(np.clip(data.X, 100, 16000)), columns=data.feature_names)
X = X.loc[:, X.std() > 0.1]  # genes that are never, or always, at the end of the scale
y = np.asarray(data.y)
print(f"{X.shape[1]:,} genes that vary")

# %%
# Welch's t test of each gene, and its p-value after four corrections.
welch = WelchT().fit(X, y)
for name, method, level in [
    ("none", None, 0.05),
    ("false discovery rate 5 %, Benjamini and Hochberg", "bh", 0.05),
    ("the same under any dependence, Benjamini and Yekutieli", "by", 0.05),
    ("chance of one wrong gene 5 %, Holm", "holm", 0.05),
]:
    p = welch.pvalues_ if method is None else adjust_pvalues(welch.pvalues_, method)
    print(f"{(p <= level).sum():5,} genes  {name}")

# %%
# The same chance of one wrong gene from shuffled labels, which know how genes depend on each other:
shuffled = permutation_scores(WelchT(), X, y, n_permutations=300, random_state=0)
sure = shuffled.support(0.05, "maxt")
print(f"{sure.sum():5,} genes  chance of one wrong gene 5 %, by shuffled labels")

# %%
# Size and certainty of the difference for every gene.
change = X[y == "AML"].mean() - X[y == "ALL"].mean()
figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
q = adjust_pvalues(welch.pvalues_, "bh")
kinds = [
    ("not told apart", q > 0.05, "0.75"),
    ("among those of which 5 % may be wrong", (q <= 0.05) & ~sure, "#0072B2"),
    ("of these hardly one is wrong", sure, "#D55E00"),
]
for name, which, colour in kinds:
    height = -np.log10(np.maximum(welch.pvalues_[which], 1e-300))
    ax.plot(change[which], height, ".", ms=4, color=colour, label=f"{name} ({which.sum():,})")
for j in np.argsort(welch.pvalues_)[:4]:
    place = (change.iloc[j], -np.log10(welch.pvalues_[j]))
    ax.annotate(X.columns[j], place, xytext=(5, 3), textcoords="offset points", size="small")
ax.set(xlabel="AML over ALL, doublings", ylabel="−log₁₀ of the p-value")
ax.legend(loc="lower right")
plt.show()

# %%
# Few genes are enough to tell a new patient's leukemia. The genes are chosen on two thirds of the
# patients; the others say how good the choice was.
train, test, labels, answers = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
for n_genes in (1, 5, 25):
    machine = make_pipeline(StandardScaler(), WelchT(n_genes), LinearMachine(C=1.0))
    card = ReportCard.of(machine.fit(train, labels), test, answers)
    print(f"{n_genes:3} {'genes' if n_genes > 1 else 'gene'}: accuracy {card['accuracy']}")
