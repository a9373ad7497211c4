"""`Learner` and `Bandit` of Python, with rows of every kind; and the same after saving and loading, pickled, and copied."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import scipy.sparse

from noregret import Bandit, Learner

from .files import BANDIT, LEARNER, WIDTH, is_missing
from .situations import Costly, Logged, Offered, Rows, Situation
from .table import Front, Inapplicable, Outcome


def plain(labels: Any) -> list[Any]:
    """Labels as Python's own values."""
    return [getattr(label, "item", lambda label=label: label)() for label in labels]


def shares(labels: Any, p: Any) -> dict[str, float]:
    return {str(label): float(share) for label, share in zip(labels, np.ravel(list(p)), strict=False)}


class Objects(Front):
    """Rows as objects of a kind. `convert` makes them of dictionaries, if they can be made."""

    def __init__(self, convert: Callable[[Rows], Any] | None = None, *, again: Callable[[Any, Path], Any] | None = None) -> None:
        self._convert, self._again = convert or pandas.DataFrame, again or (lambda model, folder: model)

    def convert(self, rows: Rows) -> Any:
        return self._convert(rows)

    def kept(self, model: Any, folder: Path) -> Any:
        """The model, or what becomes of it."""
        return self._again(model, folder)

    def learn(self, case: Situation, folder: Path) -> Outcome:
        model = Learner(LEARNER, **self.setting.facts)
        weights = {} if case.weights is None else {"weight": case.weights}
        rates = model.run(self.convert(case.rows), np.array(case.labels) if case.is_soft else case.labels, **weights).rates
        model = self.kept(model, folder)
        if case.more:
            model.run(self.convert(case.more[0]), case.more[1])
            model = self.kept(model, folder)
        asked = self.convert(case.asked)
        p = model.predict_proba(asked)
        return Outcome([shares(model.labels, row) for row in p], plain(model.predict(asked)), rates["log_loss"])

    def play(self, case: Situation, folder: Path) -> Outcome:
        model = Bandit(BANDIT, **self.setting.bandit_facts)
        rates = model.run(self.convert(case.rows), case.labels).rates
        return self._asked(self.kept(model, folder), case, rates["expected_error_rate"])

    def _asked(self, model: Any, case: Situation, rate: float | None = None) -> Outcome:
        asked = self.convert(case.asked)
        p = model.predict_proba(asked)
        return Outcome([shares(model.labels, row) for row in p], plain(model.predict(asked)), rate)

    def follow(self, case: Logged, folder: Path) -> Outcome:
        model = Bandit(BANDIT, **self.setting.bandit_facts)
        offers = {} if case.offers is None else {"offered": case.offers}
        worst, best = case.spread or (0, 1)
        between = (best, worst) if case.are_costs else (worst, best)
        model.learn(self.convert(case.rows), case.labels, case.earned, case.probabilities, between=between, **offers)
        model = self.kept(model, folder)
        if case.offers is None:
            return self._asked(model, case)
        p = [model.predict_proba(self.convert([row]), names)[0] for row, names in zip(case.asked, case.offers, strict=False)]
        return Outcome([shares(names, row) for row, names in zip(p, case.offers, strict=False)])

    def _one(self, row: dict[str, Any]) -> Any:
        """A row alone: a dictionary, a row of a table, or numbers."""
        if type(self) is Sparse:
            raise Inapplicable("a sparse matrix has many rows")
        rows = self.convert([row])
        return rows[0] if isinstance(rows, np.ndarray | list) else rows.iloc[0] if hasattr(rows, "iloc") else rows

    def costly(self, case: Costly, folder: Path) -> Outcome:
        model = self._made(case, costs=case.spread)
        for row, costs in zip(case.rows, case.costs, strict=True):
            decision = model.decide(self._one(row))
            model.feedback(decision.id, cost=costs[decision.label])
        return self._asked(self.kept(model, folder), case)

    def offer(self, case: Offered, folder: Path) -> Outcome:
        model = Bandit("offers", width=WIDTH, classes=3) if case.have_features else self._made(case)
        one = (lambda row: row) if case.have_features else self._one
        for row, right, offer in zip(case.rows, case.labels, case.offers, strict=True):
            decision = model.decide(one(row), offer)
            model.feedback(decision.id, decision.label == right)
        model = self.kept(model, folder)
        asked = list(zip(case.asked, case.offers, strict=False))
        p = [model.predict_proba(one(row), offer) for row, offer in asked]
        return Outcome([shares(offer, row) for (_, offer), row in zip(asked, p, strict=True)])

    def _made(self, case: Situation, **facts: Any) -> Any:
        """A bandit for rows of numbers that come one by one."""
        # Features by name get columns as they come.
        columns = {"features": len(case.rows[0])} if isinstance(self, Arrays) else {}
        labels = case.names if not isinstance(case, Offered) else list(dict.fromkeys(name for offer in case.offers for name in offer))
        return Bandit(BANDIT, **columns, labels=labels, intercept=True, **self.setting_for(case).bandit_facts, **facts)


class Arrays(Objects):
    """Rows as cells without names."""

    truths_are_numbers = True

    def convert(self, rows):
        cells = [list(row.values()) for row in rows]
        numbers = all(isinstance(cell, float | int) for row in cells for cell in row)
        return np.array(cells, dtype=np.float64 if numbers else object)

    def learn(self, case, folder):
        if case.later is not None and set(case.later[0]) != set(case.rows[0]):
            raise Inapplicable("the columns of an array have no names")
        return super().learn(case, folder)


class Sparse(Objects):
    """Rows as a matrix of SciPy."""

    truths_are_numbers = True

    def convert(self, rows):
        if any(not isinstance(cell, float | int) for row in rows for cell in row.values() if cell is not None):
            raise Inapplicable("a sparse matrix has numbers only")
        cells = [[np.nan if is_missing(cell) else cell for cell in row.values()] for row in rows]
        return scipy.sparse.csr_matrix(np.array(cells, dtype=np.float64))

    def learn(self, case, folder):
        if case.later is not None:
            raise Inapplicable("the columns of a matrix have no names")
        return super().learn(case, folder)


def from_its_file(model: Any, folder: Path) -> Any:
    model.save(folder / "saved")
    return type(model).load(folder / "saved")


def frame(rows: Rows) -> pandas.DataFrame:
    return pandas.DataFrame(rows, index=range(len(rows)))


OBJECTS: dict[str, Front] = {
    "dictionaries": Objects(lambda rows: rows),
    "columns": Objects(lambda rows: {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}),
    "pandas": Objects(frame),
    "polars": Objects(lambda rows: polars.DataFrame(rows, strict=False)),
    "Arrow": Objects(pyarrow.Table.from_pylist),
    "arrays": Arrays(),
    "sparse": Sparse(),
    "saved, loaded": Objects(frame, again=from_its_file),
    "pickled": Objects(frame, again=lambda model, folder: pickle.loads(pickle.dumps(model))),
    "copied": Objects(frame, again=lambda model, folder: copy.deepcopy(model)),
}
