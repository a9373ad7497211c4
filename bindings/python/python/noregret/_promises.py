"""Common part of full-information learners: guarantees, sufficient statistics, and model files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _core, _targets
from ._arrays import Floats
from ._kinds import KINDS
from ._model import Model

_L = TypeVar("_L", bound="Promising")


class Promising(Model[_core.Learner]):
    """Guarantees, sums of statistics, and model files."""

    __slots__ = ("_class_weight",)
    _class_weight: dict[str, float] | None
    """Importance weights by the text of the label."""

    @property
    def _real(self) -> bool:
        return bool(KINDS[self.name]["classes"] == "real")

    # Guarantees

    def certificate(self) -> float:
        """The learner's own upper bound on its regret so far (cumulative log loss minus that of any linear predictor in
        the theorem's ball), in nats, computed during the run.

        Raises ValueError if the learner computes none, or if rows were beyond its radius.
        """
        return self._core.certificate()

    def regret_bound(self) -> float:
        """The theorem's bound on the regret after the rounds so far, in nats (squared units for a real-valued target);
        of the mixture `auto`, in every interval of these rounds, against the member that is best in it.

        Raises ValueError, with the reason, if there is none.
        """
        return self._core.regret_bound()

    def trivial_bound(self) -> float:
        """The trivial bound, for comparison with `certificate` and `regret_bound`: rounds times ln(classes) nats, the
        bound of uniform forecasts; or the number of rounds, for bounds on mistakes.

        Raises ValueError for a real-valued target, which has none.
        """
        if self._real:
            raise ValueError("a real-valued target has no trivial bound")
        return self.rounds * (float(np.log(self.classes)) if self._core.forecast == "probabilities" else 1.0)

    # Merging, and files

    @classmethod
    def merge(cls: type[_L], learners: Iterable[Promising], how: str = "sum-all") -> _L:
        """Merges `learners`, trained on shards, by adding their sufficient statistics.

        Parameters
        ----------
        learners
            Learners of one kind with equal parameters; at least one.
        how
            `sum-all` adds the regularisers of all shards, `lambda-once` counts it once.

        Raises ValueError if they do not match, or cannot be merged.
        """
        parts = cls._parts(learners)
        for part in parts:
            part._weigh()
        return cls._wrap(_core.Learner.merge([part._core for part in parts], how))._like(parts)._placed(*parts)

    def statistics(self) -> Floats:
        """The sufficient statistics, shape (n,). Statistics of learners with equal parameters, classes and columns can
        be added in any order; `with_statistics` makes a learner from the sum.

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

        Raises ValueError if `total` is not such a sum.
        """
        return self._wrap(self._core.with_statistics(np.ascontiguousarray(total, dtype=np.float64), parts, how))._like([self])._placed(self)

    def _like(self: _L, learners: Sequence[Promising]) -> _L:
        """This learner, with what only Python knows of those that it was made of."""
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Atomically writes a model file (safetensors), with the weights of classes. `noregret predict` reads it, and
        `noregret run --load` goes on with it.

        Raises OSError if it cannot be written, ValueError if the state holds numbers that are not finite.
        """
        self._tell(getattr(self, "_values", None))
        self._weigh()
        self._core.save(path)

    def _weigh(self) -> None:
        """States the weights of classes for a model file, whose labels may be called otherwise than the given ones."""
        given = self._class_weight or {}
        labels = getattr(self, "_values", None) or {name: name for name in self._core.labels}
        told = {text: _targets.weight_of(given, label) for text, label in labels.items() if _targets.has_weight(given, label)}
        known = {name for label in labels.values() for name in _targets.weight_names(label)}
        self._core.weigh({**told, **{name: weight for name, weight in given.items() if name not in known}})

    @classmethod
    def load(cls: type[_L], path: str | os.PathLike[str], *, class_weight: Mapping[Any, float] | None = None) -> _L:
        """Loads the learner of a model file, written here or by `noregret run --save`. Continuing is bit-equal to an
        uninterrupted run. Loading untrusted files is safe. `class_weight` replaces the weights of classes in the file: see
        `noregret.Learner`.

        Raises OSError if it cannot be read, ValueError if it is damaged or not a model file.
        """
        learner = cls._wrap(_core.Learner.load(path))
        if class_weight is not None:
            learner._class_weight = _targets.class_weights(class_weight)
        return learner
