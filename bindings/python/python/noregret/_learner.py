"""Learners with full information."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np

from . import _arrays, _core, _tables, _targets
from ._arrays import Floats, Ints
from ._described import Described
from ._kinds import KINDS, caution, check_facts, check_scale, number_of_classes, whole
from ._offers import named
from ._progress import bar
from ._run import Run

_L = TypeVar("_L", bound="Learner")

_FREE: AbstractContextManager[None] = nullcontext()
"""For a learner that its first rows have made: the compiled part lets threads learn one after the other."""

_MANY = 0.1
"""Share of rows beyond the radius from which a run says so."""


class Learner(Described):
    """A learner that sees the label of every row, by its name (see `noregret.catalogue`).

    Without `features` it is made by the rows of the first call that learns, as in `noregret run`: they determine columns,
    classes, the largest norm and the number of rows, and forecasts are bit-equal to those of the command line. Labels
    that are new later are added, if the learner can grow. With `features` (and `classes` or `labels`) it is made at once.

    Parameters
    ----------
    name
        A name of `noregret.catalogue()`; `noregret.learners` has a class for each, with its parameters as keywords.
    features
        Number of columns d >= 1. None: that of the first rows.
    classes
        Number of classes K >= 2. Optional if `labels` are given, the learner determines it, or `features` is None.
    radius
        Bound on the Euclidean norm of scaled rows with the intercept. By default the largest norm of the first rows;
        with `features`, the bound implied by `scale`, or 1. Larger rows are learnt, but void the guarantee.
    horizon
        Number of rounds, if known; some learners choose their parameters by it. By default the number of the first
        rows; unknown with `features`.
    seed
        Seed of the learner's randomness, if any. Equal seeds give bit-equal results.
    scale
        Online scaling: `none`, `unit` (rows of norm 1), `maxabs`, `standard` (mean 0, standard deviation 1, clipped at
        5; columns of 0 and 1 only are unchanged). A row is scaled by statistics of the rows up to and including it.
        None: chosen by the first rows and the learner; with `features`, `none`.
    intercept
        Whether a feature that is always 1 is added. None: yes; with `features`, no.
    sparse
        Whether rows are mostly zeros: first-order learners then store their weights otherwise, with the same results, and
        `auto` has other members. Without `features`, determined from the first rows.
    labels
        The labels in order, as returned by `predict` and used in targets.
    class_weight
        Importance weights by label, for learners that accept weights; 1 for other labels.
    text, categorical, numeric, time, drop
        Columns of tables to read as free text, categories, numbers or times, or to ignore.
    missing, not_missing
        Words (or numbers, such as -999) that count as missing in columns and labels, besides NA, NaN, NULL, None, ? and the
        like; and words that do not. Not with `features`.
    memory
        Largest size of the learner's state, in MiB.
    **params
        The learner's parameters; None means the value of the learner's theorem. Parameters of a nested learner have two
        underscores in place of the command line's dot: `weak__grace` is `weak.grace`.

    Raises
    ------
    TypeError
        For an unknown parameter.
    ValueError
        For an unknown learner or an invalid value.
    MemoryError
        If the state would exceed `memory`.

    Examples
    --------
    >>> from noregret import Learner
    >>> learner = Learner("folklore", classes=3, features=2, radius=1.0)
    >>> learner.learn_one([0.6, 0.8], 0)
    >>> learner.learn_one([-1.0, 0.0], 2)
    >>> learner.predict_proba([0.6, 0.8]).round(3)
    array([0.797, 0.189, 0.014])
    >>> learner
    Learner('folklore', classes=3, features=2, rounds=2)
    """

    __slots__ = ()
    _compiled = _core.Learner
    _kept = ("_asked", "_values", "_grows", "_class_weight", "_frame")

    def __init__(
        self,
        name: str = "auto",
        *,
        features: int | None = None,
        classes: int | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str | None = None,
        intercept: bool | None = None,
        sparse: bool = False,
        labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None,
        text: Sequence[str] = (),
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        time: Sequence[str] = (),
        drop: Sequence[str] = (),
        missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (),
        memory: int = 8192,
        **params: float | int | str | bool | None,
    ) -> None:
        check_facts(features=features, classes=classes, horizon=horizon, radius=radius, intercept=intercept, sparse=sparse, seed=seed, memory=memory)
        self._values = None if labels is None else named(labels)
        names = None if self._values is None else list(self._values)
        self._held = self._frame = None
        self._index = self._outputs = None
        self._class_weight = _targets.class_weights(class_weight)
        if self._class_weight and name in KINDS and (KINDS[name]["classes"] == "real" or not KINDS[name]["weights"]):
            why = "forecasts numbers" if KINDS[name]["classes"] == "real" else "takes no weights"
            raise TypeError(f"{type(self).__name__}: there is no class_weight, since {name} {why}")
        facts: dict[str, Any] = {"radius": radius, "horizon": horizon, "seed": seed, "labels": names, "memory": memory}
        roles = _tables.reading(
            text=text, categorical=categorical, numeric=numeric, time=time, drop=drop, missing=missing, not_missing=not_missing
        )
        if features is not None:
            _tables.without_tables(roles)
            self._asked, self._grows = {}, False
            self._held = _core.Learner(
                name,
                number_of_classes(name, classes, names),
                features,
                params,
                sparse=sparse,
                scale=scale or "none",
                intercept=bool(intercept),
                **facts,
            )
            self._check_class_weight(self._held.labels if self._values is None else self._values.values())
            caution(name, params, 2 + (type(self) is not Learner))
            return
        # Checks names and parameters before there are rows.
        _core.check(name, params)
        check_scale(scale)
        intercept = intercept is None or bool(intercept)
        facts |= {"name": name, "classes": classes, "scale": scale, "intercept": intercept}
        self._asked, self._grows = {"facts": facts, "params": params, "roles": roles}, labels is None
        if self._values is not None:
            self._check_class_weight(self._values.values())

    # Predicting

    def predict_proba(self, x: Any) -> Floats:
        """Probabilities of the classes.

        Parameters
        ----------
        x
            One row of shape (features,), or rows of shape (rows, features): an array, a nested list, a SciPy matrix, or
            a table of pandas, polars or Arrow. A learner of tables accepts a table, or a dictionary for one row:
            columns are matched by name, unknown ones are ignored, and absent ones count as missing. A dictionary of lists
            only is a table of these columns, where `learn_one` takes it for one row: `[x]` is one row here, too.

        Returns
        -------
        Shape (classes,) or (rows, classes). For learners that draw their label these are the probabilities of playing
        each label, for learners that play their best score 0 and 1; only for the others are they forecasts of the true
        label.

        Raises
        ------
        ValueError
            For rows of the wrong width, and for NaN and infinity.
        TypeError
            For values other than real numbers, in tables with the name of the column.
        RuntimeError
            If the learner has not been made by its first rows yet.
        """
        return self._predict(x, scores=False)

    def scores(self, x: Any) -> Floats:
        """Scores of the classes: logits for probabilistic learners, margins for others, or the forecast, of shape
        (rows, 1), for a real-valued target. Arguments and exceptions as for `predict_proba`."""
        return self._predict(x, scores=True)

    def predict(self, x: Any) -> Any:
        """The label with the highest score (the first of equal ones), or the forecast of a real-valued target.

        Arguments and exceptions as for `predict_proba`; returns a label (a float) for one row, else an array of shape
        (rows,). Labels are the given ones (names or numbers), or classes from 0 if only their number is known.
        """
        scores = self._predict(x, scores=True)
        if self._real:
            return scores[..., 0] if scores.ndim == 2 else float(scores[0])
        outputs = self._labels_out()
        if outputs is None:
            return scores.argmax(axis=1) if scores.ndim == 2 else int(scores.argmax())
        # Classes without a label are reserved space.
        best = scores[..., : len(outputs)].argmax(axis=-1)
        return outputs[best] if scores.ndim == 2 else outputs[best : best + 1].tolist()[0]

    def predict_top(self, x: Any, k: int) -> tuple[Any, Floats]:
        """The `k` most probable labels, in descending order, and their probabilities.

        Arguments and exceptions as for `predict_proba`, and ValueError for a `k` below 1; returns two arrays of shape
        (rows, k), or (k,) for one row; all labels if there are fewer than `k`. Labels are those of `predict`.
        """
        whole(k=k)
        if k < 1:
            raise ValueError(f"k = {k}: must be at least 1")
        p = self.predict_proba(x)
        outputs = self._labels_out()
        # Classes without a label are reserved space.
        known = p if outputs is None else p[..., : len(outputs)]
        order = np.argsort(-known, axis=-1, kind="stable")[..., :k]
        return order if outputs is None else outputs[order], np.take_along_axis(known, order, axis=-1)

    def _predict(self, x: Any, scores: bool) -> Floats:
        x = self._readable(x)
        bare = self._bare(x)
        if bare is not None or self._takes_tables(x):
            table = self._table(x) if bare is None else _tables.blank(self._label(), bare)
            found, misfits = _core.predict_table(self._core, table.given(), scores)
            _tables.tell(misfits, 3)
            return np.ascontiguousarray(found[0]) if _tables.is_row(x) or _arrays.is_row(x) else found
        self._in_order(x)
        if _arrays.is_row(x):
            return self._core.predict_row(_arrays.row(x), scores)
        return self._core.predict(_arrays.rows(x), scores)

    # Learning

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """Learns one row.

        Parameters
        ----------
        x
            The numbers of the row, shape (features,), or a text, or a dictionary of its columns for a learner of tables. A learner that
            begins with one row takes in the columns, categories and words of later ones, if it can grow; where `update` begins with
            a table, this decides which there are.
        y
            The label, a probability vector of shape (classes,) if the learner accepts it, or a number for a real-valued
            target. Missing ones (None, NaN) are not learnt.
        weight
            Importance weight >= 0, for learners that accept weights. Rows of weight 0 are not learnt.

        Raises
        ------
        ValueError, TypeError
            For an invalid row, target or weight; nothing is learnt then.
        OverflowError
            If scores become infinite: parameters, values or weights are too large.
        """
        if _arrays.is_missing(y):
            return
        if not isinstance(weight, (int, float, np.number)):
            raise TypeError(f"weight = {weight!r}: must be a number")
        text, x = isinstance(x, str), self._readable(x)
        x = x.toarray() if hasattr(x, "tocsr") and len(x.shape) == 1 else x
        if hasattr(x, "tocsr") or self._held is None or self._takes_tables(x):
            _targets.check_one(y)
            row = x if hasattr(x, "tocsr") else _tables.single(x) if _tables.is_table(x) else _tables.given([x])
            _tables.tell(self._run(row, [y], [weight], {}, {"ahead": True, "text": text})[2], 2)
            return
        self._in_order(x)
        row = _arrays.row(x)
        self._core.learn_row(row, self._target(y), weight * self._importance(y))

    def update(self, x: Any, y: Any, weight: Any = None, *, look_ahead: bool = True, threads: int = 1) -> None:
        """Learns rows in order.

        Parameters
        ----------
        x
            Rows of shape (rows, features), or a table, as in `predict_proba`; or a list of texts, one for each row.
        y
            Labels of shape (rows,), probability vectors of shape (rows, classes), or numbers of shape (rows,); for a
            table also the name of the label column. Rows without a label (None, NaN) are not learnt.
        weight
            Importance of every row, shape (rows,).
        look_ahead
            Whether second-order learners may process several rows at once. Results are then equal to those of single
            rows up to rounding (1e-9); without it they are bit-equal, however the rows are divided into calls.
        threads
            Number of threads, from 1 to 1024, for the members of a mixture (`auto`) and for large matrix products. Results
            are bit-equal for all numbers.

        Raises
        ------
        ValueError, TypeError
            For invalid rows; nothing is learnt then.
        OverflowError
            If scores become infinite at some row; the rows before it are learnt.
        KeyboardInterrupt
            Between two rounds; the rows before are learnt, and `rounds` counts them.
        """
        whole(threads=threads)
        _tables.check_index(x, y=y, weight=weight)
        how = {"look_ahead": look_ahead, "threads": threads}
        _tables.tell(self._run(_tables.rows(x), _targets.labels(self._in_classes(y)), weight, how)[2], 2)

    def run(
        self,
        x: Any,
        y: Any,
        weight: Any = None,
        *,
        look_ahead: bool = True,
        probabilities: bool = False,
        seed: int = 0,
        threads: int = 1,
        progress: bool | None = None,
    ) -> Run:
        """Predicts every row, scores the prediction, and then learns the row (test-then-train).

        Arguments and exceptions as for `update`. `probabilities`: whether predictions are stored; `seed`: that of the
        labels of randomised learners; `progress`: whether tqdm shows a bar, by default in terminals and notebooks
        during long calls, if tqdm is installed.

        Examples
        --------
        >>> from noregret import Learner
        >>> x = [[1.0, 0.0], [0.0, 1.0]] * 50
        >>> Learner("ogd", classes=2, features=2, radius=1.0).run(x, [0, 1] * 50)
        Run(rounds=100, errors=1, error_rate=0.01, greedy_error_rate=0.01, log_loss=0.0138629)
        """
        whole(seed=seed, threads=threads)
        how = {"look_ahead": look_ahead, "keep": probabilities, "seed": seed, "threads": threads}
        _tables.check_index(x, y=y, weight=weight)
        x, y = _tables.rows(x), _targets.labels(self._in_classes(y))
        large = 0 if self._held is None else self.large_rows
        with bar(x, progress) as told:
            found, notes, odd = self._run(x, y, weight, {**how, "progress": told})
        large, rows = self.large_rows - large, len(found[0])
        # Of rows like those of before, some may be a little larger.
        if large > _MANY * rows:
            odd = [*odd, f"{large} of {rows} rows are beyond radius = {self.radius:g}, and learnt: no theorem covers them; scale= brings rows within it"]
        outputs = [] if self._real else self._labels_out()
        labels = list(range(self.classes)) if outputs is None else list(getattr(outputs, "tolist", list)())
        losses, kept, played, rates, truth = found
        return Run(losses, kept, played, rates, truth, labels, self.name, notes + odd)

    def _run(
        self, x: Any, y: Any, weight: Any, how: dict[str, Any], facts: dict[str, Any] | None = None
    ) -> tuple[Any, list[str], list[str]]:
        """Learns rows; returns the result of the compiled part, remarks on columns of the first table that are absent, and other remarks."""
        with self._first if self._held is None else _FREE:
            facts = {"ahead": False, "text": False, **(facts or {})}
            if isinstance(weight, str):
                raise TypeError(f"weight is {weight!r}; weights, one for each row, were needed: x[{weight!r}]")
            x = self._readable(x)
            count = self._bare(x)
            if count is not None:
                return self._run_table(_tables.Table([], [], []), count, y, weight, how, facts)
            if self._takes_tables(x):
                table = self._table(x)
                return self._run_table(table, table.rows, y, weight, how, facts)
            self._in_order(x)
            if y is None or isinstance(y, str):
                raise TypeError(f"y is {y!r}; labels, one for each row, were needed")
            rows = _arrays.rows(x)
            weights = self._weights(y, weight)
            begins = self._held is None
            targets = self._begin(rows, y, facts) if begins else self._targets(y)
            notes = _targets.remarks(_arrays.distinct(y)[0], len(targets)) if begins and targets.dtype.kind == "i" else []
            caution(self.name, self.params, 3, rows=len(targets))
            found = self._core.run(rows, targets, weights, **how)
            return found, [], notes + _targets.unlabelled(y, found[4], weights)

    def _run_table(
        self, table: _tables.Table, rows: int, y: Any, weight: Any, how: dict[str, Any], facts: dict[str, Any]
    ) -> tuple[Any, list[str], list[str]]:
        if isinstance(y, str) and _tables.trimmed(y) in table.names:
            name = _tables.trimmed(y)
            targets = table.cells[table.names.index(name)]
        else:
            if isinstance(y, str) and rows != 1:
                raise ValueError(f"y: there is no column {y!r}; the columns are {', '.join(map(repr, table.names[:10]))}")
            if getattr(y, "ndim", 1) > 1:
                raise ValueError("y has probability vectors, and labels of a table have names: they are learnt with an array or a matrix")
            called = getattr(y, "name", None)
            name = _tables.free(_tables.trimmed(called) or "label" if isinstance(called, str) else "label", table.names)
            targets = _targets.column([y] if isinstance(y, str) else y, name)
        if self._real:
            targets = _targets.amounts(targets)
        if self._held is not None and self._values and not self._real:
            targets = _targets.known_as(targets, self._values.values())
        # A column of texts and numbers has no type.
        given_labels = {(type(label), label): label for label in targets if label is not None}.values()
        _targets.check_types(given_labels, self._values or {})
        if len(targets) != rows:
            raise ValueError(f"y has {len(targets)} targets for {rows} rows")
        table = table.without(name)
        weights = self._weights(targets, weight)
        if weights is None and self._held is not None and self._held.class_weights:
            weights = np.ones(rows)  # The core multiplies by those of its file otherwise.
        begins = self._held is None
        first: list[str] = []
        if begins:
            if not self._real:
                labelled = sum(label is not None for label in targets)
                _targets.need_classes(given_labels, labelled, self._asked["facts"], self._asked["roles"], facts["ahead"])
            asked, roles = {**self._asked["facts"], **facts, "bandit": False}, self._asked["roles"]
            if facts["text"] and not any("text" in roles[role] for role in _tables.ROLES):
                roles = {**roles, "text": ["text"]}  # One text alone might be a category.
            given, reading = table.given(name, targets), {"label": name, **_tables.roles(roles, table)}
            first = self._make(lambda params: _core.learner_for_table(asked, params, given, reading, open=facts["ahead"]))
        known = next((column for column, role in self.roles.items() if role == "label"), name)
        given = table.without(known).given(known, targets)
        caution(self.name, self.params, 4, rows=rows)
        # Labels of a file without types are texts, and stay so.
        texts = set(self._core.labels) if not begins and self._values is None else set()
        found, notes, (misfits, others) = _core.run_table(self._core, given, known, weights, grows=self._grows, **how)
        self._remember([label for label in targets if _targets.text_of(label) not in texts] if texts else targets)
        if begins:
            self._check_class_weight((self._values or {}).values())
        first += _targets.remarks(given_labels, rows) if begins and not self._real else []
        # Of the remarks on columns the last is on new ones, if there are any that are not learnt.
        roles = self.roles
        ignored = notes[-1:] if not begins and any(column not in roles for column in table.names) else []
        return found, notes[: len(notes) - len(ignored)], ignored + first + misfits + others + _targets.unlabelled(targets, found[4], weights)

    def _begin(self, rows: Any, y: Any, facts: dict[str, Any]) -> Floats | Ints:
        """Makes the learner for the given rows; returns their targets."""
        real = KINDS[self.name]["classes"] == "real"
        array = np.asarray(y) if not hasattr(y, "__arrow_c_stream__") or hasattr(y, "__array__") else _arrays.numbers(y, "y")
        names: list[str] = []
        targets: Floats | Ints
        if real or array.ndim == 2:
            targets = _arrays.targets(y, real, {})
        else:
            values, places = _arrays.distinct(y)
            _targets.check_types(values, {})
            names = [_targets.text_of(value) for value in values]
            _targets.need_classes(values, int((places >= 0).sum()), self._asked["facts"], self._asked["roles"], facts["ahead"])
            targets = places = _arrays.labelled(places, names, self._asked["facts"]["labels"] or ())
        asked = {**self._asked["facts"], **facts, "bandit": False}
        told = asked["labels"] if targets.ndim == 2 else None
        if told and targets.shape[1] != len(told):
            raise ValueError(f"y has probability vectors of {targets.shape[1]} numbers; the {len(told)} of the classes were needed")
        # For what the rows determine, any class of a row will do.
        first = targets if told is None else targets.argmax(axis=1)
        self._make(lambda params: (_core.learner_for_array(asked, params, rows, first, told or names), []))
        if names:
            self._remember(values)
            self._check_class_weight((self._values or {}).values())
            index = self._names()
            return _arrays.placed([index.get(name, _arrays.UNLABELLED) for name in names], places)
        return targets

    def _make(self, make: Callable[[dict[str, Any]], tuple[_core.Learner, list[str]]]) -> list[str]:
        """Makes the learner, with the default of `norm` that a classifier may have; returns remarks on the first rows."""
        params, reach = self._asked["params"], self._asked.get("reach")
        core, notes = make(params)
        if reach is None:
            caution(self.name, params, 5)
        elif params.get("norm") is None and core.radius is not None:
            core, notes = make({**params, "norm": reach / core.radius})
        self._held, self._asked = core, {}
        return notes

    # Copies and pickles

    @classmethod
    def _wrap(cls: type[_L], core: Any) -> _L:
        model = super()._wrap(core)
        model._asked, model._values, model._grows = {}, dict(core.given) or None if core is not None else None, True
        model._outputs, model._class_weight = None, (core.class_weights or None) if core is not None else None
        return model

    def _like(self: _L, learners: Sequence[Any]) -> _L:
        for one in learners:
            _targets.check_types((one._values or {}).values(), self._values or {})
            self._values = {**(one._values or {}), **(self._values or {})} or None
            if (one._class_weight or None) != (learners[0]._class_weight or None):
                raise ValueError(f"class_weight is {one._class_weight} of one part and {learners[0]._class_weight} of another; one was needed for all")
        self._grows, self._class_weight = learners[0]._grows, learners[0]._class_weight
        return self

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._outputs = None
