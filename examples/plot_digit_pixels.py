"""
Which pixels tell a three from a five?
======================================

Threes and fives from envelopes, 16 × 16 pixels each. Neighbouring pixels say nearly the same: a
ranking one by one takes them in heaps, while methods that look at pixels together spread them over
the picture. Forty of them do the work of all 256, and different forties do it equally well.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

from tamiz import MRMR, SVC, SVMRFE, FisherScore
from tamiz.data import load

digits = load("usps")
both = np.isin(digits.y, [3, 5])
X, y = digits.X[both], np.asarray(digits.y)[both]
learn = np.arange(len(digits.y))[both] < 7291  # the training part of these data comes first
print(f"{learn.sum()} images to learn from, {(~learn).sum()} to predict")

# %%
# The mean three, the mean five, and the difference.
means = [X[y == 3].mean(axis=0), X[y == 5].mean(axis=0)]
figure, axes = plt.subplots(1, 3, figsize=(7.5, 2.8), layout="constrained")
for ax, image, title, shades in [
    (axes[0], means[0], "three", "gray_r"),
    (axes[1], means[1], "five", "gray_r"),
    (axes[2], means[0] - means[1], "three − five", "RdBu"),
]:
    limit = np.abs(image).max()
    ax.imshow(image.reshape(16, 16), cmap=shades, vmin=-limit, vmax=limit)
    ax.set_title(title)
    ax.set_axis_off()
plt.show()

# %%
# Twelve pixels by three methods, numbered in the order of their rank.
selectors = {
    "one by one (Fisher)": FisherScore(12),
    "relevant, not redundant (mRMR)": MRMR(12),
    "elimination by a machine (SVM-RFE)": SVMRFE(12, step=0.1),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, (name, selector) in zip(axes, selectors.items(), strict=True):
    selection = selector.fit(X[learn], y[learn]).selection_
    ax.imshow(np.mean(means, axis=0).reshape(16, 16), cmap="gray_r", alpha=0.35)
    for rank, pixel in enumerate(selection.order[:12], start=1):
        row, column = divmod(int(pixel), 16)
        ax.plot(column, row, "s", ms=13, color="#0072B2")
        ax.text(column, row, rank, color="w", ha="center", va="center", size="small")
    ax.set_title(name, size="medium")
    ax.set_axis_off()
plt.show()

# %%
# The same radial machine on more and more pixels of each ranking, and its errors on images that
# took no part. With 326 of them, one point of difference is three images: which method is best
# cannot be read from here, how many pixels are enough can.
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
sizes = [2, 4, 8, 12, 20, 40, 80, 256]
for name, selector in selectors.items():
    order = selector.selection_.order
    errors = []
    for n_pixels in sizes:
        machine = SVC(C=10.0).fit(X[learn][:, order[:n_pixels]], y[learn])
        errors.append(np.mean(machine.predict(X[~learn][:, order[:n_pixels]]) != y[~learn]))
    ax.plot(sizes, 100 * np.array(errors), "o-", label=name)
    print(f"{name:36}", *(f"{100 * error:5.1f}" for error in errors))
ax.set(xscale="log", xlabel="pixels", ylabel="errors on new images in %", ylim=(0, None))
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.grid(alpha=0.25)
ax.legend()
plt.show()
