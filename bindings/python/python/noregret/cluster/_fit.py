"""Learning on shards: passes over all rows find the best linear predictor, or every shard learns its rows in order and
the learners' statistics are added; or the members of a mixture are divided among workers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _arrays, _core, _tables, _targets
from .._arrays import Floats
from .._kinds import KINDS, number_of_classes
from .._learner import Learner
from . import _members
from ._engine import Engine, Handle
from ._shard import (
    Part,
    Reading,
    Seen,
    add,
    aligned,
    features,
    is_sparse,
    join,
    joined,
    kinds,
    larger,
    learn,
    look,
    numbered,
    part_of,
    picked,
    reach,
    rebase,
    roles_in,
    score,
    scored,
    settle,
    sums,
    total,
)

WAYS = ("passes", "lambda-once", "sum-all", "members")


@dataclass(frozen=True)
class Fitted:
    """The result of learning on shards."""

    learner: Learner
    """The learner, an ordinary one, which goes on from all rows that were learnt."""
    held_out: dict[str, float] | None
    """Rates of `learner` on the rows that were held out: it has learnt none of them, nor learns them now. None without such
    rows."""
    rates: dict[str, float]
    """Test-then-train rates, named as in the command line: every row was predicted before it was learnt, by its shard's
    learner, which had seen the earlier rows of its shard and, of other shards, those before the last merge. For the quality
    of `learner`, see `held_out`."""
    shards: list[dict[str, float]]
    """The same for every shard."""
    periods: list[dict[str, float]]
    """The same for every period, over all shards; a single one without `period`."""
    certificate: float | None
    """Upper bound on the total regret of all predictions that `rates` are about, in nats, against any linear predictor in the
    theorem's ball; None if there is none."""
    withheld: str | None
    """Why there is no certificate."""
    loss: float | None = None
    """The total loss of the linear predictor from which `learner` goes on, on the rows that were learnt, in nats; None unless
    it was found by passes."""
    gap: float | None = None
    """No linear predictor in the theorem's ball has a total loss below `loss - gap` on these rows: the distance to the best in
    hindsight, in nats."""
    passes: int = 0
    """Number of passes over the rows that found it."""
    labels: list[Any] = field(default_factory=list)
    """The labels in order; empty if targets are numbers."""
    notes: list[str] = field(default_factory=list)
    """Remarks on cells, such as those that are no numbers in a column of numbers, by their rows in a block."""

    def __repr__(self) -> str:
        rates = ", ".join(f"{name}={value:.6g}" for name, value in self.rates.items())
        promise = f"certificate={self.certificate:.6g}" if self.certificate is not None else "certificate withheld"
        score = {} if self.held_out is None else {name: round(value, 6) for name, value in self.held_out.items()}
        gap = "" if self.gap is None else f", gap={self.gap:.6g}"
        return f"Fitted({self.learner!r}, held_out={score}, shards={len(self.shards)}, {rates}, {promise}{gap})"


def fit(
    blocks: Sequence[Sequence[Handle]],
    learner: str = "folklore",
    *,
    engine: Engine,
    label: str = "y",
    columns: Sequence[str] | None = None,
    period: int | None = None,
    how: str = "passes",
    held_out: float = 0.1,
    scale: str = "standard",
    intercept: bool = True,
    radius: float | None = None,
    seed: int = 0,
    text: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    time: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: Sequence[Any] = (),
    not_missing: Sequence[Any] = (),
    progress: bool | Callable[[str], None] = False,
    **params: float | int | str | bool | None,
) -> Fitted:
    """Learns on shards.

    First passes find classes, columns, scaling statistics and the largest norm, so that all shards use the same units and
    parameters. Then the rows are learnt. Sums over rows are packed triangular matrices, added in a tree whose shape depends
    only on the number of shards: results are bit-equal whatever the timing, and after a machine was lost.

    Parameters
    ----------
    blocks
        For every shard its blocks in order, as handles of the engine or values: pairs `(x, y)`, or tables. Tables may have
        texts, categories, times and missing values, as for `noregret.Learner`: the first rows determine what their columns
        hold, and the learner knows them by name. Rows without a label (None, NaN) are not learnt.
    learner
        `folklore`, `aioli` or `gaf`; `vaw` for numbers as targets; `auto` with `how="members"`.
    label, columns
        For tables: the label column, and the columns to learn from; by default all others.
    period
        Number of rows that every shard learns between two merges; all shards continue from the merged learner. By
        default there is one merge, at the end.
    how
        `passes`: the learner goes on from the linear predictor with the least regularised loss on all rows. Every shard sums
        the gradient and the Hessian of its rows at one predictor, which Newton steps improve in a few passes, so that what is
        learnt does not depend on the number of shards (except for rounding). With a period, the rows of each are passed over,
        while a quadratic stands for all rows before, and at the end all rows: the result is the same. `lambda-once`, `sum-all`: a single pass; the statistics that
        the shards' learners have at the end are added, with the regulariser once or once per shard. Each shard's statistics
        were taken at its own predictions, so that the sum becomes worse with every shard. Those of `vaw` are exact, and always
        added. `members`: for `auto`, the rows of all shards are one stream; as many workers as there are shards have its members,
        and what is learnt equals, to the bit, what one process would learn.
    held_out
        The share of rows, from 0 to less than 1, that are not learnt but scored at the end; every tenth one by default.
        Classes and scaling are those of all rows.
    scale, intercept, radius, seed, text, categorical, numeric, time, drop, missing, not_missing, **params
        As in `noregret.Learner`. Labels that are words for missing ones are missing, in arrays too. The radius is measured unless it is given.
    progress
        True to print what is done, or a function that is told it, as a sentence.

    Raises
    ------
    ValueError
        For a learner without additive statistics, and for invalid rows.
    """
    _check(blocks, how, period, held_out)
    if how == "members" and not engine.keeps_objects:
        raise ValueError(
            f"how = 'members': {type(engine).__name__} keeps no objects between two calls, and the members are such; RayEngine, DaskEngine or "
            "ProcessEngine was needed"
        )
    tell = progress if callable(progress) else _print if progress else lambda _: None
    roles = {"text": text, "categorical": categorical, "numeric": numeric, "time": time, "drop": drop}
    told = _tables.reading(**roles, missing=missing, not_missing=not_missing)
    named = None if columns is None else [_tables.name_of(name) for name in ([columns] if isinstance(columns, str) else columns)]
    reading = Reading(_tables.name_of(label), named, told=told, real=is_real(learner))
    reading = reading._replace(schema=_schema(blocks, engine, reading))
    looks = engine.map(look, [(reading, scale, intercept, *shard) for shard in blocks])
    seen: Seen = engine.get(engine.reduce(join, looks))
    if seen.rows == 0:
        raise ValueError("blocks: there are no rows; at least one was needed")
    seen.schema = reading.schema
    absent = [] if is_real(learner) else _core.missing_labels(list(seen.labels), told["missing"], told["not_missing"])
    seen.labels = {name: one for name, one in seen.labels.items() if name not in absent}
    if not is_real(learner):
        if seen.apart:
            raise ValueError(seen.apart)
        _targets.need_classes(list(seen.labels.values()), seen.rows, {"labels": None, "classes": None}, told)
    counts = [engine.get(one).rows for one in looks]
    reading = reading._replace(labels=None if is_real(learner) else tuple(seen.labels), stand_ins=settle(seen))
    tell(f"{seen.rows} rows on {len(blocks)} shards, {seen.columns} columns" + ("" if is_real(learner) else f", {len(seen.labels)} labels"))
    seen.notes += [
        f"column {name!r} has times of different zones in different parts, {', '.join(zones)}: an hour is that of the clock of its part; "
        "dt.tz_convert(...) of pandas writes all in one zone"
        for name, zones in seen.zones.items()
        if len(zones) > 1
    ]
    for note in seen.notes:
        tell(note)
    if reading.schema is not None:
        blocks = [[one] for one in engine.map(numbered, [(reading, *shard) for shard in blocks])]
    if how == "members":
        asked = (scale, intercept, radius, seed, params)
        return _fit_members(blocks, counts, seen, learner, asked, engine, reading, held_out, tell)
    first = _template(seen, learner, scale, intercept, None, seed, params)
    first.statistics()  # Raises for a learner whose statistics do not add up.
    unmeasured = engine.broadcast(_bytes(first))
    reaches = engine.map(reach, [(unmeasured, reading, *shard) for shard in blocks])
    norm, *largest = aligned(engine.get(engine.reduce(larger, reaches))).tolist()
    radius = radius if radius is not None else norm if norm > 0 else None
    template = _template(seen, learner, scale, intercept, radius, seed, params)
    learning = _Learning(template, np.array(largest), blocks, counts, engine, reading, held_out, seed, how, tell)
    step = max(counts) if period is None else period
    longest = max(counts)
    scores = [learning.period(start, start + step, last=start + step >= longest) for start in range(0, longest, step)]
    merged, certificate, withheld = learning.result(whole=len(scores) == 1)
    merged._values = dict(seen.labels) or None
    by_shard = [total([one[at] for one in scores]) for at in range(len(blocks))]
    found = learning.passes
    return Fitted(
        learner=merged,
        held_out=learning.scored(merged),
        rates=_rates(total(by_shard)),
        shards=[_rates(one) for one in by_shard],
        periods=[_rates(total(one)) for one in scores],
        certificate=certificate,
        withheld=withheld,
        loss=None if found is None else found.loss,
        gap=None if found is None else found.gap,
        passes=0 if learning.passes is None else learning.passes.passes,
        labels=list(seen.labels.values()),
        notes=seen.notes,
    )


def _check(blocks: Sequence[Sequence[Handle]], how: str, period: int | None, held_out: float) -> None:
    """Refuses what `fit` cannot do, before a row is read."""
    wanted = "a list of shards was needed, each a list of tables, of pairs (x, y), or of handles"
    for name, one in [("blocks", blocks), *((f"blocks[{at}]", shard) for at, shard in enumerate(blocks))]:
        if not isinstance(one, list | tuple):
            raise TypeError(f"{name} is a {type(one).__name__}; {wanted}")
    for at, shard in enumerate(blocks):
        for place, block in enumerate(shard):
            # A Delayed seems to have every attribute; those of an array read it.
            for one in block if isinstance(block, tuple) else (block,):
                if hasattr(one, "__dask_graph__") and not hasattr(type(one), "chunks"):
                    raise TypeError(
                        f"blocks[{at}][{place}] has a {type(one).__name__} of Dask that is not computed: client.compute(...) makes a handle of a "
                        "block for DaskEngine, and .compute() a value for other engines"
                    )
    if how not in WAYS:
        raise ValueError(f"how = {how!r}: must be one of {', '.join(WAYS)}")
    if how == "members" and period is not None:
        raise ValueError(f"period = {period}: for shards that merge; the members of a mixture learn all rows in order")
    if how == "sum-all" and period is not None:
        raise ValueError("how = 'sum-all': with a period the regulariser is counted once; 'passes' or 'lambda-once' was needed")
    if not 0 <= held_out < 1:
        raise ValueError(f"held_out = {held_out}: must be a share of the rows, from 0 to less than 1")
    if not blocks:
        raise ValueError("blocks: there are no shards; at least one was needed")
    if period is not None and period < 1:
        raise ValueError(f"period = {period}: must be a number of rows, 1 or more")


class _Learning:
    """The rows of all shards, and what was learnt of them."""

    def __init__(
        self,
        template: Learner,
        largest: Floats,
        blocks: Sequence[Sequence[Handle]],
        counts: list[int],
        engine: Engine,
        reading: Reading,
        share: float,
        seed: int,
        how: str,
        tell: Callable[[str], None],
    ) -> None:
        self._engine, self._reading, self._blocks, self._seed = engine, reading, blocks, seed
        self._template, self._tell = template._core, tell
        self._empty = self._template.statistics()  # Raises for learners whose statistics do not add up.
        self._model = engine.broadcast(_bytes(template))
        firsts = np.concatenate([[0], np.cumsum(counts)])[:-1].tolist()
        self._parts = [Part(first, 0, count, share) for first, count in zip(firsts, counts, strict=True)]
        self._how = "lambda-once" if reading.labels is None and how == "passes" else how
        self._largest = largest
        self.passes = _core.Passes(self._template, largest) if self._how == "passes" else None
        self._base: Handle = None
        """The sum of the statistics of all shards in the periods before; None before the first."""
        self._total: Handle = None
        self._learnt = 0

    def period(self, start: int, stop: int, last: bool) -> list[dict[str, float]]:
        """Learns rows `start` to `stop` of every shard; returns the scores of every shard."""
        parts = [part._replace(start=start, stop=min(stop, part.stop)) for part in self._parts]
        whole = start == 0 and last
        kept = self.passes is None or whole
        what = (self._model, self._base, kept)
        calls = [(*what, part, self._reading, self._seed, *shard) for part, shard in zip(parts, self._blocks, strict=True)]
        learnt = self._engine.map(learn, calls, outputs=2)
        scores = [self._engine.get(one) for _, one in learnt]
        self._learnt += int(total(scores).get("rounds", 0))
        self._tell(f"{self._learnt} rows learnt")
        if kept:
            self._total = self._engine.reduce(add, [statistics for statistics, _ in learnt])
        if self.passes is not None:
            if start > 0:
                self.passes.go_on()
            self._pass(parts)
            if not last:
                self._model = self._engine.broadcast(_bytes(self._found()))
            elif not whole:
                # What quadratics stood for is summed up once more, now at the right place.
                self.passes = _core.Passes(self._template, self._largest, self.passes)
                self._pass(self._parts)
        elif not whole or len(self._blocks) == 1:
            base = self._empty if self._base is None else self._base
            self._base = self._engine.map(rebase, [(self._total, base, len(self._blocks))])[0]
        return scores

    def _pass(self, parts: list[Part]) -> None:
        """Passes over the parts until the best predictor is found."""
        assert self.passes is not None
        while True:
            at = self._engine.broadcast(self.passes.at)
            calls = [(self._model, at, part, self._reading, *shard) for part, shard in zip(parts, self._blocks, strict=True)]
            more = self.passes.take(aligned(self._engine.get(self._engine.reduce(add, self._engine.map(sums, calls)))))
            self._tell(f"pass {self.passes.passes}")
            if not more:
                return

    def _found(self) -> Learner:
        """The learner that goes on from the best predictor."""
        assert self.passes is not None
        return Learner._wrap(self.passes.learner(self._template, self._learnt))

    def result(self, whole: bool) -> tuple[Learner, float | None, str | None]:
        """The learner, and the certificate for the shards' predictions or the reason why there is none."""
        merged = None
        if self._total is not None:
            parts = 1 if self._base is not None else len(self._blocks)
            how = "lambda-once" if self.passes is not None else self._how
            summed = aligned(self._engine.get(self._total if self._base is None else self._base))
            merged = Learner._wrap(self._template.with_statistics(summed, parts, how))
        certificate, withheld = _promise(merged, not whole and len(self._blocks) > 1)
        if self.passes is None:
            assert merged is not None
            return merged, certificate, withheld
        return self._found(), certificate, withheld

    def scored(self, learner: Learner) -> dict[str, float] | None:
        """The rates of the learner on the rows that are held out."""
        if not self._parts[0].share:
            return None
        model = self._engine.broadcast(_bytes(learner))
        calls = [(model, part, self._reading, *shard) for part, shard in zip(self._parts, self._blocks, strict=True)]
        found = total([self._engine.get(one) for one in self._engine.map(score, calls)])
        return _rates(found) if found.get("rounds") else None


def _fit_members(
    blocks: Sequence[Sequence[Handle]],
    counts: list[int],
    seen: Seen,
    name: str,
    asked: tuple[str, bool, float | None, int, Mapping[str, Any]],
    engine: Engine,
    reading: Reading,
    share: float,
    tell: Callable[[str], None],
) -> Fitted:
    """Learns the rows of all shards as one stream, with the members of a mixture on workers."""
    firsts = np.concatenate([[0], np.cumsum(counts)])[:-1].tolist()
    parts = [Part(first, 0, count, share) for first, count in zip(firsts, counts, strict=True)]
    if reading.schema is None:
        blocks = [[one] for one in engine.map(numbered, [(reading, *shard) for shard in blocks])]

    def rows(held_out: bool) -> Iterator[Any]:
        for part, shard in zip(parts, blocks, strict=True):
            for x, y in part_of(part, held_out, reading, [engine.get(one) for one in shard]):
                labelled = np.flatnonzero(y != _arrays.UNLABELLED)
                if len(labelled):
                    yield picked(x, labelled), np.ascontiguousarray(y[labelled].astype(np.int64))

    # Waits for all shards: workers may take the cores that they need.
    sparse = any([engine.get(one) for one in engine.map(is_sparse, [tuple(shard) for shard in blocks])])
    learner = _template(seen, name, *asked, sparse=sparse, online=True)
    rates = _members.learn(learner._core, rows(held_out=False), engine, len(blocks), tell)
    learner._values = dict(seen.labels) or None
    found = _rates(total([scored(learner._core, *one) for one in rows(held_out=True)])) if share else {}
    return Fitted(
        learner=learner,
        held_out=found if found.get("rounds") else None,
        rates=rates,
        shards=[],
        periods=[],
        certificate=None,
        withheld=f"{name} keeps no certificate",
        labels=list(seen.labels.values()),
        notes=seen.notes,
    )


def split(x: Any, y: Any, shards: int) -> list[list[tuple[Any, Any]]]:
    """Rows in memory as contiguous shards of one block each, of nearly equal size."""
    if shards < 1:
        raise ValueError(f"shards = {shards}: must be 1 or more")
    _tables.check_index(x, y=y)
    x, y = _tables.sparse(_tables.given(_tables.by_name(_tables.whole(x)))), _targets.column(_targets.labels(y), "y")
    if hasattr(x, "tocsr"):
        x = x.tocsr()
    if isinstance(x, Mapping):
        columns = _tables.table(x)
        x = [dict(zip(columns.names, row, strict=True)) for row in zip(*columns.cells, strict=True)]
    by_name = isinstance(x, list) and _tables.is_table(x)
    x = x if by_name or hasattr(x, "iloc") or hasattr(x, "slice") or hasattr(x, "tocsr") else np.asarray(x)
    if _tables.has_holes(x) or _tables.has_texts(x):
        # Every part is a table, whether it has texts and missing numbers or not.
        x, by_name = [dict(zip(map(str, range(x.shape[1])), row, strict=True)) for row in x.tolist()], True
    rows = len(x) if by_name else x.shape[0]
    if rows != len(y):
        raise ValueError(f"x has {rows} rows and y {len(y)}; as many were needed")
    edges = [rows * at // shards for at in range(shards + 1)]

    def part(low: int, high: int) -> Any:
        return x.iloc[low:high] if hasattr(x, "iloc") else x.slice(low, high - low) if hasattr(x, "slice") else x[low:high]

    return [[(part(low, high), y[low:high])] for low, high in zip(edges[:-1], edges[1:], strict=True)]


def _schema(blocks: Sequence[Sequence[Handle]], engine: Engine, reading: Reading) -> str | None:
    """What the columns of tables hold, by their first rows, with the features of all of them; None for arrays."""
    first: tuple[str, bool, list[str]] | None = None
    for shard in blocks:
        first = engine.get(engine.map(kinds, [(reading, {}, *shard)])[0])
        if first is not None:
            break
    if first is None or not first[0]:
        return None
    schema, grows, bare = first
    if bare:  # The first table does not tell what they hold.
        found: dict[str, tuple[str, Any]] = {}
        for roles in engine.map(roles_in, [(reading, bare, *shard) for shard in blocks]):
            found = {**engine.get(roles), **found}
        told = {role: [*names, *(name for name, (its, _) in found.items() if its == role)] for role, names in reading.told.items()}
        samples = {name: cell for name, (_, cell) in found.items()}
        schema, grows, _ = engine.get(engine.map(kinds, [(reading._replace(told=told), samples, *shard)])[0])
    if grows:  # Categories may occur in any row.
        shards = engine.map(features, [(reading._replace(schema=schema), *shard) for shard in blocks])
        schema = engine.get(engine.reduce(joined, shards))
    return schema


def _template(
    seen: Seen,
    name: str,
    scale: str,
    intercept: bool,
    radius: float | None,
    seed: int,
    params: Mapping[str, Any],
    *,
    sparse: bool = False,
    online: bool = False,
) -> Learner:
    """The learner before its first round, with the scaling of all rows; `online`: of the rows so far."""
    names = None if is_real(name) else list(seen.labels)
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
        sparse=sparse,
    )
    if scale != "none" and not online:
        core.set_scaling(seen.rows, seen.first.tolist(), seen.second.tolist())
    return Learner._wrap(core)


def is_real(name: str) -> bool:
    """Whether targets are numbers."""
    return bool(KINDS.get(name, {}).get("classes") == "real")


def _print(what: str) -> None:
    print(what, file=sys.stderr)


def _bytes(learner: Learner) -> np.ndarray[Any, Any]:
    return np.frombuffer(learner._core.to_bytes(), dtype=np.uint8)


def _promise(learner: Learner | None, broadcast: bool) -> tuple[float | None, str | None]:
    if broadcast or learner is None:
        return None, (
            "shards went on from merged learners: the proof adds up shards that each began with their own regulariser"
        )
    try:
        return learner.certificate(), None
    except ValueError as why:
        return None, str(why)


def _rates(sums: Mapping[str, float]) -> dict[str, float]:
    rounds = sums.get("rounds", 0)
    whole = ("rounds", "errors")
    return {name: value if name in whole else value / max(rounds, 1) for name, value in sums.items()}
