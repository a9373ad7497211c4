"""`noregret.Learner`: what it computes, for every learner of the registry."""

import copy
import datetime
import pickle
import re
from functools import partial

import numpy as np
import pytest
from conftest import classes_of, dimension_of, entries, stream

from noregret import Bandit, Learner, learners

FULL = entries("full", "either")


def problem(entry, rows=60, seed=0):
    """A learner, rows and targets."""
    d, k = dimension_of(entry), classes_of(entry)
    x, y = stream(rows, d, max(k, 2), seed)
    y = x @ np.arange(1.0, d + 1) if k == 1 else y
    return Learner(entry["name"], features=d, classes=k, radius=1.0), x, y


each = pytest.mark.parametrize("entry", FULL, ids=lambda entry: entry["name"])


@each
def test_rows_one_by_one_are_an_array_bit_for_bit(entry):
    learner, x, y = problem(entry)
    one_by_one, ahead = learner.copy(), learner.copy()
    run = learner.run(x, y, look_ahead=False, probabilities=True)
    seen = []
    for row, target in zip(x, y, strict=True):
        seen.append(one_by_one.predict_proba(row) if entry["classes"] != "real" else one_by_one.scores(row))
        one_by_one.learn_one(row, target)
    np.testing.assert_array_equal(np.array(seen), run.probabilities)
    np.testing.assert_array_equal(learner.scores(x), one_by_one.scores(x))
    faster = ahead.run(x, y, probabilities=True)
    np.testing.assert_allclose(faster.probabilities, run.probabilities, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(faster.losses, run.losses, rtol=1e-9, atol=1e-9)
    assert learner.rounds == ahead.rounds == len(x)


@each
def test_learning_without_predicting_first_is_the_same(entry):
    learner, x, y = problem(entry)
    other = learner.copy()
    for row, target in zip(x, y, strict=True):
        learner.predict_proba(x[0])
        learner.learn_one(row, target)
    other.update(x, y, look_ahead=False)
    np.testing.assert_array_equal(learner.scores(x), other.scores(x))


@each
@pytest.mark.parametrize("look_ahead", [False, True])
def test_copies_pickles_and_files_continue_bit_for_bit(entry, look_ahead, tmp_path):
    learner, x, y = problem(entry)
    whole = learner.copy()
    learner.update(x[:37], y[:37], look_ahead=look_ahead)
    learner.save(tmp_path / "model.safetensors")
    others = [
        learner.copy(),
        copy.deepcopy(learner),
        pickle.loads(pickle.dumps(learner)),
        Learner.load(tmp_path / "model.safetensors"),
    ]
    run = learner.run(x[37:], y[37:], look_ahead=look_ahead)
    for other in others:
        np.testing.assert_array_equal(other.run(x[37:], y[37:], look_ahead=look_ahead).losses, run.losses)
        assert type(other) is Learner and other.params == learner.params
    if not look_ahead:
        whole.update(x, y, look_ahead=False)
        np.testing.assert_array_equal(whole.scores(x), learner.scores(x))


@each
def test_every_learner_has_a_class_with_its_parameters(entry):
    made = getattr(learners, "".join(word.capitalize() for word in entry["name"].split("-")))
    learner = made(features=dimension_of(entry), classes=classes_of(entry), radius=1.0)
    by_name, x, y = problem(entry)
    assert learner.params == by_name.params
    np.testing.assert_array_equal(learner.run(x, y).losses, by_name.run(x, y).losses)
    again = pickle.loads(pickle.dumps(learner))
    assert type(again) is made and again.rounds == len(x)


@each
def test_sparse_rows_are_dense_rows(entry):
    scipy = pytest.importorskip("scipy.sparse")
    learner, x, y = problem(entry)
    x = np.where(np.abs(x) < 0.3, 0.0, x)
    other = learner.copy()
    run, sparse = learner.run(x, y), other.run(scipy.csr_array(x), y)
    np.testing.assert_allclose(sparse.losses, run.losses, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(other.scores(scipy.csr_matrix(x)), learner.scores(x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", ["unit", "maxabs", "standard"])
@pytest.mark.parametrize("intercept", [False, True])
def test_scaling_is_online(scale, intercept):
    x, y = stream(80, 4, 3)
    x = x * np.array([1.0, 100.0, 0.01, 1.0]) + np.array([5.0, 0.0, 0.0, 0.0])
    learner = Learner("ogd", features=4, classes=3, scale=scale, intercept=intercept)
    run = learner.run(x, y, probabilities=True)

    def scaled(t):
        seen, row = x[: t + 1], x[t]
        if scale == "unit":
            row = row / np.linalg.norm(row)
        elif scale == "maxabs":
            row = row / np.abs(seen).max(axis=0)
        else:
            deviation = seen.std(axis=0)
            still = deviation <= 1e-12 * np.abs(seen.mean(axis=0))
            row = np.where(still, 0.0, (row - seen.mean(axis=0)) / np.where(still, 1.0, deviation)).clip(-5, 5)
        return np.concatenate([[1.0], row]) if intercept else row

    by_hand = Learner("ogd", features=4 + intercept, classes=3, radius=learner.radius)
    rows = np.array([scaled(t) for t in range(len(x))])
    np.testing.assert_allclose(by_hand.run(rows, y, probabilities=True).probabilities, run.probabilities, atol=1e-9)


def test_the_most_probable_labels():
    x, y = stream(100, 3, 4)
    learner = Learner("folklore", features=3, labels=["a", "b", "c", "d"])
    learner.run(x, np.array(["a", "b", "c", "d"])[y])
    labels, p = learner.predict_top(x, 2)
    whole = learner.predict_proba(x)
    assert labels.shape == p.shape == (100, 2)
    np.testing.assert_array_equal(p, -np.sort(-whole, axis=1)[:, :2])
    np.testing.assert_array_equal(labels[:, 0], learner.predict(x))
    one, _ = learner.predict_top(x[0], 9)
    assert sorted(one) == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="k = 0"):
        learner.predict_top(x, 0)


def test_weights_and_soft_labels():
    x, y = stream(50, 4, 3)
    soft, hard, twice = (Learner("ogd", features=4, classes=3, radius=1.0) for _ in range(3))
    soft.update(x, np.eye(3)[y])
    hard.update(x, y)
    np.testing.assert_allclose(soft.scores(x), hard.scores(x), rtol=1e-12)
    weight = np.where(np.arange(50) % 5 == 0, 0.0, 1.0)
    run = twice.run(x, y, weight)
    assert np.isnan(run.losses[::5]).all() and np.isfinite(np.delete(run.losses, np.s_[::5])).all()
    assert run.rates["rounds"] == twice.rounds == 40


def test_losses_are_those_of_the_probabilities():
    x, y = stream(200, 4, 3)
    run = Learner("folklore", features=4, classes=3, radius=1.0).run(x, y, probabilities=True)
    np.testing.assert_allclose(run.losses, -np.log(run.probabilities[np.arange(200), y]), atol=1e-12)
    assert run.rates["log_loss"] == pytest.approx(run.losses.mean(), rel=1e-12)
    assert run.rates["errors"] == (run.played != y).sum()
    np.testing.assert_array_equal(run.played, run.probabilities.argmax(axis=1))


def test_the_certificate_is_between_regret_and_bound():
    x, y = stream(400, 3, 3)
    learner = Learner("folklore", features=3, classes=3, radius=1.0, norm=5)
    loss = learner.run(x, y).losses.sum()
    # Any predictor of the ball will do; the best one found by a few steps of gradient descent is close.
    w = np.zeros((3, 3))
    for _ in range(2000):
        p = np.exp(x @ w.T)
        p /= p.sum(axis=1, keepdims=True)
        w -= 0.01 * (p - np.eye(3)[y]).T @ x
        w *= np.minimum(1.0, 5 / np.linalg.norm(w, axis=1, keepdims=True))
    p = np.exp(x @ w.T)
    best = -np.log(p[np.arange(400), y] / p.sum(axis=1)).sum()
    assert loss - best <= learner.certificate() <= learner.regret_bound()
    learner.learn_one([3.0, 0.0, 0.0], 0)
    assert learner.large_rows == 1
    with pytest.raises(ValueError, match="void: 1 row was beyond the learner's radius"):
        learner.certificate()
    # Neither saving nor copying makes it forget.
    for again in (learner.copy(), pickle.loads(pickle.dumps(learner))):
        with pytest.raises(ValueError, match="void: 1 row was beyond the learner's radius"):
            again.certificate()
        with pytest.raises(ValueError, match="has no bound: 1 row was beyond the learner's radius"):
            again.regret_bound()


def test_curvature_beyond_what_is_proven_voids_the_certificate():
    x, y = stream(100, 3, 2)
    for name in ("folklore", "aioli", "gaf"):
        learner = Learner(name, features=3, classes=2, radius=1.0, curvature=5.0)
        learner.run(x, y)
        with pytest.raises(ValueError, match="is void: the curvature 5.0000 is larger than any valid one"):
            learner.certificate()


def test_no_guarantee_has_a_reason():
    perceptron = Learner("perceptron", features=2, classes=2)
    with pytest.raises(ValueError, match="perceptron keeps no certificate"):
        perceptron.certificate()
    with pytest.raises(ValueError, match="perceptron has no bound"):
        perceptron.regret_bound()


def test_shards_are_merged():
    x, y = stream(300, 4, 3)
    shards = [Learner("folklore", features=4, classes=3, radius=1.0) for _ in range(3)]
    for at, shard in enumerate(shards):
        shard.update(x[at::3], y[at::3])
    merged = Learner.merge(shards)
    assert merged.rounds == 300 and [shard.rounds for shard in shards] == [100, 100, 100]
    assert (merged.predict(x) == y).mean() > 0.5
    again = Learner.merge(shards[::-1], how="lambda-once")
    assert not np.array_equal(again.scores(x), merged.scores(x))
    with pytest.raises(ValueError, match="classes = 2: must be 3"):
        Learner.merge([shards[0], Learner("folklore", features=4, classes=2, radius=1.0)])
    with pytest.raises(ValueError, match="ogd cannot be merged"):
        Learner.merge([Learner("ogd", features=4, classes=3)] * 2)
    with pytest.raises(ValueError, match="nothing to merge"):
        Learner.merge([])


def test_what_a_learner_tells_of_itself():
    x, y = stream(200, 4, 3)
    mixture = Learner("auto", features=4, classes=3, radius=1.0)
    first = mixture.weights
    mixture.update(x, y)
    # Members join while the grid extends itself.
    assert set(first) <= set(mixture.weights) and first != mixture.weights and mixture.numbers == {}
    members = [weight for name, weight in mixture.weights.items() if not name.startswith("stack")]
    assert all(weight >= 0 for weight in members) and len(members) > 1
    assert sum(mixture.weights.values()) == pytest.approx(1)
    chain = Learner("adaboost-olm", features=4, classes=3, copies=5)
    assert chain.forecast == "randomised label" and chain.weights == {}
    chain.update(x, y)
    assert len(chain.numbers["edges"]) == 5 and any(chain.numbers["edges"])
    assert Learner("adaboost-olm", features=4, classes=3, play="mixture").forecast == "probabilities"


def test_names_of_classes():
    learner = Learner("ogd", features=2, labels=["cat", "dog"], radius=1.0)
    learner.run([[1.0, 0.0], [0.0, 1.0]] * 20, ["dog", "cat"] * 20)
    learner.learn_one([1.0, 0.0], "dog")
    assert learner.predict([1.0, 0.0]) == "dog"
    with pytest.raises(ValueError, match="\"bird\" is none of the 2 known classes: cat, dog"):
        learner.learn_one([1.0, 0.0], "bird")
    assert learner.rounds == 41


def test_repr_and_facts():
    learner = Learner("folklore", features=4, classes=3, norm=2.5, radius=2.0, seed=3)
    assert repr(learner) == "Learner('folklore', classes=3, features=4, rounds=0)"
    assert repr(learners.Ogd(features=4, classes=3)) == "Ogd(classes=3, features=4, rounds=0)"
    assert learner.params["norm"] == 2.5 and learner.params["radius"] == 2.0 and learner.radius == 2.0
    assert learner.labels == ["0", "1", "2"] and learner.columns == ["0", "1", "2", "3"]
    assert learner.__sizeof__() == object.__sizeof__(learner) and learner._core.__sizeof__() > 8 * 8 * 8


def test_many_numbers_as_labels_are_mentioned_once():
    pandas = pytest.importorskip("pandas")
    x = np.random.default_rng(0).normal(size=(400, 2))
    y = np.arange(400) % 40
    said = ['the labels are 40 different numbers, and each is a class of its own; Learner("vaw") forecasts numbers']
    for rows in (x, pandas.DataFrame(x, columns=["a", "b"])):
        learner = Learner("ogd")
        assert learner.run(rows, y).notes == said and learner.run(rows, y).notes == []
        assert Learner("ogd").run(rows, [str(label) for label in y]).notes == []
        assert Learner("ogd").run(rows, y % 30).notes == Learner("vaw").run(rows, y).notes == []


@pytest.mark.parametrize("made", [lambda: Learner("ogd"), lambda: Bandit("banditron")], ids=["learner", "bandit"])
def test_labels_that_look_alike_are_mentioned(made):
    # The command line said so, and Python took them for two classes without a word.
    pandas = pytest.importorskip("pandas")
    x = np.random.default_rng(0).normal(size=(60, 2))
    said = ['the labels "Yes" and "yes" look alike, and are two classes: write them alike if they are one']
    for rows in (x, pandas.DataFrame(x, columns=["a", "b"])):
        model = made()
        assert model.run(rows, ["yes", "no", "Yes"] * 20).notes == said and model.run(rows, ["yes", "no", "Yes"] * 20).notes == []
        assert made().run(rows, ["1.1", "1.10", "x"] * 20).notes == []


@pytest.mark.parametrize("made", [partial(Learner, "ogd"), partial(Bandit, "banditron")], ids=["learner", "bandit"])
def test_a_real_valued_target_is_refused_as_on_the_command_line(made):
    # It was learnt as sixty classes.
    pandas = pytest.importorskip("pandas")
    x, y = np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 60 + 0.5
    said = 'y has 60 different numbers in 300 rows, such as 0.5: a real-valued target; Learner("vaw") forecasts numbers, and classes=60 makes each'
    for rows in (x, pandas.DataFrame(x, columns=["a", "b"])):
        with pytest.raises(ValueError, match=re.escape(said)):
            made().run(rows, y)
        assert made(classes=60).run(rows, y).rates["rounds"] == made().run(rows, [str(label) for label in y]).rates["rounds"] == 300
        made().run(rows, y % 20)


@pytest.mark.parametrize("labels", [[True, False, "x"], [0.5, 1.5, 2.5], ["01", "1", "2"], [datetime.date(2026, 1, day) for day in (1, 2, 3)]])
def test_merged_learners_have_the_labels_as_they_were_given(labels):
    x, y = stream(60, 2, 3)
    given = np.array([labels[label] for label in y], dtype=object)
    one = Learner("folklore", features=2, labels=labels)
    one.update(x, given)
    for made in (Learner.merge([one, one.copy()]), one.with_statistics(one.statistics(), 1)):
        found = made.predict(x).tolist()
        assert {(type(label), label) for label in found} <= {(type(label), label) for label in labels}


def test_numbers_are_no_places_of_labels_with_names():
    x, y = stream(60, 2, 3)
    learner = Learner("folklore")
    learner.run(x, np.array(["a", "b", "c"])[y])
    learner.learn_one(x[0], 0)
    assert learner.labels == ["a", "b", "c", "0"]
    fixed = Learner("folklore", features=2, labels=["a", "b", "c"])
    for y in (0, 0.0, 7):
        with pytest.raises(ValueError, match="is none of the 3 known classes: a, b, c"):
            fixed.learn_one(x[0], y)


def test_a_sparse_row_is_learnt_as_the_same_dense_one():
    sparse = pytest.importorskip("scipy.sparse")
    x = sparse.random(60, 8, 0.4, format="csr", random_state=0)
    one_axis = sparse.csr_array(x)
    facts = {"labels": ["no", "yes"], "radius": 4.0, "scale": "none"}
    for made in ({}, {"features": 8}):
        found = []
        for row in (lambda at: x.toarray()[at], lambda at: x[at], lambda at: x[at].tocoo(), lambda at: one_axis[at]):
            learner = Learner("folklore", **facts, **made)
            for at in range(60):
                learner.learn_one(row(at), ["no", "yes"][at % 2])
            found.append(learner.predict_proba(x))
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=1e-9)
