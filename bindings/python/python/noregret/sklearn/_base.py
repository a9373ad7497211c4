"""Common part of the classifiers for scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import _arrays, _core, _tables, _targets
from .._arrays import Floats, Rows
from .._kinds import KINDS, caution, check_scale, classifier, number, truth, unless_none, whole
from .._learner import Learner
from . import _rows
from ._merged import merged

_FEW_ROWS, _MOST_ORDERS = 1000, 4
"""Largest number of rows that `fit` learns in several orders by default, all orders together, and of orders."""


def _forecasts(estimator: Classifier) -> bool:
    """Whether the learner forecasts probabilities, which may depend on its parameters."""
    core: _core.Learner | None = getattr(estimator, "_core", None)
    if core is None:
        name = estimator._learner_name
        try:
            core = _core.Learner(name, 2, 1, estimator._learner_params(), radius=1.0)
        except (TypeError, ValueError):
            return bool(KINDS[name]["forecast"] == "probabilities")
    return core.forecast == "probabilities"


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Methods and common parameters of the classifiers; subclasses document them."""

    _learner_name: ClassVar[str]
    _own: ClassVar[tuple[str, ...]]
    _reach: ClassVar[float | None] = None
    """The default of `norm` times `radius`, if it differs from the learner's."""
    _nested: ClassVar[str | None] = None
    """The parameter that names a nested learner, if any."""
    _weighs: ClassVar[bool] = False
    """Whether there are weights: subclasses without have no `class_weight`."""
    _places: list[Any] | None = None
    """The columns of the table of numbers that was fitted."""

    def __init__(
        self,
        *,
        passes: int = 1,
        orders: int | None = None,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        class_weight: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        text: Any = None,
        categorical: Any = None,
        numeric: Any = None,
        time: Any = None,
        drop: Any = None,
        missing: Any = None,
        not_missing: Any = None,
        memory: int = 8192,
        **own: Any,
    ) -> None:
        for name in own:
            if name not in self._own and not self._is_inner(name):
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument {name!r}")
        self.passes = passes
        self.orders = orders
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        if self._weighs:
            self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.text = text
        self.categorical = categorical
        self.numeric = numeric
        self.time = time
        self.drop = drop
        self.missing = missing
        self.not_missing = not_missing
        self.memory = memory
        self.__dict__.update({**dict.fromkeys(self._own), **own})

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls._nested is not None:
            # `nested` stands for `weak__grace` and so on; tools would take it for a parameter.
            own = inspect.signature(cls.__init__)
            named = [p for p in own.parameters.values() if p.name != "self" and p.kind is not p.VAR_KEYWORD]
            cls.__signature__ = own.replace(parameters=named)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, including given ones of a nested learner (`weak__grace`).

        Parameters
        ----------
        deep : bool, default=True
            Has no effect: no parameter is an estimator.
        """
        return {**super().get_params(deep), **self._inner_params()}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name; those of a nested learner as in `weak__grace=8`.

        Returns
        -------
        self
        """
        inner = {name: params.pop(name) for name in list(params) if self._is_inner(name)}
        super().set_params(**params)
        self.__dict__.update(inner)
        return self

    def _is_inner(self, name: str) -> bool:
        return self._nested is not None and name.startswith(f"{self._nested}__")

    def _inner_params(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if self._is_inner(name)}

    def _learner_params(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in self._own}, **self._inner_params()}

    def fit(self, X: Any, y: Any) -> Any:
        """Learns from all rows: online-to-batch.

        The rows are shuffled by `random_state`, independently of their given order, and learnt online `passes` times.
        The classifier uses the learner's last state, which is better in practice than the random earlier state of the
        theory of online-to-batch. Of several `orders` each has a learner, and their forecasts are averaged. Columns
        are scaled by statistics of all rows. `auto` tries its members on the first rows, a sixteenth to a quarter of them
        (512 at least), and what it fits to a part of the rows at times, its boosted trees, is in the end fitted to all.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        return self._fit(X, y, None, merge=False)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Learns rows once, in the given order.

        Columns are scaled online, by statistics of the rows so far. The first call of `partial_fit`, unless `fit` was
        called before, needs `classes`. Without `radius` and with `scale="none"` the radius is the largest norm of the
        rows of the first call.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All possible classes.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, None)

    def _fit(self, X: Any, y: Any, sample_weight: Any, merge: bool) -> Any:
        self._check_settings()
        if not (isinstance(self.passes, int | np.integer) and self.passes >= 1):
            raise ValueError(f"passes = {self.passes}: must be a whole number of at least 1")
        if not (self.orders is None or isinstance(self.orders, int | np.integer) and self.orders >= 1):
            raise ValueError(f"orders = {self.orders}: must be a whole number of at least 1, or None")
        _tables.check_index(X, of="X", y=y, sample_weight=sample_weight)
        self._table: Learner | None = None
        self._others: list[_core.Learner] = []
        X, y = _rows.with_columns(_rows.rows(X, dense=bool(_tables.said(self._reading())))), _rows.plain(y)
        self._check_labels(y, ())
        table = schema = None
        if self._takes_table(X):
            table, y = _tables.table(X), column_or_1d(y, warn=True)
            if len(y) != table.rows:
                raise ValueError(f"y has {len(y)} labels for {table.rows} rows")
            if not table.rows:
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: X has no rows")
        else:
            self._places = _rows.places(X)
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, targets = np.unique(y, return_inverse=True)
        self._check_classes(y)
        weights = self._weights_of(y, self._check_weights(sample_weight, y), whole=True)
        if merge and weights is None:
            weights = np.ones(len(targets))
        if table is not None:
            kept = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
            weights = None if weights is None else weights[kept]
            X, schema = _rows.numbers(table, y, kept.tolist(), self._reading())
            X = _rows.whole(X, weights, self._scale(X, schema))
            targets = targets[kept]
        X, targets, weights = merged(X, targets.astype(np.int64), weights)
        if len(targets) == 0:
            raise ValueError("all sample weights are zero; at least one positive weight was needed")
        rows = _arrays.rows(X)
        scale = self._scale(rows, schema)
        seen, first, second, radius, _ = _core.survey(rows, weights, scale, bool(self.fit_intercept), schema)
        rng = check_random_state(self.random_state)
        threads = effective_n_jobs(self.n_jobs)
        if self._reach is None:
            caution(self._learner_name, self._learner_params(), 3)
        caution(self._learner_name, self._learner_params(), 3, rows=len(targets) * int(self.passes))
        learners = []
        for _ in range(self._number_of_orders(len(targets))):
            learner = self._learner(rows, scale, radius, len(targets) * int(self.passes), _seed(rng), schema)
            learner.set_scaling(seen, first, second)
            learner.settle_after(len(targets) * int(self.passes))
            for _ in range(int(self.passes)):
                order = rng.permutation(len(targets))
                learner.run(
                    _arrays.rows(X[order]),
                    targets[order],
                    None if weights is None else weights[order],
                    frozen=True,
                    threads=threads,
                )
            learner.settle()
            learners.append(learner)
        self._core, *self._others = learners
        if schema is not None:
            self._read_tables(self._named(self._core))
        return self

    def _check_settings(self) -> None:
        """Refuses settings of other kinds than were needed, by their names."""
        unless_none(number, radius=self.radius)
        whole(memory=self.memory)
        truth(fit_intercept=self.fit_intercept)
        check_scale(None if self.scale == "auto" else str(self.scale) if self.scale is None else self.scale)

    def _reading(self) -> dict[str, Any]:
        """How tables are read."""
        return _tables.reading(**{name: getattr(self, name) for name in (*_tables.ROLES, *_tables.MISSING)})

    def _read_tables(self, learner: Learner) -> None:
        """Reads rows as tables from now on, as `learner` does."""
        self._table, self._core = learner, learner._core
        learner._grows = False
        places = {name: at for at, name in enumerate(learner.labels)}
        self._order = np.array([places[name] for name in self._names()], dtype=np.int64)
        self.feature_names_in_ = np.array(learner.feature_names_in_, dtype=np.object_)
        self.n_features_in_ = len(self.feature_names_in_)

    def _number_of_orders(self, rows: int) -> int:
        if self.orders is not None:
            return int(self.orders)
        return min(max(_FEW_ROWS // rows, 1), _MOST_ORDERS) if KINDS[self._learner_name]["mixture"] else 1

    def _takes_table(self, X: Any) -> bool:
        """Whether the first rows are read as a table."""
        return bool(_tables.said(self._reading())) or _rows.is_mixed(X) or _tables.has_holes(X)

    def _check_labels(self, y: Any, known: Any) -> None:
        """Refuses missing labels, of which scikit-learn has none; words for one are, if they are not among the classes `known`."""
        y = np.asarray(y)
        if y.ndim not in (1, 2) or y.dtype.kind not in "OUTfM":
            return  # No labels, or none that can be missing.
        labels = _arrays.objects(y.ravel())
        wrong = next((at for at, label in enumerate(labels) if _arrays.is_missing(label)), None)
        if wrong is not None:
            raise ValueError(f"Input y contains NaN or another missing label, the first in row {wrong}; leave out such rows")
        names = sorted({label for label in labels if isinstance(label, str)})
        reading = self._reading()
        words = (reading[name] for name in _tables.MISSING)
        absent = sorted(_arrays.absent(names, set(map(str, known)), *words))
        if absent:
            raise ValueError(
                f"y has the label {absent[0]!r}, a word for a missing one: leave out such rows, or make it a class by not_missing=[{absent[0]!r}]"
            )

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
        self._check_settings()
        _tables.check_index(X, of="X", y=y, sample_weight=sample_weight)
        learner: _core.Learner | None = getattr(self, "_core", None)
        dense = getattr(self, "_table", None) is not None or bool(_tables.said(self._reading()))
        X, y = _rows.with_columns(_rows.rows(X, dense=dense)), _rows.plain(y)
        if getattr(self, "_table", None) is not None or (learner is None and self._takes_table(X)):
            return self._learn_table(X, y, classes, sample_weight)
        if learner is None:
            self._places = _rows.places(X)
        if learner is None or not self._plain(X):
            X = X if learner is None else _rows.filled(self._in_order(X), learner)
            X, y = validate_data(
                self, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=learner is None
            )
            if learner is None:
                self._start(y, classes)
        else:
            y = np.asarray(y)
            if y.shape != (X.shape[0],):
                raise ValueError(f"y has shape {y.shape}; ({X.shape[0]},) was needed")
        if classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(f"classes = {classes!r}: must be those of the first call, {self.classes_!r}")
        targets = self._targets(y)
        weights = None if sample_weight is None else self._check_weights(sample_weight, X)
        weights = self._weights_of(y, weights, whole=False)
        rows = _arrays.rows(X)
        if learner is None:
            scale = self._scale(rows)
            radius = _core.survey(rows, None, scale, self.fit_intercept)[3] if scale == "none" else None
            learner = self._learner(rows, scale, radius, None, _seed(check_random_state(self.random_state)))
            if self._reach is None:
                caution(self._learner_name, self._learner_params(), 3)
        threads = effective_n_jobs(self.n_jobs)
        for each in (learner, *getattr(self, "_others", ())):
            each.run(rows, targets, weights, threads=threads)
        self._core = learner
        return self

    def _learn_table(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
        """Learns the rows of a table in order, as the command line does."""
        first = getattr(self, "_table", None) is None
        self._check_labels(y, self.classes_ if not first else () if classes is None else classes)
        if first:
            y = column_or_1d(y, warn=True)
            check_classification_targets(y)
            self.classes_ = np.unique(y if classes is None else classes)
            self._check_classes(self.classes_)
            seeds = self.random_state
            made = Learner(
                self._learner_name,
                labels=None if classes is None else _arrays.objects(self.classes_),
                radius=self.radius,
                horizon=len(y),
                seed=int(seeds) if isinstance(seeds, int | np.integer) else _seed(check_random_state(seeds)),
                scale=None if self.scale == "auto" else self.scale,
                intercept=bool(self.fit_intercept),
                memory=self.memory,
                **self._reading(),
                **self._learner_params(),
            )
            made._asked["reach"] = self._reach
            self._table = made
        table: Any = self._table
        weights = self._weights_of(y, sample_weight, whole=False)
        for learner in (table, *(Learner._wrap(other) for other in getattr(self, "_others", ()))):
            learner.update(X, y, weights, threads=effective_n_jobs(self.n_jobs))
        self._read_tables(table)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores of the classes: logits for probabilistic learners, margins for others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Shape (n_samples, n_classes); for two classes the score of the second minus that of the first, shape
        (n_samples,).
        """
        scores = self._predict(X, scores=True)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_forecasts)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, of shape (n_samples, n_classes), in the order of `classes_`.

        Only learners that forecast probabilities have this method.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        return self._predict(X, scores=False)

    @available_if(_forecasts)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities, of shape (n_samples, n_classes)."""
        return np.log(self._predict(X, scores=False))

    def predict(self, X: Any) -> Any:
        """The class with the highest score for every row, of shape (n_samples,).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        best = self._predict(X, scores=True).argmax(axis=1)
        return self.classes_[best]

    @property
    def coef_(self) -> Floats:
        """The weights of a linear learner for the scaled columns, shape (n_classes, n_features); for two classes those of the
        second minus those of the first, shape (1, n_features). Those of what says that a number is missing are left out. Other
        learners do not have them (AttributeError)."""
        return self._linear("coef_")[0]

    @property
    def intercept_(self) -> Floats:
        """The scores of a linear learner without any feature, shape (n_classes,), or (1,) for two classes."""
        return self._linear("intercept_")[1]

    def _linear(self, what: str) -> tuple[Floats, Floats]:
        found = None if not hasattr(self, "_core") else _core.linear(self._core)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no {what}: it is not fitted, or its scores are not linear")
        weights, intercept = np.ascontiguousarray(found[0].T), found[1]
        table: Learner | None = getattr(self, "_table", None)
        if table is not None:
            weights, intercept = weights[self._order], intercept[self._order]
            # Behind numbers are as many features that say whether they are missing.
            roles, columns = table.roles, table.columns or []
            numbers = [name for name in columns if roles.get(name) == "numeric"]
            if len(numbers) == self.n_features_in_ and columns == [*numbers, *(f"{name}=missing" for name in numbers)]:
                weights = weights[:, : len(numbers)]
        if weights.shape[1] != self.n_features_in_:
            raise AttributeError(
                f"{type(self).__name__} has no {what}: some columns have several features, whose weights learner_.coef_ has"
            )
        if len(self.classes_) == 2:
            return weights[1:] - weights[:1], intercept[1:] - intercept[:1]
        return weights, intercept

    def _names(self) -> list[str]:
        """The names of the classes."""
        return [_targets.text_of(label) for label in _arrays.objects(self.classes_)]

    @property
    def n_rounds_(self) -> int:
        """Rounds learnt so far."""
        check_is_fitted(self)
        return self._core.rounds

    @property
    def params_(self) -> dict[str, float | int | str | bool]:
        """The learner's parameters in use."""
        check_is_fitted(self)
        return self._core.params

    @property
    def learner_(self) -> Learner:
        """The underlying learner, for saving, merging or certifying; with several `orders`, that of the first."""
        check_is_fitted(self)
        table: Learner | None = getattr(self, "_table", None)
        weights = self._learner_weights()
        if table is None:
            learner = self._named(self._core)
        else:
            # partial_fit goes on with the table, and tells it the weights of rows.
            learner = table if weights is None else Learner._wrap(table._core)._like([table])
        if weights is not None:
            learner._class_weight = weights
        return learner

    def _named(self, core: _core.Learner) -> Learner:
        """The learner with the labels as they were given."""
        learner = Learner._wrap(core)
        columns = None if learner.roles else getattr(self, "feature_names_in_", self._places)
        learner._frame = None if columns is None else list(map(_tables.name_of, columns))
        if learner.labels == self._names():
            learner._values = dict(zip(learner.labels, _arrays.objects(self.classes_), strict=True))
        return learner

    def _predict(self, X: Any, scores: bool) -> Floats:
        if not hasattr(self, "_core"):
            check_is_fitted(self)  # Takes its time, of each row.
        reader: Learner | None = getattr(self, "_table", None)
        X = X if self._plain(X) else _rows.rows(X, dense=reader is not None)
        cores = [self._core, *getattr(self, "_others", ())]
        if reader is not None:
            table = reader._table(X).given()
            told = [_core.predict_table(core, table, scores) for core in cores]
            _tables.tell(told[0][1], 3)
            found = [forecasts[:, self._order] for forecasts, _ in told]
        else:
            if not self._plain(X):
                numbers = _rows.as_fitted(X, getattr(self, "feature_names_in_", None))
                X = numbers if numbers is not None else validate_data(
                    self, _rows.filled(self._in_order(X), self._core), accept_sparse="csr", dtype=np.float64, order="C", reset=False
                )
            rows = _arrays.rows(X)
            found = [core.predict(rows, scores) for core in cores]
        if len(cores) == 1:
            return found[0]
        forecasts = np.stack(found)
        if scores:
            return np.asarray(forecasts.mean(axis=0))
        # The geometric mean.
        logs: Floats = np.log(np.maximum(forecasts, np.finfo(float).tiny)).mean(axis=0)
        mean = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(mean / mean.sum(axis=1, keepdims=True))

    def _in_order(self, X: Any) -> Any:
        """`X`, whose columns have the order of those of fit, also where scikit-learn does not look at their names, which are no texts."""
        X = _rows.framed(X, getattr(self, "feature_names_in_", None))
        names = _rows.places(X)
        if names is not None and self._places is not None and names != self._places and set(names) == set(self._places):
            raise ValueError(f"X has the columns {names[:10]}; they were needed in the order of fit, {self._places[:10]}")
        return X

    def _plain(self, X: Any) -> bool:
        """Whether `X` can skip scikit-learn's validation, because the compiled part checks it."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype == np.float64
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )

    def _start(self, y: Any, classes: Any) -> None:
        if classes is None:
            raise ValueError("classes must be given in the first call of partial_fit")
        check_classification_targets(y)
        self.classes_ = np.unique(classes)
        self._check_classes(classes)

    def _check_classes(self, y: Any) -> None:
        if len(self.classes_) < 2:
            raise ValueError("y has one class only; the number of classes has to be greater than one")
        _targets.check_types(_arrays.objects(self.classes_), {})
        if KINDS[self._learner_name]["classes"] == "two" and len(self.classes_) > 2:
            kind = type_of_target(y, input_name="y")
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")

    def _check_weights(self, sample_weight: Any, X: Any) -> Floats | None:
        if sample_weight is None:
            return None
        checked = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return np.ascontiguousarray(checked)

    def _weights_of(self, y: Any, weights: Any, whole: bool) -> Any:
        """The weights of rows, class weights included; `whole` if these are all rows."""
        return weights

    def _learner_weights(self) -> dict[str, float] | None:
        """The class weights of the learner underneath."""
        return None

    def _targets(self, y: Any) -> Any:
        y = np.asarray(y)
        if y.size and isinstance(y[0], str) != isinstance(self.classes_[0], str):
            raise ValueError(f"y[0] = {y.tolist()[0]!r}: must be one of the classes {self.classes_!r}: a text is no number")
        at = np.searchsorted(self.classes_, y)
        at[at == len(self.classes_)] = 0
        wrong = np.flatnonzero(self.classes_[at] != y)
        if wrong.size:
            raise ValueError(f"y[{wrong[0]}] = {y[wrong[0] : wrong[0] + 1].tolist()[0]!r}: must be one of the classes {self.classes_!r}")
        return np.ascontiguousarray(at, dtype=np.int64)

    def _scale(self, rows: Rows, schema: str | None = None) -> str:
        if self.scale != "auto":
            return self.scale
        dense = isinstance(rows, np.ndarray) and rows.shape[1] <= _core.DENSE
        return "maxabs" if not dense else "standard" if schema is None or not _rows.indicated(schema) else "mixed"

    def _learner(
        self, rows: Rows, scale: str, radius: float | None, horizon: int | None, seed: int, schema: str | None = None
    ) -> _core.Learner:
        radius = self.radius if self.radius is not None else radius or None
        names = self._names()
        return classifier(
            self._learner_name,
            len(self.classes_),
            rows.shape[1] if isinstance(rows, np.ndarray) else rows[3],
            self._learner_params(),
            self._reach,
            radius=radius,
            horizon=horizon,
            seed=seed,
            sparse=not isinstance(rows, np.ndarray),
            scale=scale,
            intercept=bool(self.fit_intercept),
            labels=names if len(set(names)) == len(names) else None,
            memory=self.memory,
            **({} if schema is None else {"schema": schema}),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_core")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = KINDS[self._learner_name]["classes"] != "two"
        return tags


def _seed(rng: np.random.RandomState) -> int:
    return int(rng.randint(0, 2**31))
