"""
The path of the ℓ1 machine
==========================

A machine with the sum of absolute weights as penalty sets weights to zero. How many depends on the
penalty C of the losses: if it is small all, then one feature after the other enters.
"""

# sphinx_gallery_thumbnail_number = 1

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import L1SVM, l1_svm_path

# %%
# Breast cancer data, standardised: the whole path, sixty values of C, and the accuracy in
# cross-validation at some of them.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
whole = l1_svm_path(StandardScaler().fit_transform(X), y, n_values=60, span=300)
some = whole.Cs[2::6]
folds = StratifiedKFold(5, shuffle=True, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of values of C at which a fold keeps no feature
    scores = np.array(
        [cross_val_score(make_pipeline(StandardScaler(), L1SVM(C=C)), X, y, cv=folds) for C in some]
    )

# %%
# The weights against C, in colour those of the eight features that enter first.
figure, left = plt.subplots(figsize=(5, 4), layout="constrained")
whole.plot(names=list(X.columns), ax=left)
left.set_title("weights")
left.set_xlim(whole.Cs[0] / 40, None)  # room for the names
left.get_legend().set_loc("lower left")
plt.show()

# %%
# How many features have a weight, and the accuracy.
figure, right = plt.subplots(figsize=(5, 4), layout="constrained")
right.step(whole.Cs, whole.n_nonzero, where="mid", color="#0072B2")
right.set(xscale="log", xlabel="C", title="features with weight, and accuracy")
right.yaxis.get_major_locator().set_params(integer=True)
right.set_ylabel("features with weight", color="#0072B2")
accuracy = right.twinx()
spread = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
accuracy.errorbar(some, scores.mean(axis=1), spread, color="#D55E00", marker="o", ms=4, capsize=2)
accuracy.set_ylabel("accuracy in five folds, with standard error", color="#D55E00")
plt.show()
