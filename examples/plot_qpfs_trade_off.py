"""
QPFS: relevance against redundancy
==================================

QPFS gives weights to all features at once: they should tell much about the class and little about
each other. One number, alpha, says how much the first counts. With ``alpha=1`` the best single
feature gets everything; with less, weight moves to features that are different from each other.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz import QPFS, SVC
from tamiz.display import PALETTE

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
Q = np.abs(np.corrcoef(X, rowvar=False))

# %%
# Thirty measurements of tumours, compared by their correlations.
alphas = np.linspace(0.02, 0.98, 49)
fits = [QPFS(alpha=alpha, similarity="pearson").fit(X, y) for alpha in alphas]
weights = np.array([fit.weights_ for fit in fits])
relevance = weights @ fits[0].relevance_
redundancy = np.einsum("ij,jk,ik->i", weights, Q, weights)
auto = QPFS(similarity="pearson").fit(X, y)
print(f'alpha="auto" is {auto.alpha_:.2f} here and keeps {auto.n_suggested_} features:')
print(", ".join(auto.selection_.selected))

# %%
# And the error of a machine on the five features of most weight, selected inside each fold.
tried = [0.1, 0.3, 0.5, 0.7, 0.9]
errors = []
for alpha in tried:
    selector = QPFS(5, alpha=alpha, similarity="pearson")
    model = make_pipeline(StandardScaler(), selector, SVC())
    errors.append(1 - cross_val_score(model, X, y, cv=5))

# %%
# The weights as alpha grows. The dashed line is ``alpha="auto"``.
figure, left = plt.subplots(figsize=(6, 5.4), layout="constrained")
largest = np.argsort(-weights.max(axis=0))[:7]
left.stackplot(
    alphas,
    weights[:, largest].T,
    np.delete(weights, largest, axis=1).sum(axis=1),
    labels=[*X.columns[largest], "others"],
    colors=[*PALETTE[:7], "0.85"],
)
left.set(xlabel="alpha", ylabel="weight", xlim=(alphas[0], alphas[-1]), ylim=(0, 1))
left.axvline(auto.alpha_, color="k", ls="--", lw=1)
left.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
plt.show()

# %%
# Relevance costs redundancy.
figure, middle = plt.subplots(figsize=(6, 4.4), layout="constrained")
points = middle.scatter(redundancy, relevance, c=alphas, cmap="viridis", s=22)
middle.set(xlabel="redundancy $x^\\top Q x$", ylabel="relevance $F^\\top x$")
figure.colorbar(points, ax=middle, label="alpha")
plt.show()

# %%
# The error. Five folds are few, so only the outline of its valley is to be believed.
figure, right = plt.subplots(figsize=(6, 4.4), layout="constrained")
right.errorbar(
    tried, 100 * np.mean(errors, axis=1), 100 * np.std(errors, axis=1) / np.sqrt(5), marker="o"
)
right.set(xlabel="alpha", ylabel="error in %, with standard error", title="five features")
plt.show()
