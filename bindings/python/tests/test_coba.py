"""Bandit learners in coba's experiments."""

import numpy as np
import pytest

cb = pytest.importorskip("coba")

from noregret import catalogue
from noregret.coba import BanditLearner

NAMES = [entry["name"] for entry in catalogue() if entry["feedback"] in ("bandit", "either")]


def rewards(environments, learners, rounds):
    result = cb.Experiment(environments, learners).run(quiet=True)
    table = result.interactions.to_pandas()
    assert len(table) == len(learners) * rounds
    return table.groupby("learner_id")["reward"].mean().to_list()


def test_every_learner_plays():
    environments = cb.Environments.from_linear_synthetic(40, n_actions=3, n_action_features=0, seed=1)
    means = rewards(environments, [BanditLearner(name) for name in NAMES], 40)
    assert len(means) == len(NAMES) and all(0 <= mean <= 1 for mean in means)


def test_learning_pays():
    environments = cb.Environments.from_linear_synthetic(2000, n_actions=5, n_action_features=0, seed=1)
    soba, random = rewards(environments, [BanditLearner("soba", exploration=0.1), cb.RandomLearner()], 2000)
    assert soba > random + 0.05


class Mapped:
    """Interactions whose contexts are mappings with texts."""

    params = {}

    def read(self):
        rng = np.random.default_rng(0)
        for _ in range(600):
            colour = ["red", "green", "blue"][rng.integers(3)]
            right = {"red": "stop", "green": "go", "blue": "wait"}[colour]
            actions = ["stop", "go", "wait"]
            yield cb.SimulatedInteraction({"colour": colour, "noise": float(rng.normal())}, actions, [float(a == right) for a in actions])


def test_contexts_with_names():
    (mean,) = rewards(cb.Environments(Mapped()), [BanditLearner("banditron", exploration=0.05)], 600)
    assert mean > 0.8


def test_scores_are_probabilities():
    learner = BanditLearner("soba", exploration=0.3)
    prediction, kept = learner.predict((1.0, 2.0), ["a", "b", "c"])
    assert sum(learner.score((1.0, 2.0), ["a", "b", "c"], action) for action in "abc") == pytest.approx(1)
    action, probability = prediction["action_prob"]
    assert probability == learner.score((1.0, 2.0), ["a", "b", "c"], action)
    learner.learn((1.0, 2.0), action, 1.0, probability, **kept)
    with pytest.raises(KeyError, match="no decision 0 is pending"):
        learner.learn((1.0, 2.0), action, 1, probability, **kept)


def test_features_of_actions_are_learnt_from():
    environments = cb.Environments.from_linear_synthetic(1500, n_actions=3, n_action_features=2, seed=1)
    offers, random = rewards(environments, [BanditLearner("offers"), cb.RandomLearner()], 1500)
    assert offers > random + 0.03, (offers, random)
    learner = BanditLearner("auto")
    learner.predict((1.0,), [[0.1, 0.2], [0.3, 0.4]])
    with pytest.raises(ValueError, match=r"has features of its own and is new.*BanditLearner\("):
        learner.predict((1.0,), [[0.5, 0.6], [0.7, 0.8]])


@pytest.mark.parametrize(("low", "high"), [(-1.0, 0.0), (-5.0, 5.0), (0.0, 300.0)])
def test_rewards_of_any_range_are_learnt(low, high):
    env = cb.Environments.from_lambda(600, lambda i: (i % 3,), lambda i, c: ["a", "b"], lambda i, c, a: low if a == "a" else high)
    for given in (None, (low, high)):
        (mean,) = rewards(env, [BanditLearner("auto", rewards=given)], 600)
        assert mean > low + 0.8 * (high - low), (given, mean)
    with pytest.raises(ValueError, match=r"the reward 7 is not within rewards = \(0, 1\)"):
        BanditLearner("auto", rewards=(0, 1)).learn((1.0,), "a", 7.0, 0.5)


def test_rare_revenues_are_no_noise():
    # One purchase of 30 in a hundred rounds was clipped to 1, and earned no more than a click.
    learner = BanditLearner("auto")
    assert [learner._scaled(reward) for reward in [0.0] * 40 + [1.0, 1.2, -0.1]] == [0.0] * 40 + [1.0, 1.0, 0.0]
    with pytest.warns(UserWarning, match=r"the reward 30 is far from 0 to 1, .* BanditLearner\(rewards=\(least, most\)\) says"):
        assert learner._scaled(30.0) == 1.0
    assert learner._scaled(2.9) == pytest.approx(3 / 30.1) and learner._scaled(30.0) == 1.0


class Changing:
    """Actions that come and go, and contexts with holes."""

    params = {}

    def read(self):
        for at in range(900):
            actions = ["a", "b", "c"][: 2 + at // 300] if at % 4 else ["b", "a"]
            yield cb.SimulatedInteraction((float(at % 2), float("nan") if at % 3 else None), actions, [float(a == actions[-1]) for a in actions])


def test_actions_come_and_go():
    means = rewards(cb.Environments(Changing()), [BanditLearner("auto"), BanditLearner("squarecb"), cb.RandomLearner()], 900)
    assert means[0] > means[2] + 0.05, means


class Ages:
    """Contexts of numbers around 50, some of which are missing."""

    params = {}

    def __init__(self, hole):
        self._hole = hole

    def read(self):
        rng = np.random.default_rng(0)
        x, gone = rng.normal(size=(1200, 2)), rng.random((1200, 2)) < 0.2
        for numbers, holes in zip(x.tolist(), gone.tolist(), strict=True):
            context = tuple(self._hole if hole else 50 + number for number, hole in zip(numbers, holes, strict=True))
            up = float(numbers[0] + 0.5 * numbers[1] > 0)
            yield cb.SimulatedInteraction(context, ["down", "up"], [1 - up, up])


def test_missing_numbers_are_means():
    # They were 0 before scaling.
    learners = [BanditLearner("squarecb", scale="standard") for _ in range(2)]
    filled, holes = (rewards(cb.Environments(Ages(hole)), [one], 1200)[0] for hole, one in zip((50.0, None), learners, strict=True))
    assert holes > filled - 0.05, (filled, holes)


class Logged:
    """Interactions of a log."""

    params = {}

    def read(self):
        rng = np.random.default_rng(0)
        for _ in range(400):
            x, action = float(rng.integers(2)), ["a", "b"][rng.integers(2)]
            yield cb.LoggedInteraction((x,), action, float((action == "a") == (x > 0)), 0.5, actions=["a", "b"])


def test_logs_are_learnt():
    for name in ("auto", "soba", "offers"):
        learner = BanditLearner(name)
        cb.Experiment(cb.Environments(Logged()), [learner], evaluator=cb.SequentialCB(learn="off", eval=None)).run(quiet=True)
        learner = BanditLearner(name)
        for interaction in Logged().read():
            learner.learn(interaction["context"], interaction["action"], interaction["reward"], interaction["probability"])
        assert learner.score((1.0,), ["a", "b"], "a") > 0.5 > learner.score((0.0,), ["a", "b"], "a")


class Described:
    """Contexts with times, lists and holes."""

    params = {}

    def read(self):
        import datetime

        for at in range(300):
            context = {"when": datetime.datetime(2026, 1, 1, at % 24), "tags": ["x", "y"], "user": {"hue": ["red", "blue"][at % 2]}, "gone": None}
            yield cb.SimulatedInteraction(context, [False, True], [float(at % 2 == 0), float(at % 2)])


def test_contexts_of_every_kind():
    for name in ("auto", "offers"):
        (mean,) = rewards(cb.Environments(Described()), [BanditLearner(name)], 300)
        assert mean > 0.7, (name, mean)


def test_true_and_1_are_two_actions():
    learner = BanditLearner("auto", seed=1)
    actions = [1, True, 0]
    for _ in range(20):
        found, kept = learner.predict([1.0], actions)
        action, probability = found["action_prob"]
        learner.learn([1.0], action, float(action is True), probability, **kept)
    assert len(learner._bandit.labels) == 3
    assert learner.score([1.0], actions, True) > learner.score([1.0], actions, 1)
    assert sum(learner.score([1.0], actions, action) for action in actions) == pytest.approx(1)


@pytest.mark.parametrize("name", ["auto", "squarecb", "soba", "offers"])
def test_batches_are_played_round_by_round(name):
    # The first batch was taken for a round whose actions were the lists of actions, after which all were new.
    environments = cb.Environments.from_linear_synthetic(120, n_actions=3, n_action_features=0, seed=1)
    assert len(rewards(environments.batch(5), [BanditLearner(name)], 120)) == 1
    learner = BanditLearner(name, seed=1)
    Batch = type("Batch", (list,), {"is_batch": True})
    with pytest.raises(TypeError, match="those of a batch; those of one round were needed"):
        learner.predict(Batch([[1.0], [2.0]]), Batch([["a", "b"]] * 2))
    assert learner.predict([1.0], ["a", "b"]) == BanditLearner(name, seed=1).predict([1.0], ["a", "b"])


class Coming:
    """New actions in every few rounds."""

    params = {}

    def read(self):
        for at in range(300):
            actions = [f"a{at // 20 + k}" for k in range(3)]
            yield cb.SimulatedInteraction((float(at % 2), 1.0), actions, [float((k == 0) == (at % 2 == 0)) for k in range(3)])


def test_new_actions_within_a_batch_do_not_end_the_experiment():
    # "no decision 18 is pending: ... or was forgotten"
    for mean in rewards(cb.Environments(Coming()).batch(6), [BanditLearner("auto"), BanditLearner("soba")], 300):
        assert 0.3 < mean <= 1


def test_what_cannot_be_played_is_said():
    # Conditional-logit learns from labels; "offers" learnt in its place, without a word.
    with pytest.raises(ValueError, match="learner = conditional-logit: must be one that learns from bandit feedback"):
        BanditLearner("conditional-logit").predict({"a": 1}, [{"x": 1}, {"x": 2}])
    for actions in (None, []):
        with pytest.raises(ValueError, match="there are no actions, as where an action is any number"):
            BanditLearner("auto").predict([1.0], actions)
    with pytest.raises(ValueError, match="the action 'a' is on offer twice"):
        BanditLearner("auto").predict([1.0], ["a", "b", "a"])


@pytest.mark.parametrize("name", ["auto", "squarecb", "offers", "soba"])
def test_rewards_belong_to_the_action_that_was_played(name):
    # CorralLearner asks all its learners and plays the action of one of them: every learner hears that action's reward, with the data
    # of its own prediction. It was taken for the reward of the learner's own action.
    asked, rng = BanditLearner(name, seed=3), np.random.default_rng(0)
    for _ in range(150):
        x, action = (float(rng.integers(2)),), "ab"[rng.integers(2)]
        reward = float((action == "a") == (x[0] > 0))
        _, kept = asked.predict(x, ["a", "b"])
        asked.learn(x, action, reward, 0.5, **kept)
    assert asked.score((1.0,), ["a", "b"], "a") > 0.5 > asked.score((0.0,), ["a", "b"], "a")
    assert not asked._bandit.waiting and not asked._played


def test_zeros_and_a_one_are_a_name():
    # Of a log, one action comes at a time: the second was refused as one with features of its own.
    learner = BanditLearner("auto")
    actions = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    for _ in range(30):
        for action, reward in zip(actions, (0.1, 0.9, 0.4), strict=True):
            learner.learn((1.0,), action, reward, 1 / 3)
    shares = [learner.score((1.0,), actions, action) for action in actions]
    assert shares.index(max(shares)) == 1 and sum(shares) == pytest.approx(1)


def test_a_learner_without_a_name_is_auto():
    assert BanditLearner().params["family"] == "noregret auto"
