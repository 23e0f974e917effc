"""
Categories of text, one against the rest
========================================

From which package does a piece of documentation come? The texts are the docstrings of the packages
that this example imports anyway: five classes, some thousand texts, as many columns as there are
words. A linear machine for each class, that class against the rest, has one weight for each word,
and the weights can be read.
"""

# sphinx_gallery_thumbnail_number = 1

import importlib
import inspect
import pkgutil

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import scipy
import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline

from tamiz.evaluation import ReportCard
from tamiz.svm import LinearMachine

# %%
# Public functions and classes of public modules, each text once. Functions of one module often
# share sentences, so a module is a group: no group may be in the training and in the test part.


def modules_of(package):
    """The public modules of a package, and what it says of itself."""
    yield package
    for found in pkgutil.iter_modules(package.__path__):
        if found.name.startswith("_") or found.name in ("tests", "conftest", "testing"):
            continue
        try:
            yield importlib.import_module(f"{package.__name__}.{found.name}")
        except Exception:  # needs something that is not installed
            continue


def docstrings(package):
    """Text and module of everything public in a package."""
    for module in modules_of(package):
        for name in dir(module):
            thing = getattr(module, name, None)
            text = inspect.getdoc(thing) or ""
            home = getattr(thing, "__module__", None) or ""
            if callable(thing) and home.startswith(package.__name__) and len(text) > 200:
                yield text, home


STANDARD = "argparse asyncio collections csv datetime email functools http itertools json logging"
STANDARD += (
    " pathlib random re shutil socket sqlite3 statistics subprocess threading unittest urllib"
)
texts, labels, groups = [], [], []
for label, package in {
    "matplotlib": matplotlib,
    "numpy": np,
    "scikit-learn": sklearn,
    "scipy": scipy,
}.items():
    for text, home in docstrings(package):
        texts.append(text), labels.append(label), groups.append(home)
for name in STANDARD.split():
    module = importlib.import_module(name)
    for thing in vars(module).values():
        text = inspect.getdoc(thing) or ""
        if callable(thing) and getattr(thing, "__module__", "") == name and len(text) > 60:
            texts.append(text), labels.append("standard library"), groups.append(name)
first = sorted({text: k for k, text in reversed(list(enumerate(texts)))}.values())
texts = [texts[k] for k in first]
labels, groups = np.array(labels)[first], np.array(groups)[first]
print({str(label): int(n) for label, n in zip(*np.unique(labels, return_counts=True), strict=True)})

# %%
# Words, weighed by how rare they are (tf-idf). Names of packages would give the answer away: they
# are left out, and so is whatever occurs in fewer than three texts.
names = ["np", "numpy", "plt", "matplotlib", "mpl", "scipy", "sp", "sklearn", "scikit", "python"]
words = TfidfVectorizer(token_pattern=r"[a-z][a-z]+", min_df=3, sublinear_tf=True, stop_words=names)
model = make_pipeline(words, LinearMachine(C=1.0))
train, test = next(GroupShuffleSplit(1, test_size=0.3, random_state=0).split(texts, labels, groups))
model.fit([texts[k] for k in train], labels[train])
card = ReportCard.of(model, [texts[k] for k in test], labels[test])
print(f"{len(words.vocabulary_):,} words, {len(train)} texts to learn from, {len(test)} to predict")
print(f"accuracy {card['accuracy']}")

# %%
# Had texts of one module been in both parts, the answer would have looked better than it is:
mixed = np.random.default_rng(0).permutation(len(texts))
mixed_train, mixed_test = mixed[: len(train)], mixed[len(train) :]
model.fit([texts[k] for k in mixed_train], labels[mixed_train])
careless = model.score([texts[k] for k in mixed_test], labels[mixed_test])
print(f"accuracy with texts of the same modules in both parts: {careless:.3f}")

# %%
# What is mistaken for what, in modules that took no part. Modules of the standard library have
# little in common with each other, so that one that was never seen is hard to place:
figure, ax = plt.subplots(figsize=(6.2, 5.2), layout="constrained")
card.plot(ax=ax)
plt.show()

# %%
# The words with the largest weights of each machine: what speaks for the class.
model.fit([texts[k] for k in train], labels[train])
machine, vocabulary = model[-1], words.get_feature_names_out()
figure, axes = plt.subplots(1, len(machine.classes_), figsize=(11, 3.6), layout="constrained")
for ax, label, weights in zip(axes, machine.classes_, machine.coef_, strict=True):
    top = np.argsort(weights)[::-1][:10]
    ax.barh(np.arange(10), weights[top], color="#0072B2")
    ax.set_yticks(np.arange(10), vocabulary[top], size="small")
    ax.invert_yaxis()
    ax.set_title(label, size="medium")
    ax.tick_params(axis="x", labelsize="small")
plt.show()
for label, weights in zip(machine.classes_, machine.coef_, strict=True):
    print(f"{label}: {', '.join(vocabulary[np.argsort(weights)[::-1][:8]])}")
