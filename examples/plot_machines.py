"""
Machines as pictures: margins, support vectors, C and gamma
===========================================================

What a machine decides, and what its decision rests on, can be seen if there are two features.
``plot`` draws the boundary, the margins, the support vectors and the slack of any machine here.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from tamiz import SVC, SVR
from tamiz.svm import SVDD, plot_panels

X, y = make_moons(80, noise=0.25, random_state=0)

# %%
# A linear machine. Rings are free support vectors, exactly on the margin; diamonds are bounded
# ones, inside it or beyond. A thin line leads from each of these to the margin of its class: its
# slack.
machine = SVC(C=1.0, kernel="linear").fit(X, y)
machine.plot(X, y)
plt.show()
print(f"{len(machine.free_support_)} free and {len(machine.bounded_support_)} bounded")

# %%
# Radial machines for three values of C (downwards) and of gamma (to the right). At the top left
# every sample is bounded and the boundary is nearly straight; at the bottom right it winds around
# single samples.
plot_panels(SVC(), X, y, {"C": [0.1, 1, 100], "gamma": [0.1, 1, 10]})
plt.show()

# %%
# The middle one, larger.
SVC(C=1.0, gamma=1.0).fit(X, y).plot(X, y)
plt.show()

# %%
# A regression: only samples on the surface of the tube or outside it are support vectors.
rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 60))[:, None]
target = np.sin(x[:, 0]) + rng.normal(0, 0.15, len(x))
SVR(C=5.0, epsilon=0.15).fit(x, target).plot(x, target)
plt.show()

# %%
# The description of one class: a ball in feature space, any shape in the plane.
SVDD(nu=0.1, gamma=1.0).fit(X).plot(X)
plt.show()
