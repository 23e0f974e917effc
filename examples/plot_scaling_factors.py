"""
Scaling factors on the way down
===============================

Every feature is multiplied by a factor, and the factors move downhill on a bound of the error or on
the machine's own objective. Four Gaussian clouds whose class is the exclusive or of two features,
among 50 features of noise: neither feature is informative alone; in combination their factors rise.
"""

# sphinx_gallery_thumbnail_number = 1

import warnings

import matplotlib.pyplot as plt
import numpy as np

from tamiz.embedded import KPSVM, AdaptiveScaling, RadiusMarginScaling

rng = np.random.default_rng(0)
corner = rng.integers(0, 2, (400, 2))
X = rng.standard_normal((400, 52))
X[:, :2] = 2 * corner - 1 + 0.35 * X[:, :2]
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = corner[:, 0] ^ corner[:, 1]

# %%
# The first descent of the radius-margin bound, stopped after one step, two steps, and so on.
factors = [np.ones(X.shape[1])]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the descents are cut short on purpose
    for steps in range(1, 13):
        selector = RadiusMarginScaling(X.shape[1], max_iter=steps, step="half").fit(X, y)
        factors.append(selector.scale_)

# %%
# The factors step by step.
figure, left = plt.subplots(figsize=(4.5, 3.6), layout="constrained")
table = np.array(factors)
left.plot(table[:, 2:], color="0.75", lw=0.8)
left.plot(table[:, :2], color="#0072B2", lw=2)
left.set(xlabel="step", ylabel="factor", title="the pair (blue) and 50 features of noise")
plt.show()

# %%
# The objective of the three methods for each number of features that is left.
figure, right = plt.subplots(figsize=(4.5, 3.6), layout="constrained")
for method in (RadiusMarginScaling(), AdaptiveScaling(), KPSVM()):
    path = method.fit(X, y).selection_.path
    values = np.array([step.value for step in path]) / method.history_[0]
    sizes = [step.n_features for step in path]
    (line,) = right.plot(sizes, values, marker="o", ms=3.5, label=type(method).__name__)
    chosen = int(method.support_.sum())
    height = values[sizes.index(chosen)]
    right.plot(chosen, height, "o", ms=9, mfc="none", mec=line.get_color())
right.set(xlabel="features left", ylabel="objective / objective of all", yscale="log")
right.set_title("ring: where the method stops by itself")
right.legend(frameon=False)
plt.show()
