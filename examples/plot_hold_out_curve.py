"""
The error along a hold-out elimination, and where it stops
==========================================================

Tumours described by 30 numbers, scaled to [0, 1]; a radial machine. Every step draws new splits, so
the error with the features in play (dots) goes up and down by chance; the least error without one
of them (line) is what the method looks at: it stops where the line first passes above the dot. With
ten splits per step the curve is smoother, and shows that ten features are as good as thirty; but
averages are rarely equal, so that both rules stop early, at the first step that looks worse. The
highest values are cut off.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MinMaxScaler

from tamiz import HoldOutSVM

X, y = load_breast_cancer(return_X_y=True)
X = MinMaxScaler().fit_transform(X)


def draw(ax, splits):
    """One elimination and the stops of both rules."""
    machine = {"C": 10.0, "gamma": 0.5, "splits_per_step": splits, "random_state": 2}
    worse = HoldOutSVM(**machine).fit(X, y)
    not_better = HoldOutSVM(**machine, stop="not_better").fit(X, y)
    steps = worse.selection_.path[1:]
    before = [step.n_features + len(step.features) for step in steps]
    least = [step.details["without"].min() for step in steps]
    ax.plot(worse.sizes_, worse.errors_, "o", ms=4, label="with all features in play")
    ax.plot(before, least, lw=1.5, color="#D55E00", label="least without one of them")
    for found, style, name in ((worse, "--", "worse"), (not_better, ":", "not_better")):
        kept = int(found.support_.sum())
        ax.axvline(kept, color="0.4", ls=style, lw=1.2, label=f'stop="{name}": {kept} features')
    n = worse.selection_.notes["n_validation"]
    title = f"{splits} split{'s' * (splits > 1)} per step"
    ax.set(xlabel="features in play", xlim=(31, 0), ylim=(0, 30), title=title)
    ax.set_ylabel(f"errors on {n} held-out samples")
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8)


for splits in (1, 10):
    figure, ax = plt.subplots(figsize=(5.5, 4.2), layout="constrained")
    draw(ax, splits)
plt.show()
