"""A trainable for Ray Tune."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import _arrays, _tables, _targets
from .._learner import Learner
from ..cluster._fit import is_real
from ..cluster._shard import sorted_labels


def trainable(
    x: Any, y: Any, learner: str | None = None, *, report_every: int = 1000, checkpoint: bool = True, **facts: Any
) -> Callable[[Mapping[str, Any]], None]:
    """A function for `ray.tune.Tuner` that learns rows in order and reports progressive rates.

    Reports carry `rounds`, `error_rate` and `log_loss` over all rows so far (names of the command line), so that
    schedulers such as ASHA can stop poor settings early. An interrupted trial continues from its last checkpoint, bit
    for bit.

    Parameters
    ----------
    x, y
        Rows of shape (rows, features), or a table, and labels, stored in the object store once.
    learner
        The learner; by default the entry `learner` of a trial's configuration. All other entries are its parameters.
    report_every
        Number of rows between two reports.
    checkpoint
        Whether every report saves the model.
    **facts
        Further arguments of `noregret.Learner`, such as `scale` and `intercept`.

    Examples
    --------
    >>> from ray import tune  # doctest: +SKIP
    >>> space = {"learner": "ogd", "rate": tune.grid_search([0.1, 1.0, 10.0])}  # doctest: +SKIP
    >>> tune.Tuner(trainable(x, y), param_space=space).fit()  # doctest: +SKIP
    """
    from ray import tune

    x = _tables.sparse(_tables.given(x), dense=True)
    is_table = _tables.is_table(x) or _tables.has_texts(x) or _tables.has_holes(x)
    table = _tables.table(x) if is_table else None
    rows = _arrays.rows(x) if table is None else dict(zip(table.names, table.cells, strict=True))
    facts = facts if table is None else described(table, facts)
    targets = _targets.column(_targets.labels(y), "y")
    count = len(targets)
    found = {_targets.text_of(label): label for label in targets if label is not None}
    words = _arrays.absent(list(found), (), *(list(map(str, facts.get(name, ()))) for name in _tables.MISSING))
    labels = [label for name, label in sorted_labels(found).items() if name not in words]

    def train(config: Mapping[str, Any], rows: Any, targets: Any) -> None:
        params = dict(config)
        name = learner or params.pop("learner")
        sums: dict[str, float] = {}
        model, start = None, 0
        before = tune.get_checkpoint()
        if before is not None:
            with before.as_directory() as folder:
                model = Learner.load(Path(folder) / "model.safetensors")
                sums = json.loads((Path(folder) / "sums.json").read_text())
                start = int(sums.pop("rows", sums["rounds"]))  # Rows without a label are no rounds.
        if model is None:
            size = {"features": rows.shape[1]} if isinstance(rows, np.ndarray) else {}
            model = Learner(name, labels=None if is_real(name) else labels, **{**size, **facts, **params})
        for at in range(start, count, report_every):
            rates = model.run(_part(rows, at, at + report_every), targets[at : at + report_every]).rates
            for key, value in rates.items():
                sums[key] = sums.get(key, 0.0) + (value if key in ("rounds", "errors") else value * rates["rounds"])
            if not sums["rounds"]:  # No row had a label yet.
                continue
            whole = ("rounds", "errors")
            metrics = {key: value if key in whole else value / sums["rounds"] for key, value in sums.items()}
            if not checkpoint:
                tune.report(metrics)
                continue
            with tempfile.TemporaryDirectory() as scratch:
                model.save(Path(scratch) / "model.safetensors")
                (Path(scratch) / "sums.json").write_text(json.dumps({**sums, "rows": at + report_every}))
                tune.report(metrics, checkpoint=tune.Checkpoint.from_directory(scratch))

    wrapped: Callable[[Mapping[str, Any]], None] = tune.with_parameters(train, rows=rows, targets=targets)
    return wrapped


def described(table: _tables.Table, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts with columns of a categorical type among the categories: the trials have the cells alone."""
    given = {role: _tables.words(role, facts.get(role)) for role in _tables.ROLES}
    return {**facts, "categorical": _tables.roles(given, table)["categorical"]}


def _part(rows: Any, low: int, high: int) -> Any:
    """Some of the rows of an array, or of a table by columns."""
    return rows[low:high] if isinstance(rows, np.ndarray) else {name: cells[low:high] for name, cells in rows.items()}
