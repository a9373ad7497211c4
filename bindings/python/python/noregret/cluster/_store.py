"""The store of learners by key: one SQLite file per partition, committed before every answer.

A batch is committed as rows of the log `events`; learners in memory are written as `models` when they are evicted, or
at a checkpoint, with the number of the last event that they have learnt. A learner is restored, bit for bit, from its
model and the later events of its key. Rows that wait for their labels are in `waiting`, until they are learnt as others are.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sqlite3
import sys
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
TEMPLATE = "template.safetensors"
"""The learner of a new key, if the first table determines it."""
WRITER = "writer"
"""A file that the driver locks while it has the store, with the number of drivers so far."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS models (key TEXT PRIMARY KEY, last INTEGER NOT NULL, state BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, what INTEGER NOT NULL, row BLOB, told TEXT, answer TEXT
);
CREATE INDEX IF NOT EXISTS events_by_key ON events (key, number);
CREATE TABLE IF NOT EXISTS numbered (source TEXT NOT NULL, batch INTEGER NOT NULL, method TEXT NOT NULL, first INTEGER,
    last INTEGER, digest TEXT, PRIMARY KEY (source, batch, method)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (number INTEGER PRIMARY KEY, key TEXT NOT NULL, id TEXT NOT NULL, row BLOB NOT NULL,
    played INTEGER NOT NULL, p BLOB NOT NULL, UNIQUE (key, id));
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""

LEARN, DECIDE, FEEDBACK, NOTHING = 0, 1, 2, 3
"""What an event is. The first two make a key, and the last changes no learner: a row begins to wait, or nothing waits for a label."""

NETWORK = {"9p", "afs", "beegfs", "ceph", "cifs", "gfs2", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb2", "smb3", "smbfs"}
"""File systems that several machines share, besides those of FUSE that are no disk's."""
DISKS = {"fuse.ext2", "fuse.fuse-overlayfs", "fuse.ntfs", "fuse.ntfs-3g", "fuse.overlay", "fuseblk"}
OBJECTS = {"fuse.gcsfuse", "fuse.goofys", "fuse.mount-s3", "fuse.rclone", "fuse.s3fs"}
"""File systems that are a store of objects, in which no part of a file is written."""
MOUNTS = Path("/proc/self/mountinfo")

Batch = tuple[str, int, str]
"""The source of a batch, its number there, and a digest of its content."""


def partition_of(key: str, partitions: int) -> int:
    """The file of `key`, by a hash that is the same on every machine and in every version."""
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % partitions


def journal_of(folder: Path) -> str:
    """How files in a folder are kept whole. A write-ahead log needs memory that its readers share, so that on a network the earlier content
    of what is written is kept in a second file instead.

    Raises ValueError where no file can be written in part.
    """
    kind = file_system_of(folder)
    if kind in OBJECTS:
        raise ValueError(f"{folder} is in a store of objects ({kind}), where no part of a file can be written; a folder of a disk or of a network was needed")
    return "TRUNCATE" if kind in NETWORK or (kind.startswith("fuse.") and kind not in DISKS) else "WAL"


def file_system_of(folder: Path) -> str:
    """The kind of the file system of a folder; empty where the system does not say."""
    try:
        lines = MOUNTS.read_text().splitlines()
    except OSError:
        return ""
    places = {}
    for line in lines:
        mount, _, system = line.partition(" - ")
        place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), mount.split(" ")[4])
        places[place] = system.split(" ")[0]  # The last of several at one place is the one that is seen.
    at = folder.resolve()
    return next((places[str(above)] for above in (at, *at.parents) if str(above) in places), "")


def connected(file: Path, **options: Any) -> sqlite3.Connection:
    """A file of the store, with the tables of this version."""
    connection: sqlite3.Connection = sqlite3.connect(file, **options)
    connection.execute(f"PRAGMA journal_mode = {journal_of(file.parent)}")
    connection.execute("PRAGMA synchronous = FULL")
    migrate(connection)
    return connection


class Store:
    """The description of a store, in a separate file."""

    @staticmethod
    def begin(folder: str, description: dict[str, Any]) -> tuple[dict[str, int], int]:
        """Makes the store, or checks its description. Returns the highest batch number of each source, and the number of the latest
        driver that has written."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        journal_of(path)  # Raises where no store can be.
        text = json.dumps(description, sort_keys=True, default=_number)
        file = path / DESCRIPTION
        if file.exists():
            known = json.loads(file.read_text())
            for name, value in json.loads(text).items():
                if known.get(name) != value:
                    raise ValueError(f"{file}: {name} = {value!r}: the store was made with {known.get(name)!r}")
        else:
            Store.write(file, text.encode())
        highest: dict[str, int] = {}
        newest = 0
        for part in path.glob("*.sqlite"):
            connection = connected(part)
            for source, batch in connection.execute("SELECT source, max(batch) FROM numbered GROUP BY source"):
                highest[source] = max(highest.get(source, 0), batch)
            newest = max(newest, *(writer for (writer,) in connection.execute("SELECT value FROM meta WHERE name = 'writer' UNION SELECT 0")))
            connection.close()
        return highest, newest

    @staticmethod
    def write(file: Path, content: bytes) -> None:
        """Writes a file, whole or not at all."""
        handle, scratch = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())  # A machine that fails would leave the name with nothing, and rows without their columns.
        os.replace(scratch, file)
        if os.name == "posix":  # Elsewhere a folder cannot be opened.
            folder = os.open(file.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    @staticmethod
    def read(folder: str) -> dict[str, Any]:
        """The description."""
        return dict(json.loads((Path(folder) / DESCRIPTION).read_text()))


def _number(setting: Any) -> Any:
    """A number of NumPy's among settings as one of Python."""
    if isinstance(setting, np.generic):
        return setting.item()
    raise TypeError(f"{setting!r} is of type {type(setting).__name__}, and a store keeps settings that are numbers, texts, or True and False")


def migrate(connection: sqlite3.Connection) -> None:
    """Brings the tables of an earlier version up to date: its batches had neither source nor digest."""
    connection.executescript(SCHEMA)
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'batches'").fetchone():
        connection.execute("INSERT OR IGNORE INTO numbered SELECT '', batch, method, first, last, NULL FROM batches")
        connection.execute("DROP TABLE batches")
    connection.commit()


def waits_already(key: str, id: str) -> str:
    """Why a row cannot wait under an id."""
    return f"another row of the key {key!r} waits under the id {id!r}; a row needs an id of its own until it has its label"


def _bytes(x: Any) -> bytes:
    return np.ascontiguousarray(x, dtype=np.float64).tobytes()


class Partitions:
    """The partitions of one actor: their files, and the learners in memory."""

    def __init__(
        self, folder: str, parts: Sequence[int], in_memory: int, in_memory_mib: float, most_waiting: int, writer: int
    ) -> None:
        about = Store.read(folder)
        self._most_waiting = max(most_waiting // int(about["partitions"]), 1)
        self._most_bytes = in_memory_mib * 2**20
        self._about, self._folder, self._most, self._writer = about, Path(folder), max(in_memory, 1), writer
        self._kind: Any = _core.Bandit if about["kind"] == "bandit" else _core.Learner
        self._template = b""
        self.begin()
        self._labels: list[str] = about["labels"]
        self._files: dict[int, sqlite3.Connection] = {}
        self._parts = list(parts)
        self._memory: OrderedDict[str, tuple[Any, int, bool]] = OrderedDict()
        """By key: the learner, the last event that it has learnt, and whether the store has an older one."""
        self._sizes: dict[str, int] = {}
        """The bytes of the learners in memory, after the last batch."""
        self._bytes = 0
        self._waiting: dict[int, int] = {}
        """The rows of every file that wait for their labels."""
        self._written: set[int] = set()
        """The files with something that is not committed."""
        self._loads = self._evictions = 0
        for part in self._parts:
            self._open(part)

    # Calls

    def begin(self) -> None:
        """Makes the learner of a new key, which the first table determines if the number of features is not given."""
        about, file = self._about, self._folder / TEMPLATE
        if about["features"] is not None:
            kind = Bandit if about["kind"] == "bandit" else Learner
            made = kind(about["learner"], features=about["features"], labels=about["labels"], **about["facts"])
            self._template = made._core.to_bytes()
        elif file.exists():
            self._template = file.read_bytes()

    def check_writer(self) -> None:
        """Refuses to go on where a later driver has opened the store."""
        for connection in self._files.values():
            self._check_writer(connection)

    def numbered(self, method: str, source: str, batch: int, keys: Sequence[str]) -> tuple[set[str | None], int]:
        """The digests of the batch with this number, and the highest number of a file that has rows for its keys to learn."""
        query = "SELECT digest FROM numbered WHERE source = ? AND batch = ? AND method = ?"
        asked = {self._part(key) for key in keys}
        digests: set[str | None] = set()
        last = 0
        for part, connection in self._files.items():
            found = connection.execute(query, (source, batch, method)).fetchone()
            if found is not None:
                digests.add(found[0])
            elif part in asked:
                last = max(last, self._last(connection, source))
        return digests, last

    def learn(self, batch: Batch, keys: Sequence[str], rows: Sequence[tuple[Any, str]]) -> list[tuple[str, float]]:
        """Predicts and learns rows; a learnt batch gets its earlier answer."""
        return self._work("learn", batch, keys, rows, self._learn)

    def predict(self, batch: Batch, keys: Sequence[str], rows: Sequence[tuple[Any]]) -> list[str]:
        """The most probable labels."""
        answers = []
        for key, (x,) in zip(keys, rows, strict=True):
            model = self._get(key, self._part(key))[0]
            answers.append(self._labels[int(np.argmax(model.predict_row(np.ascontiguousarray(x), True, True)))])
            if key not in self._sizes:
                self._shrink([key])
        self._commit()
        return answers

    def taken(self, keys: Sequence[str], rows: Sequence[tuple[Any, str]]) -> list[int]:
        """The places of rows under whose id another row of their key waits."""
        found = [self._find(key, self._part(key), id) for key, (_, id) in zip(keys, rows, strict=True)]
        return [at for at, (waits, (x, _)) in enumerate(zip(found, rows, strict=True)) if waits and waits[1] != _bytes(x)]

    def ask(self, batch: Batch, keys: Sequence[str], rows: Sequence[tuple[Any, str]]) -> list[str]:
        """Predicts rows, and keeps them until their labels; one that waits already gets its earlier answer."""
        return self._work("ask", batch, keys, rows, self._ask)

    def label(self, batch: Batch, keys: Sequence[str], rows: Sequence[tuple[str, str | None]]) -> list[tuple[str | None, float]]:
        """Learns rows that wait, by their ids."""
        return self._work("label", batch, keys, rows, self._label)

    def decide(self, batch: Batch, keys: Sequence[str], rows: Sequence[tuple[Any]]) -> list[tuple[str, float, str]]:
        """Plays labels."""
        return self._work("decide", batch, keys, rows, self._decide)

    def feedback(self, batch: Batch, keys: Sequence[str], rows: Sequence[tuple[str, bool]]) -> list[bool]:
        """Learns feedback."""
        return self._work("feedback", batch, keys, rows, self._feedback)

    def checkpoint(self) -> None:
        """Writes all learners in memory, and removes their events."""
        self.check_writer()
        for key in list(self._memory):
            self._write(key)
        for connection in self._files.values():
            behind = connection.execute(
                "SELECT DISTINCT key FROM events e WHERE number > coalesce((SELECT last FROM models m WHERE m.key = e.key), 0) "
                "AND what < ? AND key IN (SELECT key FROM models UNION SELECT key FROM events WHERE what < ?)",
                (NOTHING, FEEDBACK),
            ).fetchall()
            for (key,) in behind:  # Met, answered, and lost from memory in a crash before this.
                self._get(key, self._part(key))
                self._write(key)
                self._shrink([key])
            last = connection.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()[0]
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('last', max(?, coalesce((SELECT value FROM meta WHERE name = 'last'), 0)))", (last,))
            # A source repeats no batch but its last.
            connection.execute(
                "DELETE FROM numbered WHERE batch < (SELECT max(batch) FROM numbered n WHERE n.source = numbered.source)"
            )
            after = 0
            for first, last in connection.execute("SELECT first, last FROM numbered ORDER BY first").fetchall():
                connection.execute("DELETE FROM events WHERE number > ? AND number < ?", (after, first))
                after = last
            if after:
                connection.execute("DELETE FROM events WHERE number > ?", (after,))
            connection.commit()

    def count(self) -> int:
        """Number of keys."""
        query = "SELECT count(*) FROM (SELECT key FROM models UNION SELECT key FROM events WHERE what < ?)"
        return sum(connection.execute(query, (FEEDBACK,)).fetchone()[0] for connection in self._files.values())

    def counts(self) -> dict[str, int]:
        """See `KeyedLearners.counts`."""
        events = sum(one.execute("SELECT count(*) FROM events").fetchone()[0] for one in self._files.values())
        return {
            "keys": self.count(),
            "in_memory": len(self._memory),
            "bytes": self._bytes,
            "events": events,
            "loads": self._loads,
            "evictions": self._evictions,
            "waiting": sum(self._waiting.values()),
            "forgotten": sum(self._forgotten(connection) for connection in self._files.values()),
        }

    def model(self, key: str) -> bytes | None:
        """The model file of a key; None for an unknown key."""
        if not self._is_known(key, self._part(key)):
            return None
        content = bytes(self._get(key, self._part(key))[0].to_bytes())
        self._shrink([key])
        self._commit()
        return content

    def close(self) -> None:
        """Closes the files, which contain all answered batches."""
        for connection in self._files.values():
            connection.close()
        self._files = {}

    # One batch

    def _work(self, method: str, batch: Batch, keys: Sequence[str], rows: Sequence[Any], one: Any) -> list[Any]:
        source, count, digest = batch
        answers: list[Any] = [None] * len(keys)
        places: dict[int, list[int]] = {}
        for at, key in enumerate(keys):
            places.setdefault(self._part(key), []).append(at)
        fresh = []
        for part, mine in places.items():
            connection = self._files[part]
            self._check_writer(connection)
            said = connection.execute(
                "SELECT first, last FROM numbered WHERE source = ? AND batch = ? AND method = ?", (source, count, method)
            ).fetchone()
            if said is None:
                fresh.append((part, mine, connection))
                continue
            query = "SELECT answer FROM events WHERE number BETWEEN ? AND ? ORDER BY number"
            known = [json.loads(answer) for (answer,) in connection.execute(query, said)]
            for at, answer in zip(mine, known, strict=True):
                answers[at] = tuple(answer) if isinstance(answer, list) else answer
        try:
            for part, mine, connection in fresh:
                number = first = self._next(connection)
                events = []
                for at in mine:
                    self._written.add(part)
                    answers[at], event = one(keys[at], part, number, *rows[at])
                    if keys[at] not in self._sizes:
                        self._shrink([keys[at]])
                    events.append((number, keys[at], *event, json.dumps(answers[at])))
                    number += 1
                connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", events)
                connection.execute(
                    "INSERT INTO numbered VALUES (?, ?, ?, ?, ?, ?)", (source, count, method, first, number - 1, digest)
                )
            self._commit()
        except BaseException:
            # What was learnt of this batch is forgotten: the files say what was answered.
            for part in self._written:
                self._files[part].rollback()
                self._count_waiting(part)
            self._written = set()
            for key in keys:
                self._memory.pop(key, None)
                self._sized(key, 0)
            raise
        self._shrink(keys)
        self._commit()
        return answers

    @staticmethod
    def _last(connection: sqlite3.Connection, source: str) -> int:
        """The highest number of a batch of a source; 0 before the first."""
        return int(connection.execute("SELECT coalesce(max(batch), 0) FROM numbered WHERE source = ?", (source,)).fetchone()[0])

    def _check_writer(self, connection: sqlite3.Connection) -> None:
        """Refuses to write where a later driver has opened the store."""
        (writer,) = connection.execute("SELECT value FROM meta WHERE name = 'writer'").fetchone()
        if writer != self._writer:
            raise RuntimeError(f"{self._folder} was opened by another writer since: open it again to go on")

    def _learn(self, key: str, part: int, number: int, x: Any, y: str | None) -> tuple[Any, tuple[Any, ...]]:
        model, _, _ = self._get(key, part)
        row = np.ascontiguousarray(x, dtype=np.float64)
        answer = self._learn_row(model, row, y)
        self._memory[key] = (model, number, True)
        return answer, (LEARN, row.tobytes(), y)

    def _learn_row(self, model: Any, row: Any, y: str | None) -> tuple[str, float]:
        p = model.predict_row(row, False, True)  # NaN is a missing number of a table.
        played = int(np.argmax(p))
        if y is None:
            return self._labels[played], math.nan
        target = self._labels.index(y)
        model.learn_row(row, target, 1.0, True)
        return self._labels[played], self._loss(model, p, played, target)

    @staticmethod
    def _loss(model: Any, p: Any, played: int, target: int) -> float:
        """The loss of a forecast."""
        return -math.log(max(float(p[target]), 5e-324)) if model.forecast == "probabilities" else float(played != target)

    def _ask(self, key: str, part: int, number: int, x: Any, id: str) -> tuple[Any, tuple[Any, ...]]:
        row: Any = np.ascontiguousarray(x, dtype=np.float64)
        waits = self._find(key, part, id)
        if waits is not None and waits[1] != row.tobytes():
            raise ValueError(waits_already(key, id))
        if waits is not None:
            return self._labels[waits[2]], (NOTHING, None, None)
        model = self._get(key, part)[0]
        played = int(np.argmax(model.predict_row(row, True, True)))
        p = np.asarray(model.predict_row(row, False, True))
        connection = self._files[part]
        told = (number, key, id, row.tobytes(), played, p.tobytes())
        connection.execute("INSERT INTO waiting VALUES (?, ?, ?, ?, ?, ?)", told)
        self._waiting[part] += 1
        if self._waiting[part] > self._most_waiting:
            more = self._waiting[part] - self._most_waiting
            connection.execute("DELETE FROM waiting WHERE number IN (SELECT number FROM waiting ORDER BY number LIMIT ?)", (more,))
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('forgotten', ?)", (self._forgotten(connection) + more,))
            self._waiting[part] = self._most_waiting
        return self._labels[played], (NOTHING, None, None)

    def _label(self, key: str, part: int, number: int, id: str, y: str | None) -> tuple[Any, tuple[Any, ...]]:
        waits = self._find(key, part, id)
        if waits is None:  # It never came, is learnt, or was forgotten.
            return (None, math.nan), (NOTHING, None, None)
        at, content, played, p = waits
        self._files[part].execute("DELETE FROM waiting WHERE number = ?", (at,))
        self._waiting[part] -= 1
        if y is None:  # There will never be one.
            return (self._labels[played], math.nan), (NOTHING, None, None)
        model, target = self._get(key, part)[0], self._labels.index(y)
        model.learn_row(np.frombuffer(content), target, 1.0, True)
        self._memory[key] = (model, number, True)
        return (self._labels[played], self._loss(model, np.frombuffer(p), played, target)), (LEARN, content, y)

    def _find(self, key: str, part: int, id: str) -> tuple[int, bytes, int, bytes] | None:
        """The row that waits under an id of a key: its number, the row, the label that was played, and its forecast."""
        query = "SELECT number, row, played, p FROM waiting WHERE key = ? AND id = ?"
        found: tuple[int, bytes, int, bytes] | None = self._files[part].execute(query, (key, id)).fetchone()
        return found

    def _count_waiting(self, part: int) -> None:
        self._waiting[part] = self._files[part].execute("SELECT count(*) FROM waiting").fetchone()[0]

    @staticmethod
    def _forgotten(connection: sqlite3.Connection) -> int:
        """The rows that were forgotten before their labels."""
        found = connection.execute("SELECT value FROM meta WHERE name = 'forgotten'").fetchone()
        return 0 if found is None else int(found[0])

    def _decide(self, key: str, part: int, number: int, x: Any) -> tuple[Any, tuple[Any, ...]]:
        model, _, _ = self._get(key, part)
        row = np.ascontiguousarray(x, dtype=np.float64)
        played, _, probability, identity = model.decide((row[None, :], None))
        self._memory[key] = (model, number, True)
        label = self._labels[played]
        return (label, probability, str(identity)), (DECIDE, row.tobytes(), None)

    def _feedback(self, key: str, part: int, number: int, identity: str, correct: bool) -> tuple[Any, tuple[Any, ...]]:
        if not self._is_known(key, part):  # No decision was made for it.
            return False, (FEEDBACK, None, json.dumps([identity, correct]))
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

    def _is_known(self, key: str, part: int) -> bool:
        """Whether the key has learnt or decided something."""
        if key in self._memory and self._memory[key][2]:
            return True
        query = "SELECT 1 FROM models WHERE key = ? UNION SELECT 1 FROM events WHERE key = ? AND what < ?"
        return self._files[part].execute(query, (key, key, FEEDBACK)).fetchone() is not None

    def _get(self, key: str, part: int) -> tuple[Any, int, bool]:
        """The learner of a key: from memory, or from its model and the events after it."""
        if key in self._memory:
            self._memory.move_to_end(key)
            return self._memory[key]
        connection = self._files[part]
        found = connection.execute("SELECT last, state FROM models WHERE key = ?", (key,)).fetchone()
        last = 0
        if found is None and not self._template:
            raise RuntimeError("the learners are made by the first rows that are learnt, and there were none yet")
        if found is None:
            model = self._kind.from_bytes(self._template)
        else:
            last = found[0]
            model = self._kind.from_bytes(self._unpack(found[1]))
            self._loads += 1
        dirty = False
        query = "SELECT number, what, row, told FROM events WHERE key = ? AND number > ? AND what < ? ORDER BY number"
        for number, what, row, told in connection.execute(query, (key, last, NOTHING)):
            if what == LEARN:
                self._learn_row(model, np.frombuffer(row), told)
            elif what == DECIDE:
                model.decide((np.frombuffer(row)[None, :], None))
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

    def _shrink(self, touched: Sequence[str]) -> None:
        """Writes the least recently used learners, and removes them from memory; `_commit` makes that last. Those of the `touched` keys
        may have grown."""
        for key in dict.fromkeys(touched):
            self._sized(key, sys.getsizeof(self._memory[key][0]) if key in self._memory else 0)
        while len(self._memory) > self._most or (self._bytes > self._most_bytes and len(self._memory) > 1):
            key = next(iter(self._memory))
            self._write(key)
            self._written.add(self._part(key))
            del self._memory[key]
            self._sized(key, 0)
            self._evictions += 1

    def _sized(self, key: str, size: int) -> None:
        self._bytes += size - self._sizes.pop(key, 0)
        if size:
            self._sizes[key] = size

    def _commit(self) -> None:
        """Commits the files in which something was written."""
        for part in self._written:
            self._files[part].commit()
        self._written = set()

    def _pack(self, content: bytes) -> bytes:
        """Compresses model files: those of small learners are mostly headers, which are similar."""
        packer = zlib.compressobj(level=1, zdict=self._template[-32768:])
        return packer.compress(content) + packer.flush()

    def _unpack(self, content: bytes) -> bytes:
        unpacker = zlib.decompressobj(zdict=self._template[-32768:])
        return unpacker.decompress(content) + unpacker.flush()

    # Files

    def _part(self, key: str) -> int:
        return partition_of(key, int(self._about["partitions"]))

    def _open(self, part: int) -> None:
        # Engines may make and call an actor from different threads, one at a time.
        connection = connected(self._folder / f"{part:04}.sqlite", timeout=60.0, check_same_thread=False)
        newest = connection.execute("SELECT value FROM meta WHERE name = 'writer'").fetchone()
        if newest is None or newest[0] < self._writer:
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('writer', ?)", (self._writer,))
            connection.commit()
        self._files[part] = connection
        self._count_waiting(part)

    @staticmethod
    def _next(connection: sqlite3.Connection) -> int:
        """The number of the next event. Numbers are never reused, also after events were removed."""
        query = "SELECT max(coalesce((SELECT max(number) FROM events), 0), coalesce((SELECT value FROM meta WHERE name = 'last'), 0))"
        return int(connection.execute(query).fetchone()[0]) + 1
