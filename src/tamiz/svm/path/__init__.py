r"""Many nearly equal machines: many C, many splits, many subsets of features.

The problem. A family of duals that share rows of one Gram matrix,

.. math::

    \min_b \; \tfrac12 b'Kb - y'b \quad\text{s.t.}\quad \sum_i b_i = 0,\;
    \min(0, y_i C_i) \le b_i \le \max(0, y_i C_i)

in the sign-free variables of :mod:`tamiz.qp.problem`. Members differ in the samples that take part
(a split, a pair of classes), in C, in the kernel, or in the features that ``K`` is made of. A
sample that takes no part has both bounds at zero; its entry of the gradient ``Kb - y`` is then the
value of the machine at it, so that one matrix over training and test samples serves every split.

The interface, from the problem to the solution:

:mod:`~tamiz.svm.path.problem`
    ``BinaryDual`` (one member), ``SplitProblems`` (those of a split), ``Doubt`` (ask the estimator
    itself), and who can be served.
:mod:`~tamiz.svm.path.gram`
    Rows of ``K``: ``SubsetGrams`` for neighbouring subsets of features, made on demand, and
    ``GridGrams`` for the kernels of a grid.
:mod:`~tamiz.svm.path.exact`
    ``fit`` and ``values_at``: a small machine solved to rounding from any start.
:mod:`~tamiz.svm.path.penalties`
    ``ClassifierPath``, ``RegressorPath`` and ``BinaryPath``: along C on a dense matrix, each from
    the one before; ``fit_once`` for a machine that has no neighbour.
:mod:`~tamiz.svm.path.following`
    ``FollowingMachines``: kept at their optimum, with a factor of the free block, while features
    leave the matrix.

Who uses it: the fast judge of searches (:mod:`tamiz.search.fast`), tuning
(:mod:`tamiz.evaluation.tuning.fast`), the judges of comparisons
(:mod:`tamiz.evaluation.judges.fast`), recursive elimination (:mod:`tamiz.embedded.rfe`) and
hold-out elimination (:mod:`tamiz.embedded.holdout`). Pair steps, Newton steps and the last digits
are those of :mod:`tamiz.solvers`. ``docs/design/path.md`` says why there are three ways to finish a
machine and not one.
"""
