"""
How far to prune a tree
=======================

A tree that is grown until its leaves are pure knows its training data by heart. Pruning walks back:
the sub-trees with the least training error for their size, from the full tree to the root alone.
Data that were not used to grow the tree tell where to stop.

Drawn with the Pima diabetes data (768 patients, 8 measurements).
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from tamiz.data import load
from tamiz.tree import CARTClassifier

patients = load("pima")
X, y = patients.frame[patients.feature_names], patients.y
X_grow, X_prune, y_grow, y_prune = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = CARTClassifier().fit(X_grow, y_grow)
model.prune(X_prune, y_prune)
path = model.prune_path_
print(path)


# %%
# A tree can be grown in many orders. These are the trees that it passes on the way if a random leaf
# is split next; none of them lies below the line of the best sub-trees.
def passed(tree, rng):
    """Mean depths and training errors of a tree that grows at random."""
    open_, depth, error = [0], [0.0], [tree.error[0]]
    while open_:
        t = open_.pop(rng.integers(len(open_)))
        if tree.is_leaf[t]:
            continue
        left, right = tree.left[t], tree.right[t]
        depth.append(depth[-1] + tree.weight[t] / tree.weight[0])
        error.append(error[-1] - tree.error[t] + tree.error[left] + tree.error[right])
        open_ += [left, right]
    return np.array([depth, error])


# %%
# The way up and the way back.
rng = np.random.default_rng(0)
figure, left = plt.subplots(figsize=(5, 4), layout="constrained")
for k in range(12):
    label = "other orders of growth" if k == 0 else None
    left.plot(*passed(path.full, rng), ".", color="0.8", ms=3, zorder=0, label=label)
model.pruning_path().plot(left, growth=True)
left.set_title("growing and pruning")
plt.show()

# %%
# The error on the patients put aside: it falls as the tree grows, and rises again once the tree
# learns chance. The circle is the tree that is kept.
figure, right = plt.subplots(figsize=(5, 4), layout="constrained")
path.plot(right)
right.set_title("where to stop")
plt.show()

# %%
# The rule of one standard error takes a smaller tree, if one is hardly worse.
model.prune(X_prune, y_prune, rule="1se")
print(model.to_text())
