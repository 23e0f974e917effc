"""
What careless work reports on pure noise
========================================

60 samples, 500 features, labels drawn without looking at them: nobody can do better than a coin.
Still, if the features are ranked on all samples before the cross-validation, a machine on the best
of them seems to work. ``compare`` ranks inside the training part and shows both errors.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

from tamiz import compare

rng = np.random.default_rng(1)
X = rng.standard_normal((60, 500))
y = rng.permutation(np.arange(60) % 2)
found = compare(
    X,
    y,
    ["fisher", "mrmr", "rfe"],
    sizes=[1, 2, 5, 10, 20, 50, 100],
    cv=5,
    repeats=2,
    random_state=0,
)
print(found.summary()[["method", "error", "low", "high", "apparent"]].round(3).to_string())

# %%
# Solid: the honest error, with its 95 % interval. Dashed: the apparent one.
figure, ax = plt.subplots(layout="constrained")
found.plot(ax=ax)
ax.set_ylim(0, 80)
plt.show()

# %%
# The difference of the two is the selection bias, and it is largest for the methods that fit the
# labels best.
figure, ax = plt.subplots(layout="constrained")
found.plot_bias(ax=ax)
plt.show()
