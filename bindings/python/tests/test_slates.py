"""Off-policy evaluation of lists of labels."""

import numpy as np
import pytest

import noregret

POSITIONS, LABELS = 3, 4


def lists(count, seed=0):
    """Lists of different labels: the log draws uniformly, the policy prefers label 0; a label is clicked at a rate of its own, and the
    less the better the labels above it were."""
    rng = np.random.default_rng(seed)
    rates, likes = np.array([0.6, 0.3, 0.2, 0.1]), np.array([5.0, 1.0, 1.0, 1.0])
    shown = np.stack([rng.permutation(LABELS)[:POSITIONS] for _ in range(count)])
    logged = np.tile(1 / (LABELS - np.arange(POSITIONS)), (count, 1))
    above = np.cumsum(likes[shown], axis=1) - likes[shown]
    policy = likes[shown] / (likes.sum() - above)
    seen = np.cumprod(1 - 0.5 * rates[shown], axis=1) / (1 - 0.5 * rates[shown])
    rewards = (rng.random(shown.shape) < rates[shown] * seen).astype(float)
    return rewards, logged, policy


def worth(count, seed=1):
    """What the policy earns when it plays."""
    rng = np.random.default_rng(seed)
    rates, likes = np.array([0.6, 0.3, 0.2, 0.1]), np.array([5.0, 1.0, 1.0, 1.0])
    keys = rng.exponential(size=(count, LABELS)) / likes
    shown = keys.argsort(axis=1)[:, :POSITIONS]
    seen = np.cumprod(1 - 0.5 * rates[shown], axis=1) / (1 - 0.5 * rates[shown])
    return (rates[shown] * seen).sum(axis=1).mean()


def test_estimates_are_means_of_weighted_rewards():
    rewards, logged, policy = lists(400)
    ratio = policy / logged
    weights = {"whole": ratio.prod(axis=1, keepdims=True), "cascade": ratio.cumprod(axis=1), "independent": ratio}
    for browsing, weight in weights.items():
        found = noregret.evaluate_slates(rewards, logged, policy, browsing=browsing)
        terms = (weight * rewards).sum(axis=1)
        assert found.estimates["ips"].value == pytest.approx(terms.mean(), rel=1e-9)
        assert found.estimates["ips"].standard_error == pytest.approx(terms.std(ddof=1) / 20, rel=1e-6)
        whole = np.broadcast_to(weight, rewards.shape)
        assert found.estimates["snips"].value == pytest.approx(POSITIONS * (whole * rewards).sum() / whole.sum(), rel=1e-9)
        assert found.logged_reward == pytest.approx(rewards.sum(axis=1).mean()) and found.rounds == 400
        assert all(one.sequence is None for one in found.estimates.values())


def test_nothing_is_said_of_sequences():
    rewards, logged, policy = lists(400)
    warnings = noregret.evaluate_slates(30 * rewards, logged, policy).warnings
    assert not any("confidence sequences" in warning for warning in warnings), warnings


def test_intervals_hold_the_truth():
    truth = worth(200_000)
    for browsing in ("whole", "cascade"):
        held = 0
        for seed in range(40):
            low, high = noregret.evaluate_slates(*lists(1000, seed), browsing=browsing).estimates["ips"].normal
            held += low <= truth <= high
        assert held >= 34, (browsing, held)


def test_mistakes_are_named():
    good = [[1, 0]], [[0.5, 0.5]], [[0.5, 1.0]]
    for at, wrong, said in (
        (0, [1, 0], r"rewards has the shape \(2,\); lists and their positions were needed"),
        (0, [[1, np.nan]], r"rewards\[0, 1\] = nan: must be a finite number"),
        (1, [[0.5, 0.0]], r"probabilities\[0, 1\] = 0: must be in \(0, 1\]"),
        (2, [[0.5, 1.5]], r"policy\[0, 1\] = 1.5: must be from 0 to 1"),
        (2, [[0.5]], r"policy has the shape \(1, 1\); rewards have \(1, 2\)"),
    ):
        given = [*good[:at], wrong, *good[at + 1 :]]
        with pytest.raises(ValueError, match=said):
            noregret.evaluate_slates(*given)
    with pytest.raises(ValueError, match="browsing = 'top': must be one of whole, cascade, independent"):
        noregret.evaluate_slates(*good, browsing="top")


def test_they_are_those_of_open_bandit_pipeline():
    slate = pytest.importorskip("obp.ope")
    rewards, logged, policy = lists(300)
    flat = {"slate_id": np.repeat(np.arange(300), POSITIONS), "position": np.tile(np.arange(POSITIONS), 300), "reward": rewards.ravel()}
    every = [np.repeat(one.prod(axis=1), POSITIONS) for one in (logged, policy)]
    above = [one.cumprod(axis=1).ravel() for one in (logged, policy)]
    alone = [one.ravel() for one in (logged, policy)]
    theirs = {
        "whole": slate.SlateStandardIPS(len_list=3).estimate_policy_value(**flat, pscore=every[0], evaluation_policy_pscore=every[1]),
        "cascade": slate.SlateRewardInteractionIPS(len_list=3).estimate_policy_value(
            **flat, pscore_cascade=above[0], evaluation_policy_pscore_cascade=above[1]
        ),
        "independent": slate.SlateIndependentIPS(len_list=3).estimate_policy_value(
            **flat, pscore_item_position=alone[0], evaluation_policy_pscore_item_position=alone[1]
        ),
    }
    for browsing, value in theirs.items():
        ours = noregret.evaluate_slates(rewards, logged, policy, browsing=browsing)
        assert ours.estimates["ips"].value == pytest.approx(value, rel=1e-9)
