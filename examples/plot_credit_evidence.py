"""
The evidence in a loan: which facts tell who will default?
==========================================================

5,960 home-equity loans, one in five of which went into default. Each fact is cut into bins, and
each bin has a weight of evidence: what it adds to the log odds of a default. Summed over the bins,
they give the information value, by which scorecards choose their columns. A missing value is a bin
of its own, and here that bin says a great deal.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from tamiz.data import load
from tamiz.evaluation import report_card
from tamiz.filters import InformationValue
from tamiz.information import WeightOfEvidence

loans = load("hmeq")
X = loans.frame[loans.feature_names]
y = np.where(np.asarray(loans.y).astype(str) == "1", "default", "repaid")

# %%
# All columns by their information value. Below 0.02 a column says nothing, from 0.3 on much; above
# 0.5 one asks whether it was known beforehand.
ranking = InformationValue(bins="mdl").fit(X, y)
ranking.selection_.plot()
plt.axvline(0.02, color="0.5", ls=":")
plt.axvline(0.3, color="0.5", ls="--")
plt.show()

# %%
# The bins of three columns. The ratio of debt to income speaks for a default where it is high, and
# nearly as clearly where nobody wrote it down.
woe = WeightOfEvidence("mdl", positive="default").fit(X, y)
figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for ax, name in zip(axes, ["DEBTINC", "DELINQ", "CLAGE"], strict=True):
    woe.plot(name, ax=ax)
plt.show()

# %%
# A scorecard: the weights of evidence of the six best columns, added up by a logistic regression.
# The bins and the choice of the columns are made inside each training part.
card = make_pipeline(
    InformationValue(6, bins="mdl"),
    WeightOfEvidence("mdl"),
    LogisticRegression(),
)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
for name, model in {"six columns": card, "all twelve": make_pipeline(*card[1:])}.items():
    chances = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 0]
    guesses = np.where(chances > 0.5, "default", "repaid")
    found = report_card(y, guesses, scores=chances, positive="default")
    print(f"{name}: area under the ROC curve {found['roc_area']}")
