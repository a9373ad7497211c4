"""One small learner for each of millions of keys, distributed over actors: recently used ones are in memory, the others
in a store."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import _arrays, _core, _tables, _targets, _written
from .._arrays import Floats
from .._offers import named
from ._engine import Actor, Engine
from ._keys import Types, ids_of, is_text, listed, name_of, names_of
from ._lease import Lease
from ._store import TEMPLATE, WRITER, Partitions, Store, partition_of, waits_already

COLUMNS = "columns.json"
"""The names of the columns of the first table, if the number of features is given."""
_SHOWN = 5
"""Rows that an error lists."""

LAST_BATCH = 2**62
"""The largest number of a batch."""

PARTITIONS = 64
"""Default number of files of a store. It bounds the number of actors and is fixed for a store."""


@dataclass(frozen=True)
class Learnt:
    """The result of a batch, by row. Every prediction was made before its label was used."""

    played: list[Any]
    """The predicted labels, as they were given; None where `label` found no row that waits."""
    losses: Floats
    """Log loss in nats; 1 for a mistake if the learner does not forecast probabilities; NaN for rows without a label."""


class _Keyed:
    """Actors that share the files of a store."""

    _kind: str

    def __init__(
        self,
        folder: str | os.PathLike[str],
        learner: str,
        *,
        features: int | None = None,
        labels: Sequence[Any],
        actors: int = 2,
        in_memory: int = 10_000,
        in_memory_mib: float = 1024,
        partitions: int = PARTITIONS,
        engine: Engine | None = None,
        **facts: Any,
    ) -> None:
        if engine is None:
            from ._engine import LocalEngine

            engine = LocalEngine()
        if not 1 <= actors <= partitions:
            raise ValueError(f"actors = {actors}: must be between 1 and partitions = {partitions}")
        if in_memory_mib <= 0:
            raise ValueError(f"in_memory_mib = {in_memory_mib}: must be above 0")
        # A bandit bounds its decisions by itself.
        most_waiting = facts.pop("most_waiting", 1_000_000) if self._kind == "learner" else 1
        if isinstance(most_waiting, bool) or not isinstance(most_waiting, int) or most_waiting < 1:
            raise ValueError(f"most_waiting = {most_waiting!r}: must be a whole number above 0")
        if "class_weight" in facts:
            raise TypeError("class_weight: keyed learners take no weights of classes")
        self._given = named(labels)
        description: dict[str, Any] = {
            "kind": self._kind,
            "learner": learner,
            "features": features,
            "labels": list(self._given),
            "partitions": partitions,
            "facts": facts,
        }
        self._turn = threading.RLock()
        """Calls of several threads take turns: batches have an order, and their numbers."""
        path = Path(folder).absolute()
        path.mkdir(parents=True, exist_ok=True)
        self._about, self._path = description, path
        taken = f"{path} is open already, by this or another process; close() it there first: two writers would lose batches"
        self._lease = Lease(path / WRITER, taken)
        try:
            self._engine, self._partitions = engine, partitions
            self._batches, newest = Store.begin(str(path), description)
            self._lease.follow(newest)
            self._types = Types(path)
            self._broken: tuple[str, str, str, int] | None = None
            """The last batch, with its number, if an actor failed."""
            self._core, self._columns = self._shared()
            self._new: tuple[Path, bytes] | None = None
            """What the first rows determine, until their batch is learnt, and its file."""
            mine = [[part for part in range(partitions) if part % actors == at] for at in range(actors)]
            calls = [(str(path), parts, in_memory, in_memory_mib, most_waiting, self._lease.number) for parts in mine]
            self._actors: list[Actor] = engine.actors(Partitions, calls)
        except BaseException:
            self._lease.close()
            raise

    def _shared(self) -> tuple[Any, list[str] | None]:
        """What the first rows have determined: a learner that knows the columns of a table, or names of columns."""
        template, columns = self._path / TEMPLATE, self._path / COLUMNS
        core = _core.Learner.from_bytes(template.read_bytes()) if template.exists() else None
        return core, json.loads(columns.read_text()) if columns.exists() else None

    # Rows

    def _rows(self, x: Any, y: Sequence[Any] | None = None, *, waits: bool = False) -> Floats:
        """Rows as numbers, the columns of tables in the order of the first one that is kept. `y` are the labels of rows that are learnt, and
        `waits` tells of rows that wait for theirs."""
        self._new = None  # A batch that was refused has determined nothing.
        x = _tables.sparse(_tables.whole(x), dense=True)
        x = _tables.given(x if self._about["features"] is not None else _tables.by_name(_tables.whole(x)))
        if self._about["features"] is None:
            return self._sound(self._of_table(x, y))
        if not _tables.is_table(x) or _tables.is_row(x):
            rows = np.ascontiguousarray(_arrays.numbers(x, "x"), dtype=np.float64)
            return self._checked(rows)
        table = _tables.table(x)
        names = sorted(table.names)
        if self._columns is None and (waits or y is not None):
            self._new = self._path / COLUMNS, json.dumps(table.names).encode()
        known = table.names if self._columns is None else self._columns
        if names != sorted(known):
            raise ValueError(f"x has the columns {', '.join(table.names)}; those of the first table were needed: {', '.join(known)}")
        cells = [[np.nan if cell is None else cell for cell in table.cells[table.names.index(name)]] for name in known]
        for name, column in zip(known, cells, strict=True):
            wrong = next((cell for cell in column if isinstance(cell, str | list | dict)), None)
            if wrong is not None:
                raise TypeError(f"column {name!r} has {wrong!r}; numbers were needed (without features= tables may have texts)")
        return self._checked(np.ascontiguousarray(np.column_stack(cells), dtype=np.float64))

    def _checked(self, rows: Floats) -> Floats:
        features = self._about["features"]
        if rows.ndim != 2 or rows.shape[1] != features:
            raise ValueError(f"x has shape {rows.shape}; rows of features = {features} columns were needed")
        wrong = np.argwhere(~np.isfinite(rows))
        if len(wrong):
            at, column = wrong[0].tolist()
            raise ValueError(
                f"x[{at}]: column {column} has the value {rows[at, column]}; a finite number was needed (without features= the first "
                "rows determine the columns, which may have missing values)"
            )
        return self._sound(rows)

    @staticmethod
    def _sound(rows: Floats) -> Floats:
        """Refuses what a learner refuses, such as values that are too large, before any row of the batch is learnt."""
        if len(rows):
            _core.survey(rows, None, "none", False)
        return rows

    def _of_table(self, x: Any, y: Sequence[Any] | None) -> Floats:
        """Rows of a table as numbers, by the learner that the first table has determined."""
        count = _tables.bare(x)
        table = _tables.blank("label", count) if count is not None else _tables.table(x if _tables.is_table(x) else np.asarray(x))
        if self._core is not None and count is None and not _tables.is_table(x):
            table = table._replace(names=_tables.in_places(dict(_core.roles(self._core)), len(table.names), "first table"))
        if self._core is None:
            if table.rows == 0 and count is None:
                return np.zeros((0, 0))
            if y is None:
                raise RuntimeError("the columns are determined by the first rows that are learnt, and there were none yet")
            made = self._made(table if count is None else _tables.Table([], [], []), y)
            self._new = self._path / TEMPLATE, made
        core = self._core if self._new is None else _core.Learner.from_bytes(self._new[1])
        roles = [name for name, role in _core.roles(core) if role not in ("label", "drop")]
        missing = [name for name in roles if name not in table.names]
        if roles and count is not None:
            raise ValueError(f"x has {count} rows without columns; the {len(roles)} of the first table were needed: {', '.join(roles[:10])}")
        if missing:
            raise ValueError(f"x has no column {missing[0]!r}, which the first table had")
        (values, indices, starts, width), notes = _core.learner_rows(core, _written.as_known(table, core).given())
        _tables.tell(notes, 4)
        rows = np.zeros((len(starts) - 1, width))
        rows[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), indices] = values
        return rows

    def _begin(self) -> None:
        """Writes what the first rows have determined, before they are learnt."""
        if self._new is None:
            return
        for handle in [actor.call("check_writer") for actor in self._actors]:
            self._engine.get(handle)
        (file, content), self._new = self._new, None
        Store.write(file, content)
        self._core, self._columns = self._shared()
        for handle in [actor.call("begin") for actor in self._actors]:
            self._engine.get(handle)

    def _made(self, table: _tables.Table, y: Sequence[Any]) -> bytes:
        raise TypeError("features: the number of columns must be given")

    def _call(self, method: str, keys: Sequence[Any], *columns: Any, batch: int | None, source: str = "") -> list[Any]:
        """Sends every row of a batch to its actor and returns the answers in the order of the rows."""
        self._running()
        names, types = self._keys(keys)
        for column in columns:
            if len(column) != len(names):
                raise ValueError(f"{len(column)} rows for {len(names)} keys; as many were needed")
        rows = list(zip(*columns, strict=True))
        if not isinstance(source, str) or not is_text(source):
            raise TypeError(f"source = {source!r}: a text was needed")
        digest = _digest(names, rows)
        last = self._batches.get(source, 0)
        if batch is not None:
            if isinstance(batch, bool) or not isinstance(batch, int | np.integer):
                raise TypeError(f"batch = {batch!r}: a whole number was needed")
            if not 1 <= batch <= LAST_BATCH:
                raise ValueError(f"batch = {batch}: must be from 1 to {LAST_BATCH}")
            batch = int(batch)
        known = batch is not None and batch <= last and method != "predict" and self._is_learnt(method, source, batch, digest, names)
        if method == "ask" and not known:
            self._check_ids(names, rows)
        if method in ("learn", "ask", "decide"):  # The others make no keys.
            self._begin()
            self._types.keep(types)
        count = last + 1 if batch is None else batch
        if batch is None and self._broken == (method, source, digest, last):
            count = last  # Once more a batch without a number that failed: some actors may have learnt their rows.
        if method != "predict":
            self._batches[source] = max(last, count)
            self._broken = (method, source, digest, count)
        waiting = []
        for actor, places in self._spread(names):
            mine = [names[at] for at in places], [rows[at] for at in places]
            waiting.append((places, self._actors[actor].call(method, (source, count, digest), *mine)))
        answers: list[Any] = [None] * len(names)
        for places, handle in waiting:
            for at, answer in zip(places, self._engine.get(handle), strict=True):
                answers[at] = answer
        self._broken = None if method != "predict" else self._broken
        return answers

    def _check_ids(self, names: list[str], rows: list[tuple[Any, ...]]) -> None:
        """Refuses rows under the ids of others that wait, before any row of the batch does."""
        first: dict[tuple[str, str], bytes] = {}
        wrong = [at for at, (key, (x, id)) in enumerate(zip(names, rows, strict=True)) if first.setdefault((key, id), x.tobytes()) != x.tobytes()]
        asked = []
        for actor, places in self._spread(names):
            mine = [names[at] for at in places], [rows[at] for at in places]
            asked.append((places, self._actors[actor].call("taken", *mine)))
        wrong += [places[at] for places, handle in asked for at in self._engine.get(handle)]
        if wrong:
            at = min(wrong)
            raise ValueError(f"row {at}: {waits_already(names[at], rows[at][1])}")

    def _is_learnt(self, method: str, source: str, batch: int, digest: str, names: list[str]) -> bool:
        """Whether a batch is known by its number. Refuses one that other rows have, or that a later batch has overtaken, before any row
        is learnt."""
        asked = [actor.call("numbered", method, source, batch, names) for actor in self._actors]
        found = [self._engine.get(handle) for handle in asked]
        known = set().union(*(digests for digests, _ in found))
        if known - {None} and digest not in known:
            raise ValueError(
                f"batch = {batch}: other rows were learnt under this number; a repeated batch has the rows of the first, and a new one "
                "a new number"
            )
        last = max(self._batches[source] if not known else 0, *(later for _, later in found))
        if last > batch:
            raise ValueError(
                f"batch = {batch}: the numbers of a source increase, and batch {last} was learnt; a source of its own (source=...) has "
                "numbers of its own"
            )
        return bool(known)

    def _keys(self, keys: Sequence[Any]) -> tuple[list[str], dict[str, str]]:
        """The names of keys, and the types that are kept with them."""
        found = listed(keys)
        return names_of(found), self._types.check(found)

    def _labels(self, keys: Sequence[Any], y: Any) -> list[str | None]:
        """The names of labels, None where one is missing.

        Raises ValueError that lists the rows of unknown labels, with their keys.
        """
        given = [None if _arrays.is_missing(label) else label for label in _targets.column(_targets.labels(y), "y")]
        given = _targets.known_as(given, self._given.values())
        _targets.check_types({(type(label), label): label for label in given if label is not None}.values(), self._given)
        names = [None if label is None else _targets.text_of(label) for label in given]
        words = (list(map(str, self._about["facts"].get(name, ()))) for name in _tables.MISSING)
        absent = _arrays.absent([name for name in names if name is not None], self._given, *words)
        names = [None if name in absent else name for name in names]
        wrong = [at for at, name in enumerate(names) if name is not None and name not in self._given]
        if wrong:
            rows = [f"row {at} (key {str(keys[at])!r}) has {names[at]!r}" for at in wrong[:_SHOWN] if at < len(keys)]
            more = f", and {len(wrong) - _SHOWN} more rows are like it" if len(wrong) > _SHOWN else ""
            raise ValueError(
                f"nothing was learnt, because {', '.join(rows)}{more}; the label is none of the {len(self._given)} known classes: "
                f"{', '.join(self._given)}; labels= of a new store names all classes"
            )
        return names

    def _spread(self, keys: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
        """The positions of a batch for each actor, in order."""
        places: dict[int, list[int]] = {}
        for at, key in enumerate(keys):
            places.setdefault(partition_of(key, self._partitions) % len(self._actors), []).append(at)
        yield from places.items()

    def _running(self) -> list[Actor]:
        """The actors. Raises RuntimeError after `close`."""
        if not self._actors:
            raise RuntimeError("the store is closed; a new one of the same folder goes on")
        return self._actors

    def checkpoint(self) -> None:
        """Writes all learners in memory into the store and removes the rows that they have learnt, which makes a
        restart faster. Not needed for durability."""
        with self._turn:
            for handle in [actor.call("checkpoint") for actor in self._running()]:
                self._engine.get(handle)

    def __len__(self) -> int:
        """Number of keys."""
        with self._turn:
            return sum(self._engine.get(handle) for handle in [actor.call("count") for actor in self._running()])

    def counts(self) -> dict[str, int]:
        """Counts of the actors: `keys`, `in_memory` and their `bytes`, `events` since the last checkpoint, `loads` and `evictions`, and the
        rows that are `waiting` for their labels or were `forgotten` before."""
        total: dict[str, int] = {}
        with self._turn:
            for handle in [actor.call("counts") for actor in self._running()]:
                for name, value in self._engine.get(handle).items():
                    total[name] = total.get(name, 0) + value
        return total

    def get(self, key: Any) -> Any:
        """A copy of the learner of `key`. Raises KeyError for an unknown key, as the text `"1"` is if keys are numbers."""
        from .._bandit import Bandit
        from .._core import Bandit as CoreBandit
        from .._core import Learner as CoreLearner
        from .._learner import Learner

        (name,) = names_of([key])
        with self._turn:
            actors = self._running()
            actor = actors[partition_of(name, self._partitions) % len(actors)]
            content = self._engine.get(actor.call("model", name)) if self._types.may_be(key) else None
        if content is None:
            raise KeyError(key)
        if self._kind == "bandit":
            bandit = Bandit._wrap(CoreBandit.from_bytes(content))
            bandit._given, bandit._frame = dict(self._given), self._columns
            return bandit
        learner = Learner._wrap(CoreLearner.from_bytes(content))
        learner._values, learner._frame = dict(self._given), self._columns
        return learner

    def close(self) -> None:
        """Stops the actors. The store can be opened again, with any number of actors."""
        with self._turn:
            for handle in [actor.call("close") for actor in self._actors]:
                self._engine.get(handle)
            self._engine.stop(self._actors)
            self._actors = []
            self._lease.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class KeyedLearners(_Keyed):
    """A full-information learner for every key, such as a customer, sensor or shop.

    A batch is learnt as a whole or, if one of its rows cannot be, not at all; it is answered after its rows are
    committed to the store, so that no answered batch is lost when a machine fails. One process at a time has a store,
    and its threads take turns. Each key's learner is bit-equal to one that learnt the rows of its key alone, whatever
    was evicted, killed or restored.

    Parameters
    ----------
    folder
        The store: files that all actors of the cluster can read and write.
    learner, labels, **facts
        As in `noregret.Learner`; the same for all keys.
    features
        Number of columns. None: the first table that is learnt determines the columns and what they hold, as for
        `noregret.Learner`; texts, categories, times and missing values are allowed then.
    actors
        Number of processes with learners; may differ when a store is opened again.
    in_memory
        Number of learners that one actor keeps in memory between two batches; the least recently used are written to the store.
    in_memory_mib
        Largest size of these learners, in MiB: one `auto` takes some. The last one stays, however large.
    partitions
        Number of files of the store, fixed when it is made; at least `actors`.
    most_waiting
        Number of rows that wait for their labels, in the store; its files have equal shares, and each forgets its oldest beyond that.
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

    def learn(self, keys: Sequence[Any], x: Any, y: Any, *, batch: int | None = None, source: str = "") -> Learnt:
        """Predicts every row with the learner of its key, and then learns it.

        Parameters
        ----------
        keys, x, y
            Keys, none of which may be missing; rows of shape (rows, features), or a table, whose columns are matched by name;
            and labels. Rows without a label (None, NaN) are predicted and not learnt.
        batch
            The number of this batch. If an answer was lost, repeat the batch with its number: a learnt batch is
            answered again and not learnt twice. By default one more than the last. Numbers of a source increase.
        source
            What sends the batch: every source has numbers of its own.

        Raises
        ------
        ValueError
            For an invalid row, an unknown label (with row and key), or other rows under the number of a learnt batch; nothing
            is learnt then.
        RuntimeError
            If another process has opened the store since.
        """
        _tables.check_index(x, stacklevel=3, keys=keys, y=y)
        keys = listed(keys)
        with self._turn:
            labels = self._labels(keys, y)
            answers = self._call("learn", keys, self._rows(x, labels), labels, batch=batch, source=source)
        return Learnt([self._given[played] for played, _ in answers], np.array([loss for _, loss in answers]))

    def predict(
        self, keys: Sequence[Any], x: Any, *, ids: Sequence[Any] | None = None, batch: int | None = None, source: str = ""
    ) -> list[Any]:
        """The most probable label of every row. Unknown keys have the prediction of a new learner, and stay unknown.

        Parameters
        ----------
        keys, x
            As in `learn`.
        ids
            Texts or numbers, by which `label` learns the rows when their labels are known: the store keeps them until then. Each key
            has ids of its own. A row that waits under its id already gets its first prediction again.
        batch, source
            As in `learn`; only with `ids`.

        Raises
        ------
        ValueError
            For an invalid row, or an id under which another row of the key waits; none of the batch waits then.
        """
        _tables.check_index(x, stacklevel=3, keys=keys, ids=ids)
        if ids is None:
            if batch is not None or source:
                raise TypeError("batch and source: only with ids, as nothing else is written")
            with self._turn:
                return [self._given[played] for played in self._call("predict", keys, self._rows(x), batch=None)]
        with self._turn:
            answers = self._call("ask", keys, self._rows(x, waits=True), ids_of(ids), batch=batch, source=source)
        return [self._given[played] for played in answers]

    def label(self, keys: Sequence[Any], ids: Sequence[Any], y: Any, *, batch: int | None = None, source: str = "") -> Learnt:
        """Learns rows that `predict` was given with ids, in the order of the labels. The losses are those of the earlier forecasts.

        A row is learnt once, also if its label comes again: nothing waits under its id then, as under one that never came or was forgotten
        (`most_waiting`). A missing label (None, NaN) says that there will be none: the row is forgotten.

        Parameters
        ----------
        keys, ids, y
            The keys and ids of the rows, and their labels.
        batch, source
            As in `learn`.

        Raises
        ------
        ValueError
            For an unknown label, with row and key; nothing is learnt then.
        """
        keys = listed(keys)
        with self._turn:
            answers = self._call("label", keys, ids_of(ids), self._labels(keys, y), batch=batch, source=source)
        played = [None if label is None else self._given[label] for label, _ in answers]
        return Learnt(played, np.array([loss for _, loss in answers]))

    def _made(self, table: _tables.Table, y: Sequence[Any]) -> bytes:
        facts, label = dict(self._about["facts"]), _tables.free("label", table.names)
        roles = _tables.reading(**{name: facts.pop(name, ()) for name in (*_tables.ROLES, *_tables.MISSING)})
        known = ("radius", "horizon", "seed", "scale", "memory")
        asked: dict[str, Any] = {"radius": None, "horizon": None, "seed": 0, "scale": None, "memory": 8192}
        asked |= {name: facts.pop(name) for name in known if name in facts}
        asked |= {"name": self._about["learner"], "classes": None, "labels": list(self._given), "ahead": True, "bandit": False}
        asked["intercept"] = facts.pop("intercept", True)
        made, _ = _core.learner_for_table(asked, facts, table.given(label, list(y)), {"label": label, **_tables.roles(roles, table)})
        return made.to_bytes()


class KeyedBandits(_Keyed):
    """A bandit for every key, with feedback by decision id. Parameters as in `KeyedLearners`."""

    _kind = "bandit"

    def decide(
        self, keys: Sequence[Any], x: Any, *, batch: int | None = None, source: str = ""
    ) -> list[tuple[Any, float, str]]:
        """A label, its probability and the decision's id, for every row. `batch` and `source` as in `KeyedLearners.learn`."""
        _tables.check_index(x, stacklevel=3, keys=keys)
        with self._turn:
            answers = self._call("decide", keys, self._rows(x, ()), batch=batch, source=source)
        return [(self._given[label], probability, id) for label, probability, id in answers]

    def feedback(
        self, keys: Sequence[Any], ids: Sequence[str], correct: Sequence[bool], *, batch: int | None = None, source: str = ""
    ) -> list[bool]:
        """Learns from feedback. Returns False for an id that is not pending, or of an unknown key, which stays unknown."""
        for one in correct:
            if not isinstance(one, bool | np.bool_):
                raise TypeError(f"correct: {one!r} is neither True nor False")
        told = [name_of(id) for id in ids], [bool(one) for one in correct]
        with self._turn:
            return self._call("feedback", keys, *told, batch=batch, source=source)


def _digest(keys: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    """A digest of the rows of a batch, by which another one under its number is recognised."""
    digest = hashlib.blake2b(digest_size=16)
    for key, row in zip(keys, rows, strict=True):
        cells = (cell.tobytes() if isinstance(cell, np.ndarray) else repr(cell).encode() for cell in row)
        digest.update(b"\0".join([key.encode(), *cells]) + b"\1")
    return digest.hexdigest()
