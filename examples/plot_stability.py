"""
Do two methods select the same features again?
==============================================

Tumours described by 30 numbers, many of which say nearly the same. Each method selects five
features of every bootstrap sample. Ranking one by one takes the five strongest, which are the same
nearly every time; elimination by a machine keeps few of several twins, and which ones is a matter
of chance. Less stable does not mean worse: it may mean that there are many ways to be right.
"""

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
# Above: how often each feature is selected. Below: which sample selected what.
figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
for column, name, found in zip(
    axes.T, ("SignalToNoise", "SVMRFE"), (filtered, eliminated), strict=True
):
    found.plot(top=12, ax=column[0])
    found.plot_selections(top=12, ax=column[1])
    column[0].set_title(f"{name}: {column[0].get_title()}", size="medium")
    column[1].set_title("")
plt.show()
