"""Learners for coba, the benchmark harness for contextual bandits; `pip install noregret[coba]`."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import Floats
from ._bandit import Bandit

__all__ = ["BanditLearner"]


class BanditLearner:
    """A bandit learner of the registry as a learner of coba.

    Actions are classes by their position in the list, whose length must be the same in all interactions; the actions'
    features are not used. Rewards are clipped to [0, 1]; one strictly between 0 and 1 counts as right with that
    probability, which preserves expectations. Contexts may be numbers, sequences of numbers, mappings of features, or
    absent. It learns from its own decisions only, not from those of a log.

    Parameters
    ----------
    name
        A name of `noregret.bandits`, such as `soba`.
    bits
        Mappings and contexts with texts are hashed into 2**bits features.
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
        self, name: str, *, bits: int = 8, scale: str = "unit", seed: int = 1, **params: Any
    ) -> None:
        self._name = name
        self._bits = bits
        self._scale = scale
        self._seed = seed
        self._params = params
        self._bandit: Bandit | None = None
        self._hashed = False
        self._rng = np.random.default_rng(seed)

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters that coba shows."""
        return {"family": f"noregret {self._name}", **self._params, "scale": self._scale, "seed": self._seed}

    def predict(self, context: Any, actions: Sequence[Any]) -> Any:
        """Plays an action; returns it with its probability and the data for `learn`."""
        bandit = self._started(context, actions)
        decision = bandit.decide(self._row(context, bandit.features))
        return {"action_prob": (actions[int(decision.label)], decision.probability)}, {"decision": decision.id}

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """The probability of playing `action`."""
        bandit = self._started(context, actions)
        probabilities = bandit.predict_proba(self._row(context, bandit.features))
        return float(probabilities[list(actions).index(action)])

    def learn(
        self, context: Any, action: Any, reward: float, probability: float | None, decision: int | None = None
    ) -> None:
        """Learns the reward of a decision of `predict`."""
        if self._bandit is None or decision is None:
            raise ValueError(f"{self._name} learns from its own decisions only, not from a log")
        self._bandit.feedback(decision, bool(self._rng.random() < reward))

    def _started(self, context: Any, actions: Sequence[Any]) -> Bandit:
        if self._bandit is None:
            numbers = _numbers(context)
            self._hashed = numbers is None
            features = 2**self._bits if numbers is None else max(len(numbers), 1)
            self._bandit = Bandit(
                self._name,
                classes=len(actions),
                features=features,
                scale=self._scale,
                intercept=True,
                seed=self._seed,
                **self._params,
            )
        elif len(actions) != self._bandit.classes:
            raise ValueError(f"there are {len(actions)} actions: must be {self._bandit.classes}, as before")
        return self._bandit

    def _row(self, context: Any, features: int) -> Floats:
        row = np.zeros(features)
        if self._hashed:
            items = context.items() if isinstance(context, Mapping) else enumerate(_sequence(context))
            for name, value in items:
                text, number = (f"{name}={value}", 1.0) if isinstance(value, str) else (str(name), float(value))
                row[zlib.crc32(text.encode()) % features] += number
        else:
            numbers = _numbers(context)
            if numbers is None:
                raise TypeError(f"the context is {context!r}; numbers were needed, as in the first interaction")
            row[: len(numbers)] = numbers
        return row


def _sequence(context: Any) -> Sequence[Any]:
    if context is None:
        return []
    return [context] if isinstance(context, str | int | float) else list(context)


def _numbers(context: Any) -> list[float] | None:
    """The numbers of a context, if it contains only numbers."""
    if isinstance(context, Mapping):
        return None
    values = _sequence(context)
    return None if any(isinstance(value, str) for value in values) else [float(value) for value in values]

