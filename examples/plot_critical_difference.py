"""
Which methods differ? The critical difference
=============================================

Errors of several methods on several data sets are compared by their ranks. Friedman's test asks
whether all methods might be alike; if not, two of them differ if their mean ranks are further apart
than the critical difference. In the picture, bars join methods that do not differ.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np

from tamiz import compare
from tamiz.evaluation import critical_difference, critical_difference_diagram, significance

# %%
# A worked example from the literature (Demšar, 2006): four variants of a decision tree on fourteen
# data sets. At a level of 10 %, plain C4.5 ranks worse than both variants with a tuned leaf size.
ranks = {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
print(f"critical difference: {critical_difference(4, 14, alpha=0.10):.2f}")
critical_difference_diagram(ranks, n_runs=14, alpha=0.10)
plt.show()

# %%
# Our own table: four selectors on twelve artificial problems, six of them with features that
# help only in combination. The judge is a radial machine on five of twenty features.


def problem(seed):
    """120 samples; the class follows a sum of features, or (odd seeds) the sign of a product."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 20))
    signal = 2 * X[:, 0] * X[:, 1] + X[:, 2] if seed % 2 else X[:, :4].sum(axis=1)
    return X, (signal + 0.5 * rng.standard_normal(120) > 0).astype(int)


names = ["fisher", "relieff", "mrmr", "rfe"]
errors = []
for seed in range(12):
    found = compare(
        *problem(seed), names, "svc-rbf", sizes=[5], cv=5, repeats=1, nested=False, random_state=0
    )
    errors.append([found.estimate(name).error for name in names])
test = significance(np.array(errors), names=names)
print(test)
test.plot()
plt.show()
