"""Learning on shards: every shard learns its rows in order, and the learners' statistics are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _arrays, _core
from .._arrays import Floats
from .._learner import Learner
from ._engine import Engine, Handle

Block = Any
"""Rows in their order: a pair of arrays `(x, y)`, or a pandas or Arrow table."""


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
    labels: list[str] = field(default_factory=list)
    """Names of the classes in order."""

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
        For every shard its blocks in order, as handles of the engine or values: pairs of arrays `(x, y)`, or tables.
    learner
        A learner with additive statistics: `folklore`, `aioli`, `gaf`, `vaw`.
    label, columns
        For tables: the label column, and the numeric columns; by default all others.
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
    looks = engine.map(_look, [(label, columns, scale, intercept, *shard) for shard in blocks])
    seen: _Seen = engine.get(engine.reduce(_join, looks))
    if seen.rows == 0:
        raise ValueError("blocks: there are no rows; at least one was needed")
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
        calls = [(model, base, start, start + step, label, seen.columns, seen.labels, seed, *shard) for shard in blocks]
        learnt = engine.map(_learn, calls, outputs=2)
        scores.append([engine.get(score) for _, score in learnt])
        total = engine.reduce(_add, [statistics for statistics, _ in learnt])
        if period is not None or len(blocks) == 1:
            base = engine.map(_rebase, [(total, base if base is not None else empty, len(blocks))])[0]
    parts = 1 if base is not None else len(blocks)
    summed = _aligned(engine.get(total if base is None else base))
    merged = Learner._wrap(template._core.with_statistics(summed, parts, how))
    certificate, withheld = _promise(merged, len(scores) > 1 and len(blocks) > 1)
    by_shard = [_total([period_scores[at] for period_scores in scores]) for at in range(len(blocks))]
    return Fitted(
        learner=merged,
        rates=_rates(_total(by_shard)),
        shards=[_rates(one) for one in by_shard],
        periods=[_rates(_total(one)) for one in scores],
        certificate=certificate,
        withheld=withheld,
        labels=seen.labels,
    )


def split(x: Any, y: Any, shards: int) -> list[list[tuple[Any, Any]]]:
    """Rows in memory as contiguous shards of one block each, of nearly equal size."""
    if shards < 1:
        raise ValueError(f"shards = {shards}: must be 1 or more")
    x, y = np.asarray(x), np.asarray(y)
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} rows and y {len(y)}; as many were needed")
    edges = [len(x) * at // shards for at in range(shards + 1)]
    return [[(x[low:high], y[low:high])] for low, high in zip(edges[:-1], edges[1:], strict=True)]


@dataclass
class _Seen:
    """Facts about rows, from the first pass."""

    rows: int
    columns: list[str] | int
    labels: list[str]
    first: Floats
    second: Floats
    radius: float
    standard: bool


def _look(label: str, columns: Sequence[str] | None, scale: str, intercept: bool, *blocks: Block) -> _Seen:
    """The first pass over a shard."""
    seen: _Seen | None = None
    for block in blocks:
        x, y, names = _rows(block, label, columns)
        if not len(y):
            continue
        rows, first, second, radius = _core.survey(_arrays.rows(x), None, scale, intercept)
        labels = sorted({_name(one) for one in np.unique(y)}, key=_order)
        one = _Seen(rows, names, labels, np.asarray(first), np.asarray(second), radius, scale == "standard")
        seen = one if seen is None else _join(seen, one)
    return seen or _Seen(0, 0, [], np.empty(0), np.empty(0), 0.0, scale == "standard")


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
    labels = sorted({*a.labels, *b.labels}, key=_order)
    return _Seen(a.rows + b.rows, a.columns, labels, first, second, max(a.radius, b.radius), a.standard)


def _template(
    seen: _Seen, name: str, scale: str, intercept: bool, radius: float | None, seed: int, params: Mapping[str, Any]
) -> Learner:
    """The learner before its first round, with the scaling of all rows."""
    features = seen.columns if isinstance(seen.columns, int) else len(seen.columns)
    real = any(entry["name"] == name and entry["classes"] == "real" for entry in _core.catalogue())
    facts: dict[str, Any] = {} if real else {"labels": seen.labels}
    if radius is None and scale in ("none", "maxabs"):
        radius = seen.radius if scale == "none" else None
    learner = Learner(
        name, features=features, scale=scale, intercept=intercept, radius=radius, seed=seed, **facts, **params
    )
    if scale != "none":
        learner._core.set_scaling(seen.rows, seen.first.tolist(), seen.second.tolist())
    return learner


def _learn(
    model: np.ndarray[Any, Any],
    base: Floats | None,
    start: int,
    stop: int,
    label: str,
    columns: Sequence[str] | int,
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
        x, y, _ = _rows(block, label, None if isinstance(columns, int) else columns)
        low, high = max(start - at, 0), min(stop - at, len(y))
        at += len(y)
        if low >= high:
            continue
        targets = learner._targets(np.array([_name(one) for one in y[low:high]])) if labels and not learner._real else y[low:high]
        if learner._real:
            targets = learner._targets(targets)
        rates = learner._core.run(_arrays.rows(x[low:high]), targets, seed=seed, frozen=True)[3]
        scores.append(_sums(rates))
    return learner._core.statistics(), _total(scores)


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


def _rows(block: Block, label: str, columns: Sequence[str] | None) -> tuple[Any, Any, list[str] | int]:
    """The rows and labels of a block, and the names (or the number) of its columns."""
    if isinstance(block, tuple):
        x, y = block
        return x, np.asarray(y), int(x.shape[1])
    if isinstance(block, Mapping):
        return np.asarray(block["x"]), np.asarray(block[label]), int(np.asarray(block["x"]).shape[1])
    known = list(block.column_names if hasattr(block, "column_names") else block.columns)
    if label not in known:
        raise ValueError(f"label = {label!r}: the columns are {', '.join(map(str, known))}")
    names = [name for name in known if name != label] if columns is None else list(columns)

    def column(name: str) -> Any:
        values = block[name]
        return values.to_numpy(zero_copy_only=False) if hasattr(block, "column_names") else values.to_numpy()

    wide = [np.asarray(column(name)) for name in names]
    if len(wide) == 1 and wide[0].dtype == object and len(wide[0]) and np.ndim(wide[0][0]) == 1:
        x = np.stack(list(wide[0]))
        return np.ascontiguousarray(x, dtype=np.float64), np.asarray(column(label)), names
    for name, values in zip(names, wide, strict=True):
        if values.dtype.kind not in "fiub":
            raise ValueError(f"column {name!r} has the type {values.dtype}; numbers were needed")
    x = np.column_stack(wide).astype(np.float64) if wide else np.empty((0, 0))
    return np.ascontiguousarray(x), np.asarray(column(label)), names


def _name(label: Any) -> str:
    """The name of a class: 1.0 and 1 are the same."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


def _order(name: str) -> tuple[int, float, str]:
    """Numbers by value, then words, as the command line sorts labels."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
