"""What learners that see the truth promise, and what they have in common with others like them: statistics and files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from . import _core
from ._arrays import Floats
from ._kinds import KINDS
from ._model import Model

_L = TypeVar("_L", bound="Promising")


class Promising(Model[_core.Learner]):
    """Guarantees, sums of statistics, and model files."""

    __slots__ = ()

    @property
    def _real(self) -> bool:
        return bool(KINDS[self.name]["classes"] == "real")

    # Guarantees

    def certificate(self) -> float:
        """The bound on the regret so far that the learner computes from what it saw: cumulative log loss minus that of any
        linear predictor in the theorem's ball, in nats.

        Raises ValueError if the learner keeps none, or if rows were beyond its radius.
        """
        return self._core.certificate()

    def regret_bound(self) -> float:
        """The theorem's bound on the regret after the rounds so far, in nats (squared units for a real-valued target).

        Raises ValueError, with the reason, if there is none.
        """
        return self._core.regret_bound()

    def trivial_bound(self) -> float:
        """What says nothing, to be held beside `certificate` and `regret_bound`: a forecaster of equal probabilities has no more regret
        than the rounds times ln(classes), in nats, and no learner makes more mistakes than there are rounds.

        Raises ValueError for a real-valued target, which has none.
        """
        if self._real:
            raise ValueError("a real-valued target has no trivial bound")
        return self.rounds * (float(np.log(self.classes)) if self._core.forecast == "probabilities" else 1.0)

    # Merging, and files

    @classmethod
    def merge(cls: type[_L], learners: Iterable[Promising], how: str = "sum-all") -> _L:
        """The learner with the added-up sufficient statistics of `learners`, trained on shards.

        Parameters
        ----------
        learners
            Learners of one kind with equal parameters; at least one.
        how
            `sum-all` counts the regulariser once a shard, `lambda-once` once.

        Raises ValueError if they do not match, or do not add up.
        """
        return cls._wrap(_core.Learner.merge([learner._core for learner in learners], how))

    def statistics(self) -> Floats:
        """The sufficient statistics as a list of numbers, shape (n,): those of learners that agree in parameters, classes and
        columns may be added up, in any order, and `with_statistics` makes a learner of the sum.

        Raises ValueError for learners that have none, such as first-order ones, trees and mixtures.
        """
        return self._core.statistics()

    def with_statistics(self: _L, total: Any, parts: int, how: str = "lambda-once") -> _L:
        """A learner like this one, with the statistics of others.

        Parameters
        ----------
        total
            The sum of the `statistics` of `parts` learners like this one.
        how
            As in `merge`.

        Raises ValueError if `total` is no such sum.
        """
        return self._wrap(self._core.with_statistics(np.ascontiguousarray(total, dtype=np.float64), parts, how))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file (safetensors), which is replaced at once or not at all. `noregret predict` reads it.

        Raises OSError if it cannot be written, ValueError if the state holds numbers that are not finite.
        """
        self._core.save(path)

    @classmethod
    def load(cls: type[_L], path: str | os.PathLike[str]) -> _L:
        """The learner in a model file, written here or by `noregret run --save`. To continue is bit-equal to never having
        stopped. Loading is safe on files from anywhere.

        Raises OSError if it cannot be read, ValueError if it is no model file or a damaged one.
        """
        return cls._wrap(_core.Learner.load(path))
