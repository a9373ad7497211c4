"""`noregret.Bandit`: decisions, and feedback that is late, out of order, or never comes."""

import copy
import pickle
import re

import numpy as np
import pytest
from conftest import classes_of, entries, stream

from noregret import Bandit, Decision, Learner, bandits, learners

each = pytest.mark.parametrize("entry", entries("bandit", "either"), ids=lambda entry: entry["name"])


def made(entry, **params):
    return Bandit(entry["name"], features=3, classes=classes_of(entry), radius=1.0, seed=1, **params)


def play(bandit, x, y):
    decisions = []
    for row, label in zip(x, y, strict=True):
        decision = bandit.decide(row)
        bandit.feedback(decision.id, decision.label == label)
        decisions.append(decision)
    return decisions


@each
def test_feedback_at_once_is_a_run(entry):
    x, y = stream(60, 3, classes_of(entry))
    by_hand, run = made(entry), made(entry)
    decisions = play(by_hand, x, y)
    seen = run.run(x, y, seed=1, probabilities=True)
    np.testing.assert_array_equal([decision.label for decision in decisions], seen.played)
    played = seen.probabilities[np.arange(60), seen.played]
    np.testing.assert_allclose([decision.probability for decision in decisions], played, rtol=1e-12)
    np.testing.assert_array_equal(by_hand.scores(x), run.scores(x))
    assert by_hand.rounds == run.rounds == 60


@each
def test_copies_pickles_and_files_go_on_with_what_waits(entry, tmp_path):
    x, y = stream(60, 3, classes_of(entry))
    bandit = made(entry)
    play(bandit, x[:30], y[:30])
    late = [bandit.decide(row) for row in x[30:35]]
    bandit.save(tmp_path / "model")
    others = [bandit.copy(), copy.deepcopy(bandit), pickle.loads(pickle.dumps(bandit)), Bandit.load(tmp_path / "model")]
    results = []
    for each_one in (bandit, *others):
        for decision, label in reversed(list(zip(late, y[30:35], strict=True))):
            each_one.feedback(decision.id, decision.label == label)
        results.append(play(each_one, x[35:], y[35:]))
    assert all(result == results[0] for result in results)


@each
def test_every_learner_has_a_class_with_its_parameters(entry):
    kind = getattr(bandits, "".join(word.capitalize() for word in entry["name"].split("-")))
    bandit = kind(features=3, classes=classes_of(entry), radius=1.0, seed=1)
    assert bandit.params == made(entry).params and bandit.name == entry["name"]


def test_parameters_of_a_learner_inside():
    ours = bandits.BanditReduction(features=2, classes=3, radius=1.0, base__norm=2.0, base__curvature="tight")
    by_name = Bandit("bandit-reduction", features=2, classes=3, radius=1.0, **{"base.norm": 2.0, "base.curvature": "tight"})
    assert ours.params["base__norm"] == 2.0 and ours.params == by_name.params
    assert Bandit("bandit-reduction", features=2, classes=3, **ours.params).params == ours.params
    with pytest.raises(ValueError, match="base__norm = -1: must be a finite number > 0"):
        bandits.BanditReduction(features=2, classes=3, base__norm=-1)
    with pytest.raises(TypeError, match="bandit-reduction has no parameter 'norm'; it takes .*, base__[*]$"):
        bandits.BanditReduction(features=2, classes=3, norm=2.0)
    with pytest.raises(TypeError, match="folklore has no parameter 'nrm' .did you mean 'norm'"):
        bandits.BanditReduction(features=2, classes=3, base__nrm=2.0)


def test_a_prior_is_where_forecasts_begin(tmp_path):
    ads = bandits.Auto(features=1, labels=["a", "b"], prior=0.01, prior_rounds=300)
    rate = 1 / (1 + np.exp(-ads.scores([[0.5]])))
    assert np.all((rate > 0.01) & (rate < 0.014))
    play(ads, np.linspace(0, 1, 20)[:, None], ["a"] * 20)
    ads.save(tmp_path / "model")
    again = Bandit.load(tmp_path / "model")
    assert again.params["prior"] == 0.01 and again.params["prior_rounds"] == 300
    assert again.decide([0.3]) == ads.decide([0.3])
    assert bandits.Confidit(features=1, classes=2, prior=0.01).params["prior"] == 0.01
    articles = Bandit("offers", prior=0.01)
    assert articles.params["prior"] == 0.01 and articles.params["prior_rounds"] == 50
    with pytest.raises(ValueError, match="must be left out with oracle = aioli, .* oracle = pooled begins at any rate"):
        bandits.Squarecb(features=1, classes=2, prior=0.01)
    with pytest.raises(ValueError, match="prior = 0.01: must be left out where the label is revealed"):
        Learner("auto", features=1, classes=2, prior=0.01)
    with pytest.raises(TypeError, match="prior"):
        learners.Auto(features=1, classes=2, prior=0.01)


def test_feedback_may_come_in_any_order_or_never():
    bandit = Bandit("soba", features=2, classes=3, exploration=0.1)
    first, second, third = (bandit.decide([1.0, at]) for at in range(3))
    assert isinstance(first, Decision) and (first.id, second.id, third.id) == (0, 1, 2)
    assert 0 < first.probability <= 1
    bandit.feedback(third.id, True)
    bandit.feedback(first.id, np.bool_(False))
    assert bandit.waiting == [second.id] and bandit.rounds == 2
    bandit.forget(second.id)
    for id in (first.id, second.id, 99):
        with pytest.raises(KeyError, match=f"no decision {id} is pending"):
            bandit.feedback(id, True)
    with pytest.raises(KeyError):
        bandit.forget(first.id)
    assert bandit.waiting == [] and bandit.rounds == 2


def test_the_oldest_is_forgotten_when_too_many_wait():
    bandit = Bandit("soba", features=1, classes=2, most_waiting=3)
    ids = [bandit.decide([1.0]).id for _ in range(5)]
    assert bandit.waiting == ids[2:]


def test_labels_are_drawn_by_their_probabilities():
    bandit = Bandit("banditron", features=1, classes=4, exploration=0.4, seed=5)
    p = bandit.predict_proba([1.0])
    np.testing.assert_allclose(sorted(p), [0.1, 0.1, 0.1, 0.7])
    drawn = np.bincount([bandit.decide([1.0]).label for _ in range(20000)], minlength=4) / 20000
    np.testing.assert_allclose(drawn, p, atol=0.015)
    assert bandit.predict([1.0]) == p.argmax() and bandit.predict([[1.0]]).tolist() == [p.argmax()]


@each
def test_a_floor_is_under_all_probabilities(entry):
    x, y = stream(60, 3, classes_of(entry))
    by_hand, run = made(entry, exploration_floor=0.1), made(entry, exploration_floor=0.1)
    decisions = play(by_hand, x, y)
    seen = run.run(x, y, seed=1, probabilities=True)
    assert seen.probabilities.min() >= 0.1 - 1e-15 and by_hand.predict_proba(x).min() >= 0.1 - 1e-15
    np.testing.assert_array_equal([decision.label for decision in decisions], seen.played)
    again = pickle.loads(pickle.dumps(by_hand))
    assert play(again, x, y) == play(by_hand, x, y)
    with pytest.raises(ValueError, match="exploration_floor = 0.6: must be from 0 to 0.[35]"):
        made(entry, exploration_floor=0.6)


def test_learning_pays():
    x, y = stream(3000, 5, 3)
    bandit = Bandit("soba", features=5, classes=3, exploration=0.1, seed=1, scale="standard", intercept=True)
    run = bandit.run(x, y)
    assert (run.played[2000:] != y[2000:]).mean() < 0.5 < (run.played[:50] != y[:50]).mean()
    assert run.rates["error_rate"] == (run.played != y).mean()


def test_bad_rows_are_not_played():
    bandit = Bandit("soba", features=2, classes=3, seed=4)
    untouched = bandit.copy()
    for row, error, sentence in [
        ([], ValueError, "x has 0 numbers; features = 2"),
        (np.empty((0, 2)), ValueError, "x has 2 axes; the numbers of one row were needed"),
        (["a", "b"], TypeError, "real numbers were needed"),
        ([1j, 0], TypeError, "x has dtype complex128"),
        ([1e200, 0.0], ValueError, "values are too large"),
        (None, ValueError, "x has 0 numbers; features = 2"),
    ]:
        with pytest.raises(error, match=sentence):
            bandit.decide(row)
    with pytest.raises(ValueError, match="x: column 0 has the value inf"):
        bandit.decide([float("inf"), 1.0])
    with pytest.raises(TypeError, match="the bandit knows its columns by their numbers"):
        bandit.predict({"a": 1.0})
    with pytest.raises(ValueError, match="x has 1 number; features = 2"):
        bandit.decide([1.0])
    with pytest.raises(ValueError, match="must be a class from 0 to 2"):
        bandit.run([[0.0, 1.0]], [3])
    assert bandit.waiting == [] and bandit.rounds == 0
    whole = np.asfortranarray(np.tile([0.5, -0.5], (3, 1)))
    whole.setflags(write=False)
    assert [bandit.decide(row) for row in whole] == [untouched.decide([0.5, -0.5]) for _ in range(3)]
    assert bandit.predict_proba(whole).shape == (3, 3) and bandit.predict_proba(np.empty((0, 2))).shape == (0, 3)


def test_feedback_is_what_it_says():
    bandit = Bandit(classes=2, features=1, labels=["cat", "dog"])
    decision = bandit.decide([1.0])
    assert bandit.name == "auto" and decision.label in ("cat", "dog")
    for looks_like_it in (0.7, -1, "no", 1, 0.0):
        with pytest.raises(TypeError, match="must be True or False"):
            bandit.feedback(decision.id, looks_like_it)
    for neither in ({}, {"correct": True, "reward": 1.0}):
        with pytest.raises(TypeError, match="either correct"):
            bandit.feedback(decision.id, **neither)
    for outside in (-0.1, 1.5, float("nan"), 10**400, -(10**5000)):
        said = r"a number in \[0, 1\] was needed; others are given as cost=, in the range costs=\(least, most\) of the bandit"
        with pytest.raises(ValueError, match=said):
            bandit.feedback(decision.id, reward=outside)
    with pytest.raises(ValueError, match="the cost is inf; a number from 0 to 1 was needed"):
        bandit.feedback(decision.id, cost=10**400)
    assert bandit.waiting == [decision.id]
    bandit.feedback(decision.id, reward=0.7)
    assert bandit.rounds == 1 and bandit.waiting == []


def test_labels_are_returned_as_they_were_given(tmp_path):
    bandit = Bandit("squarecb", features=1, labels=[10, 20])
    for again in (bandit, copy.copy(bandit), pickle.loads(pickle.dumps(bandit))):
        assert {again.decide([1.0]).label for _ in range(50)} == {10, 20}
        assert again.decide([1.0], [20]).label == 20
    bandit.save(tmp_path / "model")
    assert Bandit.load(tmp_path / "model").decide([1.0]).label in {10, 20}
    Bandit("squarecb", features=1, labels=["10", "20"]).save(tmp_path / "texts")
    assert Bandit.load(tmp_path / "texts").decide([1.0]).label in {"10", "20"}
    truths = Bandit("squarecb", features=1, labels=[False, True])
    assert truths.decide([1.0], [True]).label is True
    with pytest.raises(ValueError, match='the label "True" is a text, and the class of this name is a truth value'):
        truths.decide([1.0], ["True"])
    for labels, sentence in [
        ("ab", "labels is 'ab'; a list of labels was needed"),
        ({"a", "b"}, "a list of labels was needed, whose order is that of the classes"),
        (["a", None], "labels has None; a text or a number was needed"),
        ({"a": {"size": 1}, "b": {"size": 2}}, "a list of labels was needed, as list(labels): features of labels are given in each round"),
    ]:
        with pytest.raises(TypeError, match=re.escape(sentence)):
            Bandit("squarecb", features=1, labels=labels)


@pytest.mark.parametrize("name", ["soba", "soba-diag", "soba-sketch"])
def test_parts_are_merged(name):
    rng = np.random.default_rng(0)
    make = {"labels": [10, 20, 30], "features": 2, "exploration": 0.2, "radius": 1.0}
    parts = [Bandit(name, seed=seed, **make) for seed in range(2)]
    for _ in range(200):
        for part in parts:
            angle = rng.uniform(0, 6)
            decision = part.decide([np.cos(angle), np.sin(angle)])
            part.feedback(decision.id, correct=decision.label == 10 * (1 + int(angle // 2)))
    merged = Bandit.merge(parts)
    assert merged.rounds == 400 and merged.params["regularization"] == 2.0
    assert Bandit.merge(parts, how="lambda-once").params["regularization"] == 1.0
    decision = merged.decide([1.0, 0.0])
    assert decision.label in (10, 20, 30) and decision.id >= 200
    greedy = [merged.predict([np.cos(angle), np.sin(angle)]) for angle in (1, 3, 5)]
    assert len(set(greedy)) > 1
    with pytest.raises(ValueError, match=r"bandits\[1\] has 1 pending decision; before"):
        Bandit.merge([parts[0], merged])
    with pytest.raises(ValueError, match="exploration = 0.3: must be 0.2"):
        Bandit.merge([parts[0], Bandit(name, **{**make, "exploration": 0.3})])
    with pytest.raises(ValueError, match="costs = "):
        Bandit.merge([parts[0], Bandit(name, costs=(0, 10), **make)])
    with pytest.raises(ValueError, match="banditron cannot be merged"):
        Bandit.merge([Bandit("banditron", classes=3, features=2)])


def test_learners_of_right_and_wrong_refuse_rewards():
    bandit = Bandit("soba", classes=2, features=1)
    decision = bandit.decide([1.0])
    with pytest.raises(ValueError, match="neither right"):
        bandit.feedback(decision.id, reward=0.5)
    bandit.feedback(decision.id, reward=1)
    assert bandit.rounds == 1


@each
def test_a_warm_start_is_what_decisions_and_feedback_teach(entry):
    x, y = stream(80, 3, classes_of(entry))
    bandit, warm = made(entry), made(entry)
    played = play(bandit, x, y)
    labels = [decision.label for decision in played]
    rounds = (x, labels, np.equal(labels, y), [decision.probability for decision in played])
    if entry["name"] == "bandit-reduction":
        with pytest.raises(ValueError, match="explores by a coin toss and cannot learn from labels that another policy"):
            warm.learn(*rounds)
        assert warm.rounds == 0
        return
    warm.learn(*rounds)
    assert warm.rounds == 80 and warm.waiting == []
    assert warm.scores(x).tobytes() == bandit.scores(x).tobytes()


def test_a_warm_start_with_labels_on_offer():
    bandit, warm = (Bandit("squarecb", labels=["a", "b", "c"], features=1, radius=1.0, seed=3) for _ in range(2))
    rounds = []
    for offered in [["c", "a"], ["b", "a"], ["a", "b", "c"]] * 20:
        decision = bandit.decide([1.0], offered)
        bandit.feedback(decision.id, reward=0.25 * (decision.label == "a"))
        rounds.append((decision.label, 0.25 * (decision.label == "a"), decision.probability, offered))
    warm.learn(np.ones((60, 1)), *zip(*rounds, strict=True))
    assert warm.predict_proba([1.0]).tobytes() == bandit.predict_proba([1.0]).tobytes()
    with pytest.raises(ValueError, match=r"offered\[1\]: the label 'b' was played although it was not on offer".replace("'", '"')):
        warm.learn([[1.0], [1.0]], ["a", "b"], [1, 0], [0.5, 0.5], [["a", "b"], ["a", "c"]])
    assert warm.rounds == 60


def test_invalid_rounds_teach_nothing(tmp_path):
    bandit = Bandit("banditron", classes=2, features=1)
    for rounds, error in [
        ([[[1.0]], [2], [1], [0.5]], r"labels\[0\] = 2: must be a label from 0 to 1"),
        ([[[1.0]], [0, 1], [1], [0.5]], "there are 2 labels for 1 rows"),
        ([[[1.0]], [0], [0.5], [0.5]], r"rewards\[0\] = 0.5: must be 0 or 1 for banditron"),
        ([[[1.0]] * 2, [0, 0], [1, 1], [0.5, 0.0]], r"probabilities\[1\] = 0: must be at least 1e-100 and at most 1"),
        ([[[float("inf")]], [0], [1], [0.5]], "row 0: column 0 has the value inf"),
        ([[[1.0]], [0], [1], [0.5], [["1", "7"]]], r"offered\[0\]: the label \"7\" is none of the bandit's"),
    ]:
        with pytest.raises(ValueError, match=error):
            bandit.learn(*rounds)
    with bandit.log(tmp_path / "log.ndjson"), pytest.raises(ValueError, match="close the log first"):
        bandit.learn([[1.0]], [0], [1], [0.5])
    assert bandit.rounds == 0


def test_labels_of_arrow_are_texts():
    pyarrow = pytest.importorskip("pyarrow")
    for labels in (pyarrow.array(["u", "v"]), pyarrow.chunked_array([["u"], ["v"]])):
        bandit = Bandit("squarecb", labels=labels)
        assert bandit.decide({"a": 1.0}).label in ("u", "v") and bandit.decide({"a": 1.0}, labels=labels[1:]).label == "v"


def test_what_is_no_table_is_refused_by_what_it_is():
    pandas = pytest.importorskip("pandas")
    groups = pandas.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]}).groupby("a")
    with pytest.raises((TypeError, ValueError), match="^x has "):
        Learner("ogd", classes=2).update(groups, [0, 1])
