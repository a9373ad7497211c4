"""The store of learners by key: one SQLite file per partition, committed before every answer.

A batch is committed as rows of the log `events`; learners in memory are written as `models` when they are evicted, or
at a checkpoint, with the number of the last event that they have learnt. A learner is restored, bit for bit, from its
model and the later events of its key.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import tempfile
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from .._bandit import Bandit
from .._learner import Learner

DESCRIPTION = "store.json"

SCHEMA = """
CREATE TABLE IF NOT EXISTS models (key TEXT PRIMARY KEY, last INTEGER NOT NULL, state BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, what INTEGER NOT NULL, row BLOB, told TEXT, answer TEXT
);
CREATE INDEX IF NOT EXISTS events_by_key ON events (key, number);
CREATE TABLE IF NOT EXISTS batches (batch INTEGER NOT NULL, method TEXT NOT NULL, first INTEGER, last INTEGER,
    PRIMARY KEY (batch, method)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""

LEARN, DECIDE, FEEDBACK = 0, 1, 2


class Store:
    """The description of a store, in a separate file."""

    @staticmethod
    def begin(folder: str, description: dict[str, Any]) -> int:
        """Makes the store, or checks its description. Returns the highest batch number in it."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        text = json.dumps(description, sort_keys=True)
        file = path / DESCRIPTION
        if file.exists():
            known = json.loads(file.read_text())
            for name, value in json.loads(text).items():
                if known.get(name) != value:
                    raise ValueError(f"{file}: {name} = {value!r}: the store was made with {known.get(name)!r}")
        else:
            handle, scratch = tempfile.mkstemp(dir=path)
            with os.fdopen(handle, "w") as out:
                out.write(text)
            os.replace(scratch, file)
        highest = 0
        for part in path.glob("*.sqlite"):
            connection = sqlite3.connect(part)
            found = connection.execute("SELECT max(batch) FROM batches").fetchone()[0]
            highest = max(highest, found or 0)
            connection.close()
        return highest

    @staticmethod
    def read(folder: str) -> dict[str, Any]:
        """The description."""
        return dict(json.loads((Path(folder) / DESCRIPTION).read_text()))


class Partitions:
    """The partitions of one actor: their files, and the learners in memory."""

    def __init__(self, folder: str, parts: Sequence[int], in_memory: int) -> None:
        about = Store.read(folder)
        self._about, self._folder, self._most = about, Path(folder), max(in_memory, 1)
        facts = dict(about["facts"])
        kind = Bandit if about["kind"] == "bandit" else Learner
        self._kind: Any = _core.Bandit if about["kind"] == "bandit" else _core.Learner
        self._template = kind(about["learner"], features=about["features"], labels=about["labels"], **facts)._core.to_bytes()
        self._labels: list[str] = about["labels"]
        self._files: dict[int, sqlite3.Connection] = {}
        self._parts = list(parts)
        self._memory: OrderedDict[str, tuple[Any, int, bool]] = OrderedDict()
        """By key: the learner, the last event that it has learnt, and whether the store has an older one."""
        self._loads = self._evictions = 0
        for part in self._parts:
            self._open(part)

    # Calls

    def learn(self, batch: int, keys: Sequence[str], rows: Sequence[tuple[Any, str]]) -> list[tuple[str, float]]:
        """Predicts and learns rows; a learnt batch gets its earlier answer."""
        return self._work("learn", batch, keys, rows, self._learn)

    def predict(self, batch: int, keys: Sequence[str], rows: Sequence[tuple[Any]]) -> list[str]:
        """The most probable labels."""
        answers = []
        for key, (x,) in zip(keys, rows, strict=True):
            model = self._get(key, self._part(key))[0]
            answers.append(self._labels[int(np.argmax(model.predict_row(np.ascontiguousarray(x), True)))])
        return answers

    def decide(self, batch: int, keys: Sequence[str], rows: Sequence[tuple[Any]]) -> list[tuple[str, float, str]]:
        """Plays labels."""
        return self._work("decide", batch, keys, rows, self._decide)

    def feedback(self, batch: int, keys: Sequence[str], rows: Sequence[tuple[str, bool]]) -> list[bool]:
        """Learns feedback."""
        return self._work("feedback", batch, keys, rows, self._feedback)

    def checkpoint(self) -> None:
        """Writes all learners in memory, and removes their events."""
        for key in list(self._memory):
            self._write(key)
        for connection in self._files.values():
            behind = connection.execute(
                "SELECT DISTINCT key FROM events e WHERE number > coalesce((SELECT last FROM models m WHERE m.key = e.key), 0)"
            ).fetchall()
            for (key,) in behind:  # Met, answered, and lost from memory in a crash before this.
                self._get(key, self._part(key))
                self._write(key)
            last = connection.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()[0]
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('last', max(?, coalesce((SELECT value FROM meta WHERE name = 'last'), 0)))", (last,))
            newest = connection.execute("SELECT max(batch) FROM batches").fetchone()[0]
            if newest is not None:  # A caller repeats no batch but its last.
                connection.execute("DELETE FROM events WHERE number < (SELECT coalesce(min(first), 0) FROM batches WHERE batch = ?)", (newest,))
                connection.execute("DELETE FROM batches WHERE batch < ?", (newest,))
            connection.commit()

    def count(self) -> int:
        """Number of keys."""
        query = "SELECT count(*) FROM (SELECT key FROM models UNION SELECT key FROM events)"
        return sum(connection.execute(query).fetchone()[0] for connection in self._files.values())

    def counts(self) -> dict[str, int]:
        """See `KeyedLearners.counts`."""
        events = sum(one.execute("SELECT count(*) FROM events").fetchone()[0] for one in self._files.values())
        return {
            "keys": self.count(),
            "in_memory": len(self._memory),
            "events": events,
            "loads": self._loads,
            "evictions": self._evictions,
        }

    def model(self, key: str) -> bytes | None:
        """The model file of a key; None for an unknown key."""
        connection = self._files[self._part(key)]
        query = "SELECT 1 FROM models WHERE key = ? UNION SELECT 1 FROM events WHERE key = ?"
        if connection.execute(query, (key, key)).fetchone() is None:
            return None
        return bytes(self._get(key, self._part(key))[0].to_bytes())

    def close(self) -> None:
        """Closes the files, which contain all answered batches."""
        for connection in self._files.values():
            connection.close()
        self._files = {}

    # One batch

    def _work(self, method: str, batch: int, keys: Sequence[str], rows: Sequence[Any], one: Any) -> list[Any]:
        answers: list[Any] = [None] * len(keys)
        places: dict[int, list[int]] = {}
        for at, key in enumerate(keys):
            places.setdefault(self._part(key), []).append(at)
        for part, mine in places.items():
            connection = self._files[part]
            said = connection.execute(
                "SELECT first, last FROM batches WHERE batch = ? AND method = ?", (batch, method)
            ).fetchone()
            if said is not None:
                query = "SELECT answer FROM events WHERE number BETWEEN ? AND ? ORDER BY number"
                known = [json.loads(answer) for (answer,) in connection.execute(query, said)]
                for at, answer in zip(mine, known, strict=True):
                    answers[at] = tuple(answer) if isinstance(answer, list) else answer
                continue
            number = first = self._next(connection)
            events = []
            try:
                for at in mine:
                    answers[at], event = one(keys[at], part, number, *rows[at])
                    events.append((number, keys[at], *event, json.dumps(answers[at])))
                    number += 1
                connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", events)
                connection.execute("INSERT INTO batches VALUES (?, ?, ?, ?)", (batch, method, first, number - 1))
                connection.commit()
            except BaseException:
                connection.rollback()
                for at in mine:  # What was learnt of this batch is forgotten: the files say what was answered.
                    self._memory.pop(keys[at], None)
                raise
            self._shrink()
        return answers

    def _learn(self, key: str, part: int, number: int, x: Any, y: str) -> tuple[Any, tuple[Any, ...]]:
        model, _, _ = self._get(key, part)
        row = np.ascontiguousarray(x, dtype=np.float64)
        answer = self._learn_row(model, row, y)
        self._memory[key] = (model, number, True)
        return answer, (LEARN, row.tobytes(), y)

    def _learn_row(self, model: Any, row: Any, y: str) -> tuple[str, float]:
        try:
            target = self._labels.index(y)
        except ValueError:
            raise ValueError(f"the label {y!r} is none of the known classes: {', '.join(self._labels[:10])}") from None
        p = model.predict_row(row, False)
        played = int(np.argmax(p))
        loss = -math.log(max(float(p[target]), 5e-324)) if model.forecast == "probabilities" else float(played != target)
        model.learn_row(row, target, 1.0)
        return self._labels[played], loss

    def _decide(self, key: str, part: int, number: int, x: Any) -> tuple[Any, tuple[Any, ...]]:
        model, _, _ = self._get(key, part)
        row = np.ascontiguousarray(x, dtype=np.float64)
        played, _, probability, identity = model.decide((row, None))
        self._memory[key] = (model, number, True)
        label = self._labels[played]
        return (label, probability, str(identity)), (DECIDE, row.tobytes(), None)

    def _feedback(self, key: str, part: int, number: int, identity: str, correct: bool) -> tuple[Any, tuple[Any, ...]]:
        model, _, _ = self._get(key, part)
        heard = self._hear(model, identity, correct)
        self._memory[key] = (model, number, True)
        return heard, (FEEDBACK, None, json.dumps([identity, correct]))

    def _hear(self, model: Any, identity: str, correct: bool) -> bool:
        try:
            model.feedback(identity, correct)
        except KeyError:
            return False
        return True

    # Learners

    def _get(self, key: str, part: int) -> tuple[Any, int, bool]:
        """The learner of a key: from memory, or from its model and the events after it."""
        if key in self._memory:
            self._memory.move_to_end(key)
            return self._memory[key]
        connection = self._files[part]
        found = connection.execute("SELECT last, state FROM models WHERE key = ?", (key,)).fetchone()
        last = 0
        if found is None:
            model = self._kind.from_bytes(self._template)
        else:
            last = found[0]
            model = self._kind.from_bytes(self._unpack(found[1]))
            self._loads += 1
        dirty = False
        query = "SELECT number, what, row, told FROM events WHERE key = ? AND number > ? ORDER BY number"
        for number, what, row, told in connection.execute(query, (key, last)):
            if what == LEARN:
                self._learn_row(model, np.frombuffer(row), told)
            elif what == DECIDE:
                model.decide((np.frombuffer(row), None))
            else:
                self._hear(model, *json.loads(told))
            last, dirty = number, True
        self._memory[key] = (model, last, dirty)
        return self._memory[key]

    def _write(self, key: str) -> None:
        model, last, dirty = self._memory[key]
        if not dirty:
            return
        connection = self._files[self._part(key)]
        connection.execute("INSERT OR REPLACE INTO models VALUES (?, ?, ?)", (key, last, self._pack(model.to_bytes())))
        self._memory[key] = (model, last, False)

    def _shrink(self) -> None:
        """Writes the least recently used learners, and removes them from memory."""
        touched = set()
        while len(self._memory) > self._most:
            key = next(iter(self._memory))
            self._write(key)
            touched.add(self._part(key))
            del self._memory[key]
            self._evictions += 1
        for part in touched:
            self._files[part].commit()

    def _pack(self, content: bytes) -> bytes:
        """Compresses model files: those of small learners are mostly headers, which are similar."""
        packer = zlib.compressobj(level=1, zdict=self._template[-32768:])
        return packer.compress(content) + packer.flush()

    def _unpack(self, content: bytes) -> bytes:
        unpacker = zlib.decompressobj(zdict=self._template[-32768:])
        return unpacker.decompress(content) + unpacker.flush()

    # Files

    def _part(self, key: str) -> int:
        from ._keyed import partition_of

        return partition_of(key, int(self._about["partitions"]))

    def _open(self, part: int) -> None:
        # Engines may make and call an actor from different threads, one at a time.
        file = self._folder / f"{part:04}.sqlite"
        connection = sqlite3.connect(file, timeout=60.0, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(SCHEMA)
        connection.commit()
        self._files[part] = connection

    @staticmethod
    def _next(connection: sqlite3.Connection) -> int:
        """The number of the next event. Numbers are never reused, also after events were removed."""
        query = "SELECT max(coalesce((SELECT max(number) FROM events), 0), coalesce((SELECT value FROM meta WHERE name = 'last'), 0))"
        return int(connection.execute(query).fetchone()[0]) + 1
