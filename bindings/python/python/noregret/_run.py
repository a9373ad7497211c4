"""The result of a pass over rows."""

from __future__ import annotations

import datetime
import json
import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._arrays import Floats, Ints
from ._kinds import unless_none, whole

_POINTS = 200
"""Largest number of points of a curve."""


@dataclass(frozen=True)
class Run:
    """The result of a pass over rows. Every prediction was made before its label was used."""

    losses: Floats
    """Shape (rows,). Log loss in nats for learners of probabilities; the probability of a mistake for learners that draw
    their label; 1 for a mistake of the others; squared loss for real-valued targets. NaN for rows of weight 0 and without a
    label."""
    probabilities: Floats | None
    """Shape (rows, classes), or (rows, 1) with the forecasts of a real-valued target. None unless requested."""
    played: Ints
    """Shape (rows,): the predicted or drawn class, from 0."""
    rates: dict[str, float]
    """Means over the rounds by the names of the command line: `rounds`, `errors`, `error_rate`, `log_loss` and so on."""
    truth: Ints
    """Shape (rows,): the true class from 0; -1 if there is none."""
    labels: list[Any] = field(default_factory=list)
    """The names of the classes, in order; empty for a real-valued target."""
    learner: str = ""
    """The learner's name."""
    notes: list[str] = field(default_factory=list)
    """Remarks on the columns of the table, one sentence each."""

    def __repr__(self) -> str:
        return f"Run({', '.join(f'{name}={value:.6g}' for name, value in self.rates.items())})"

    @property
    def error_rate(self) -> float:
        """The mean of `errors`; NaN for a real-valued target."""
        return self.rates.get("error_rate", float("nan"))

    @property
    def log_loss(self) -> float:
        """The mean log loss in nats; NaN for learners that do not forecast probabilities."""
        return self.rates.get("log_loss", float("nan"))

    @property
    def predictions(self) -> Any:
        """Shape (rows,): the names of the predicted labels, or the forecasts of a real-valued target, which `probabilities=True` keeps
        (ValueError without it)."""
        if self.labels:
            return _named(self.labels, self.played)
        if self.probabilities is None:
            raise ValueError("the forecasts were not kept; run(..., probabilities=True) keeps them")
        return self.probabilities[:, 0]

    @property
    def errors(self) -> Floats:
        """Shape (rows,): 1 if the predicted label is wrong, else 0; NaN without a true label."""
        return np.where(self.truth < 0, np.nan, (self.played != self.truth).astype(np.float64))

    def windows(self, rows: int | None = None) -> dict[str, Floats]:
        """Error rate and mean loss of each window of `rows` rows (by default a fiftieth of all), one after the other.

        Returns
        -------
        Arrays by name: `rounds` (rows up to the end of the window), `error_rate` and `loss`.
        """
        unless_none(whole, rows=rows)
        rows = rows or max(1, len(self.losses) // 50)
        starts = np.arange(0, len(self.losses), rows)
        ends = np.minimum(starts + rows, len(self.losses))
        return {
            "rounds": ends.astype(np.float64),
            "error_rate": _means(self.errors, starts),
            "loss": _means(self.losses, starts),
        }

    def confusion(self) -> Ints:
        """How often each label (row) was predicted as each (column), shape (classes, classes), in the order of `labels`."""
        size = max([len(self.labels), int(self.played.max(initial=-1)) + 1, int(self.truth.max(initial=-1)) + 1])
        known = self.truth >= 0
        counts = np.bincount(self.truth[known] * size + self.played[known], minlength=size * size)
        return counts.reshape(size, size).astype(np.int64)

    def baselines(self) -> dict[str, float]:
        """Baselines that ignore the columns and predict every row from the labels before it: the error rates of the
        most frequent class so far ("commonest class") and of the previous label ("last label"), and the log loss, in nats,
        of the class frequencies so far ("class frequencies"), with half a row added to every class. Empty for a
        real-valued target."""
        truth = self.truth[self.truth >= 0]
        if len(truth) == 0:
            return {}
        classes = max(len(self.labels), int(truth.max()) + 1)
        counts = [0] * classes
        common, wrong, loss = 0, 0, 0.0
        for rows, label in enumerate(truth.tolist()):
            wrong += label != common
            loss -= math.log((counts[label] + 0.5) / (rows + 0.5 * classes))
            counts[label] += 1
            if counts[label] > counts[common] or (counts[label] == counts[common] and label < common):
                common = label
        repeated = int((truth[1:] == truth[:-1]).sum())
        return {
            "commonest class": wrong / len(truth),
            "last label": 1 - repeated / len(truth),
            "class frequencies": loss / len(truth),
        }

    def drift(self, rows: int | None = None) -> Floats:
        """After each row, the mean loss of the last `rows` rows (by default a twentieth of all) minus the mean loss of
        the rows before, in standard deviations of this difference; NaN until there are `rows` rows on either side.
        Values above about 5 indicate a change of the stream to which the learner has not adapted yet."""
        unless_none(whole, rows=rows)
        rows = rows or max(10, len(self.losses) // 20)
        known = self.losses[~np.isnan(self.losses)]
        losses = np.where(np.isnan(self.losses), known.mean() if len(known) else 0.0, self.losses)
        total = np.concatenate([[0.0], np.cumsum(losses)])
        square = np.concatenate([[0.0], np.cumsum(losses**2)])
        signal = np.full(len(losses), np.nan)
        ends = np.arange(2 * rows, len(losses) + 1)
        if len(ends):
            before = (ends - rows).astype(np.float64)
            mean = total[ends - rows] / before
            variance = np.maximum(square[ends - rows] / before - mean**2, 1e-12)
            recent = (total[ends] - total[ends - rows]) / rows
            signal[ends - 1] = (recent - mean) / np.sqrt(variance * (1 / rows + 1 / before))
        return signal

    def frame(self) -> Any:
        """The rows as a pandas DataFrame (polars if pandas is missing): `truth`, `prediction`, `error`, `loss`, and a
        column `p(LABEL)` for each label if probabilities were requested."""
        columns: dict[str, Any] = {}
        if self.labels:
            columns = {"truth": _named(self.labels, self.truth), "prediction": self.predictions, "error": self.errors}
        columns["loss"] = self.losses
        if self.probabilities is not None:
            names = [f"p({label})" for label in self.labels] or ["forecast"]
            columns.update(zip(names, self.probabilities.T, strict=False))
        try:
            import pandas
        except ImportError:
            import polars

            return polars.DataFrame({name: list(column) for name, column in columns.items()})
        return pandas.DataFrame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Plots the error rate (the mean loss for a real-valued target) over all rounds so far and over windows, with
        the baselines. Needs matplotlib; returns the axes."""
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.figure().add_subplot()
        title, lines = self._curves()
        for name, points in lines:
            ax.plot(*zip(*points, strict=True), label=name)
        ax.set(xlabel="rounds", ylabel=title, ylim=(0, None))
        ax.legend()
        return ax

    def report(self, path: str | os.PathLike[str] | None = None, title: str | None = None) -> str:
        """An HTML report, also written to `path` if given: main figures, baselines, the curve, precision and recall of
        every class, confusions."""
        title = title or f"{self.learner or 'A run'} over {len(self.losses)} rows"
        page = _core.page(title, "Every row was predicted before its label was used.", self._parts(), json.dumps(self.rates), False)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _repr_html_(self) -> str:
        return _core.page(
            self.learner or "Run", f"{len(self.losses)} rows", self._parts(short=True), json.dumps(self.rates), True
        )

    def _curves(self) -> tuple[str, list[tuple[str, list[tuple[float, float]]]]]:
        real = not self.labels
        values = self.losses if real else self.errors
        known = np.flatnonzero(~np.isnan(values))
        if len(known) == 0:
            return "loss", []
        values = values[known]
        at = np.unique(np.linspace(1, len(values), min(_POINTS, len(values))).round().astype(np.int64))
        running = np.cumsum(values)[at - 1] / at
        window = max(1, len(values) // 50)
        starts = np.arange(0, len(values), window)
        ends = np.minimum(starts + window, len(values))
        recent = np.add.reduceat(values, starts) / (ends - starts)
        lines = [("all rounds so far", _points(at, running)), (f"windows of {window}", _points(ends, recent))]
        if not real:
            common = self.baselines()["commonest class"]
            lines.append(("commonest class", [(float(at[0]), common), (float(at[-1]), common)]))
        return ("mean loss" if real else "error rate"), lines

    def _parts(self, short: bool = False) -> str:
        tiles = [[name.replace("_", " "), f"{value:.6g}", ""] for name, value in self.rates.items()]
        for name, value in self.baselines().items():
            what = "log loss" if name == "class frequencies" else "error"
            tiles.append([f"{what} of: {name}", f"{value:.6g}", "without looking at a column"])
        parts: list[dict[str, Any]] = [{"tiles": tiles}]
        title, lines = self._curves()
        if lines:
            caption = "Every row was predicted before its label was used."
            parts.append({"chart": {"title": title, "caption": caption, "x": "rounds", "y": title, "lines": lines}})
        if self.labels and not short:
            parts += self._tables()
        parts += [{"paragraph": note} for note in self.notes]
        return json.dumps(parts)

    def _tables(self) -> list[dict[str, Any]]:
        confusion = self.confusion()
        order = np.argsort(-confusion.sum(axis=1), kind="stable")[:50]
        names = [str(label) for label in self.labels]
        names += [f"#{at}" for at in range(len(names), len(confusion))]
        rows = []
        for at in order.tolist():
            right, truly, said = int(confusion[at, at]), int(confusion[at].sum()), int(confusion[:, at].sum())
            rows.append([names[at], str(truly), _share(right, said), _share(right, truly)])
        wrong = confusion.copy()
        np.fill_diagonal(wrong, 0)
        worst = np.argsort(-wrong, axis=None, kind="stable")[:15]
        pairs = [divmod(int(at), len(wrong)) for at in worst if wrong.flat[at] > 0]
        return [
            {"heading": "Classes"},
            {"table": {"header": ["class", "rows", "precision", "recall"], "rows": rows}},
            {"heading": "Commonest confusions"},
            {"table": {
                "header": ["truth", "predicted", "rows"],
                "rows": [[names[truth], names[said], str(int(wrong[truth, said]))] for truth, said in pairs],
            }},
        ]


def _named(labels: list[Any], classes: Ints) -> Any:
    """Labels of classes; None for invalid indices."""
    names = [*labels, *(f"#{at}" for at in range(len(labels), int(classes.max(initial=-1)) + 1))]
    if len(classes) == 0 or classes.min() >= 0:
        return as_array(names)[classes]
    return np.array([names[at] if at >= 0 else None for at in classes.tolist()], dtype=object)


def as_array(labels: list[Any]) -> Any:
    """Labels as an array of one axis, of their common type if they have one."""
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {int, str, bool, float, np.datetime64}:
        array = np.array(labels)
        # NumPy makes reals of large whole numbers beside negative ones, and cuts texts.
        if not (kinds == {int} and array.dtype.kind == "f") and not (kinds == {str} and any(label.endswith("\0") for label in labels)):
            return array
    if kinds == {datetime.datetime} and all(label.tzinfo is None for label in labels):
        # Times of NumPy equal those of every kind.
        return np.array(labels, dtype="M8[us]")
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out


def _means(values: Floats, starts: Any) -> Floats:
    known = ~np.isnan(values)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts) if len(starts) else np.zeros(0)
    counts = np.add.reduceat(known.astype(np.float64), starts) if len(starts) else np.zeros(0)
    means: Floats = np.divide(sums, counts, out=np.full(len(starts), np.nan), where=counts > 0)
    return means


def _points(x: Any, y: Any) -> list[tuple[float, float]]:
    return list(zip(map(float, x), map(float, y), strict=True))


def _share(part: int, of: int) -> str:
    return f"{part / of:.3f}" if of else "-"
