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
    with pytest.raises(ValueError, match="not from a log"):
        learner.learn((1.0, 2.0), "a", 1.0, 0.5)
    learner.learn((1.0, 2.0), action, 2, probability, **kept)
    with pytest.raises(KeyError, match="no decision 0 is pending"):
        learner.learn((1.0, 2.0), action, 1, probability, **kept)
    with pytest.raises(ValueError, match="there are 2 actions: must be 3, as before"):
        learner.predict((1.0, 2.0), ["a", "b"])
