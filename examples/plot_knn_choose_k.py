"""
How many neighbours?
====================

The error of the k nearest neighbours over k, three times: on the samples it was trained with, over
ten folds, and on samples put aside. One neighbour knows its own training samples by heart, and is
the worst on others; with very many the boundary becomes too simple. In between the curve is flat.

Drawn with the Pima diabetes data (768 patients, 8 measurements).
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt

from tamiz.data import load
from tamiz.neighbors import choose_k

X, y = load("pima").as_xy()
choice = choose_k(X, y, range(1, 201), scaling="zscore", test=0.3, random_state=0)
print(choice)

# %%
# All 200 values of k are read from one search for neighbours in each fold. The band is one standard
# error on either side of the mean over the folds: within it one k is as good as another, and
# ``rule="1se"`` takes the largest, which makes the simplest boundary.
print("least error: k =", choice.choose("best"), " within one standard error: k =",
      choice.choose("1se"))  # fmt: skip

# %%
# Up to 200 neighbours.
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
choice.plot(ax=ax)
ax.set_xlim(0, 200)
plt.show()
