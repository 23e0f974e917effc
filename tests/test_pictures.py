"""Pictures of machines: what is drawn is what the machine says."""

from __future__ import annotations

import warnings

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.inspection import DecisionBoundaryDisplay

from tamiz.embedded import L1SVM
from tamiz.neighbors import KNNClassifier
from tamiz.pictures import Plane
from tamiz.svm import (
    SVC,
    SVDD,
    SVR,
    HardMarginSVC,
    LinearMachine,
    OneClassSVM,
    PerceptronClassifier,
    plot_kernels,
    plot_panels,
)
from tamiz.tree import CARTClassifier

mpl.use("agg")
X, y = make_moons(40, noise=0.25, random_state=0)
RNG = np.random.default_rng(0)
LINE_X = np.sort(RNG.uniform(0, 6, 40))[:, None]
LINE_Y = np.sin(LINE_X[:, 0]) + RNG.normal(0, 0.2, 40)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def contours(ax):
    """Points of the contour lines, by level."""
    found = {}
    for drawn in ax.collections:
        if hasattr(drawn, "levels"):
            for level, path in zip(drawn.levels, drawn.get_paths(), strict=True):
                found[float(level)] = path.vertices
    return found


def labelled(ax, label):
    """What carries a label, the only one."""
    (found,) = [c for c in [*ax.collections, *ax.lines] if c.get_label() == label]
    return found


def marked(ax, label):
    return np.asarray(labelled(ax, label).get_offsets())


def rows(points):
    return {tuple(np.round(point, 9)) for point in points}


# ---------------------------------------------------------------------------------- two classes


@pytest.mark.parametrize(
    "machine",
    [SVC(kernel="linear"), SVC(C=3.0, gamma=1.0), LinearMachine(), L1SVM()],
    ids=["linear", "rbf", "LinearMachine", "L1SVM"],
)
def test_contours_lie_where_the_decision_function_has_their_level(machine):
    ax = machine.fit(X, y).plot(X, y, resolution=120)
    drawn = contours(ax)
    assert set(drawn) == {-1.0, 0.0, 1.0}
    for level, points in drawn.items():
        assert len(points) > 10
        np.testing.assert_allclose(machine.decision_function(points), level, atol=0.02)


def test_shading_equals_scikit_learns_display():
    machine = SVC(gamma=1.0).fit(X, y)
    ax = machine.plot(X, y, resolution=30)
    mesh = next(c for c in ax.collections if isinstance(c, QuadMesh))
    values = np.asarray(mesh.get_array()).reshape(30, 30)
    plane = Plane((0, 1), np.zeros(2), ("x0", "x1"), (ax.get_xlim(), ax.get_ylim()), 30)
    corners = np.array([[low, high] for low, high in plane.limits]).T
    peer = DecisionBoundaryDisplay.from_estimator(
        machine, corners, grid_resolution=30, eps=0.0, response_method="decision_function"
    )
    np.testing.assert_allclose(values, peer.response, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("given", [True, False])
def test_the_support_vectors_marked_are_those_of_the_machine(given):
    machine = SVC(C=1.0, gamma=1.0).fit(X, y)
    ax = machine.plot(X, y, resolution=20) if given else machine.plot(resolution=20)
    free, bounded = marked(ax, "free support vectors"), marked(ax, "bounded support vectors")
    assert rows(free) == rows(X[machine.free_support_]) and len(free) > 0
    assert rows(bounded) == rows(X[machine.bounded_support_]) and len(bounded) > 0
    drawn = [marked(ax, str(label)) for label in (0, 1)]
    kept = np.arange(len(X)) if given else machine.support_
    for label, points in enumerate(drawn):
        assert rows(points) == rows(X[kept][y[kept] == label])
    paths = [labelled(ax, f"{kind} support vectors").get_paths()[0] for kind in ("free", "bounded")]
    assert len(paths[0].vertices) != len(paths[1].vertices)  # another mark


def test_slack_of_a_linear_machine_has_the_length_of_its_hinge_loss():
    machine = SVC(C=1.0, kernel="linear").fit(X, y)
    lines = labelled(machine.plot(X, y, resolution=20), "slack").get_segments()
    size = np.linalg.norm(machine.coef_)
    hinge = np.maximum(0, 1 - (2 * y - 1) * machine.decision_function(X))
    found = {tuple(np.round(s[0], 9)): size * np.linalg.norm(s[1] - s[0]) for s in lines}
    late = np.flatnonzero(hinge > 1e-5)
    assert rows(X[late]) == set(found) and len(late) > 5
    for i in late:
        assert found[tuple(np.round(X[i], 9))] == pytest.approx(hinge[i], abs=1e-9)
        assert hinge[i] == pytest.approx(machine.slack_[i], abs=2e-3)


def test_slack_of_a_kernel_machine_ends_at_the_margin_of_its_class():
    machine = SVC(C=1.0, gamma=1.0).fit(X, y)
    lines = labelled(machine.plot(X, y, resolution=150), "slack").get_segments()
    of = {tuple(np.round(x, 9)): label for x, label in zip(X, 2 * y - 1, strict=True)}
    ends = machine.decision_function(np.array([line[1] for line in lines]))
    wanted = [of[tuple(np.round(line[0], 9))] for line in lines]
    np.testing.assert_allclose(ends, wanted, atol=0.02)
    values = machine.decision_function(X)
    assert len(lines) == int(((2 * y - 1) * values < 1 - 1e-6).sum())


def test_hard_margin_has_no_slack_and_support_vectors_on_the_margins():
    A, b = make_blobs(20, centers=[[-2, -2], [2, 2]], cluster_std=0.5, random_state=0)
    machine = HardMarginSVC().fit(A, b)
    ax = machine.plot(A, b, resolution=20)
    assert "slack" not in [c.get_label() for c in ax.collections]
    values = machine.decision_function(marked(ax, "free support vectors"))
    np.testing.assert_allclose(np.abs(values), 1, atol=1e-3)


def test_a_method_without_margins_draws_none():
    A, b = make_blobs(20, centers=[[-2, -2], [2, 2]], cluster_std=0.5, random_state=0)
    ax = PerceptronClassifier().fit(A, b).plot(A, b, resolution=20)
    assert set(contours(ax)) == {0.0}
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert "boundary" in labels and "margins" not in labels and "slack" not in labels


def test_one_feature_is_a_line_with_strips_for_the_classes():
    machine = SVC(kernel="linear").fit(X[:, :1], y)
    ax = machine.plot(X[:, :1], y, resolution=50)
    for level, points in contours(ax).items():
        place = (level - machine.intercept_[0]) / machine.coef_[0, 0]
        np.testing.assert_allclose(points[:, 0], place, atol=1e-9)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1"]
    bounded = marked(ax, "bounded support vectors")
    assert rows(bounded[:, :1]) == rows(X[machine.bounded_support_, :1])


# -------------------------------------------------------------------- more features, more classes


def test_other_features_are_held_at_their_medians_or_at_a_row():
    pandas = pytest.importorskip("pandas")
    wide = np.column_stack([X, RNG.normal(3, 1, (len(X), 2))])
    frame = pandas.DataFrame(wide, columns=["a", "b", "c", "d"])
    machine = SVC(gamma=0.5).fit(frame, y)
    for at, held in ((None, np.median(wide, axis=0)), (wide[7], wide[7])):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a grid without names is no reason to warn
            ax = machine.plot(frame, y, ("a", "c"), at=at, resolution=60)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "c")
        where = "the medians" if at is None else "a given row"
        assert ax.get_title().endswith(f" wrong\ncut at {where} of 2 other features")
        points = contours(ax)[0.0]
        table = np.tile(held, (len(points), 1))
        table[:, [0, 2]] = points
        values = machine.decision_function(pandas.DataFrame(table, columns=frame.columns))
        np.testing.assert_allclose(values, 0, atol=0.02)
        assert "slack" not in [c.get_label() for c in ax.collections]  # samples lie beside it


def test_a_row_with_names_is_taken_by_them():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.column_stack([X, X + 1]), columns=["a", "b", "c", "d"])
    row, mixed = frame.iloc[3], ["d", "a", "c", "b"]
    machine, tree = SVC(gamma=0.5).fit(frame, y), CARTClassifier().fit(frame, y)

    def shading(at):
        ax = machine.plot(frame, y, ("a", "b"), at=at, resolution=10)
        return next(c for c in ax.collections if isinstance(c, QuadMesh)).get_array()

    def leaves(at):
        ax = tree.plot_partition(frame, y, ("a", "b"), at=at)
        return [np.round(patch.get_xy(), 9).tolist() for patch in ax.patches]

    for at in (
        row[mixed],
        row[mixed].to_dict(),
        frame[mixed].iloc[[3]],
        row.reset_index(drop=True),
    ):
        np.testing.assert_array_equal(shading(at), shading(row.to_numpy()))
        if np.ndim(at) < 2:  # data frames are read like X
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert leaves(at) == leaves(row.to_numpy())
    for draw in (shading, leaves):
        with pytest.raises(ValueError, match="it has none called: 'e'"):
            draw(row.rename({"d": "e"}))
        with pytest.raises(ValueError, match="missing are: 'c', 'd'"):
            draw({"a": 0.0, "b": 0.0})
    with pytest.raises(ValueError, match="at holds nan for the feature d"):
        shading({**row.to_dict(), "a": np.nan, "d": np.nan})
    shading({**row.to_dict(), "a": np.nan})  # on an axis
    with pytest.raises(ValueError, match="at is a dict, but the machine was fitted without names"):
        SVC().fit(X, y).plot(X, y, at={"a": 1, "b": 2})


@pytest.mark.parametrize("machine", [SVC(), KNNClassifier(3)], ids=["SVC", "KNN"])
def test_regions_of_several_classes_agree_with_predict(machine):
    A, b = make_blobs(45, centers=3, cluster_std=1.5, random_state=2)
    names = np.array(["p", "q", "r"])[b]
    ax = machine.fit(A, names).plot(A, names, resolution=25)
    mesh = next(c for c in ax.collections if isinstance(c, QuadMesh))
    first, second = np.linspace(*ax.get_xlim(), 25), np.linspace(*ax.get_ylim(), 25)
    grid = np.stack([g.ravel() for g in np.meshgrid(first, second)], axis=1)
    said = machine.classes_[np.asarray(mesh.get_array()).ravel().astype(int)]
    np.testing.assert_array_equal(said, machine.predict(grid))


def test_undecided_neighbours_stay_white():
    machine = KNNClassifier(2, ties="abstain").fit(X, y)
    ax = machine.plot(X, y, resolution=25)
    mesh = next(c for c in ax.collections if isinstance(c, QuadMesh))
    codes = np.asarray(mesh.get_array())
    assert set(np.unique(codes)) == {-1, 0, 1}
    assert tuple(mesh.cmap(mesh.norm(-1))) == (1.0, 1.0, 1.0, 1.0)
    said = machine.predict(X)
    undecided = said == machine.reject_label_
    wrong = (said != y) & ~undecided
    assert undecided.any()
    assert ax.get_title() == (
        f"KNNClassifier: {wrong.sum()} of {len(X)} wrong, {undecided.sum()} undecided"
    )


def test_sparse_samples_are_drawn_as_dense_ones():
    machine = SVC(kernel="linear").fit(sparse.csr_array(X), y)
    ax = machine.plot(sparse.csr_array(X), y, resolution=20)
    assert rows(marked(ax, "bounded support vectors")) == rows(X[machine.bounded_support_])


# ------------------------------------------------------------------------- regression and novelty


@pytest.mark.parametrize(
    "machine",
    [
        OneClassSVM(nu=0.2, gamma=1.0),
        SVDD(nu=0.2, gamma=1.0),
        SVDD(nu=0.2, kernel="linear"),
    ],
    ids=["OneClassSVM", "SVDD", "linear SVDD"],
)
def test_boundary_of_novelty_machines_and_their_slack(machine):
    ax = machine.fit(X).plot(X, resolution=120)
    drawn = contours(ax)
    values = machine.decision_function(X)
    assert set(drawn) == {0.0}
    np.testing.assert_allclose(
        machine.decision_function(drawn[0.0]), 0, atol=0.01 * np.abs(values).max()
    )
    out = machine.predict(X) < 0
    assert rows(marked(ax, "outside")) == rows(X[out]) and out.any()
    ends = np.array([line[1] for line in labelled(ax, "slack").get_segments()])
    np.testing.assert_allclose(machine.decision_function(ends), 0, atol=0.01 * np.abs(values).max())
    assert len(ends) == int((values < -1e-6).sum())


def test_without_samples_the_title_counts_none():
    for machine in (SVC().fit(X, y), SVR().fit(X, y), SVDD().fit(X)):
        n = len(machine.support_)
        title = machine.plot(resolution=10).get_title()
        assert title == f"{type(machine).__name__}: {n} support vectors"


def test_tube_of_a_regression_and_its_slack():
    machine = SVR(C=5.0, epsilon=0.15).fit(LINE_X, LINE_Y)
    ax = machine.plot(LINE_X, LINE_Y, resolution=50)
    curve = labelled(ax, "prediction")
    x = curve.get_xdata()
    np.testing.assert_allclose(curve.get_ydata(), machine.predict(x[:, None]))
    corners = labelled(ax, "tube, ε = 0.15").get_paths()[0].vertices
    np.testing.assert_allclose(
        np.abs(corners[:, 1] - machine.predict(corners[:, :1])), 0.15, atol=1e-9
    )
    late = machine.slack_ > 1e-6
    lines = np.array(labelled(ax, "slack").get_segments())
    np.testing.assert_allclose(
        np.sort(np.abs(lines[:, 1, 1] - lines[:, 0, 1])), np.sort(machine.slack_[late]), atol=2e-3
    )
    free = marked(ax, "free support vectors")
    expected = np.column_stack([LINE_X[:, 0], LINE_Y])[machine.free_support_]
    assert rows(free) == rows(expected)


def test_regression_over_two_features_is_a_surface():
    machine = SVR().fit(X, X[:, 0] * X[:, 1])
    ax = machine.plot(X, X[:, 0] * X[:, 1], resolution=20)
    assert ax.get_ylabel() == "x1" and "outside the tube" in ax.get_title()
    assert rows(marked(ax, "free support vectors")) == rows(X[machine.free_support_])


# ----------------------------------------------------------------------------------------- panels


def test_panels_hold_a_machine_for_each_pair_of_values():
    machine = SVC()
    panels = plot_panels(machine, X, y, {"C": [0.1, 10.0], "gamma": [0.1, 1, 5]}, resolution=30)
    assert panels.shape == (2, 3)
    for r, C in enumerate((0.1, 10.0)):
        for c, gamma in enumerate((0.1, 1, 5)):
            ax, fitted = panels[r, c], SVC(C=C, gamma=gamma).fit(X, y)
            assert ax.get_title().startswith(f"C = {C:g}, gamma = {gamma}\n")
            points = contours(ax)[0.0]
            np.testing.assert_allclose(fitted.decision_function(points), 0, atol=0.2)
    assert not hasattr(machine, "support_")


@pytest.mark.filterwarnings("ignore::tamiz.kernels.IndefiniteKernelWarning")
def test_kernels_are_all_drawn():
    panels = plot_kernels(SVC(), X, y, resolution=10)
    titles = [ax.get_title().splitlines()[0] for ax in panels.flat]
    assert titles == [f"kernel = {name}" for name in ("linear", "poly", "rbf", "sigmoid")]
    panels = plot_kernels(SVC(), X, y, ["linear"] * 5, resolution=10)
    assert panels.shape == (2, 4) and [ax.axison for ax in panels[1]] == [True] + [False] * 3


# ------------------------------------------------------------------------------- what is refused


def test_mistakes_are_explained():
    wide = np.column_stack([X, X])
    machine, flat = SVC().fit(wide, y), SVC().fit(X, y)
    with pytest.raises(ValueError, match=r"4 features.*choose two.*features=\(0, 1\)"):
        machine.plot(wide, y)
    with pytest.raises(ValueError, match="one feature or two different"):
        machine.plot(wide, y, features=(1, 1))
    with pytest.raises(ValueError, match="no position among 4 features"):
        machine.plot(wide, y, features=(0, 4))
    with pytest.raises(ValueError, match=r"no feature 'a' .*without names"):
        machine.plot(wide, y, features=("a", 0))
    with pytest.raises(ValueError, match="at holds 2 values"):
        machine.plot(wide, y, features=(0, 1), at=[1, 2])
    with pytest.raises(ValueError, match=r"label [78],.*classes are 0, 1"):
        flat.plot(X, y + 7)
    with pytest.raises(ValueError, match="y has the shape"):
        flat.plot(X, y[:-1])
    with pytest.raises(ValueError, match="resolution=1 "):
        flat.plot(X, y, resolution=1)
    with pytest.raises(ValueError, match=r"keeps no training samples.*plot\(X, y\)"):
        LinearMachine().fit(X, y).plot()
    with pytest.raises(ValueError, match="keeps no training samples"):
        SVR(epsilon=100.0).fit(X, y).plot()
    with pytest.raises(NotFittedError):
        SVC().plot(X, y)
    with pytest.raises(ValueError, match="kernel values, which have no features"):
        SVC(kernel="precomputed").fit(X @ X.T, y).plot(X, y)
    with pytest.raises(ValueError, match="must be axes of matplotlib"):
        flat.plot(X, y, ax=Figure())
    with pytest.raises(ValueError, match="kernels='rbf' must be a list"):
        plot_kernels(SVC(), X, y, kernels="rbf")
    with pytest.raises(ValueError, match="nothing to choose from"):
        plot_panels(SVC(), X, y, {})
    with pytest.raises(ValueError, match="one or two parameters"):
        plot_panels(SVC(), X, y, {"C": [1], "gamma": [1], "tol": [1]})
