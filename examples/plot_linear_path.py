"""
Paths of a linear machine
=========================

The same losses with two penalties: the sum of absolute weights, and a penalty that counts features.
Both begin without any feature, and let them in as the penalty C of the losses grows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from tamiz.svm import LinearMachine

# %%
# Breast cancer data, standardised.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
Z = StandardScaler().fit_transform(X)

# %%
# One path for each penalty, each machine begun at the one before.
figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for penalty, ax in zip(("l1", "l0"), panels, strict=True):
    path = LinearMachine(loss="logistic", penalty=penalty).path(Z, y, n_values=30, span=300)
    path.plot(names=list(X.columns), top=5, ax=ax)
    ax.set_title(f'penalty="{penalty}", {path.n_nonzero[-1]} features at the end')
plt.show()
