"""
Which measurements predict how a disease goes on? Selection for a numeric target
================================================================================

442 patients with diabetes, ten measurements, and a number that says how far the disease had gone a
year later. Recursive elimination with a support vector regression, with a straight function and
with a curved one: the mean absolute error on the samples that each fold holds out, for each number
of features, and the band of one standard error. Six measurements do what ten do, and two most of
it. ``scale_target`` measures C and epsilon in standard deviations of the target, so that its unit
does not matter.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from tamiz import SVMRFE, HoldOutSVM

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)

machines = {
    "linear": {"kernel": "linear"},
    "radial": {"kernel": "rbf", "gamma": 0.02},
}
figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for (name, kernel), colour in zip(machines.items(), ("#0072B2", "#D55E00"), strict=True):
    rfe = SVMRFE("1se", task="regression", scale_target=True, cv=10, random_state=0, **kernel)
    rfe.fit(X, y)
    mean = rfe.cv_errors_.mean(axis=0)
    error = rfe.cv_errors_.std(axis=0, ddof=1) / np.sqrt(len(rfe.cv_errors_))
    ax.fill_between(rfe.cv_sizes_, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
    ax.plot(rfe.cv_sizes_, mean, "o-", ms=4, color=colour, label=name)
    print(f"{name}: {', '.join(rfe.selection_.selected)}; R² {rfe.score(X, y):.2f}")
    chosen = int(rfe.support_.sum())
    at = mean[rfe.cv_sizes_.tolist().index(chosen)]
    ax.plot(chosen, at, "o", ms=11, mfc="none", color=colour)
nothing = float(np.abs(y - np.median(y)).mean())
ax.axhline(nothing, color="0.5", ls=":", lw=1.2, label="without any feature")
ax.set(xlabel="features", ylabel="mean absolute error, held out", xticks=range(1, 11))
ax.grid(alpha=0.25)
ax.legend(title="rings: chosen by one standard error", fontsize=8, title_fontsize=8)

# %%
# Another question leads to another order: what is lost on samples held out if a measurement leaves.
# :class:`~tamiz.HoldOutSVM` with a radial machine and twenty splits for each step. Each dot names
# the measurement that leaves next.

held = HoldOutSVM(
    task="regression", scale_target=True, gamma=0.02, splits_per_step=20, random_state=0
)
held.fit(X, y)
print(" > ".join(X.columns[j] for j in held.order_))
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
ax.plot(held.sizes_, held.errors_, "o-", ms=4)
left = [X.columns[step.features[0]] for step in held.selection_.path[1:]]
for size, error, name in zip(held.sizes_, held.errors_, left, strict=False):
    ax.annotate(f"- {name}", (size, error), xytext=(0, 7), textcoords="offset points", fontsize=8)
ax.set(xlabel="features in play", ylabel="mean absolute error, held out", xlim=(10.5, 0.5))
ax.grid(alpha=0.25)
plt.show()
