"""
Genetic search: subsets that breed
==================================

Fifteen generations of thirty subsets of the breast cancer data, bred by crossover and mutation. The
score of a subset is the accuracy of a radial machine in five folds.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz import SVC, GeneticSearch

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
judge = make_pipeline(StandardScaler(), SVC())
search = GeneticSearch(judge, N=30, G=15, elitism=1, random_state=0).fit(X, y)
print(f"{search.support_.sum()} features, score {search.best_score_:.4f}")
print(f"{search.n_evaluations_} different subsets judged")

# %%
# The best subset passes unchanged into the next generation, so that the upper line never falls.
search.plot()
plt.show()
