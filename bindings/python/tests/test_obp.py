"""Policies for Open Bandit Pipeline: the shapes that it needs. The package itself asks for versions of others that are not current."""

import numpy as np
import pytest

from noregret.obp import BanditPolicy


def world(rounds, seed=0):
    rng = np.random.default_rng(seed)
    context, action = rng.normal(size=(rounds, 2)), rng.integers(4, size=rounds)
    reward = (rng.random(rounds) < np.where(action == (context[:, 0] > 0), 0.8, 0.1)).astype(float)
    return context, action, reward


@pytest.mark.parametrize("name", ["auto", "squarecb", "soba"])
def test_a_log_is_learnt_and_distributions_have_three_axes(name):
    context, action, reward = world(600)
    policy = BanditPolicy(name, dim=2, n_actions=4, len_list=2)
    policy.fit(context, action, reward, pscore=np.full(600, 0.25), position=np.arange(600) % 2)
    p = policy.compute_batch_action_dist(context)
    assert p.shape == (600, 4, 2) and np.allclose(p.sum(axis=1), 1) and policy.n_trial == 600
    best = policy.predict(context)
    assert best.shape == (600, 4, 2) and (best.sum(axis=1) == 1).all()
    assert (best[:, :, 0].argmax(axis=1) == (context[:, 0] > 0)).mean() > 0.8


def test_a_simulation_learns_from_matches():
    context, action, reward = world(1500)
    policy = BanditPolicy("squarecb", dim=2, n_actions=4, len_list=2, random_state=3)
    matches = []
    for x, a, r in zip(context, action, reward, strict=True):
        selected = policy.select_action(x.reshape(1, 2))
        assert len(set(selected)) == 2
        if a == selected[0]:
            policy.update_params(action=a, reward=r, context=x.reshape(1, 2))
            matches.append(r)
    assert np.mean(matches[-100:]) > np.mean(matches[:100]) and policy.n_trial == len(matches)
    policy.initialize()
    assert policy.n_trial == 0


def test_rewards_of_other_ranges():
    # Continuous rewards were refused without a way out.
    context, action, reward = world(600)
    stated, plain = BanditPolicy("auto", dim=2, n_actions=4, rewards=(-1, 4)), BanditPolicy("auto", dim=2, n_actions=4)
    stated.fit(context, action, 5 * reward - 1, pscore=np.full(600, 0.25))
    plain.fit(context, action, reward, pscore=np.full(600, 0.25))
    assert (stated.compute_batch_action_dist(context) == plain.compute_batch_action_dist(context)).all()
    for policy, earned in ((stated, 4.0), (plain, 1.0)):
        policy.update_params(int(policy.select_action(context[:1])[0]), earned, context[:1])
    assert (stated.compute_batch_action_dist(context) == plain.compute_batch_action_dist(context)).all()
    said = r"must be from 0 to 1; BanditPolicy\(rewards=\(least, most\)\) takes others"
    with pytest.raises(ValueError, match=rf"reward\[0\] = 5: {said}"):
        plain.fit(context[:1], action[:1], [5.0])
    plain.select_action(context[:1])
    with pytest.raises(ValueError, match=said):
        plain.update_params(0, 5.0, context[:1])
    with pytest.raises(ValueError, match="must be two different numbers"):
        BanditPolicy(dim=2, n_actions=4, rewards=(1, 1))
    # The worst action was learnt for the best one.
    with pytest.raises(ValueError, match=r"rewards = \(1, 0\): must be the least reward, and then the largest"):
        BanditPolicy(dim=2, n_actions=4, rewards=(1, 0))


def test_every_reward_is_learnt_and_counted():
    # As OBP's own policies do: actions may be played by others, and a list has a reward for each of its actions. Only the first
    # reward of a list was learnt, and nothing of other actions, without a word.
    context, action, reward = world(300)
    policy = BanditPolicy("auto", dim=2, n_actions=4)
    for x, a, r in zip(context, action, reward, strict=True):
        policy.update_params(action=int(a), reward=float(r), context=x.reshape(1, 2))
    assert policy.n_trial == 300 and (policy.action_counts == np.bincount(action, minlength=4)).all()
    assert (policy.predict(context)[:, :, 0].argmax(axis=1) == (context[:, 0] > 0)).mean() > 0.8
    for name in ("auto", "soba"):
        lists = BanditPolicy(name, dim=2, n_actions=4, len_list=3)
        for a in lists.select_action(context[:1]):
            lists.update_params(int(a), 1.0, context[:1])
        assert lists.n_trial == 3 and [bandit.rounds for bandit in lists._bandits] == [1, 1, 1]
    with pytest.raises(ValueError, match="action = 2: select_action did not give it last, and soba weights rounds"):
        BanditPolicy("soba", dim=2, n_actions=4).update_params(2, 1.0, context[:1])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"dim": 0}, "dim = 0: must be at least 1"),
        ({"dim": "3"}, "dim = '3': must be a whole number"),
        ({"n_actions": 1}, "n_actions = 1: must be at least 2"),
        ({"n_actions": "2"}, "n_actions = '2': must be a whole number"),
        ({"len_list": "3"}, "len_list = '3': must be a whole number"),
    ],
)
def test_sizes_are_checked_as_obp_does(given, said):
    with pytest.raises(ValueError, match=said):
        BanditPolicy(**({"dim": 2, "n_actions": 4} | given))


def test_what_cannot_be_is_said():
    with pytest.raises(ValueError, match="len_list = 5: must be from 1 to n_actions = 4"):
        BanditPolicy(dim=2, n_actions=4, len_list=5)
    with pytest.raises(ValueError, match="pscore: soba weights rounds by the probabilities"):
        BanditPolicy("soba", dim=2, n_actions=4).fit(*world(10))


def test_contexts_of_its_simulator_have_a_further_axis():
    policy, context = BanditPolicy("squarecb", dim=2, n_actions=4), np.ones((1, 1, 2))
    (played,) = policy.select_action(context)
    policy.update_params(action=played, reward=1.0, context=context)
    assert policy.n_trial == 1 and policy._bandits[0].rounds == 1
    with pytest.raises(ValueError, match="x has 3 axes"):
        policy.select_action(np.ones((2, 1, 2)))


def test_distributions_are_those_that_its_estimators_take():
    """Where OBP is installed: the data set, the simulator and the estimators are its own."""
    pytest.importorskip("obp")
    from obp.dataset import SyntheticBanditDataset, logistic_reward_function
    from obp.ope import InverseProbabilityWeighting, OffPolicyEvaluation
    from obp.simulator import simulator

    from noregret import evaluate_arrays

    made = SyntheticBanditDataset(n_actions=4, dim_context=3, reward_function=logistic_reward_function, random_state=1)
    log = made.obtain_batch_bandit_feedback(n_rounds=500)
    for name in ("auto", "soba"):
        policy = BanditPolicy(name, dim=3, n_actions=4)
        policy.fit(log["context"], log["action"], log["reward"], pscore=log["pscore"])
        shares = policy.compute_batch_action_dist(log["context"])
        theirs = OffPolicyEvaluation(bandit_feedback=log, ope_estimators=[InverseProbabilityWeighting()]).estimate_policy_values(shares)
        ours = evaluate_arrays(log["action"], log["reward"], log["pscore"], shares)
        assert ours.estimates["ips"].value == pytest.approx(theirs["ipw"], rel=1e-9)
    policy = BanditPolicy("auto", dim=3, n_actions=4)
    if hasattr(simulator, "run_bandit_simulation"):
        assert simulator.run_bandit_simulation(bandit_feedback=log, policy=policy).shape[0] == 500
    else:
        world = simulator.BanditEnvironmentSimulator(n_actions=4, dim_context=3, reward_function=logistic_reward_function, random_state=1)
        run = simulator.BanditPolicySimulator(environment=world, policy=policy)
        run.steps(n_rounds=50)
        assert run.rounds_played == policy.n_trial == 50

