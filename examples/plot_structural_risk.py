"""
Structural risk: what bounds on the error say
=============================================

A machine that can express more makes fewer errors on its training samples and may make more on new
ones. Theory has bounds on the difference. Here they are computed on tumours, and set against
errors counted on samples that the machine has not seen.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from tamiz import SVC
from tamiz.filters import FisherScore
from tamiz.svm import radius_margin_bound, span_bound, support_vector_bound, vc_confidence

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)

# %%
# **Nested families.** Hyperplanes over the first k features have Vapnik-Chervonenkis dimension
# k + 1, and each family holds the one before. The order of the features must not come from the
# training samples, or the dimension would be larger: a third of the data ranks, a third trains,
# a third tests.
X_rank, X_rest, y_rank, y_rest = train_test_split(X, y, test_size=2 / 3, stratify=y, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(
    X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=0
)
order = FisherScore().fit(X_rank, y_rank).order_
sizes = np.arange(1, 31)
training, test, term = [], [], []
for k in sizes:
    chosen = order[:k]
    machine = SVC(C=1.0, kernel="linear").fit(X_train[:, chosen], y_train)
    training.append(1 - machine.score(X_train[:, chosen], y_train))
    test.append(1 - machine.score(X_test[:, chosen], y_test))
    term.append(vc_confidence(len(y_train), int(k) + 1))
training, test, term = np.array(training), np.array(test), np.array(term)

figure, ax = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
ax.plot(sizes, training + term, color="#D55E00", lw=2, label="bound: training error + term")
ax.plot(sizes, term, color="#D55E00", ls="--", lw=1, label="VC confidence term (95 %)")
ax.plot(sizes, test, color="#0072B2", lw=2, label="error on new samples")
ax.plot(sizes, training, color="#009E73", lw=1.5, label="error on training samples")
ax.axhline(1.0, color="0.6", lw=0.8)
ax.text(30, 1.01, "no error is above 1", ha="right", va="bottom", color="0.4", size="small")
ax.set(xlabel="features (dimension − 1)", ylabel="error", ylim=(0, 1.6), xlim=(0.5, 30.5))
ax.set_title(f"Hyperplanes, {len(y_train)} training samples", size="medium")
ax.legend(fontsize="small", loc="upper left")
plt.show()
best = int(sizes[np.argmin(training + term)])
print(f"the bound is least with {best} feature(s): {np.min(training + term):.2f}")
print(f"error on new samples there: {test[best - 1]:.3f}; with all features: {test[-1]:.3f}")

# %%
# **One machine, four estimates.** Leave-one-out asks each sample of a machine trained without it.
# Only support vectors need to be left out: the others do not change the machine.


def leave_one_out_errors(machine):
    """Errors of the support vectors, each left out; the others are as right as before."""
    signs = 2 * y - 1
    wrong = 0
    for p in machine.support_:
        rest = np.delete(np.arange(len(y)), p)
        without = SVC(C=machine.C, gamma=machine.kernel_.gamma).fit(X[rest], y[rest])
        wrong += signs[p] * without.decision_function(X[p : p + 1])[0] <= 0
    return int(wrong)


penalties = np.logspace(-1, 3, 5)
rows = []
for C in penalties:
    machine = SVC(C=C, gamma=1 / 30).fit(X, y)
    rows.append(
        (
            leave_one_out_errors(machine),
            span_bound(machine, X, y).n_errors,
            len(y) * support_vector_bound(machine),
            radius_margin_bound(machine, X, y, squared_slack=True).value,
        )
    )
counted, spans, vectors, radius = np.array(rows).T / len(y)

figure, ax = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
ax.loglog(penalties, radius, color="#D55E00", marker="^", label="radius–margin bound")
ax.loglog(penalties, vectors, color="#E69F00", marker="s", label="fraction of support vectors")
ax.loglog(penalties, spans, color="#7F5AA2", marker="o", label="span rule (an estimate)")
ax.loglog(penalties, counted, color="#0072B2", lw=2, label="leave-one-out, counted")
ax.axhline(1.0, color="0.6", lw=0.8)
ax.text(penalties[-1], 0.93, "no error is above 1", ha="right", va="top", color="0.4", size="small")
ax.set(xlabel="penalty C", ylabel="leave-one-out error", ylim=(0.008, 150))
ax.set_title(f"Radial machine, {len(y)} samples", size="medium")
ax.legend(fontsize="small", loc="upper left")
plt.show()
for C, row in zip(penalties, rows, strict=True):
    print(
        f"C = {C:6g}: counted {row[0]:.0f}, spans {row[1]:.0f}, bounds {row[2]:.0f}, {row[3]:.0f}"
    )
