"""Learning on shards: every shard learns its rows in order, and the learners' statistics are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _arrays, _core, _tables
from .._arrays import Floats, Ints, Rows
from .._kinds import number_of_classes
from .._learner import Learner
from ._engine import Engine, Handle

Block = Any
"""Rows in their order: a pair `(x, y)` of rows (an array or a table) and labels, or a pandas or Arrow table with both."""

_DENSE = 1024
"""Largest number of columns of tables that are dense."""
_MIXED = "blocks: a table in one block, an array in another; all must be of one kind"


@dataclass(frozen=True)
class Fitted:
    """The result of learning on shards."""

    learner: Learner
    """The merged learner, an ordinary learner."""
    rates: dict[str, float]
    """Test-then-train rates, named as in the command line: every row was predicted before it was learnt, by its shard's
    learner, which had seen the earlier rows of its shard and, of other shards, those before the last merge."""
    shards: list[dict[str, float]]
    """The same for every shard."""
    periods: list[dict[str, float]]
    """The same for every period, over all shards; a single one without `period`."""
    certificate: float | None
    """Upper bound on the total regret of all predictions, in nats, against any linear predictor in the theorem's ball;
    None if there is none."""
    withheld: str | None
    """Why there is no certificate."""
    labels: list[Any] = field(default_factory=list)
    """The labels in order."""

    def __repr__(self) -> str:
        rates = ", ".join(f"{name}={value:.6g}" for name, value in self.rates.items())
        promise = f"certificate={self.certificate:.6g}" if self.certificate is not None else "certificate withheld"
        return f"Fitted({self.learner!r}, shards={len(self.shards)}, {rates}, {promise})"


def fit(
    blocks: Sequence[Sequence[Handle]],
    learner: str = "folklore",
    *,
    engine: Engine,
    label: str = "y",
    columns: Sequence[str] | None = None,
    period: int | None = None,
    how: str = "lambda-once",
    scale: str = "standard",
    intercept: bool = True,
    radius: float | None = None,
    seed: int = 0,
    **params: float | int | str | bool | None,
) -> Fitted:
    """Learns on shards.

    A first pass finds classes, columns and scaling statistics, so that all shards use the same units; the second one
    learns. Statistics are packed triangular matrices, added in a tree whose shape depends only on the number of shards:
    results are bit-equal whatever the timing, and after a machine was lost.

    Parameters
    ----------
    blocks
        For every shard its blocks in order, as handles of the engine or values: pairs `(x, y)`, or tables. Tables may have
        texts, categories, times and missing values, as for `noregret.Learner`: the first rows determine what their columns
        hold, and the merged learner knows them by name. Rows without a label (None, NaN) are not learnt.
    learner
        A learner with additive statistics: `folklore`, `aioli`, `gaf`, `vaw`.
    label, columns
        For tables: the label column, and the columns to learn from; by default all others.
    period
        Number of rows that every shard learns between two merges; all shards continue from the merged learner. By
        default there is one merge, at the end.
    how
        `lambda-once` counts the regulariser once, `sum-all` once per shard (without `period`).
    scale, intercept, radius, seed, **params
        As in `noregret.Learner`.

    Raises
    ------
    ValueError
        For a learner without additive statistics, and for invalid rows.
    """
    if how == "sum-all" and period is not None:
        raise ValueError("how = 'sum-all': with a period the regulariser is counted once; 'lambda-once' was needed")
    if not blocks:
        raise ValueError("blocks: there are no shards; at least one was needed")
    schema = _schema(blocks, engine, label, columns)
    looks = engine.map(_look, [(label, columns, scale, intercept, schema, *shard) for shard in blocks])
    seen: _Seen = engine.get(engine.reduce(_join, looks))
    if seen.rows == 0:
        raise ValueError("blocks: there are no rows; at least one was needed")
    seen.schema = schema
    template = _template(seen, learner, scale, intercept, radius, seed, params)
    empty = template._core.statistics()  # Raises for learners whose statistics do not add up.
    model = engine.broadcast(np.frombuffer(template._core.to_bytes(), dtype=np.uint8))
    longest = max(engine.get(look).rows for look in looks)
    step = longest if period is None else period
    if step < 1:
        raise ValueError(f"period = {period}: must be a number of rows, 1 or more")
    base: Handle = None
    scores: list[list[dict[str, float]]] = []
    for start in range(0, longest, step):
        what = (label, columns, schema, list(seen.labels), seed)
        calls = [(model, base, start, start + step, *what, *shard) for shard in blocks]
        learnt = engine.map(_learn, calls, outputs=2)
        scores.append([engine.get(score) for _, score in learnt])
        total = engine.reduce(_add, [statistics for statistics, _ in learnt])
        if period is not None or len(blocks) == 1:
            base = engine.map(_rebase, [(total, base if base is not None else empty, len(blocks))])[0]
    parts = 1 if base is not None else len(blocks)
    summed = _aligned(engine.get(total if base is None else base))
    merged = Learner._wrap(template._core.with_statistics(summed, parts, how))
    merged._values = dict(seen.labels) or None
    certificate, withheld = _promise(merged, len(scores) > 1 and len(blocks) > 1)
    by_shard = [_total([period_scores[at] for period_scores in scores]) for at in range(len(blocks))]
    return Fitted(
        learner=merged,
        rates=_rates(_total(by_shard)),
        shards=[_rates(one) for one in by_shard],
        periods=[_rates(_total(one)) for one in scores],
        certificate=certificate,
        withheld=withheld,
        labels=list(seen.labels.values()),
    )


def split(x: Any, y: Any, shards: int) -> list[list[tuple[Any, Any]]]:
    """Rows in memory as contiguous shards of one block each, of nearly equal size."""
    if shards < 1:
        raise ValueError(f"shards = {shards}: must be 1 or more")
    x, y = _tables.whole(x), _tables.column(_tables.labels(y), "y")
    x = x if hasattr(x, "iloc") or hasattr(x, "slice") else np.asarray(x)
    rows = x.shape[0]
    if rows != len(y):
        raise ValueError(f"x has {rows} rows and y {len(y)}; as many were needed")
    edges = [rows * at // shards for at in range(shards + 1)]

    def part(low: int, high: int) -> Any:
        return x.iloc[low:high] if hasattr(x, "iloc") else x.slice(low, high - low) if hasattr(x, "slice") else x[low:high]

    return [[(part(low, high), y[low:high])] for low, high in zip(edges[:-1], edges[1:], strict=True)]


@dataclass
class _Seen:
    """Facts about rows, from the first pass."""

    rows: int
    columns: int
    labels: dict[str, Any]
    """The labels by name, in order."""
    first: Floats
    second: Floats
    radius: float
    standard: bool
    schema: str | None = None
    """What the columns of a table hold; None for arrays."""


def _schema(blocks: Sequence[Sequence[Handle]], engine: Engine, label: str, columns: Sequence[str] | None) -> str | None:
    """What the columns of tables hold, by their first rows, with the features of all of them; None for arrays."""
    first: tuple[str, bool] | None = None
    for shard in blocks:
        first = engine.get(engine.map(_kinds, [(label, columns, *shard)])[0])
        if first is not None:
            break
    if first is None or not first[0]:
        return None
    schema, grows = first
    if grows:  # Categories may occur in any row.
        shards = engine.map(_features, [(label, columns, schema, *shard) for shard in blocks])
        schema = engine.get(engine.reduce(_joined, shards))
    return schema


def _kinds(label: str, columns: Sequence[str] | None, *blocks: Block) -> tuple[str, bool] | None:
    """The schema of the first table (empty for arrays), and whether later rows may have more features."""
    for block in blocks:
        x, y = _rows(block, label, columns)
        if not len(y):
            continue
        if not isinstance(x, _tables.Table):
            return "", False
        target, none = _tables.free("label", x.names), dict.fromkeys(_tables.ROLES, ())
        schema = _core.table_schema(x.csv(target, list(y)), {"label": target, **_tables.roles(none, x)})
        return schema, '"categorical"' in schema or '"time"' in schema
    return None


def _features(label: str, columns: Sequence[str] | None, schema: str, *blocks: Block) -> str:
    """The schema with the features of all rows of a shard."""
    for block in blocks:
        x, y = _rows(block, label, columns)
        if not isinstance(x, _tables.Table):
            raise ValueError(_MIXED)
        if len(y):
            _, schema = _core.table_rows(x.csv(), schema)
    return schema


def _joined(a: str, b: str) -> str:
    """The schema with the features of both."""
    return _core.joined_schema(a, b)


def _look(
    label: str, columns: Sequence[str] | None, scale: str, intercept: bool, schema: str | None, *blocks: Block
) -> _Seen:
    """The first pass over a shard."""
    seen: _Seen | None = None
    for block in blocks:
        x, y = _rows(block, label, columns)
        if not len(y):
            continue
        numbers = _numbers(x, schema)
        rows, first, second, radius = _core.survey(numbers, None, scale, intercept)
        labels = {_name(one): one for one in _arrays.distinct(y)[0]}
        width = numbers.shape[1] if isinstance(numbers, np.ndarray) else numbers[3]
        one = _Seen(rows, width, _sorted(labels), np.asarray(first), np.asarray(second), radius, scale == "standard")
        seen = one if seen is None else _join(seen, one)
    return seen or _Seen(0, 0, {}, np.empty(0), np.empty(0), 0.0, scale == "standard")


def _join(a: _Seen, b: _Seen) -> _Seen:
    """The merged facts."""
    if a.rows == 0 or b.rows == 0:
        return a if b.rows == 0 else b
    if a.columns != b.columns:
        raise ValueError(f"columns: {b.columns} in one block; must be {a.columns}, as in the first")
    first, second = a.first, a.second
    if a.standard:
        share = b.rows / (a.rows + b.rows)
        deviation = b.first - a.first
        first = a.first + deviation * share
        second = a.second + b.second + deviation * deviation * share * a.rows
    elif len(a.first):
        first = np.maximum(a.first, b.first)
    labels = _sorted({**b.labels, **a.labels})
    return _Seen(a.rows + b.rows, a.columns, labels, first, second, max(a.radius, b.radius), a.standard)


def _template(
    seen: _Seen, name: str, scale: str, intercept: bool, radius: float | None, seed: int, params: Mapping[str, Any]
) -> Learner:
    """The learner before its first round, with the scaling of all rows."""
    real = any(entry["name"] == name and entry["classes"] == "real" for entry in _core.catalogue())
    names = None if real else list(seen.labels)
    if radius is None and scale in ("none", "maxabs"):
        radius = seen.radius if scale == "none" else None
    core = _core.Learner(
        name,
        number_of_classes(name, None, names),
        seen.columns,
        dict(params),
        radius=radius,
        seed=seed,
        scale=scale,
        intercept=intercept,
        labels=names,
        schema=seen.schema,
    )
    if scale != "none":
        core.set_scaling(seen.rows, seen.first.tolist(), seen.second.tolist())
    return Learner._wrap(core)


def _learn(
    model: np.ndarray[Any, Any],
    base: Floats | None,
    start: int,
    stop: int,
    label: str,
    columns: Sequence[str] | None,
    schema: str | None,
    labels: Sequence[str],
    seed: int,
    *blocks: Block,
) -> tuple[Floats, dict[str, float]]:
    """Rows `start` to `stop` of a shard, from the learner with the statistics `base`; its statistics, and its scores."""
    core = _core.Learner.from_bytes(model.tobytes())
    if base is not None:
        core = core.with_statistics(_aligned(base), 1, "lambda-once")
    learner = Learner._wrap(core)
    scores: list[dict[str, float]] = []
    at = 0
    for block in blocks:
        x, y = _rows(block, label, columns)
        low, high = max(start - at, 0), min(stop - at, len(y))
        at += len(y)
        if low >= high:
            continue
        part = x.part(low, high) if isinstance(x, _tables.Table) else x[low:high]
        targets: Floats | Ints = np.ascontiguousarray(y[low:high], dtype=np.float64) if learner._real else _targets(y[low:high], labels)
        rates = core.run(_numbers(part, schema), targets, seed=seed, frozen=True)[3]
        scores.append(_sums(rates))
    return core.statistics(), _total(scores)


def _targets(y: Any, labels: Sequence[str]) -> Ints:
    values, places = _arrays.distinct(y)
    index = {name: at for at, name in enumerate(labels)}
    return _arrays.placed([index[_name(value)] for value in values], places)


def _numbers(x: Any, schema: str | None) -> Rows:
    """Rows as numbers; those of tables by their schema."""
    if not isinstance(x, _tables.Table):
        if schema is not None:
            raise ValueError(_MIXED)
        return _arrays.rows(x)
    if schema is None:
        raise ValueError(_MIXED)
    sparse, _ = _core.table_rows(x.csv(), schema)
    values, indices, starts, width = sparse
    if width > _DENSE:
        return sparse
    rows = np.zeros((len(starts) - 1, width))
    rows[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), indices] = values
    return rows


def _aligned(numbers: Floats) -> Floats:
    """Contiguous copies, if needed: some engines return views into their messages."""
    return np.require(numbers, np.float64, ["C_CONTIGUOUS", "ALIGNED"])


def _add(a: Floats, b: Floats) -> Floats:
    return a + b


def _rebase(total: Floats, base: Floats, shards: int) -> Floats:
    """The sum of the statistics of all shards, with the common start `base` counted once."""
    return total - (shards - 1) * base


def _promise(learner: Learner, broadcast: bool) -> tuple[float | None, str | None]:
    if broadcast:
        return None, (
            "shards went on from merged learners: the proof adds up shards that each began with their own regulariser"
        )
    try:
        return learner.certificate(), None
    except ValueError as why:
        return None, str(why)


def _sums(rates: Mapping[str, float]) -> dict[str, float]:
    """Means over rounds, as sums."""
    rounds = rates["rounds"]
    return {name: value if name in ("rounds", "errors") else value * rounds for name, value in rates.items()}


def _rates(sums: Mapping[str, float]) -> dict[str, float]:
    rounds = sums.get("rounds", 0)
    whole = ("rounds", "errors")
    return {name: value if name in whole else value / max(rounds, 1) for name, value in sums.items()}


def _total(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for score in scores:
        for name, value in score.items():
            total[name] = total.get(name, 0) + value
    return total


def _rows(block: Block, label: str, columns: Sequence[str] | None) -> tuple[Any, Any]:
    """The rows, an array or a table, and the labels of a block."""
    if isinstance(block, Mapping) and "x" in block and np.ndim(block["x"]) == 2:
        return np.asarray(block["x"]), np.asarray(block[label])
    if isinstance(block, tuple):
        x, y = block
        if not (_tables.is_table(x) or _tables.has_texts(x) or _tables.has_holes(x)):
            return _arrays.rows(x), y
        table = _tables.table(x)
        return (table if columns is None else table.only(columns)), y
    table = _tables.table(block)
    if label not in table.names:
        raise ValueError(f"label = {label!r}: the columns are {', '.join(table.names)}")
    y, table = table.cells[table.names.index(label)], table.without(label)
    if columns is not None:
        table = table.only(columns)
    vectors = table.cells[0] if len(table.names) == 1 else []
    if vectors and all(isinstance(cell, list) and not any(isinstance(x, str) for x in cell) for cell in vectors):
        return np.array(vectors, dtype=np.float64), y
    return table, y


def _name(label: Any) -> str:
    """The name of a class: 1.0 and 1 are the same."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


def _sorted(labels: Mapping[str, Any]) -> dict[str, Any]:
    """Labels sorted as by the command line: numbers by value, then words."""

    def order(name: str) -> tuple[int, float, str]:
        try:
            return 0, float(name), name
        except ValueError:
            return 1, 0.0, name

    return {name: labels[name] for name in sorted(labels, key=order)}
