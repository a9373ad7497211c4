"""Bandit learners as policies of Open Bandit Pipeline (OBP).

OBP's `RegressionModel` takes the classifiers of `noregret.sklearn` as they are: `RegressionModel(base_model=AutoClassifier(), ...)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays
from ._arrays import Floats, Ints
from ._bandit import Bandit
from ._decisions import shares
from ._kinds import whole

__all__ = ["BanditPolicy"]


class BanditPolicy:
    """A bandit learner of the registry as a contextual policy: for OBP's simulators (`run_bandit_simulation`, and the
    `BanditPolicySimulator` of later versions), and for the distributions that OBP's estimators need.

    Every position of the list has a bandit of its own; an action is recommended once in a list.

    Parameters
    ----------
    name
        A name of `noregret.bandits`, such as `auto`.
    dim
        Number of dimensions of a context.
    n_actions
        Number of actions.
    len_list
        Number of actions that are recommended together.
    rewards
        The least and the largest reward, which are scaled to 0 and 1: `(0, 5)` for ratings up to 5.
    random_state, **params
        The seed, and what `noregret.Bandit` takes. Contexts are standardised, and there is an intercept, unless `scale` and
        `intercept` say otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from noregret.obp import BanditPolicy
    >>> policy = BanditPolicy("squarecb", dim=2, n_actions=3)
    >>> rng = np.random.default_rng(0)
    >>> context, action = rng.normal(size=(300, 2)), rng.integers(3, size=300)
    >>> policy.fit(context, action, (action == 1).astype(float), pscore=np.full(300, 1 / 3))
    >>> policy.compute_batch_action_dist(context).shape
    (300, 3, 1)
    >>> policy.select_action(context[:1]).tolist()
    [1]
    """

    def __init__(
        self,
        name: str = "auto",
        *,
        dim: int,
        n_actions: int,
        len_list: int = 1,
        rewards: tuple[float, float] = (0, 1),
        random_state: int = 0,
        **params: Any,
    ) -> None:
        shares(np.zeros(0), rewards)  # Raises.
        if not isinstance(rewards, str) and rewards[0] > rewards[1]:
            raise ValueError(f"rewards = {rewards!r}: must be the least reward, and then the largest; of costs, the negative ones are rewards")
        whole(dim=dim, n_actions=n_actions, len_list=len_list)
        for named, number, least in (("dim", dim, 1), ("n_actions", n_actions, 2)):
            if number < least:
                raise ValueError(f"{named} = {number}: must be at least {least}")
        if not 1 <= len_list <= n_actions:
            raise ValueError(f"len_list = {len_list}: must be from 1 to n_actions = {n_actions}")
        self.policy_name, self.dim, self.n_actions, self.len_list = f"noregret_{name}", dim, n_actions, len_list
        self.random_state, self.rewards = random_state, rewards
        self._name = name
        self._params: dict[str, Any] = {"scale": "standard", "intercept": True} | params
        self.initialize()

    @property
    def policy_type(self) -> Any:
        """That it is contextual, as OBP says it."""
        try:
            from obp.policy.policy_type import PolicyType
        except ImportError:
            return "contextual"
        return PolicyType.CONTEXTUAL

    def initialize(self) -> None:
        """Forgets everything."""
        self.n_trial = 0
        self.action_counts = np.zeros(self.n_actions, dtype=np.int64)
        self._bandits = [
            Bandit(self._name, features=self.dim, classes=self.n_actions, seed=self.random_state + at, **self._params)
            for at in range(self.len_list)
        ]
        self._played: list[tuple[int, int]] = []

    def select_action(self, context: Any) -> Ints:
        """The actions for a context of shape (1, dim): one for each position, all different."""
        row = self._one(context)
        self._forget()
        for bandit in self._bandits:
            taken = {action for action, _ in self._played}
            offered = None if not taken else [action for action in range(self.n_actions) if action not in taken]
            decision = bandit.decide(row[0], offered)
            self._played.append((int(decision.label), decision.id))
        return np.array([action for action, _ in self._played], dtype=np.int64)

    def update_params(self, action: int, reward: float, context: Any) -> None:
        """Learns the reward, from 0 to 1 or as `rewards` says, of an action that was played for a context of shape (1, dim).

        An action of the list that `select_action` gave last is learnt at its position, once. Any other is learnt at all positions, as
        one that others have played; learners that weight rounds by the probability need `fit` for that.
        """
        share, played = self._shares([reward]).tolist()[0], int(_whole([action], "action", self.n_actions)[0])
        takes_rewards = self._bandits[0]._core.takes_rewards
        if not takes_rewards and share not in (0, 1):
            raise ValueError(f"reward = {share}: must be 0 or 1, since {self._name} learns from right and wrong only; auto learns from rewards")
        at = next((at for at, (label, _) in enumerate(self._played) if label == played), None)
        if at is not None:
            bandit, id = self._bandits[at], self._played[at][1]
            right = {"reward": float(share)} if takes_rewards else {"correct": bool(share)}
            bandit.feedback(id, **right)
            self._played[at] = (-1, id)
        elif takes_rewards:
            row = self._one(context)
            for bandit in self._bandits:
                bandit.learn(row, [played], [share], [1.0])
        else:
            raise ValueError(
                f"action = {played}: select_action did not give it last, and {self._name} weights rounds by the probability with which an action"
                " was played: fit has pscore; auto needs none"
            )
        self.n_trial += 1
        self.action_counts[played] += 1

    def _one(self, context: Any) -> Floats:
        """The context of a round, shape (1, dim)."""
        # `BanditPolicySimulator` adds an axis to the contexts that it draws.
        row = _arrays.rows(context[0] if np.ndim(context) == 3 and len(context) == 1 else context)
        if not isinstance(row, np.ndarray) or len(row) != 1:
            raise ValueError("context: one row was needed, of shape (1, dim)")
        return row

    def _shares(self, reward: Any) -> Floats:
        """Rewards in [0, 1]."""
        given = _arrays.one_axis(reward, "reward")
        least, most = min(self.rewards), max(self.rewards)
        wrong = np.flatnonzero(~((given >= least) & (given <= most)))
        if wrong.size:
            raise ValueError(
                f"reward[{wrong[0]}] = {given[wrong[0]]:g}: must be from {least:g} to {most:g}; BanditPolicy(rewards=(least, most)) takes others"
            )
        return shares(given, self.rewards)

    def _forget(self) -> None:
        for bandit, (_, id) in zip(self._bandits, self._played, strict=False):
            if id in bandit.waiting:
                bandit.forget(id)
        self._played = []

    def fit(self, context: Any, action: Any, reward: Any, pscore: Any = None, position: Any = None) -> None:
        """Learns a log: contexts of shape (rounds, dim), the actions that were played, their rewards from 0 to 1 or as `rewards` says,
        the probabilities with which they were played, and the positions (all 0 if None)."""
        action, reward = _whole(action, "action", self.n_actions), self._shares(reward)
        p = np.ones(len(action)) if pscore is None else _arrays.one_axis(pscore, "pscore")
        where = np.zeros(len(action), dtype=np.int64) if position is None else _whole(position, "position", self.len_list)
        for name, given in (("context", context), ("reward", reward), ("pscore", p), ("position", where)):
            if len(given) != len(action):
                raise ValueError(f"{name} has {len(given)} rounds; action has {len(action)}")
        for at, bandit in enumerate(self._bandits):
            mine = where == at
            if pscore is None and not bandit._core.takes_rewards:
                raise ValueError(f"pscore: {self._name} weights rounds by the probabilities, which must be given; auto needs none")
            if mine.any():
                bandit.learn(np.asarray(context)[mine], action[mine], reward[mine], p[mine])
                self.n_trial += int(mine.sum())
                self.action_counts += np.bincount(action[mine], minlength=self.n_actions)

    def compute_batch_action_dist(self, context: Any) -> Floats:
        """The probabilities with which actions are played in each position, shape (rounds, n_actions, len_list)."""
        return np.stack([bandit.predict_proba(_arrays.rows(context)) for bandit in self._bandits], axis=2)

    def predict(self, context: Any) -> Floats:
        """The best action of each position with probability 1, shape (rounds, n_actions, len_list)."""
        rows = _arrays.rows(context)
        best = np.stack([bandit.scores(rows).argmax(axis=1) for bandit in self._bandits], axis=1)
        found: Floats = (np.arange(self.n_actions)[None, :, None] == best[:, None, :]).astype(np.float64)
        return found


def _whole(numbers: Any, name: str, count: int) -> Ints:
    """Whole numbers from 0 to before `count`."""
    given = _arrays.one_axis(numbers, name)
    wrong = np.flatnonzero(~((given == np.rint(given)) & (given >= 0) & (given < count)))
    if wrong.size:
        raise ValueError(f"{name}[{wrong[0]}] = {given[wrong[0]]:g}: must be a whole number from 0 to {count - 1}")
    return given.astype(np.int64)
