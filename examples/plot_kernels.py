"""
Kernels and their algebra
=========================

A kernel compares two samples; a machine that only compares can draw curved boundaries. Kernels are
objects here: they can be added, multiplied and composed, and what comes out is a kernel again.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np

from tamiz import SVC
from tamiz.kernels import RBF, Linear, Polynomial

# %%
# Two spirals: near samples are of one class, but no plane separates them.
rng = np.random.default_rng(0)
y = np.arange(240) % 2
angle = np.sqrt(rng.uniform(0.03, 1, len(y))) * 3 * np.pi
X = np.stack([angle * np.cos(angle + np.pi * y), angle * np.sin(angle + np.pi * y)], axis=1)
X = X / (3 * np.pi) + rng.normal(0, 0.025, X.shape)

# %%
# The last two kernels are compositions. ``k.of(h)`` compares what a function makes of the samples,
# here their polar coordinates with the turn undone; a linear kernel is then nearly enough.


def unrolled(points):
    """The direction of each point, turned back by its distance from the centre."""
    radius = np.linalg.norm(points, axis=1)
    turned = np.arctan2(points[:, 1], points[:, 0]) - 3 * np.pi * radius
    return np.stack([np.cos(turned), np.sin(turned)], axis=1)


kernels = {
    "Linear()": Linear(),
    "Polynomial(3)": Polynomial(3),
    "RBF(gamma=1)": RBF(gamma=1.0),
    "RBF(gamma=20)": RBF(gamma=20.0),
    "Linear() + 0.5 * RBF(gamma=20)": Linear() + 0.5 * RBF(gamma=20.0),
    "Linear().of(unrolled)": Linear().of(unrolled),
}
grid = np.stack(np.meshgrid(np.linspace(-1.15, 1.15, 120), np.linspace(-1.15, 1.15, 120)), axis=-1)


def draw(ax, name, kernel):
    """The samples, the boundary (thick) and the margin (thin)."""
    machine = SVC(C=10.0, kernel=kernel).fit(X, y)
    values = machine.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(grid[..., 0], grid[..., 1], np.clip(values, -2, 2), 20, cmap="RdBu_r", alpha=0.55)
    ax.contour(
        grid[..., 0], grid[..., 1], values, [-1, 0, 1], colors="k", linewidths=[0.6, 1.4, 0.6]
    )
    ax.scatter(*X.T, c=y, cmap="RdBu_r", s=17, edgecolor="w", linewidth=0.5)
    wrong, n_sv = int((machine.predict(X) != y).sum()), len(machine.support_)
    ax.set_title(f"{name}\n{wrong} wrong, {n_sv} support vectors", size="medium")
    ax.set(aspect="equal", xticks=[], yticks=[])


figure, ax = plt.subplots(figsize=(4.8, 4.8), layout="constrained")
draw(ax, "RBF(gamma=20)", kernels["RBF(gamma=20)"])
plt.show()

# %%
# All six of them.
figure, axes = plt.subplots(2, 3, figsize=(10, 6.8), layout="constrained", sharex=True, sharey=True)
for ax, (name, kernel) in zip(axes.flat, kernels.items(), strict=True):
    draw(ax, name, kernel)
plt.show()

# %%
# A composed kernel prints as its formula, and its parameters have names, so that a grid can reach
# them.
kernel = Linear() + 0.5 * RBF(gamma=20.0)
print(kernel)
print(sorted(name for name in kernel.get_params() if name.endswith("gamma")))
