"""Learners that see the truth of every round."""

from __future__ import annotations

import contextlib
import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _arrays, _core, _tables
from ._arrays import Floats, Ints
from ._explain import Explanation
from ._kinds import KINDS, number_of_classes
from ._progress import bar
from ._promises import Promising
from ._run import Run, as_array

_L = TypeVar("_L", bound="Learner")


class Learner(Promising):
    """A learner that sees the truth of every round, by its name in the registry.

    Without `features` it is made by the first rows that it learns, as `noregret run` makes it: columns, classes, the largest norm and
    the number of rows are found in them, and its forecasts are those of the command line, bit for bit. It takes in labels that are
    new later, if the learner grows. With `features` (and `classes` or `labels`) it is made at once.

    Parameters
    ----------
    name
        A name of `noregret.catalogue()`; there is one class for each in `noregret.learners`, with its parameters spelled out.
    features
        Number of columns d >= 1 of the rows. None: found in the first rows.
    classes
        Number of classes K >= 2. May be left out where `labels` are given, or the learner leaves no choice, or `features` are.
    radius
        Bound on the Euclidean norm of rows as the learner sees them: scaled, with the intercept. By default the largest norm of the
        first rows; with `features`, what `scale` guarantees, or 1. Rows beyond it are learnt too; they make the guarantee void.
    horizon
        Number of rounds, if it is known; some learners choose their parameters by it. By default the number of the first rows;
        unknown with `features`.
    seed
        Seed of the learner's own randomness, if it has any. Same seed, same bits.
    scale
        How columns are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, `standard` (mean 0, deviation
        1, within 5 deviations; columns of 0 and 1 alone stay as they are). Every row is scaled with what was seen up to and including it.
        None: what suits the first rows and the learner; with `features`, `none`.
    intercept
        Whether a feature that is always 1 is added. None: yes; with `features`, no.
    sparse
        Whether rows are mostly zeros: decides the storage of first-order learners, never a result. Found in the first rows without
        `features`.
    labels
        The labels in order: what `predict` returns, and targets are given by.
    class_weight
        Importance of rows by label, for learners that take weights; 1 for labels that are not in it.
    text, categorical, numeric, time, drop
        Columns of tables that hold free text, categories, numbers, times, or are left out, whatever they look like.
    memory
        Most memory that the learner's state may take, in MiB.
    **params
        The learner's own parameters; one that is not given, or None, takes the value of the learner's theorem. Those of a learner
        inside have two underscores where the command line has a dot: `weak__grace` is its `weak.grace`.

    Raises
    ------
    TypeError
        For a parameter that the learner does not have.
    ValueError
        For a learner that does not exist or a value that a parameter cannot have.
    MemoryError
        If the state would take more than `memory`.

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

    __slots__ = ("_asked", "_class_weight", "_grows", "_outputs", "_values")
    _compiled = _core.Learner
    _asked: dict[str, Any]
    """What was asked for, for as long as the learner is not made."""
    _values: dict[str, Any] | None
    """Labels as they were given, by their spelling. None: known by their names alone, as in a model file."""
    _grows: bool
    """Whether labels that are new are taken in."""
    _outputs: Any
    """What `predict` returns for each class, made when first needed."""
    _class_weight: dict[str, float] | None

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
        memory: int = 8192,
        **params: float | int | str | bool | None,
    ) -> None:
        names = None if labels is None else [_tables.text_of(label) for label in labels]
        self._held = None
        self._index = self._outputs = None
        self._values = None if labels is None else dict(zip(names or [], labels, strict=True))
        self._class_weight = None
        if class_weight is not None:
            self._class_weight = {_tables.text_of(label): float(w) for label, w in class_weight.items()}
        facts: dict[str, Any] = {"radius": radius, "horizon": horizon, "seed": seed, "labels": names, "memory": memory}
        if features is not None:
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
            return
        # Refuses names and parameters that cannot be right before there are rows.
        _core.check(name, params)
        intercept = intercept is None or bool(intercept)
        facts |= {"name": name, "classes": classes, "scale": scale, "intercept": intercept}
        roles = {"text": text, "categorical": categorical, "numeric": numeric, "time": time, "drop": drop}
        roles = {role: [str(name) for name in columns] for role, columns in roles.items()}
        self._asked, self._grows = {"facts": facts, "params": params, "roles": roles}, labels is None

    # Facts

    @property
    def name(self) -> str:
        """The name in the registry."""
        return str(self._asked["facts"]["name"]) if self._held is None else self._held.name

    @property
    def roles(self) -> dict[str, str]:
        """What the columns of the table hold: `numeric`, `categorical`, `text`, `time`, `drop` or `label`, by their names. Empty
        for a learner of arrays."""
        return dict(_core.roles(self._core))

    @property
    def feature_names_in_(self) -> list[str]:
        """Names of the columns of the table (of the array, their numbers) that the learner looks at."""
        roles = self.roles
        return [name for name, role in roles.items() if role not in ("label", "weight", "drop")] if roles else self.columns

    @property
    def radius(self) -> float | None:
        """Bound on the Euclidean norm of rows as the learner sees them; None if it needs none."""
        return self._core.radius

    @property
    def large_rows(self) -> int:
        """How many learnt rows were beyond `radius`."""
        return self._core.large_rows

    @property
    def scale(self) -> str:
        """How columns are scaled."""
        return self._core.scale

    @property
    def intercept(self) -> bool:
        """Whether a feature that is always 1 is added."""
        return self._core.intercept

    @property
    def columns(self) -> list[str]:
        """Names of the features in order: of columns, and of what the columns of a table were turned into, such as `colour=red`."""
        return self._core.columns

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the members of a mixture (`auto`), by their names; empty for other learners."""
        return self._core.weights

    @property
    def numbers(self) -> dict[str, list[float]]:
        """How the learner is doing inside, lists of numbers by name: the edges of the copies of `adaboost-olm`; empty for most."""
        return self._core.numbers

    @property
    def forecast(self) -> str:
        """What it forecasts with its parameters: `probabilities`, `label`, `randomised label` or `value`."""
        return self._core.forecast

    # Predicting

    def predict_proba(self, x: Any) -> Floats:
        """Probabilities of the classes.

        Parameters
        ----------
        x
            One row of shape (features,), or rows of shape (rows, features): an array, a nested list, a SciPy matrix, or a
            table of pandas, polars or Arrow. A learner of tables takes a table, or a dictionary for one row: columns are told by
            their names, those that it does not know are left out, and those that are absent count as missing.

        Returns
        -------
        Shape (classes,) or (rows, classes). Of a learner that draws its label these are the probabilities of playing each,
        of one that plays its best score they are 0 and 1; only those of the others forecast the truth.

        Raises
        ------
        ValueError
            For rows of another width, and for NaN and infinity.
        TypeError
            For anything but real numbers, in tables with the name of the column.
        RuntimeError
            If the learner is still to be made by its first rows.
        """
        return self._predict(x, scores=False)

    def scores(self, x: Any) -> Floats:
        """Scores of the classes: logits of learners of probabilities, margins of the others, the forecast itself, of shape
        (rows, 1), for a real-valued target. Takes and raises what `predict_proba` does."""
        return self._predict(x, scores=True)

    def predict(self, x: Any) -> Any:
        """The label with the highest score, the first among equals, or the forecast of a real-valued target.

        Takes and raises what `predict_proba` does; returns a label (a float) for one row, else an array of shape (rows,). Labels
        are those that were given: names, numbers, or classes from 0 where nothing but their number is known.
        """
        scores = self._predict(x, scores=True)
        if self._real:
            return scores[..., 0] if scores.ndim == 2 else float(scores[0])
        outputs = self._labels_out()
        if outputs is None:
            return scores.argmax(axis=1) if scores.ndim == 2 else int(scores.argmax())
        # Seats that no label has taken yet are none.
        best = scores[..., : len(outputs)].argmax(axis=-1)
        return outputs[best] if scores.ndim == 2 else outputs[best : best + 1].tolist()[0]

    def predict_top(self, x: Any, k: int) -> tuple[Any, Floats]:
        """The `k` most probable labels, the most probable first, and their probabilities.

        Takes and raises what `predict_proba` does, and ValueError for a `k` below 1; returns two arrays of shape (rows, k), or
        (k,) for one row, with all labels where there are fewer than `k`. Labels are those of `predict`.
        """
        if k < 1:
            raise ValueError(f"k = {k}: must be at least 1")
        p = self.predict_proba(x)
        outputs = self._labels_out()
        # Seats that no label has taken yet are none.
        known = p if outputs is None else p[..., : len(outputs)]
        order = np.argsort(-known, axis=-1, kind="stable")[..., :k]
        return order if outputs is None else outputs[order], np.take_along_axis(known, order, axis=-1)

    def _predict(self, x: Any, scores: bool) -> Floats:
        if self._takes_tables(x):
            table = _tables.table(x)
            found = _core.predict_table(self._core, table.csv(), scores)
            return np.ascontiguousarray(found[0]) if _tables.is_row(x) else found
        if _arrays.is_row(x):
            return self._core.predict_row(_arrays.row(x), scores)
        return self._core.predict(_arrays.rows(x), scores)

    # Learning

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """Learns one row.

        Parameters
        ----------
        x
            The numbers of the row, shape (features,), or a dictionary of its columns for a learner of tables.
        y
            The label, a probability vector of shape (classes,) where the learner takes one, or a number for a real-valued
            target.
        weight
            Importance >= 0, for learners that take weights. 0 teaches nothing.

        Raises
        ------
        ValueError, TypeError
            For a row, target or weight that the learner cannot learn from; nothing is learnt then.
        OverflowError
            If scores are not finite any more: parameters, values or weights are too large.
        """
        if self._held is None or self._takes_tables(x):
            row = x if _tables.is_table(x) else np.asarray(x)[None, :]
            self._run(row, [y], [weight], {}, {"ahead": True})
            return
        row = _arrays.row(x)
        self._core.learn_row(row, self._target(y), weight * self._importance(y))

    def update(self, x: Any, y: Any, weight: Any = None, *, look_ahead: bool = True) -> None:
        """Learns rows in order.

        Parameters
        ----------
        x
            Rows of shape (rows, features), or a table, as in `predict_proba`.
        y
            Labels of shape (rows,), probability vectors of shape (rows, classes), or numbers of shape (rows,); of a table also the
            name of the column that holds them.
        weight
            Importance of every row, shape (rows,).
        look_ahead
            Whether second-order learners may work on several rows at once. The result is that of one row after the other:
            to rounding (1e-9) if they do; bit for bit if not, into however many calls the rows are divided.

        Raises
        ------
        ValueError, TypeError
            For rows that the learner cannot learn from; nothing is learnt then.
        OverflowError
            If scores are not finite from some row on; the rows before it are learnt.
        KeyboardInterrupt
            Between two rounds; the rows before are learnt, and `rounds` counts them.
        """
        self._run(x, y, weight, {"look_ahead": look_ahead})

    def run(
        self,
        x: Any,
        y: Any,
        weight: Any = None,
        *,
        look_ahead: bool = True,
        probabilities: bool = False,
        seed: int = 0,
        progress: bool | None = None,
    ) -> Run:
        """Predicts every row, scores the prediction, and only then learns from it: test-then-train.

        Takes and raises what `update` does. `probabilities` says whether predictions are kept, `seed` is that of the labels
        that randomised learners draw, `progress` whether a bar is shown by tqdm; by default where tqdm is there, a terminal or a
        notebook shows it, and the call takes long.

        Examples
        --------
        >>> from noregret import Learner
        >>> x = [[1.0, 0.0], [0.0, 1.0]] * 50
        >>> Learner("ogd", classes=2, features=2, radius=1.0).run(x, [0, 1] * 50)
        Run(rounds=100, errors=1, error_rate=0.01, greedy_error_rate=0.01, log_loss=0.0138629)
        """
        how = {"look_ahead": look_ahead, "keep": probabilities, "seed": seed}
        with bar(x, progress) as told:
            found, notes = self._run(x, y, weight, {**how, "progress": told})
        outputs = [] if self._real else self._labels_out()
        labels = list(range(self.classes)) if outputs is None else list(getattr(outputs, "tolist", list)())
        losses, kept, played, rates, truth = found
        return Run(losses, kept, played, rates, truth, labels, self.name, notes)

    def _run(
        self, x: Any, y: Any, weight: Any, how: dict[str, Any], facts: dict[str, Any] | None = None
    ) -> tuple[Any, list[str]]:
        """Learns rows; what the compiled part says of them, and what is odd about their columns."""
        facts = {"ahead": False, **(facts or {})}
        if self._takes_tables(x):
            return self._run_table(x, y, weight, how, facts)
        rows = _arrays.rows(x)
        weights = self._weights(y, weight)
        targets = self._begin(rows, y, facts) if self._held is None else self._targets(y)
        return self._core.run(rows, targets, weights, **how), []

    def _takes_tables(self, x: Any) -> bool:
        """Whether `x` is read as a table."""
        if self._held is None:
            if _tables.is_table(x):
                return True
            # Missing numbers are something that a table may have.
            return isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind == "f" and bool(np.isnan(x).any())
        if not self.roles:
            return False
        return _tables.is_table(x) or (isinstance(x, np.ndarray) and x.ndim == 2)

    def _run_table(
        self, x: Any, y: Any, weight: Any, how: dict[str, Any], facts: dict[str, Any]
    ) -> tuple[Any, list[str]]:
        table = _tables.table(x)
        if isinstance(y, str) and y in table.names:
            name, targets = y, table.cells[table.names.index(y)]
        else:
            if isinstance(y, str) and table.rows != 1:
                raise ValueError(f"y: there is no column {y!r}; the columns are {', '.join(map(repr, table.names[:10]))}")
            name = self._label_name(getattr(y, "name", None), table.names)
            targets = _tables.column([y] if isinstance(y, str) else y, name)
        if len(targets) != table.rows:
            raise ValueError(f"y has {len(targets)} targets for {table.rows} rows")
        table = table.without(name)
        weights = self._weights(targets, weight)
        if self._held is None:
            roles = {**self._asked["roles"]}
            given = {column for columns in roles.values() for column in columns}
            roles["categorical"] = [*roles["categorical"], *(c for c in table.categorical if c not in given)]
            asked = {**self._asked["facts"], **facts}
            csv = table.csv(name, targets)
            reading = {"label": name, **roles}
            self._make(lambda params: _core.learner_for_table(asked, params, csv, reading))
        known = next((column for column, role in self.roles.items() if role == "label"), name)
        csv = table.without(known).csv(known, targets)
        found, notes = _core.run_table(self._core, csv, known, weights, grows=self._grows, **how)
        self._remember(targets)
        return found, notes

    @staticmethod
    def _label_name(name: Any, others: list[str]) -> str:
        free = name if isinstance(name, str) and name else "label"
        while free in others:
            free += "_"
        return free

    def _begin(self, rows: Any, y: Any, facts: dict[str, Any]) -> Floats | Ints:
        """Makes the learner for the rows at hand; their targets."""
        real = KINDS[self.name]["classes"] == "real"
        array = np.asarray(y) if not hasattr(y, "__arrow_c_stream__") or hasattr(y, "__array__") else _arrays.numbers(y, "y")
        names: list[str] = []
        targets: Floats | Ints
        if real or array.ndim == 2:
            targets = _arrays.targets(y, real, {})
        else:
            values, targets = _arrays.distinct(y)
            names = [_tables.text_of(value) for value in values]
        asked = {**self._asked["facts"], **facts}
        self._make(lambda params: _core.learner_for_array(asked, params, rows, targets, names))
        if names:
            self._remember(values)
            index = self._names()
            places = np.array([index[name] for name in _core.spelling(names)], dtype=np.int64)
            return places[targets]
        return targets

    def _make(self, make: Callable[[dict[str, Any]], _core.Learner]) -> None:
        """Makes the learner, with the default of `norm` that classifiers have where they have one of their own."""
        params, reach = self._asked["params"], self._asked.get("reach")
        core = make(params)
        if reach is not None and params.get("norm") is None and core.radius is not None:
            core = make({**params, "norm": reach / core.radius})
        self._held, self._asked = core, {}

    def _remember(self, labels: Iterable[Any]) -> None:
        """Keeps labels as they were given, so that `predict` can return them."""
        self._index = self._outputs = None
        if self._real:
            return
        new = {_tables.text_of(label): label for label in set(labels) if label is not None}
        values = dict(zip(_core.spelling(list(new)), new.values(), strict=True))
        self._values = {**values, **(self._values or {})}

    # What it has learnt

    @property
    def coef_(self) -> Floats:
        """The weights of a linear learner, shape (classes, features): of features as the learner sees them, scaled, in the order of
        `columns`. Other learners do not have them (AttributeError)."""
        return self._linear("coef_")[0]

    @property
    def intercept_(self) -> Floats:
        """The scores of a linear learner without any feature, shape (classes,). Other learners do not have them."""
        return self._linear("intercept_")[1]

    def _linear(self, what: str) -> tuple[Floats, Floats]:
        found = None if self._held is None else _core.linear(self._held)
        if found is None:
            raise AttributeError(f"{self.name} has no {what}: its scores are not linear (explain tells what columns contribute)")
        return np.ascontiguousarray(found[0].T), found[1]

    def explain(self, x: Any) -> Explanation:
        """What each column contributes to the scores of a row, or on average over rows: see `noregret.Explanation`.

        Takes and raises what `predict_proba` does.

        Examples
        --------
        >>> from noregret import Learner
        >>> rows = [{"colour": "red", "size": 1.0}, {"colour": "blue", "size": 1.5}] * 50
        >>> learner = Learner("ogd")
        >>> run = learner.run(rows, ["stop", "go"] * 50)
        >>> learner.explain({"colour": "red", "size": 1.25}).columns[0]
        'colour'
        """
        outputs = None if self._real else self._labels_out()
        labels = list(range(self.classes)) if outputs is None and not self._real else [] if outputs is None else outputs.tolist()
        if self._takes_tables(x):
            found = _core.explain_table(self._core, _tables.table(x).csv())
        else:
            rows = _arrays.row(x)[None, :] if _arrays.is_row(x) else np.asarray(_arrays.rows(x))
            found = _core.explain_rows(self._core, np.ascontiguousarray(rows, dtype=np.float64))
        columns, contributions, rest, count = found
        return Explanation(columns, contributions, rest, labels, count)

    def _repr_html_(self) -> str:
        if self._held is None:
            return f"<p>{html.escape(repr(self))}</p>"
        tiles = [["rounds", f"{self.rounds}", ""], ["classes", f"{self.classes}", ""], ["features", f"{self.features}", ""]]
        for name, promise in (("certificate", self.certificate), ("regret bound", self.regret_bound)):
            with contextlib.suppress(ValueError):
                tiles.append([name, f"{promise():.6g}", f"trivial: {self.trivial_bound():.6g}"])
        shares = sorted(self.weights.items(), key=lambda share: -share[1])[:12]
        parts: list[dict[str, Any]] = [{"tiles": tiles}]
        if shares:
            rows = [[name, f"{share:.4f}"] for name, share in shares]
            parts += [{"heading": "Members"}, {"table": {"header": ["member", "weight"], "rows": rows}}]
        if roles := self.roles:
            parts += [{"heading": "Columns"}, {"list": list(roles.items())[:50]}]
        parts += [{"heading": "Parameters"}, {"list": [(name, str(value)) for name, value in self.params.items()]}]
        return _core.page(self.name, KINDS[self.name]["summary"], json.dumps(parts), "{}", True)

    # Targets

    def _labels_out(self) -> Any:
        """What is returned for each class; None where that is its position."""
        if self._outputs is None:
            names = self._core.labels
            if self._values is not None:
                values = self._values
                self._outputs = as_array([values.get(name, name) for name in names])
            elif names == [str(at) for at in range(len(names))] and len(names) == self.classes:
                self._outputs = ()
            else:
                whole = all(_is_whole(name) for name in names)
                self._outputs = as_array([int(name) if whole else name for name in names])
        return None if isinstance(self._outputs, tuple) else self._outputs

    def _targets(self, y: Any) -> Floats | Ints:
        """Targets as positions: labels that are whole numbers go by their names where these are such, else they are positions."""
        if self._real:
            return _arrays.targets(y, True, {})
        array = np.asarray(y) if not hasattr(y, "__arrow_c_stream__") or hasattr(y, "__array__") else _arrays.numbers(y, "y")
        if array.ndim != 1 or (array.dtype.kind in "iuf" and self._labels_out() is None) or not self._by_name(array):
            return _arrays.targets(y, False, self._names())
        values, places = _arrays.distinct(y)
        names = [_tables.text_of(value) for value in values]
        if self._values is None or self._grows:
            names = _core.spelling(names)
        index = self._names()
        if self._grows and any(name not in index for name in names):
            _core.classes_of(self._core, names, True)
            self._remember(values)
            index = self._names()
        return np.array([_arrays.name_of(name, index) for name in names], dtype=np.int64)[places]

    def _by_name(self, array: Any) -> bool:
        """Whether these labels are names."""
        if array.dtype.kind not in "iuf":
            return True
        numbers = any(not isinstance(value, str) for value in (self._values or {}).values())
        return numbers or any(_is_whole(name) for name in self._names())

    def _target(self, y: Any) -> Any:
        if self._real:
            return float(y)
        if isinstance(y, list | tuple | np.ndarray) and np.ndim(y) == 1:
            return np.ascontiguousarray(_arrays.numbers(y, "y"), dtype=np.float64)
        if y is None:
            raise TypeError("y is None; a label was needed")
        if isinstance(y, int) and self._labels_out() is None:
            return y
        return int(self._targets([y])[0])

    def _importance(self, y: Any) -> float:
        return 1.0 if self._class_weight is None else self._class_weight.get(_tables.text_of(y), 1.0)

    def _weights(self, y: Any, weight: Any) -> Floats | None:
        """Importance of rows: what was given, times that of their labels."""
        weights = _arrays.weights(weight)
        if self._class_weight is None:
            return weights
        own = np.array([self._importance(label) for label in _tables.column(y, "y")], dtype=np.float64)
        return own if weights is None else own * weights

    # Copies and pickles

    @classmethod
    def _wrap(cls: type[_L], core: Any) -> _L:
        model = super()._wrap(core)
        model._asked, model._values, model._grows = {}, None, True
        model._outputs = model._class_weight = None
        return model

    def copy(self: _L) -> _L:
        """An independent copy."""
        model = self._wrap(None if self._held is None else self._held.copy())
        model._asked, model._values, model._grows = self._asked, self._values, self._grows
        model._class_weight = self._class_weight
        return model

    def __getstate__(self) -> Any:
        state = None if self._held is None else self._held.to_bytes()
        return state, self._asked, self._values, self._grows, self._class_weight

    def __setstate__(self, state: Any) -> None:
        held, self._asked, self._values, self._grows, self._class_weight = state
        self._held = None if held is None else _core.Learner.from_bytes(held)
        self._index = self._outputs = None

    def __repr__(self) -> str:
        if self._held is not None:
            return super().__repr__()
        kind = f"{self.name!r}, " if type(self) is Learner else ""
        return f"{type(self).__name__}({kind}no rows yet)"


def _is_whole(name: str) -> bool:
    return name.removeprefix("-").isdecimal()
