"""What a study answers, on tables whose answer is known."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification

from tamiz.data import Dataset, load
from tamiz.evaluation.comparison.compare import run_comparison
from tamiz.evaluation.study import make_study
from tamiz.evaluation.study.answers import agreement, family_frequencies, find_answers
from tamiz.evaluation.study.choice import MOST_ACCURATE, SMALLEST
from tamiz.evaluation.study.predictions import final_candidate, triple_predictions
from tamiz.reports import summary
from tamiz.tree import CARTClassifier

pytestmark = pytest.mark.ours

QUICK = {"cv": 4, "repeats": 1, "n_jobs": 1, "fdr": None}  # test_standing.py is about the rest


def dataset(X, y, **more):
    names = [str(label) for label in np.unique(y)]
    return Dataset(
        np.asarray(X, dtype=float), np.asarray(y), task="classification", target_names=names, **more
    )


def nominal(columns, y, levels):
    """Columns of codes, each with the same levels."""
    X = np.column_stack(columns).astype(float)
    names = [f"c{j}" for j in range(X.shape[1])]
    return dataset(
        X,
        y,
        feature_names=names,
        categorical=np.ones(X.shape[1], dtype=bool),
        levels={name: levels for name in names},
    )


@pytest.fixture(scope="module")
def cancer():
    """The study of the demonstration, without its slowest methods."""
    return make_study(
        load("breast_cancer"),
        ["fisher", "mrmr", "rfe"],
        ["linear", "rbf", "tree"],
        positive="malignant",
        **QUICK,
    )


# ------------------------------------------------------------------------------ two answers


def test_few_features_are_recommended_where_few_are_enough(cancer):
    small, accurate = cancer.recommended, cancer.most_accurate
    assert small.size <= 12 and small.size <= accurate.size
    assert small.error < 0.06 and accurate.error < 0.05
    assert small.features == [
        cancer.comparison.names[j]
        for j in cancer.comparison.whole_orders[small.method][: small.size]
    ]


def test_the_honest_error_is_that_of_choosing_inside_the_training_parts(cancer):
    contest = cancer.answers.contest
    nested = cancer.answers.nested[SMALLEST]
    for k, place in enumerate(nested.chosen):
        assert nested.errors[k] == contest.errors[k, place]
    weights = cancer.comparison.n_test[contest.splits]
    assert cancer.honest["error"] == pytest.approx(np.average(nested.errors, weights=weights))
    assert cancer.honest["error"] == cancer.recommended.error
    assert cancer.honest["low"] <= cancer.honest["error"] <= cancer.honest["high"]


def test_report_card_table_and_headline_agree_on_one_number(cancer):
    made = cancer.predictions
    assert np.mean(made.predicted != made.truth) == pytest.approx(cancer.honest["error"])
    assert 1 - cancer.card.metrics["accuracy"].value == pytest.approx(cancer.honest["error"])
    assert sorted(made.rows.tolist()) == list(range(569))
    assert cancer.card.positive == "malignant" and cancer.classes[1] == "malignant"


def test_the_smallest_answer_is_within_its_own_rule(cancer):
    choice = cancer.answers.contest.choice
    away = choice.differences[choice.smallest]
    assert away <= choice.errors_of_difference[choice.smallest] + 1e-12
    assert away <= 0.015 + 1e-12
    sizes = np.array([triple.size for triple in cancer.answers.contest.triples])
    assert sizes[choice.smallest] == sizes[choice.equal].min()


def test_ties_go_to_features_that_come_back_over_splits_and_families(cancer):
    found = cancer.comparison
    for size in (1, 4, 30):
        filters, embedded = np.zeros((2, 30)), np.zeros(30)
        for k, name in enumerate(("fisher", "mrmr")):
            for order in found.orders[name]:
                filters[k, order[:size]] += 1 / len(found.orders[name])
        for order in found.orders["rfe"]:
            embedded[order[:size]] += 1 / len(found.orders["rfe"])
        expected = (filters.mean(axis=0) + embedded) / 2  # one vote for each family
        np.testing.assert_allclose(family_frequencies(found, size), expected)
    small = cancer.recommended
    own = [found.names.index(name) for name in small.features]
    assert small.frequency == pytest.approx(family_frequencies(found, small.size)[own].mean())

    contest, choice = cancer.answers.contest, cancer.answers.contest.choice
    weight = {}
    for t, triple in enumerate(contest.triples):
        if triple.size == small.size and choice.equal[t]:
            features = found.whole_orders[triple.method][: triple.size]
            frequency = family_frequencies(found, triple.size)[features].mean()
            weight[t] = (agreement(found, triple.method, triple.size) + frequency) / 2
    least = min(choice.means[t] for t in weight)
    alike = [t for t in weight if choice.means[t] <= least + 0.005]
    assert weight[choice.smallest] >= max(weight[t] for t in alike) - 1e-12


def test_json_has_the_published_names(cancer):
    found = json.loads(json.dumps(cancer.to_dict(), default=float))
    for key in ("recommended", "most_accurate"):
        assert {"method", "judge", "size", "features", "error", "low", "high", "reasons"} <= set(
            found[key]
        )
    assert {"error", "low", "high", "metric"} <= set(found["honest"])
    assert found["status"] == "complete" and found["plan"]["methods"] == ["fisher", "mrmr", "rfe"]
    sizes = [one["size"] for one in found["front"]]
    errors = [one["error"] for one in found["front"]]
    assert sizes == sorted(sizes) and errors == sorted(errors, reverse=True)


def test_the_pipeline_of_an_answer_fits_its_columns(cancer):
    for answer, best in ((SMALLEST, cancer.recommended), (MOST_ACCURATE, cancer.most_accurate)):
        kept = cancer.dataset.keep(best.features)
        model = cancer.pipeline(answer).fit(kept.X, kept.y)
        assert model.score(kept.X, kept.y) > 0.94
        assert model["judge"].get_params()["C"] == pytest.approx(best.params["C"])


def test_decision_values_out_of_fold_follow_the_sorted_labels(cancer):
    values, labels, _ = cancer.out_of_fold()
    second = np.unique(labels)[1]
    assert values[labels == second].mean() > values[labels != second].mean()


# ------------------------------------------------------------------------------ boundaries


def test_a_rule_among_nominal_columns_is_found_by_a_judge_that_can():
    rng = np.random.default_rng(0)
    A = rng.integers(0, 3, (260, 6))
    y = np.where((A[:, 0] == A[:, 1]) | (A[:, 2] == 1), "good", "bad")
    data = nominal(A.T, y, ["red", "green", "blue"])
    study = make_study(data, ["relieff", "forest"], ["linear", "rbf", "forest"], **QUICK)
    assert study.honest["error"] < 0.06
    assert set(study.recommended.features) >= {"c0", "c1", "c2"}
    assert study.answers.boundary["kind"] in ("curved", "rules")
    assert study.recommended.judge != "linear"


def test_two_columns_that_only_tell_together_are_both_found():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (240, 9)).astype(float)
    y = ((X[:, 3] + X[:, 7]) % 3).astype(int)
    study = make_study(
        dataset(X, y), ["fisher", "relieff", "forest"], ["linear", "rbf"], sizes=[1, 2, 3, 9],
        **QUICK,
    )  # fmt: skip
    assert set(study.recommended.features) >= {"x3", "x7"} and study.recommended.size <= 3
    assert study.honest["error"] < 0.05
    assert study.answers.boundary["kind"] == "curved"


def test_a_plane_is_said_to_be_enough_where_it_is():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((240, 6))
    y = np.where(X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(240) > 0, 1, 0)
    study = make_study(dataset(X, y), ["fisher"], ["linear", "tree"], sizes=[1, 2, 6], **QUICK)
    assert study.answers.boundary["kind"] == "linear"
    assert study.recommended.features == ["x0", "x1"] or study.recommended.features == ["x1", "x0"]


# ------------------------------------------------------------------------------ skew, signal


def test_nothing_is_recommended_without_signal_however_rare_a_class():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 6))
    y = np.where(rng.random(400) < 0.05, "yes", "no")
    study = make_study(dataset(X, y), ["fisher", "mrmr"], ["linear", "tree"], **QUICK)
    assert study.recommended is None and study.no_signal
    assert study.honest["metric"] == "balanced error"
    assert study.honest["without_features"] == pytest.approx(0.5)
    assert study.params["class_weight"] == "balanced"
    with pytest.raises(ValueError, match="recommends nothing"):
        study.pipeline()


def test_noise_is_called_noise_with_even_classes_too():
    rng = np.random.default_rng(4)
    called = 0
    for _ in range(6):
        X = rng.standard_normal((80, 30))
        y = np.arange(80) % 2
        study = make_study(dataset(X, y), ["fisher"], ["linear"], sizes=[1, 5, 30], **QUICK)
        called += study.no_signal
    assert called >= 5


def test_a_rare_class_is_found_by_balanced_error_and_weights():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((500, 5))
    score = X[:, 0] + X[:, 1] + 0.2 * rng.standard_normal(500)
    y = np.where(score > np.quantile(score, 0.93), "yes", "no")
    study = make_study(dataset(X, y), ["fisher"], ["linear"], positive="yes", **QUICK)
    assert study.honest["metric"] == "balanced error" and study.honest["error"] < 0.12
    assert study.card.metrics["sensitivity"].value > 0.85
    plain = make_study(
        dataset(X, y), ["fisher"], ["linear"], scoring="accuracy", class_weight=None, **QUICK
    )
    assert plain.honest["metric"] == "error" and plain.params["class_weight"] is None


@pytest.mark.parametrize(
    ("scoring", "positive"),
    [  # "no" is not the class that scikit-learn takes for the positive one
        ("f1", "yes"),
        ("f1", "no"),
        ("roc_auc", "no"),
        ("average_precision", "no"),
        ("balanced_accuracy", "yes"),
    ],
)
def test_any_score_of_two_classes_works_with_either_positive_class(scoring, positive):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((100, 4))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(100) > 0, "no", "yes")
    study = make_study(
        dataset(X, y), ["fisher"], ["linear", "tree"], scoring=scoring, positive=positive,
        sizes=[1, 4], **QUICK,
    )  # fmt: skip
    assert study.honest["error"] < 0.35
    assert study.card.positive == positive


def test_a_positive_class_that_is_none_is_refused():
    data = dataset(np.arange(40.0).reshape(20, 2), np.arange(20) % 2)
    with pytest.raises(ValueError, match="is no class"):
        make_study(data, positive="maybe")


def test_groups_stay_together_and_weights_count():
    rng = np.random.default_rng(7)
    groups = np.repeat(np.arange(30), 4)
    X = rng.standard_normal((120, 3))
    X[:, 2] = groups  # a table that remembers who is who
    y = rng.integers(0, 2, 30)[groups]
    data = dataset(X, y, extras={"groups": groups, "weights": rng.uniform(0.5, 2.0, 120)})
    study = make_study(data, ["forest"], ["forest"], sizes=[1, 3], **QUICK)
    assert study.no_signal  # the groups of the test part were never seen
    loose = make_study(dataset(X, y), ["forest"], ["forest"], sizes=[1, 3], **QUICK)
    assert not loose.no_signal


# ------------------------------------------------------------------------------ plan and time


def test_slow_methods_are_left_out_by_name_with_the_flag_that_includes_them():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 80))
    y = np.arange(60) % 2
    said = []
    study = make_study(dataset(X, y), None, ["linear"], sizes=[1, 5], cv=3, repeats=1, n_jobs=1,
                       tell=said.append)  # fmt: skip
    out = [one for one in study.plan.left_out if one["what"] == "method"]
    assert [one["name"] for one in out] == ["ho-svm"]
    assert "ho-svm" in out[0]["flag"] and out[0]["flag"].startswith("--methods")
    assert any("left out: ho-svm" in line for line in said)
    assert any(line.startswith("plan: ") and "about" in line for line in said)


@pytest.mark.filterwarnings("ignore")
def test_classes_of_two_rows_are_warned_of_by_name():
    rng = np.random.default_rng(3)
    y = np.r_[np.repeat([0, 1], 40), 2, 2, 3, 3, 3]
    X = rng.standard_normal((len(y), 4)) + y[:, None]
    study = make_study(dataset(X, y), ["fisher"], ["linear"], sizes=[1, 4], repeats=1, n_jobs=1)
    (said,) = [one["text"] for one in study.warnings if one["code"] == "few_rows"]
    assert "fewer than 5 rows: '2' (2), '3' (3)" in said and "there are 2 folds" in said
    shown = " ".join(summary(study))
    assert "! Classes of fewer than 5 rows: “2” (2), “3” (3)." in shown
    assert "uncertain; there are 2 folds." in shown
    enough = make_study(dataset(X[:80], y[:80]), ["fisher"], ["linear"], sizes=[1], repeats=1)
    assert not [one for one in enough.warnings if one["code"] == "few_rows"]


def test_a_run_that_was_cut_short_says_so_and_invents_no_interval():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((700, 30))
    y = np.where(X[:, 0] > 0, 1, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = make_study(
            dataset(X, y), ["fisher", "mrmr", "relieff"], ["linear", "rbf", "forest"], repeats=20,
            cv=10, time_budget=4.0, n_jobs=1,
        )  # fmt: skip
    assert study.comparison.status == "time budget"
    done = np.isfinite(study.comparison.select_seconds).all(axis=0).sum()
    assert done < 200
    if study.answers is not None:
        assert study.honest["n_splits"] <= done + 1
        if study.honest["n_splits"] == 1:
            assert np.isnan(study.honest["low"])


def test_the_same_seed_gives_the_same_answer_for_any_number_of_workers(clock):
    """The clock stands still: a study that takes long, on a busy machine, does with less."""
    data = load("iris")
    options = {"cv": 3, "repeats": 1, "sizes": [1, 4], "fdr": None}
    one = make_study(data, ["fisher", "forest"], ["rbf", "forest"], n_jobs=1, **options)
    two = make_study(data, ["fisher", "forest"], ["rbf", "forest"], n_jobs=2, **options)
    np.testing.assert_array_equal(one.comparison.errors, two.comparison.errors)
    assert one.recommended.to_dict() == two.recommended.to_dict()


def test_a_numeric_target_is_studied_too():
    study = make_study(load("diabetes"), ["pearson"], ["linear"], sizes=[1, 3, 10], **QUICK)
    assert study.recommended.features[0] in ("bmi", "s5")
    assert study.card is None and study.honest["error"] < study.honest["without_features"]


def test_the_learning_curve_ends_at_the_error_of_the_answer(cancer):
    curve = cancer.learning
    assert curve.error[0] >= curve.error[-1] - 0.02
    assert curve.n_train[-1] == pytest.approx(569 * 3 / 4, rel=0.01)


# ------------------------------------------------------------------------------ what is kept


@pytest.mark.parametrize("judge", ["tree", "svc-linear", "forest"])
def test_predictions_are_those_behind_the_honest_error(judge):
    study = make_study(load("iris"), ["fisher"], judge, tune="coarse", sizes=[1, 4], **QUICK)
    made = study.predictions
    assert np.mean(made.truth != made.predicted) == pytest.approx(study.honest["error"])


def test_predictions_inside_and_beyond_the_margin_are_counted(cancer):
    made, card = cancer.predictions, cancer.card
    by_machines = ~np.isnan(made.margins)
    judges = cancer.answers.nested[SMALLEST]
    chosen = [judges.contest.triples[t].judge for t in judges.chosen.tolist()]
    sizes = cancer.comparison.n_test[judges.contest.splits]
    own = [judge in ("svc-linear", "svc-rbf", "linear", "rbf") for judge in chosen]
    assert by_machines.sum() == sum(size for size, good in zip(sizes, own, strict=True) if good) > 0
    side = np.where(made.predicted == 1, 1.0, -1.0)
    values = (side * made.values[:, 0])[by_machines]
    np.testing.assert_array_equal(made.margins[by_machines], values)
    assert (values >= 0).all()
    right = (made.truth == made.predicted)[by_machines]
    inside = values < 1 - 1e-3
    part = card.margin.parts["inside"]
    assert part.n_samples == inside.sum() > 0
    assert part.fraction.value == pytest.approx(inside.mean())
    assert part.accuracy.value == pytest.approx(right[inside].mean())
    beyond = card.margin.parts["beyond"]
    assert beyond.accuracy.value > part.accuracy.value
    assert card.margin.boundary_distance is None
    assert card.to_dict()["margin"]["parts"]["inside"]["n_samples"] == inside.sum()


def test_judges_without_a_margin_have_none_in_the_card():
    study = make_study(load("breast_cancer"), ["fisher"], "tree", sizes=[2], **QUICK)
    assert np.isnan(study.predictions.margins).all() and study.card.margin is None
    several = make_study(load("iris"), ["fisher"], "svc-linear", sizes=[2], **QUICK)
    assert several.predictions.margins is None and several.card.margin is None


def test_a_grid_of_one_setting_is_the_setting_of_the_answer():
    study = make_study(load("iris"), ["fisher"], "tree", sizes=[1, 2], tune="coarse", **QUICK)
    assert study.most_accurate.params == {"min_samples_leaf": 5}
    assert study.pipeline(MOST_ACCURATE)["judge"].min_samples_leaf == 5


def test_weights_of_classes_follow_their_names_into_the_pipeline():
    data = load("breast_cancer")
    study = make_study(
        data, ["fisher"], "linear", sizes=[2], positive="malignant",
        class_weight={"malignant": 5.0, "benign": 1.0}, **QUICK,
    )  # fmt: skip
    given = study.pipeline(MOST_ACCURATE)["judge"].class_weight
    assert {data.target_names[label]: weight for label, weight in given.items()} == {
        "malignant": 5.0,
        "benign": 1.0,
    }
    with pytest.raises(ValueError, match="class_weight names 'none'"):
        make_study(data, ["fisher"], "linear", class_weight={"none": 2.0})


def test_without_a_scale_judges_scale_for_themselves():
    data = load("wine")
    study = make_study(data, ["fisher"], "linear", sizes=[2, 13], scale=None, **QUICK)
    assert study.honest["error"] < 0.1
    best = study.most_accurate
    model = study.pipeline(MOST_ACCURATE).fit(data.keep(best.features).X, data.y)
    wanted = best.params["linearmachine__C"]
    assert model["judge"][-1].get_params()["C"] == pytest.approx(wanted)


def test_a_forest_judges_numbers_too():
    data = load("diabetes")
    data.X, data.y = data.X[:60], data.y[:60]
    study = make_study(data, ["pearson"], "forest", sizes=[2], **{**QUICK, "cv": 2})
    assert np.isfinite(study.honest["error"])


def test_probabilities_count_the_weights_of_the_rows():
    weights = np.linspace(0.5, 2.0, 150)
    data = load("iris")
    data.extras["weights"] = weights
    study = make_study(data, ["fisher"], "linear", sizes=[2], **QUICK)
    _, labels, found = study.out_of_fold()
    rows = study.decisions[SMALLEST].rows
    np.testing.assert_array_equal(found, weights[rows])
    np.testing.assert_array_equal(labels, data.y[rows])


def test_permutations_use_the_score_of_the_study_and_no_groups():
    rng = np.random.default_rng(11)
    y = (np.arange(120) % 8 == 0).astype(int)
    X = rng.standard_normal((120, 3))
    X[:, 0] += 2.5 * y
    study = make_study(dataset(X, y), ["fisher"], "linear", sizes=[1], permutations=5, **QUICK)
    assert study.params["scoring"] == "balanced_accuracy"
    assert study.permutation.score == pytest.approx(1 - study.most_accurate.mean, abs=0.06)
    grouped = dataset(X, y, extras={"groups": np.arange(120) // 2})
    study = make_study(grouped, ["fisher"], "linear", sizes=[1], permutations=5, **QUICK)
    assert study.permutation is None and any("no permutation test" in n for n in study.notes)


@pytest.mark.parametrize("inner", [40, None])
def test_parameters_of_the_final_model_suit_all_rows(inner):
    """Where the inner folds saw few rows, parameters are chosen again by errors on test parts."""
    X, y = make_classification(600, 8, n_informative=4, flip_y=0.2, random_state=3)
    found, setting = run_comparison(
        X,
        y,
        ["fisher"],
        {"tree": CARTClassifier()},
        sizes=[4],
        cv=5,
        repeats=1,
        tune={"min_samples_leaf": [1, 12, 40]},
        nested=3,
        baselines=(),
        limits={"inner": inner} if inner else None,
        random_state=0,
    )
    answers = find_answers(found, np.full(5, 0.5))
    place = answers.contest.choice.smallest
    notes, tried = [], setting.candidates["tree"]
    chosen = final_candidate(setting, answers.contest, place, tried, notes)
    if inner is None:
        assert chosen is None
        return
    errors = {}
    for leaf in (1, 12, 40):
        for split, part in enumerate(setting.parts):
            columns = np.sort(found.orders["fisher"][split][:4])
            tree = CARTClassifier(min_samples_leaf=leaf).fit(
                X[part.train][:, columns], y[part.train]
            )
            wrong = tree.predict(X[part.test][:, columns]) != y[part.test]
            errors[leaf] = errors.get(leaf, 0.0) + wrong.mean()
    assert chosen == {"min_samples_leaf": min(errors, key=errors.get)}
    assert errors[1] > min(errors.values())
    assert not notes
    made = triple_predictions(setting, answers.contest, place, chosen)
    assert np.mean(made.predicted != made.truth) == pytest.approx(min(errors.values()) / 5)
    setting.stop.deadline = 0.0  # long over
    assert final_candidate(setting, answers.contest, place, tried, notes) is None
    assert notes == [notes[0]] and "no time to tune the judge tree" in notes[0]
