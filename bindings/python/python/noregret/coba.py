"""Learners for coba, the benchmark harness for contextual bandits; `pip install noregret[coba]`."""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core, _offers
from ._arrays import Floats, is_missing
from ._bandit import Bandit
from ._kinds import KINDS

__all__ = ["BanditLearner"]

_STRANGE = 20
"""Rounds in a row in which all actions may be new: what was learnt of an action is used only where it comes again."""

_NEAR = 0.5
"""Rewards that are so little below 0 or above 1 are taken for noisy ones of this range."""


class BanditLearner:
    """A bandit learner of the registry as a learner of coba.

    `offers` learns from the features of the actions. The other learners know an action by what it is: a text, a number,
    or a list or dictionary that comes again (such as an action of zeros and a one); they refuse actions whose features
    change from round to round. Actions may come and go. Contexts may be numbers, sequences, mappings of features, or
    absent; missing values (None, NaN) are left out. Interactions of a log are learnt with their probabilities.

    Parameters
    ----------
    name
        A name of `noregret.bandits`, such as `auto` or `offers`.
    bits
        Mappings and contexts with texts are hashed into 2**bits features; not for `offers`.
    rewards
        The least and the largest reward; others are refused. None: rewards from 0 to 1 are taken as they are, and the few
        a little beyond are clipped; if more than a tenth of those so far are beyond, or one is far from it, as a revenue is,
        their range (with 0, if all are on one side of it) is scaled to that. A learner that knows right and wrong only learns
        a reward in between as right with that probability, which preserves expectations.
    scale, seed, **params
        As in `noregret.Bandit`; there always is an intercept.

    Examples
    --------
    >>> import coba as cb
    >>> from noregret.coba import BanditLearner
    >>> environments = cb.Environments.from_linear_synthetic(500, n_actions=3, n_action_features=0, seed=1)
    >>> result = cb.Experiment(environments, [BanditLearner("soba"), cb.RandomLearner()]).run(quiet=True)
    >>> means = result.interactions.to_pandas().groupby("learner_id")["reward"].mean()
    >>> bool(means[0] > means[1])
    True
    """

    def __init__(
        self,
        name: str = "auto",
        *,
        bits: int = 8,
        scale: str = "unit",
        rewards: tuple[float, float] | None = None,
        seed: int = 1,
        **params: Any,
    ) -> None:
        if rewards is not None and not rewards[0] < rewards[1]:
            raise ValueError(f"rewards = {rewards!r}: must be the least and the largest reward")
        self._name, self._bits, self._scale, self._seed, self._params = name, bits, scale, seed, params
        self._rewards = rewards
        self._seen: list[float] = []
        self._heard = self._beyond = 0
        self._bandit: Bandit | None = None
        self._hashed = False
        self._actions: dict[Any, int] = {}
        self._forgotten: set[int] = set()
        self._played: dict[int, Any] = {}
        self._strange = 0
        self._rng = np.random.default_rng(seed)

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters that coba shows."""
        return {"family": f"noregret {self._name}", **self._params, "scale": self._scale, "seed": self._seed}

    def predict(self, context: Any, actions: Sequence[Any]) -> Any:
        """Plays an action; returns it with its probability and the data for `learn`."""
        bandit, x, labels = self._round(context, actions)
        decision = bandit.decide(x, labels)
        at = int(decision.label) if self._is_offers else self._places(actions)[int(decision.label)]
        self._played[decision.id] = _key(actions[at])
        return {"action_prob": (actions[at], decision.probability)}, {"decision": decision.id}

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """The probability of playing `action`."""
        bandit, x, labels = self._round(context, actions)
        return float(bandit.predict_proba(x, labels)[list(map(_key, actions)).index(_key(action))])

    def learn(
        self, context: Any, action: Any, reward: float, probability: float | None, decision: int | None = None
    ) -> None:
        """Learns the reward of a decision of `predict`, or of an action that another policy has played: that of a log, or coba's
        `CorralLearner`, which asks its learners and plays what one of them says."""
        scaled = self._scaled(float(reward))
        if decision is not None:
            if self._bandit is None:
                raise KeyError(f"no decision {decision} is pending: nothing was played yet")
            own = self._played.pop(decision, None) == _key(action)
            if own and decision not in self._forgotten:
                self._bandit.feedback(decision, **self._verdict(self._bandit, scaled))
                return
            # What another policy has played, and a round of a batch in which new actions came later, is learnt as a round of a log.
            if decision in self._forgotten:
                self._forgotten.remove(decision)
            else:
                self._bandit.forget(decision)
        bandit, x, labels = self._round(context, [action])
        if probability is None:
            if not bandit._core.takes_rewards:
                raise ValueError(f"the log has no probabilities, by which {self._name} weights its rounds; auto needs none")
            probability = 1.0
        verdict = next(iter(self._verdict(bandit, scaled).values()))
        offered = [labels] if self._is_offers else None
        played = [0 if self._is_offers else self._actions[_key(action)]]
        bandit.learn([x] if self._is_offers else x[None, :], played, [verdict], [probability], offered)

    @property
    def _is_offers(self) -> bool:
        return bool(KINDS.get(self._name, {}).get("blocks"))

    def _scaled(self, reward: float) -> float:
        """The reward in [0, 1]."""
        if self._rewards is not None:
            least, most = self._rewards
            if not least <= reward <= most:
                raise ValueError(f"the reward {reward:g} is not within rewards = ({least:g}, {most:g})")
            return (reward - least) / (most - least)
        if not np.isfinite(reward):
            raise ValueError(f"the reward is {reward}; a finite number was needed")
        low, high = min([reward, 0.0, *self._seen]), max([reward, *(self._seen or [reward])])
        if self._seen and _is_near(*self._seen) and not _is_near(low, high):
            warnings.warn(
                f"the reward {reward:g} is far from 0 to 1, where all before it were, and the range is scaled anew: what was learnt from these "
                "counts for more than it should; BanditLearner(rewards=(least, most)) says what is possible",
                stacklevel=3,
            )
        self._seen = [low, high]
        self._heard += 1
        self._beyond += not 0 <= reward <= 1
        # By noise a reward is beyond by little; what is far beyond is in another unit, however rare it is.
        if _is_near(low, high) and self._beyond <= 0.1 * self._heard:
            return min(max(reward, 0.0), 1.0)
        high = max(high, 0.0)
        return (reward - low) / (high - low)

    def _verdict(self, bandit: Bandit, reward: float) -> dict[str, Any]:
        """The feedback for a reward in [0, 1]."""
        if bandit._core.takes_rewards:
            return {"reward": reward}
        return {"correct": bool(self._rng.random() < reward)}

    def _round(self, context: Any, actions: Sequence[Any]) -> tuple[Bandit, Any, Any]:
        """The bandit, the context as it takes it, and the actions on offer."""
        if hasattr(context, "is_batch") or hasattr(actions, "is_batch"):
            # coba asks round by round then.
            raise TypeError("context and actions are those of a batch; those of one round were needed")
        if actions is None or len(actions) == 0:
            raise ValueError("there are no actions, as where an action is any number; BanditLearner plays one of several: give some numbers as actions")
        if self._is_offers:
            if self._bandit is None:
                most = max(self._params.get("classes", _core.OFFERED), len(actions))
                params = {name: value for name, value in self._params.items() if name != "classes"}
                self._bandit = Bandit(self._name, classes=most, seed=self._seed, **params)
            return self._bandit, _described(context), [_described(action) for action in actions]
        keys = list(map(_key, actions))
        twice = next((at for at, key in enumerate(keys) if key in keys[:at]), None)
        if twice is not None:
            raise ValueError(f"the action {actions[twice]!r} is on offer twice")
        new = [key for key in keys if key not in self._actions]
        if self._bandit is None:
            numbers = _numbers(context)
            self._hashed = numbers is None
            features = 2**self._bits if numbers is None else max(len(numbers), 1)
            self._bandit = Bandit(
                self._name,
                classes=max(len(new), 2),
                features=features,
                scale=self._scale,
                intercept=True,
                seed=self._seed,
                **self._params,
            )
        elif self._actions:
            self._check(new, actions)
        bandit = self._bandit
        for key in new:
            self._actions[key] = len(self._actions)
        if len(self._actions) > bandit.classes:
            for waiting in bandit.waiting:
                bandit.forget(waiting)
                self._forgotten.add(int(waiting))
            _core.add_labels(bandit._core, list(map(str, self._actions.values())))
            bandit._index = None
        names = [self._actions[_key(action)] for action in actions]
        every = len(names) == bandit.classes and names == sorted(names)
        return bandit, self._row(context, bandit.features), None if every else names

    def _check(self, new: list[Any], actions: Sequence[Any]) -> None:
        """Refuses actions that are told apart by features, which change from round to round. Zeros and a one are a name."""
        for action in actions:
            if not isinstance(action, str | int | float) and _key(action) in new and not _is_indicator(action):
                raise ValueError(
                    f"the action {action!r} has features of its own and is new, and {self._name} knows actions by what they are: "
                    'BanditLearner("offers") learns from their features'
                )
        self._strange = self._strange + 1 if len(new) == len(actions) else 0
        if self._strange > _STRANGE:
            raise ValueError(
                f"all actions were new in each of {self._strange} rounds, now {actions[0]!r}, and {self._name} knows actions by what they are: "
                'BanditLearner("offers") learns from their features, and from numbers'
            )

    def _places(self, actions: Sequence[Any]) -> dict[int, int]:
        return {self._actions[_key(action)]: at for at, action in enumerate(actions)}

    def _row(self, context: Any, features: int) -> Floats:
        row = np.zeros(features)
        if self._hashed:
            for name, number in _offers.described(_described(context), "the context"):
                row[zlib.crc32(name.encode()) % features] += number
            return row
        numbers = _numbers(context)
        if numbers is None:
            raise TypeError(f"the context is {context!r}; numbers were needed, as in the first interaction")
        if len(numbers) > features:
            raise ValueError(f"the context has {len(numbers)} numbers; at most {features} were needed, as in the first interaction")
        row[: len(numbers)] = numbers
        return row


def _key(action: Any) -> Any:
    """An action as a key: what it is. True equals 1, and is another action."""
    if isinstance(action, bool | np.bool_):
        return ("truth", bool(action))
    if isinstance(action, Mapping):
        return tuple(sorted((str(name), _key(value)) for name, value in action.items()))
    if isinstance(action, str) or not hasattr(action, "__iter__"):
        return action
    return tuple(map(_key, action))


def _is_near(low: float, high: float) -> bool:
    """Whether rewards from `low` to `high` are those of 0 to 1 and noise."""
    return -_NEAR <= low and high <= 1 + _NEAR


def _is_indicator(action: Any) -> bool:
    """Whether an action is a sequence of zeros and a single one."""
    if isinstance(action, Mapping) or not hasattr(action, "__iter__"):
        return False
    values = list(action)
    return all(isinstance(value, int | float | np.number) for value in values) and sorted(values) == [0] * (len(values) - 1) + [1]


def _described(features: Any) -> Any:
    """Features by name: those of a sequence by their places."""
    return features if isinstance(features, Mapping) else {str(at): value for at, value in enumerate(_sequence(features))}


def _sequence(context: Any) -> Sequence[Any]:
    if context is None:
        return []
    return [context] if isinstance(context, str) or not hasattr(context, "__iter__") else list(context)


def _numbers(context: Any) -> list[float] | None:
    """The numbers of a context, if it contains only numbers; NaN for missing ones."""
    if isinstance(context, Mapping):
        return None
    values = _sequence(context)
    if not all(is_missing(value) or isinstance(value, int | float | np.number | np.bool_) for value in values):
        return None
    return [math.nan if is_missing(value) else float(value) for value in values]
