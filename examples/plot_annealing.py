"""
Simulated annealing: a walk among subsets
=========================================

The score of a subset is the accuracy of a radial machine in five folds, on the breast cancer data.
Annealing walks from subset to neighbouring subset; steps down are taken the less often the colder
it is.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz import SVC
from tamiz.search import SimulatedAnnealing

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
judge = make_pipeline(StandardScaler(), SVC())
walk = SimulatedAnnealing(judge, v=0.8, random_state=0).fit(X, y)
print(f"{walk.support_.sum()} features, score {walk.best_score_:.4f}")
print(f"{walk.n_evaluations_} different subsets judged")

# %%
# The walk, and the temperature beside it.
walk.plot()
plt.show()
