"""
How many features? Forward selection and the rule of one standard error
=======================================================================

Forward selection on 30 measurements of cell nuclei. The score of the best subset of each size is
the mean over ten folds; the band is its standard error. The best score lies somewhere on a plateau,
at a size that chance decides. The rule of one standard error takes the smallest subset that is not
worse than the best by more than one standard error of their difference in the same folds.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.search import ForwardSelection
from tamiz.svm import SVC

# %%
# Scaling belongs into the judge, so that each fold scales by its own training part.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
judge = make_pipeline(StandardScaler(), SVC())
folds = StratifiedKFold(10, shuffle=True, random_state=0)
search = ForwardSelection(judge, n_features_to_select="1se", cv=folds).fit(X, y)
best = max(search.curve_, key=lambda point: (point["score"], -point["n_features"]))
print("selected:", ", ".join(search.selection_.selected))
print(f"score {search.best_score_:.3f}; best {best['score']:.3f} with {best['n_features']}")
print(f"{search.n_evaluations_} subsets judged")

# %%
# The star is the best, the ring what is selected.
ax = search.plot()
ax.plot([best["n_features"]], [best["score"]], "k*", ms=10, label="best")
ax.legend(fontsize="small", loc="lower right")
plt.show()
