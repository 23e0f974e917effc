"""
Do two methods select the same features again?
==============================================

Tumours described by 30 numbers, many of which say nearly the same. Each method selects five
features of every bootstrap sample. Ranking one by one takes the five strongest, which are the same
nearly every time; elimination by a machine keeps few of several twins, and which ones is a matter
of chance. Less stable does not mean worse: it may mean that there are many ways to be right.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from tamiz import SVMRFE
from tamiz.evaluation import stability_of
from tamiz.filters import SignalToNoise

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
filtered = stability_of(SignalToNoise(5), X, y, n_resamples=50, random_state=0)
eliminated = stability_of(SVMRFE(5), X, y, n_resamples=50, random_state=0)

# %%
# The index is 1 if all selections are the same and 0 in the mean for selections at random. Being a
# mean, it has an interval, and two methods can be tested against each other.
print(filtered, end="\n\n")
print(filtered.compare(eliminated))

# %%
# How often each feature is selected.
methods = {"SignalToNoise": filtered, "SVMRFE": eliminated}
for name, found in methods.items():
    figure, ax = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
    found.plot(top=12, ax=ax)
    ax.set_title(f"{name}: {ax.get_title()}", size="medium")
plt.show()

# %%
# Which sample selected what.
for found in methods.values():
    figure, ax = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
    found.plot_selections(top=12, ax=ax)
    ax.set_title("")
plt.show()
