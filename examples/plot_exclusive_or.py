"""
A pair that is informative only in combination
==============================================

Two features whose signs agree in one class and differ in the other, among 28 features of noise.
Neither of the two has anything to do with the class by itself, so every filter that looks at one
feature at a time is blind, and so is mRMR, which starts from such scores. Methods that look at
neighbours (ReliefF) or at a curved machine (SVM-RFE with a radial kernel) see the pair.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np

from tamiz import MRMR, SVMRFE
from tamiz.filters import AUCScore, FisherScore, KolmogorovSmirnov, ReliefF

N_FEATURES, N_TABLES = 30, 10
PAIR = [11, 23]  # not the first columns, which ties would favour


def table(seed):
    """300 samples; the sign of the product of the pair is the class."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (300, N_FEATURES))
    return X, (X[:, PAIR].prod(axis=1) > 0).astype(int)


methods = {
    "Fisher": FisherScore(2),
    "Kolmogorov–Smirnov": KolmogorovSmirnov(2),
    "ROC area": AUCScore(2),
    "mRMR": MRMR(2),
    "ReliefF": ReliefF(2),
    "SVM-RFE, linear": SVMRFE(2, kernel="linear"),
    "SVM-RFE, radial": SVMRFE(2, kernel="rbf", C=10.0, gamma=0.1),
}

# %%
# One table proves little, since chance ranks noise as it likes. Ten tables, and the places that
# the two features take among thirty:
places = {name: [] for name in methods}
for seed in range(N_TABLES):
    X, y = table(seed)
    for name, selector in methods.items():
        order = list(selector.fit(X, y).order_)
        places[name].append([order.index(feature) + 1 for feature in PAIR])
for name, found in places.items():
    both = sum(sorted(pair) == [1, 2] for pair in found)
    print(f"{name:20} both on top in {both:2} of {N_TABLES} tables")

# %%
# The classes over the pair.
figure, left = plt.subplots(figsize=(4.8, 4.4), layout="constrained")
left.scatter(*X[:, PAIR].T, c=y, cmap="coolwarm", s=14)
left.axhline(0, color="0.5", lw=0.8)
left.axvline(0, color="0.5", lw=0.8)
left.set(xlabel=f"feature {PAIR[0]}", ylabel=f"feature {PAIR[1]}", aspect="equal", title="the pair")
plt.show()

# %%
# Where the two features are ranked.
figure, right = plt.subplots(figsize=(7, 4), layout="constrained")
for row, found in enumerate(places.values()):
    ranks = np.array(found)
    height = np.repeat(row + np.linspace(-0.25, 0.25, N_TABLES), 2)
    found_both = (ranks.max(axis=1) == 2).all()
    right.scatter(ranks.ravel(), height, s=16, color="#0072B2" if found_both else "0.55")
right.axvline(2.5, color="0.5", ls="--", lw=1)
right.set_yticks(range(len(places)), list(places))
right.set(xlabel="place among 30 features", xlim=(0, 31), title=f"both features, {N_TABLES} tables")
right.invert_yaxis()
plt.show()
