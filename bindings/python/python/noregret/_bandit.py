"""Learners that are told whether the label that they played was right."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import _arrays, _core
from ._arrays import Floats
from ._kinds import number_of_classes
from ._run import Run
from ._model import Model

_B = TypeVar("_B", bound="Bandit")


class Decision(NamedTuple):
    """A label that was played, and the id by which its feedback is given."""

    label: int | str
    """The class that was played: its name where the bandit was given names, else its number."""
    probability: float
    """The probability with which it was played, in (0, 1]."""
    id: int
    """What `Bandit.feedback` takes."""


class DecisionLog:
    """A decision log that is being written, as `Bandit.log` begins it; a context manager."""

    __slots__ = ("_core", "_path")

    def __init__(self, core: _core.Bandit, path: str) -> None:
        self._core: _core.Bandit | None = core
        self._path = path

    @property
    def path(self) -> str:
        """Where it is written."""
        return self._path

    def close(self) -> None:
        """Completes the file; what is decided after this is not logged. Closing twice does nothing.

        Raises OSError if the rest cannot be written.
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
    """A learner with bandit feedback, by its name in the registry: it plays a label, and may be told whether that was right.

    Parameters
    ----------
    most_waiting
        Decisions that may wait for feedback at one time; beyond that the oldest is forgotten.
    exploration_floor
        Every label is played at least with this probability, from 0 to 1 / classes: now and then a label is drawn uniformly
        instead of by the learner. Logs with a floor > 0 can evaluate any policy.
    seed
        Seed of the labels that are drawn and of the learner's own randomness.
    name, features, classes, radius, horizon, scale, intercept, sparse, labels, memory, **params
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
    """

    __slots__ = ()
    _compiled = _core.Bandit

    def __init__(
        self,
        name: str = "auto",
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
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
        **params: float | int | str | bool | None,
    ) -> None:
        names = None if labels is None else [str(label) for label in labels]
        self._held = _core.Bandit(
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
        )
        self._index = None
        if warning := self._core.warning():
            warnings.warn(warning, stacklevel=2)

    @property
    def waiting(self) -> list[int | str]:
        """Ids of the decisions that wait for feedback, the oldest first. Ids of our own are whole numbers; in a log that was
        replayed there may be others."""
        return [int(id) if id.isdecimal() and str(int(id)) == id else id for id in self._core.waiting]

    def decide(self, x: Any) -> Decision:
        """Plays a label for the row `x` of shape (features,).

        The decision waits until `feedback` or `forget` is called with its id. Raises ValueError or TypeError for a row that
        the learner cannot learn from; nothing is played then. Raises OSError if a log is written and the decision cannot be.
        """
        label, name, probability, id = self._core.decide(_arrays.row(x))
        return Decision(label if name is None else name, probability, id)

    def feedback(self, id: int | str, correct: bool | None = None, *, reward: float | None = None) -> None:
        """Learns what the label of decision `id` earned: late, out of order, or never.

        Parameters
        ----------
        correct
            Whether the label was right: True or False, and nothing that merely looks like it.
        reward
            In its place, a number from 0 (wrong) to 1 (right), for learners that learn from rewards: `auto`, `squarecb`,
            `fastcb` and `offers`.

        Raises TypeError or ValueError for anything else, KeyError if no such decision waits, OSError if a log is written and
        this cannot be; nothing is learnt then.
        """
        if (correct is None) == (reward is None):
            raise TypeError("either correct, True or False, or reward, from 0 to 1, was needed; forget(id) is for decisions that nobody will answer")
        if reward is None:
            if not isinstance(correct, (bool, np.bool_)):
                raise TypeError(f"correct = {correct!r}: must be True or False; for a number from 0 to 1 there is reward=")
            reward = float(correct)
        elif isinstance(reward, (bool, np.bool_)) or not isinstance(reward, (int, float, np.integer, np.floating)):
            raise TypeError(f"reward = {reward!r}: must be a number from 0 to 1")
        self._core.feedback(str(id), float(reward))

    def forget(self, id: int | str) -> None:
        """Forgets decision `id`: its feedback will never come. Raises what `feedback` does."""
        self._core.forget(str(id))

    def log(self, path: str | os.PathLike[str]) -> DecisionLog:
        """Begins a decision log: every decision, and what is heard of it, in the order in which it happens.

        `Bandit.replay` and `noregret replay` make the same learner of it, bit for bit; `noregret.evaluate` and `noregret
        evaluate` say what other policies would have earned. A log of a bandit that has decided before begins with the model
        as it is now: `save` it beside the log, for replays ask for it.

        Parameters
        ----------
        path
            A new file: lines of JSON, whole after every call; compressed for `.gz` and `.zst`, columns for `.parquet`, and
            these are whole once the log is closed.

        Raises
        ------
        FileExistsError
            If there is a file already: what was decided is never overwritten.
        OSError
            If it cannot be written.
        ValueError
            If another log is being written.

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
        """The bandit that a decision log has made, bit for bit: that of `noregret replay`, and of whoever wrote the log.

        Every decision is checked against the learner as it then was, so that a log with lines missing, changed or out of order
        is refused. Decisions that were never answered wait, and labels go on being drawn as if it had never stopped.

        Parameters
        ----------
        log
            A log of `Bandit.log` or `noregret run --log`: lines of JSON, compressed or not, or Parquet.
        model
            The model file that the log goes on from, if it says that it does.
        most_waiting
            Decisions that may wait for feedback at one time; beyond that the oldest is forgotten.
        memory
            Most memory that the learner's state may take, in MiB.

        Raises OSError if a file cannot be read, ValueError, with file and line, for a log that does not replay, MemoryError for a
        learner that is too large.
        """
        return cls._wrap(_core.Bandit.replay(log, model, most_waiting, memory))

    def predict_proba(self, x: Any) -> Floats:
        """The distribution that a label would be drawn from: shape (classes,) for one row, (rows, classes) for rows."""
        return self._predict(x, scores=False)

    def scores(self, x: Any) -> Floats:
        """Margins of the classes, in the shapes of `predict_proba`."""
        return self._predict(x, scores=True)

    def predict(self, x: Any) -> Any:
        """The class with the highest score, without exploration: an int for one row, else an array of shape (rows,)."""
        scores = self.scores(x)
        return scores.argmax(axis=1) if scores.ndim == 2 else int(scores.argmax())

    def _predict(self, x: Any, scores: bool) -> Floats:
        if _arrays.is_row(x):
            one: Floats = self._core.predict(_arrays.row(x)[None, :], scores)[0]
            return one
        return self._core.predict(_arrays.rows(x), scores)

    def run(self, x: Any, y: Any, *, probabilities: bool = False, seed: int = 0) -> Run:
        """Plays labelled rows in order and tells the learner no more than right or wrong: a simulation.

        Parameters
        ----------
        x, y
            Rows of shape (rows, features) and their classes or names, shape (rows,).
        probabilities
            Whether the distributions that labels were drawn from are kept.
        seed
            Seed of the draws; those of `decide` are left alone.

        Returns
        -------
        A `noregret.Run` whose losses are probabilities of a mistake (mistakes, for learners that draw nothing).

        Raises KeyboardInterrupt between two rounds; the rows before are learnt, and `rounds` counts them.
        """
        targets = _arrays.targets(y, False, self._names())
        found = self._core.run(_arrays.rows(x), targets, seed=seed, keep=probabilities)
        losses, kept, played, rates, truth = found
        return Run(losses, kept, played, rates, truth, list(self.labels), self.name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, with the decisions that wait. `noregret predict` reads it, and `noregret run --load` continues it.

        Raises OSError if it cannot be written, ValueError if the state holds numbers that are not finite.
        """
        self._core.save(path)

    @classmethod
    def load(cls: type[_B], path: str | os.PathLike[str]) -> _B:
        """The learner in a model file, written here or by `noregret run --feedback bandit --save`: labels go on being drawn as if
        it had never stopped.

        Raises OSError if it cannot be read, ValueError if it is no model file of a bandit learner or a damaged one.
        """
        return cls._wrap(_core.Bandit.load(path))
