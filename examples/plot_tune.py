"""
The error over C and gamma
==========================

Handwritten fives and eights, 356 images of 8 x 8 pixels. The error of a radial machine goes from
that of guessing to less than one in a hundred, and the good part of the map is a valley: with a
larger gamma a smaller C will do.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from tamiz import tune

X, y = load_digits(return_X_y=True)
rows = np.isin(y, (5, 8))
grid = {"C": 10.0 ** np.arange(-1, 4), "gamma": 10.0 ** np.arange(-5, 0.5, 0.5)}
tuning = tune(X[rows], y[rows], grid=grid, cv=10)
print(tuning)

# %%
# Steps of colour are even in ratio, so that the good part of the map shows. The minimum of a flat
# valley is a matter of chance; ``choose="1se"`` takes the simplest cell that is not noticeably
# worse.
tuning.plot()
plt.show()
