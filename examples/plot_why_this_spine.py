"""
Why this spine? Importances, curves, pairs, and one patient
===========================================================

Six angles and distances of the pelvis and the lumbar spine, from X-rays of 310 patients: is the
spine normal or not? A radial machine answers; here it is asked what it leans on, how it uses each
measurement, and what would have to be different in one patient for the other answer.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz import SVC
from tamiz.data import load
from tamiz.explain import (
    counterfactual,
    interaction_strength,
    partial_dependence,
    permutation_importance,
    shapley_values,
)

data = load("vertebral_2c")
X = pd.DataFrame(data.X, columns=data.feature_names)
y = np.asarray(data.y)
judge = make_pipeline(StandardScaler(), SVC(C=2.0))

# %%
# How much do predictions owe to a measurement? Test rows of ten folds, columns shuffled;
# measurements that follow each other are shuffled together. The lines are corrected intervals over
# the folds.
importance = permutation_importance(
    judge, X, y, cv=10, scoring="balanced_accuracy", feature_groups="auto", random_state=0
)
print(importance.to_frame().round(3).to_string(index=False))
importance.plot()

# %%
# How does the machine use them? Thin lines are single patients: where they are not parallel, the
# measurement acts together with others.
train, test, labels, _ = train_test_split(X, y, stratify=y, random_state=0)
machine = judge.fit(train, labels)
curves = partial_dependence(machine, train)
best = np.argsort(-curves.spreads)[:4]
figure, places = plt.subplots(2, 2, figsize=(8, 6), layout="constrained", sharey=True)
for ax, k in zip(places.flat, best, strict=True):
    curves.plot(X.columns[curves.features[k]], ax=ax)

# %%
# Which of them act together, and how strongly?
interaction_strength(machine, train, random_state=0).plot(top=6)

# %%
# What each measurement adds for patients that the machine has not seen, and one of them in words.
added = shapley_values(machine, test, background=train)
added.plot()
print(added.to_frame().round(2).head(3).to_string())

turned = counterfactual(machine, test[:21], train)
i = int(np.argsort(turned.distances)[10])  # neither the smallest change nor the largest
print(turned.sentence(i), f"({turned.method})")
turned.plot(i)
plt.show()
