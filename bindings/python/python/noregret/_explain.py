"""Contributions of columns to scores."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._arrays import Floats

_MOST = 20
"""Columns that are shown."""


@dataclass(frozen=True)
class Explanation:
    """The contributions of columns to the scores of one row, or, over several rows, the mean magnitudes of what they are beside their
    mean over the classes: a constant added to all scores has no effect.

    The contribution of a column is the score of the row minus the score of the row without the column: a removed number
    is set to its mean (to 0 without `standard` scaling), and a removed category or word is absent. For a linear learner
    the contributions and `rest` sum to the scores; for other learners, `rest` includes interactions.
    """

    columns: list[str]
    """Names of the columns, the most important first."""
    contributions: Floats
    """Shape (columns, classes): contributions to the scores of one row, or mean magnitudes over several rows."""
    rest: Floats
    """Shape (classes,): the remainder of the scores; NaN over several rows."""
    labels: list[Any]
    """The names of the classes."""
    rows: int
    """Number of rows."""

    @property
    def scores(self) -> Floats:
        """Shape (classes,): the scores of the row, the sum of the contributions and `rest`."""
        scores: Floats = self.contributions.sum(axis=0) + self.rest
        return scores

    def frame(self) -> Any:
        """A pandas DataFrame with a row for each column and a column for each label."""
        import pandas

        labels = self.labels or ["forecast"]
        return pandas.DataFrame(self.contributions[:, : len(labels)], index=self.columns, columns=labels)

    def __repr__(self) -> str:
        first = ", ".join(f"{name}={size:.3g}" for name, size in zip(self.columns[:5], _sizes(self.contributions, self.rows)[:5], strict=True))
        more = ", …" if len(self.columns) > 5 else ""
        return f"Explanation({first}{more}, rows={self.rows})"

    def _repr_html_(self) -> str:
        labels = [str(label) for label in self.labels or ["forecast"]][:8]
        rows = [
            [name, *(f"{value:+.3f}" if self.rows == 1 else f"{value:.3f}" for value in values[: len(labels)])]
            for name, values in zip(self.columns[:_MOST], self.contributions, strict=False)
        ]
        below = "contributions to the scores" if self.rows == 1 else f"mean magnitudes of contributions over {self.rows} rows"
        parts = [{"table": {"header": ["column", *labels], "rows": rows}}]
        return _core.page("What the columns contribute", below, json.dumps(parts), "{}", True)


def _sizes(contributions: Floats, rows: int) -> Floats:
    """How strongly columns separate classes; a constant added to all scores has no effect."""
    if rows == 1 and contributions.shape[1] > 1:
        contributions = contributions - contributions.mean(axis=1, keepdims=True)
    sizes: Floats = np.abs(contributions).sum(axis=1)
    return sizes
