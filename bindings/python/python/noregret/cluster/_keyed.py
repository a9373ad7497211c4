"""One small learner for each of millions of keys, distributed over actors: recently used ones are in memory, the others
in a store."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._arrays import Floats
from ._engine import Actor, Engine
from ._store import Partitions, Store

PARTITIONS = 64
"""Default number of files of a store. It bounds the number of actors and is fixed for a store."""


def partition_of(key: str, partitions: int) -> int:
    """The file of `key`, by a hash that is the same on every machine and in every version."""
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % partitions


@dataclass(frozen=True)
class Learnt:
    """The result of a batch, by row. Every prediction was made before its label was used."""

    played: list[str]
    """The predicted labels."""
    losses: Floats
    """Log loss in nats; 1 for a mistake if the learner does not forecast probabilities."""


class _Keyed:
    """Actors that share the files of a store."""

    _kind: str

    def __init__(
        self,
        folder: str | os.PathLike[str],
        learner: str,
        *,
        features: int,
        labels: Sequence[str],
        actors: int = 2,
        in_memory: int = 10_000,
        partitions: int = PARTITIONS,
        engine: Engine | None = None,
        **facts: Any,
    ) -> None:
        if engine is None:
            from ._engine import LocalEngine

            engine = LocalEngine()
        if not 1 <= actors <= partitions:
            raise ValueError(f"actors = {actors}: must be between 1 and partitions = {partitions}")
        self._engine, self._partitions, self._batch = engine, partitions, 0
        description = {
            "kind": self._kind,
            "learner": learner,
            "features": features,
            "labels": [str(label) for label in labels],
            "partitions": partitions,
            "facts": facts,
        }
        path = str(Path(folder).absolute())
        self._batch = Store.begin(path, description)
        mine = [[part for part in range(partitions) if part % actors == at] for at in range(actors)]
        self._actors: list[Actor] = engine.actors(Partitions, [(path, parts, in_memory) for parts in mine])

    def _spread(self, keys: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
        """The positions of a batch for each actor, in order."""
        places: dict[int, list[int]] = {}
        for at, key in enumerate(keys):
            places.setdefault(partition_of(key, self._partitions) % len(self._actors), []).append(at)
        yield from places.items()

    def _call(self, method: str, keys: Sequence[str], *columns: Any, batch: int | None) -> list[Any]:
        """Sends every row of a batch to its actor and returns the answers in the order of the rows."""
        if batch is None:
            self._batch += 1
            batch = self._batch
        elif batch < 1:
            raise ValueError(f"batch = {batch}: must be 1 or more")
        self._batch = max(self._batch, batch)
        for column in columns:
            if len(column) != len(keys):
                raise ValueError(f"{len(column)} rows for {len(keys)} keys; as many were needed")
        names = [str(key) for key in keys]
        waiting = []
        for actor, places in self._spread(names):
            rows = [tuple(column[at] for column in columns) for at in places]
            waiting.append((places, self._actors[actor].call(method, batch, [names[at] for at in places], rows)))
        answers: list[Any] = [None] * len(names)
        for places, handle in waiting:
            for at, answer in zip(places, self._engine.get(handle), strict=True):
                answers[at] = answer
        return answers

    def checkpoint(self) -> None:
        """Writes all learners in memory into the store and removes the rows that they have learnt, which makes a
        restart faster. Not needed for durability."""
        for handle in [actor.call("checkpoint") for actor in self._actors]:
            self._engine.get(handle)

    def __len__(self) -> int:
        """Number of keys."""
        return sum(self._engine.get(handle) for handle in [actor.call("count") for actor in self._actors])

    def counts(self) -> dict[str, int]:
        """Counts of the actors: `keys`, `in_memory`, `events` since the last checkpoint, `loads` and `evictions`."""
        total: dict[str, int] = {}
        for handle in [actor.call("counts") for actor in self._actors]:
            for name, value in self._engine.get(handle).items():
                total[name] = total.get(name, 0) + value
        return total

    def get(self, key: str) -> Any:
        """A copy of the learner of `key`. Raises KeyError for an unknown key."""
        from .._bandit import Bandit
        from .._core import Bandit as CoreBandit
        from .._core import Learner as CoreLearner
        from .._learner import Learner

        actor = self._actors[partition_of(str(key), self._partitions) % len(self._actors)]
        content = self._engine.get(actor.call("model", str(key)))
        if content is None:
            raise KeyError(key)
        if self._kind == "bandit":
            return Bandit._wrap(CoreBandit.from_bytes(content))
        return Learner._wrap(CoreLearner.from_bytes(content))

    def close(self) -> None:
        """Stops the actors. The store can be opened again, with any number of actors."""
        for handle in [actor.call("close") for actor in self._actors]:
            self._engine.get(handle)
        self._engine.stop(self._actors)
        self._actors = []

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class KeyedLearners(_Keyed):
    """A full-information learner for every key, such as a customer, sensor or shop.

    A batch is answered after its rows are committed to the store, so that no answered batch is lost when a machine
    fails. Each key's learner is bit-equal to one that learnt the rows of its key alone, whatever was evicted, killed or
    restored.

    Parameters
    ----------
    folder
        The store: files that all actors of the cluster can read and write.
    learner, features, labels, **facts
        As in `noregret.Learner`; the same for all keys.
    actors
        Number of processes with learners; may differ when a store is opened again.
    in_memory
        Number of learners that one actor keeps in memory; the least recently used are written to the store.
    partitions
        Number of files of the store, fixed when it is made; at least `actors`.
    engine
        The engine of the actors; this process by default.

    Examples
    --------
    >>> import tempfile
    >>> from noregret.cluster import KeyedLearners
    >>> with KeyedLearners(tempfile.mkdtemp(), "ogd", features=2, labels=["no", "yes"], actors=1) as keyed:
    ...     learnt = keyed.learn(["a", "b"] * 5, [[1.0, 0.0]] * 10, ["no", "yes"] * 5)
    ...     keyed.predict(["a", "b"], [[1.0, 0.0]] * 2)
    ['no', 'yes']
    """

    _kind = "learner"

    def learn(self, keys: Sequence[str], x: Any, y: Iterable[Any], *, batch: int | None = None) -> Learnt:
        """Predicts every row with the learner of its key, and then learns it.

        Parameters
        ----------
        keys, x, y
            Keys, rows of shape (rows, features), and labels.
        batch
            The number of this batch. If an answer was lost, repeat the batch with its number: a learnt batch is
            answered again and not learnt twice. By default one more than the last.
        """
        rows = np.ascontiguousarray(x, dtype=np.float64)
        answers = self._call("learn", keys, rows, [str(label) for label in y], batch=batch)
        return Learnt([played for played, _ in answers], np.array([loss for _, loss in answers]))

    def predict(self, keys: Sequence[str], x: Any) -> list[str]:
        """The most probable label of every row. Unknown keys have the prediction of a new learner."""
        rows = np.ascontiguousarray(x, dtype=np.float64)
        return self._call("predict", keys, rows, batch=None)


class KeyedBandits(_Keyed):
    """A bandit for every key, with feedback by decision id. Parameters as in `KeyedLearners`."""

    _kind = "bandit"

    def decide(self, keys: Sequence[str], x: Any, *, batch: int | None = None) -> list[tuple[str, float, str]]:
        """A label, its probability and the decision's id, for every row. `batch` as in `KeyedLearners.learn`."""
        rows = np.ascontiguousarray(x, dtype=np.float64)
        return self._call("decide", keys, rows, batch=batch)

    def feedback(
        self, keys: Sequence[str], ids: Sequence[str], correct: Sequence[bool], *, batch: int | None = None
    ) -> list[bool]:
        """Learns from feedback. Returns False for an id that is not pending."""
        for one in correct:
            if not isinstance(one, bool | np.bool_):
                raise TypeError(f"correct: {one!r} is neither True nor False")
        return self._call("feedback", keys, [str(id) for id in ids], [bool(one) for one in correct], batch=batch)
