"""What is done where the rows of a shard are: they are read, counted, learnt, summed up, scored."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import _arrays, _core, _tables, _targets, _written
from .._arrays import Floats, Ints, Rows

Block = Any
"""Rows in their order: a pair `(x, y)` of rows (an array or a table) and labels, or a pandas or Arrow table with both."""

Model = np.ndarray[Any, Any]
"""The bytes of a learner."""

_MIXED = "blocks: a table in one block, an array in another; all must be of one kind: rows with names, texts or missing numbers are tables"


class Reading(NamedTuple):
    """How blocks are read."""

    label: str
    """The column of labels, in tables."""
    columns: Sequence[str] | None
    """The columns to learn from; None for all others."""
    schema: str | None = None
    """What the columns of tables hold; None for arrays."""
    labels: tuple[str, ...] | None = None
    """The names of the classes, in order; None for numbers as targets."""
    told: Mapping[str, Sequence[str]] = {}
    """The roles that columns were given, words that count as missing besides the usual ones, and words that are values."""
    stand_ins: Floats | None = None
    """What stands for missing numbers of every column; None if it is 0."""
    real: bool = False
    """Whether targets are numbers, of which there may be as many as rows."""


class Part(NamedTuple):
    """Some of the rows of a shard."""

    first: int
    """The number of the shard's first row among the rows of all shards."""
    start: int
    """The first row of the part, counted from the shard's first."""
    stop: int
    """The row after the last one."""
    share: float
    """The share of rows that are held out, which are spread evenly over the rows of all shards."""


class Numbers(NamedTuple):
    """A block of a table as numbers, with the classes of its rows."""

    rows: Rows
    targets: Floats | Ints


@dataclass
class Seen:
    """Facts about rows, from the first pass."""

    rows: int
    columns: int
    labels: dict[str, Any]
    """The labels by name, in order."""
    first: Floats
    second: Floats
    standard: bool
    there: Floats
    """How many numbers the columns have, if they are standardised: the statistics are those of these."""
    schema: str | None = None
    """What the columns of a table hold; None for arrays."""
    notes: list[str] = field(default_factory=list)
    """Remarks on cells, by their rows in a block."""
    apart: str = ""
    """Why the labels of some parts are not those of others; empty if they may be."""
    zones: dict[str, list[str]] = field(default_factory=dict)
    """The zones of the first times of every block, by the columns of times."""


def kinds(reading: Reading, samples: Mapping[str, Any], *blocks: Block) -> tuple[str, bool, list[str]] | None:
    """The schema of the first table (empty for arrays), whether later rows may have more features, and its columns without any cell, of
    which nobody has said what they hold. `samples` are cells for such columns."""
    for block in blocks:
        x, y = _rows(block, reading)
        if not len(y):
            continue
        if not isinstance(x, _tables.Table):
            return "", False, []
        filled = [[samples[name], *cells[1:]] if name in samples else cells for name, cells in zip(x.names, x.cells, strict=True)]
        schema = _schema_of(x._replace(cells=filled), list(y), reading)
        told = {name for role in _tables.ROLES for name in reading.told.get(role, ())} | set(x.categorical)
        bare = [name for name, cells in zip(x.names, x.cells, strict=True) if name not in told and _first(cells) is None]
        return schema, any(field["role"] in ("categorical", "text", "time") for field in _fields(schema)), bare
    return None


def roles_in(reading: Reading, names: Sequence[str], *blocks: Block) -> dict[str, tuple[str, Any]]:
    """What these columns hold, by the first table of the shard in which they have a cell, with this cell."""
    found: dict[str, tuple[str, Any]] = {}
    unnamed = {name: words if name in _tables.MISSING else [] for name, words in reading.told.items()}
    alone = reading._replace(told=unnamed)  # Roles are those of other columns.
    for block in blocks:
        x, y = _rows(block, reading)
        if not isinstance(x, _tables.Table) or not len(y):
            continue
        for name in set(x.names) & set(names) - set(found):
            cell = _first(x.cells[x.names.index(name)])
            if cell is not None:
                fields = _fields(_schema_of(x.only([name]), list(y), alone))
                found |= {name: (field["role"], cell) for field in fields if field["name"] == name}
    return found


def _schema_of(x: _tables.Table, y: list[Any], reading: Reading) -> str:
    """What the columns of a table hold."""
    target = _tables.free("label", x.names)
    return _core.table_schema(x.given(target, y), {"label": target, **_tables.roles(reading.told, x)})[0]


def _first(cells: Sequence[Any]) -> Any:
    """The first cell that is not missing; None without one."""
    values = (cell.as_py() if hasattr(cell, "as_py") else cell for cell in cells)
    return next((cell for cell in values if not (_arrays.is_missing(cell) or (isinstance(cell, str) and not cell))), None)


def features(reading: Reading, *blocks: Block) -> str:
    """The schema with the features of all rows of a shard."""
    schema = reading.schema or ""
    for block in blocks:
        x, y = _rows(block, reading)
        if not isinstance(x, _tables.Table):
            raise ValueError(_MIXED)
        if len(y):
            _, schema, _ = _core.table_rows(_alike(x, schema).given(), schema)
    return schema


def joined(a: str, b: str) -> str:
    """The schema with the features of both."""
    return _core.joined_schema(a, b)


def look(reading: Reading, scale: str, intercept: bool, *blocks: Block) -> Seen:
    """The first pass over a shard."""
    seen: Seen | None = None
    for block in blocks:
        x, y = _rows(block, reading)
        if not len(y):
            continue
        numbers, notes = _numbers(x, reading.schema, holes=True)
        rows, first, second, _, there = _core.survey(numbers, None, scale, intercept)
        distinct = () if reading.real else _arrays.distinct(_targets.labels(y))[0]
        _targets.check_types(distinct, {})
        labels = {_name(one): one for one in distinct}
        width = numbers.shape[1] if isinstance(numbers, np.ndarray) else numbers[3]
        one = Seen(rows, width, sorted_labels(labels), np.asarray(first), np.asarray(second), scale == "standard", np.asarray(there))
        one.notes, one.zones = notes, _zones(x, reading.schema)
        seen = one if seen is None else join(seen, one)
    return seen or Seen(0, 0, {}, np.empty(0), np.empty(0), scale == "standard", np.empty(0))


def join(a: Seen, b: Seen) -> Seen:
    """The merged facts."""
    if a.rows == 0 or b.rows == 0:
        return a if b.rows == 0 else b
    if a.columns != b.columns:
        raise ValueError(f"columns: {b.columns} in one block; must be {a.columns}, as in the first")
    first, second, there = a.first, a.second, a.there
    if a.standard:
        there = a.there + b.there
        share = b.there / np.maximum(there, 1.0)
        deviation = b.first - a.first
        first = a.first + deviation * share
        second = a.second + b.second + deviation * deviation * share * a.there
    elif len(a.first):
        first = np.maximum(a.first, b.first)
    _targets.check_types(b.labels.values(), a.labels)
    labels = sorted_labels({**b.labels, **a.labels})
    zones = {name: sorted({*a.zones.get(name, ()), *b.zones.get(name, ())}) for name in (a.zones | b.zones)}
    apart = a.apart or b.apart or _apart(list(a.labels.values()), list(b.labels.values()))
    return Seen(a.rows + b.rows, a.columns, labels, first, second, a.standard, there, notes=a.notes + b.notes, apart=apart, zones=zones)


def _zones(x: Any, schema: str | None) -> dict[str, list[str]]:
    """The zone of the first time of each column of times."""
    if not isinstance(x, _tables.Table) or schema is None:
        return {}
    times = {field["name"] for field in _fields(schema) if field["role"] == "time"}
    first = {name: next((cell for cell in column if cell is not None), None) for name, column in zip(x.names, x.cells, strict=True) if name in times}
    return {name: [str(cell.tzinfo or "none")] for name, cell in first.items() if isinstance(cell, datetime.datetime)}


def _apart(a: Sequence[Any], b: Sequence[Any]) -> str:
    """Says that one part has truth values where another has 0 and 1. They are different labels, and of parts that were read otherwise
    the same ones."""
    for one, other in ((a, b), (b, a)):
        truths = [label for label in one if not isinstance(label, str)]
        if not truths or not all(isinstance(label, bool | np.bool_) for label in truths):
            continue
        numbers = [label for label in other if not isinstance(label, bool | np.bool_) and label in (0, 1)]
        if numbers and not any(isinstance(label, bool | np.bool_) for label in other):
            return (
                f"the labels are truth values in one part, such as {truths[0]}, and numbers in another, such as {numbers[0]}, which would be two "
                "classes; write all as truth values or all as numbers (or as texts, if they are different classes)"
            )
    return ""


def settle(seen: Seen) -> Floats | None:
    """Makes the statistics those of all rows, with what stands for missing numbers, which is returned; None if it is 0."""
    if not seen.standard:
        return None
    first, second, stand_ins = _core.settled(seen.rows, seen.there.tolist(), seen.first.tolist(), seen.second.tolist())
    seen.first, seen.second = np.asarray(first), np.asarray(second)
    return np.asarray(stand_ins) if (seen.there < seen.rows).any() else None


def numbered(reading: Reading, *blocks: Block) -> Numbers:
    """The rows of a shard of tables as numbers, which every pass would have to read again."""
    parts = list(_blocks(reading, blocks))
    if not parts:
        return Numbers(np.zeros((0, 0)), np.zeros(0, dtype=np.int64))
    if all(isinstance(rows, np.ndarray) for rows, _ in parts):
        return Numbers(np.concatenate([rows for rows, _ in parts]), np.concatenate([y for _, y in parts]))
    starts = [np.zeros(1, dtype=np.int64)]
    for rows, _ in parts:
        starts.append(rows[2][1:] + starts[-1][-1])
    values, indices = (np.concatenate([rows[at] for rows, _ in parts]) for at in (0, 1))
    return Numbers((values, indices, np.concatenate(starts), parts[0][0][3]), np.concatenate([y for _, y in parts]))


def is_sparse(*blocks: Numbers) -> bool:
    """Whether the rows of a shard are mostly zeros."""
    return any(isinstance(block.rows, tuple) for block in blocks if len(block.targets))


def reach(model: Model, reading: Reading, *blocks: Block) -> Floats:
    """The largest norm of a row as the learner sees it, and then the largest magnitude of every feature."""
    core = _core.Learner.from_bytes(model.tobytes())
    found = [np.concatenate([[norm], largest]) for norm, largest in (_core.reach(core, rows) for rows, _ in _blocks(reading, blocks))]
    return np.max(found, axis=0) if found else np.zeros(1 + core.features + core.intercept)


def learn(
    model: Model, base: Floats | None, kept: bool, part: Part, reading: Reading, seed: int, *blocks: Block
) -> tuple[Floats, dict[str, float]]:
    """Learns a part of a shard, from the learner with the statistics `base`; returns its scores and, if `kept`, its
    statistics."""
    core = _core.Learner.from_bytes(model.tobytes())
    if base is not None:
        core = core.with_statistics(aligned(base), 1, "lambda-once")
    scores = [_summed(core.run(rows, y, seed=seed, frozen=True)[3]) for rows, y in part_of(part, False, reading, blocks)]
    return core.statistics() if kept else np.empty(0), total(scores)


def sums(model: Model, at: Floats, part: Part, reading: Reading, *blocks: Block) -> Floats:
    """The loss of the linear predictor `at` on a part of a shard, with its gradient and Hessian."""
    core = _core.Learner.from_bytes(model.tobytes())
    found = [_core.sums(core, rows, y, aligned(at)) for rows, y in part_of(part, False, reading, blocks)]
    n = len(at)
    return sum(found[1:], start=found[0]) if found else np.zeros(1 + n + n * (n + 1) // 2)


def score(model: Model, part: Part, reading: Reading, *blocks: Block) -> dict[str, float]:
    """The sums of errors and losses of a learner on the rows of a part that are held out; it learns nothing."""
    core = _core.Learner.from_bytes(model.tobytes())
    scores = []
    for rows, y in part_of(part, True, reading, blocks):
        if reading.labels is None:
            lost = (core.predict(rows, True)[:, 0] - y) ** 2
            scores.append({"rounds": float(len(y)), "squared_loss": float(lost.sum())})
        else:
            scores.append(scored(core, rows, y.astype(np.int64)))
    return total(scores)


def scored(core: _core.Learner, rows: Rows, y: Ints) -> dict[str, float]:
    """The sums of errors and losses on rows, of those that have a class."""
    labelled = y != _arrays.UNLABELLED
    p, y = core.predict(rows, False)[labelled], y[labelled]
    lost = -np.log(np.maximum(p[np.arange(len(y)), y], np.finfo(np.float64).tiny))
    errors = float((p.argmax(axis=1) != y).sum())
    return {"rounds": float(len(y)), "errors": errors, "error_rate": errors, "log_loss": float(lost.sum())}


def add(a: Floats, b: Floats) -> Floats:
    return a + b


def larger(a: Floats, b: Floats) -> Floats:
    return np.maximum(a, b)


def rebase(total: Floats, base: Floats, shards: int) -> Floats:
    """The sum of the statistics of all shards, with the common start `base` counted once."""
    return total - (shards - 1) * base


def aligned(numbers: Floats) -> Floats:
    """Contiguous copies, if needed: some engines return views into their messages."""
    return np.require(numbers, np.float64, ["C_CONTIGUOUS", "ALIGNED"])


def total(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Scores, which are sums, added up."""
    total: dict[str, float] = {}
    for score in scores:
        for name, value in score.items():
            total[name] = total.get(name, 0) + value
    return total


def _blocks(reading: Reading, blocks: Sequence[Block]) -> Iterator[tuple[Rows, Floats | Ints]]:
    """The blocks of a shard as numbers."""
    for block in blocks:
        if isinstance(block, Numbers):
            if len(block.targets):
                yield block
            continue
        x, y = _rows(block, reading)
        if len(y):
            rows, _ = _numbers(x, reading.schema, holes=reading.stand_ins is not None)
            if reading.stand_ins is not None and isinstance(rows, np.ndarray):
                rows = np.where(np.isnan(rows), reading.stand_ins, rows)
            yield rows, targets(y, reading)


def part_of(part: Part, held_out: bool, reading: Reading, blocks: Sequence[Block]) -> Iterator[tuple[Rows, Floats | Ints]]:
    """The rows of a part that are held out, or the others."""
    at = 0
    for rows, y in _blocks(reading, blocks):
        places = np.arange(max(part.start - at, 0), min(part.stop - at, len(y)))
        numbers = part.first + at + places
        at += len(y)
        chosen = places[(np.floor((numbers + 1) * part.share) > np.floor(numbers * part.share)) == held_out]
        if len(chosen) == len(y):
            yield rows, y
        elif len(chosen):
            yield picked(rows, chosen), np.ascontiguousarray(y[chosen])


def picked(rows: Rows, places: Ints) -> Rows:
    """Some of the rows."""
    if isinstance(rows, np.ndarray):
        return np.ascontiguousarray(rows[places])
    values, indices, starts, width = rows
    lengths = np.diff(starts)
    kept = np.zeros(len(lengths), dtype=bool)
    kept[places] = True
    entries = np.repeat(kept, lengths)
    return values[entries], indices[entries], np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64), width


def targets(y: Any, reading: Reading) -> Floats | Ints:
    """The numbers of the classes of labels; numbers as they are."""
    if reading.labels is None:
        return np.ascontiguousarray(y, dtype=np.float64)
    values, places = _arrays.distinct(_targets.labels(y))
    index = {name: at for at, name in enumerate(reading.labels)}
    # The first pass has found every class: other labels are words for a missing one.
    return _arrays.placed([index.get(_name(value), _arrays.UNLABELLED) for value in values], places)


def _numbers(x: Any, schema: str | None, holes: bool = False) -> tuple[Rows, list[str]]:
    """Rows as numbers; those of tables by their schema, with remarks on cells. With `holes`, missing ones are NaN in dense rows, and
    otherwise 0."""
    if not isinstance(x, _tables.Table):
        if schema is not None:
            raise ValueError(_MIXED)
        return x if isinstance(x, tuple) else _arrays.rows(x), []
    if schema is None:
        raise ValueError(_MIXED)
    sparse, _, notes = _core.table_rows(_alike(x, schema).given(), schema, holes)
    values, indices, starts, width = sparse
    if width > _core.DENSE:
        return _numbers(x, schema) if holes else (sparse, notes)
    rows = np.zeros((len(starts) - 1, width))
    rows[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), indices] = values
    return rows, notes


def _alike(x: _tables.Table, schema: str) -> _tables.Table:
    """The table with categories that are numbers written as in the schema, in which shards that do not know of each other agree."""
    roles = {field["name"]: field["role"] for field in _fields(schema)}
    return _written.alike(x, roles, lambda: json.loads(schema)["columns"].get("named", ()), whole=True)


def _summed(rates: Mapping[str, float]) -> dict[str, float]:
    """Means over rounds, as sums."""
    rounds = rates["rounds"]
    return {name: value if name in ("rounds", "errors") else value * rounds for name, value in rates.items()}


def _rows(block: Block, reading: Reading) -> tuple[Any, Any]:
    """The rows, an array or a table, and the labels of a block."""
    x, y = _halves(block, reading)
    count = _count(x)
    if count is not None and count != len(y):
        raise ValueError(f"a block has {count} rows and {len(y)} labels; as many were needed")
    if reading.columns is not None and not isinstance(x, _tables.Table) and isinstance(block, tuple):
        raise TypeError("columns: for tables only, since the columns of an array have no names")
    return x, y


def _count(x: Any) -> int | None:
    """The number of rows; None for a table without columns, which does not know it."""
    if isinstance(x, _tables.Table):
        return x.rows if x.names else None
    return len(x) if isinstance(x, np.ndarray) else len(x[2]) - 1


def _halves(block: Block, reading: Reading) -> tuple[Any, Any]:
    """The rows and the labels of a block, as they are."""
    label, columns = reading.label, reading.columns
    alone = isinstance(block, Mapping) and set(block) == {"x", label} and list(columns or ["x"]) == ["x"]
    if alone and np.ndim(block["x"]) == 2:
        return np.asarray(block["x"]), np.asarray(block[label])
    if isinstance(block, tuple):
        x, y = block
        told = _has_places(reading.schema) or any(reading.told.values())
        if not (told or _tables.is_table(x) or _tables.has_texts(x) or _tables.has_holes(x)):
            return _arrays.rows(x), y
        table = _tables.table(x if _tables.is_table(x) else np.asarray(x))
        table = table if columns is None else table.only(columns)
        if len(y):
            _check_names(x, table, reading)
        return table, y
    table, label = _tables.table(block), _tables.trimmed(label)
    if not table.names:  # An empty block may have lost its columns.
        return table, []
    if label not in table.names:
        raise ValueError(f"label = {label!r}: the columns are {', '.join(table.names)}")
    y, table = table.cells[table.names.index(label)], table.without(label)
    table = table if columns is None else table.only(columns)
    _check_names(block, table, reading)
    vectors = table.cells[0] if len(table.names) == 1 else []
    if vectors and all(isinstance(cell, list) and not any(isinstance(x, str) for x in cell) for cell in vectors):
        return np.array(vectors, dtype=np.float64), y
    return table, y


def _has_places(schema: str | None) -> bool:
    """Whether a schema is that of an array, whose columns are called by their places."""
    fields = [] if schema is None else _fields(schema)
    return bool(fields) and all(field["name"].isdecimal() for field in fields if field["role"] not in ("label", "weight"))


def _fields(schema: str) -> list[dict[str, Any]]:
    """The columns of a table, with their names and roles."""
    return list(json.loads(schema)["csv"]["fields"])


def _check_names(x: Any, table: _tables.Table, reading: Reading) -> None:
    """Refuses a frame that has other columns than the first one: what a worker warns of is seen by nobody."""
    if reading.schema is None or not (isinstance(x, Mapping) or _tables.column_names(x)) or table.nests:
        return
    roles = {field["name"]: field["role"] for field in _fields(reading.schema)}
    missing = [name for name, role in roles.items() if role not in ("label", "weight", "drop") and name not in table.names]
    if missing:
        raise ValueError(f"x has no column {missing[0]!r}, which the first table had")
    new = [name for name in table.names if name not in roles]
    if new:
        raise ValueError(f"x has a column {new[0]!r}, which the first table did not have; columns= names those to learn from")


def _name(label: Any) -> str:
    """The name of a class: 1.0 and 1 are the same."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


def sorted_labels(labels: Mapping[str, Any]) -> dict[str, Any]:
    """Labels sorted as by the command line: numbers by value, then words."""

    def order(name: str) -> tuple[int, float, str]:
        try:
            return 0, float(name), name
        except ValueError:
            return 1, 0.0, name

    return {name: labels[name] for name in sorted(labels, key=order)}
