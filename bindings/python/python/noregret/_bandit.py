"""Learners with bandit feedback."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import _arrays, _core, _offers
from ._arrays import Floats
from ._kinds import KINDS, number_of_classes
from ._run import Run
from ._model import Model

_B = TypeVar("_B", bound="Bandit")


WIDTH = 4096
"""Columns of a label on offer with features of its own."""
OFFERED = 50
"""The largest number of such labels."""


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


class Bandit(Model[_core.Bandit]):
    """A learner with bandit feedback, by its name in the registry: it plays a label and learns from the feedback for
    it.

    Parameters
    ----------
    most_waiting
        Largest number of decisions without feedback; beyond it the oldest is discarded.
    exploration_floor
        Least probability of every label, from 0 to 1 / classes, by additional uniform draws. From a log with a floor >
        0 any policy can be evaluated.
    costs
        What labels may cost: a pair `(least, most)`, or a text such as `"0..10"`, as of `noregret run --costs`. The
        least cost is the reward 1, the largest is 0.
    seed
        Seed of the played labels and of the learner's randomness.
    features
        Number of columns of a row. `Bandit("offers")` without it knows labels by features of their own, which are
        hashed into `width` columns (4096) each; `classes` (50) is then the largest number of labels on offer.
    name, classes, radius, horizon, scale, intercept, sparse, labels, memory, **params
        As in `noregret.Learner`.

    Examples
    --------
    >>> from noregret import Bandit
    >>> bandit = Bandit("soba", classes=3, features=2, exploration=0.1, seed=1)
    >>> first = bandit.decide([1.0, 0.0])
    >>> second = bandit.decide([0.0, 1.0])
    >>> bandit.feedback(second.id, correct=True)
    >>> bandit.feedback(first.id, correct=first.label == 0)
    >>> bandit.rounds, bandit.waiting
    (2, [])

    Labels that come and go, with features of their own and costs from 0 to 10:

    >>> articles = Bandit("offers", width=256, costs=(0, 10))
    >>> news = {"a17": {"topic": "sports"}, "b3": {"topic": "music", "words": 300}}
    >>> decision = articles.decide({"user": {"likes": "music"}}, news)
    >>> articles.feedback(decision.id, cost=2.5)
    >>> decision.label in news, articles.rounds
    (True, 1)
    """

    __slots__ = ("_given",)
    _compiled = _core.Bandit
    _given: dict[str, Any]
    """The labels as they were given, by their text; empty where only their text is known, as in a model file."""

    def __init__(
        self,
        name: str = "auto",
        *,
        features: int | None = None,
        classes: int | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None,
        **params: float | int | str | bool | None,
    ) -> None:
        self._given = {} if labels is None else _named(labels)
        names = None if labels is None else [str(label) for label in labels]
        block = None
        if features is None:
            if not KINDS.get(name, {}).get("blocks"):
                raise TypeError(f"features: the number of columns must be given; only Bandit('offers') has none, and the learner is {name}")
            if names is not None or scale != "none" or intercept:
                raise TypeError("labels, scale and intercept have no meaning for labels on offer with features of their own")
            width = params["width"] if params.get("width") is not None else WIDTH
            if isinstance(width, bool) or not isinstance(width, (int, np.integer)) or not 0 < width < 1 << 20:
                raise ValueError(f"width = {width!r}: must be a whole number from 1 to {(1 << 20) - 1}")
            classes = OFFERED if classes is None else classes
            block, features = int(width), classes * int(width)
        self._held = _core.Bandit(
            name,
            number_of_classes(name, classes, names),
            features,
            params,
            radius=radius,
            horizon=horizon,
            seed=seed,
            sparse=sparse or block is not None,
            scale=scale,
            intercept=intercept,
            labels=names,
            memory=memory,
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            costs=costs if costs is None or isinstance(costs, str) else _pair(costs),
            block=block,
        )
        self._index = None
        if warning := self._core.warning():
            warnings.warn(warning, stacklevel=2)

    @property
    def waiting(self) -> list[int | str]:
        """Ids of the decisions without feedback, the oldest first. They are whole numbers, except for other ids in a
        replayed log."""
        return [int(id) if id.isdecimal() and str(int(id)) == id else id for id in self._core.waiting]

    @property
    def costs(self) -> tuple[float, float]:
        """What labels may cost: from the reward 1 to the reward 0."""
        return self._core.costs

    def decide(self, x: Any, labels: Any = None) -> Decision:
        """Plays a label for the row `x`.

        Parameters
        ----------
        x
            The numbers of the row, shape (features,). For labels on offer with features of their own: the features of the
            round, a dictionary whose members are numbers, texts (categories), lists and dictionaries (columns by path,
            `user.age`), or a list of numbers.
        labels
            The labels on offer: only one of these is played. A list of labels of the bandit; None for all. `Bandit("offers")`
            needs a dictionary of labels and their features, which are like those of `x`, or a list of labels without
            features; labels that were never seen are played at once.

        The decision is pending until `feedback` or `forget` is called with its id. Raises ValueError or TypeError for
        an invalid row, invalid labels, and for some of the labels where the learner can only play all; then no label is
        played. Raises OSError if the decision cannot be logged.
        """
        given, row = self._round(x, labels)
        label, name, probability, id = self._core.decide(row)
        if given is not None:
            return Decision(given[label], probability, id)
        return Decision(label if name is None else self._given.get(name, name), probability, id)

    @classmethod
    def _wrap(cls: type[_B], core: Any) -> _B:
        bandit = super()._wrap(core)
        bandit._given = {}
        return bandit

    def copy(self: _B) -> _B:
        """An independent copy, with the pending decisions."""
        bandit = super().copy()
        bandit._given = self._given
        return bandit

    @classmethod
    def merge(cls: type[_B], bandits: Iterable[Bandit], how: str = "sum-all") -> _B:
        """Merges `bandits`, trained on parts of the data, by adding what they have learnt. `soba`, `soba-diag` and
        `soba-sketch` can be merged.

        Parameters
        ----------
        bandits
            Bandits of one kind with equal parameters, without pending decisions; at least one. The generator of
            labels and the exploration floor are those of the first.
        how
            `sum-all` adds the regularisers of all of them, `lambda-once` counts it once.

        Raises ValueError if they do not match, cannot be merged, or have pending decisions.
        """
        parts = list(bandits)
        bandit = cls._wrap(_core.Bandit.merge([part._core for part in parts], how))
        for part in reversed(parts):
            bandit._given.update(part._given)
        return bandit

    def __getstate__(self) -> Any:
        return super().__getstate__(), self._given

    def __setstate__(self, state: Any) -> None:
        core, self._given = state
        super().__setstate__(core)

    def _round(self, x: Any, labels: Any) -> tuple[list[Any] | None, Any]:
        """The labels as given, if they are called by their position, and the round for the compiled part."""
        if self._core.block is None:
            if isinstance(labels, Mapping):
                raise TypeError("the bandit has fixed labels; labels with features of their own need Bandit('offers') without features")
            return None, (_arrays.row(x), None if labels is None else [str(name) for name in _offers.names(labels)])
        if labels is None:
            raise TypeError("labels: the labels on offer must be given, with their features")
        given, offered = _offers.on_offer(labels)
        return given, (_offers.described(x, "x"), offered)

    def feedback(
        self, id: int | str, correct: bool | None = None, *, reward: float | None = None, cost: float | None = None
    ) -> None:
        """Learns from the feedback for decision `id`, which may be late and out of order.

        Parameters
        ----------
        correct
            Whether the label was right: True or False; other types are rejected.
        reward
            Instead of `correct`: a number from 0 (wrong) to 1 (right), for learners that learn from rewards: `auto`,
            `squarecb`, `fastcb` and `offers`.
        cost
            Instead of both: a number in the range `costs` of the bandit, for the same learners.

        Raises TypeError or ValueError for invalid values, KeyError if no decision with this id is pending, OSError if
        the feedback cannot be logged; then nothing is learnt.
        """
        if sum(given is not None for given in (correct, reward, cost)) != 1:
            raise TypeError("either correct, True or False, or reward, from 0 to 1, or cost was needed; forget(id) is for decisions that nobody will answer")
        if cost is not None:
            if not _is_number(cost):
                raise TypeError(f"cost = {cost!r}: must be a number from {self.costs[0]:g} to {self.costs[1]:g}")
            return self._core.feedback_cost(str(id), float(cost))
        if reward is None:
            if not isinstance(correct, (bool, np.bool_)):
                raise TypeError(f"correct = {correct!r}: must be True or False; for a number from 0 to 1 there is reward=")
            reward = float(correct)
        elif not _is_number(reward):
            raise TypeError(f"reward = {reward!r}: must be a number from 0 to 1")
        self._core.feedback(str(id), float(reward))

    def forget(self, id: int | str) -> None:
        """Discards decision `id`, which will get no feedback. Raises the exceptions of `feedback`."""
        self._core.forget(str(id))

    def log(self, path: str | os.PathLike[str]) -> DecisionLog:
        """Starts a decision log, with all decisions and their feedback in order.

        `Bandit.replay` and `noregret replay` make a bit-equal learner from it; `noregret.evaluate` and
        `noregret evaluate` estimate the rewards of other policies. The log of a bandit with earlier decisions starts
        from its present state: `save` the model, because a replay needs it.

        Parameters
        ----------
        path
            A new file: NDJSON, complete after every call; compressed with the extensions `.gz` and `.zst`, Parquet with
            `.parquet`. Compressed files and Parquet are complete when the log is closed.

        Raises
        ------
        FileExistsError
            If the file exists: logs are never overwritten.
        OSError
            If it cannot be written.
        ValueError
            If another log is open.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from noregret import Bandit
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "decisions.ndjson"
        >>> bandit = Bandit("soba", classes=3, features=2, exploration=0.1, seed=1)
        >>> with bandit.log(path):
        ...     for x, y in [([1.0, 0.0], 0), ([0.0, 1.0], 2)] * 20:
        ...         decision = bandit.decide(x)
        ...         bandit.feedback(decision.id, decision.label == y)
        >>> again = Bandit.replay(path)
        >>> again.rounds, bool((again.scores([1.0, 0.0]) == bandit.scores([1.0, 0.0])).all())
        (40, True)
        """
        self._core.begin_log(path)
        return DecisionLog(self._core, os.fspath(path))

    @classmethod
    def replay(
        cls: type[_B],
        log: str | os.PathLike[str],
        model: str | os.PathLike[str] | None = None,
        *,
        most_waiting: int = 1_000_000,
        memory: int = 8192,
    ) -> _B:
        """Makes the bandit of a decision log, bit-equal to the one that wrote it and to that of `noregret replay`.

        Every decision is compared with that of the learner in the same state, so that missing, changed or reordered
        lines are detected. Decisions without feedback stay pending, and the generator of labels continues.

        Parameters
        ----------
        log
            A log of `Bandit.log` or `noregret run --log`: lines of JSON, compressed or not, or Parquet.
        model
            The model file with which the log starts, if any.
        most_waiting
            Largest number of decisions without feedback; beyond it the oldest is discarded.
        memory
            Largest size of the learner's state, in MiB.

        Raises OSError if a file cannot be read, ValueError, with file and line, for a log that does not replay, MemoryError for a
        learner that is too large.
        """
        return cls._wrap(_core.Bandit.replay(log, model, most_waiting, memory))

    def predict_proba(self, x: Any, labels: Any = None) -> Floats:
        """The distribution of the played label: shape (classes,) for one row, (rows, classes) for rows. With `labels`, as in
        `decide`, of those on offer in one row, in their order."""
        return self._predict(x, labels, scores=False)

    def scores(self, x: Any, labels: Any = None) -> Floats:
        """Margins of the classes, in the shapes of `predict_proba`."""
        return self._predict(x, labels, scores=True)

    def predict(self, x: Any) -> Any:
        """The class with the highest score, without exploration: an int for one row, else an array of shape (rows,)."""
        scores = self.scores(x)
        return scores.argmax(axis=1) if scores.ndim == 2 else int(scores.argmax())

    def _predict(self, x: Any, labels: Any, scores: bool) -> Floats:
        if labels is not None or self._core.block is not None:
            return np.array(self._core.look(self._round(x, labels)[1], scores))
        if _arrays.is_row(x):
            one: Floats = self._core.predict(_arrays.row(x)[None, :], scores)[0]
            return one
        return self._core.predict(_arrays.rows(x), scores)

    def run(self, x: Any, y: Any, *, probabilities: bool = False, seed: int = 0) -> Run:
        """Simulates bandit feedback on labelled rows: plays them in order and reveals only right or wrong.

        Parameters
        ----------
        x, y
            Rows of shape (rows, features) and their classes or names, shape (rows,).
        probabilities
            Whether the distributions are stored.
        seed
            Seed of the draws, which are independent of those of `decide`.

        Returns
        -------
        A `noregret.Run` whose losses are probabilities of a mistake (mistakes, for deterministic learners).

        Raises KeyboardInterrupt between two rounds; the rows before are learnt, and `rounds` counts them.
        """
        if self._core.block is not None:
            raise TypeError("a run needs rows of numbers with classes; this bandit knows labels by their features")
        targets = _arrays.targets(y, False, self._names())
        found = self._core.run(_arrays.rows(x), targets, seed=seed, keep=probabilities)
        losses, kept, played, rates, truth = found
        return Run(losses, kept, played, rates, truth, list(self.labels), self.name)

    def learn(
        self, x: Any, labels: Any, rewards: Any, probabilities: Any, offered: Sequence[Sequence[Any]] | None = None
    ) -> None:
        """Learns rounds in which another policy has played: a warm start.

        The probabilities are those of the other policy; they are the importance weights of learners that weight rounds
        (`banditron`, `soba`, `newtron`, `gaptron-*`, `exp4`). `auto`, `squarecb`, `fastcb` and `confidit` learn rewards by
        regression, which needs no weights. `noregret run --decision chosen --probability prob --reward click` does the same
        with a file.

        Parameters
        ----------
        x
            Rows of shape (rounds, features), in their order.
        labels
            The labels that were played, or their numbers, shape (rounds,).
        rewards
            What they earned, shape (rounds,): numbers from 0 to 1, or True and False; learners that learn only from right
            and wrong need 0 and 1.
        probabilities
            The probabilities in (0, 1] with which they were played, shape (rounds,).
        offered
            The labels on offer in each round, if not all were.

        Raises ValueError or TypeError for invalid rounds, with their number from 0; then nothing is learnt. Raises
        KeyboardInterrupt between two rounds; the rounds before are learnt, and `rounds` counts them.

        Examples
        --------
        >>> import numpy as np
        >>> from noregret import Bandit
        >>> rng = np.random.default_rng(0)
        >>> x, chosen = rng.normal(size=(500, 2)), rng.choice(["no", "yes"], 500, p=[0.75, 0.25])
        >>> click = (chosen == "yes") == (x[:, 0] > 0)
        >>> bandit = Bandit("squarecb", labels=["no", "yes"], features=2, radius=4)
        >>> bandit.learn(x, chosen, click, np.where(chosen == "yes", 0.25, 0.75))
        >>> bandit.rounds, bandit.labels[bandit.predict([2.0, 0.0])]
        (500, 'yes')
        """
        if self._core.block is not None:
            raise TypeError("arrays of rows have no labels with features of their own, which this bandit needs")
        self._core.learn(
            _arrays.rows(x),
            _arrays.targets(labels, False, self._names()),
            _arrays.one_axis(rewards, "rewards"),
            _arrays.one_axis(probabilities, "probabilities"),
            None if offered is None else [[str(label) for label in labels] for labels in offered],
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, with the pending decisions. `noregret predict` reads it, and `noregret run --load`
        continues it.

        Raises OSError if it cannot be written, ValueError if the state holds numbers that are not finite.
        """
        self._core.save(path)

    @classmethod
    def load(cls: type[_B], path: str | os.PathLike[str]) -> _B:
        """Loads the learner of a model file, written here or by `noregret run --feedback bandit --save`. The generator
        of labels continues.

        Raises OSError if it cannot be read, ValueError if it is damaged or not a model file of a bandit learner.
        """
        return cls._wrap(_core.Bandit.load(path))


def _named(labels: Any) -> dict[str, Any]:
    """Labels by their text."""
    if isinstance(labels, (str, set, frozenset)):
        raise TypeError(f"labels is {labels!r}; a list of labels was needed, whose order is that of the classes")
    for label in labels:
        if not isinstance(label, (str, int, float, np.bool_, np.integer, np.floating)):
            raise TypeError(f"labels has {label!r}; a text or a number was needed")
    return {str(label): label for label in labels}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _pair(costs: Any) -> tuple[float, float]:
    try:
        least, most = costs
        return float(least), float(most)
    except (TypeError, ValueError):
        raise TypeError(f"costs = {costs!r}: must be a pair (least, most), or a text such as '0..10'") from None
