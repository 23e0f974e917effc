"""
Which words make spam?
======================

4,601 e-mails of one office, told by how often 48 words and six signs occur in them and by their
runs of capital letters. A sparse machine reads as few of them as it can. How much is lost with ten?
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.data import load
from tamiz.svm import LinearMachine

mail = load("spambase")
X = pd.DataFrame(np.log(0.1 + mail.X), columns=mail.feature_names)
y = np.where(np.asarray(mail.y).astype(str) == "1", "spam", "wanted")
train, test, labels, answers = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)

# %%
# The path of a logistic machine with the sum of absolute weights as penalty, from no word to all.
scaler = StandardScaler().fit(train)
Z, Z_test = scaler.transform(train), scaler.transform(test)
path = LinearMachine(loss="logistic", penalty="l1").path(
    Z, labels == "spam", n_values=40, span=1000
)
wrong = np.array(
    [
        np.mean((Z_test @ w + b > 0) != (answers == "spam"))
        for w, b in zip(path.coefs, path.intercepts, strict=True)
    ]
)

# %%
# Each step of the path is a machine. On mails that took no part, the first ten words do most of the
# work. (To choose a step by this curve, and to report its error, would be selection on test data.)
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(path.n_nonzero, 100 * wrong, ".-", color="#0072B2")
ax.set(xlabel="words and signs with a weight", ylabel="errors on other mails in %", ylim=(0, None))
ax.grid(alpha=0.25)
plt.show()

# %%
# The last step with at most ten, as weights: what speaks for spam, and what speaks against.
step = np.flatnonzero(path.n_nonzero <= 10)[-1]
used = np.flatnonzero(path.coefs[step])
used = used[np.argsort(path.coefs[step][used])]
weights = path.coefs[step][used]
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.barh(range(len(used)), weights, color=np.where(weights > 0, "#D55E00", "#0072B2"))
ax.set_yticks(range(len(used)), X.columns[used])
ax.axvline(0, color="k", lw=0.8)
ax.set(xlabel="wanted mail ← weight → spam")
plt.show()
print(f"{len(used)} words and signs: {wrong[step]:.1%} of {len(test):,} other mails wrong")
print(f"all {X.shape[1]}: {wrong[-1]:.1%}")

# %%
# The name of the recipient and of his firm are among the words that speak against spam: this office
# had them in its wanted mails. A filter for everybody must do without them.
office = ["word_freq_george", "word_freq_hp", "word_freq_hpl", "word_freq_650", "word_freq_857"]
office = [name for name in office if name in X]
for name, columns in {"all": X.columns, "without the office's": X.columns.drop(office)}.items():
    machine = make_pipeline(StandardScaler(), LinearMachine(loss="logistic", penalty="l1"))
    accuracy = machine.fit(train[columns], labels).score(test[columns], answers)
    print(f"{name:22} {len(columns)} words and signs, {1 - accuracy:.1%} wrong")
