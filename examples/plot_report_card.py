"""
Report card and ROC curve
=========================

A machine on tumours it has not seen: how many of the malignant ones are found, how many alarms are
right, how well do its values order the samples? Every number comes with an interval, because 81 of
85 is not the same as 810 of 850.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz import SVC
from tamiz.evaluation import ReportCard

X, y = load_breast_cancer(return_X_y=True)
names = np.array(["malignant", "benign"])
X, X_test, y, y_test = train_test_split(X, names[y], test_size=0.4, stratify=y, random_state=0)
machine = make_pipeline(StandardScaler(), SVC(C=1.0)).fit(X, y)
card = ReportCard.of(machine, X_test, y_test, positive="malignant")
print(card)

# %%
# The confusion table, and the curve.
figures = [plt.subplots(figsize=(5, 4.4), layout="constrained") for _ in range(2)]
card.plot(ax=[ax for _, ax in figures])
plt.show()
