"""Properties, coefficients and explanations of full-information learners."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np

from . import _arrays, _core, _tables, _written
from ._arrays import Floats
from ._explain import Explanation
from ._kinds import KINDS
from ._labels import Labelled


class Described(Labelled):
    """Properties, coefficients, explanations, and the view in notebooks."""

    __slots__ = ()

    # Properties

    @property
    def roles(self) -> dict[str, str]:
        """The roles of the table's columns, by name: `numeric`, `categorical`, `text`, `time`, `drop` or `label`. Empty
        for a learner of arrays."""
        return dict(_core.roles(self._core))

    @property
    def feature_names_in_(self) -> list[str]:
        """Names of the table's columns (numbers of the array's columns) that the learner uses."""
        roles = self.roles
        return [name for name, role in roles.items() if role not in ("label", "weight", "drop")] if roles else self.columns

    @property
    def radius(self) -> float | None:
        """Bound on the Euclidean norm of scaled rows with the intercept; None if the learner needs none."""
        return self._core.radius

    @property
    def large_rows(self) -> int:
        """Number of learnt rows beyond `radius`."""
        return self._core.large_rows

    @property
    def clipped_rows(self) -> int:
        """Number of learnt rows with a value far outside of what was seen of its column, which was clipped."""
        return self._core.clipped_rows

    @property
    def scale(self) -> str:
        """How columns are scaled."""
        return self._core.scale

    @property
    def intercept(self) -> bool:
        """Whether a feature that is always 1 is added."""
        return self._core.intercept

    @property
    def weights(self) -> dict[str, float]:
        """The weights of a mixture's members (`auto`), by name; empty for other learners."""
        return self._core.weights

    @property
    def numbers(self) -> dict[str, list[float]]:
        """Internal figures, lists of numbers by name, such as the edges of the copies of `adaboost-olm`; empty for most
        learners."""
        return self._core.numbers

    @property
    def forecast(self) -> str:
        """The kind of forecast: `probabilities`, `label`, `randomised label` or `value`."""
        return self._core.forecast

    # Coefficients and explanations

    @property
    def coef_(self) -> Floats:
        """The weights of a linear learner for the scaled features, shape (classes, features), in the order of
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
        """The contributions of columns to the scores of a row, or their means over rows: see `noregret.Explanation`.

        Arguments and exceptions as for `predict_proba`.

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
        x = self._readable(x)
        if self._takes_tables(x):
            found = _core.explain_table(self._core, self._table(x).given())
        else:
            self._in_order(x)
            rows = _arrays.row(x)[None, :] if _arrays.is_row(x) else np.asarray(_arrays.rows(x))
            found = _core.explain_rows(self._core, np.ascontiguousarray(rows, dtype=np.float64))
        columns, contributions, rest, count = found
        return Explanation(columns, contributions, rest, labels, count)

    def _repr_html_(self) -> str:
        if self._held is None:
            import html  # Only notebooks need it.

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

    def _readable(self, x: Any) -> Any:
        """Rows in memory: a list of texts as those of one column, for a learner that has no other; a sparse matrix as it is read."""
        if isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
            return x
        columns = [] if self._held is None else [name for name, role in self.roles.items() if role != "label"]
        x = self._as_row(x, bool(columns))
        x = _tables.by_name(_tables.whole(x)) if self._held is None or columns else x
        x = _tables.sparse(_tables.given(x), dense=bool(columns) or (self._held is None and bool(_tables.said(self._asked["roles"]))))
        return _tables.texts(x) if self._held is None or columns == ["text"] else x

    def _table(self, x: Any) -> _tables.Table:
        """The table in `x`; the columns of an array are those of the learner, in their order."""
        if _arrays.is_row(x):
            x = np.array(x, dtype=object)[None, :]
        table = _tables.table(x)
        if self._held is None:
            return table
        _tables.check_names(x, self.roles)
        if isinstance(x, np.ndarray):
            table = table._replace(names=_tables.in_places(self.roles, len(table.names), "learner"))
        return _written.as_known(table, self._held)

    def _label(self) -> str:
        """The name of the label's column."""
        return next((name for name, role in self.roles.items() if role == "label"), "label")

    def _bare(self, x: Any) -> int | None:
        """The number of rows of `x` if they have no columns, for a learner that has none."""
        rows = _tables.bare(x)
        if self._held is None:
            return rows
        if rows is None:
            return 1 if _arrays.is_row(x) and len(x) == 0 and not self.feature_names_in_ else None
        if rows and (columns := self.feature_names_in_):
            raise ValueError(f"x has {rows} rows without columns; the {len(columns)} of the learner were needed: {', '.join(columns[:10])}")
        return rows

    def _takes_tables(self, x: Any) -> bool:
        """Whether `x` is read as a table."""
        if self._held is None:
            return bool(_tables.said(self._asked["roles"])) or _tables.is_table(x) or _tables.has_texts(x) or _tables.has_holes(x)
        if not self.roles:
            return False
        return _tables.is_table(x) or _arrays.is_row(x) or (isinstance(x, np.ndarray) and x.ndim == 2)
