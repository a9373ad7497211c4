"""Decisions of bandits, their rewards, and the logs in which they are written."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import Floats


class Decision(NamedTuple):
    """A played label, with the id for its feedback."""

    label: Any
    """The played label as it was named: by the bandit's `labels`, by the labels on offer, or else its number."""
    probability: float
    """The probability with which it was played, in (0, 1]."""
    id: int
    """The id for `Bandit.feedback`."""


class DecisionLog:
    """An open decision log of `Bandit.log`; a context manager."""

    __slots__ = ("_core", "_path")

    def __init__(self, core: _core.Bandit, path: str) -> None:
        self._core: _core.Bandit | None = core
        self._path = path

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._path

    def close(self) -> None:
        """Completes the file; later decisions are not logged. Closing twice has no effect.

        Raises OSError if writing fails.
        """
        core, self._core = self._core, None
        if core is not None:
            core.end_log()

    def __enter__(self) -> DecisionLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"DecisionLog({self.path!r}, {'closed' if self._core is None else 'open'})"


def shares(rewards: Floats, between: tuple[float, float] | str) -> Floats:
    """Rewards between the worst and the best as numbers from 0 to 1."""
    if isinstance(between, str):
        found, remark = _core.shares_of(np.ascontiguousarray(rewards, dtype=np.float64), between)
        if remark is not None:
            warnings.warn(remark, stacklevel=3)
        return found
    if between == (0, 1):
        return rewards
    worst, best = between
    least, most = min(between), max(between)
    if not (least < most and np.isfinite(most - least)):
        raise ValueError(f"between = {between!r}: must be two different numbers, the worst reward and the best")
    outside = np.flatnonzero(~((rewards >= least) & (rewards <= most)))
    if outside.size:
        raise ValueError(f"rewards[{outside[0]}] = {rewards[outside[0]]:g}: must be from {least:g} to {most:g}, as between = {between!r} says")
    return (rewards - worst) / (best - worst)
