"""Learners that see the truth of every round."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from . import _arrays, _core
from ._arrays import Floats, Ints
from ._model import Model

_L = TypeVar("_L", bound="Learner")

Entry = dict[str, Any]
"""What a learner says of itself in the registry."""

KINDS: dict[str, Entry] = {entry["name"]: entry for entry in _core.catalogue()}
"""The registry's learners by name."""


@dataclass(frozen=True)
class Run:
    """What a pass over rows leaves behind. Every prediction was made before its label was used."""

    losses: Floats
    """Shape (rows,). Log loss in nats for learners of probabilities; the probability of a mistake for learners that draw
    their label; 1 for a mistake of the others; squared loss for real-valued targets. NaN for rows of weight 0."""
    probabilities: Floats | None
    """Shape (rows, classes), or (rows, 1) with the forecasts of a real-valued target. None unless asked for."""
    played: Ints
    """Shape (rows,): the class that was predicted, or drawn."""
    rates: dict[str, float]
    """Means over the rounds by the names of the command line: `rounds`, `errors`, `error_rate`, `log_loss` and so on."""

    def __repr__(self) -> str:
        return f"Run({', '.join(f'{name}={value:.6g}' for name, value in self.rates.items())})"


class Learner(Model[_core.Learner]):
    """A learner that sees the truth of every round, by its name in the registry.

    Parameters
    ----------
    name
        A name of `noregret.catalogue()`; there is one class for each in `noregret.learners`, with its parameters spelled out.
    features
        Number of columns d >= 1 of the rows.
    classes
        Number of classes K >= 2. May be left out where `labels` are given, or the learner leaves no choice.
    radius
        Bound on the Euclidean norm of rows as the learner sees them: scaled, with the intercept. By default what `scale`
        guarantees, or 1. Rows beyond it are learnt too; they make the guarantee void.
    horizon
        Number of rounds, if it is known; some learners choose their parameters by it.
    seed
        Seed of the learner's own randomness, if it has any. Same seed, same bits.
    scale
        How columns are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, `standard` (mean 0, deviation
        1, within 5 deviations; columns of 0 and 1 alone stay as they are). Every row is scaled with what was seen up to and including it.
    intercept
        Whether a feature that is always 1 is added.
    sparse
        Whether rows are mostly zeros: decides the storage of first-order learners, never a result.
    labels
        Names of the classes in order, for targets given by name and for the command line.
    memory
        Most memory that the learner's state may take, in MiB.
    **params
        The learner's own parameters; one that is not given, or None, takes the value of the learner's theorem. Those of a learner
        inside have two underscores where the command line has a dot: `weak__grace` is its `weak.grace`.

    Raises
    ------
    TypeError
        For a parameter that the learner does not have.
    ValueError
        For a learner that does not exist or a value that a parameter cannot have.
    MemoryError
        If the state would take more than `memory`.

    Examples
    --------
    >>> from noregret import Learner
    >>> learner = Learner("folklore", classes=3, features=2, radius=1.0)
    >>> learner.learn_one([0.6, 0.8], 0)
    >>> learner.learn_one([-1.0, 0.0], 2)
    >>> learner.predict_proba([0.6, 0.8]).round(3)
    array([0.797, 0.189, 0.014])
    >>> learner
    Learner('folklore', classes=3, features=2, rounds=2)
    """

    __slots__ = ()
    _compiled = _core.Learner

    def __init__(
        self,
        name: str,
        *,
        features: int,
        classes: int | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        **params: float | int | str | bool | None,
    ) -> None:
        names = None if labels is None else [str(label) for label in labels]
        self._core = _core.Learner(
            name,
            number_of_classes(name, classes, names),
            features,
            params,
            radius=radius,
            horizon=horizon,
            seed=seed,
            sparse=sparse,
            scale=scale,
            intercept=intercept,
            labels=names,
            memory=memory,
        )
        self._index = None

    # Facts

    @property
    def radius(self) -> float | None:
        """Bound on the Euclidean norm of rows as the learner sees them; None if it needs none."""
        return self._core.radius

    @property
    def large_rows(self) -> int:
        """How many learnt rows were beyond `radius`."""
        return self._core.large_rows

    @property
    def scale(self) -> str:
        """How columns are scaled."""
        return self._core.scale

    @property
    def intercept(self) -> bool:
        """Whether a feature that is always 1 is added."""
        return self._core.intercept

    @property
    def columns(self) -> list[str]:
        """Names of the columns in order, as a model that learnt from a file knows them."""
        return self._core.columns

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the members of a mixture (`auto`), by their names; empty for other learners."""
        return self._core.weights

    @property
    def numbers(self) -> dict[str, list[float]]:
        """How the learner is doing inside, lists of numbers by name: the edges of the copies of `adaboost-olm`; empty for most."""
        return self._core.numbers

    @property
    def forecast(self) -> str:
        """What it forecasts with its parameters: `probabilities`, `label`, `randomised label` or `value`."""
        return self._core.forecast

    # Predicting

    def predict_proba(self, x: Any) -> Floats:
        """Probabilities of the classes.

        Parameters
        ----------
        x
            One row of shape (features,), or rows of shape (rows, features): an array, a nested list, a SciPy matrix, or a
            table of pandas, polars or Arrow.

        Returns
        -------
        Shape (classes,) or (rows, classes). Of a learner that draws its label these are the probabilities of playing each,
        of one that plays its best score they are 0 and 1; only those of the others forecast the truth.

        Raises
        ------
        ValueError
            For rows of another width, and for NaN and infinity.
        TypeError
            For anything but real numbers.
        """
        return self._predict(x, scores=False)

    def scores(self, x: Any) -> Floats:
        """Scores of the classes: logits of learners of probabilities, margins of the others, the forecast itself, of shape
        (rows, 1), for a real-valued target. Takes and raises what `predict_proba` does."""
        return self._predict(x, scores=True)

    def predict(self, x: Any) -> Any:
        """The class with the highest score, the first among equals, or the forecast of a real-valued target.

        Takes and raises what `predict_proba` does; returns an int (a float) for one row, else an array of shape (rows,).
        """
        scores = self._predict(x, scores=True)
        if self._real:
            return scores[..., 0] if scores.ndim == 2 else float(scores[0])
        return scores.argmax(axis=1) if scores.ndim == 2 else int(scores.argmax())

    def _predict(self, x: Any, scores: bool) -> Floats:
        if _arrays.is_row(x):
            return self._core.predict_row(_arrays.row(x), scores)
        return self._core.predict(_arrays.rows(x), scores)

    # Learning

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """Learns one row.

        Parameters
        ----------
        x
            The numbers of the row, shape (features,).
        y
            The class from 0 or its name, a probability vector of shape (classes,) where the learner takes one, or a number
            for a real-valued target.
        weight
            Importance >= 0, for learners that take weights. 0 teaches nothing.

        Raises
        ------
        ValueError, TypeError
            For a row, target or weight that the learner cannot learn from; nothing is learnt then.
        OverflowError
            If scores are not finite any more: parameters, values or weights are too large.
        """
        self._core.learn_row(_arrays.row(x), self._target(y), weight)

    def update(self, x: Any, y: Any, weight: Any = None, *, look_ahead: bool = True) -> None:
        """Learns rows in order.

        Parameters
        ----------
        x
            Rows of shape (rows, features), as in `predict_proba`.
        y
            Classes or names of shape (rows,), probability vectors of shape (rows, classes), or numbers of shape (rows,).
        weight
            Importance of every row, shape (rows,).
        look_ahead
            Whether second-order learners may work on several rows at once. The result is that of one row after the other:
            to rounding (1e-9) if they do, bit for bit if not.

        Raises
        ------
        ValueError, TypeError
            For arrays that the learner cannot learn from; nothing is learnt then.
        OverflowError
            If scores are not finite from some row on; the rows before it are learnt.
        KeyboardInterrupt
            Between two rounds; the rows before are learnt, and `rounds` counts them.
        """
        self._core.run(_arrays.rows(x), self._targets(y), _arrays.weights(weight), look_ahead=look_ahead)

    def run(
        self,
        x: Any,
        y: Any,
        weight: Any = None,
        *,
        look_ahead: bool = True,
        probabilities: bool = False,
        seed: int = 0,
    ) -> Run:
        """Predicts every row, scores the prediction, and only then learns from it: test-then-train.

        Takes and raises what `update` does. `probabilities` says whether predictions are kept, `seed` is that of the labels
        that randomised learners draw.

        Examples
        --------
        >>> from noregret import Learner
        >>> x = [[1.0, 0.0], [0.0, 1.0]] * 50
        >>> Learner("ogd", classes=2, features=2, radius=1.0).run(x, [0, 1] * 50)
        Run(rounds=100, errors=1, error_rate=0.01, greedy_error_rate=0.01, log_loss=0.0138629)
        """
        losses, kept, played, rates = self._core.run(
            _arrays.rows(x),
            self._targets(y),
            _arrays.weights(weight),
            look_ahead=look_ahead,
            seed=seed,
            keep=probabilities,
        )
        return Run(losses, kept, played, rates)

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

    # Merging, and files

    @classmethod
    def merge(cls: type[_L], learners: Iterable[Learner], how: str = "sum-all") -> _L:
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

    # Targets

    @property
    def _real(self) -> bool:
        return bool(KINDS[self._core.name]["classes"] == "real")

    def _targets(self, y: Any) -> Floats | Ints:
        return _arrays.targets(y, self._real, self._names())

    def _target(self, y: Any) -> Any:
        if isinstance(y, str):
            return _arrays.name_of(y, self._names())
        if self._real:
            return float(y)
        if isinstance(y, list | tuple | np.ndarray) and np.ndim(y) == 1:
            return np.ascontiguousarray(_arrays.numbers(y, "y"), dtype=np.float64)
        if isinstance(y, float | np.floating) and float(y).is_integer():
            return int(y)
        return y


def number_of_classes(name: str, classes: int | None, labels: list[str] | None) -> int:
    """The number of classes that was given, or that leaves no choice."""
    if classes is not None:
        return classes
    if labels is not None:
        return len(labels)
    kind = KINDS.get(name, {}).get("classes")
    if kind == "any":
        raise TypeError("classes: the number of classes, or labels, must be given")
    return 1 if kind == "real" else 2


def classifier(
    name: str, classes: int, features: int, params: dict[str, Any], reach: float | None, **facts: Any
) -> _core.Learner:
    """The learner of a classifier. With `reach`, the default of its parameter `norm` is reach / radius."""
    core = _core.Learner(name, classes, features, params, **facts)
    if reach is None or params.get("norm") is not None or core.radius is None:
        return core
    return _core.Learner(name, classes, features, {**params, "norm": reach / core.radius}, **facts)
