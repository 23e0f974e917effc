"""
A first selection: filter, embedded method, wrapper
===================================================

569 tumours, described by 30 numbers that a microscope gives. Which of them are enough to tell
benign from malignant? Three ways to ask:

- a **filter** looks at the data alone (mRMR: features that tell much and do not repeat each other);
- an **embedded** method selects while a machine learns (SVM-RFE: the feature that the margin misses
  least leaves first);
- a **wrapper** asks the machine about each subset (forward selection).
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz import MRMR, SVC, SVMRFE, ForwardSelection

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selectors = {
    "mRMR (filter)": MRMR(5),
    "SVM-RFE (embedded)": SVMRFE(5),
    "forward (wrapper)": ForwardSelection(SVC(), n_features_to_select=5),
}

# %%
# All selectors are used alike, and all give the same kind of result. A scaler goes first, since
# machines measure distances.
scaler = StandardScaler().set_output(transform="pandas")
Z = scaler.fit_transform(X)
for name, selector in selectors.items():
    selection = selector.fit(Z, y).selection_
    print(f"{name:20} {', '.join(selection.selected)}")

# %%
# The error is to be counted on samples that had no part in the selection. In a pipeline the
# selector is fitted inside the training part of each fold, so that is what happens here.
errors = {}
for name, selector in selectors.items():
    model = make_pipeline(StandardScaler(), selector, SVC())
    errors[name] = 1 - cross_val_score(model, X, y, cv=5)
errors["all 30 features"] = 1 - cross_val_score(make_pipeline(StandardScaler(), SVC()), X, y, cv=5)

# %%
# The methods agree on little, and still err alike (below): many features of these data say nearly
# the same. Five of them come within about a point of all thirty.
picked = np.array([selector.support_ for selector in selectors.values()])
used = np.flatnonzero(picked.any(axis=0))
used = used[np.argsort(-picked[:, used].sum(axis=0), kind="stable")]
figure, left = plt.subplots(figsize=(6, 4.2), layout="constrained")
left.imshow(picked[:, used].T, cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
left.set_yticks(range(len(used)), X.columns[used])
left.set_xticks(range(len(selectors)), [name.replace(" (", "\n(") for name in selectors])
left.set_xticks(np.arange(len(selectors) - 1) + 0.5, minor=True)
left.set_yticks(np.arange(len(used) - 1) + 0.5, minor=True)
left.grid(which="minor", color="0.85")
left.tick_params(which="both", length=0)
left.set_title("five features each")
plt.show()

# %%
# The error of each fold, and their mean.
figure, right = plt.subplots(figsize=(6, 3.6), layout="constrained")
for place, fold_errors in enumerate(errors.values()):
    right.plot(100 * fold_errors, np.full(5, place), "o", color="0.65", ms=5)
    right.plot(100 * fold_errors.mean(), place, "|", color="#0072B2", ms=22, mew=3)
right.set_yticks(range(len(errors)), list(errors))
right.set(xlabel="error in %, five folds and their mean", xlim=(0, None), title="error")
right.invert_yaxis()
plt.show()
