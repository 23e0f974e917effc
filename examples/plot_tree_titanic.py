"""
Women and children first: the tree of the Titanic
=================================================

Who survived, by class, age and sex: 2,201 people, of whom 711 lived. The full tree has a leaf for
nearly every kind of person. Pruned, five leaves are left that can be said in one sentence: women,
if not poor, and children of the better classes.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt

from tamiz.data import load
from tamiz.tree import CARTClassifier

people = load("titanic")
X, y = people.frame[people.feature_names], people.y

# %%
# Words need no encoding: a test asks whether a category is in a set.
tree = CARTClassifier().fit(X, y)
print(tree.to_text())

# %%
# Ten folds say how far to prune. Tests that change no prediction go first: 13 leaves and 5 have the
# same training error.
tree.prune_cv(X, y, cv=10)
print(tree.prune_path_)

# %%
# What is left, as rules.
print(tree.rules())

# %%
# And as a picture: each box names its test, what it predicts, and how many it holds; the bar shows
# the proportions of the classes. ``tree.to_svg("titanic.svg")`` draws the same without matplotlib.
tree.plot()
plt.show()
