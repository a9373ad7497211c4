"""Off-policy evaluation of lists: several labels are shown at once, each at a position with a reward of its own."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from . import _arrays, _tables
from ._arrays import Floats
from ._evaluation import Evaluation, evaluate_arrays

BROWSING = ("whole", "cascade", "independent")


def evaluate_slates(
    rewards: Any,
    probabilities: Any,
    policy: Any,
    *,
    browsing: str = "whole",
    clip: float | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Estimates what another policy would earn in a list of labels that are shown together, summed over the positions of the list.

    The estimates are those of Open Bandit Pipeline: `SlateStandardIPS`, `SlateRewardInteractionIPS` and `SlateIndependentIPS`,
    under `ips`, by `browsing`; `snips` divides by the mean weight. There are no confidence sequences, only approximate intervals.

    Parameters
    ----------
    rewards
        The rewards of the labels shown, shape (lists, positions), the first position first.
    probabilities
        The probability in (0, 1] with which each label was shown at its position, given the labels shown before it; for
        `independent`, given the row alone. Shape (lists, positions).
    policy
        The same of the policy to evaluate, from 0 to 1, for the labels that were shown.
    browsing
        On what the reward of a position depends: `whole`, on all labels of the list, which is always right, and weights of long
        lists are large; `cascade`, on the labels up to this position, as where people read from the top; `independent`, on the
        label at this position alone.
    clip
        The weight of a list, its mean over the positions, is clipped at this value, which reduces variance and adds bias.
    confidence
        Confidence of the intervals, in (0, 1).

    Raises
    ------
    ValueError
        For shapes that do not match, and for an invalid number, with its place.
    TypeError
        For anything but real numbers.

    Examples
    --------
    >>> import noregret
    >>> rewards, logged, policy = [[1, 0], [0, 1]], [[0.5, 0.5], [0.25, 0.5]], [[0.25, 1.0], [0.5, 0.5]]
    >>> for browsing in ("whole", "cascade", "independent"):
    ...     noregret.evaluate_slates(rewards, logged, policy, browsing=browsing).estimates["ips"].value
    1.5
    1.25
    0.75
    """
    if browsing not in BROWSING:
        raise ValueError(f"browsing = {browsing!r}: must be one of {', '.join(BROWSING)}")
    _tables.check_index(rewards, of="rewards", probabilities=probabilities, policy=policy)
    earned, logged, shown = (
        _lists(rewards, "rewards", -np.inf, np.inf), _lists(probabilities, "probabilities", 1e-100, 1), _lists(policy, "policy", 0, 1)
    )
    for name, given in (("probabilities", logged), ("policy", shown)):
        if given.shape != earned.shape:
            raise ValueError(f"{name} has the shape {given.shape}; rewards have {earned.shape}")
    positions = earned.shape[1]
    weights = shown / logged
    if browsing != "independent":
        weights = weights.cumprod(axis=1)
    if browsing == "whole":
        weights = np.repeat(weights[:, -1:], positions, axis=1)
    # A list is a round with the mean weight of its positions, and its reward the mean by these weights.
    weight = weights.mean(axis=1)
    reward = np.divide((weights * earned).mean(axis=1), weight, out=earned.mean(axis=1), where=weight > 0)
    chance, least = np.minimum(weight, 1), np.maximum(weight, 1)
    found = evaluate_arrays(
        np.zeros(len(weight), dtype=np.int64), reward, 1 / least, np.stack([chance, 1 - chance], axis=1), clip=clip, confidence=confidence
    )
    estimates = {
        name: one._replace(
            value=positions * one.value,
            standard_error=None if one.standard_error is None else positions * one.standard_error,
            normal=None if one.normal is None else (positions * one.normal[0], positions * one.normal[1]),
            sequence=None,
        )
        for name, one in found.estimates.items()
    }
    total = earned.sum(axis=1)
    error = float(total.std(ddof=1) / np.sqrt(len(total))) if len(total) > 1 else 0.0
    # There are no confidence sequences to be spoken of.
    warnings = [warning for warning in found.warnings if "confidence sequences" not in warning]
    return dataclasses.replace(
        found, estimates=estimates, labels=positions, logged_reward=float(total.mean()), logged_reward_standard_error=error,
        warnings=warnings,
    )


def _lists(given: Any, name: str, least: float, most: float) -> Floats:
    """Numbers from `least` to `most`, of shape (lists, positions)."""
    array = np.ascontiguousarray(_arrays.numbers(given, name), dtype=np.float64)
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError(f"{name} has the shape {array.shape}; lists and their positions were needed")
    wrong = np.argwhere(~(np.isfinite(array) & (array >= least) & (array <= most)))
    if len(wrong):
        at, position = wrong[0]
        needed = "a finite number" if most == np.inf else "from 0 to 1" if least == 0 else "in (0, 1]"
        raise ValueError(f"{name}[{at}, {position}] = {array[at, position]:g}: must be {needed}")
    return array
