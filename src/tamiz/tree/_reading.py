"""What the tree estimators can be asked once they are grown: pruning, rules, drawings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tamiz.tree import drawing
from tamiz.tree._rules_python import python_source
from tamiz.tree._shape import check_shape
from tamiz.tree._wording import Wording
from tamiz.tree.findings import Finding, find
from tamiz.tree.importances import impurity_importances
from tamiz.tree.prune.judges import (
    cross_validated_losses,
    held_out_losses,
    refuse_strangers,
)
from tamiz.tree.prune.pruning import (
    PruningPath,
    check_measure,
    check_rule,
    pruning_path,
    recalled,
    record_of,
)
from tamiz.tree.rules import Rule, rules_of, rules_text, tree_text

if TYPE_CHECKING:
    from tamiz.tree.structure import Tree

_STYLES: dict[str, Callable[[Tree, Wording], Any]] = {
    "text": rules_text,
    "python": python_source,
    "list": rules_of,
}


class TreeReading:
    """Methods of a grown tree estimator that read or prune its tree.

    An estimator that inherits from it has ``tree_``, ``categories_`` and, for classes, ``classes_``
    and ``costs_``; ``_read(X)`` gives the table that its tree takes.
    """

    tree_: Tree
    categories_: dict[int, Any]
    pruning_: dict[str, Any]

    if TYPE_CHECKING:

        def _read(self, X: Any) -> np.ndarray: ...

    # ---------------------------------------------------------------------------------- pruning

    @property
    def full_tree_(self) -> Tree:
        """The tree as it was grown, whatever was pruned since."""
        record = self._record()
        return self.tree_ if record is None else record["full"]

    @property
    def prune_path_(self) -> PruningPath:
        """The sequence that the tree was last pruned by; by mean depth if it was not."""
        record = self._record()
        return self.pruning_path() if record is None else recalled(record)

    def _record(self) -> dict[str, Any] | None:
        """How the tree was pruned; None if it was not, or has been grown again since."""
        check_is_fitted(self, "tree_")
        record: dict[str, Any] | None = vars(self).get("pruning_")
        return record if record is not None and record["kept"] is self.tree_ else None

    def pruning_path(self, measure: str = "mean_depth") -> PruningPath:
        """Return the nested sequence of best sub-trees of the tree as it was grown.

        Parameters
        ----------
        measure : {"mean_depth", "leaves"}, default="mean_depth"
            What a tree is charged for: the tests that a training sample meets on average, or its
            leaves (classical cost-complexity pruning).

        Returns
        -------
        PruningPath
            Prices, sizes and training errors; the trees on demand.
        """
        return pruning_path(self.full_tree_, measure)

    def prune(
        self,
        X: Any,
        y: Any,
        *,
        measure: str = "mean_depth",
        rule: str = "best",
        sample_weight: Any = None,
    ) -> Self:
        """Keep the sub-tree that does best on held-out data.

        The estimator itself is changed. The tree as it was grown is kept as ``full_tree_``, and
        each call prunes that one, so that it can be pruned again in another way.

        Parameters
        ----------
        X : array or table of shape (n_samples, n_features)
            Samples that were not used to grow the tree.
        y : array of shape (n_samples,)
            Their classes or values. A class that the tree does not know is a mistake of all
            sub-trees, at the largest of the costs.
        measure : {"mean_depth", "leaves"}, default="mean_depth"
            What a tree is charged for.
        rule : {"best", "1se"}, default="best"
            The sub-tree with least error, of equal ones the smallest; or the smallest whose error
            is within one standard error of it.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        self : object
            The estimator, with the sub-tree as ``tree_``, and the sequence with its errors as
            ``prune_path_``.
        """
        check_measure(measure)
        check_rule(rule)
        path = self.pruning_path(measure)
        self._refuse_strangers(y)
        losses = held_out_losses(self, path, X, y, sample_weight)
        return self._keep(path.measured(losses, "held-out data", rule))

    def prune_cv(
        self,
        X: Any,
        y: Any,
        *,
        cv: Any = 10,
        measure: str = "mean_depth",
        rule: str = "best",
        sample_weight: Any = None,
        groups: Any = None,
        random_state: Any = 0,
        verbose: bool | int = 0,
    ) -> Self:
        """Keep the sub-tree that does best in cross-validation.

        A tree is grown in each fold with the same parameters, and pruned at the prices of the
        sequence (the geometric mean of those between which each sub-tree is the best).

        Parameters
        ----------
        X, y : array or table, array
            The data that the tree was grown with.
        cv : int, splitter or list of splits, default=10
            Folds; a number stands for random ones that keep the shares of the classes.
        measure : {"mean_depth", "leaves"}, default="mean_depth"
            What a tree is charged for.
        rule : {"best", "1se"}, default="best"
            As for :meth:`prune`.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples, as in fit.
        groups : array of shape (n_samples,), optional
            Samples of one group stay on one side; a number of folds keeps them together, too.
        random_state : int, RandomState or None, default=0
            Seed of the folds that a number stands for.
        verbose : bool or int, default=0
            Show a line of progress.

        Returns
        -------
        self : object
            As of :meth:`prune`. Interrupted, it stays as it was.
        """
        check_measure(measure)
        check_rule(rule)
        path = self.pruning_path(measure)
        self._refuse_strangers(y)
        losses = cross_validated_losses(
            self, path, X, y, sample_weight, cv, random_state, groups, verbose
        )
        return self._keep(path.measured(losses, "cross-validation", rule))

    def prune_at(self, alpha: float, *, measure: str = "mean_depth") -> Self:
        """Keep the sub-tree that is best if a unit of size costs ``alpha``; no data is needed.

        Parameters
        ----------
        alpha : float
            Price; 0 keeps the smallest sub-tree with the training error of the full tree.
        measure : {"mean_depth", "leaves"}, default="mean_depth"
            What a tree is charged for.

        Returns
        -------
        self : object
            As of :meth:`prune`.
        """
        path = self.pruning_path(measure)
        return self._keep(replace(path, chosen=path.at(alpha)))

    def unprune(self) -> Self:
        """Take back all pruning.

        Returns
        -------
        self : object
            The estimator, with the tree as it was grown.
        """
        self.tree_ = self.full_tree_
        vars(self).pop("pruning_", None)
        return self

    def _refuse_strangers(self, y: Any) -> None:
        classes = getattr(self, "classes_", None)
        if classes is not None:
            refuse_strangers(y, classes)

    def _keep(self, path: PruningPath) -> Self:
        self.pruning_ = record_of(path)
        self.tree_ = self.pruning_["kept"]
        return self

    # ---------------------------------------------------------------------------------- reading

    @property
    def feature_importances_(self) -> np.ndarray:
        """Decrease of impurity by the tests of each feature; they sum to one."""
        return impurity_importances(self._tree())

    def importances(self, *, surrogates: bool = False) -> np.ndarray:
        """Return how much each feature did for the tree.

        Parameters
        ----------
        surrogates : bool, default=False
            Count also what the tests that stand in for missing values would have done, so that a
            feature hidden behind a better one is seen. Grown without gaps, a tree has such tests
            only if ``n_surrogates`` asks for them.

        Returns
        -------
        array of shape (n_features,)
            Shares of the decrease of impurity; without surrogates ``feature_importances_``.
        """
        return impurity_importances(self._tree(), surrogates=surrogates)

    def rules(self, style: str = "text") -> Any:
        """Return the tree as rules.

        Parameters
        ----------
        style : {"text", "python", "list"}, default="text"
            One if-then rule for each leaf, with its coverage and the shares of the classes; the
            source of a Python function ``predict(row)`` that needs no other package and predicts
            the same, missing values included; or a list of :class:`Rule`.

        Returns
        -------
        str or list of Rule
            The rules, from the left of the tree to the right.
        """
        if not isinstance(style, str) or style not in _STYLES:
            raise ValueError(f"style={style!r} is unknown; use one of {', '.join(_STYLES)}.")
        found: str | list[Rule] = _STYLES[style](self._tree(), self._wording())
        return found

    def to_text(self, max_depth: int | None = None) -> str:
        """Return the tree drawn with letters, one line for each node.

        Parameters
        ----------
        max_depth : int, optional
            Depth down to which it is drawn.

        Returns
        -------
        str
            The lines.
        """
        return tree_text(self._tree(), self._wording(), drawing.check_depth(max_depth))

    def to_svg(
        self, path: Any = None, *, max_depth: int | None = None, direction: str = "auto"
    ) -> str:
        """Return the tree as an SVG picture; no other package is needed.

        Parameters
        ----------
        path : str or path, optional
            File to write it to.
        max_depth : int, optional
            Depth down to which it is drawn; as far as it stays readable if not given.
        direction : {"auto", "down", "right"}, default="auto"
            Where the tree grows to: small ones downwards, large ones to the right.

        Returns
        -------
        str
            The text of the picture.
        """
        text = drawing.svg(self._tree(), self._wording(), max_depth, direction)
        if path is not None:
            drawing.write_svg(text, path)
        return text

    def plot(self, ax: Any = None, *, max_depth: int | None = None, direction: str = "auto") -> Any:
        """Draw the tree by matplotlib; ``plot().figure.savefig("tree.png")`` writes it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure of the right size if not given.
        max_depth, direction : int, str
            As for :meth:`to_svg`.

        Returns
        -------
        matplotlib axes
            What was drawn into.
        """
        return drawing.plot(self._tree(), self._wording(), ax, max_depth, direction)

    def findings(
        self, *, few: int = 5, balance: float = 0.05, repeats: int = 3, tests: int = 2
    ) -> list[Finding]:
        """Return what in the tree deserves a second look.

        Parameters
        ----------
        few : int, default=5
            Fragmentation: a leaf with fewer samples is small.
        balance : float, default=0.05
            Fragmentation: a test is lopsided if it sends a smaller share to one side.
        repeats : int, default=3
            Repetition: tests of one feature on the way to one leaf from which on they are told.
        tests : int, default=2
            Replication: fewest tests of a structure that is told if it stands in several places.

        Returns
        -------
        list of Finding
            Kind, sentence and nodes of each.
        """
        return find(
            self._tree(), self._wording(), few=few, balance=balance, repeats=repeats, tests=tests
        )

    def _tree(self) -> Tree:
        check_is_fitted(self, "tree_")
        return check_shape(self.tree_)

    def _wording(self) -> Wording:
        regression = self.tree_.kind == "regression"
        return Wording(
            getattr(self, "feature_names_in_", None),
            self.categories_,
            None if regression else self.classes_.tolist(),  # type: ignore[attr-defined]
        )
