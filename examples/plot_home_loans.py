"""
Will these loans be repaid? Rules beside a plane
================================================

5,960 home-equity loans and twelve facts about each, some missing. A plane adds up what speaks for a
default and what against it; trees have thresholds, and rules that hold for some loans only. Which
is right more often, by how much, and on which facts does it rest?
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tamiz.data import load
from tamiz.evaluation import ReportCard
from tamiz.explain import permutation_importance
from tamiz.svm import LinearMachine
from tamiz.tree import BoostingClassifier, CARTClassifier, ForestClassifier

loans = load("hmeq")
X = loans.frame[loans.feature_names]
y = np.where(np.asarray(loans.y).astype(str) == "1", "default", "repaid")
train, test, labels, answers = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)

# %%
# Words become indicators, and missing values are filled, with an indicator of where they were. A
# single tree needs neither: it asks whether a word is in a set, and a rule may name missing values.
numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="first"))
columns = make_column_transformer(
    (numbers, make_column_selector(dtype_include=np.number)),
    (words, make_column_selector(dtype_exclude=np.number)),
)
models = {
    "plane": make_pipeline(columns, LinearMachine(loss="logistic")),
    "one tree": CARTClassifier(min_samples_leaf=100),
    "forest": make_pipeline(columns, ForestClassifier(random_state=0)),
    "boosting": make_pipeline(columns, BoostingClassifier()),
}
figure, ax = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
for name, model in models.items():
    model.fit(train, labels)
    RocCurveDisplay.from_estimator(model, test, answers, pos_label="default", name=name, ax=ax)
    card = ReportCard.of(model, test, answers, positive="default")
    print(f"{name:9} area {card['roc_area']}, of the defaults found {card['sensitivity']}")
ax.set(xlabel="alarms among repaid loans", ylabel="defaults that are found")
plt.show()

# %%
# On which facts does the best one rest? Columns are shuffled in the test rows of five folds.
importance = permutation_importance(
    models["forest"], X, y, cv=5, n_repeats=3, scoring="roc_auc", random_state=0
)
importance.plot()
plt.show()

# %%
# One tree, cut back by cross-validation, says most of it in a few rules.
tree = models["one tree"].prune_cv(train, labels, cv=10)
print(tree.rules())
