"""The classifiers in scikit-learn: its own checks, and what they do not ask."""

import inspect
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from noregret import Learner, _core, _tables, catalogue
from noregret import sklearn as face
from noregret.sklearn import _base, _rows

CLASSIFIERS = [getattr(face, name) for name in face.__all__]
each = pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)


def checks():
    for kind in CLASSIFIERS:
        for estimator, check in estimator_checks_generator(kind()):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{kind.__name__}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_every_learner_of_practical_use_has_a_classifier():
    able = [e for e in catalogue() if e["general"] and e["feedback"] in ("full", "either") and e["classes"] != "real"]
    # A table whose columns are no blocks, one for each label, is none for conditional-logit.
    assert {entry["name"] for entry in able} - {"conditional-logit"} == {kind._learner_name for kind in CLASSIFIERS}
    assert len(CLASSIFIERS) >= 16


def test_online_newton_steps_have_a_norm_that_their_theorem_can_work_with():
    X, y = load_iris(return_X_y=True)
    flat = face.OnsClassifier(norm=30.0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(flat, 1 / 3, atol=0.01)
    for kind in (face.OnsClassifier, face.OnsDiagClassifier):
        model = kind(passes=5).fit(X, y)
        assert model.params_["norm"] == pytest.approx(3 / model.params_["radius"]) and model.score(X, y) > 0.8
        assert "None: 3 / radius" in kind.__doc__ and "None: 30 / radius" not in kind.__doc__


def test_small_sets_are_learnt_in_several_orders():
    X, y = load_wine(return_X_y=True)
    losses = {orders: -cross_val_score(face.AutoClassifier(orders=orders), X, y, cv=3, scoring="neg_log_loss").mean()
              for orders in (1, None)}
    assert losses[None] < losses[1] < 0.2
    model = face.AutoClassifier().fit(X, y)
    alone = np.stack([core.predict(X, False) for core in (model._core, *model._others)])
    mean = np.exp(np.log(alone).mean(axis=0))
    np.testing.assert_allclose(model.predict_proba(X), mean / mean.sum(axis=1, keepdims=True), rtol=1e-9)
    assert len(alone) == 4 and model.score(X, y) > 0.98
    model.partial_fit(X[:5], y[:5])
    assert {core.rounds for core in (model._core, *model._others)} == {len(X) + 5}
    assert face.OgdClassifier().fit(X, y)._others == [] and len(face.OgdClassifier(orders=2).fit(X, y)._others) == 1
    with pytest.raises(ValueError, match="orders = 0: must be a whole number of at least 1"):
        face.AutoClassifier(orders=0).fit(X, y)


def test_small_sets_are_learnt_as_well_as_by_logistic_regression():
    """Three divisions into folds: in a single one, a row more or less decides. Up to one row of accuracy."""
    X, y = load_wine(return_X_y=True)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    for scoring, tolerance in (("accuracy", 1 / len(y)), ("neg_log_loss", 0)):
        scores = (cross_val_score(model, X, y, scoring=scoring, cv=folds) for model in (face.AutoClassifier(), logistic))
        ours, rival = (score.mean() for score in scores)
        assert ours > rival - tolerance, scoring


@each
def test_partial_fit_is_the_learner(kind):
    X, y = load_iris(return_X_y=True)
    if kind._learner_name in {e["name"] for e in catalogue() if e["classes"] == "two"}:
        X, y = X[:100], y[:100]
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    rows, many = kind(), kind()
    rows.partial_fit(X[:1], names[:1], classes=np.unique(names))
    for at in range(1, len(X)):
        rows.partial_fit(X[at : at + 1], names[at : at + 1])
    many.partial_fit(X, names, classes=np.unique(names))
    np.testing.assert_allclose(rows.decision_function(X), many.decision_function(X), rtol=1e-8, atol=1e-8)
    seed = int(np.random.RandomState(0).randint(0, 2**31))
    norm = {"norm": kind._reach / rows.params_["radius"]} if kind._reach else {}
    learner = Learner(
        kind._learner_name, features=4, classes=len(rows.classes_), scale="standard", intercept=True, seed=seed, **norm
    )
    learner.update(X, y)
    np.testing.assert_array_equal(many._core.predict(X, True), learner.scores(X))
    assert rows.n_rounds_ == many.n_rounds_ == len(X)
    assert (many.predict(X) == names).mean() > 0.7


@each
def test_order_and_repetition_decide_nothing(kind):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100].round(), y[:100]
    order = np.random.default_rng(0).permutation(100)
    first = kind(passes=2).fit(X, y)
    second = kind(passes=2).fit(X[order], y[order])
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    if "sample_weight" in inspect.signature(kind.fit).parameters:
        weight = np.random.default_rng(1).integers(0, 4, 100)
        weighted = kind().fit(X, y, sample_weight=weight)
        repeated = kind().fit(X.repeat(weight, axis=0), y.repeat(weight))
        np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


def mixed():
    """Rows with holes, categories, words and times, sorted by their labels."""
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=["w", "x", "y", "z"]).round()
    frame.loc[[0, 77], "w"] = np.nan
    frame["hue"] = np.random.default_rng(1).choice(["red", "green", "blue"], len(X))
    frame["words"] = [f"flower number {at % 3} is {at % 4} cm long and pretty" for at in range(len(X))]
    frame["when"] = pandas.date_range("2020-01-01", periods=len(X), freq="7h")
    return frame, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.mark.parametrize("kind", [face.AutoClassifier, face.FolkloreClassifier, face.OgdClassifier])
def test_order_and_repetition_decide_nothing_in_tables(kind):
    frame, y = mixed()
    rng = np.random.default_rng(0)
    order, weight = rng.permutation(len(y)), rng.integers(0, 4, len(y))
    for table in (frame, frame[["w", "x", "y", "z"]], frame[["x", "hue"]]):
        first = kind(passes=2).fit(table, y)
        second = kind(passes=2).fit(table.iloc[order], y[order])
        np.testing.assert_array_equal(first.decision_function(table), second.decision_function(table))
        weighted = kind().fit(table, y, sample_weight=weight)
        rows = np.arange(len(y)).repeat(weight)
        repeated = kind().fit(table.iloc[rows], y[rows])
        np.testing.assert_array_equal(weighted.decision_function(table), repeated.decision_function(table))
    assert kind(passes=3).fit(frame[["w", "x", "y", "z"]], y).score(frame, y) > 0.85
    model = kind(orders=3).fit(frame, y)
    assert len(model._others) == 2 and model.score(frame, y) > 0.9
    model.partial_fit(frame[:5], y[:5])
    assert len({core.rounds for core in (model._core, *model._others)}) == 1
    with pytest.raises(ValueError, match="is none of the 3 known classes"):
        model.partial_fit(frame[:1], ["sideways"])
    for weights, sentence in ([0.0] * len(y), "ample weights"), ([1.0] * 3, "inconsistent|sample_weight.shape"):
        with pytest.raises(ValueError, match=sentence):
            kind().fit(frame, y, sample_weight=weights)


@pytest.mark.parametrize("kind", [face.FolkloreClassifier, face.OgdClassifier])
def test_rows_in_either_storage_are_taken_in_one_order(kind):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 5)) < 0.5, 0.0, rng.normal(size=(200, 5)).round(1))
    y = rng.integers(0, 3, 200)
    for scale in ("maxabs", "none", "unit"):
        dense, thin = kind(scale=scale).fit(X, y), kind(scale=scale).fit(sparse.csr_matrix(X), y)
        np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(X), rtol=0, atol=1e-9)


def test_the_learner_underneath_reads_the_table(tmp_path):
    frame, y = mixed()
    model = face.FolkloreClassifier().fit(frame, y)
    model.learner_.save(tmp_path / "model")
    for learner in (model.learner_, Learner.load(tmp_path / "model")):
        assert learner.predict(frame).tolist() == model.predict(frame).tolist()
        assert learner.feature_names_in_ == list(frame.columns)


@each
def test_weights_of_classes(kind):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    if "sample_weight" not in inspect.signature(kind.fit).parameters:
        assert "class_weight" not in kind().get_params()
        with pytest.raises(TypeError, match=f"there is no class_weight, since {kind._learner_name} takes no weights"):
            kind(class_weight={0: 2.0})
        return
    # By fit the total stays what it was, whatever the unit of the weights; by partial_fit they are as given.
    weights = np.where(y == 1, 5.0, 1.0)
    weighted = kind(class_weight={1: 5.0}).fit(X, y).decision_function(X)
    for unit in (1.0, 1000.0):
        ours = kind(class_weight={0: unit, 1: 5 * unit}).fit(X, y).decision_function(X)
        np.testing.assert_allclose(ours, weighted, rtol=1e-9, atol=1e-9)
    by_hand = kind().fit(X, y, sample_weight=weights / weights.mean()).decision_function(X)
    np.testing.assert_allclose(by_hand, weighted, rtol=1e-9, atol=1e-9)
    online = kind(class_weight={1: 5.0}).partial_fit(X, y, classes=[0, 1]).decision_function(X)
    by_hand = kind().partial_fit(X, y, classes=[0, 1], sample_weight=weights).decision_function(X)
    np.testing.assert_array_equal(online, by_hand)
    with pytest.raises(ValueError, match='"balanced" needs all rows'):
        kind(class_weight="balanced").partial_fit(X, y, classes=[0, 1])


def test_a_rare_class_is_found_where_classes_are_balanced():
    rng = np.random.default_rng(3)
    y = (rng.random(2000) < 0.03).astype(int)
    X = rng.normal(size=(2000, 2)) + 1.5 * y[:, None]
    found = [(face.FolkloreClassifier(class_weight=w).fit(X, y).predict(X)[y == 1] == 1).mean() for w in (None, "balanced")]
    assert found[0] < 0.5 < 0.75 < found[1]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "site": np.where(X[:, 0] > 0, "here", "there")})
    found = [(face.FolkloreClassifier(class_weight=w).fit(frame, y).predict(frame)[y == 1] == 1).mean() for w in (None, "balanced")]
    assert found[0] < 0.5 < 0.75 < found[1]


def test_boosting_has_probabilities_if_it_plays_so():
    X, y = load_iris(return_X_y=True)
    assert not hasattr(face.AdaboostOlmClassifier(), "predict_proba")
    model = face.AdaboostOlmClassifier(play="mixture")
    assert hasattr(model, "predict_proba")
    np.testing.assert_allclose(model.fit(X, y).predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.9
    assert not hasattr(face.AdaboostOlmClassifier(play="nonsense"), "predict_proba")


def test_parameters_of_a_learner_inside():
    X, y = load_iris(return_X_y=True)
    plain = face.AdaboostOlmClassifier(copies=5)
    assert "weak__grace" not in plain.get_params() and repr(plain) == "AdaboostOlmClassifier(copies=5)"
    model = face.AdaboostOlmClassifier(copies=5, weak__grace=8)
    assert model.get_params()["weak__grace"] == 8 and "weak__grace=8" in repr(model)
    assert model.fit(X, y).params_["weak__grace"] == 8 and plain.fit(X, y).params_["weak__grace"] != 8
    again = clone(model).set_params(weak__grace=20, copies=6)
    assert again.get_params() == {**model.get_params(), "weak__grace": 20, "copies": 6}
    assert again.fit(X, y).params_["weak__grace"] == 20 and model.weak__grace == 8
    assert pickle.loads(pickle.dumps(again)).get_params() == again.get_params()
    linear = face.AdaboostOlmClassifier(weak="ogd", copies=3).set_params(weak__rate=0.5)
    assert linear.fit(X, y).params_["weak__rate"] == 0.5
    search = GridSearchCV(face.AdaboostOlmClassifier(copies=5), {"weak__grace": [8, 2000]}, cv=3).fit(X, y)
    assert search.best_params_ == {"weak__grace": 8}
    with pytest.raises(TypeError, match="tree has no parameter 'grac' .did you mean 'grace'"):
        face.AdaboostOlmClassifier(weak__grac=8).fit(X, y)
    with pytest.raises(TypeError, match=r"AdaboostOlmClassifier.__init__\(\) got an unexpected keyword argument 'grace'"):
        face.AdaboostOlmClassifier(grace=8)
    for estimator in (model, face.FolkloreClassifier()):
        with pytest.raises(ValueError, match="Invalid parameter"):
            estimator.set_params(base__grace=8)


def test_fit_is_good():
    X, y = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(X, y, random_state=0)
    assert face.FolkloreClassifier().fit(train_x, train_y).score(test_x, test_y) > 0.95
    assert face.OgdClassifier().fit(train_x, train_y).score(test_x, test_y) > 0.9


def test_after_fit_comes_partial_fit():
    X, y = load_iris(return_X_y=True)
    model = face.FolkloreClassifier().fit(X, y)
    model.partial_fit(X[:10], y[:10])
    assert model.n_rounds_ == len(X) + 10
    with pytest.raises(ValueError, match=r"y\[0\] = .*7.*: must be one of the classes"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="must be those of the first call"):
        model.partial_fit(X[:1], y[:1], classes=[0, 1])
    with pytest.raises(ValueError, match="column 1 has the value NaN"):
        model.partial_fit(np.array([[0.0, np.nan, 0.0, 0.0]]), [0])
    with pytest.raises(ValueError, match="y has shape"):
        model.partial_fit(X[:2], y[:1])


def test_the_learner_underneath(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = face.FolkloreClassifier().fit(X, np.array(["setosa", "versicolor", "virginica"])[y])
    model.learner_.save(tmp_path / "model")
    again = Learner.load(tmp_path / "model")
    assert again.labels == ["setosa", "versicolor", "virginica"] and again.rounds == model.n_rounds_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert 0 < model.learner_.certificate() < model.learner_.regret_bound()
    weighted = face.FolkloreClassifier().fit(X, y, np.full(len(X), 0.5))
    with pytest.raises(ValueError, match="importance weights"):
        weighted.learner_.regret_bound()


@pytest.mark.parametrize("name", ["Folklore", "Ogd", "Aioli", "Auto"])
def test_equal_rows_are_not_learnt_as_one(name):
    # Two different rows were two rounds, and the weight of the second outweighed the first: half of the labels were wrong.
    sparse = pytest.importorskip("scipy.sparse")
    kind = getattr(face, f"{name}Classifier")
    X, y = np.tile([[0.0, 1.0], [1.0, 0.0]], (75, 1)), np.array([0, 1] * 75)
    for rows in (X, sparse.csr_matrix(X)):
        assert kind().fit(rows, y).score(rows, y) == 1.0
    noisy = np.where(np.arange(150) % 10 == 0, 1 - y, y)
    assert kind().fit(X, noisy).score(X, y) == 1.0
    # Of large weights there are few rows.
    model = kind(orders=1).fit(X[:2], y[:2], [1e6, 2e6])
    assert model.score(X, y) == 1.0 and model.n_rounds_ <= 10_002


def test_weights_are_numbers_of_rows():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(40, 2)).astype(float), rng.integers(2, size=40)
    weights = rng.integers(5, size=40)
    weighted = face.FolkloreClassifier().fit(X, y, weights)
    repeated = face.FolkloreClassifier().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    assert weighted.n_rounds_ == weights.sum()
    # Their sums may differ in the last bits.
    tenths = face.FolkloreClassifier().fit(np.repeat(X, 3, axis=0), np.repeat(y, 3), np.full(120, 0.1))
    np.testing.assert_allclose(tenths.predict_proba(X), face.FolkloreClassifier().fit(X, y, np.full(40, 0.3)).predict_proba(X), rtol=1e-9)


def test_in_pipelines_and_searches():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), face.FolkloreClassifier(scale="none"))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(face.FolkloreClassifier(), {"norm": [0.5, 5.0], "curvature": ["safe", 0.5]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.9
    model = clone(search.best_estimator_).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_sparse_is_scaled_by_magnitude():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = load_digits(return_X_y=True)
    rows, dense = face.FolkloreDiagClassifier(), face.FolkloreDiagClassifier(scale="maxabs")
    rows.fit(sparse.csr_array(X), y)
    dense.fit(sparse.csr_array(X), y)
    assert rows._core.scale == "maxabs" and rows.score(sparse.csr_array(X), y) > 0.8
    np.testing.assert_array_equal(rows.decision_function(X), dense.decision_function(X))


def test_probabilities_are_offered_where_they_are_forecasts():
    forecasts = {e["name"]: e["forecast"] == "probabilities" for e in catalogue()}
    for kind in CLASSIFIERS:
        assert hasattr(kind(), "predict_proba") == forecasts[kind._learner_name]


def test_missing_numbers_of_arrays_and_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = load_iris(return_X_y=True)
    holes = np.where(X > 5, np.nan, X)
    model = face.FolkloreClassifier().fit(holes, y)
    assert model.score(holes, y) > 0.8 and cross_val_score(face.FolkloreClassifier(), holes, y, cv=3).mean() > 0.6
    for rows in (sparse.csr_matrix(holes), sparse.csc_array(holes)):
        np.testing.assert_array_equal(face.FolkloreClassifier().fit(rows, y).predict_proba(rows), model.predict_proba(holes))
        np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(holes))


def test_missing_labels_are_refused():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
    table = [{"a": row[0], "b": "x"} for row in X]
    for rows in (X, table):
        for missing in (None, np.nan):
            gaps = names.copy()
            gaps[7] = missing
            with pytest.raises(ValueError, match="Input y contains NaN or another missing label, the first in row 7; leave out such rows"):
                face.FolkloreClassifier().fit(rows, gaps)
        words = names.copy()
        words[:50] = "NA"
        with pytest.raises(ValueError, match=r"y has the label 'NA', a word for a missing one: .* a class by not_missing=\['NA'\]"):
            face.FolkloreClassifier().fit(rows, words)
        model = face.FolkloreClassifier(not_missing=["NA"]).fit(rows, words)
        assert model.classes_.tolist() == ["NA", "versicolor", "virginica"] and (model.predict(rows) == words).mean() > 0.5


def test_objects_that_are_no_labels_of_scikit_learn_are_named():
    # "Unknown label type: unknown. Maybe you are trying to fit a classifier ... on a regression target"
    x = np.arange(20.0).reshape(-1, 1)
    truths, numbers = [True, False] * 10, [1, 2] * 10
    for y, said in [
        (np.array(truths, dtype=object), "y has labels like True as objects; y.astype\\('bool'\\)"),
        (np.array(numbers, dtype=object), "y has labels like 1 as objects; y.astype\\('int64'\\)"),
        (np.array(["a", 1] * 10, dtype=object), "y has texts and 1; labels of one kind were needed"),
    ]:
        with pytest.raises(ValueError, match=said):
            face.OgdClassifier().fit(x, y)
    texts = np.array(["u", "v"] * 10, dtype=object)
    assert face.OgdClassifier().fit(x, texts).classes_.tolist() == ["u", "v"]


def test_the_learner_underneath_has_the_labels(tmp_path):
    X, y = load_iris(return_X_y=True)
    for labels in ([False, True], ["1", "01"], [np.datetime64("2026-01-01"), np.datetime64("2026-01-02")]):
        given = np.array(labels)[(y > 0).astype(int)]
        model = face.OgdClassifier().partial_fit(X, given, classes=labels)
        model.learner_.save(tmp_path / "model")
        for learner in (model.learner_, Learner.load(tmp_path / "model")):
            np.testing.assert_array_equal(np.asarray(learner.predict(X), dtype=given.dtype), model.predict(X))


def test_rows_without_columns_are_refused_in_scikit_learns_words():
    pandas = pytest.importorskip("pandas")
    for bare in (np.zeros((6, 0)), pandas.DataFrame(index=range(6))):
        for call in (lambda x: face.FolkloreClassifier().fit(x, [0, 1] * 3), lambda x: face.FolkloreClassifier().partial_fit(x, [0, 1] * 3, [0, 1])):
            with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(6, 0\)\) while a minimum of 1 is required by scikit-learn"):
                call(bare)


def test_rows_of_other_kinds_than_in_fit():
    frame, y = mixed()
    plain, table = face.FolkloreClassifier().fit(frame[["x", "y"]], y), face.FolkloreClassifier().fit(frame[["x", "hue"]], y)
    holes = frame[["x", "y"]].copy()
    holes.loc[3, "x"] = np.nan
    # A missing number of a table is the mean of its column, whose numbers are far from 0, as in one that had some before.
    mean = frame[["x", "y"]].mean()
    np.testing.assert_allclose(plain.predict_proba(holes), plain.predict_proba(holes.fillna(mean)), rtol=1e-9)
    parts = face.FolkloreClassifier().partial_fit(frame[["x", "y"]][:20], y[:20], np.unique(y)).partial_fit(frame[["x", "y"]][20:], y[20:])
    np.testing.assert_allclose(parts.predict_proba(holes), parts.predict_proba(holes.fillna(mean)), rtol=1e-9)
    unscaled = face.FolkloreClassifier(scale="none").fit(frame[["x", "y"]], y)
    np.testing.assert_array_equal(unscaled.predict_proba(holes), unscaled.predict_proba(holes.fillna(0.0)))
    near = face.FolkloreClassifier().fit(frame[["x", "y"]] - mean, y)
    np.testing.assert_array_equal(near.predict_proba(holes - mean), near.predict_proba((holes - mean).fillna(0.0)))
    assert plain.partial_fit(holes, y).n_rounds_ > len(y)
    with pytest.raises(ValueError, match="X has missing numbers .NaN., and the rows of fit had none: fit with some of them"):
        face.FolkloreClassifier().fit(frame[["x", "y"]].to_numpy(), y).predict(holes.to_numpy(np.float32))
    # The columns of an array are those of the table, in their order.
    np.testing.assert_array_equal(table.predict(frame[["x", "hue"]].to_numpy()), table.predict(frame[["x", "hue"]]))
    with pytest.raises(ValueError, match="x has 3 columns; the 2 of the learner were needed: x, hue"):
        table.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        face.FolkloreClassifier().fit(frame[:0], y[:0])
    texts = ["good day", "bad day"] * 30
    assert face.FolkloreClassifier().fit(texts, texts).predict(texts[:2]).tolist() == texts[:2]
    rows = [[1.0, "a"], [2.0, "b"]] * 30
    assert face.FolkloreClassifier().fit(rows, texts).predict(rows[:2]).tolist() == texts[:2]


def test_dictionaries_after_a_frame_of_numbers():
    """They are rows of the frame, whatever the order of their keys."""
    pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = face.FolkloreClassifier().fit(X, y)
    expected = model.predict_proba(X)
    rows = X[X.columns[::-1]].to_dict("records")
    for given in (rows, tuple(rows), X.to_dict("list")):
        assert np.array_equal(model.predict_proba(given), expected)
    assert np.array_equal(model.predict_proba(rows[0]), expected[:1])
    assert np.array_equal(clone(model).fit(X, y).partial_fit(rows, y).predict_proba(X), model.partial_fit(X, y).predict_proba(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict([{"other": 1.0}])
    with pytest.raises(ValueError, match="the rows of fit had none; an array was needed"):
        face.FolkloreClassifier().fit(X.to_numpy(), y).predict(rows)


@pytest.mark.parametrize(
    ("name", "value"),
    [("radius", "x"), ("radius", [1]), ("memory", "x"), ("memory", -1), ("fit_intercept", "False"), ("scale", -1), ("scale", None)],
)
def test_settings_of_the_wrong_kind_are_named(name, value):
    X, y = load_iris(return_X_y=True)
    model = face.FolkloreClassifier(**{name: value})
    for learn in (model.fit, lambda X, y: model.partial_fit(X, y, classes=[0, 1, 2])):
        with pytest.raises((TypeError, ValueError), match=f"^{name} = "):
            learn(X, y)


@pytest.mark.parametrize("weight", [-1, float("nan"), "x"])
def test_weights_of_classes_are_refused_by_their_class(weight):
    X, y = load_iris(return_X_y=True)
    model = face.FolkloreClassifier(class_weight={0: weight})
    for learn in (model.fit, lambda X, y: model.partial_fit(X, y, classes=[0, 1, 2])):
        with pytest.raises((TypeError, ValueError), match=r"^class_weight\[0\] = "):
            learn(X, y)


@pytest.mark.parametrize("name", ["Folklore", "Ogd"])
def test_numbers_that_go_missing_behind_the_first_rows(name):
    # The rows that decide about the columns are whole: missing numbers behind them were 0 before standardising.
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x, gone = rng.normal(size=(2400, 2)), rng.random((2400, 2)) < [0.2, 0.0]
    y = np.where(x[:, 0] + 0.5 * x[:, 1] > 0, "up", "down")
    gone[:1100] = False
    holes = pandas.DataFrame(np.where(gone, np.nan, x + 50).round(3), columns=["a", "b"])
    kind, filled = getattr(face, f"{name}Classifier"), holes.fillna(50.0)
    assert kind().fit(holes, y).score(holes, y) > kind().fit(filled, y).score(filled, y) - 0.03


@pytest.mark.parametrize("name", ["Folklore", "Ogd", "Auto"])
def test_missing_numbers_of_tables_are_means(name):
    # In `fit` they were 0 before standardising: of numbers around 50 half of the labels were wrong.
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(800, 2))
    y = np.where(x[:, 0] + 0.5 * x[:, 1] > 0, "up", "down")
    days = pandas.date_range("2026-01-01", periods=800, freq="h")
    whole = pandas.DataFrame(x + 50, columns=["a", "b"]).assign(day=days)
    holes = whole.mask(rng.random((800, 3)) < [0.2, 0.2, 0.0])
    kind = getattr(face, f"{name}Classifier")
    filled = kind().fit(whole.where(holes.notna(), 50.0).assign(day=days), y)
    model = kind().fit(holes, y)
    assert model.score(holes, y) > filled.score(whole.where(holes.notna(), 50.0).assign(day=days), y) - 0.05
    # Weights count in the scaling, as repeated rows do.
    weights = np.arange(800) % 3
    weighted = kind(orders=1).fit(holes, y, weights)
    repeated = kind(orders=1).fit(holes.loc[holes.index.repeat(weights)].reset_index(drop=True), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(holes), repeated.predict_proba(holes), atol=1e-6)


def test_the_first_pass_takes_indicated_numbers_for_missing_ones():
    # What a table's indicators mark is no part of the statistics, as NaN is none in an array, to the bit.
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(300, 2)) + [50.0, 0.0], columns=["a", "b"]).mask(rng.random((300, 2)) < 0.2)
    frame["hue"] = rng.choice(["red", "green"], 300)
    reading = face.FolkloreClassifier()._reading()
    rows, schema = _rows.numbers(_tables.table(frame), ["up", "down"] * 150, list(range(300)), reading)
    holes = np.where(rows[:, 2:4] == 1.0, np.nan, rows[:, :2])
    assert rows.shape == (300, 6) and np.isnan(holes).any(axis=0).all()
    for weights in (None, rng.random(300), np.arange(300.0) % 3):
        seen, means, squares, _, there = _core.survey(holes, weights, "standard", False)
        found = _core.survey(rows, weights, "mixed", True, schema)
        assert found[:3] == (seen, [*means, *there], squares)
        # The radius is the largest norm of a row that a learner with these statistics sees.
        learner = _core.Learner("ogd", 2, 6, {}, scale="mixed", intercept=True, schema=schema)
        learner.set_scaling(*found[:3])
        assert found[3] == _core.reach(learner, rows)[0]


def test_labels_may_be_texts_of_numpy_or_a_stream_of_arrow():
    pyarrow = pytest.importorskip("pyarrow")

    class Stream:
        """What a query of DuckDB answers."""

        def __arrow_c_stream__(self, requested_schema=None):
            return pyarrow.table({"y": names}).__arrow_c_stream__(requested_schema)

    x, y = load_iris(return_X_y=True)
    names = np.array(["b", "a", "c"])[y]
    expected = face.FolkloreClassifier().fit(x, names)
    for given in (names.astype(np.dtypes.StringDType()), Stream()):
        classifier = face.FolkloreClassifier().fit(x, given)
        assert classifier.classes_.tolist() == ["a", "b", "c"] and (classifier.predict(x) == expected.predict(x)).all()
        assert face.FolkloreClassifier().partial_fit(x, given, classes=["a", "b", "c"]).n_rounds_ == 150


def test_rows_as_fitted_are_not_looked_at_again(monkeypatch):
    """scikit-learn's look at a frame takes longer than many forecasts."""
    pandas = pytest.importorskip("pandas")
    x = np.random.default_rng(0).normal(size=(60, 3))
    y = x[:, 0] > 0
    frame = pandas.DataFrame(x, columns=list("abc")).assign(n=range(60))
    fitted = face.FolkloreClassifier().fit(frame, y)
    expected = fitted.predict_proba(frame)
    holes = frame.assign(b=frame["b"].where(frame["a"] > 0))
    filled = fitted.predict_proba(holes)
    with monkeypatch.context() as patch:
        patch.setattr(_base, "validate_data", None)
        np.testing.assert_array_equal(fitted.predict_proba(frame), expected)
        np.testing.assert_array_equal(fitted.predict_proba(frame.iloc[5:6]), expected[5:6])
        with pytest.raises(TypeError, match="not callable"):
            fitted.predict_proba(holes)
    np.testing.assert_array_equal(filled[frame["a"] > 0], expected[frame["a"] > 0])
    with pytest.raises(ValueError, match="they were needed in the order of fit"):
        fitted.predict(frame[["n", "a", "b", "c"]])
    with pytest.raises(ValueError, match="contains infinity"):
        fitted.predict(frame.assign(a=np.inf))
